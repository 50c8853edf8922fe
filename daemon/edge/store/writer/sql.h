/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The SQL of the store's database, and jobs in and out of it. */

#include "core/job/job.h"
#include <sqlite3.h>

enum sg_sql { /* prepared statements, kept */
              SG_SQL_BEGIN,
              SG_SQL_COMMIT,
              SG_SQL_SAVEPOINT,
              SG_SQL_RELEASE,
              SG_SQL_ROLLBACK_TO,
              SG_SQL_JOB_INSERT,
              SG_SQL_JOB_UPDATE,
              SG_SQL_JOB_HOLD,
              SG_SQL_JOB_FREEZE,
              SG_SQL_JOBS_FROZEN,
              SG_SQL_JOBS_FROZEN_ELSEWHERE,
              SG_SQL_JOB_GET,
              SG_SQL_JOB_OLD,
              SG_SQL_JOB_BY_TOKEN,
              SG_SQL_JOBS_LIVE,
              SG_SQL_JOBS_EVERY,
              SG_SQL_JOBS_ALL,
              SG_SQL_JOBS_FINISHED,
              SG_SQL_LAST_N,
              SG_SQL_COUNT_FINISHED,
              SG_SQL_SPEC_INSERT,
              SG_SQL_SPEC_GET,
              SG_SQL_SPEC_KEEP,
              SG_SQL_SPEC_UNNAME,
              SG_SQL_SPEC_DELETE,
              SG_SQL_KEPT_SUMS,
              SG_SQL_KEPT_SUM,
              SG_SQL_KEPT_ANY,
              SG_SQL_KEPT_OLDEST,
              SG_SQL_SHARE_INSERT,
              SG_SQL_SHARE_DROP,
              SG_SQL_SHARE_DELETE,
              SG_SQL_ATTEMPT_INSERT,
              SG_SQL_ATTEMPTS_DELETE,
              SG_SQL_EVENT_INSERT,
              SG_SQL_EVENTS_LATEST,
              SG_SQL_EVENTS_AFTER,
              SG_SQL_EVENTS_SPAN,
              SG_SQL_EVENTS_DELETE,
              SG_SQL_PRUNE_COUNT,
              SG_SQL_PRUNE_AGE,
              SG_SQL_OLDEST_END,
              SG_SQL_PAGES,
              SG_SQL_COUNTER_SET,
              _SG_SQL_MAX,
};

/* Heap; NULL = no memory. */
char *sg_sql_text(enum sg_sql id);
/* Parameter ?tag of every field. */
void sg_sql_bind_job(sqlite3_stmt *stmt, const struct sg_job *job);
void sg_sql_bind_key(sqlite3_stmt *stmt, const struct sg_job_key *key); /* ?1 origin, ?2 n */
void sg_sql_bind_text(sqlite3_stmt *stmt, int parameter, const char *s);
/* Columns 0 … of a SELECT of all fields, as a job record. */
void sg_sql_encode_job(sqlite3_stmt *row, struct sg_record *r);

/* --- schema.c --- */

extern const char *const sg_sql_migrations[];
extern const unsigned sg_sql_n_migrations;
