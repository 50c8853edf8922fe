/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Databases of earlier versions: what becomes of them, and what if that goes wrong. */

#include "edge/store/kept.h"
#include "tests/unit/edge/store/test_store_old.h"
#include <sys/prctl.h>
#include <sys/statvfs.h>

#define KILLS 20 /* spread over the time that it takes */

/* What the old numbers meant, in their order. */
static const struct {
        const char *name;
        bool final;
} states[] = {
        {"queued", false}, {"starting", false}, {"running", false}, {"suspended", false},
        {"exited", true},  {"killed", true},    {"oom", true},      {"timeout", true},
        {"failed", true},  {"lost", true},
};

/* --- what is in it */

static void test_rows(void **state)
{
        static const uint64_t live[] = {1, 2, 3, 4, 12, 13, 14, 16};
        struct answer a = {.calls = 0};
        struct sg_store *s;
        uint64_t last;

        (void)state;
        make_old("DELETE FROM jobs WHERE origin = 'away'"); /* so that there is a gap */
        expect_old();
        s = open_store();
        load(s, &a, &last);
        assert_int_equal(last, 17);
        assert_int_equal(a.rows, SG_ELEMENTSOF(live));
        assert_memory_equal(a.seen, live, sizeof(live));
        for (uint64_t i = 0; i < SG_ELEMENTSOF(states); i++) {
                get(s, i + 1, &a);
                assert_string_equal(sg_job_state_to_string(a.job.state), states[i].name);
                assert_int_equal(sg_job_state_is_final(a.job.state), states[i].final);
        }
        sg_store_close(s);
        expect_new();
        expect_answer("15", "SELECT count(*) FROM jobs JOIN old.jobs AS o USING (n, origin)"
                            " WHERE handle = o.rowid");
        sg_store_close(open_store());
        expect_new();
        answer_reset(&a);
}

/* Nobody follows who was started by who didn't know how; who waits will. */
static void test_threads(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s;

        (void)state;
        make_old("UPDATE jobs SET cpus = 2, cpus_max = 8 WHERE n IN (1, 3, 5)");
        s = open_store();
        for (uint64_t n = 1; n <= 5; n += 2) {
                get(s, n, &a);
                assert_int_equal(a.job.limits.threads,
                                 n == 1 ? SG_THREADS_FOLLOW : SG_THREADS_START);
                assert_int_equal(a.job.threads_given, n == 1 ? 0 : 2);
                assert_int_equal(a.job.limits.cpus_max, 8);
                assert_int_equal(a.job.follows, 0);
        }
        get(s, 4, &a);
        assert_int_equal(a.job.limits.threads, SG_THREADS_START);
        assert_int_equal(a.job.threads_given, 0);
        sg_store_close(s);
        answer_reset(&a);
}

static void on_event(const struct sg_event_row *row, void *userdata)
{
        struct answer *a = userdata;

        if (row)
                (void)strcat(strcat(a->text, " "), row->state);
        else
                a->calls++;
}

static void test_events(void **state)
{
        const struct sg_job_key key = {.origin = HOME, .n = 5};
        struct answer a = {.calls = 0};
        struct sg_store *s;

        (void)state;
        make_old("");
        s = open_store();
        sg_store_events(s, 0, SG_UNLIMITED, &key, 100, on_event, &a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a.calls, 1);
        assert_string_equal(a.text, " queued starting running queued starting running exited");
        sg_store_close(s);
}

/* Its jobs go on: their tokens are known, and the spec of an array goes with the last task. */
static void test_goes_on(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_job job;
        struct sg_store *s;

        (void)state;
        make_old("");
        s = open_store();
        make_job(&job, 100);
        assert_int_equal(submit_n(s, &job, 1, "t0", "", 0), 1);
        assert_int_equal(submit_n(s, &job, 1, "new", "", 0), 0);
        for (uint64_t n = 12; n <= 13; n++) {
                get(s, n, &a);
                make_starting(&job, n, 1);
                assert_int_equal(start(s, &job, NULL), 0);
                job.state = SG_JOB_KILLED;
                assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        }
        sg_store_set_retention(s, 3, SG_UNLIMITED, true);
        job.key.n = 1;
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        sg_store_close(s);
        expect_answer("0", "SELECT count(*) FROM specs WHERE id = 5");
        expect_answer("0", "SELECT count(*) FROM spec_shares");
        expect_answer("3", "SELECT count(*) FROM jobs WHERE state >= 32");
        expect_answer("6", "SELECT count(*) FROM jobs WHERE state < 32");
        answer_reset(&a);
}

struct kept {
        unsigned calls;
        int result;
        size_t size;
};

