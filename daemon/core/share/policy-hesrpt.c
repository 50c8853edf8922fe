/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hesrpt: every job gets a share, the ones with less left more of it, as ends jobs soonest on
 * average if all scale alike and badly (hesrpt.h). It promises nothing, and remembers nothing.
 */

#include "core/share/hesrpt.h"
#include "core/share/max-min.h"
#include "core/share/policies.h"
#include "core/share/promise.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define USUAL_EXPONENT .75

/* Of one step; arrays by job. */
struct step {
        const struct sg_share_snapshot *s;
        double *shares; /* first what everybody has in any case, in the end all of it */
        double *remaining, *parts, *room; /* of those that take part, one after the other */
        size_t n;
        double left; /* for those */
};

static int step_init(struct step *p, const struct sg_share_snapshot *s)
{
        size_t n = s->n_jobs + 1;

        *p = (struct step){.s = s, .shares = calloc(4 * n, sizeof(double)), .left = 1};
        if (!p->shares)
                return -ENOMEM;
        p->remaining = p->shares + n;
        p->parts = p->remaining + n;
        p->room = p->parts + n;
        return sg_promise_fair(s, p->shares);
}

static void step_deinit(struct step *p)
{
        free(p->shares);
}

/* Gives floors; and jobs that more CPU doesn't make faster get what they use, as far as floors
 * leave it. */
static void keep_back(struct step *p, double floor)
{
        double part;

        for (size_t i = 0; i < p->s->n_jobs; i++) {
                if (sg_share_takes_part(&p->s->jobs[i]))
                        p->shares[i] *= floor;
                p->left = fmax(p->left - p->shares[i], 0);
        }
        part = sg_share_part_of_unbound(p->s, sg_share_is_unbound, p->left, p->shares);
        for (size_t i = 0; i < p->s->n_jobs; i++) {
                const struct sg_share_job *j = &p->s->jobs[i];
                double more = sg_share_is_unbound(j) ? part * (j->width - p->shares[i]) : 0;

                p->shares[i] += more;
                p->left = fmax(p->left - more, 0);
                if (!sg_share_takes_part(j))
                        continue;
                p->remaining[p->n] =
                        j->estimate.remaining / (p->s->classes[j->class].weight * j->weight);
                p->room[p->n++] = fmax(j->width - p->shares[i], 0);
        }
}

static int divide(struct step *p, double exponent)
{
        int r = sg_hesrpt_shares(p->remaining, p->n, exponent, p->parts);

        if (r < 0)
                return r;
        sg_max_min_level(p->parts, p->room, p->n, p->left, p->parts);
        for (size_t i = 0, k = 0; i < p->s->n_jobs; i++)
                if (sg_share_takes_part(&p->s->jobs[i]))
                        p->shares[i] += p->parts[k++];
        return 0;
}

static struct sg_share_out out_of(const struct step *p, size_t i)
{
        const struct sg_share_job *j = &p->s->jobs[i];
        struct sg_share_out o =
                sg_share_plain(j, p->shares[i], SG_LIST_RUN,
                               p->s->n_jobs == 1 ? SG_REASON_ALONE : SG_REASON_SHORTEST);

        if (sg_share_takes_part(j))
                o.why.index = j->estimate.remaining;
        return o;
}

static int hesrpt_step(void *state, const struct sg_share_snapshot *s, struct sg_share_out *out,
                       double *ret_next)
{
        const struct sg_share_settings *settings = s->n_classes > 0 ? s->classes[0].settings : NULL;
        _cleanup_(step_deinit) struct step p = {0};
        int r;

        (void)state;
        *ret_next = INFINITY; /* a job with less left gets on faster, so the order stays */
        if (!settings)
                return 0;
        r = step_init(&p, s);
        if (r < 0)
                return r;
        keep_back(&p, settings->floor);
        r = divide(&p, isnan(settings->exponent) ? USUAL_EXPONENT : settings->exponent);
        if (r < 0)
                return r;
        for (size_t i = 0; i < s->n_jobs; i++)
                out[i] = out_of(&p, i);
        return 0;
}

const struct sg_share_policy sg_share_hesrpt = {
        .name = "hesrpt",
        .summary = "the less work is left, the larger the share",
        .step = hesrpt_step,
};
