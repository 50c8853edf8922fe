/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* How a job and one attempt at it are named: among processes, in paths, and to people. */

#include "proto/names.h"
#include <stdbool.h>
#include <stdint.h>

struct sg_job_key {
        char origin[SG_NODE_NAME_MAX];
        uint64_t n;
        uint64_t attempt; /* from 1; 0 = not started yet */
};

/* Whatever the attempt. */
bool sg_job_key_is_same(const struct sg_job_key *a, const struct sg_job_key *b);

/* The same for those who keep thousands: nearly all are of one origin. */
struct sg_kept_key {
        const char *origin; /* proto/shared.h */
        uint64_t n, attempt;
};

int sg_kept_key_init(struct sg_kept_key *k, const struct sg_job_key *key); /* -ENOMEM */
void sg_kept_key_deinit(struct sg_kept_key *k);
struct sg_job_key sg_kept_key_get(const struct sg_kept_key *k);
/* It is that attempt. */
bool sg_kept_key_is(const struct sg_kept_key *k, const struct sg_job_key *key);

/* "7" at home, "7@host" elsewhere; and back: origin is filled with `home` where none is given.
 * -EINVAL. */
#define SG_JOB_ID_MAX (SG_NODE_NAME_MAX + 24)
void sg_job_id_format(char buf[SG_JOB_ID_MAX], const struct sg_job_key *key, const char *home);
int sg_job_id_parse(const char *s, const char *home, struct sg_job_key *ret);
/* The directory and group name of an attempt: "N-ORIGIN-ATTEMPT", and back. */
#define SG_ATTEMPT_NAME_MAX (SG_NODE_NAME_MAX + 48)
void sg_attempt_name_format(char buf[SG_ATTEMPT_NAME_MAX], const struct sg_job_key *key);
int sg_attempt_name_parse(const char *s, struct sg_job_key *ret);
