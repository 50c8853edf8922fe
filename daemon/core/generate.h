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

#include "core/trace.h"

/* Appends n instances, "1" … "n". -EINVAL: there is no such workload. -ENOMEM */
int sg_generate(struct sg_trace *t, const char *workload, uint64_t seed, uint32_t n);
