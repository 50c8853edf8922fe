/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One batch of the writer: its COMMIT (commit.c), files, fsync, replies (writer.h). */

#include "edge/store/writer/writer.h"
#include "proto/spec.h"
#include <errno.h>
#include <string.h>

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
        r = sg_writer_item_job(i, &m, &job);
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
        r = sg_writer_item_job(i, &m, &job);
        if (r < 0 || job.key.attempt == 0)
                return r;
        return sg_attempt_retire(&w->attempts, &job.key, job.foreground != 0);
}

static int publish_fate(struct sg_writer *w, const struct sg_writer_item *i, bool sync)
{
        struct sg_store_message m;
        struct sg_job_key key;
        enum sg_publish publish;
        int r;

        r = sg_writer_item_key(i, &m, &key);
        publish = (enum sg_publish)sg_store_message_u64(&m, SG_STORE_TAG_PUBLISH);
        if (r < 0 || publish == SG_PUBLISH_NONE)
                return r;
        return sync ? sg_attempt_sync(&w->attempts, &key)
                    : sg_attempt_publish(&w->attempts, &key, publish);
}

/* Rare enough to be synced alone. */
static int freeze_attempt(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct sg_writer_freeze f;
        int r = sg_writer_item_freeze(i, &f);

        return r < 0 ? r : sg_attempt_freeze(&w->attempts, &f.key, f.reasons, f.on);
}

static int write_record(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct sg_store_message m;
        const struct sg_field *bytes;
        struct sg_job_key key;
        struct sg_exit e;
        int r;

        r = sg_writer_item_key(i, &m, &key);
        if (r < 0)
                return r;
        bytes = &m.fields[SG_STORE_TAG_BYTES];
        if (!bytes->data || bytes->size != sizeof(e))
                return -EBADMSG;
        memcpy(&e, bytes->data, sizeof(e));
        return sg_attempt_record(&w->attempts, &key, &e);
}

static int make_item(struct sg_writer *w, const struct sg_writer_item *i)
{
        switch (i->kind) {
        case SG_STORE_START:
                return make_attempt(w, i);
        case SG_STORE_INSPECT:
                return publish_fate(w, i, false);
        case SG_STORE_FREEZE:
                return freeze_attempt(w, i);
        case SG_STORE_RECORD:
                return write_record(w, i);
        default:
                return i->result;
        }
}

/* Makes what must be there before the fsyncs. */
static void batch_make(struct sg_writer *w)
{
        sg_writer_fault(w, SG_STORE_FREEZE, "store-freeze-before-write");
        sg_writer_fault(w, SG_STORE_RECORD, "store-record-before-write");
        for (size_t n = 0; n < w->n_batch; n++) {
                struct sg_writer_item *i = &w->batch[n];

                if (i->result < 0)
                        continue;
                i->result = make_item(w, i);
                if (sg_writer_is_full(i->result) && i->kind != SG_STORE_START &&
                    sg_ballast_drop(&w->ballast))
                        i->result = make_item(w, i);
        }
        sg_writer_fault(w, SG_STORE_START, "store-start-after-dir");
        sg_writer_fault(w, SG_STORE_FREEZE, "store-freeze-after-write");
        sg_writer_fault(w, SG_STORE_RECORD, "store-record-after-write");
}

/* The directories that were made. */
static int sync_starts(struct sg_writer *w)
{
        bool now = false;

        for (size_t n = 0; n < w->n_batch; n++) {
                const struct sg_writer_item *i = &w->batch[n];

                if (i->kind != SG_STORE_START || i->result < 0)
                        continue;
                w->owes_sync = w->owes_sync || i->later;
                now = now || !i->later;
        }
        return now ? sg_attempts_sync(&w->attempts) : 0;
}

static int sync_owed(struct sg_writer *w)
{
        int r;

        if (!w->owes_sync)
                return 0;
        r = sg_db_sync(&w->db);
        if (r >= 0)
                r = sg_attempts_sync(&w->attempts);
        if (r >= 0)
                w->owes_sync = false;
        return r;
}

static int sync_fate(struct sg_writer *w, const struct sg_writer_item *i)
{
        int r = sync_owed(w);

        return r < 0 ? r : publish_fate(w, i, true);
}

static void batch_sync(struct sg_writer *w)
{
        int r = sync_starts(w);

        for (size_t n = 0; n < w->n_batch; n++) {
                struct sg_writer_item *i = &w->batch[n];

                if (i->kind == SG_STORE_START && i->result >= 0)
                        i->result = r;
                else if (i->kind == SG_STORE_INSPECT && i->result >= 0)
                        i->result = sync_fate(w, i);
        }
}

/* --- a batch: replies ------------------------------------------------------------------------- */

static int inspect(struct sg_writer *w, const struct sg_writer_item *i, struct sg_attempt_info *ret)
{
        struct sg_store_message m;
        struct sg_job_key key;
        int r;

        r = sg_writer_item_key(i, &m, &key);
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
        r = sg_writer_item_job(i, &m, &job);
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
        r = sg_writer_commit(w);
        if (r >= 0) {
                batch_make(w);
                batch_sync(w);
                r = batch_reply(w);
        }
        if (!sg_ballast_is_whole(&w->ballast))
                sg_ballast_fill(&w->ballast);
        w->n_batch = 0;
        return r;
}
