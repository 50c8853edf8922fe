/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Inventories as they come from nodes. */

#include "edge/gpu/frames.h"

/* n GPUs with all figures known, everything that there is room for, or as little as possible. Freed
 * by the caller: free(ret->gpus). */
enum fill { FEW, FULL };
void make_inventory(struct sg_gpu_inventory *ret, size_t n, enum fill fill);
