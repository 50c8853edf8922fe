/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer's life: set-up, what it reads and in which order, queries, its end. */

#include "edge/store/writer/writer.h"
#include "base/file.h"
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INBOX_MAX (256U * 1024) /* bytes: no more is read ahead of the disk */

/* --- queries ---------------------------------------------------------------------------------- */

static int max_n(const struct sg_job_key *key, void *userdata)
{
        uint64_t *last = userdata;

        if (key->n > *last)
                *last = key->n;
        return 0;
}

/* Looks at the directories, too: after a damaged database was moved away, new jobs must not meet
 * those of jobs that still run. */
static int load(struct sg_writer *w)
{
        uint64_t last = 0;
        size_t mark;
        int r;

        r = sg_db_live_jobs(&w->db, sg_writer_reply_live, w);
        if (r >= 0)
                r = sg_db_kept(&w->db, sg_writer_tell_kept, w);
        if (r >= 0)
                r = sg_db_last_n(&w->db, &last);
        if (r >= 0)
                r = sg_attempts_each(&w->attempts, max_n, &last);
        mark = sg_writer_done_open(w, r);
        sg_record_put_u64(&w->out, SG_STORE_TAG_N, last);
        return sg_writer_reply_close(w, mark);
}

static int list(struct sg_writer *w, const struct sg_store_message *m)
{
        _cleanup_free_ char *origin = NULL, *state = NULL, *name = NULL, *class = NULL,
                            *user = NULL;
        struct sg_store_query q = {
                .n = sg_store_message_u64(m, SG_STORE_TAG_N),
                .uid = sg_store_message_u64(m, SG_STORE_TAG_UID),
                .finished_only = sg_store_message_u64(m, SG_STORE_TAG_FINISHED) != 0,
                .submitted_only = sg_store_message_u64(m, SG_STORE_TAG_SUBMITTED) != 0,
                .array = sg_store_message_u64(m, SG_STORE_TAG_ARRAY),
                .since_usec = sg_store_message_u64(m, SG_STORE_TAG_SINCE),
                .until_usec = sg_store_message_u64(m, SG_STORE_TAG_UNTIL),
                .before = sg_store_message_u64(m, SG_STORE_TAG_BEFORE),
                .limit = sg_store_message_u64(m, SG_STORE_TAG_LIMIT),
        };
        int r;

        r = sg_store_message_str(m, SG_STORE_TAG_ORIGIN, &origin);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_STATE, &state);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_NAME, &name);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_CLASS, &class);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_USER, &user);
        q.origin = origin;
        q.state = state;
        q.name = name;
        q.class = class;
        q.user = user;
        if (r >= 0)
                r = sg_db_list(&w->db, &q, sg_writer_reply_row, w);
        return sg_writer_reply_done(w, r);
}

static int events(struct sg_writer *w, const struct sg_store_message *m)
{
        struct sg_job_key key;
        int r;

        r = sg_writer_message_key(m, &key);
        if (r >= 0)
                r = sg_db_events(&w->db, sg_store_message_u64(m, SG_STORE_TAG_SEQ),
                                 sg_store_message_u64(m, SG_STORE_TAG_UID), &key,
                                 sg_store_message_u64(m, SG_STORE_TAG_LIMIT), sg_writer_reply_event,
                                 w);
        return sg_writer_reply_done(w, r);
}

static int command(struct sg_writer *w, const struct sg_store_message *m)
{
        _cleanup_(sg_record_deinitp) struct sg_record part = {0};
        struct sg_job_key key;
        size_t mark;
        int r;

        r = sg_writer_message_key(m, &key);
        if (r >= 0)
                r = sg_db_spec(&w->db, &key, sg_writer_take_kept, &part);
        if (r >= 0 && part.size > sg_store_message_u64(m, SG_STORE_TAG_LIMIT))
                r = -EFBIG;
        mark = sg_writer_done_open(w, r);
        sg_record_put_u64(&w->out, SG_STORE_TAG_COUNT, part.size);
        if (r >= 0)
                sg_record_put(&w->out, SG_STORE_TAG_BYTES, part.data, part.size);
        return sg_writer_reply_close(w, mark);
}

