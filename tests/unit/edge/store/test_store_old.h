/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A database of an earlier version: the one in tests/data was made by the daemon that wrote
 * schema 5. What it becomes is compared with it by SQL, table by table, and not by the code that
 * does it.
 */

#include "edge/store/writer/db.h"
#include "tests/unit/edge/store/test_store_disk.h"
#include "tests/unit/test_source.h"

static void exec_in(const char *dir, const char *name, const char *sql)
{
        char path[PATH_MAX], *why = NULL;
        sqlite3 *db;

        assert_int_equal(sg_path_join(path, sizeof(path), dir, name), 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
                fail_msg("%s: %s", path, why);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void make_old(const char *more)
{
        _cleanup_free_ char *dump = source_read("tests/data/store/schema-5.sql"), *data = NULL;
        char to[PATH_MAX];
        size_t size;

        assert_int_equal(sg_remove_tree(AT_FDCWD, state_dir), 0);
        assert_int_equal(mkdir(state_dir, 0700), 0);
        exec_in(state_dir, "schedgov.db", dump);
        exec_in(state_dir, "schedgov.db", more);
        assert_int_equal(sg_path_join(to, sizeof(to), root, "old.db"), 0);
        data = database(&size);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, to, data, size, 0600), 0);
}

/* The first value that a query on the store's database gives, as text, "" = none; `old` is the copy
 * that wasn't upgraded. */
static char *ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *ask(const char *format, ...)
{
        const char *answer = NULL;
        char path[PATH_MAX];
        sqlite3_stmt *stmt;
        sqlite3 *db;
        char *sql, *copy;
        va_list ap;

        va_start(ap, format);
        sql = sqlite3_vmprintf(format, ap);
        va_end(ap);
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        (void)snprintf(path, sizeof(path), "ATTACH '%s/old.db' AS old", root);
        assert_int_equal(sqlite3_exec(db, path, NULL, NULL, NULL), SQLITE_OK);
        if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
                fail_msg("%s: %s", sql, sqlite3_errmsg(db));
        if (sqlite3_step(stmt) == SQLITE_ROW)
                answer = (const char *)sqlite3_column_text(stmt, 0);
        copy = strdup(answer ?: "");
        assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
        assert_int_equal(sqlite3_close(db), SQLITE_OK);
        sqlite3_free(sql);
        return copy;
}

#define expect_answer(want, ...)                                                                   \
        do {                                                                                       \
                _cleanup_free_ char *answer = ask(__VA_ARGS__);                                    \
                assert_string_equal(answer, want);                                                 \
        } while (false)

/* A state as it has to be: what it was, unless it has been converted. */
#define WAS "state"
#define BECAME                                                                                     \
        "CASE state WHEN 4 THEN 32 WHEN 5 THEN 33 WHEN 6 THEN 34 WHEN 7 THEN 35 WHEN 8 THEN 36"    \
        " WHEN 9 THEN 37 ELSE state END"

/* All columns that the old table had, with this in the place of the state. */
static char *columns(const char *table, const char *state)
{
        return ask("SELECT group_concat(iif(name = 'state', '%s', name))"
                   " FROM pragma_table_info('%s', 'old')",
                   state, table);
}

static void expect_all_rows(const char *state)
{
        static const char *const tables[] = {"jobs",  "events",      "attempts",
                                             "specs", "spec_shares", "counters"};

        expect_answer("ok", "PRAGMA main.integrity_check");
        for (size_t i = 0; i < SG_ELEMENTSOF(tables); i++) {
                const char *t = tables[i];
                _cleanup_free_ char *old = columns(t, state), *new = columns(t, "state");

                expect_answer("0",
                              "SELECT count(*) FROM (SELECT %s FROM main.%s EXCEPT SELECT %s FROM"
                              " old.%s)",
                              new, t, old, t);
                expect_answer("1",
                              "SELECT count(*) > 0 AND count(*) = (SELECT count(*) FROM main.%s)"
                              " FROM old.%s",
                              t, t);
        }
}

static void expect_old(void)
{
        expect_answer("5", "PRAGMA main.user_version");
        expect_all_rows(WAS);
}

static void expect_new(void)
{
        char version[16];

        (void)snprintf(version, sizeof(version), "%u", sg_sql_n_migrations);
        expect_answer(version, "PRAGMA main.user_version");
        expect_all_rows(BECAME);
}
