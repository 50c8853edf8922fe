/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/want.h"
#include "base/parse.h"
#include <math.h>

#define ONE_CPU_PM 1e4
#define CAP_MIN_PM 100 /* 1 ms in 100 ms */
/* So little more than a whole number of CPUs is no reason for another thread. */
#define SLIGHT_CPUS .05

static uint64_t cap_pm(double cap, double cpus)
{
        double pm = cap * cpus * ONE_CPU_PM;

        if (isinf(cap))
                return SG_UNLIMITED;
        return pm < CAP_MIN_PM ? CAP_MIN_PM : (uint64_t)pm;
}

static uint32_t own_cpus(const struct sg_want_job *j, const struct sg_share_out *out)
{
        return j->confinable ? out->cpus : 0;
}

/* How many threads make the best of its own CPUs, or of its share; 0 = their number can't change.
 */
static uint32_t threads(const struct sg_want_job *j, const struct sg_share_out *out, double cpus)
{
        uint32_t own = own_cpus(j, out);
        double n = own > 0 ? own : ceil(out->share * cpus - SLIGHT_CPUS);

        if (j->cpus_max <= j->cpus)
                return 0;
        n = fmin(fmax(n, (double)j->cpus), (double)j->cpus_max);
        return (uint32_t)fmax(n, 1);
}

struct sg_applied sg_want(const struct sg_want_job *j, const struct sg_share_out *out, double cpus)
{
        return (struct sg_applied){.weight = out->weight,
                                   .cap_pm = cap_pm(out->cap, cpus),
                                   .threads = threads(j, out, cpus),
                                   .cpus = own_cpus(j, out)};
}

/* A job that is to wait for its turn isn't put behind others while it is being started: the start
 * is short, other starts wait for it, and it holds locks of the kernel that everybody needs who
 * manages groups. The process of `run` is its user's, who could dawdle: it has no such advantage.
 */
static uint32_t weight_to_begin(const struct sg_want_job *j, uint32_t decided, uint32_t most)
{
        if (decided >= j->own_weight)
                return decided;
        return j->foreground || most < j->own_weight ? j->own_weight : most;
}

struct sg_applied sg_want_to_begin(const struct sg_want_job *j, const struct sg_share_out *out,
                                   double cpus, uint32_t most)
{
        return (struct sg_applied){.weight = weight_to_begin(j, out ? out->weight : 0, most),
                                   .cap_pm = SG_UNLIMITED,
                                   .threads = out ? threads(j, out, cpus) : 0,
                                   .cpus = out ? own_cpus(j, out) : 0};
}
