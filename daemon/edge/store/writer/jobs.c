/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What changes jobs in the database. Invariants: every job that isn't final has its spec, and no
 * final one has, but may have what is kept of it (kept.c); a change of state, reason or hold leaves
 * an event row; a row is written without `hold` and `frozen` (store.h).
 */

#include "base/time-util.h"
#include "edge/store/writer/db.h"
#include "proto/array.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PRUNE_STEP 50 /* rows: less than a millisecond added to a finish */
#define PRUNE_EVENTS_STEP 200
#define MEASURE_EACH 64       /* ends */
#define PRUNE_BYTES_STEPS 200 /* 10,000 rows: some 50 ms */
#define EVENTS_PER_JOB 4      /* queued, starting, running, its end */
#define EVENTS_MIN 1000

#define PARAMETER_SPEC ((int)sg_job_n_fields + 1)
#define PARAMETER_TOKEN ((int)sg_job_n_fields + 2)
#define PARAMETER_OVER ((int)sg_job_n_fields + 1)
#define PARAMETER_FORGET ((int)sg_job_n_fields + 2)

/* b: for statements that have a second parameter */
static int bind_int64(struct sg_db *db, enum sg_sql id, int64_t a, int64_t b, sqlite3_stmt **ret)
{
        int r;

        r = sg_db_statement(db, id, ret);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(*ret, 1, a);
        if (sqlite3_bind_parameter_count(*ret) > 1)
                (void)sqlite3_bind_int64(*ret, 2, b);
        return 0;
}

static int run_int64(struct sg_db *db, enum sg_sql id, int64_t a, int64_t b)
{
        sqlite3_stmt *stmt;
        int r = bind_int64(db, id, a, b, &stmt);

        return r < 0 ? r : sg_db_run(db, stmt);
}

/* The statement, with all of the job's fields bound to it. */
static int bind_job(struct sg_db *db, enum sg_sql id, const struct sg_job *job, sqlite3_stmt **ret)
{
        int r;

        r = sg_db_statement(db, id, ret);
        if (r < 0)
                return r;
        sg_sql_bind_job(*ret, job);
        return 0;
}