static int run_query(struct sg_writer *w, const struct sg_store_message *m)
{
        switch (m->kind) {
        case SG_STORE_LOAD:
                return load(w);
        case SG_STORE_LIST:
                return list(w, m);
        case SG_STORE_EVENTS:
                return events(w, m);
        case SG_STORE_COMMAND:
                return command(w, m);
        case SG_STORE_RETENTION:
                w->db.max_jobs = sg_store_message_u64(m, SG_STORE_TAG_COUNT);
                w->db.max_age_usec = sg_store_message_u64(m, SG_STORE_TAG_TIME);
                w->db.keep_commands = sg_store_message_u64(m, SG_STORE_TAG_ON) != 0;
                return sg_writer_reply_done(w, 0);
        default:
                return -EBADMSG;
        }
}

/* --- the loop --------------------------------------------------------------------------------- */

/* 1 = the daemon has asked us to end. */
static int take_frame(struct sg_writer *w, const uint8_t *frame, size_t size)
{
        struct sg_store_message m;
        int r;

        r = sg_store_message_parse(&m, frame, size);
        if (r < 0)
                return r;
        if (m.kind <= SG_STORE_INSPECT) {
                w->batch[w->n_batch++] = (struct sg_writer_item){
                        .frame = frame,
                        .size = size,
                        .kind = m.kind,
                };
                return w->n_batch == SG_WRITER_BATCH_MAX ? sg_writer_run_batch(w) : 0;
        }
        r = sg_writer_run_batch(w);
        if (r < 0)
                return r;
        return m.kind == SG_STORE_CLOSE ? 1 : run_query(w, &m);
}

static int take_frames(struct sg_writer *w)
{
        const uint8_t *frame;
        size_t size;
        int r, end = 0;

        while (end == 0 && (r = sg_inbox_take(&w->in, &frame, &size)) != 0) {
                if (r < 0)
                        return r;
                end = take_frame(w, frame, size);
        }
        if (end < 0)
                return end;
        r = sg_writer_run_batch(w);
        sg_db_mark_damaged(&w->db, w->attempts.state_fd);
        if (r >= 0)
                r = sg_writer_flush(w);
        return r < 0 ? r : end;
}

/* Waits for something, then takes all that is there. 0 = the daemon is gone. */
static ssize_t receive(struct sg_writer *w)
{
        ssize_t n;

        n = sg_inbox_receive(&w->in, w->fd, 0);
        while (n > 0 && w->in.bytes.size < INBOX_MAX) {
                n = sg_inbox_receive(&w->in, w->fd, MSG_DONTWAIT);
                if (n == -EAGAIN)
                        return 1;
        }
        return n;
}

