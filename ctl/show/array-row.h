/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Tables with one line for each array. Rows of its tasks come one after the other; they are put
 * together as they come, also over the end of a page: what one looks like, and how many there are,
 * is only known when the row of another job comes.
 */

#include "ctl/show/row.h"
#include "proto/job-key.h"

/* So many runs of indexes are shown one by one. */
#define SG_ARRAY_ROW_SPANS 4
#define SG_ARRAY_ROW_STATES 11

struct sg_array_row {
        uint64_t n;        /* tasks that are in it, 0: none */
        struct sg_row row; /* what they make together; its strings are those below */
        uint64_t counts[SG_ARRAY_ROW_STATES];
        struct {
                uint64_t first, last;
        } spans[SG_ARRAY_ROW_SPANS]; /* of indexes, in the order in which they came */
        size_t n_spans;              /* may be more */
        uint64_t least, most;
        size_t prefix; /* so much of their names is the same */
        char id[SG_JOB_ID_MAX], name[SG_JOB_NAME_MAX], class[SG_CLASS_NAME_MAX],
                user[SG_USER_NAME_MAX], state[16], list[16], reason[512], command[512];
};

typedef void sg_row_cb(const struct sg_row *row, void *userdata);

/* Takes a row. `put` is called for what was put together before, if this isn't of the same array,
 * and for the row itself, if it is no task. */
void sg_array_row_take(struct sg_array_row *a, const struct sg_row *row, sg_row_cb *put,
                       void *userdata);
/* That was the last one. */
void sg_array_row_end(struct sg_array_row *a, sg_row_cb *put, void *userdata);
