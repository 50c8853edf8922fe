/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which jobs of a damaged database are set aside, what the report says of them, and what of the
 * other tables is made to fit the jobs that are left. */

#include "base/utf8.h"
#include "edge/store/writer/rescue-internal.h"
#include "proto/spec.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define N_MAX (1ULL << 40)    /* a number beyond it is none that was given */
#define REPORT_TEXT_MAX 4096U /* bytes of one column */

/* A callback's failure ends it. */
static int each(struct sg_db *db, const char *sql, sg_db_row_cb cb, struct sg_rescue *s)
{
        sqlite3_stmt *stmt = NULL;
        int r;

        r = sg_rescue_prepare(db, sql, &stmt);
        while (r >= 0 && (r = sg_db_step(db, stmt)) > 0)
                r = cb(stmt, s);
        (void)sqlite3_finalize(stmt);
        return r;
}

static int run(struct sg_rescue *s, const char *sql, int64_t value)
{
        sqlite3_stmt *stmt = NULL;
        int r;

        r = sg_rescue_prepare(&s->new, sql, &stmt);
        if (r >= 0 && sqlite3_bind_parameter_count(stmt) > 0)
                (void)sqlite3_bind_int64(stmt, 1, value);
        if (r >= 0)
                r = sg_db_run(&s->new, stmt);
        (void)sqlite3_finalize(stmt);
        return r;
}

/* --- the report ------------------------------------------------------------------------------- */

static void put_text(struct sg_rescue *s, const char *before, const char *text)
{
        char buf[REPORT_TEXT_MAX];

        (void)fprintf(s->report, "  %s%s\n", before, sg_utf8_escape(text, buf, sizeof(buf)));
}

/* States are words to whoever reads it. */
static const char *column_text(sqlite3_stmt *row, int i)
{
        uint64_t state = (uint64_t)sqlite3_column_int64(row, i);

        if (strcmp(sqlite3_column_name(row, i), "state") == 0 && sg_job_state_is_known(state))
                return sg_job_state_to_string(state);
        return (const char *)sqlite3_column_text(row, i);
}

static void put_columns(struct sg_rescue *s, sqlite3_stmt *row)
{
        for (int i = 0; i < sqlite3_column_count(row); i++) {
                const char *text = column_text(row, i);
                char name[64];

                (void)snprintf(name, sizeof(name), "%s=", sqlite3_column_name(row, i));
                if (text)
                        put_text(s, name, text);
        }
}

/* What its last event says. */
static int put_last_event(struct sg_rescue *s, const struct sg_job_key *key)
{
        sqlite3_stmt *stmt = NULL;
        int r;

        r = sg_rescue_prepare(&s->new,
                              "SELECT uid, attempt, state, reason, time_usec FROM events"
                              " WHERE origin = ?1 AND n = ?2 ORDER BY seq DESC LIMIT 1",
                              &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, key);
        r = sg_db_step(&s->new, stmt);
        if (r > 0)
                put_columns(s, stmt);
        (void)sqlite3_finalize(stmt);
        return r < 0 ? r : 0;
}

/* Its number isn't given again. */
static int set_aside(struct sg_rescue *s, const struct sg_job_key *key, const char *why)
{
        size_t used = strlen(s->aside);
        char origin[2 * SG_NODE_NAME_MAX];
        sqlite3_stmt *stmt;
        int r;

        if (s->n_aside++ < SG_RESCUE_NAMED_MAX) /* the report has all of them */
                (void)snprintf(s->aside + used, sizeof(s->aside) - used, "%s%" PRIu64,
                               used > 0 ? ", " : "", key->n);
        (void)fprintf(s->report, "job %" PRIu64 "@%s: %s\n", key->n,
                      sg_utf8_escape(key->origin, origin, sizeof(origin)), why);
        if (key->n == 0 || key->n > N_MAX || key->origin[0] == '\0')
                return 0;
        r = sg_db_statement(&s->new, SG_SQL_COUNTER_SET, &stmt);
        if (r < 0)
                return r;
        sg_sql_bind_key(stmt, key);
        return sg_db_run(&s->new, stmt);
}

