/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What jobs use, as the governor wants to know it: in seconds, and in parts of the node.
 */
#include "base/file.h"
#include "base/time-util.h"
#include "govern/internal.h"
#include "monitor/monitor.h"
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#define LISTEN_SEC 5 /* between two looks for jobs that serve somebody */

static double count(uint64_t n)
{
        return n == SG_UNLIMITED ? (double)NAN : (double)n;
}

static double seconds(uint64_t usec)
{
        return count(usec) / SG_USEC_PER_SEC;
}

/* How long each thread waited, and how long any of them did: the same for jobs of one thread, but
 * the first is counted only when a wait is over, which may take many seconds for who isn't to have
 * its turn, and meanwhile looks like sleep. Either may be unknown. */
static uint64_t waited_usec(const struct sg_measured *d)
{
        uint64_t each = d->delays.cpu_usec, any = d->last.psi_cpu_some_usec;

        if (each == SG_UNLIMITED || any == SG_UNLIMITED)
                return each == SG_UNLIMITED ? any : each;
        return each > any ? each : any;
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
        u->use[SG_RESOURCE_CPU] /= loop->cpus;
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

static uint64_t group_of(struct sg_looped *p)
{
        const char *scope = p->live->groups.scope ? sg_live_unified_group(p->live) : NULL;
        char path[PATH_MAX];
        struct stat st;

        if (p->group == 0 && scope && sg_path_join(path, sizeof(path), scope, "job") >= 0 &&
            stat(path, &st) == 0)
                p->group = st.st_ino;
        return p->group;
}

static bool is_among(uint64_t id, const uint64_t *ids, int n)
{
        for (int i = 0; id != 0 && i < n; i++)
                if (ids[i] == id)
                        return true;
        return false;
}

/* One that also reports trains with others, which is how it came to listen. */
void sg_loop_look_for_servers(struct sg_loop *loop, double now)
{
        const uint64_t *ids;
        struct sg_looped *p;
        int n;

        if (!loop->listeners || sg_list_empty(&loop->jobs) || now < loop->listened + LISTEN_SEC)
                return;
        loop->listened = now;
        n = sg_listeners_read(loop->listeners, &ids);
        if (n < 0) /* the table changed meanwhile, or memory is short: as before */
                return;
        sg_list_foreach (p, &loop->jobs, link) {
                bool serves = n > 0 && is_among(group_of(p), ids, n) && !p->reports;

                if (p->awaited || serves == p->serves)
                        continue;
                p->serves = serves;
                sg_loop_changed(p->live);
        }
}
