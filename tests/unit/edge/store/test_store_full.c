/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A full disk: what frees room can be stored all the same, what needs more can't, and the room that
 * is kept for that is there again afterwards. */

#include "core/job/freeze.h"
#include "tests/unit/edge/store/test_store_room.h"

#define DISK (64U << 20)
#define SPEC (3U << 20)

static int set_up_full(void **state)
{
        return set_up_disk(state, "size=64m,mode=0700");
}

static uint64_t ballast(void)
{
        char path[PATH_MAX];
        struct stat st;

        in_state(path, "ballast");
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        return (uint64_t)st.st_blocks * 512;
}

static int submit_large(struct sg_store *s, uint64_t n)
{
        static char spec[SPEC];
        struct sg_job job;

        memset(spec, 'x', sizeof(spec));
        make_job(&job, n);
        job.hold = 1;
        return submit_n(s, &job, 1, NULL, spec, sizeof(spec));
}

/* As many as there is room for, the first being the one after this. */
static uint64_t submit_all_from(struct sg_store *s, uint64_t before)
{
        uint64_t n = 0;
        int r;

        do
                r = submit_large(s, before + n + 1);
        while (r == 0 && ++n < 100);
        assert_int_equal(r, -ENOSPC);
        assert_true(n > 5);
        return n;
}

static uint64_t submit_all(struct sg_store *s)
{
        return submit_all_from(s, 0);
}

/* All of them at once, as `cancel --all` does. */
static void cancel(struct sg_store *s, uint64_t first, uint64_t last)
{
        struct answer a = {.calls = 0};

        for (uint64_t n = first; n <= last; n++) {
                struct sg_job job;

                make_job(&job, n);
                job.state = SG_JOB_KILLED;
                a.result = -ECANCELED;
                sg_store_finish(s, &job, on_done, &a);
        }
        (void)sg_store_flush(s);
        assert_int_equal(a.calls, last - first + 1);
        assert_int_equal(a.result, 0);
}

static void expect_live(struct sg_store *s, uint64_t n)
{
        struct answer a = {.calls = 0};
        uint64_t last;

        load(s, &a, &last);
        assert_int_equal(a.rows, n);
        answer_reset(&a);
}

static void test_ends(void **state)
{
        struct sg_store *s = open_store();
        uint64_t n;

        (void)state;
        assert_int_equal(ballast(), DISK / 8);
        n = submit_all(s);
        fill_disk("others");
        assert_int_equal(submit(s, n + 1), -ENOSPC);
        cancel(s, 1, n - 3);
        expect_live(s, 3);
        fill_disk("others"); /* with what that has made free */
        assert_int_equal(submit(s, n + 1), -ENOSPC);
        assert_non_null(strstr(sg_store_error(s), "no space left"));
        assert_true(ballast() > DISK / 16);

        kill_writer(s);
        sg_store_close(s);
        s = open_store();
        fill_disk("others");
        cancel(s, n - 2, n);
        expect_live(s, 0);
        empty_disk("others");
        assert_int_equal(submit_large(s, n + 1), 0);
        assert_null(sg_store_error(s));
        assert_int_equal(ballast(), DISK / 8);
        sg_store_close(s);
}

/* Not one of them is told what isn't so. */
static void test_mixed(void **state)
{
        struct answer new = {.calls = 0}, end = {.calls = 0}, held = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;
        uint64_t n;

        (void)state;
        n = submit_all(s);
        fill_disk("others");
        assert_int_equal(kill(sg_store_pid(s), SIGSTOP), 0); /* in one batch */
        make_job(&job, n + 1);
        sg_store_submit(s, &job, NULL, NULL, "", 0, on_done, &new);
        make_job(&job, 1);
        job.state = SG_JOB_KILLED;
        sg_store_finish(s, &job, on_done, &end);
        make_job(&job, 2);
        sg_store_hold(s, &job, on_done, &held);
        assert_int_equal(kill(sg_store_pid(s), SIGCONT), 0);
        (void)sg_store_flush(s);
        assert_int_equal(new.result, -ENOSPC);
        assert_int_equal(end.result, 0);
        assert_int_equal(held.result, 0);
        expect_live(s, n - 1);
        sg_store_close(s);
        s = open_store();
        expect_live(s, n - 1);
        sg_store_close(s);
}

