/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The governor's log of decisions (schedgov.decision/1), read for people: a row for each job that a
 * step gave something else than the one before. */

#include "ctl/show/fields.h"
#include "ctl/show/table.h"
#include <stdbool.h>
#include <stdio.h>

enum sg_decision_column {
        SG_DECISION_TIME,
        SG_DECISION_ID,
        SG_DECISION_CAUSE,
        SG_DECISION_SHARE,
        SG_DECISION_WEIGHT,
        SG_DECISION_CAP,
        SG_DECISION_LIST,
        SG_DECISION_WHY,
        SG_DECISION_LEFT,
        SG_DECISION_TOTAL,
        SG_DECISION_GROWTH,
        _SG_DECISION_MAX,
};

extern const struct sg_column sg_decision_columns[_SG_DECISION_MAX];

struct sg_decision_row {
        json_t *line; /* owned: the step … */
        json_t *job;  /* … and one of its jobs, borrowed; a string, where that is gone */
};

/* The last rows, in the order in which they were read. */
struct sg_decision_rows {
        struct sg_decision_row *ring;
        size_t room, n; /* n: ever put */
};

int sg_decision_rows_init(struct sg_decision_rows *rows, size_t room);
void sg_decision_rows_deinit(struct sg_decision_rows *rows);
/* Reads all lines of f; of one job (id; "" = of all). Lines that aren't of this form are skipped:
 * one may be half written. -ENOMEM */
int sg_decision_rows_read(struct sg_decision_rows *rows, FILE *f, const char *id);
/* i counts from the oldest that is kept. */
const struct sg_decision_row *sg_decision_rows_get(const struct sg_decision_rows *rows, size_t i);
static inline size_t sg_decision_rows_count(const struct sg_decision_rows *rows)
{
        return rows->n < rows->room ? rows->n : rows->room;
}

/* The text of a cell, fit for a terminal; may be in buf. */
const char *sg_decision_cell(const struct sg_decision_row *row, enum sg_decision_column column,
                             char *buf, size_t size);
/* Both rows are of the same step. */
static inline bool sg_decision_same_step(const struct sg_decision_row *a,
                                         const struct sg_decision_row *b)
{
        return a->line == b->line;
}