static void on_command(int result, const void *part, size_t size, void *userdata)
{
        struct kept *k = userdata;

        (void)part;
        k->calls++;
        k->result = result;
        k->size = result < 0 ? 0 : size;
}

static int ask_command(struct sg_store *s, uint64_t n)
{
        const struct sg_job_key key = {.origin = HOME, .n = n};
        struct kept k = {.calls = 0};

        sg_store_command(s, &key, 4096, on_command, &k);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(k.calls, 1);
        return k.result < 0 ? k.result : (int)k.size;
}

/* Of those that had ended nothing was kept. Of those that end now what their specification says is.
 */
static void test_commands(void **state)
{
        struct sg_store *s;
        struct answer a = {.calls = 0};

        (void)state;
        make_old("");
        s = open_store();
        for (uint64_t n = 5; n <= 11; n++)
                assert_int_equal(ask_command(s, n), -ENODATA);
        get(s, 3, &a);
        a.job.state = SG_JOB_EXITED;
        a.job.ended_usec = 5;
        assert_int_equal(write_job(s, sg_store_finish, &a.job), 0);
        assert_int_equal(ask_command(s, 3), 11); /* "train" */
        get(s, 3, &a);
        assert_string_equal(a.job.command, "train --epochs 3");
        sg_store_close(s);
        answer_reset(&a);
}

/* --- how it is looked for */

/* What SQLite says it does, with the statement's own text. */
static void expect_plan(enum sg_sql id, const char *want)
{
        char path[PATH_MAX], plan[1024] = "", *text = sg_sql_text(id), *sql;
        sqlite3_stmt *stmt;
        sqlite3 *db;

        assert_non_null(text);
        sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", text);
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
        while (sqlite3_step(stmt) == SQLITE_ROW)
                (void)snprintf(plan + strlen(plan), sizeof(plan) - strlen(plan), "%s; ",
                               (const char *)sqlite3_column_text(stmt, 3));
        if (strcmp(plan, want) != 0)
                fail_msg("%s\n%s\n%s", text, plan, want);
        (void)sqlite3_finalize(stmt);
        (void)sqlite3_close(db);
        sqlite3_free(sql);
        sqlite3_free(text);
}

static void expect_plans(void)
{
        expect_plan(SG_SQL_JOB_GET, "SEARCH jobs USING INDEX jobs_key (n=? AND origin=?); ");
        expect_plan(SG_SQL_JOB_BY_TOKEN,
                    "SEARCH jobs USING INDEX jobs_token (uid=? AND token=?); ");
        expect_plan(SG_SQL_JOBS_LIVE,
                    "SCAN jobs USING INDEX jobs_live; CORRELATED SCALAR SUBQUERY 1; "
                    "SEARCH specs USING INTEGER PRIMARY KEY (rowid=?); ");
        expect_plan(SG_SQL_JOBS_ALL, "SEARCH jobs USING INDEX jobs_key (n>? AND n<?); ");
        expect_plan(SG_SQL_JOBS_FINISHED, "SEARCH jobs USING INDEX jobs_key (n>? AND n<?); ");
        expect_plan(SG_SQL_COUNT_FINISHED, "SCAN jobs USING INDEX jobs_ended; ");
        expect_plan(SG_SQL_PRUNE_AGE,
                    "SEARCH jobs USING INTEGER PRIMARY KEY (rowid=?); LIST SUBQUERY 1; "
                    "SEARCH jobs USING INDEX jobs_ended (ended_usec<?); ");
        expect_plan(SG_SQL_SPEC_UNNAME, "SEARCH jobs USING INDEX jobs_kept (kept=?); ");
        expect_plan(SG_SQL_SPEC_DELETE,
                    "SEARCH specs USING INTEGER PRIMARY KEY (rowid=?); SCALAR SUBQUERY 1; "
                    "SEARCH jobs USING COVERING INDEX jobs_kept (kept=?); SCALAR SUBQUERY 2; "
                    "SEARCH spec_shares USING INTEGER PRIMARY KEY (rowid=?); ");
        expect_plan(SG_SQL_KEPT_SUMS, "SCAN specs USING COVERING INDEX specs_kept; ");
        expect_plan(SG_SQL_KEPT_SUM,
                    "SEARCH specs USING COVERING INDEX specs_kept (uid=? AND ended_usec>?); ");
        expect_plan(SG_SQL_KEPT_OLDEST,
                    "SEARCH specs USING COVERING INDEX specs_kept (uid=? AND ended_usec>?); ");
}

static void test_plans(void **state)
{
        (void)state;
        make_old("");
        sg_store_close(open_store());
        expect_plans();
        assert_int_equal(sg_remove_tree(AT_FDCWD, state_dir), 0);
        sg_store_close(open_store());
        expect_plans();
}

/* --- handles */

