/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What jobs use, as the governor wants to know it: in seconds, and in parts of the node.
 */
#include "base/time-util.h"
#include "loop-internal.h"
#include "monitor.h"
#include <math.h>
#include <string.h>

static double count(uint64_t n)
{
        return n == SG_UNLIMITED ? (double)NAN : (double)n;
}

static double seconds(uint64_t usec)
{
        return count(usec) / SG_USEC_PER_SEC;
}

/* Where nobody tells how long each thread waited: how long any of them did, which is the same for
 * jobs of one thread, and less than the truth for others. */
static uint64_t waited_usec(const struct sg_measured *d)
{
        return d->delays.cpu_usec != SG_UNLIMITED ? d->delays.cpu_usec : d->last.psi_cpu_some_usec;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
        return a == SG_UNLIMITED || b == SG_UNLIMITED ? SG_UNLIMITED : a + b;
}

/* Nobody says what a disk or a network can do: the most that a job has had is taken for all. */
static double part_of_peak(struct sg_loop *loop, enum sg_resource r, double rate)
{
        static const double least[SG_N_RESOURCES] = {
                [SG_RESOURCE_IO] = 10e6, [SG_RESOURCE_NET] = 1e6};

        if (isnan(rate))
                return rate;
        loop->peak[r] = fmax(fmax(loop->peak[r], rate), least[r]);
        return rate / loop->peak[r];
}

/* What it used since the last time, as parts of the node. */
static void tell_use(struct sg_looped *p, struct sg_learner_use *u)
{
        struct sg_loop *loop = p->live->manager->loop;
        const struct sg_sample *s = &p->live->measured->last;
        const double used[SG_N_RESOURCES] = {
                [SG_RESOURCE_CPU] = u->cpu,
                [SG_RESOURCE_IO] = count(sum(s->io_read_bytes, s->io_write_bytes)),
                [SG_RESOURCE_NET] = count(sum(s->net_rx_bytes, s->net_tx_bytes)),
        };

        for (int r = 0; r < SG_N_RESOURCES; r++)
                u->use[r] = p->counted > 0 && u->now > p->counted
                                    ? (used[r] - p->used[r]) / (u->now - p->counted)
                                    : (double)NAN;
        u->use[SG_RESOURCE_CPU] /= (double)loop->manager->node.n_cpus;
        u->use[SG_RESOURCE_MEMORY] = count(s->memory_bytes) /
                                     count(sg_monitor_node(loop->manager->monitor)->memory_total);
        u->use[SG_RESOURCE_IO] = part_of_peak(loop, SG_RESOURCE_IO, u->use[SG_RESOURCE_IO]);
        u->use[SG_RESOURCE_NET] = part_of_peak(loop, SG_RESOURCE_NET, u->use[SG_RESOURCE_NET]);
        p->counted = u->now;
        memcpy(p->used, used, sizeof(used));
}

void sg_loop_looked(struct sg_live *l, bool waits)
{
        const struct sg_measured *d = l->measured;
        struct sg_governor *g = l->manager->loop->governor;
        struct sg_learner_use u = {.now = seconds(d->last.now_usec),
                                   .cpu = seconds(d->last.cpu_usec),
                                   .delay = seconds(waited_usec(d)),
                                   .held = l->job.state == SG_JOB_SUSPENDED};

        if (!l->looped || isnan(u.cpu))
                return;
        if (!waits) {
                sg_governor_count(g, l->job.key.n, u.now, u.cpu);
                return;
        }
        tell_use(l->looped, &u);
        sg_governor_use(g, l->job.key.n, &u);
}
