/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The node as rounds see it, and as others ask for it. */
#include "base/time-util.h"
#include "edge/common/log.h"
#include "monitor/internal.h"
#include <math.h>
#include <syslog.h>

/* How busy the CPUs are is told of each round; the rest of the node is read when somebody asks for
 * it, and now and then. */
#define NODE_ROUNDS 32

static double busy_between(const struct sg_node_sample *a, const struct sg_node_sample *b)
{
        double total, idle;

        if (!sg_sample_rate(a->cpu_total_usec, b->cpu_total_usec, 1, &total) || total <= 0 ||
            !sg_sample_rate(a->cpu_idle_usec, b->cpu_idle_usec, 1, &idle) || idle > total)
                return NAN;
        return 1 - idle / total;
}

static void take_cpus(struct sg_monitor *mon, const struct sg_node_sample *now)
{
        double busy = busy_between(&mon->cpus, now);
        const char *trouble;

        while ((trouble = sg_node_sampler_trouble(mon->node_sampler)))
                sg_log(LOG_WARNING, "%s", trouble);
        if (!isnan(busy)) /* two looks within one tick of the kernel's say nothing new */
                mon->busy = busy;
        mon->cpus = *now;
}

static void look_at_all(struct sg_monitor *mon)
{
        if (!mon->node_sampler)
                return;
        sg_node_sampler_read(mon->node_sampler, &mon->node);
        take_cpus(mon, &mon->node);
}

static void look_at_cpus(struct sg_monitor *mon)
{
        struct sg_node_sample now;

        if (!mon->node_sampler)
                return;
        sg_node_sampler_read_cpus(mon->node_sampler, &now);
        take_cpus(mon, &now);
}

void sg_monitor_look_at_node(struct sg_monitor *mon)
{
        if (mon->round % NODE_ROUNDS == 0)
                look_at_all(mon);
        else
                look_at_cpus(mon);
}

/* The last look may be long ago: between rounds, or as no job runs. */
const struct sg_node_sample *sg_monitor_node(struct sg_monitor *mon)
{
        if (sg_now_monotonic_usec() - mon->node.now_usec > mon->cadence.base_usec)
                look_at_all(mon);
        return &mon->node;
}

uint64_t sg_monitor_node_memory(const struct sg_monitor *mon)
{
        return mon->node.memory_total;
}

double sg_monitor_busy(const struct sg_monitor *mon)
{
        return mon->busy;
}

struct sg_links *sg_monitor_links(const struct sg_monitor *mon)
{
        (void)sg_links_read_counters(mon->links);
        return mon->links;
}