static int64_t handle_of(uint64_t n)
{
        _cleanup_free_ char *answer = ask("SELECT handle FROM jobs WHERE n = %u", (unsigned)n);

        return strtoll(answer, NULL, 10);
}

/* History forgets the job. */
static void forget(uint64_t n)
{
        struct sg_store *s = open_store();
        struct sg_job job;

        make_job(&job, n);
        job.state = SG_JOB_EXITED;
        sg_store_set_retention(s, 0, SG_UNLIMITED, true);
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        sg_store_close(s);
}

static int64_t submit_for_handle(uint64_t n)
{
        struct sg_store *s = open_store();

        assert_int_equal(submit(s, n), 0);
        sg_store_close(s);
        return handle_of(n);
}

/* The newest goes, and whoever comes next isn't taken for it, restart or not. */
static void expect_never_again(uint64_t n)
{
        int64_t first = submit_for_handle(n), second;

        assert_true(first > 0);
        forget(n);
        assert_int_equal(handle_of(n), 0);
        second = submit_for_handle(n + 1);
        assert_true(second > first);
        forget(n + 1);
        database_exec("VACUUM");
        assert_true(submit_for_handle(n + 2) > second);
}

static void test_handles(void **state)
{
        int64_t kept;

        (void)state;
        make_old("");
        kept = submit_for_handle(100);
        assert_int_equal(kept, 17);
        expect_never_again(101);
        assert_int_equal(handle_of(100), kept);
        assert_int_equal(sg_remove_tree(AT_FDCWD, state_dir), 0);
        expect_never_again(1);
}

/* --- from each step on */

#define FIRST_JOB                                                                                  \
        "INSERT INTO jobs (origin, n, attempt, uid, gid, user, name, class, state, intent,"        \
        " foreground, hold, priority, retry, array_first, array_index, begin_usec,"                \
        " submitted_usec, started_usec, ended_usec, boot_id, pid, exit_code, signal,"              \
        " cpu_weight, cpu_quota_pm, cpus, cpus_max, pin, memory_high, memory_max, tasks_max,"      \
        " io_weight, time_limit_usec, cpu_usec, memory_peak_bytes, oom_kills, io_read_bytes,"      \
        " io_write_bytes) VALUES ('home', 1, 0, 1000, 1000, 'user', 'job', 'default', 0, 0, 0,"    \
        " 0, 0, 0, 0, 0, 0, 1, 0, 0, '', 0, -1, 0, 100, -1, 0, 0, 0, -1, -1, -1, 100, -1, -1,"     \
        " -1, -1, -1, -1)"

/* As the daemon left it that knew so many steps; its job is of the first one. */
static void make_after(unsigned steps)
{
        char sql[96];

        assert_int_equal(sg_remove_tree(AT_FDCWD, state_dir), 0);
        assert_int_equal(mkdir(state_dir, 0700), 0);
        for (unsigned i = 0; i < steps; i++) {
                exec_in(state_dir, "schedgov.db", sg_sql_migrations[i]);
                if (i == 0)
                        exec_in(state_dir, "schedgov.db", FIRST_JOB);
        }
        (void)snprintf(sql, sizeof(sql),
                       "PRAGMA user_version = %u; PRAGMA application_id = 1936158582", steps);
        exec_in(state_dir, "schedgov.db", sql);
}

static void expect_unlimited(const struct sg_limits *l)
{
        for (size_t i = 0; i < sg_n_limits; i++)
                if (sg_limit_of(l, &sg_limit_table[i]) != sg_limit_table[i].unset)
                        fail_msg("%s is %" PRIu64, sg_limit_table[i].option,
                                 sg_limit_of(l, &sg_limit_table[i]));
}

/* What the first released schema held is there after an upgrade, and new columns have defaults. */
static void test_steps(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s;
        uint64_t last;

        (void)state;
        for (unsigned steps = 1; steps < sg_sql_n_migrations; steps++) {
                make_after(steps);
                s = open_store();
                load(s, &a, &last);
                assert_int_equal(a.rows, 1);
                assert_int_equal(last, 1);
                assert_int_equal(a.job.state, SG_JOB_QUEUED);
                assert_int_equal(a.job.adopted, SG_ADOPTED_NOT);
                assert_null(a.job.unit);
                expect_unlimited(&a.job.limits);
                assert_true(a.job.step == SG_UNLIMITED);
                assert_int_equal(a.job.deadline_usec, 0);
                assert_int_equal(a.job.frozen, 0);
                assert_int_equal(a.job.limits.threads, SG_THREADS_FOLLOW);
                assert_int_equal(a.job.threads_given, 0);
                assert_int_equal(a.job.follows, 0);
                sg_store_close(s);
        }
        answer_reset(&a);
}

/* --- what goes wrong */

