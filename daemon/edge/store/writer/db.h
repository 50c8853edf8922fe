/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The database of the store, STATE/schedgov.db, as its writer uses it. Only one process has it open
 * (exclusive locking: no shared-memory index beside it); a row is a job, which users know by
 * (origin, n), and what its attempts before the latest came to is in `attempts`, keyed by (origin,
 * n, attempt). Its `handle` is a number of this file's alone: no other job ever gets the same.
 *
 * Every function that changes something runs inside begin … commit. Failures are of two kinds: the
 * request's own (-EEXIST, -ENOENT, -ENODATA, -EBADMSG of an undecodable job …), which leave the
 * transaction usable after a rollback to the savepoint, and the database's (sg_db_failed() is
 * true): the whole transaction is lost, and sg_db_why() says what happened in one line.
 */

#include "core/job/job.h"
#include "edge/store/store.h"
#include "edge/store/writer/sql.h"
#include <sqlite3.h>

struct sg_db {
        sqlite3 *handle;
        sqlite3_stmt *statements[_SG_SQL_MAX];
        char *path;
        bool failed;
        bool sound;   /* what a start needs could be read, */
        bool damaged; /* … and something else can't be */
        char why[512];
        int wal_pages;
        bool syncs_later;                  /* synchronous = NORMAL */
        int64_t finished, finished_before; /* rows in final states; −1 = not counted yet */
        uint64_t max_jobs, max_age_usec;
        uint64_t max_bytes;  /* beyond which history is forgotten, whatever the two say */
        unsigned unmeasured; /* ends since the last look at that */
        /* Removes what a job has outside the database; called before the COMMIT that forgets it, so
         * that a crash between the two leaves nothing that nobody knows of. */
        void (*forget)(const struct sg_job_key *key, void *userdata);
        void *forget_userdata;
        bool keep_commands; /* of jobs that end */
        /* So many bytes more (or less) are kept of this user's jobs that have ended. */
        void (*kept)(uint64_t uid, int64_t bytes, void *userdata);
        void *kept_userdata;
};

/* A row of jobs or events, or the reply they become: encoded, without allocating strings. */
typedef int (*sg_db_row_cb)(sqlite3_stmt *row, void *userdata);

/* --- db.c: the file, transactions, errors --- */

/* An older file has been brought to this schema, and the COMMIT of that is next: does what has to
 * be done outside of the database for it. That may have been done before, by a writer that was
 * killed then. */
typedef int (*sg_db_migrated_cb)(struct sg_db *db, void *userdata);
/* Opens or creates, and migrates: an older file is one of ours or as it was, never between. On
 * failure sg_db_why() says what to do; nothing is overwritten. */
int sg_db_open(struct sg_db *db, const char *path, sg_db_migrated_cb migrated, void *userdata);
/* Whether the next COMMITs may wait to be synced until sg_db_sync(), or a COMMIT that may not. They
 * hold when we are killed at once. */
int sg_db_sync_later(struct sg_db *db, bool later);
int sg_db_sync(struct sg_db *db);
/* checkpoint: the WAL goes into the database; without it the next opener does that. */
void sg_db_close(struct sg_db *db, bool checkpoint);
int sg_db_begin(struct sg_db *db);
int sg_db_commit(struct sg_db *db);
void sg_db_rollback(struct sg_db *db);
int sg_db_savepoint(struct sg_db *db);
int sg_db_release(struct sg_db *db, bool keep);
/* Moves the WAL into the database once it has grown enough; between replies,
 * not inside a COMMIT. */
void sg_db_checkpoint(struct sg_db *db);
/* Moves all of the WAL there, and gives its room back to the disk. */
void sg_db_cut_log(struct sg_db *db);
bool sg_db_failed(const struct sg_db *db);
const char *sg_db_why(const struct sg_db *db);
/* Has sg_db_why() tell of this, found by others. */
void sg_db_explain(struct sg_db *db, int error);