static int insert_event(struct sg_db *db, const struct sg_job *job)
{
        char name[SG_USER_NAME_MAX];
        sqlite3_stmt *stmt;
        int r;

        r = bind_job(db, SG_SQL_EVENT_INSERT, job, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_text(stmt, sqlite3_bind_parameter_index(stmt, ":who"),
                         sg_job_who(job, &job->changed_by, name));
        (void)sqlite3_bind_int64(stmt, sqlite3_bind_parameter_index(stmt, ":time"),
                                 (int64_t)(job->changed_usec ?: sg_now_realtime_usec()));
        return sg_db_run(db, stmt);
}

static int insert_spec(struct sg_db *db, const struct sg_field *spec, uint64_t users,
                       int64_t *ret_id)
{
        sqlite3_stmt *stmt;
        int64_t id;
        int r;

        r = sg_db_statement(db, SG_SQL_SPEC_INSERT, &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_blob64(stmt, 1, spec->data ? (const void *)spec->data : "", spec->size,
                                  SQLITE_STATIC);
        r = sg_db_run(db, stmt);
        if (r < 0)
                return r;
        id = sqlite3_last_insert_rowid(db->handle);
        if (users > 1) {
                r = run_int64(db, SG_SQL_SHARE_INSERT, id, (int64_t)users);
                if (r < 0)
                        return r;
        }
        *ret_id = id;
        return 0;
}

static int insert_job(struct sg_db *db, const struct sg_job *job, int64_t spec, const char *token)
{
        sqlite3_stmt *stmt;
        int r;

        r = bind_job(db, SG_SQL_JOB_INSERT, job, &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(stmt, PARAMETER_SPEC, spec);
        sg_sql_bind_text(stmt, PARAMETER_TOKEN, token);
        r = sg_db_run(db, stmt);
        return r < 0 ? r : insert_event(db, job);
}

static int insert_task(struct sg_db *db, const struct sg_job *template, uint64_t i, uint64_t index,
                       int64_t spec, const char *token)
{
        _cleanup_(sg_job_deinit) struct sg_job task;
        int r;

        sg_job_init(&task);
        r = sg_job_copy(&task, template);
        if (r >= 0)
                r = sg_job_become_task(&task, i, index);
        return r < 0 ? r : insert_job(db, &task, spec, token);
}

static int find_token(sqlite3_stmt *row, void *userdata)
{
        (void)row;
        *(bool *)userdata = true;
        return 0;
}

int sg_db_submit(struct sg_db *db, const struct sg_job *template, const char *tasks,
                 const char *token, const struct sg_field *spec)
{
        struct sg_array_walk walk = sg_array_walk(tasks ? tasks : "");
        struct sg_array array = {.n = 1};
        bool known = false;
        uint64_t index;
        int64_t id = 0;
        int r;

        if ((tasks && sg_array_parse(tasks, &array) < 0) || template->key.n == 0)
                return -EINVAL;
        if (token) {
                r = sg_db_job_by_token(db, template->uid, token, find_token, &known);
                if (r < 0 || known)
                        return r < 0 ? r : 1;
        }
        r = insert_spec(db, spec, array.n, &id);
        if (r < 0)
                return r;
        if (!tasks)
                return insert_job(db, template, id, token);
        for (uint64_t i = 0; r >= 0 && sg_array_next(&walk, &index); i++)
                r = insert_task(db, template, i, index, id, i == 0 ? token : NULL);
        return r;
}

/* What the row was before an update, as far as it matters. */
struct old_job {
        uint64_t state, attempt;
        int64_t spec, kept; /* 0 = none */
        bool hold;
        bool same; /* state and reason are the new job's */
};

static bool same_text(const char *a, const char *b)
{
        return a && b ? strcmp(a, b) == 0 : a == b;
}

static int old_job_get(struct sg_db *db, const struct sg_job *job, struct old_job *ret)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOB_OLD, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, &job->key);
        r = sg_db_step(db, stmt);
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        *ret = (struct old_job){
                .state = (uint64_t)sqlite3_column_int64(stmt, 0),
                .spec = sqlite3_column_int64(stmt, 3),
                .kept = sqlite3_column_int64(stmt, 5),
                .attempt = (uint64_t)sqlite3_column_int64(stmt, 4),
                .hold = sqlite3_column_int64(stmt, 2) != 0,
        };
        ret->same = ret->state == job->state &&
                    same_text((const char *)sqlite3_column_text(stmt, 1), job->reason);
        (void)sqlite3_reset(stmt);
        return 0;
}

/* Once its job is over a row has a command only if the spec is kept, too. */
static int write_row(struct sg_db *db, const struct sg_job *job, bool over, struct old_job *ret_old)
{
        sqlite3_stmt *stmt;
        int r;

        r = old_job_get(db, job, ret_old);
        if (r < 0)
                return r;
        r = bind_job(db, SG_SQL_JOB_UPDATE, job, &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(stmt, PARAMETER_OVER, over);
        (void)sqlite3_bind_int64(stmt, PARAMETER_FORGET,
                                 over && ret_old->kept == 0 &&
                                         (ret_old->spec == 0 || !db->keep_commands));
        r = sg_db_run(db, stmt);
        if (r < 0)
                return r;
        return ret_old->same ? 0 : insert_event(db, job);
}

int sg_db_update(struct sg_db *db, const struct sg_job *job)
{
        struct old_job old;

        return write_row(db, job, false, &old);
}

int sg_db_hold(struct sg_db *db, const struct sg_job *job)
{
        struct old_job old;
        sqlite3_stmt *stmt;
        int r;

        r = old_job_get(db, job, &old);
        if (r >= 0)
                r = sg_db_statement(db, SG_SQL_JOB_HOLD, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, &job->key);
        (void)sqlite3_bind_int64(stmt, 3, (int64_t)job->hold);
        r = sg_db_run(db, stmt);
        return r < 0 || old.hold == (job->hold != 0) ? r : insert_event(db, job);
}

int sg_db_freeze(struct sg_db *db, const struct sg_job_key *key, uint64_t reasons, bool on)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_JOB_FREEZE, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, key);
        (void)sqlite3_bind_int64(stmt, 3, (int64_t)reasons);
        (void)sqlite3_bind_int64(stmt, 4, on);
        r = sg_db_run(db, stmt);
        return r < 0 || sqlite3_changes(db->handle) > 0 ? r : -ENOENT;
}

