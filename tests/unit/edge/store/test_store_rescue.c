/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A damaged database: each of its pages in turn, and rows that make no sense. Whatever it is, a
 * start (at the latest the one after it was met) has all jobs that can be read, and a report has
 * the others. */

#include "proto/spec.h"
#include "tests/unit/edge/store/test_store_disk.h"
#include <dirent.h>

#define JOBS 150U
#define PAGE 4096U

static int set_up_fast_disk(void **state)
{
        return set_up_disk(state, "size=64m,mode=0700");
}

/* What job n is to run; a few of them have more than fits into a page. */
static int submit_real(struct sg_store *s, uint64_t n)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        char text[10000];
        struct sg_job job;

        make_job(&job, n);
        sg_record_put_u64(&spec, SG_SPEC_UID, 1000);
        (void)snprintf(text, sizeof(text), "argument of %u", (unsigned)n);
        sg_record_put_str(&spec, SG_SPEC_ARG, text);
        memset(text, 'x', sizeof(text));
        text[n % 10 == 0 ? sizeof(text) - 1 : 100] = '\0';
        sg_record_put_str(&spec, SG_SPEC_ENV, text);
        return submit_n(s, &job, 1, NULL, (char *)spec.data, spec.size);
}

static bool has_ended(uint64_t n)
{
        return n % 3 == 0;
}

static int end(struct sg_store *s, uint64_t n)
{
        struct sg_job job;

        make_job(&job, n);
        job.state = SG_JOB_KILLED;
        return write_job(s, sg_store_finish, &job);
}

/* The file, with nothing left in a log. */
static char *make_database(size_t *ret_size)
{
        struct sg_store *s = open_store();

        for (uint64_t n = 1; n <= JOBS; n++)
                assert_int_equal(submit_real(s, n), 0);
        for (uint64_t n = 1; n <= JOBS; n++)
                if (has_ended(n))
                        assert_int_equal(end(s, n), 0);
        sg_store_close(s);
        return database(ret_size);
}

/* --- what is left */

struct found {
        bool jobs[JOBS + 1];
};

static void on_found(int result, const struct sg_job *job, void *userdata)
{
        struct found *f = userdata;

        assert_int_equal(result, 0);
        if (job && job->key.n <= JOBS)
                f->jobs[job->key.n] = true;
}

struct listing {
        struct found *found;
        int result;
};

static void on_listed(int result, const struct sg_job *job, void *userdata)
{
        struct listing *l = userdata;

        on_found(result, job, l->found);
}

static void on_listing_done(int result, const struct sg_job *job, void *userdata)
{
        (void)job;
        ((struct listing *)userdata)->result = result;
}

/* All that a daemon does with a database, on all of it: 0, or the first failure. */
static int use_all(struct sg_store *s, struct found *f, uint64_t new)
{
        struct sg_store_query q = {.uid = SG_UNLIMITED, .limit = 1000};
        struct listing l = {.found = f};
        struct sg_job job;
        uint64_t last;
        int r;

        *f = (struct found){0};
        r = sg_store_load(s, &last, on_found, f);
        if (r >= 0) {
                assert_true(last >= JOBS); /* numbers are never given twice */
                sg_store_list(s, &q, on_listed, on_listing_done, &l);
                (void)sg_store_flush(s);
                r = l.result;
        }
        if (r >= 0)
                r = submit_real(s, new);
        if (r >= 0)
                r = submit_real(s, new + 10);
        make_starting(&job, new, 1);
        if (r >= 0)
                r = start(s, &job, NULL);
        if (r >= 0)
                r = end(s, new);
        for (uint64_t n = 1; r >= 0 && n <= JOBS; n += 7) {
                make_job(&job, n);
                job.priority = (int64_t) new;
                job.state = has_ended(n) ? SG_JOB_KILLED : SG_JOB_QUEUED;
                if (f->jobs[n])
                        r = write_job(s, sg_store_update, &job);
        }
        return r;
}

/* All reports, one behind the other. */
static char *reports(void)
{
        char dir[PATH_MAX], path[PATH_MAX], *all = calloc(1, 1);
        DIR *d;

        assert_non_null(all);
        assert_int_equal(sg_path_join(dir, sizeof(dir), state_dir, "quarantine"), 0);
        d = opendir(dir);
        if (!d)
                return all;
        for (struct dirent *e; (e = readdir(d));) {
                _cleanup_free_ char *text = NULL, *before = all;
                size_t size;

                if (!strstr(e->d_name, ".txt"))
                        all = strdup(before);
                else {
                        assert_int_equal(sg_path_join(path, sizeof(path), dir, e->d_name), 0);
                        assert_int_equal(sg_read_file(AT_FDCWD, path, 1 << 26, &text, &size), 0);
                        assert_true(asprintf(&all, "%s%s", before, text) >= 0);
                }
                assert_non_null(all);
        }
        (void)closedir(d);
        return all;
}

