/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/growth-trial.h"
#include "base/record-codec.h"
#include <errno.h>
#include <math.h>

#define REPORTS 5 /* reports that a trial lasts; the first may be from before it */
#define WORTH 20  /* at least this many times the trial's length must be left of the job */
#define REST 20   /* times the trial's length, until the next one */
#define REST_MOST 1e3
#define SETTLE 1. /* s, until its threads are as many as it has CPUs */

static double seconds_of(const struct sg_growth_job *j)
{
        return SETTLE + REPORTS * fmax(j->estimate->every, 1);
}

static bool is_known(const struct sg_growth_job *j, uint32_t octave)
{
        return j->estimate->known >> octave & 1;
}

/* The least number of CPUs with which the job's speed isn't known, next to a number with which it
 * is; 0 = none. */
static uint32_t unknown_of(const struct sg_growth_job *j, double cpus)
{
        for (uint32_t o = 0; exp2(o) <= j->width * cpus + .05 && o < SG_SPEEDUP_OCTAVES; o++) {
                bool beside = (o > 0 && is_known(j, o - 1)) || is_known(j, o + 1);

                if (!is_known(j, o) && beside)
                        return 1U << o;
        }
        return 0;
}

/* Whether all promises can still be kept after a trial of so many seconds. */
static bool all_can_bear(const struct sg_growth_line *l, double seconds)
{
        for (size_t i = 0; i < l->n; i++) {
                const struct sg_growth_job *j = &l->jobs[i];

                if (isinf(j->index) || fmin(j->slack, j->own_slack) <= seconds + l->tick)
                        return false;
        }
        return l->at_stake == l->n;
}

static bool are_short(const struct sg_growth_line *l)
{
        double widths = 0;

        for (size_t i = 0; i < l->n; i++)
                widths += l->jobs[i].width;
        return widths > l->capacity;
}

static struct sg_growth_job *find(const struct sg_growth_line *l, uint64_t key)
{
        for (size_t i = 0; i < l->n; i++)
                if (l->jobs[i].key == key)
                        return &l->jobs[i];
        return NULL;
}

/* Of the jobs that have CPUs now, the one with the most left to do. */
static struct sg_growth_job *choose(const struct sg_growth_line *l, double cpus)
{
        struct sg_growth_job *best = NULL;

        for (size_t i = 0; i < l->n; i++) {
                struct sg_growth_job *j = &l->jobs[i];

                if (j->stays && unknown_of(j, cpus) > 0 && j->remaining > WORTH * seconds_of(j) &&
                    (!best || j->remaining > best->remaining))
                        best = j;
        }
        return best && all_can_bear(l, seconds_of(best)) ? best : NULL;
}

static void end(struct sg_growth_trial *t, double now, double length, bool told)
{
        t->patience = told ? REST : fmin(fmax(2 * t->patience, REST), REST_MOST);
        t->next = now + t->patience * length;
        t->key = 0;
}

struct sg_growth_job *sg_growth_try(struct sg_growth_trial *t, const struct sg_growth_line *l,
                                    double cpus)
{
        struct sg_growth_job *j = t->key != 0 ? find(l, t->key) : NULL;

        if (j) {
                bool told = is_known(j, (uint32_t)ilogb(t->cpus));

                if (!told && l->now < t->until && all_can_bear(l, 0))
                        return j;
                end(t, l->now, seconds_of(j), told);
        }
        t->key = 0;
        if (l->now < t->next || !are_short(l))
                return NULL;
        j = choose(l, cpus);
        if (!j)
                return NULL;
        t->key = j->key;
        t->cpus = unknown_of(j, cpus);
        t->until = l->now + seconds_of(j);
        return j;
}

static void code(struct sg_growth_trial *t, struct sg_record_codec *c)
{
        sg_record_codec_u64(c, &t->key);
        sg_record_codec_u32(c, &t->cpus, 1U << SG_SPEEDUP_OCTAVES);
        sg_record_codec_double(c, &t->until);
        sg_record_codec_double(c, &t->next);
        sg_record_codec_double(c, &t->patience);
}

void sg_growth_trial_save(const struct sg_growth_trial *t, struct sg_record *r, uint16_t tag)
{
        struct sg_record_codec c = {.out = r};
        struct sg_growth_trial trial = *t;
        size_t mark = sg_record_open(r, tag);

        code(&trial, &c);
        sg_record_close(r, mark);
}

int sg_growth_trial_load(struct sg_growth_trial *t, const struct sg_field *f)
{
        struct sg_record_codec c = {.p = f->data, .end = f->data + f->size};
        struct sg_growth_trial trial = {};

        code(&trial, &c);
        if (sg_record_codec_end(&c) < 0 || !isfinite(trial.until) || !isfinite(trial.next) ||
            !isfinite(trial.patience) || (trial.key != 0 && trial.cpus == 0))
                return -EBADMSG;
        *t = trial;
        return 0;
}