/* The job needs this spec no more: it is erased, unless other tasks of the array do. */
static int drop_spec(struct sg_db *db, int64_t spec, const struct sg_job *job)
{
        sqlite3_stmt *stmt;
        int64_t users = 0;
        int r;

        r = bind_int64(db, SG_SQL_SHARE_DROP, spec, 0, &stmt);
        if (r < 0)
                return r;
        r = sg_db_step(db, stmt);
        if (r > 0) {
                users = sqlite3_column_int64(stmt, 0);
                r = sg_db_run(db, stmt);
                if (r >= 0 && users <= 0)
                        r = run_int64(db, SG_SQL_SHARE_DELETE, spec, 0);
        }
        return r < 0 || users > 0 ? r : sg_db_erase_spec(db, spec, job);
}

/* An attempt that isn't the job's last gets a row of its own; the last one is the job's. */
static int keep_attempt(struct sg_db *db, const struct sg_job *job)
{
        sqlite3_stmt *stmt;
        int r = bind_job(db, SG_SQL_ATTEMPT_INSERT, job, &stmt);

        return r < 0 ? r : sg_db_run(db, stmt);
}

int sg_db_finish(struct sg_db *db, const struct sg_job *job)
{
        bool final = sg_job_state_is_final(job->state);
        struct old_job old;
        int r;

        r = write_row(db, job, final, &old);
        if (r < 0)
                return r;
        if (!final)
                return job->key.attempt > 0 ? keep_attempt(db, job) : 0;
        if (!sg_job_state_is_final(old.state) && db->finished >= 0)
                db->finished++;
        return old.spec > 0 ? drop_spec(db, old.spec, job) : 0;
}

/* --- retention ------------------------------------------------------------------------------ */

static int forget_job(struct sg_db *db, const char *origin, int64_t n)
{
        static const enum sg_sql ids[] = {SG_SQL_COUNTER_SET, SG_SQL_ATTEMPTS_DELETE};
        sqlite3_stmt *stmt;
        struct sg_job_key key = {.n = (uint64_t)n};
        int r;

        for (size_t i = 0; i < SG_ELEMENTSOF(ids); i++) {
                r = sg_db_statement(db, ids[i], &stmt);
                if (r < 0)
                        return r;
                sg_sql_bind_text(stmt, 1, origin);
                (void)sqlite3_bind_int64(stmt, 2, n);
                r = sg_db_run(db, stmt);
                if (r < 0)
                        return r;
        }
        (void)snprintf(key.origin, sizeof(key.origin), "%s", origin);
        if (db->forget)
                db->forget(&key, db->forget_userdata);
        return 0;
}

static int prune_jobs(struct sg_db *db, enum sg_sql id, int64_t a, int64_t b)
{
        sqlite3_stmt *stmt;
        int r;

        r = bind_int64(db, id, a, b, &stmt);
        if (r < 0)
                return r;
        while ((r = sg_db_step(db, stmt)) > 0) {
                db->finished--;
                r = forget_job(db, (const char *)sqlite3_column_text(stmt, 0),
                               sqlite3_column_int64(stmt, 1));
                if (r >= 0)
                        r = sg_db_delete_spec(db, sqlite3_column_int64(stmt, 2));
                if (r < 0) {
                        (void)sqlite3_reset(stmt);
                        return r;
                }
        }
        return r;
}

