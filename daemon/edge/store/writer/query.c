/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is read from the database. Rows are handed on as they are stepped: nothing is collected. */

#include "edge/store/writer/db.h"
#include <errno.h>
#include <inttypes.h>

/* Steps through all rows; a callback's failure ends it. The number of rows, or a negative errno. */
static int each_row(struct sg_db *db, sqlite3_stmt *stmt, sg_db_row_cb cb, void *userdata)
{
        int r, rows = 0;

        while ((r = sg_db_step(db, stmt)) > 0) {
                r = cb(stmt, userdata);
                if (r < 0) {
                        (void)sqlite3_reset(stmt);
                        return r;
                }
                rows++;
        }
        return r < 0 ? r : rows;
}

int sg_db_frozen(struct sg_db *db, sg_db_row_cb cb, void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOBS_FROZEN, &stmt);
        if (r >= 0)
                r = each_row(db, stmt, cb, userdata);
        return r < 0 ? r : 0;
}

int sg_db_frozen_elsewhere(struct sg_db *db)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOBS_FROZEN_ELSEWHERE, &stmt);
        return r < 0 ? r : sg_db_run(db, stmt);
}

int sg_db_live_jobs(struct sg_db *db, sg_db_row_cb cb, void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOBS_LIVE, &stmt);
        if (r >= 0)
                r = each_row(db, stmt, cb, userdata);
        return r < 0 ? r : 0;
}

/* Unsigned times and limits as SQLite compares them. */
static int64_t at_most(uint64_t v)
{
        return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

static int bind_query(sqlite3_stmt *stmt, const struct sg_store_query *q)
{
        int state = q->state ? sg_job_state_from_string(q->state) : -1;

        if (q->state && state < 0)
                return state;
        (void)sqlite3_bind_int64(stmt, 1, q->before ? at_most(q->before) : INT64_MAX);
        (void)sqlite3_bind_int64(stmt, 2, (int64_t)q->uid);
        (void)sqlite3_bind_int64(stmt, 3, state);
        sg_sql_bind_text(stmt, 4, q->name);
        sg_sql_bind_text(stmt, 5, q->class);
        (void)sqlite3_bind_int64(stmt, 6, at_most(q->since_usec));
        (void)sqlite3_bind_int64(stmt, 7, q->until_usec ? at_most(q->until_usec) : INT64_MAX);
        (void)sqlite3_bind_int64(stmt, 8, at_most(q->limit));
        sg_sql_bind_text(stmt, 9, q->user);
        (void)sqlite3_bind_int64(stmt, 10, at_most(q->array));
        (void)sqlite3_bind_int64(stmt, 11, q->submitted_only);
        return 0;
}

static int get_one(struct sg_db *db, const struct sg_store_query *q, sg_db_row_cb cb,
                   void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOB_GET, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_text(stmt, 1, q->origin);
        (void)sqlite3_bind_int64(stmt, 2, at_most(q->n));
        return each_row(db, stmt, cb, userdata);
}

int sg_db_list(struct sg_db *db, const struct sg_store_query *q, sg_db_row_cb cb, void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        if (q->n != 0) {
                r = get_one(db, q, cb, userdata);
                return r < 0 ? r : 0;
        }
        r = sg_db_statement(db, q->finished_only ? SG_SQL_JOBS_FINISHED : SG_SQL_JOBS_ALL, &stmt);
        if (r >= 0)
                r = bind_query(stmt, q);
        if (r >= 0)
                r = each_row(db, stmt, cb, userdata);
        return r < 0 ? r : 0;
}

int sg_db_job_by_token(struct sg_db *db, uint64_t uid, const char *token, sg_db_row_cb cb,
                       void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOB_BY_TOKEN, &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(stmt, 1, (int64_t)uid);
        sg_sql_bind_text(stmt, 2, token);
        r = each_row(db, stmt, cb, userdata);
        return r < 0 ? r : 0;
}

int sg_db_events(struct sg_db *db, uint64_t after_seq, uint64_t uid, const struct sg_job_key *key,
                 uint64_t limit, sg_db_row_cb cb, void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, after_seq ? SG_SQL_EVENTS_AFTER : SG_SQL_EVENTS_LATEST, &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(stmt, 1, at_most(after_seq));
        (void)sqlite3_bind_int64(stmt, 2, (int64_t)uid);
        (void)sqlite3_bind_int64(stmt, 3, (int64_t)key->n);
        (void)sqlite3_bind_int64(stmt, 4, at_most(limit));
        sg_sql_bind_text(stmt, 5, key->origin);
        r = each_row(db, stmt, cb, userdata);
        return r < 0 ? r : 0;
}

int sg_db_spec(struct sg_db *db, const struct sg_job_key *key, sg_db_row_cb cb, void *userdata)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_SPEC_GET, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, key);
        r = sg_db_step(db, stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        r = sqlite3_column_type(stmt, 0) == SQLITE_NULL ? -ENODATA : cb(stmt, userdata);
        (void)sqlite3_reset(stmt);
        return r;
}

int sg_db_bytes(struct sg_db *db, uint64_t *ret_used, uint64_t *ret_free)
{
        uint64_t size, pages, unused;
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_PAGES, &stmt);
        if (r < 0)
                return r;
        r = sg_db_step(db, stmt);
        if (r <= 0)
                return r < 0 ? r : -EIO;
        size = (uint64_t)sqlite3_column_int64(stmt, 0);
        pages = (uint64_t)sqlite3_column_int64(stmt, 1);
        unused = (uint64_t)sqlite3_column_int64(stmt, 2);
        (void)sqlite3_reset(stmt);
        *ret_used = (pages - unused) * size;
        *ret_free = unused * size;
        return 0;
}

int sg_db_last_n(struct sg_db *db, uint64_t *ret)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_LAST_N, &stmt);
        if (r < 0)
                return r;
        r = sg_db_step(db, stmt);
        if (r <= 0)
                return r < 0 ? r : -EIO;
        *ret = (uint64_t)sqlite3_column_int64(stmt, 0);
        (void)sqlite3_reset(stmt);
        return 0;
}

int sg_db_attempt_is_over(struct sg_db *db, const struct sg_job_key *key, bool *ret)
{
        uint64_t state, attempt;
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOB_OLD, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, key);
        r = sg_db_step(db, stmt);
        if (r < 0)
                return r;
        if (r == 0) {
                *ret = true;
                return 1;
        }
        state = (uint64_t)sqlite3_column_int64(stmt, 0);
        attempt = (uint64_t)sqlite3_column_int64(stmt, 4);
        (void)sqlite3_reset(stmt);
        *ret = sg_job_state_is_final(state) || attempt > key->attempt ||
               (state == SG_JOB_QUEUED && attempt == key->attempt);
        return 0;
}
