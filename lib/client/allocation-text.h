/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The text of the two files that a job is given, as the job reads it: KEY=VALUE lines. Keys that
 * aren't known are skipped; a value that can't be makes the whole text invalid, so that half a
 * truth is never acted upon.
 */

#include <stddef.h>
#include <stdint.h>

#define SGC_TEXT_MAX 8192 /* larger files aren't ours */
#define SGC_LIST_MAX 6144

struct sgc_allocation {
        uint64_t seq;
        uint64_t cpus_pm; /* permyriad of one CPU; 0 = not said */
        uint64_t threads; /* 0 = not said */
        uint64_t deadline_usec;
        char cpu_list[SGC_LIST_MAX];
        char gpus[SGC_LIST_MAX];
};

#define SGC_WHY_MAX 256

struct sgc_checkpoint {
        uint64_t id;
        char why[SGC_WHY_MAX];
};

#define SGC_THREADS_MAX 65536U

/* 0 or -EBADMSG, and then *ret is as it was. */
int sgc_allocation_parse(const char *text, size_t n, struct sgc_allocation *ret);
int sgc_checkpoint_parse(const char *text, size_t n, struct sgc_checkpoint *ret);
/* The threads alone, for who doesn't want the rest. */
int sgc_threads_parse(const char *text, size_t n, uint64_t *ret);
