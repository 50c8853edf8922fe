/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The SQL. Names of columns come from the job table (core/job/job.c), and parameter ?N stands for
 * the field with tag N, so that no statement counts columns by hand. A field added there needs a
 * step in schema.c: test_store compares both.
 *
 * Numbers are 64 bits as they are: SG_UNLIMITED is −1 to SQLite. States are numbers as well (enum
 * sg_job_state), and ≥ SG_JOB_FINAL is final, which the partial indexes rely on.
 */

#include "edge/store/writer/db.h"
#include <errno.h>
#include <string.h>

_Static_assert(SG_JOB_FINAL == 32, "the SQL below and in schema.c has this number in it");
#define LIVE "state < 32"
#define FROZEN_IN_ROW LIVE " AND adopted = 0 AND frozen <> 0"
#define FINAL "state >= 32"
#define KEPT "ended_usec > 0"

/* In the texts, "@" stands for the list of all of a job's columns. */
#define QUERY                                                                                      \
        " AND (?2 = -1 OR uid = ?2) AND (?3 < 0 OR state = ?3) AND (?4 IS NULL OR name = ?4)"      \
        " AND (?5 IS NULL OR class = ?5) AND (?9 IS NULL OR user = ?9)"                            \
        " AND ended_usec BETWEEN ?6 AND ?7 AND (?11 = 0 OR adopted = 0)"                           \
        " AND n >= ?10 AND (?10 = 0 OR array_first = ?10)"                                         \
        " ORDER BY n DESC LIMIT ?8"
#define EVENT                                                                                      \
        "SELECT seq, time_usec, origin, n, attempt, uid, state, reason, exit_code, signal, who"    \
        " FROM events"
#define EVENT_FILTER "(?2 = -1 OR uid = ?2) AND (?3 = 0 OR (n = ?3 AND origin = ?5))"
#define PRUNE(which) "DELETE FROM jobs WHERE handle IN (" which ") RETURNING origin, n, kept"

