/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A job in a table, from a row of ListJobs or from its document, and its cells. */

#include "ctl/show/gpu-text.h"
#include "ctl/show/progress.h"
#include "ctl/show/table.h"
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define SG_ROW_SIGNATURE "(sssssstttiittstt)"

struct sg_row { /* strings belong to the message, or the document */
        const char *id, *name, *class, *user, *state, *reason;
        uint64_t submitted_usec, started_usec, ended_usec;
        int32_t exit_code, signal;
        uint64_t cpu_usec, memory_bytes;
        const char *command;
        uint64_t array, index; /* number of its array's first task, 0: it is none's; its index */
        const char *indexes;   /* of several tasks (array-row.h); NULL: of one */
        struct sg_job_progress progress; /* as share, of a document only */
        double share, weight, growth, gpu_utilization;
        uint64_t gpu_memory_bytes;
        char gpu[SG_GPU_COUNT_MAX];
        const char *list;
};

enum sg_row_column {
        SG_COLUMN_ID,
        SG_COLUMN_NAME,
        SG_COLUMN_CLASS,
        SG_COLUMN_USER,
        SG_COLUMN_STATE,
        SG_COLUMN_TIME,
        SG_COLUMN_CPU,
        SG_COLUMN_MEM,
        SG_COLUMN_REASON,
        SG_COLUMN_EXIT,
        SG_COLUMN_SIGNAL,
        SG_COLUMN_SUBMITTED,
        SG_COLUMN_STARTED,
        SG_COLUMN_ENDED,
        SG_COLUMN_COMMAND,
        SG_COLUMN_INDEX,
        SG_COLUMN_SHARE, /* from here on, documents are needed */
        SG_COLUMN_LIST,
        SG_COLUMN_WEIGHT,
        SG_COLUMN_GROWTH,
        SG_COLUMN_PROGRESS,
        SG_COLUMN_ETA,
        SG_COLUMN_LOSS,
        SG_COLUMN_STEPS,
        SG_COLUMN_GPU,
        SG_COLUMN_GPU_MEM,
        SG_COLUMN_GPU_UTIL,
        _SG_COLUMN_MAX,
};

extern const struct sg_column sg_row_columns[_SG_COLUMN_MAX];

/* 1 a row, 0 no more, or negative. The message is inside the array. */
int sg_row_read(sd_bus_message *m, struct sg_row *ret);

/* What a schedgov.job/1 says. */
void sg_row_from_document(const json_t *job, struct sg_row *ret);

/* Whether a table has columns that rows of ListJobs don't fill. */
bool sg_row_needs_document(const struct sg_table *t);

/* The text of a cell, fit for a terminal; may be in buf. */
const char *sg_row_cell(const struct sg_row *row, enum sg_row_column column, uint64_t now_usec,
                        char *buf, size_t size);
