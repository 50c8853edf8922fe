/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of a spec when its job has ended: command, directory and options, and nothing of the
 * environment. For whom it is kept counts its bytes, so each change is told (db->kept).
 */

#include "base/time-util.h"
#include "edge/store/writer/db.h"
#include "proto/spec.h"
#include <errno.h>

/* What rows and indexes take besides. */
#define KEPT_ROW_BYTES 128
#define FORGET_STEP 500 /* specs: some 20 ms */

static int bind(struct sg_db *db, enum sg_sql id, int64_t a, sqlite3_stmt **ret)
{
        int r = sg_db_statement(db, id, ret);

        if (r >= 0)
                (void)sqlite3_bind_int64(*ret, 1, a);
        return r;
}

static void tell(const struct sg_db *db, uint64_t uid, int64_t bytes)
{
        if (db->kept && bytes != 0)
                db->kept(uid, bytes, db->kept_userdata);
}

int sg_db_delete_spec(struct sg_db *db, int64_t spec)
{
        sqlite3_stmt *stmt;
        int r;

        if (spec == 0)
                return 0;
        r = bind(db, SG_SQL_SPEC_DELETE, spec, &stmt);
        if (r < 0)
                return r;
        while ((r = sg_db_step(db, stmt)) > 0)
                tell(db, (uint64_t)sqlite3_column_int64(stmt, 0), -sqlite3_column_int64(stmt, 1));
        return r;
}

static int forget_spec(struct sg_db *db, int64_t spec)
{
        sqlite3_stmt *stmt;
        int r;

        r = bind(db, SG_SQL_SPEC_UNNAME, spec, &stmt);
        if (r >= 0)
                r = sg_db_run(db, stmt);
        return r < 0 ? r : sg_db_delete_spec(db, spec);
}

int sg_db_kept_part(const void *spec, size_t size, struct sg_record *out)
{
        struct sg_reader reader = sg_reader_init(spec, size);
        bool runs = false;
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                if (!sg_spec_is_kept(f.tag))
                        continue;
                runs = runs || f.tag == SG_SPEC_ARG || f.tag == SG_SPEC_SCRIPT;
                sg_record_put(out, f.tag, f.data, f.size);
        }
        if (r >= 0)
                r = out->error;
        return r < 0 ? r : runs ? 0 : -ENODATA;
}

static int read_kept_part(sqlite3_stmt *row, void *userdata)
{
        return sg_db_kept_part(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0),
                               userdata);
}

static int keep_spec(struct sg_db *db, int64_t spec, const struct sg_job *job)
{
        _cleanup_(sg_record_deinitp) struct sg_record part = {0};
        sqlite3_stmt *stmt;
        int64_t bytes;
        int r;

        r = sg_db_spec(db, &job->key, read_kept_part, &part);
        if (r == -ENODATA || r == -EBADMSG)
                return sg_db_failed(db) ? r : forget_spec(db, spec);
        if (r >= 0)
                r = bind(db, SG_SQL_SPEC_KEEP, spec, &stmt);
        if (r < 0)
                return r;
        bytes = (int64_t)part.size + KEPT_ROW_BYTES;
        (void)sqlite3_bind_blob64(stmt, 2, part.data, part.size, SQLITE_STATIC);
        (void)sqlite3_bind_int64(stmt, 3, (int64_t)job->uid);
        (void)sqlite3_bind_int64(stmt, 4, (int64_t)(job->ended_usec ?: sg_now_realtime_usec()));
        (void)sqlite3_bind_int64(stmt, 5, bytes);
        r = sg_db_run(db, stmt);
        if (r >= 0)
                tell(db, job->uid, bytes);
        return r;
}

int sg_db_erase_spec(struct sg_db *db, int64_t spec, const struct sg_job *job)
{
        return db->keep_commands ? keep_spec(db, spec, job) : forget_spec(db, spec);
}

/* The number in the first row of a query about a user; 0 = it has none. */
static int ask(struct sg_db *db, enum sg_sql id, uint64_t uid, int64_t *ret, int64_t *ret_second)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, id, &stmt);
        if (r < 0)
                return r;
        if (sqlite3_bind_parameter_count(stmt) > 0)
                (void)sqlite3_bind_int64(stmt, 1, (int64_t)uid);
        r = sg_db_step(db, stmt);
        if (r <= 0)
                return r;
        *ret = sqlite3_column_int64(stmt, 0);
        if (ret_second)
                *ret_second = sqlite3_column_int64(stmt, 1);
        (void)sqlite3_reset(stmt);
        return 1;
}

static int forget_of(struct sg_db *db, uint64_t uid, uint64_t most, unsigned *steps)
{
        int64_t kept = 0, spec, bytes;
        int r;

        r = ask(db, SG_SQL_KEPT_SUM, uid, &kept, NULL);
        while (r >= 0 && (uint64_t)kept > most && *steps > 0) {
                r = ask(db, SG_SQL_KEPT_OLDEST, uid, &spec, &bytes);
                if (r <= 0)
                        return r;
                r = forget_spec(db, spec);
                kept -= bytes;
                (*steps)--;
        }
        return r < 0 ? r : 0;
}

int sg_db_forget_commands(struct sg_db *db, uint64_t uid, uint64_t most)
{
        unsigned steps = FORGET_STEP;
        int64_t any;
        int r;

        if (uid != SG_UNLIMITED)
                r = forget_of(db, uid, most, &steps);
        else
                while ((r = ask(db, SG_SQL_KEPT_ANY, 0, &any, NULL)) > 0 && steps > 0) {
                        r = forget_of(db, (uint64_t)any, 0, &steps);
                        if (r < 0)
                                break;
                }
        return r < 0 ? r : steps == 0;
}

int sg_db_kept(struct sg_db *db, sg_db_row_cb cb, void *userdata)
{
        sqlite3_stmt *stmt = NULL;
        int r;

        r = sg_db_statement(db, SG_SQL_KEPT_SUMS, &stmt);
        while (r >= 0 && (r = sg_db_step(db, stmt)) > 0)
                r = cb(stmt, userdata);
        (void)sqlite3_reset(stmt);
        return r < 0 ? r : 0;
}
