/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The store at work (its attempts are in test_store_attempt.c), on a real database and a real
 * directory; its faults are in test_store_fault.
 */

#include "proto/spec.h"
#include "tests/unit/edge/store/fixture.h"
#include <inttypes.h>
#include <sqlite3.h>

/* --- what is kept */

static void test_layout(void **state)
{
        mode_t old = umask(0);
        struct sg_store *s = open_store();

        (void)state;
        (void)umask(old);
        assert_string_equal(sg_store_dir(s), state_dir);
        assert_null(sg_store_error(s));
        assert_int_equal(submit(s, 1), 0);
        expect_mode(".", geteuid() == 0 ? 0711 : 0700);
        expect_mode("jobs", 0700);
        expect_mode("logs", 0711);
        expect_mode("schedgov.db", 0600);
        expect_mode("schedgov.db-wal", 0600);
        expect_mode("fate.run", 0600);
        expect_mode("fate.void", 0600);
        sg_store_close(s);
        assert_false(exists("schedgov.db-wal")); /* an orderly end leaves one file */
}

static void expect_column(sqlite3 *db, const struct sg_job_field *f)
{
        bool text = f->type == SG_TYPE_CHARS || f->type == SG_TYPE_STR;
        sqlite3_stmt *stmt;

        assert_int_equal(sqlite3_prepare_v2(db,
                                            "SELECT type FROM pragma_table_info('jobs')"
                                            " WHERE name = ?1",
                                            -1, &stmt, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_bind_text(stmt, 1, f->column, -1, SQLITE_STATIC), SQLITE_OK);
        if (sqlite3_step(stmt) != SQLITE_ROW)
                fail_msg("no column %s", f->column);
        assert_string_equal(sqlite3_column_text(stmt, 0), text ? "TEXT" : "INTEGER");
        (void)sqlite3_finalize(stmt);
}

/* The schema has a column for each field: a new one needs a migration. */
static void test_schema_is_the_table(void **state)
{
        char path[PATH_MAX];
        sqlite3 *db;

        (void)state;
        sg_store_close(open_store());
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        for (size_t i = 0; i < sg_job_n_fields; i++)
                expect_column(db, &sg_job_fields[i]);
        (void)sqlite3_close(db);
}

/* Under another name the node goes on counting, also when history has forgotten the jobs before. */
static void test_last_of_all_origins(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;
        uint64_t last;

        (void)state;
        make_job(&job, 7);
        strcpy(job.key.origin, "away");
        assert_int_equal(submit_n(s, &job, 1, NULL, "", 0), 0);
        assert_int_equal(submit(s, 3), 0);
        load(s, &a, &last);
        assert_int_equal(last, 7);
        sg_store_set_retention(s, 0, SG_UNLIMITED, true);
        job.state = SG_JOB_EXITED;
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        sg_store_close(s);

        s = open_store();
        load(s, &a, &last);
        assert_int_equal(a.rows, 1);
        assert_int_equal(last, 7);
        sg_store_close(s);
        sg_job_deinit(&job);
        answer_reset(&a);
}

static void test_submit_and_load(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;
        uint64_t last = 99;

        (void)state;
        load(s, &a, &last);
        assert_int_equal(a.rows, 0);
        assert_int_equal(last, 0);
        make_job(&job, 1);
        job.after = strdup("5:ok");
        job.limits.memory_max = SG_UNLIMITED - 1;
        job.priority = -5;
        job.gpu = sg_gpu_request_new();
        job.gpu->max = 4;
        job.gpu->type = strdup("A100*");
        job.gpus = strdup("GPU-b,GPU-a");
        assert_int_equal(submit_n(s, &job, 1, NULL, "", 0), 0);
        assert_int_equal(submit(s, 3), 0);
        assert_int_equal(submit(s, 2), 0);
        assert_int_equal(submit(s, 2), -EEXIST);
        sg_store_close(s);

        s = open_store();
        load(s, &a, &last);
        assert_int_equal(a.rows, 3);
        assert_int_equal(last, 3);
        assert_int_equal(a.seen[0], 1);
        assert_int_equal(a.seen[1], 2);
        assert_int_equal(a.seen[2], 3);
        get(s, 1, &a);
        assert_string_equal(a.job.after, "5:ok");
        assert_null(a.job.reason);
        assert_true(a.job.limits.memory_max == SG_UNLIMITED - 1);
        assert_true(a.job.limits.memory_high == SG_UNLIMITED);
        assert_int_equal(a.job.priority, -5);
        assert_string_equal(a.job.gpus, "GPU-b,GPU-a");
        assert_non_null(a.job.gpu);
        assert_int_equal(a.job.gpu->min, 1);
        assert_int_equal(a.job.gpu->max, 4);
        assert_string_equal(a.job.gpu->type, "A100*");
        assert_null(a.job.gpu->mig);
        assert_true(a.job.gpu->used.usec == SG_UNLIMITED);
        get(s, 2, &a);
        assert_null(a.job.gpu);
        assert_null(a.job.gpus);
        assert_string_equal(a.job.key.origin, HOME);
        get(s, 4, &a);
        assert_int_equal(a.rows, 0);
        sg_store_close(s);
        sg_job_deinit(&job);
        answer_reset(&a);
}

static void test_token(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;

        (void)state;
        answer_reset(&a);
        make_job(&job, 1);
        assert_int_equal(submit_n(s, &job, 1, "token", "", 0), 0);
        job.key.n = 2;
        sg_store_submit(s, &job, NULL, "token", "", 0, on_done, &a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a.result, 1);
        assert_int_equal(a.job.key.n, 1);
        get(s, 2, &a);
        assert_int_equal(a.rows, 0);
        job.uid = 1001; /* somebody else's token is another one */
        assert_int_equal(submit_n(s, &job, 1, "token", "", 0), 0);
        job.key.n = 10;
        job.array_first = 10;
        assert_int_equal(submit_n(s, &job, 3, "array", "", 0), 0);
        assert_int_equal(submit_n(s, &job, 3, "array", "", 0), 1);
        sg_store_close(s);
        answer_reset(&a);
}

/* One request of a shared COMMIT is wrong: the others don't notice. */
static void test_batch(void **state)
{
        struct answer a[40];
        struct sg_store *s = open_store();
        struct sg_job job;
        struct answer row = {.calls = 0};

        (void)state;
        assert_int_equal(submit(s, 20), 0);
        /* Stopped, the writer finds all of them at once when it goes on. */
        assert_int_equal(kill(sg_store_pid(s), SIGSTOP), 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(a); i++) {
                a[i] = (struct answer){.calls = 0};
                make_job(&job, 1 + i);
                if (i % 10 == 3) {
                        job.key.n = 1000 + i;
                        sg_store_update(s, &job, on_done, &a[i]);
                } else {
                        sg_store_submit(s, &job, i == 5 ? "2-1" : NULL, NULL, "", 0, on_done,
                                        &a[i]);
                }
        }
        assert_true(sg_store_backlog(s) > 40 * 200);
        assert_int_equal(kill(sg_store_pid(s), SIGCONT), 0);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(sg_store_backlog(s), 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(a); i++) {
                int want = i % 10 == 3 ? -ENOENT : i == 19 ? -EEXIST : i == 5 ? -EINVAL : 0;

                assert_int_equal(a[i].calls, 1);
                assert_int_equal(a[i].result, want);
                get(s, 1 + i, &row);
                assert_int_equal(row.rows, want == 0 || i == 19);
        }
        assert_null(sg_store_error(s));
        sg_store_close(s);
        answer_reset(&row);
}

/* --- arrays and specs */

static bool file_contains(const char *name, const char *word)
{
        _cleanup_free_ char *data = NULL;
        char path[PATH_MAX];
        size_t size;

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        if (sg_read_file(AT_FDCWD, path, 1 << 26, &data, &size) == -ENOENT)
                return false;
        assert_non_null(data);
        return memmem(data, size, word, strlen(word)) != NULL;
}

static int end_attempt(struct sg_store *s, uint64_t n, uint64_t attempt)
{
        struct sg_job job;

        make_job(&job, n);
        job.key.attempt = attempt;
        job.state = SG_JOB_EXITED;
        job.exit_code = 0;
        job.ended_usec = 2000000 + n;
        return write_job(s, sg_store_finish, &job);
}

static int end_job(struct sg_store *s, uint64_t n)
{
        return end_attempt(s, n, 0);
}

/* The spec of an array is there until its last task has ended. */
static void test_array_and_erasure(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        struct sg_job job, last;

        (void)state;
        make_job(&job, 10);
        job.array_first = 10;
        job.array_index = 4;
        job.output = strdup("%n-%j-%a.log");
        sg_record_put_str(&spec, SG_SPEC_ENV, "SECRET=hunter2");
        assert_int_equal(submit_n(s, &job, 3, NULL, (char *)spec.data, spec.size), 0);
        get(s, 12, &a);
        assert_int_equal(a.job.array_index, 6);
        assert_int_equal(a.job.array_first, 10);
        assert_string_equal(a.job.output, "name10-12-6.log");
        assert_null(a.job.error);

        assert_int_equal(end_job(s, 10), 0);
        assert_int_equal(end_job(s, 12), 0);
        assert_int_equal(end_job(s, 12), 0); /* told twice, it counts once */
        make_starting(&last, 11, 1);
        assert_int_equal(start(s, &last, NULL), 0);
        assert_true(file_contains("jobs/11-home-1/spec", "SECRET=hunter2"));
        assert_int_equal(end_attempt(s, 11, 1), 0);
        assert_false(exists("jobs/11-home-1"));
        sg_store_close(s);
        assert_true(file_contains("schedgov.db", "name12"));
        assert_false(file_contains("schedgov.db", "hunter2"));
        sg_job_deinit(&job);
        answer_reset(&a);
}

static void test_large_spec(void **state)
{
        const size_t size = SG_SPEC_MAX;
        _cleanup_free_ char *spec = malloc(size), *too_large = calloc(1, 2 * size);
        struct sg_store *s = open_store();
        struct answer a = {.calls = 0};
        struct sg_job job;
        uint64_t last;

        (void)state;
        assert_non_null(spec);
        assert_non_null(too_large);
        memset(spec, 'x', size);
        make_job(&job, 1);
        assert_int_equal(submit_n(s, &job, 1, NULL, spec, size), 0);
        job.key.n = 2;
        assert_int_equal(submit_n(s, &job, 1, NULL, too_large, 2 * size), -E2BIG);
        assert_int_equal(submit(s, 3), 0);
        load(s, &a, &last);
        assert_int_equal(a.rows, 2);
        assert_int_equal(a.sizes[0], size);
        assert_int_equal(a.sizes[1], 0);
        sg_store_close(s);
        answer_reset(&a);
}

/* --- queries */

static void query(struct sg_store *s, const struct sg_store_query *q, struct answer *a)
{
        answer_reset(a);
        sg_store_list(s, q, on_row, on_done, a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a->calls, 1);
}

static void test_list(void **state)
{
        struct sg_store_query q = {.uid = SG_UNLIMITED, .finished_only = true, .limit = 4};
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();

        (void)state;
        for (uint64_t n = 1; n <= 12; n++)
                assert_int_equal(submit(s, n), 0);
        for (uint64_t n = 1; n <= 10; n++)
                assert_int_equal(end_job(s, 11 - n), 0); /* ends in another order */
        query(s, &q, &a);
        assert_int_equal(a.rows, 4);
        assert_int_equal(a.seen[0], 10);
        assert_int_equal(a.seen[3], 7);
        q.before = 7;
        query(s, &q, &a);
        assert_int_equal(a.rows, 4);
        assert_int_equal(a.seen[0], 6);
        assert_int_equal(a.seen[3], 3);
        q.before = 3;
        query(s, &q, &a);
        assert_int_equal(a.rows, 2);
        assert_int_equal(a.seen[1], 1);
        q = (struct sg_store_query){.uid = SG_UNLIMITED, .limit = 100};
        query(s, &q, &a);
        assert_int_equal(a.rows, 12);
        q.state = "queued";
        query(s, &q, &a);
        assert_int_equal(a.rows, 2);
        assert_int_equal(a.seen[0], 12);
        q.state = "sleeping";
        query(s, &q, &a);
        assert_int_equal(a.result, -EINVAL);
        q = (struct sg_store_query){.uid = SG_UNLIMITED, .limit = 100, .name = "name7"};
        query(s, &q, &a);
        assert_int_equal(a.rows, 1);
        assert_int_equal(a.seen[0], 7);
        q = (struct sg_store_query){.uid = SG_UNLIMITED, .limit = 100, .class = "none"};
        query(s, &q, &a);
        assert_int_equal(a.rows, 0);
        q = (struct sg_store_query){
                .uid = 1000, .limit = 100, .since_usec = 2000003, .until_usec = 2000005};
        query(s, &q, &a);
        assert_int_equal(a.rows, 3);
        assert_int_equal(a.seen[0], 5);
        assert_int_equal(a.seen[2], 3);
        q.uid = 1001;
        query(s, &q, &a);
        assert_int_equal(a.rows, 0);
        sg_store_close(s);
        answer_reset(&a);
}

static void on_event(const struct sg_event_row *row, void *userdata)
{
        struct answer *a = userdata;
        size_t used = strlen(a->text);

        a->calls += row == NULL;
        if (!row)
                return;
        a->seen[a->rows++ % SG_ELEMENTSOF(a->seen)] = row->seq;
        (void)snprintf(a->text + used, sizeof(a->text) - used, "%u:%s:%s ", (unsigned)row->n,
                       row->state, row->reason ? row->reason : "-");
}

static void events(struct sg_store *s, uint64_t after, uint64_t uid, uint64_t n, uint64_t limit,
                   struct answer *a)
{
        const struct sg_job_key key = {.origin = HOME, .n = n};

        answer_reset(a);
        sg_store_events(s, after, uid, &key, limit, on_event, a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a->calls, 1);
}

static void test_events(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job, away;

        (void)state;
        assert_int_equal(submit(s, 1), 0);
        assert_int_equal(submit(s, 2), 0);
        make_starting(&job, 1, 1);
        assert_int_equal(start(s, &job, NULL), 0);
        job.pid = 5; /* nothing that an event is made of */
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        job.hold = 1;
        assert_int_equal(write_job(s, sg_store_hold, &job), 0);
        assert_int_equal(write_job(s, sg_store_hold, &job), 0);
        assert_int_equal(sg_job_set_reason(&job, "why"), 0);
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        events(s, 0, SG_UNLIMITED, 0, 100, &a);
        assert_string_equal(a.text,
                            "1:queued:- 2:queued:- 1:starting:- 1:starting:- 1:starting:why ");
        events(s, 0, SG_UNLIMITED, 0, 2, &a);
        assert_string_equal(a.text, "1:starting:- 1:starting:why ");
        events(s, a.seen[0], SG_UNLIMITED, 0, 100, &a);
        assert_string_equal(a.text, "1:starting:why ");
        make_job(&away, 2);
        strcpy(away.key.origin, "away");
        assert_int_equal(submit_n(s, &away, 1, NULL, "", 0), 0);
        events(s, 0, SG_UNLIMITED, 2, 100, &a);
        assert_string_equal(a.text, "2:queued:- "); /* and not the one of another origin */
        events(s, 0, 4711, 0, 100, &a);
        assert_string_equal(a.text, "");
        sg_store_close(s);
        sg_job_deinit(&away);
        sg_job_deinit(&job);
        answer_reset(&a);
}

static void on_whole_event(const struct sg_event_row *row, void *userdata)
{
        struct answer *a = userdata;
        size_t used = strlen(a->text);

        a->calls += row == NULL;
        if (row)
                (void)snprintf(a->text + used, sizeof(a->text) - used,
                               "%s %u %" PRIi64 " %" PRIi64 " %s; ", row->state,
                               (unsigned)row->attempt, row->exit_code, row->signal,
                               row->who ? row->who : "-");
}

/* How the attempt has ended, and who asked: its user by name, root, another by number, or nobody.
 */
static void test_events_say_how(void **state)
{
        const struct sg_job_key all = {.n = 0};
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;

        (void)state;
        make_job(&job, 1);
        job.changed_by = (struct sg_who){true, 1000};
        assert_int_equal(submit_n(s, &job, 1, NULL, NULL, 0), 0);
        make_starting(&job, 1, 2);
        assert_int_equal(start(s, &job, NULL), 0);
        job.state = SG_JOB_SUSPENDED;
        job.changed_by = (struct sg_who){true, 0};
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        job.state = SG_JOB_QUEUED;
        job.exit_code = 3;
        job.changed_by = (struct sg_who){true, 1001};
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        job.state = SG_JOB_KILLED;
        job.exit_code = -1;
        job.signal = 9;
        job.changed_by = (struct sg_who){0};
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        answer_reset(&a);
        sg_store_events(s, 0, SG_UNLIMITED, &all, 100, on_whole_event, &a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a.calls, 1);
        assert_string_equal(a.text, "queued 0 -1 0 user; starting 2 -1 0 -; suspended 2 -1 0 root; "
                                    "queued 2 3 0 uid 1001; killed 2 -1 9 -; ");
        sg_store_close(s);
        sg_job_deinit(&job);
        answer_reset(&a);
}

static void test_retention(void **state)
{
        struct sg_store_query q = {.uid = SG_UNLIMITED, .finished_only = true, .limit = 1000};
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        uint64_t last;

        (void)state;
        for (uint64_t n = 1; n <= 30; n++)
                assert_int_equal(submit(s, n), 0);
        for (uint64_t n = 2; n <= 20; n++)
                assert_int_equal(end_job(s, n), 0);
        sg_store_set_retention(s, 5, SG_UNLIMITED, true);
        assert_int_equal(end_job(s, 30), 0);
        query(s, &q, &a);
        assert_int_equal(a.rows, 5); /* those that ended last */
        assert_int_equal(a.seen[0], 30);
        assert_int_equal(a.seen[1], 20);
        assert_int_equal(a.seen[4], 17);
        load(s, &a, &last);
        assert_int_equal(a.rows, 10);
        /* All are old: even the newest goes, and its number is never given again. */
        sg_store_set_retention(s, SG_UNLIMITED, SG_USEC_PER_SEC, true);
        for (uint64_t n = 21; n <= 29; n++)
                assert_int_equal(end_job(s, n), 0);
        query(s, &q, &a);
        assert_int_equal(a.rows, 0);
        sg_store_close(s);
        s = open_store();
        load(s, &a, &last);
        assert_int_equal(a.rows, 1);
        assert_int_equal(last, 30);
        sg_store_close(s);
        answer_reset(&a);
}

/* --- with the event loop */

struct loop {
        sd_event *event;
        struct sg_store *store;
        unsigned left, answered;
};

static void on_loop(int result, const struct sg_job *job, void *userdata)
{
        struct loop *l = userdata;
        struct sg_job next;

        (void)job;
        assert_int_equal(result, 0);
        if (++l->answered == 1000)
                (void)sd_event_exit(l->event, 0);
        else if (l->left > 0) {
                make_job(&next, l->left--);
                sg_store_submit(l->store, &next, NULL, NULL, "", 0, on_loop, l);
        }
}

/* Callbacks that make requests, and more output than the socket takes. */
static void test_event_loop(void **state)
{
        struct loop l = {.left = 900};
        struct sg_job job;
        char spec[4096];

        (void)state;
        memset(spec, 'x', sizeof(spec));
        l.store = open_store();
        assert_true(sd_event_new(&l.event) >= 0);
        assert_int_equal(sg_store_attach(l.store, l.event), 0);
        for (uint64_t n = 1001; n <= 1100; n++) {
                make_job(&job, n);
                sg_store_submit(l.store, &job, NULL, NULL, spec, sizeof(spec), on_loop, &l);
        }
        assert_int_equal(l.answered, 0);
        assert_int_equal(sd_event_loop(l.event), 0);
        assert_int_equal(l.answered, 1000);
        assert_int_equal(sg_store_backlog(l.store), 0);
        sg_store_close(l.store);
        sd_event_unref(l.event);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        static const struct CMUnitTest tests[] = {
                TEST(test_layout),
                TEST(test_schema_is_the_table),
                TEST(test_submit_and_load),
                TEST(test_last_of_all_origins),
                TEST(test_token),
                TEST(test_batch),
                TEST(test_array_and_erasure),
                TEST(test_large_spec),
                TEST(test_list),
                TEST(test_events),
                TEST(test_events_say_how),
                TEST(test_retention),
                TEST(test_event_loop),
        };

        return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
