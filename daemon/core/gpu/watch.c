/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What jobs may: their memory, and how long GPUs that they hold may stand idle. A step is only
 * taken by a figure of this very look; a look without one is waited out, and after some of those
 * the watch begins anew.
 */
#include "base/format.h"
#include "core/gpu/account-internal.h"
#include "core/job/limits.h"
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000)
#define STEP_USEC (10 * SECOND)
#define OVER_LOOKS 2U

/* Memory */

/* The most that it uses of one GPU beyond what it may; 0: nowhere; UNKNOWN: nobody knows. */
static uint64_t most_over(const struct sg_gpu_claimed *c)
{
        uint64_t most = 0;
        bool unknown = false;

        for (size_t k = 0; k < c->n; k++) {
                uint64_t used = c->parts[k].used;

                unknown = unknown || used == SG_GPU_UNKNOWN;
                if (used != SG_GPU_UNKNOWN && used > c->memory_bytes && used > most)
                        most = used;
        }
        return most == 0 && unknown ? SG_GPU_UNKNOWN : most;
}

static void over(struct sg_gpu_account *a, const struct sg_gpu_claimed *c,
                 enum sg_gpu_decision_kind kind, uint64_t used)
{
        struct sg_gpu_decision *d = sg_gpu_decide(a, kind, NULL, c);
        char has[SG_FORMAT_MAX], may[SG_FORMAT_MAX];

        if (!d)
                return;
        d->used_bytes = used;
        d->limit_bytes = c->memory_bytes;
        (void)snprintf(d->text, sizeof(d->text), "GPU memory %s of %s", sg_format_bytes(has, used),
                       sg_format_bytes(may, c->memory_bytes));
}

static void step(struct sg_gpu_account *a, struct sg_gpu_claimed *c, uint64_t used,
                 uint64_t now_usec)
{
        struct sg_gpu_watch *w = &c->watch;

        if (++w->looks < OVER_LOOKS)
                return;
        if (!w->told) {
                w->told = true;
                w->told_usec = now_usec;
                over(a, c, SG_GPU_TELL_OVER, used);
        } else if (!w->term && now_usec - w->told_usec >= STEP_USEC) {
                w->term = true;
                w->term_usec = now_usec;
                over(a, c, SG_GPU_TERM, used);
        } else if (w->term && !w->kill && now_usec - w->term_usec >= STEP_USEC) {
                w->kill = true;
                over(a, c, SG_GPU_KILL, used);
        }
}

/* One that was told to end stays so. */
static void forget(struct sg_gpu_watch *w)
{
        w->looks = w->stale = 0;
        if (!w->term)
                w->told = false;
}

static void watch_memory(struct sg_gpu_account *a, struct sg_gpu_claimed *c, uint64_t now_usec)
{
        uint64_t used = most_over(c);

        if (c->memory_bytes == 0)
                return;
        if (used == SG_GPU_UNKNOWN) {
                if (++c->watch.stale > SG_GPU_STALE_LOOKS)
                        forget(&c->watch);
        } else if (used == 0) {
                forget(&c->watch);
        } else {
                c->watch.stale = 0;
                step(a, c, used, now_usec);
        }
}

/* Idleness */

/* Of a GPU that others use, too, the driver has to say it of each process. */
static uint64_t utilization_of_processes(const struct sg_gpu_account *a,
                                         const struct sg_gpu_claimed *c, const struct sg_gpu *g,
                                         uint8_t instance)
{
        uint64_t sum = 0;

        if (!g->processes_known)
                return SG_GPU_UNKNOWN;
        for (size_t i = 0; i < g->n_processes; i++) {
                if (!sg_gpu_process_is_on(g, &g->processes[i], instance) ||
                    sg_gpu_whose(a, g->processes[i].pid).claim != c)
                        continue;
                if (g->processes[i].utilization == SG_GPU_UNKNOWN)
                        return SG_GPU_UNKNOWN;
                sum += g->processes[i].utilization;
        }
        return sum;
}

