/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The store's child process: a loop of its own that may block on the disk. Private to store*.c.
 *
 * Requests are carried out in order. All that change something and are waiting share one COMMIT,
 * and after it one round of file work with shared fsyncs; only then are they answered:
 *
 *   BEGIN, rows of all, COMMIT → make directories, link fates → fsync → remove directories →
 * replies
 *
 * What is of `run` only until it may start isn't synced at once: who waits for it is gone with the
 * power, and until GO there is nothing to be remembered. Before its fate becomes `run` all of it
 * is.
 *
 * A request that is wrong in itself is taken out with its savepoint. When the database or the disk
 * fails, all of the batch fail with the same error and the daemon is told (STATUS); the next batch
 * tries again, so that a disk with room again heals by itself. On a full disk only what is of new
 * jobs fails: for the rest there is the ballast.
 */

#include "edge/store/proto.h"
#include "edge/store/writer/attempt.h"
#include "edge/store/writer/ballast.h"
#include "edge/store/writer/rescue.h"
#include <errno.h>

#define SG_WRITER_BATCH_MAX 512 /* requests of one COMMIT */

struct sg_writer_item {
        const uint8_t *frame; /* in the inbox, which isn't touched before the replies */
        size_t size;
        uint64_t kind;
        bool later; /* need not be on disk before its job's fate is */
        int result;
};

struct sg_writer {
        int fd;
        pid_t daemon;
        struct sg_attempts attempts;
        struct sg_ballast ballast;
        struct sg_db db;
        struct sg_inbox in;
        struct sg_record out;
        struct sg_record kept; /* frames of KEPT, to be sent if the present COMMIT is one */
        struct sg_writer_item batch[SG_WRITER_BATCH_MAX];
        size_t n_batch;
        bool owes_sync;           /* of what may come later */
        uint64_t submitted_bytes; /* of new jobs, in the present COMMIT */
        int status;               /* what the daemon was last told: 0 = all is well */
};

/* writer.c: runs until the other end of fd closes; the exit status. */
int sg_writer_main(const char *state_dir, int fd);

static inline bool sg_writer_is_full(int error)
{
        return error == -ENOSPC || error == -EDQUOT;
}

/* batch.c: carries the batch out and answers it. Negative: the daemon is gone,
 * or no memory. */
int sg_writer_run_batch(struct sg_writer *w);
/* commit.c: the rows of the batch, each with its result. Negative: as above. */
int sg_writer_commit(struct sg_writer *w);

/* item.c: what a request says. */
struct sg_writer_freeze {
        struct sg_job_key key;
        uint64_t reasons;
        bool on;
};
int sg_writer_message_key(const struct sg_store_message *m, struct sg_job_key *ret);
int sg_writer_item_job(const struct sg_writer_item *i, struct sg_store_message *m,
                       struct sg_job *ret);
int sg_writer_item_key(const struct sg_writer_item *i, struct sg_store_message *m,
                       struct sg_job_key *ret);
int sg_writer_item_freeze(const struct sg_writer_item *i, struct sg_writer_freeze *ret);
/* How many items of this kind in the batch haven't failed; and a place where, if there are any, a
 * test may kill us, or the daemon. */
unsigned sg_writer_count(const struct sg_writer *w, uint64_t kind);
void sg_writer_fault(struct sg_writer *w, uint64_t kind, const char *point);

/* reply.c: frames for the daemon, sent when enough have come together or at a flush. The
 * _row functions are sg_db_row_cb with the writer as userdata. */
int sg_writer_flush(struct sg_writer *w);
size_t sg_writer_done_open(struct sg_writer *w, int result);
int sg_writer_reply_close(struct sg_writer *w, size_t mark);
int sg_writer_reply_done(struct sg_writer *w, int result);
int sg_writer_reply_status(struct sg_writer *w, int status, const char *why);
int sg_writer_reply_row(sqlite3_stmt *row, void *userdata);
/* … of sg_db_live_jobs() */
int sg_writer_reply_live(sqlite3_stmt *row, void *userdata);
int sg_writer_reply_event(sqlite3_stmt *row, void *userdata);
/* … of sg_db_kept() */
int sg_writer_tell_kept(sqlite3_stmt *row, void *userdata);
/* What is kept of a spec, into the record of `userdata`. */
int sg_writer_take_kept(sqlite3_stmt *row, void *userdata);
/* db->kept: one frame more in w->kept. */
void sg_writer_note_kept(uint64_t uid, int64_t bytes, void *userdata);
