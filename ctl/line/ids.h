/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Jobs as people name them: "7", "7@host", "5-9" for five of them, and "7[3-5]" for three tasks of
 * the array that begins with job 7. Pure. */

#include "proto/array.h"
#include "proto/job-key.h"
#include <stdbool.h>
#include <stddef.h>

struct sg_ids {
        char **v; /* owned, each a single job's id; not NULL-terminated */
        size_t n;
};

void sg_ids_deinit(struct sg_ids *ids);

/* -EINVAL if it isn't of this form, -ERANGE if it names too many, -ENOMEM. */
int sg_ids_add(struct sg_ids *ids, const char *word);

/* Tasks of an array, by their indexes. */
struct sg_ids_tasks {
        char id[SG_JOB_ID_MAX]; /* of the array's first job */
        uint64_t n;             /* its number */
        char *list;             /* owned; what was between the brackets */
        struct sg_array array;
};

/* -EINVAL if it isn't of this form, -ERANGE if it names too many, -ENOMEM. */
int sg_ids_parse_tasks(const char *word, struct sg_ids_tasks *ret);
void sg_ids_tasks_deinit(struct sg_ids_tasks *t);

/* Whether the governor's id may be the job that was asked for: at home it leaves the node out. */
bool sg_id_matches(const char *asked, const char *id);