static const char *const texts[_SG_SQL_MAX] = {
        [SG_SQL_BEGIN] = "BEGIN IMMEDIATE",
        [SG_SQL_COMMIT] = "COMMIT",
        [SG_SQL_SAVEPOINT] = "SAVEPOINT request",
        [SG_SQL_RELEASE] = "RELEASE request",
        [SG_SQL_ROLLBACK_TO] = "ROLLBACK TO request",
        [SG_SQL_JOB_GET] = "SELECT @ FROM jobs WHERE n = ?2 AND origin = ?1",
        [SG_SQL_JOB_HOLD] = "UPDATE jobs SET hold = ?3 WHERE n = ?2 AND origin = ?1",
        [SG_SQL_JOB_FREEZE] = "UPDATE jobs SET frozen = iif(?4, frozen | ?3, frozen & ~?3)"
                              " WHERE n = ?2 AND origin = ?1",
        [SG_SQL_JOBS_FROZEN] = "SELECT origin, n, attempt, frozen FROM jobs WHERE " FROZEN_IN_ROW,
        [SG_SQL_JOBS_FROZEN_ELSEWHERE] = "UPDATE jobs SET frozen = 0 WHERE " FROZEN_IN_ROW,
        [SG_SQL_JOB_OLD] = "SELECT state, reason, hold, spec, attempt, kept FROM jobs"
                           " WHERE n = ?2 AND origin = ?1",
        [SG_SQL_JOB_BY_TOKEN] = "SELECT @ FROM jobs WHERE uid = ?1 AND token = ?2",
        /* The length alone: what was submitted isn't read for that. */
        [SG_SQL_JOBS_LIVE] = "SELECT @, (SELECT length(body) FROM specs WHERE id = jobs.spec)"
                             " FROM jobs INDEXED BY jobs_live WHERE " LIVE " ORDER BY n",
        [SG_SQL_JOBS_EVERY] = "SELECT @, handle FROM jobs NOT INDEXED",
        [SG_SQL_JOBS_ALL] = "SELECT @ FROM jobs INDEXED BY jobs_key WHERE n < ?1" QUERY,
        [SG_SQL_JOBS_FINISHED] =
                "SELECT @ FROM jobs INDEXED BY jobs_key WHERE n < ?1 AND " FINAL QUERY,
        [SG_SQL_LAST_N] = "SELECT max(ifnull((SELECT max(last_n) FROM counters), 0),"
                          " ifnull((SELECT max(n) FROM jobs INDEXED BY jobs_key), 0))",
        [SG_SQL_COUNT_FINISHED] = "SELECT count(*) FROM jobs INDEXED BY jobs_ended WHERE " FINAL,
        [SG_SQL_SPEC_INSERT] = "INSERT INTO specs (body) VALUES (?1)",
        [SG_SQL_SPEC_GET] =
                "SELECT specs.body FROM jobs LEFT JOIN specs ON specs.id = ifnull(spec, kept)"
                " WHERE n = ?2 AND origin = ?1",
        [SG_SQL_SPEC_KEEP] = "UPDATE specs SET body = ?2, uid = ?3, ended_usec = ?4, bytes = ?5"
                             " WHERE id = ?1",
        [SG_SQL_SPEC_UNNAME] = "UPDATE jobs SET kept = NULL, command = NULL WHERE kept = ?1",
        [SG_SQL_SPEC_DELETE] = "DELETE FROM specs WHERE id = ?1"
                               " AND NOT EXISTS (SELECT 1 FROM jobs WHERE kept = ?1)"
                               " AND NOT EXISTS (SELECT 1 FROM spec_shares WHERE spec = ?1)"
                               " RETURNING uid, bytes",
        [SG_SQL_KEPT_SUMS] = "SELECT uid, sum(bytes) FROM specs INDEXED BY specs_kept"
                             " WHERE " KEPT " GROUP BY uid",
        [SG_SQL_KEPT_SUM] = "SELECT ifnull(sum(bytes), 0) FROM specs INDEXED BY specs_kept"
                            " WHERE " KEPT " AND uid = ?1",
        [SG_SQL_KEPT_ANY] = "SELECT uid FROM specs INDEXED BY specs_kept WHERE " KEPT " LIMIT 1",
        [SG_SQL_KEPT_OLDEST] = "SELECT id, bytes FROM specs INDEXED BY specs_kept"
                               " WHERE " KEPT " AND uid = ?1 ORDER BY ended_usec LIMIT 1",
        [SG_SQL_SHARE_INSERT] = "INSERT INTO spec_shares (spec, users) VALUES (?1, ?2)",
        [SG_SQL_SHARE_DROP] =
                "UPDATE spec_shares SET users = users - 1 WHERE spec = ?1 RETURNING users",
        [SG_SQL_SHARE_DELETE] = "DELETE FROM spec_shares WHERE spec = ?1",
        [SG_SQL_ATTEMPT_INSERT] =
                "INSERT OR REPLACE INTO attempts (origin, n, attempt, boot_id, reason,"
                " started_usec, ended_usec, exit_code, signal, cpu_usec, memory_peak_bytes,"
                " oom_kills, io_read_bytes, io_write_bytes)"
                " VALUES (?1, ?2, ?3, ?25, ?18, ?23, ?24, ?27, ?28, ?39, ?40, ?41, ?42, ?43)",
        [SG_SQL_ATTEMPTS_DELETE] = "DELETE FROM attempts WHERE origin = ?1 AND n = ?2",
        [SG_SQL_EVENT_INSERT] =
                /* A name takes the number after the largest before it: so they come last. */
        "INSERT INTO events (origin, n, attempt, uid, state, reason, exit_code, signal, time_usec,"
        " who) VALUES (?1, ?2, ?3, ?4, ?9, ?18, ?27, ?28, :time, :who)",
        [SG_SQL_EVENTS_LATEST] = "SELECT * FROM (" EVENT " WHERE seq > ?1 AND " EVENT_FILTER
                                 " ORDER BY seq DESC LIMIT ?4) ORDER BY seq",
        [SG_SQL_EVENTS_AFTER] = EVENT " WHERE seq > ?1 AND " EVENT_FILTER " ORDER BY seq LIMIT ?4",
        [SG_SQL_EVENTS_SPAN] = "SELECT (SELECT min(seq) FROM events),"
                               " (SELECT max(seq) FROM events)",
        [SG_SQL_EVENTS_DELETE] =
                "DELETE FROM events WHERE seq < ?1 AND (seq < ?2 OR time_usec < ?3)",
        [SG_SQL_PRUNE_COUNT] = PRUNE("SELECT handle FROM jobs INDEXED BY jobs_ended WHERE " FINAL
                                     " ORDER BY ended_usec LIMIT ?1"),
        [SG_SQL_PRUNE_AGE] = PRUNE("SELECT handle FROM jobs INDEXED BY jobs_ended WHERE " FINAL
                                   " AND ended_usec < ?1 ORDER BY ended_usec LIMIT ?2"),
        [SG_SQL_OLDEST_END] = "SELECT min(ended_usec) FROM jobs INDEXED BY jobs_ended WHERE " FINAL,
        [SG_SQL_PAGES] = "SELECT page_size, page_count, freelist_count"
                         " FROM pragma_page_size, pragma_page_count, pragma_freelist_count",
        [SG_SQL_COUNTER_SET] = "INSERT INTO counters (origin, last_n) VALUES (?1, ?2)"
                               " ON CONFLICT (origin) DO UPDATE SET last_n = excluded.last_n"
                               " WHERE excluded.last_n > last_n",
};

