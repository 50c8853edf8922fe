/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What jobs use is told to the governor here, and which of them serve somebody is found out.
 */
#include "base/file.h"
#include "govern/internal.h"
#include "monitor/monitor.h"
#include <math.h>
#include <sys/stat.h>

#define SPARE_BELOW .9 /* of the node's CPU time: who wants a CPU finds one */
#define LISTEN_SEC 5   /* between two looks for jobs that serve somebody */

void sg_loop_looked(struct sg_live *l, bool waits)
{
        const struct sg_measured *d = l->measured;
        struct sg_loop *loop = l->manager->loop;
        struct sg_learner_use u;

        if (!l->looped)
                return;
        u = sg_use_counted(&d->last, d->delays.cpu_usec, d->last.psi_cpu_some_usec);
        u.held = l->job.state == SG_JOB_SUSPENDED;
        u.spare = sg_monitor_busy(l->manager->monitor) < SPARE_BELOW;
        if (isnan(u.cpu))
                return;
        if (!waits) {
                sg_governor_count(loop->governor, l->job.key.n, u.now, u.cpu);
                return;
        }
        loop->node.memory_bytes = sg_monitor_node_memory(l->manager->monitor);
        sg_use_parts(&u, &d->last, &l->looped->used, &loop->node);
        sg_governor_use(loop->governor, l->job.key.n, &u);
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

/* A job that reports is no server: it trains together with others, which is why it listens. */
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
