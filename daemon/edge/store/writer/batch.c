/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One batch of the writer: rows, COMMIT, files, fsync, replies (store-writer.h). */

#include "base/fault.h"
#include "edge/store/writer/writer.h"
#include "proto/spec.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

static int message_job(const struct sg_store_message *m, struct sg_job *ret)
{
        const struct sg_field *f = &m->fields[SG_STORE_TAG_JOB];

        ret->changed_usec = sg_store_message_u64(m, SG_STORE_TAG_TIME);
        return f->data ? sg_job_decode(ret, f->data, f->size) : -EBADMSG;
}

int sg_writer_message_key(const struct sg_store_message *m, struct sg_job_key *ret)
{
        ret->n = sg_store_message_u64(m, SG_STORE_TAG_N);
        ret->attempt = sg_store_message_u64(m, SG_STORE_TAG_ATTEMPT);
        return sg_field_strcpy(&m->fields[SG_STORE_TAG_ORIGIN], ret->origin, sizeof(ret->origin));
}

static int item_job(const struct sg_writer_item *i, struct sg_store_message *m, struct sg_job *ret)
{
        int r;

        r = sg_store_message_parse(m, i->frame, i->size);
        return r < 0 ? r : message_job(m, ret);
}

static int item_key(const struct sg_writer_item *i, struct sg_store_message *m,
                    struct sg_job_key *ret)
{
        int r;

        r = sg_store_message_parse(m, i->frame, i->size);
        return r < 0 ? r : sg_writer_message_key(m, ret);
}

/* What it asks for of reasons to be frozen. */
struct freeze {
        struct sg_job_key key;
        uint64_t reasons;
        bool on;
};

static int item_freeze(const struct sg_writer_item *i, struct freeze *ret)
{
        struct sg_store_message m;
        int r;

        r = item_key(i, &m, &ret->key);
        if (r < 0)
                return r;
        ret->reasons = sg_store_message_u64(&m, SG_STORE_TAG_FREEZE);
        ret->on = sg_store_message_u64(&m, SG_STORE_TAG_ON) != 0;
        return 0;
}

/* --- a batch: rows ---------------------------------------------------------------------------- */

static bool has_row(const struct sg_writer_item *i)
{
        return i->kind < SG_STORE_FREEZE;
}

static int freeze_row(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct freeze f;
        int r = item_freeze(i, &f);

        return r < 0 ? r : sg_db_freeze(&w->db, &f.key, f.reasons, f.on);
}

static int apply_item(struct sg_writer *w, const struct sg_writer_item *i)
{
        _cleanup_(sg_job_deinit) struct sg_job job;
        _cleanup_free_ char *token = NULL;
        struct sg_store_message m;
        int r;

        sg_job_init(&job);
        r = item_job(i, &m, &job);
        if (r < 0)
                return r;
        switch (i->kind) {
        case SG_STORE_SUBMIT:
                r = sg_store_message_str(&m, SG_STORE_TAG_TOKEN, &token);
                if (r < 0)
                        return r;
                return sg_db_submit(&w->db, &job, sg_store_message_u64(&m, SG_STORE_TAG_COUNT),
                                    token, &m.fields[SG_STORE_TAG_BYTES]);
        case SG_STORE_FINISH:
                return sg_db_finish(&w->db, &job);
        case SG_STORE_HOLD:
                return sg_db_hold(&w->db, &job);
        default:
                return sg_db_update(&w->db, &job);
        }
}

/* A negative return is the database's failure, and the batch's. */
static int apply_in_savepoint(struct sg_writer *w, struct sg_writer_item *i)
{
        int r;

        r = sg_db_savepoint(&w->db);
        if (r < 0)
                return r;
        i->result = i->kind == SG_STORE_FREEZE_ROW ? freeze_row(w, i) : apply_item(w, i);
        if (sg_db_failed(&w->db))
                return i->result;
        return sg_db_release(&w->db, i->result >= 0);
}

static unsigned count_kind(const struct sg_writer *w, uint64_t kind)
{
        unsigned n = 0;

        for (size_t i = 0; i < w->n_batch; i++)
                n += w->batch[i].kind == kind && w->batch[i].result >= 0;
        return n;
}

/* Where a test may kill us, or the daemon. */
static void fault(struct sg_writer *w, uint64_t kind, const char *point)
{
        if (count_kind(w, kind) > 0)
                sg_fault(point, w->attempts.state_fd, "fault",
                         getppid() == w->daemon ? w->daemon : 0);
}

