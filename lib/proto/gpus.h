/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* How people write what they want of GPUs: "2", "1-4", "0.5"; "2,0" or UUIDs; "1g.10gb". */

#include <stddef.h>
#include <stdint.h>

#define SG_GPUS_ASKED_MAX 64U /* of one job */
#define SG_GPU_IDS_TEXT_MAX 4096U
#define SG_GPU_ID_TEXT_MAX 96U /* with the NUL: one of them, or a pattern of names */
#define SG_GPU_MIG_TEXT_MAX 32U
#define SG_GPUS_TEXT_MAX 16U

/* What share one asks for, in hundredths of a GPU, and of how many. "0" asks for none, which is
 * min 0. -EINVAL: it is none of these; -ERANGE: more than SG_GPUS_ASKED_MAX, or a part that is none
 * of 0.05 to 0.95. */
int sg_gpus_parse(const char *s, uint64_t *ret_min, uint64_t *ret_max, uint64_t *ret_share);
/* As that is written. */
const char *sg_gpus_format(char buf[SG_GPUS_TEXT_MAX], uint64_t min, uint64_t max, uint64_t share);
/* What it wants, for errors. */
#define SG_GPUS_WANTS                                                                              \
        "a number of GPUs such as 2 or 1-4, at most 64, or a part of one from 0.05 to 0.95"

/* How many "2,GPU-8f…" names: indexes and UUIDs with commas, each once. -EINVAL, -ERANGE */
int sg_gpu_ids_count(const char *s, size_t *ret);
/* "1g.10gb", "1g.10gb+me" */
int sg_gpu_mig_check(const char *s); /* -EINVAL */
