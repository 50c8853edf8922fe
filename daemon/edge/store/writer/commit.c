/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rows of a batch, and their COMMIT. On a full disk new jobs are refused; everything else is
 * carried out once more in the room of the ballast: together, or one by one with the log of the
 * database cut after each, so that what is needed at once is what the largest of them needs.
 */

#include "edge/store/writer/writer.h"
#include "proto/array.h"
#include <errno.h>
#include <string.h>
#include <sys/param.h>

#define INDEX_AND_EVENT_BYTES 512U /* of a row, about */
#define LITTLE_ROOM (4ULL * SG_STORE_FRAME_MAX)

static bool has_row(const struct sg_writer_item *i)
{
        return i->kind < SG_STORE_FREEZE;
}

static bool is_of_new_job(const struct sg_writer_item *i)
{
        return i->kind == SG_STORE_SUBMIT || i->kind == SG_STORE_START;
}

/* A submission is written twice, to the log and from there to the database, which may have room
 * within. It must not be stuck between the two: then there would be no room to end it either. */
static int has_room(struct sg_writer *w, uint64_t bytes)
{
        uint64_t room = sg_ballast_room(&w->ballast), used, within;
        int r;

        if (bytes <= room / 2)
                return true;
        r = sg_db_bytes(&w->db, &used, &within);
        return r < 0 ? r : bytes <= room && bytes - MIN(bytes, within) <= room - bytes;
}

static int check_room(struct sg_writer *w, const struct sg_writer_item *i,
                      const struct sg_store_message *m, const char *tasks)
{
        uint64_t row = m->fields[SG_STORE_TAG_JOB].size + INDEX_AND_EVENT_BYTES, asked;
        struct sg_array array = {.n = 1};
        int r = tasks ? sg_array_parse(tasks, &array) : 0;

        if (r < 0)
                return -EINVAL;
        asked = w->submitted_bytes + i->size + array.n * row;
        r = has_room(w, asked);
        if (r < 0)
                return r;
        if (r == 0) {
                sg_db_explain(&w->db, -ENOSPC);
                return -ENOSPC;
        }
        w->submitted_bytes = asked;
        return 0;
}

static int submit(struct sg_writer *w, const struct sg_writer_item *i,
                  const struct sg_store_message *m, const struct sg_job *job)
{
        _cleanup_free_ char *token = NULL, *tasks = NULL;
        int r;

        r = sg_store_message_str(m, SG_STORE_TAG_TOKEN, &token);
        if (r >= 0)
                r = sg_store_message_str(m, SG_STORE_TAG_TEXT, &tasks);
        if (r >= 0)
                r = check_room(w, i, m, tasks);
        return r < 0 ? r : sg_db_submit(&w->db, job, tasks, token, &m->fields[SG_STORE_TAG_BYTES]);
}

static int freeze_row(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct sg_writer_freeze f;
        int r = sg_writer_item_freeze(i, &f);

        return r < 0 ? r : sg_db_freeze(&w->db, &f.key, f.reasons, f.on);
}

static int forget_commands(struct sg_writer *w, const struct sg_writer_item *i)
{
        struct sg_store_message m;
        int r = sg_store_message_parse(&m, i->frame, i->size);

        return r < 0 ? r
                     : sg_db_forget_commands(&w->db, sg_store_message_u64(&m, SG_STORE_TAG_UID),
                                             sg_store_message_u64(&m, SG_STORE_TAG_COUNT));
}

static int apply_item(struct sg_writer *w, const struct sg_writer_item *i)
{
        _cleanup_(sg_job_deinit) struct sg_job job;
        struct sg_store_message m;
        int r;

        sg_job_init(&job);
        r = sg_writer_item_job(i, &m, &job);
        if (r < 0)
                return r;
        switch (i->kind) {
        case SG_STORE_SUBMIT:
                return submit(w, i, &m, &job);
        case SG_STORE_FINISH:
                return sg_db_finish(&w->db, &job);
        case SG_STORE_HOLD:
                return sg_db_hold(&w->db, &job);
        default:
                return sg_db_update(&w->db, &job);
        }
}

static int apply(struct sg_writer *w, const struct sg_writer_item *i)
{
        switch (i->kind) {
        case SG_STORE_FREEZE_ROW:
                return freeze_row(w, i);
        case SG_STORE_FORGET:
                return forget_commands(w, i);
        default:
                return apply_item(w, i);
        }
}

/* A negative return is the database's failure, and the batch's. */
static int apply_in_savepoint(struct sg_writer *w, struct sg_writer_item *i)
{
        size_t kept = w->kept.size;
        int r;

        r = sg_db_savepoint(&w->db);
        if (r < 0)
                return r;
        i->result = apply(w, i);
        if (sg_db_failed(&w->db))
                return i->result;
        if (i->result < 0)
                w->kept.size = kept;
        return sg_db_release(&w->db, i->result >= 0);
}