static int apply_rows(struct sg_writer *w)
{
        unsigned ended;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < w->n_batch; i++)
                if (has_row(&w->batch[i]))
                        r = apply_in_savepoint(w, &w->batch[i]);
        ended = r >= 0 ? count_kind(w, SG_STORE_FINISH) : 0;
        if (ended > 0)
                r = sg_db_prune(&w->db, ended);
        if (r < 0)
                return r;
        fault(w, SG_STORE_SUBMIT, "store-submit-before-commit");
        fault(w, SG_STORE_FINISH, "store-finish-before-commit");
        r = sg_db_commit(&w->db);
        if (r < 0)
                return r;
        fault(w, SG_STORE_SUBMIT, "store-submit-after-commit");
        fault(w, SG_STORE_START, "store-start-after-commit");
        fault(w, SG_STORE_FINISH, "store-finish-after-commit");
        return 0;
}

static int commit_batch(struct sg_writer *w)
{
        bool rows = false;
        int r;

        for (size_t i = 0; i < w->n_batch; i++)
                rows = rows || has_row(&w->batch[i]);
        if (!rows)
                return 0;
        r = sg_db_begin(&w->db);
        if (r >= 0)
                r = apply_rows(w);
        if (r >= 0)
                return sg_writer_reply_status(w, 0, NULL);

        sg_db_rollback(&w->db);
        for (size_t i = 0; i < w->n_batch; i++)
                if (has_row(&w->batch[i]))
                        w->batch[i].result = r;
        return sg_writer_reply_status(w, r,
                                      sg_db_failed(&w->db) ? sg_db_why(&w->db) : strerror(-r));
}

/* --- a batch: files --------------------------------------------------------------------------- */

struct spec_copy {
        const struct sg_job *job;
        struct sg_record record;
};

/* The submitted part as it was stored, but with the paths of this very job: the tasks of an array
 * share one spec, that has the patterns. */
static int copy_spec(sqlite3_stmt *row, void *userdata)
{
        struct spec_copy *c = userdata;
        struct sg_reader reader =
                sg_reader_init(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0));
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                if ((f.tag == SG_SPEC_OUTPUT && c->job->output) ||
                    (f.tag == SG_SPEC_ERROR && c->job->error))
                        continue;
                sg_record_put(&c->record, f.tag, f.data, f.size);
        }
        sg_record_put_str(&c->record, SG_SPEC_OUTPUT, c->job->output);
        sg_record_put_str(&c->record, SG_SPEC_ERROR, c->job->error);
        return r < 0 ? r : c->record.error;
}

static int make_attempt(struct sg_writer *w, const struct sg_writer_item *i)
{
        _cleanup_(sg_job_deinit) struct sg_job job;
        const struct sg_field *launch;
        struct sg_store_message m;
        struct spec_copy copy = {.job = &job};
        int r;

        sg_job_init(&job);
        r = item_job(i, &m, &job);
        if (r >= 0)
                r = sg_db_spec(&w->db, &job.key, copy_spec, &copy);
        launch = &m.fields[SG_STORE_TAG_BYTES];
        if (r >= 0) {
                sg_record_append(&copy.record, launch->data, launch->size);
                r = copy.record.error;
        }
        if (r >= 0)
                r = sg_attempt_make(&w->attempts, &job.key, copy.record.data, copy.record.size);
        sg_record_deinit(&copy.record);
        return r;
}

static int remove_attempt(struct sg_writer *w, const struct sg_writer_item *i)
{
        _cleanup_(sg_job_deinit) struct sg_job job;
        struct sg_store_message m;
        int r;

        sg_job_init(&job);
        r = item_job(i, &m, &job);
        if (r < 0 || job.key.attempt == 0)
                return r;
        return sg_attempt_remove(&w->attempts, &job.key);
}

static int publish_fate(struct sg_writer *w, const struct sg_writer_item *i, bool sync)
{
        struct sg_store_message m;
        struct sg_job_key key;
        enum sg_publish publish;
        int r;

        r = item_key(i, &m, &key);
        publish = (enum sg_publish)sg_store_message_u64(&m, SG_STORE_TAG_PUBLISH);
        if (r < 0 || publish == SG_PUBLISH_NONE)
                return r;
        return sync ? sg_attempt_sync(&w->attempts, &key)
                    : sg_attempt_publish(&w->attempts, &key, publish);
}

/* Rare enough to be synced alone. */
static int freeze_attempt(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct freeze f;
        int r = item_freeze(i, &f);

        return r < 0 ? r : sg_attempt_freeze(&w->attempts, &f.key, f.reasons, f.on);
}