static void key_of(sqlite3_stmt *row, int origin, int n, struct sg_job_key *ret)
{
        const char *text = (const char *)sqlite3_column_text(row, origin);

        *ret = (struct sg_job_key){.n = (uint64_t)sqlite3_column_int64(row, n)};
        (void)snprintf(ret->origin, sizeof(ret->origin), "%s", text ?: "");
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int is_there(struct sg_rescue *s, int64_t handle)
{
        sqlite3_stmt *stmt = NULL;
        int r;

        r = sg_rescue_prepare(&s->new, "SELECT 1 FROM jobs WHERE handle = ?1", &stmt);
        if (r < 0)
                return r;
        (void)sqlite3_bind_int64(stmt, 1, handle);
        r = sg_db_step(&s->new, stmt);
        (void)sqlite3_finalize(stmt);
        return r;
}

/* A job that only the index of the damaged database knows. */
static int on_indexed(sqlite3_stmt *row, void *userdata)
{
        struct sg_rescue *s = userdata;
        struct sg_job_key key;
        int r;

        r = is_there(s, sqlite3_column_int64(row, 2));
        if (r != 0)
                return r < 0 ? r : 0;
        key_of(row, 0, 1, &key);
        r = set_aside(s, &key, "its row can't be read; its last event:");
        return r < 0 ? r : put_last_event(s, &key);
}

/* The index may be damaged itself: then what can be read of it counts. */
static int find_lost(struct sg_rescue *s)
{
        int r = each(s->old, "SELECT origin, n, handle FROM jobs INDEXED BY jobs_key ORDER BY n",
                     on_indexed, s);

        if (r == -EBADMSG && !sg_db_failed(&s->new)) {
                (void)fprintf(
                        s->report,
                        "jobs: their index can't be read; there may have been more of them\n");
                return 0;
        }
        return r;
}

static int drop(struct sg_rescue *s, sqlite3_stmt *row, int origin, int n, int handle,
                const char *why)
{
        int64_t which = sqlite3_column_int64(row, handle);
        struct sg_job_key key;
        int r;

        key_of(row, origin, n, &key);
        r = set_aside(s, &key, why);
        if (r < 0)
                return r;
        put_columns(s, row);
        return run(s, "DELETE FROM jobs WHERE handle = ?1", which);
}

static int on_job(sqlite3_stmt *row, void *userdata)
{
        if (sg_rescue_row_is_sound(row))
                return 0;
        return drop(userdata, row, 0, 1, (int)sg_job_n_fields, "its row makes no sense:");
}

static int drop_senseless(struct sg_rescue *s)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(&s->new, SG_SQL_JOBS_EVERY, &stmt);
        while (r >= 0 && (r = sg_db_step(&s->new, stmt)) > 0)
                r = on_job(stmt, s);
        (void)sqlite3_reset(stmt);
        return r;
}

static int on_unstartable(sqlite3_stmt *row, void *userdata)
{
        return drop(userdata, row, 1, 2, 0, "what it is to run can't be read:");
}

/* --- what was submitted ----------------------------------------------------------------------- */

static int on_spec(sqlite3_stmt *row, void *userdata)
{
        struct sg_reader reader =
                sg_reader_init(sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0)
                continue;
        return r < 0 ? run(userdata, "DELETE FROM specs WHERE id = ?1",
                           sqlite3_column_int64(row, 0))
                     : 0;
}

/* The spec of a job that is set aside: the report says whose it was, and what was to be run. */
static int on_orphan(sqlite3_stmt *row, void *userdata)
{
        struct sg_rescue *s = userdata;
        struct sg_reader reader =
                sg_reader_init(sqlite3_column_blob(row, 1), (size_t)sqlite3_column_bytes(row, 1));
        struct sg_field f;
        uint64_t uid = 0;
        int r;

        (void)fprintf(s->report, "what one of them was to run:\n");
        while ((r = sg_reader_next(&reader, &f)) > 0) {
                _cleanup_free_ char *text = NULL;

                if (f.tag == SG_SPEC_UID && sg_field_u64(&f, &uid) >= 0)
                        (void)fprintf(s->report, "  uid=%" PRIu64 "\n", uid);
                else if ((f.tag == SG_SPEC_ARG || f.tag == SG_SPEC_WORKDIR) &&
                         sg_field_strdup(&f, &text) >= 0)
                        put_text(s, f.tag == SG_SPEC_ARG ? "argument=" : "directory=", text);
        }
        return r;
}

#define ORPHANS                                                                                    \
        "id NOT IN (SELECT ifnull(spec, kept) FROM jobs WHERE ifnull(spec, kept) IS NOT NULL)"

int sg_rescue_jobs(struct sg_rescue *s)
{
        static const char *const fit[] = {
                /* of an array whose last task is set aside: all of it is still there */
                "UPDATE jobs SET kept = NULL, command = NULL"
                " WHERE kept IN (SELECT id FROM specs WHERE ended_usec = 0)"
                " AND kept NOT IN (SELECT spec FROM jobs WHERE spec IS NOT NULL)",
                "DELETE FROM specs WHERE " ORPHANS,
                "UPDATE jobs SET spec = NULL WHERE spec NOT IN (SELECT id FROM specs)",
                "UPDATE jobs SET kept = NULL, command = NULL"
                " WHERE kept NOT IN (SELECT id FROM specs)",
                "INSERT INTO spec_shares (spec, users) SELECT spec, count(*) FROM jobs"
                " WHERE spec IS NOT NULL GROUP BY spec"
                " HAVING count(*) > 1 OR spec IN (SELECT kept FROM jobs)",
                "DELETE FROM sqlite_sequence WHERE name = 'jobs'",
                "INSERT INTO sqlite_sequence (name, seq) VALUES ('jobs', ?1)",
        };
        int64_t last = sg_rescue_last_handle(s);
        int r;

        r = find_lost(s);
        if (r >= 0)
                r = drop_senseless(s);
        if (r >= 0)
                r = each(&s->new, "SELECT id, body FROM specs", on_spec, s);
        if (r >= 0)
                r = each(&s->new,
                         "SELECT * FROM jobs WHERE state = 0 AND adopted = 0"
                         " AND (spec IS NULL OR spec NOT IN (SELECT id FROM specs))",
                         on_unstartable, s);
        if (r >= 0)
                r = each(&s->new, "SELECT id, body FROM specs WHERE " ORPHANS, on_orphan, s);
        for (size_t i = 0; r >= 0 && i < SG_ELEMENTSOF(fit); i++)
                r = run(s, fit[i], last);
        return r;
}
