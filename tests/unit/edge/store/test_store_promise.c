/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What somebody was promised, that a job is held or frozen: written by who asks for it, and by no
 * other request. */

#include "core/job/freeze.h"
#include "tests/unit/edge/store/fixture.h"
#include "tests/unit/edge/store/test_store_room.h"

static void expect_hold(struct sg_store *s, uint64_t hold)
{
        struct answer a = {.calls = 0};

        get(s, 1, &a);
        assert_int_equal(a.job.hold, hold);
        answer_reset(&a);
}

static void test_hold(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;

        (void)state;
        assert_int_equal(submit(s, 1), 0);
        make_job(&job, 1);
        job.hold = 1;
        job.priority = 7;
        assert_int_equal(write_job(s, sg_store_hold, &job), 0);
        expect_hold(s, 1);
        get(s, 1, &a);
        assert_int_equal(a.job.priority, 0);

        /* one that doesn't know of it yet */
        job.hold = 0;
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        expect_hold(s, 1);
        assert_int_equal(write_job(s, sg_store_hold, &job), 0);
        job.hold = 1; /* and one that thought that it was to be */
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        expect_hold(s, 0);
        job.key.n = 2;
        assert_int_equal(write_job(s, sg_store_hold, &job), -ENOENT);
        sg_store_close(s);
        answer_reset(&a);
}

static int freeze(struct sg_store *s, const struct sg_job *job, uint64_t reasons, bool on)
{
        struct answer a = {.calls = 0};

        sg_store_freeze(s, job, reasons, on, on_done, &a);
        (void)sg_store_flush(s);
        assert_int_equal(a.calls, 1);
        return a.result;
}

static uint64_t frozen(struct sg_store *s, const struct sg_job *job)
{
        struct sg_attempt_info info;

        assert_int_equal(inspect(s, &job->key, SG_PUBLISH_NONE, &info), 0);
        return info.frozen;
}

static struct sg_store *open_with(struct sg_job *job, uint64_t attempt)
{
        struct sg_store *s = open_store();

        if (attempt == 1)
                assert_int_equal(submit(s, 1), 0);
        make_starting(job, 1, attempt);
        assert_int_equal(start(s, job, NULL), 0);
        return s;
}

static void test_attempt(void **state)
{
        struct sg_job job;
        struct sg_store *s = open_with(&job, 1);

        (void)state;
        assert_int_equal(frozen(s, &job), 0);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), 0);
        assert_int_equal(freeze(s, &job, SG_FREEZE_MEMORY, true), 0);
        assert_int_equal(frozen(s, &job), SG_FREEZE_USER | SG_FREEZE_MEMORY);
        expect_mode("jobs/1-home-1/frozen", 0600);
        sg_store_close(s);
        s = open_store();
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, false), 0);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, false), 0);
        assert_int_equal(frozen(s, &job), SG_FREEZE_MEMORY);
        assert_int_equal(freeze(s, &job, SG_FREEZE_ALL, false), 0);
        assert_int_equal(frozen(s, &job), 0);
        assert_false(exists("jobs/1-home-1/frozen"));
        job.key.attempt = 2;
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), -ENOENT);
        sg_store_close(s);
}

static void put(const char *name, const char *text)
{
        char path[PATH_MAX];
        FILE *f;

        in_state(path, name);
        f = fopen(path, "w");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

/* Also in a directory that another attempt has used before: its shim has left a record. */
static void test_next_attempt(void **state)
{
        struct sg_job job;
        struct sg_store *s = open_with(&job, 1);
        char from[PATH_MAX], to[PATH_MAX];
        struct sg_attempt_info info;

        (void)state;
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_RUN, &info), 0);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), 0);
        in_state(from, "jobs/1-home-1/exit.tmp");
        in_state(to, "jobs/1-home-1/exit");
        assert_int_equal(rename(from, to), 0);
        job.state = SG_JOB_QUEUED;
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        assert_true(exists("jobs/.spare-0"));
        make_starting(&job, 1, 2);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_false(exists("jobs/.spare-0"));
        assert_int_equal(frozen(s, &job), 0);
        sg_store_close(s);
}

static void test_unreadable(void **state)
{
        struct sg_job job;
        struct sg_store *s = open_with(&job, 1);
        struct sg_attempt_info info;

        (void)state;
        put("jobs/1-home-1/frozen", "whim\n");
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), -EBADMSG);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), -EBADMSG);
        sg_store_close(s);
}

static void expect_row(struct sg_store *s, uint64_t reasons)
{
        struct answer a = {.calls = 0};

        get(s, 1, &a);
        assert_int_equal(a.job.frozen, reasons);
        answer_reset(&a);
}

static void test_adopted(void **state)
{
        struct sg_store *s = open_store();
        struct sg_job job;

        (void)state;
        make_job(&job, 1);
        job.state = SG_JOB_RUNNING;
        job.adopted = SG_ADOPTED_GOVERNED;
        assert_int_equal(submit_n(s, &job, 1, NULL, NULL, 0), 0);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), 0);
        assert_int_equal(freeze(s, &job, SG_FREEZE_GPU, true), 0);
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        expect_row(s, SG_FREEZE_USER | SG_FREEZE_GPU);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, false), 0);
        expect_row(s, SG_FREEZE_GPU);
        job.state = SG_JOB_EXITED;
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        expect_row(s, 0);
        job.key.n = 2;
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), -ENOENT);
        sg_store_close(s);
}

/* What can't be stored isn't there, not in part either. */
static void test_full_disk(void **state)
{
        struct sg_job job;
        struct sg_store *s = open_with(&job, 1);

        (void)state;
        fill_disk_and_ballast("others");
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), -ENOSPC);
        assert_int_equal(frozen(s, &job), 0);
        assert_false(exists("jobs/1-home-1/frozen"));
        empty_disk("others");
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, true), 0);
        fill_disk_and_ballast("others");
        assert_int_equal(freeze(s, &job, SG_FREEZE_MEMORY, true), -ENOSPC);
        assert_int_equal(frozen(s, &job), SG_FREEZE_USER);
        assert_int_equal(freeze(s, &job, SG_FREEZE_USER, false), 0);
        assert_int_equal(frozen(s, &job), 0);
        sg_store_close(s);
}

#ifdef SG_FAULTS
static void test_points(void **state)
{
        static const char *const points[] = {"store-freeze-before-write",
                                             "store-freeze-after-write"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(points); i++) {
                struct sg_job job;
                struct sg_store *s = open_with(&job, i + 1);

                arm(points[i]);
                assert_int_not_equal(freeze(s, &job, SG_FREEZE_USER, true), 0);
                sg_store_close(s);
                s = open_store();
                assert_int_equal(frozen(s, &job), i == 0 ? 0 : SG_FREEZE_USER);
                sg_store_close(s);
        }
}
#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define TEST_SMALL(f) cmocka_unit_test_setup_teardown(f, set_up_small_disk, tear_down_small_disk)
        static const struct CMUnitTest tests[] = {
                TEST(test_hold),       TEST(test_attempt), TEST(test_next_attempt),
                TEST(test_unreadable), TEST(test_adopted), TEST_SMALL(test_full_disk),
#ifdef SG_FAULTS
                TEST(test_points),
#endif
        };

        return cmocka_run_group_tests_name("store promises", tests, own_mounts, NULL);
}
