/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/writer/writer.h"
#include <errno.h>
#include <sys/socket.h>

#define OUTBOX_FLUSH (64U * 1024) /* bytes of replies per send(2) */

int sg_writer_flush(struct sg_writer *w)
{
        const uint8_t *p = w->out.data;
        size_t left = w->out.size;

        while (left > 0) {
                ssize_t n = send(w->fd, p, left, MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                p += n;
                left -= (size_t)n;
        }
        w->out.size = 0;
        if (w->out.allocated > 4 * OUTBOX_FLUSH)
                sg_record_deinit(&w->out);
        return 0;
}

static size_t open_frame(struct sg_writer *w, enum sg_store_kind kind)
{
        size_t mark = sg_frame_open(&w->out);

        sg_record_put_u64(&w->out, SG_STORE_TAG_KIND, kind);
        return mark;
}

/* A reply that can't even be put together ends the writer: the daemon then knows what to think. */
int sg_writer_reply_close(struct sg_writer *w, size_t mark)
{
        int r;

        r = sg_frame_close(&w->out, mark, SG_STORE_FRAME_MAX);
        if (r >= 0 && w->out.size >= OUTBOX_FLUSH)
                r = sg_writer_flush(w);
        return r;
}

size_t sg_writer_done_open(struct sg_writer *w, int result)
{
        size_t mark = open_frame(w, SG_STORE_DONE);

        sg_record_put_i64(&w->out, SG_STORE_TAG_RESULT, result);
        return mark;
}

int sg_writer_reply_done(struct sg_writer *w, int result)
{
        return sg_writer_reply_close(w, sg_writer_done_open(w, result));
}

int sg_writer_reply_status(struct sg_writer *w, int status, const char *why)
{
        size_t mark;

        if (w->status == status)
                return 0;
        w->status = status;
        mark = open_frame(w, SG_STORE_STATUS);
        sg_record_put_i64(&w->out, SG_STORE_TAG_RESULT, status);
        sg_record_put_str(&w->out, SG_STORE_TAG_TEXT, why);
        return sg_writer_reply_close(w, mark);
}

static size_t row_open(struct sg_writer *w, sqlite3_stmt *row)
{
        size_t mark = open_frame(w, SG_STORE_ROW);
        size_t job = sg_record_open(&w->out, SG_STORE_TAG_JOB);

        sg_sql_encode_job(row, &w->out);
        sg_record_close(&w->out, job);
        return mark;
}

int sg_writer_reply_row(sqlite3_stmt *row, void *userdata)
{
        struct sg_writer *w = userdata;

        return sg_writer_reply_close(w, row_open(w, row));
}

int sg_writer_reply_live(sqlite3_stmt *row, void *userdata)
{
        struct sg_writer *w = userdata;
        size_t mark = row_open(w, row);

        sg_record_put_i64(&w->out, SG_STORE_TAG_STORED,
                          sqlite3_column_int64(row, (int)sg_job_n_fields));
        return sg_writer_reply_close(w, mark);
}

int sg_writer_reply_event(sqlite3_stmt *row, void *userdata)
{
        static const uint16_t tags[] = {
                SG_STORE_TAG_SEQ,    SG_STORE_TAG_TIME,    SG_STORE_TAG_ORIGIN,
                SG_STORE_TAG_N,      SG_STORE_TAG_ATTEMPT, SG_STORE_TAG_UID,
                SG_STORE_TAG_STATE,  SG_STORE_TAG_REASON,  SG_STORE_TAG_EXIT_CODE,
                SG_STORE_TAG_SIGNAL, SG_STORE_TAG_WHO,
        };
        struct sg_writer *w = userdata;
        size_t mark = open_frame(w, SG_STORE_EVENT);

        for (size_t i = 0; i < SG_ELEMENTSOF(tags); i++) {
                int64_t v = sqlite3_column_int64(row, (int)i);

                if (tags[i] == SG_STORE_TAG_STATE)
                        sg_record_put_str(&w->out, tags[i], sg_job_state_to_string((uint64_t)v));
                else if (tags[i] == SG_STORE_TAG_ORIGIN || tags[i] == SG_STORE_TAG_REASON ||
                         tags[i] == SG_STORE_TAG_WHO)
                        sg_record_put_str(&w->out, tags[i],
                                          (const char *)sqlite3_column_text(row, (int)i));
                else
                        sg_record_put_i64(&w->out, tags[i], v);
        }
        return sg_writer_reply_close(w, mark);
}

static int put_kept(struct sg_record *out, uint64_t uid, int64_t bytes)
{
        size_t mark = sg_frame_open(out);

        sg_record_put_u64(out, SG_STORE_TAG_KIND, SG_STORE_KEPT);
        sg_record_put_u64(out, SG_STORE_TAG_UID, uid);
        sg_record_put_i64(out, SG_STORE_TAG_STORED, bytes);
        return sg_frame_close(out, mark, SG_STORE_FRAME_MAX);
}

int sg_writer_tell_kept(sqlite3_stmt *row, void *userdata)
{
        struct sg_writer *w = userdata;

        return put_kept(&w->out, (uint64_t)sqlite3_column_int64(row, 0),
                        sqlite3_column_int64(row, 1));
}

/* Without memory for it the COMMIT fails. */
void sg_writer_note_kept(uint64_t uid, int64_t bytes, void *userdata)
{
        struct sg_writer *w = userdata;

        if (put_kept(&w->kept, uid, bytes) < 0)
                w->kept.error = -ENOMEM;
}

int sg_writer_take_kept(sqlite3_stmt *row, void *userdata)
{
        return sg_db_kept_part(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0),
                               userdata);
}
