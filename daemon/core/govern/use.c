/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/use.h"
#include <math.h>
#include <string.h>

#define USEC_PER_SEC 1e6

static double count(uint64_t n)
{
        return n == SG_UNLIMITED ? (double)NAN : (double)n;
}

static double seconds(uint64_t usec)
{
        return count(usec) / USEC_PER_SEC;
}

struct sg_learner_use sg_use_counted(const struct sg_sample *s, uint64_t each_usec,
                                     uint64_t any_usec)
{
        struct sg_learner_use u = {.now = seconds(s->now_usec),
                                   .cpu = seconds(s->cpu_usec),
                                   .delay = seconds(each_usec),
                                   .pressure = seconds(any_usec)};

        for (int r = 0; r < SG_N_RESOURCES; r++)
                u.use[r] = (double)NAN;
        return u;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
        return a == SG_UNLIMITED || b == SG_UNLIMITED ? SG_UNLIMITED : a + b;
}

/* The capacity of a disk or a network isn't known: the most that any job has had is taken for it.
 */
static double part_of_peak(struct sg_use_node *node, enum sg_resource r, double rate)
{
        static const double least[SG_N_RESOURCES] = {
                [SG_RESOURCE_IO] = 10e6, [SG_RESOURCE_NET] = 1e6};

        if (isnan(rate))
                return rate;
        node->peak[r] = fmax(fmax(node->peak[r], rate), least[r]);
        return rate / node->peak[r];
}

static double rate_since(const struct sg_use_last *last, enum sg_resource r, double now,
                         double used)
{
        if (!(last->now > 0 && now > last->now && used >= last->used[r]))
                return (double)NAN;
        return (used - last->used[r]) / (now - last->now);
}

void sg_use_parts(struct sg_learner_use *u, const struct sg_sample *s, struct sg_use_last *last,
                  struct sg_use_node *node)
{
        const double used[SG_N_RESOURCES] = {
                [SG_RESOURCE_CPU] = u->cpu,
                [SG_RESOURCE_IO] = count(sum(s->io_read_bytes, s->io_write_bytes)),
                [SG_RESOURCE_NET] = count(sum(s->net_rx_bytes, s->net_tx_bytes)),
        };

        u->use[SG_RESOURCE_CPU] =
                rate_since(last, SG_RESOURCE_CPU, u->now, used[SG_RESOURCE_CPU]) / node->cpus;
        u->use[SG_RESOURCE_MEMORY] = count(s->memory_bytes) / count(node->memory_bytes);
        for (enum sg_resource r = SG_RESOURCE_IO; r <= SG_RESOURCE_NET; r++)
                u->use[r] = part_of_peak(node, r, rate_since(last, r, u->now, used[r]));
        last->now = u->now;
        memcpy(last->used, used, sizeof(used));
}