/* The statement, reset and with nothing bound. */
int sg_db_statement(struct sg_db *db, enum sg_sql id, sqlite3_stmt **ret);
/* 1 = a row, 0 = done (and reset), or a negative errno. */
int sg_db_step(struct sg_db *db, sqlite3_stmt *stmt);
/* For statements without rows. */
int sg_db_run(struct sg_db *db, sqlite3_stmt *stmt);

/* --- jobs.c: what changes jobs --- */

/* 0, or 1 = this uid has used the token before. */
int sg_db_submit(struct sg_db *db, const struct sg_job *template, const char *tasks,
                 const char *token, const struct sg_field *spec);
int sg_db_update(struct sg_db *db, const struct sg_job *job);
int sg_db_finish(struct sg_db *db, const struct sg_job *job);
int sg_db_hold(struct sg_db *db, const struct sg_job *job);
int sg_db_freeze(struct sg_db *db, const struct sg_job_key *key, uint64_t reasons, bool on);
/* Jobs with attempts whose reasons are in their rows: origin, n, attempt, reasons; and that these
 * are in their directories now. */
int sg_db_frozen(struct sg_db *db, sg_db_row_cb cb, void *userdata);
int sg_db_frozen_elsewhere(struct sg_db *db);
/* What of the file is in use, and what isn't. */
int sg_db_bytes(struct sg_db *db, uint64_t *ret_used, uint64_t *ret_free);
/* One small step of what retention asks for; `ended` jobs have just been added. */
int sg_db_prune(struct sg_db *db, unsigned ended);

/* --- kept.c: what is kept of a spec when its job has ended, until history forgets that --- */

/* That of a job for which nobody needs all of it any more. */
int sg_db_erase_spec(struct sg_db *db, int64_t spec, const struct sg_job *job);
/* One that no row names any more goes, another one stays; 0 is none. */
int sg_db_delete_spec(struct sg_db *db, int64_t spec);
/* Forgets commands of this user, the oldest first, until at most so many bytes are kept; of
 * everybody (SG_UNLIMITED) all. In steps: 1 = there is more to be forgotten. */
int sg_db_forget_commands(struct sg_db *db, uint64_t uid, uint64_t most);
/* Rows of a user each: uid, bytes. */
int sg_db_kept(struct sg_db *db, sg_db_row_cb cb, void *userdata);
/* The part of a spec that is kept. -EBADMSG; -ENODATA: it doesn't say what to run. */
int sg_db_kept_part(const void *spec, size_t size, struct sg_record *out);

/* --- query.c: what reads --- */

/* With the size of what was submitted, in the column behind those of the job. */
int sg_db_live_jobs(struct sg_db *db, sg_db_row_cb cb, void *userdata);
int sg_db_list(struct sg_db *db, const struct sg_store_query *q, sg_db_row_cb cb, void *userdata);
int sg_db_job_by_token(struct sg_db *db, uint64_t uid, const char *token, sg_db_row_cb cb,
                       void *userdata);
/* key->n 0 = of all jobs. */
int sg_db_events(struct sg_db *db, uint64_t after_seq, uint64_t uid, const struct sg_job_key *key,
                 uint64_t limit, sg_db_row_cb cb, void *userdata);
/* The submitted spec, of a job that has ended what is kept of it; -ENODATA if that is nothing,
 * -ENOENT if there is no such job. */
int sg_db_spec(struct sg_db *db, const struct sg_job_key *key, sg_db_row_cb cb, void *userdata);
/* The largest n ever given to a job that the database knows of, of whatever origin. */
int sg_db_last_n(struct sg_db *db, uint64_t *ret);
/* Whether the directory of this attempt is needed no more: its end is committed, or (and then the
 * return value is 1) no such job is known. */
int sg_db_attempt_is_over(struct sg_db *db, const struct sg_job_key *key, bool *ret);