/* 1 = an orderly end, 0 = the daemon is gone. */
static int loop(struct sg_writer *w)
{
        ssize_t n;
        int r;

        do {
                n = receive(w);
                if (n < 0 && n != -ECONNRESET)
                        return (int)n;
                r = take_frames(w);
                if (r != 0)
                        return r;
                sg_db_checkpoint(&w->db);
        } while (n > 0);
        return 0;
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* A directory whose attempt's end is committed was about to be removed when the writer died; a shim
 * that lives there still has nothing left to decide. One of a job that we don't know, whose
 * database is gone, is left to its shim. */
static int sweep_attempt(const struct sg_job_key *key, void *userdata)
{
        struct sg_writer *w = userdata;
        struct sg_attempt_info info;
        bool over = false;
        int r;

        r = sg_db_attempt_is_over(&w->db, key, &over);
        if (r < 0 || !over)
                return r;
        if (r == 0 || (sg_attempt_inspect(&w->attempts, key, &info) >= 0 && info.shim == 0))
                (void)sg_attempt_remove(&w->attempts, key);
        return 0;
}

static void forget(const struct sg_job_key *key, void *userdata)
{
        struct sg_writer *w = userdata;

        sg_attempts_remove_kept(&w->attempts, key);
}

struct reasons {
        struct sg_writer *writer;
        int error;
};

static int take_over_reason(sqlite3_stmt *row, void *userdata)
{
        struct reasons *all = userdata;
        struct sg_job_key key = {.n = (uint64_t)sqlite3_column_int64(row, 1),
                                 .attempt = (uint64_t)sqlite3_column_int64(row, 2)};
        int r;

        (void)snprintf(key.origin, sizeof(key.origin), "%s",
                       (const char *)sqlite3_column_text(row, 0));
        r = sg_attempt_freeze(&all->writer->attempts, &key, (uint64_t)sqlite3_column_int64(row, 3),
                              true);
        if (r < 0 && r != -ENOENT) /* without a directory there is nothing to be frozen */
                all->error = r;
        return 0;
}

/* Takes reasons over that an older daemon has left in rows. */
static int take_over_reasons(struct sg_db *db, void *userdata)
{
        struct reasons all = {.writer = userdata};
        int r = sg_db_frozen(db, take_over_reason, &all);

        if (r >= 0)
                r = all.error;
        return r < 0 ? r : sg_db_frozen_elsewhere(db);
}

/* `why`: what is wrong with the database; or, if it could be opened all the same, what was. */
static int open_db(struct sg_writer *w, const char *state_dir, char why[SG_RESCUE_TEXT_MAX])
{
        char path[PATH_MAX];
        int r;

        r = sg_path_join(path, sizeof(path), state_dir, "schedgov.db");
        if (r < 0)
                return r;
        r = sg_db_open(&w->db, path, take_over_reasons, w);
        if (r >= 0) {
                r = sg_db_check(&w->db, w->attempts.state_fd);
                if (r == -EBADMSG)
                        r = sg_db_rescue(&w->db, w->attempts.state_fd, why);
        }
        if (r < 0 && why[0] == '\0')
                (void)snprintf(why, SG_RESCUE_TEXT_MAX, "%s", sg_db_why(&w->db));
        w->db.sound = r >= 0;
        w->db.damaged = false;
        w->db.max_bytes = sg_disk_size(w->attempts.state_fd) / 8 * 5;
        w->db.forget = forget;
        w->db.forget_userdata = w;
        w->db.kept = sg_writer_note_kept;
        w->db.kept_userdata = w;
        return r;
}

static int writer_open(struct sg_writer *w, const char *state_dir, char why[SG_RESCUE_TEXT_MAX])
{
        const char *what;
        int r;

        w->attempts = (struct sg_attempts){.state_fd = -1, .jobs_fd = -1};
        r = sg_attempts_open(&w->attempts, state_dir, &what);
        if (r < 0) {
                (void)snprintf(why, SG_RESCUE_TEXT_MAX, "cannot set up %s/%s: %s", state_dir, what,
                               strerror(-r));
                return r;
        }
        r = open_db(w, state_dir, why);
        if (r >= 0)
                r = sg_attempts_each(&w->attempts, sweep_attempt, w);
        if (r >= 0)
                sg_ballast_open(&w->ballast, w->attempts.state_fd);
        else if (why[0] == '\0')
                (void)snprintf(why, SG_RESCUE_TEXT_MAX, "%s",
                               w->db.why[0] ? sg_db_why(&w->db) : strerror(-r));
        return r;
}

static void set_up_process(void)
{
        /* One large spec must not raise what is kept for good. */
        (void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
        (void)mallopt(M_TRIM_THRESHOLD, 256 * 1024);
        (void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
}

int sg_writer_main(const char *state_dir, int fd)
{
        static struct sg_writer writer;
        struct sg_writer *w = &writer;
        char why[SG_RESCUE_TEXT_MAX] = "";
        size_t mark;
        int r;

        set_up_process();
        w->fd = fd;
        w->in.max = SG_STORE_FRAME_MAX;
        w->daemon = getppid();
        r = writer_open(w, state_dir, why);
        mark = sg_writer_done_open(w, r);
        sg_record_put_str(&w->out, SG_STORE_TAG_TEXT, why);
        if (sg_writer_reply_close(w, mark) < 0 || sg_writer_flush(w) < 0 || r < 0)
                return EXIT_FAILURE;

        r = loop(w);
        sg_db_close(&w->db, r > 0);
        sg_ballast_close(&w->ballast);
        sg_attempts_close(&w->attempts);
        sg_inbox_deinit(&w->in);
        sg_record_deinit(&w->out);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
