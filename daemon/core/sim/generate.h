/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Standard workloads, made up from ten models whose loss curves and sizes were published with
 * FlowCon. Instance i of a seed is the same however many are asked for.
 *
 *   fixed3      two of one model and one of another, 40 s apart: FlowCon's fixed schedule
 *   randomN     N jobs, each of a random model with its work × 0.7 … 1.3; the first comes at 0, the
 *               others within 200 s
 *   wideN       the same of those models that can use the whole node
 *   narrowN     the same of those that can't, every other job
 *   deadlineN   wideN with deadlines that can all be met
 *   overloadN   wideN with deadlines that can't
 */

#include "core/sim/trace.h"
#include <stdbool.h>
#include <stddef.h>

/* Appends n instances, "1" … "n". -EINVAL: there is no such workload. -ENOMEM */
int sg_generate(struct sg_trace *t, const char *workload, uint64_t seed, uint32_t n);

struct sg_rng;
struct sg_workload {
        const char *name, *summary;
        bool sized; /* its name ends with a number of jobs */
        int (*generate)(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance);
};
extern const struct sg_workload sg_workloads[];
extern const size_t sg_n_workloads;