static void put_columns(sqlite3_str *out, const char *prefix)
{
        for (size_t i = 0; i < sg_job_n_fields; i++)
                sqlite3_str_appendf(out, "%s%s%s", i ? "," : "", prefix, sg_job_fields[i].column);
}

static void put_insert(sqlite3_str *out)
{
        sqlite3_str_appendall(out, "INSERT INTO jobs (");
        put_columns(out, "");
        sqlite3_str_appendall(out, ",spec,token) VALUES (");
        for (size_t i = 0; i < sg_job_n_fields; i++)
                sqlite3_str_appendf(out, "?%d,", sg_job_fields[i].tag);
        sqlite3_str_appendf(out, "?%d,?%d)", (int)sg_job_n_fields + 1, (int)sg_job_n_fields + 2);
}

/* Columns that change in a job that is there; not the owner, so that the token's index needn't be
 * touched. */
static bool is_updated(const char *column)
{
        static const char *const others[] = {"origin", "n", "uid", "hold", "frozen"};

        for (size_t i = 0; i < SG_ELEMENTSOF(others); i++)
                if (strcmp(column, others[i]) == 0)
                        return false;
        return true;
}

/* Two parameters behind the fields: whether the job is over, so that what it needs only while it
 * lives is dropped; and whether its command is, too. A row without a spec is of one that has ended.
 */
static void put_update(sqlite3_str *out)
{
        int over = (int)sg_job_n_fields + 1, forget = over + 1;

        sqlite3_str_appendall(out, "UPDATE jobs SET ");
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const char *column = sg_job_fields[i].column;

                if (strcmp(column, "command") == 0)
                        sqlite3_str_appendf(out,
                                            "command=iif(?%d,NULL,iif(spec IS NULL,command,?%d)),",
                                            forget, sg_job_fields[i].tag);
                else if (is_updated(column))
                        sqlite3_str_appendf(out, "%s=?%d,", column, sg_job_fields[i].tag);
        }
        sqlite3_str_appendf(out,
                            "spec=iif(?%d,NULL,spec),frozen=iif(?%d,0,frozen),"
                            "kept=iif(?%d AND NOT ?%d,ifnull(spec,kept),kept)"
                            " WHERE n=?2 AND origin=?1",
                            over, over, over, forget);
}

char *sg_sql_text(enum sg_sql id)
{
        sqlite3_str *out = sqlite3_str_new(NULL);

        if (id == SG_SQL_JOB_INSERT)
                put_insert(out);
        else if (id == SG_SQL_JOB_UPDATE)
                put_update(out);
        else
                for (const char *p = texts[id]; *p; p++)
                        if (*p == '@')
                                put_columns(out, "");
                        else
                                sqlite3_str_appendchar(out, 1, *p);
        return sqlite3_str_finish(out);
}

void sg_sql_bind_text(sqlite3_stmt *stmt, int parameter, const char *s)
{
        (void)sqlite3_bind_text(stmt, parameter, s, -1, SQLITE_STATIC);
}

void sg_sql_bind_key(sqlite3_stmt *stmt, const struct sg_job_key *key)
{
        sg_sql_bind_text(stmt, 1, key->origin);
        (void)sqlite3_bind_int64(stmt, 2, (int64_t)key->n);
}

void sg_sql_bind_job(sqlite3_stmt *stmt, const struct sg_job *job)
{
        int last = sqlite3_bind_parameter_count(stmt);

        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];
                const char *p = sg_job_field_at(job, f);

                if (f->tag > last)
                        break;
                if (!p) {
                        (void)sqlite3_bind_null(stmt, f->tag);
                        continue;
                }
                switch (f->type) {
                case SG_TYPE_U64:
                case SG_TYPE_I64:
                        (void)sqlite3_bind_int64(stmt, f->tag, *(const int64_t *)p);
                        break;
                case SG_TYPE_CHARS:
                        sg_sql_bind_text(stmt, f->tag, p);
                        break;
                case SG_TYPE_STR:
                        sg_sql_bind_text(stmt, f->tag, *(char *const *)p);
                        break;
                }
        }
}

void sg_sql_encode_job(sqlite3_stmt *row, struct sg_record *r)
{
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];
                int c = (int)i;

                if (f->gpu && sqlite3_column_type(row, c) == SQLITE_NULL)
                        continue;
                if (f->type == SG_TYPE_U64 || f->type == SG_TYPE_I64) {
                        sg_record_put_i64(r, f->tag, sqlite3_column_int64(row, c));
                } else if (sqlite3_column_type(row, c) != SQLITE_NULL) {
                        const void *text = sqlite3_column_text(row, c);

                        sg_record_put(r, f->tag, text, (size_t)sqlite3_column_bytes(row, c));
                }
        }
}