static bool is_reported(const char *reports, uint64_t n)
{
        char line[64];

        (void)snprintf(line, sizeof(line), "job %u@" HOME ":", (unsigned)n);
        return strstr(reports, line) != NULL;
}

static void expect_sound(void)
{
        char path[PATH_MAX];
        sqlite3_stmt *stmt;
        sqlite3 *db;

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
        (void)sqlite3_finalize(stmt);
        (void)sqlite3_close(db);
}

static void remove_state(const char *name)
{
        char path[PATH_MAX];

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        assert_int_equal(sg_remove_tree(AT_FDCWD, path), 0);
}

/* --- pages */

/* Whether it could be opened at all: what the schema is on has to be read. */
static bool survives(const char *data, size_t size)
{
        struct found before, after;
        _cleanup_free_ char *why = NULL, *lost = NULL;
        struct sg_store *s = NULL;
        bool rescued;

        remove_state("quarantine");
        remove_state("jobs");
        database_put(data, size);
        if (sg_store_open(&s, state_dir, &why) < 0) {
                assert_non_null(strstr(why, "damaged"));
                return false;
        }
        rescued = sg_store_notice(s) != NULL;
        (void)use_all(s, &before, 1000); /* where damage is met at the latest */
        sg_store_close(s);

        s = open_store();
        rescued = rescued || sg_store_notice(s);
        assert_int_equal(use_all(s, &after, 2000), 0);
        sg_store_close(s);
        lost = reports();
        for (uint64_t n = 1; n <= JOBS; n++)
                if (!after.jobs[n] && !is_reported(lost, n))
                        fail_msg("job %u is neither there nor set aside:\n%s", (unsigned)n, lost);
        if (rescued)
                expect_sound();
        return true;
}

static void test_each_page(void **state)
{
        static const unsigned char patterns[] = {0xa5, 0x00, 0xff};
        _cleanup_free_ char *good = NULL, *bad = NULL;
        size_t size, survived = 0, pages;

        (void)state;
        good = make_database(&size);
        bad = malloc(size);
        assert_non_null(bad);
        pages = size / PAGE;
        assert_true(pages > 40);
        for (size_t page = 1; page < pages; page++) {
                memcpy(bad, good, size);
                memset(bad + page * PAGE, patterns[page % SG_ELEMENTSOF(patterns)], PAGE);
                survived += survives(bad, size);
        }
        /* The schema takes a few. */
        assert_true(survived + 6 > pages);
}

/* What is between them is found as well. */
static void test_two_pages(void **state)
{
        _cleanup_free_ char *good = NULL, *bad = NULL;
        size_t size;

        (void)state;
        good = make_database(&size);
        bad = malloc(size);
        assert_non_null(bad);
        for (size_t page = 12; page + 9 < size / PAGE; page += 5) {
                memcpy(bad, good, size);
                memset(bad + page * PAGE, 0xa5, PAGE);
                memset(bad + (page + 9) * PAGE, 0xa5, PAGE);
                assert_true(survives(bad, size));
        }
}

/* --- rows */

static void expect_rescued(const char *word, const char *in_report)
{
        _cleanup_free_ char *lost = NULL;
        struct sg_store *s = open_store();
        const char *notice = sg_store_notice(s);

        assert_non_null(notice);
        if (!strstr(notice, word))
                print_error("\"%s\" doesn't say \"%s\"\n", notice, word);
        assert_non_null(strstr(notice, word));
        assert_non_null(strstr(notice, "schedgov.db was damaged"));
        assert_null(strchr(notice, '\n'));
        lost = reports();
        if (!strstr(lost, in_report))
                print_error("\"%s\" isn't in:\n%s", in_report, lost);
        assert_non_null(strstr(lost, in_report));
        sg_store_close(s);
        s = open_store();
        assert_null(sg_store_notice(s));
        sg_store_close(s);
        expect_sound();
        expect_mode("quarantine", 0700);
        expect_mode("schedgov.db", 0600);
}