static int apply_rows(struct sg_writer *w, size_t from, size_t to)
{
        unsigned ended = 0;
        int r = 0;

        for (size_t n = from; r >= 0 && n < to; n++) {
                struct sg_writer_item *i = &w->batch[n];

                if (!has_row(i) || i->result < 0)
                        continue;
                r = apply_in_savepoint(w, i);
                ended += i->kind == SG_STORE_FINISH && i->result >= 0;
        }
        return r < 0 || ended == 0 ? r : sg_db_prune(&w->db, ended);
}

static int commit_applied(struct sg_writer *w)
{
        int r;

        sg_writer_fault(w, SG_STORE_SUBMIT, "store-submit-before-commit");
        sg_writer_fault(w, SG_STORE_FINISH, "store-finish-before-commit");
        r = sg_db_commit(&w->db);
        if (r < 0)
                return r;
        sg_writer_fault(w, SG_STORE_SUBMIT, "store-submit-after-commit");
        sg_writer_fault(w, SG_STORE_START, "store-start-after-commit");
        sg_writer_fault(w, SG_STORE_FINISH, "store-finish-after-commit");
        return 0;
}

/* Of `run` what comes before its fate. */
static bool may_come_later(const struct sg_writer_item *i)
{
        _cleanup_(sg_job_deinit) struct sg_job job;
        struct sg_store_message m;

        sg_job_init(&job);
        return is_of_new_job(i) && sg_writer_item_job(i, &m, &job) >= 0 && job.foreground;
}

/* One that must be on disk takes the others along. */
static int sync_now_or_later(struct sg_writer *w, size_t from, size_t to)
{
        bool later = true;

        for (size_t n = from; n < to; n++) {
                struct sg_writer_item *i = &w->batch[n];

                i->later = may_come_later(i);
                later = later && (i->later || !has_row(i));
        }
        w->owes_sync = w->owes_sync || later;
        return sg_db_sync_later(&w->db, later);
}

/* All of these, or none. */
static int commit_rows(struct sg_writer *w, size_t from, size_t to)
{
        int r;

        w->submitted_bytes = 0;
        r = sync_now_or_later(w, from, to);
        if (r >= 0)
                r = sg_db_begin(&w->db);
        if (r >= 0)
                r = apply_rows(w, from, to);
        if (r >= 0)
                r = w->kept.error;
        if (r >= 0)
                r = commit_applied(w);
        if (r >= 0)
                sg_record_append(&w->out, w->kept.data, w->kept.size);
        else
                sg_db_rollback(&w->db);
        sg_record_deinit(&w->kept);
        return r;
}

static void commit_one_by_one(struct sg_writer *w)
{
        for (size_t n = 0; n < w->n_batch; n++) {
                struct sg_writer_item *i = &w->batch[n];
                int r;

                if (!has_row(i) || is_of_new_job(i))
                        continue;
                i->result = 0;
                r = commit_rows(w, n, n + 1);
                if (r < 0)
                        i->result = r;
                sg_db_cut_log(&w->db);
        }
}

static void commit_on_ballast(struct sg_writer *w)
{
        int r;

        for (size_t n = 0; n < w->n_batch; n++)
                if (has_row(&w->batch[n]))
                        w->batch[n].result = is_of_new_job(&w->batch[n]) ? -ENOSPC : 0;
        (void)sg_ballast_drop(&w->ballast);
        sg_db_cut_log(&w->db);
        r = commit_rows(w, 0, w->n_batch);
        if (r < 0)
                commit_one_by_one(w);
        else
                sg_db_cut_log(&w->db);
        sg_ballast_fill(&w->ballast);
}

static bool has_any(const struct sg_writer *w, bool (*is)(const struct sg_writer_item *i))
{
        for (size_t n = 0; n < w->n_batch; n++)
                if (is(&w->batch[n]))
                        return true;
        return false;
}

static bool is_submission(const struct sg_writer_item *i)
{
        return i->kind == SG_STORE_SUBMIT;
}

static bool may_use_ballast(const struct sg_writer_item *i)
{
        return has_row(i) && !is_of_new_job(i);
}

int sg_writer_commit(struct sg_writer *w)
{
        int r, s;

        if (!has_any(w, has_row))
                return 0;
        /* Before a submission is refused for want of room, the log gives back what it can. */
        if (has_any(w, is_submission) && sg_ballast_room(&w->ballast) < LITTLE_ROOM)
                sg_db_cut_log(&w->db);
        r = commit_rows(w, 0, w->n_batch);
        if (r >= 0) {
                /* A job that was refused for want of room: the disk is as good as full. */
                if (sg_db_why(&w->db)[0])
                        return sg_writer_reply_status(w, -ENOSPC, sg_db_why(&w->db));
                return sg_ballast_is_short(&w->ballast) ? 0 : sg_writer_reply_status(w, 0, NULL);
        }

        s = sg_writer_reply_status(w, r, sg_db_failed(&w->db) ? sg_db_why(&w->db) : strerror(-r));
        if (sg_writer_is_full(r) && has_any(w, may_use_ballast))
                commit_on_ballast(w);
        else
                for (size_t n = 0; n < w->n_batch; n++)
                        if (has_row(&w->batch[n]))
                                w->batch[n].result = r;
        return s;
}
