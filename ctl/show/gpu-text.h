/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job asks for and has of GPUs, in words, from its document. Pure. */

#include "ctl/show/fields.h"

#define SG_GPU_COUNT_MAX 48

/* "2", "1-4", "0.5", "1g.10gb"; "": none. given: how many it has, where that is known. */
const char *sg_gpu_count_text(const json_t *job, char buf[SG_GPU_COUNT_MAX]);
/* "1-4 of type A100*, 20G of each" */
const char *sg_gpu_asked_text(const json_t *job, char *buf, size_t size);
/* "GPU-8f6e…, GPU-77ab…" */
const char *sg_gpu_given_text(const json_t *job, char *buf, size_t size);
/* "12G used, 88% busy, at most 14G used, busy for 1h 30min, 12.5 kJ" */
const char *sg_gpu_used_text(const json_t *job, char *buf, size_t size);