static void expect_jobs(uint64_t n)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        uint64_t last;

        load(s, &a, &last);
        assert_int_equal(a.rows, n);
        assert_int_equal(last, 10);
        sg_store_close(s);
        answer_reset(&a);
}

static void test_rows(void **state)
{
        struct sg_store *s = open_store();

        (void)state;
        for (uint64_t n = 1; n <= 10; n++)
                assert_int_equal(submit_real(s, n), 0);
        sg_store_close(s);
        database_exec("UPDATE jobs SET state = 7 WHERE n = 5");
        expect_rescued("job 5 can't be read and is set aside", "name=name5");
        expect_jobs(9);
        database_exec("UPDATE specs SET body = x'0102' WHERE id ="
                      " (SELECT spec FROM jobs WHERE n = 10)");
        s = open_store(); /* nobody has looked at it yet */
        assert_null(sg_store_notice(s));
        sg_store_close(s);
        database_exec("UPDATE jobs SET uid = 'x', origin = '' WHERE n IN (2, 3)");
        expect_rescued("jobs 2, 3, 10 can't be read and are set aside",
                       "job 10@" HOME ": what it is to run can't be read");
        expect_jobs(6);
}

/* --- while it is in use */

/* A call says so, and so does sg_store_error(); the next start mends it. */
static void test_later(void **state)
{
        struct sg_store_query q = {.uid = SG_UNLIMITED, .finished_only = true, .limit = 10000};
        struct found found = {0};
        struct listing l = {.found = &found};
        struct sg_store *s = open_store();
        char path[PATH_MAX], page[PAGE];
        off_t size;
        int fd;

        (void)state;
        for (uint64_t n = 1; n <= 16000; n++) { /* more than its writer has in memory */
                struct sg_job job;

                make_job(&job, n);
                sg_store_submit(s, &job, NULL, NULL, NULL, 0, NULL, NULL);
                job.state = SG_JOB_KILLED;
                if (n > 10)
                        sg_store_finish(s, &job, NULL, NULL);
        }
        assert_int_equal(sg_store_flush(s), 0);
        sg_store_close(s);
        s = open_store();
        assert_null(sg_store_notice(s));
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        size = lseek(fd, 0, SEEK_END);
        assert_true(size > 3 << 19);
        memset(page, 0xff, sizeof(page));
        for (off_t at = 12 * PAGE; at < size; at += PAGE)
                assert_int_equal(pwrite(fd, page, sizeof(page), at), sizeof(page));
        (void)close(fd);

        sg_store_list(s, &q, on_listed, on_listing_done, &l);
        (void)sg_store_flush(s);
        assert_int_equal(l.result, -EBADMSG);
        assert_true(end(s, 2000) < 0);
        assert_non_null(sg_store_error(s));
        assert_non_null(strstr(sg_store_error(s), "damaged"));
        assert_non_null(strstr(sg_store_error(s), "restart"));
        sg_store_close(s);

        s = open_store();
        assert_non_null(sg_store_notice(s));
        assert_null(sg_store_error(s));
        assert_int_equal(submit_real(s, 5000), 0);
        sg_store_close(s);
        expect_sound();
}

#ifdef SG_FAULTS
/* Killed at it, it is done by the next one. */
static void test_points(void **state)
{
        static const char *const points[] = {"store-rescue-before-rename",
                                             "store-rescue-after-rename"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(points); i++) {
                _cleanup_free_ char *lost = NULL, *why = NULL;
                struct sg_store *s = open_store();

                for (uint64_t n = 1; n <= 10; n++)
                        assert_int_equal(submit_real(s, n), 0);
                sg_store_close(s);
                database_exec("UPDATE jobs SET state = 7 WHERE n = 5");
                arm(points[i]);
                assert_true(sg_store_open(&s, state_dir, &why) < 0);
                s = open_store();
                assert_true((sg_store_notice(s) != NULL) == (i == 0));
                sg_store_close(s);
                expect_jobs(9);
                expect_sound();
                assert_false(exists("schedgov.db.rescue"));
                lost = reports();
                assert_true(is_reported(lost, 5));
                assert_int_equal(sg_remove_tree(AT_FDCWD, state_dir), 0);
        }
}
#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_fast_disk, tear_down_small_disk)
        static const struct CMUnitTest tests[] = {
                TEST(test_each_page), TEST(test_two_pages), TEST(test_rows), TEST(test_later),
#ifdef SG_FAULTS
                TEST(test_points),
#endif
        };

        return cmocka_run_group_tests_name("store rescue", tests, own_mounts, NULL);
}