/* The one that comes next, as far as this daemon can know. */
static void test_newer(void **state)
{
        char sql[64], says[64];

        (void)state;
        make_old("");
        sg_store_close(open_store());
        (void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %u", sg_sql_n_migrations + 1);
        database_exec(sql);
        (void)snprintf(says, sizeof(says), "(schema %u, this one knows %u): install that version",
                       sg_sql_n_migrations + 1, sg_sql_n_migrations);
        expect_database_refused(-EPROTONOSUPPORT, says);
}

/* So many more that have ended, like job 5. */
#define HISTORY(n)                                                                                 \
        "CREATE TEMP TABLE more AS SELECT * FROM jobs WHERE n = 5;"                                \
        "UPDATE more SET token = NULL;"                                                            \
        "CREATE TEMP TABLE numbers (n);"                                                           \
        "CREATE TEMP TRIGGER one AFTER INSERT ON numbers BEGIN"                                    \
        " UPDATE more SET n = new.n; INSERT INTO jobs SELECT * FROM more;"                         \
        " INSERT INTO events (time_usec, origin, n, attempt, uid, state, reason)"                  \
        " VALUES (1, 'home', new.n, 1, 1000, new.n % 10, 'reason'); END;"                          \
        "WITH RECURSIVE each (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM each"                 \
        " LIMIT " #n ") INSERT INTO numbers SELECT n FROM each"

static size_t room(void)
{
        struct statvfs v;

        assert_int_equal(statvfs(root, &v), 0);
        return (size_t)(v.f_bavail * v.f_bsize);
}

/* It stays what it was, and takes no more room than before. */
static void test_full_disk(void **state)
{
        const size_t left = 256 << 10;
        char ballast[PATH_MAX];

        (void)state;
        make_old(HISTORY(1000));
        assert_int_equal(sg_path_join(ballast, sizeof(ballast), root, "ballast"), 0);
        put_ballast(ballast, room() - left);
        expect_refusal(-ENOSPC, "make room for twice its size");
        assert_true(room() > left - (64 << 10));
        expect_old();
        assert_int_equal(unlink(ballast), 0);
        sg_store_close(open_store());
        expect_new();
}

/* --- kill -9 */

/* Opens the store in a process group of its own, the writer included, and ends; killed when so much
 * time is over, if that is before. */
static void open_and_kill(uint64_t after_usec)
{
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0) {
                (void)setpgid(0, 0);
                sg_store_close(open_store());
                _exit(0);
        }
        (void)setpgid(pid, pid);
        /* The moment is meant to be any: nothing is waited for. */
        (void)usleep((useconds_t)after_usec);
        (void)kill(-pid, SIGKILL);
        while (waitpid(-pid, &status, 0) > 0)
                continue;
}

/* Whatever the moment, it is the one or the other, whole. */
static void test_kills(void **state)
{
        uint64_t took;
        unsigned n_old = 0;

        (void)state;
        assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
        make_old(HISTORY(3000));
        took = sg_now_monotonic_usec();
        sg_store_close(open_store());
        took = sg_now_monotonic_usec() - took;
        make_old(HISTORY(3000));
        for (uint64_t i = 0; i < KILLS; i++) {
                _cleanup_free_ char *version = NULL;

                open_and_kill(took * i / KILLS);
                version = ask("PRAGMA main.user_version");
                if (strcmp(version, "5") == 0) {
                        expect_old();
                        n_old++;
                } else {
                        expect_new();
                        make_old(HISTORY(3000));
                }
        }
        print_message("%d kills, %u before it was done\n", KILLS, n_old);
        assert_true(n_old > 0);
        sg_store_close(open_store());
        expect_new();
}

#ifdef SG_FAULTS
static void test_points(void **state)
{
        (void)state;
        make_old("");
        arm("store-upgrade-before-commit");
        expect_refusal(-EPIPE, "died");
        assert_false(exists("fault"));
        expect_old();
        arm("store-upgrade-after-commit");
        expect_refusal(-EPIPE, "died");
        assert_false(exists("fault"));
        expect_new();
        sg_store_close(open_store());
        expect_new();
}
#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define TEST_SMALL(f) cmocka_unit_test_setup_teardown(f, set_up_small_disk, tear_down_small_disk)
        static const struct CMUnitTest tests[] = {
                TEST(test_rows),    TEST(test_threads),  TEST(test_events),
                TEST(test_goes_on), TEST(test_plans),    TEST(test_handles),
                TEST(test_steps),   TEST(test_newer),    TEST_SMALL(test_full_disk),
                TEST(test_kills),   TEST(test_commands),
#ifdef SG_FAULTS
                TEST(test_points),
#endif
        };

        return cmocka_run_group_tests_name("store upgrades", tests, own_mounts, NULL);
}