/* The newest event always stays: its number is where the next one is counted from. */
static int prune_events(struct sg_db *db, int64_t cutoff)
{
        uint64_t keep = SG_UNLIMITED;
        int64_t first, last, until;
        sqlite3_stmt *stmt;
        int r;

        if (db->max_jobs < INT64_MAX / EVENTS_PER_JOB - EVENTS_MIN)
                keep = db->max_jobs * EVENTS_PER_JOB + EVENTS_MIN;
        r = sg_db_statement(db, SG_SQL_EVENTS_SPAN, &stmt);
        if (r >= 0)
                r = sg_db_step(db, stmt);
        if (r <= 0)
                return r;
        first = sqlite3_column_int64(stmt, 0);
        last = sqlite3_column_int64(stmt, 1);
        (void)sqlite3_reset(stmt);

        until = first + PRUNE_EVENTS_STEP < last ? first + PRUNE_EVENTS_STEP : last;
        r = sg_db_statement(db, SG_SQL_EVENTS_DELETE, &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(stmt, 1, until);
        (void)sqlite3_bind_int64(stmt, 2, keep < (uint64_t)last ? last - (int64_t)keep + 1 : 0);
        (void)sqlite3_bind_int64(stmt, 3, cutoff);
        return sg_db_run(db, stmt);
}

static int count_finished(struct sg_db *db)
{
        sqlite3_stmt *stmt;
        int r;

        if (db->finished >= 0)
                return 0;
        r = sg_db_statement(db, SG_SQL_COUNT_FINISHED, &stmt);
        if (r >= 0)
                r = sg_db_step(db, stmt);
        if (r <= 0)
                return r;
        db->finished = sqlite3_column_int64(stmt, 0);
        (void)sqlite3_reset(stmt);
        return 0;
}

static int oldest_end(struct sg_db *db, int64_t *ret)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, SG_SQL_OLDEST_END, &stmt);
        if (r >= 0)
                r = sg_db_step(db, stmt);
        if (r <= 0)
                return r;
        *ret = sqlite3_column_int64(stmt, 0);
        (void)sqlite3_reset(stmt);
        return 0;
}

/* Rows of users are as large as they like them, up to some KiB, so their number says little: what
 * is forgotten at once may be many small ones in the place of few large ones. */
static int prune_bytes(struct sg_db *db, unsigned ended)
{
        uint64_t used = 0, unused;
        int64_t cutoff = 0;
        int r = 0;

        db->unmeasured += ended;
        if (db->max_bytes == SG_UNLIMITED || db->unmeasured < MEASURE_EACH)
                return 0;
        db->unmeasured = 0;
        for (unsigned i = 0; r >= 0 && i < PRUNE_BYTES_STEPS; i++) {
                r = sg_db_bytes(db, &used, &unused);
                if (r < 0 || used <= db->max_bytes || db->finished <= 0)
                        return r;
                r = prune_jobs(db, SG_SQL_PRUNE_COUNT, PRUNE_STEP, 0);
                if (r >= 0)
                        r = oldest_end(db, &cutoff);
                if (r >= 0)
                        r = prune_events(db, cutoff);
        }
        return r;
}

int sg_db_prune(struct sg_db *db, unsigned ended)
{
        int64_t step = PRUNE_STEP + (int64_t)ended, excess, cutoff = 0;
        uint64_t now = sg_now_realtime_usec();
        int r;

        if (db->max_jobs == SG_UNLIMITED && db->max_age_usec == SG_UNLIMITED &&
            db->max_bytes == SG_UNLIMITED)
                return 0;
        r = count_finished(db);
        if (r >= 0)
                r = prune_bytes(db, ended);
        if (r < 0)
                return r;
        if (db->max_jobs < (uint64_t)db->finished) {
                excess = db->finished - (int64_t)db->max_jobs;
                r = prune_jobs(db, SG_SQL_PRUNE_COUNT, excess < step ? excess : step, 0);
                if (r < 0)
                        return r;
        }
        if (db->max_age_usec < now) {
                cutoff = (int64_t)(now - db->max_age_usec);
                r = prune_jobs(db, SG_SQL_PRUNE_AGE, cutoff, step);
                if (r < 0)
                        return r;
        }
        return prune_events(db, cutoff);
}