static uint64_t utilization_at(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c,
                               const struct sg_gpu_part *part)
{
        uint8_t instance;
        size_t place = sg_gpu_part_place(a, part, &instance);
        const struct sg_gpu *g;

        if (!a->driver_ok || place == SG_GPU_NOWHERE || a->seen.gpus[place].lost)
                return SG_GPU_UNKNOWN;
        g = &a->seen.gpus[place];
        if (instance == SG_GPU_NONE && (c->share == SG_GPU_WHOLE || g->utilization == 0))
                return g->utilization;
        return utilization_of_processes(a, c, g, instance);
}

uint64_t sg_gpu_utilization(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c)
{
        uint64_t sum = 0;

        for (size_t k = 0; k < c->n; k++) {
                uint64_t u = utilization_at(a, c, &c->parts[k]);

                if (u == SG_GPU_UNKNOWN)
                        return SG_GPU_UNKNOWN;
                sum += u;
        }
        return sum == 0 ? 0 : (sum + c->n - 1) / c->n;
}

/* Whether it is idle for longer than before. */
static void note_idle(struct sg_gpu_idle *idle, uint64_t utilization, uint64_t now_usec)
{
        if (utilization == SG_GPU_UNKNOWN) {
                if (++idle->stale > SG_GPU_STALE_LOOKS)
                        *idle = (struct sg_gpu_idle){.stale = idle->stale};
                return;
        }
        if (utilization > 0)
                *idle = (struct sg_gpu_idle){0};
        else if (idle->since_usec == 0)
                idle->since_usec = now_usec;
        idle->known = true;
        idle->stale = 0;
}

uint64_t sg_gpu_idle_for(const struct sg_gpu_idle *idle, uint64_t now_usec)
{
        if (!idle->known)
                return SG_GPU_UNKNOWN;
        return idle->since_usec > 0 ? now_usec - idle->since_usec : 0;
}

static void watch_idle(struct sg_gpu_account *a, struct sg_gpu_claimed *c, uint64_t now_usec)
{
        uint64_t utilization = sg_gpu_utilization(a, c), idle;
        struct sg_gpu_decision *d;
        char span[SG_FORMAT_MAX];

        note_idle(&c->idle, utilization, now_usec);
        idle = sg_gpu_idle_for(&c->idle, now_usec);
        if (utilization != 0 || idle == SG_GPU_UNKNOWN || c->idle.told ||
            c->idle_limit_usec == SG_UNLIMITED || idle < c->idle_limit_usec)
                return;
        c->idle.told = true;
        for (unsigned i = 0; i < (c->idle_ends ? 2 : 1); i++) {
                d = sg_gpu_decide(a, i == 0 ? SG_GPU_TELL_IDLE : SG_GPU_END_IDLE, NULL, c);
                if (d)
                        (void)snprintf(d->text, sizeof(d->text), "GPU%s idle for %s",
                                       c->n == 1 ? "" : "s", sg_format_usec(span, idle));
        }
}

static void watch_gpu(struct sg_gpu_record *r, uint64_t now_usec)
{
        struct sg_gpu_status *s = &r->status;

        if (!s->gpu || s->mode == SG_GPU_MODE_FREE)
                r->idle = (struct sg_gpu_idle){.known = true};
        else
                note_idle(&r->idle, s->fresh ? s->gpu->utilization : SG_GPU_UNKNOWN, now_usec);
        s->idle_usec = sg_gpu_idle_for(&r->idle, now_usec);
}

void sg_gpu_watch(struct sg_gpu_account *a, uint64_t now_usec)
{
        for (size_t i = 0; i < a->n_claims; i++) {
                if (a->claims[i]->ended)
                        continue;
                watch_memory(a, a->claims[i], now_usec);
                watch_idle(a, a->claims[i], now_usec);
        }
        for (size_t i = 0; i < a->n_records; i++)
                watch_gpu(&a->records[i], now_usec);
}
