/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of a rescue share. */

#include "edge/store/writer/rescue.h"
#include <stdio.h>

#define SG_RESCUE_NAMED_MAX 8U

struct sg_rescue {
        struct sg_db *old, new;
        FILE *report;
        unsigned uncommitted; /* rows */
        unsigned n_aside;     /* jobs that are set aside … */
        char aside[192];      /* … and the numbers of the first of them */
};

/* rescue.c. Whether this is a job, its fields in the first columns. */
bool sg_rescue_row_is_sound(sqlite3_stmt *row);
/* Not kept. What the schema doesn't have is damaged. */
int sg_rescue_prepare(struct sg_db *db, const char *sql, sqlite3_stmt **ret);
/* The largest that was ever given to a job, as far as it is known. */
int64_t sg_rescue_last_handle(const struct sg_rescue *s);

/* rescue-copy.c: all tables, as they are. Within begin … commit of the new database, which it does
 * in between, too: the log of it isn't to grow as large as the copy. */
int sg_rescue_copy(struct sg_rescue *s);

/* rescue-jobs.c: jobs whose rows are lost or make no sense, and those that can't be started any
 * more, are set aside; what belongs to jobs is made to fit those that are left. */
int sg_rescue_jobs(struct sg_rescue *s);