static void test_frozen(void **state)
{
        struct sg_store *s = open_store();
        struct answer a = {.calls = 0};
        struct sg_attempt_info info;
        struct sg_job job;

        (void)state;
        assert_int_equal(submit(s, 1), 0);
        make_starting(&job, 1, 1);
        assert_int_equal(start(s, &job, NULL), 0);
        fill_disk("others");
        sg_store_freeze(s, &job, SG_FREEZE_USER, true, on_done, &a);
        (void)sg_store_flush(s);
        assert_int_equal(a.result, 0);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), 0);
        assert_int_equal(info.frozen, SG_FREEZE_USER);
        assert_true(ballast() > DISK / 16);
        make_starting(&job, 1, 2);
        assert_int_equal(start(s, &job, NULL), -ENOSPC); /* what is new has to wait */
        sg_store_close(s);
}

/* Larger than anything that fits: the ballast isn't for it, and stays. */
static void test_too_large(void **state)
{
        struct sg_store *s = open_store();

        (void)state;
        fill_disk("others");
        for (int i = 0; i < 3; i++)
                assert_int_equal(submit_large(s, 1), -ENOSPC);
        assert_int_equal(ballast(), DISK / 8);
        sg_store_close(s);
}

/* What has ended gives way before there is no room for what is new. */
static void test_history(void **state)
{
        const uint64_t tasks = 200, rounds = 50;
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        char path[4000];
        struct sg_job job;

        (void)state;
        memset(path, 'x', sizeof(path));
        path[sizeof(path) - 1] = '\0';
        for (uint64_t first = 1; first < tasks * rounds; first += tasks) {
                make_job(&job, first);
                job.output = strdup(path);
                job.error = strdup(path);
                assert_int_equal(submit_n(s, &job, tasks, NULL, NULL, 0), 0);
                job.state = SG_JOB_KILLED;
                for (uint64_t i = 0; i < tasks; i++) {
                        job.ended_usec = job.key.n = first + i;
                        sg_store_finish(s, &job, NULL, NULL);
                }
                assert_int_equal(sg_store_flush(s), 0);
                sg_job_deinit(&job);
        }
        assert_null(sg_store_error(s));
        get(s, 1, &a);
        assert_int_equal(a.rows, 0);
        get(s, tasks * (rounds - 10), &a);
        assert_int_equal(a.rows, 1);
        sg_store_close(s);
        answer_reset(&a);
}

/* Room that has become free within the database is room. */
static void test_within(void **state)
{
        struct sg_store *s = open_store();
        uint64_t n;

        (void)state;
        n = submit_all(s);
        cancel(s, 1, n);
        assert_in_range(submit_all_from(s, n), n - 1, n + 1);
        sg_store_close(s);
}

/* A copy without its blocks, and one of another disk. */
static void test_former(void **state)
{
        char path[PATH_MAX];

        (void)state;
        sg_store_close(open_store());
        in_state(path, "ballast");
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(truncate(path, DISK / 8), 0);
        assert_int_equal(ballast(), 0);
        sg_store_close(open_store());
        assert_int_equal(ballast(), DISK / 8);
        assert_int_equal(truncate(path, DISK / 2), 0);
        sg_store_close(open_store());
        assert_int_equal(ballast(), DISK / 8);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up_full, tear_down_small_disk)
        static const struct CMUnitTest tests[] = {
                TEST(test_ends),   TEST(test_mixed),     TEST(test_frozen), TEST(test_history),
                TEST(test_within), TEST(test_too_large), TEST(test_former),
        };

        return cmocka_run_group_tests_name("store on a full disk", tests, own_mounts, NULL);
}