/* Makes what must be there before the fsyncs. */
static void batch_make(struct sg_writer *w)
{
        fault(w, SG_STORE_FREEZE, "store-freeze-before-write");
        for (size_t n = 0; n < w->n_batch; n++) {
                struct sg_writer_item *i = &w->batch[n];

                if (i->result < 0)
                        continue;
                if (i->kind == SG_STORE_START)
                        i->result = make_attempt(w, i);
                else if (i->kind == SG_STORE_INSPECT)
                        i->result = publish_fate(w, i, false);
                else if (i->kind == SG_STORE_FREEZE)
                        i->result = freeze_attempt(w, i);
        }
        fault(w, SG_STORE_START, "store-start-after-dir");
        fault(w, SG_STORE_FREEZE, "store-freeze-after-write");
}

static void batch_sync(struct sg_writer *w)
{
        int r = count_kind(w, SG_STORE_START) > 0 ? sg_attempts_sync(&w->attempts) : 0;

        for (size_t n = 0; n < w->n_batch; n++) {
                struct sg_writer_item *i = &w->batch[n];

                if (i->kind == SG_STORE_START && i->result >= 0)
                        i->result = r;
                else if (i->kind == SG_STORE_INSPECT && i->result >= 0)
                        i->result = publish_fate(w, i, true);
        }
}

/* --- a batch: replies ------------------------------------------------------------------------- */

static int inspect(struct sg_writer *w, const struct sg_writer_item *i, struct sg_attempt_info *ret)
{
        struct sg_store_message m;
        struct sg_job_key key;
        int r;

        r = item_key(i, &m, &key);
        if (r >= 0)
                r = sg_attempt_inspect(&w->attempts, &key, ret);
        if (r < 0)
                return r;
        /* Published, and yet there is none: STATE/fate.* are gone. */
        if (sg_store_message_u64(&m, SG_STORE_TAG_PUBLISH) != SG_PUBLISH_NONE &&
            ret->fate == SG_ATTEMPT_NO_FATE)
                return -ENOENT;
        return 0;
}

static int reply_inspect(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct sg_attempt_info info = {0};
        int result = i->result;
        size_t mark;

        if (result >= 0)
                result = inspect(w, i, &info);
        mark = sg_writer_done_open(w, result);
        sg_record_put_u64(&w->out, SG_STORE_TAG_FATE, info.fate);
        sg_record_put_i64(&w->out, SG_STORE_TAG_SHIM, info.shim);
        sg_record_put_u64(&w->out, SG_STORE_TAG_COUNT, info.exit_unnamed);
        sg_record_put_u64(&w->out, SG_STORE_TAG_FREEZE, info.frozen);
        if (info.have_exit)
                sg_record_put(&w->out, SG_STORE_TAG_BYTES, &info.exit, sizeof(info.exit));
        return sg_writer_reply_close(w, mark);
}

/* The token was used before: the job that was stored under it, then result 1. */
static int reply_known(struct sg_writer *w, const struct sg_writer_item *i)
{
        _cleanup_(sg_job_deinit) struct sg_job job;
        _cleanup_free_ char *token = NULL;
        struct sg_store_message m;
        int r;

        sg_job_init(&job);
        r = item_job(i, &m, &job);
        if (r >= 0)
                r = sg_store_message_str(&m, SG_STORE_TAG_TOKEN, &token);
        if (r >= 0)
                r = sg_db_job_by_token(&w->db, job.uid, token, sg_writer_reply_row, w);
        return sg_writer_reply_done(w, r < 0 ? r : 1);
}

static int batch_reply(struct sg_writer *w)
{
        int r = 0;

        for (size_t n = 0; r >= 0 && n < w->n_batch; n++) {
                const struct sg_writer_item *i = &w->batch[n];

                if (i->kind == SG_STORE_FINISH && i->result >= 0)
                        (void)remove_attempt(w, i); /* what stays is swept at the next start */
                if (i->kind == SG_STORE_INSPECT)
                        r = reply_inspect(w, i);
                else if (i->kind == SG_STORE_SUBMIT && i->result > 0)
                        r = reply_known(w, i);
                else
                        r = sg_writer_reply_done(w, i->result);
        }
        return r;
}

int sg_writer_run_batch(struct sg_writer *w)
{
        int r;

        if (w->n_batch == 0)
                return 0;
        r = commit_batch(w);
        if (r >= 0) {
                batch_make(w);
                batch_sync(w);
                r = batch_reply(w);
        }
        w->n_batch = 0;
        return r;
}
