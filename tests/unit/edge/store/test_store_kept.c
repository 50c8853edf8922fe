/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is kept of the commands of jobs that have ended: for how long, for whom it counts, and that
 * the environment isn't among it. */

#include "edge/store/kept.h"
#include "proto/spec.h"
#include "tests/unit/edge/store/fixture.h"
#include "tests/unit/edge/store/test_store_disk.h"

#define ALICE 1000
#define BOB 1001
#define ROW_BYTES 128 /* charged besides the command itself */

/* What has been told of users' bytes. */
static int64_t held[2];

static void on_kept(uint64_t uid, int64_t bytes, void *userdata)
{
        assert_ptr_equal(userdata, held);
        assert_true(uid == ALICE || uid == BOB);
        held[uid - ALICE] += bytes;
        assert_true(held[uid - ALICE] >= 0);
}

static bool contains(const char *word)
{
        _cleanup_free_ char *data = NULL;
        size_t size;

        data = database(&size);
        return memmem(data, size, word, strlen(word)) != NULL;
}

/* Loaded, as a daemon does it first. */
static struct sg_store *open_kept(void)
{
        struct sg_store *s = open_store();
        struct answer a = {.calls = 0};
        uint64_t last;

        held[0] = held[1] = 0;
        sg_store_on_kept(s, on_kept, held);
        load(s, &a, &last);
        answer_reset(&a);
        return s;
}

static void make_spec(struct sg_record *spec, const char *word)
{
        sg_record_put_u64(spec, SG_SPEC_UID, ALICE);
        sg_record_put_str(spec, SG_SPEC_ARG, "train");
        sg_record_put_str(spec, SG_SPEC_ARG, word);
        sg_record_put_str(spec, SG_SPEC_ENV, "SECRET=hunter2");
        sg_record_put_str(spec, SG_SPEC_WORKDIR, "/home/alice");
}

static void submit_tasks(struct sg_store *s, uint64_t n, uint64_t uid, uint64_t count,
                         const char *word)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        _cleanup_(sg_job_deinit) struct sg_job job;

        make_job(&job, n);
        job.uid = uid;
        job.command = strdup("train it");
        job.array_first = count > 1 ? n : 0;
        make_spec(&spec, word);
        assert_int_equal(submit_n(s, &job, count, NULL, (char *)spec.data, spec.size), 0);
}

static void end_job(struct sg_store *s, uint64_t n, uint64_t uid)
{
        _cleanup_(sg_job_deinit) struct sg_job job;

        make_job(&job, n);
        job.uid = uid;
        job.command = strdup("train it");
        job.state = SG_JOB_EXITED;
        job.ended_usec = 2000000 + n;
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
}

static void run_job(struct sg_store *s, uint64_t n, uint64_t uid, const char *word)
{
        submit_tasks(s, n, uid, 1, word);
        end_job(s, n, uid);
}

/* The second word of what is kept of a job, with what else there is; "" nothing. */
struct command {
        int result;
        unsigned calls;
        char word[256], workdir[64];
};

static void on_command(int result, const void *part, size_t size, void *userdata)
{
        struct command *c = userdata;
        struct sg_spec spec = {0};

        c->calls++;
        c->result = result;
        if (result < 0)
                return;
        assert_int_equal(sg_spec_decode(&spec, part, size), 0);
        assert_null(spec.env);
        assert_true(spec.uid == UINT32_MAX);
        assert_string_equal(spec.argv[0], "train");
        (void)snprintf(c->word, sizeof(c->word), "%s", spec.argv[1]);
        (void)snprintf(c->workdir, sizeof(c->workdir), "%s", spec.workdir);
        sg_spec_deinit(&spec);
}

static int ask_command(struct sg_store *s, uint64_t n, struct command *ret)
{
        const struct sg_job_key key = {.origin = HOME, .n = n};

        *ret = (struct command){.calls = 0};
        sg_store_command(s, &key, 1024, on_command, ret);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(ret->calls, 1);
        return ret->result;
}

static void expect_command(struct sg_store *s, uint64_t n, const char *word)
{
        struct answer a = {.calls = 0};
        struct command c;

        assert_int_equal(ask_command(s, n, &c), 0);
        assert_string_equal(c.word, word);
        assert_string_equal(c.workdir, "/home/alice");
        get(s, n, &a);
        assert_string_equal(a.job.command, "train it");
        answer_reset(&a);
}

/* Neither what it ran, nor what lists show of that. */
static void expect_nothing(struct sg_store *s, uint64_t n)
{
        struct answer a = {.calls = 0};
        struct command c;

        assert_int_equal(ask_command(s, n, &c), -ENODATA);
        get(s, n, &a);
        assert_int_equal(a.rows, 1);
        assert_null(a.job.command);
        answer_reset(&a);
}

static int forget(struct sg_store *s, uint64_t uid, uint64_t most)
{
        struct answer a = {.calls = 0};

        sg_store_forget_commands(s, uid, most, on_done, &a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a.calls, 1);
        return a.result;
}

static void test_kept(void **state)
{
        struct sg_store *s = open_kept();
        struct command c;

        (void)state;
        submit_tasks(s, 1, ALICE, 1, "fast");
        assert_int_equal(held[0], 0); /* it lives: charged otherwise */
        expect_command(s, 1, "fast");
        end_job(s, 1, ALICE);
        assert_in_range(held[0], ROW_BYTES + 20, ROW_BYTES + 60);
        expect_command(s, 1, "fast");
        assert_int_equal(ask_command(s, 2, &c), -ENOENT);
        sg_store_close(s);
        assert_true(contains("/home/alice"));
        assert_false(contains("hunter2"));
        s = open_kept();
        assert_in_range(held[0], ROW_BYTES + 20, ROW_BYTES + 60);
        expect_command(s, 1, "fast");
        end_job(s, 1, ALICE); /* told twice */
        expect_command(s, 1, "fast");
        assert_in_range(held[0], ROW_BYTES + 20, ROW_BYTES + 60);
        sg_store_close(s);
}

/* Tasks share it, so that it counts once, when the last of them has ended; and it stays for the
 * last of them that history knows. */
static void test_array(void **state)
{
        struct sg_store *s = open_kept();

        (void)state;
        submit_tasks(s, 1, ALICE, 3, "all");
        end_job(s, 3, ALICE);
        end_job(s, 1, ALICE);
        assert_int_equal(held[0], 0);
        expect_command(s, 1, "all");
        end_job(s, 2, ALICE);
        assert_in_range(held[0], ROW_BYTES + 20, ROW_BYTES + 60);
        sg_store_set_retention(s, 2, SG_UNLIMITED, true);
        run_job(s, 4, ALICE, "one");
        sg_store_set_retention(s, SG_UNLIMITED, SG_UNLIMITED, true);
        expect_command(s, 3, "all");
        assert_in_range(held[0], 2 * (ROW_BYTES + 20), 2 * (ROW_BYTES + 60));
        sg_store_set_retention(s, 0, SG_UNLIMITED, true);
        run_job(s, 5, ALICE, "last");
        assert_int_equal(held[0], 0);
        sg_store_close(s);
        assert_false(contains("/home/alice"));
}

static void test_not_kept(void **state)
{
        struct sg_store *s = open_kept();

        (void)state;
        submit_tasks(s, 1, ALICE, 2, "before");
        run_job(s, 3, ALICE, "kept");
        end_job(s, 1, ALICE);
        sg_store_set_retention(s, SG_UNLIMITED, SG_UNLIMITED, false);
        run_job(s, 4, ALICE, "gone");
        expect_nothing(s, 4);
        expect_command(s, 3, "kept"); /* until that is asked for */
        end_job(s, 2, ALICE);
        expect_nothing(s, 1);
        expect_nothing(s, 2);
        run_job(s, 5, BOB, "gone, too");
        assert_int_equal(forget(s, SG_UNLIMITED, 0), 0);
        expect_nothing(s, 3);
        assert_int_equal(held[0], 0);
        assert_int_equal(held[1], 0);
        sg_store_close(s);
        assert_false(contains("/home/alice"));
}

/* The oldest gives way, and nobody else's does. */
static void test_gives_way(void **state)
{
        struct sg_store *s = open_kept();
        int64_t each;

        (void)state;
        run_job(s, 1, ALICE, "1");
        each = held[0];
        run_job(s, 2, BOB, "2");
        run_job(s, 3, ALICE, "3");
        run_job(s, 4, ALICE, "4");
        assert_int_equal(held[0], 3 * each);
        assert_int_equal(forget(s, ALICE, (uint64_t)(3 * each)), 0);
        expect_command(s, 1, "1");
        assert_int_equal(forget(s, ALICE, (uint64_t)(3 * each - 1)), 0);
        assert_int_equal(held[0], 2 * each);
        expect_nothing(s, 1);
        expect_command(s, 3, "3");
        assert_int_equal(forget(s, ALICE, (uint64_t)each), 0);
        expect_nothing(s, 3);
        expect_command(s, 4, "4");
        expect_command(s, 2, "2");
        assert_int_equal(held[0], each);
        assert_int_equal(held[1], each);
        sg_store_close(s);
}

/* A step is bounded, and says that it wasn't the last. */
static void test_steps(void **state)
{
        struct sg_store *s = open_kept();
        unsigned steps = 1;

        (void)state;
        for (uint64_t n = 1; n <= 1100; n++)
                run_job(s, n, n % 2 ? ALICE : BOB, "x");
        while (forget(s, SG_UNLIMITED, 0) == 1)
                steps++;
        assert_in_range(steps, 3, 4);
        assert_int_equal(held[0], 0);
        assert_int_equal(held[1], 0);
        sg_store_close(s);
}

/* A specification that makes no sense, or has no command, as those of `run` by an older daemon. */
static void test_senseless(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0};
        struct sg_store *s = open_kept();
        struct sg_job job;

        (void)state;
        make_job(&job, 1);
        assert_int_equal(submit_n(s, &job, 1, NULL, "nonsense", 8), 0);
        end_job(s, 1, ALICE);
        expect_nothing(s, 1);
        sg_record_put_str(&spec, SG_SPEC_WORKDIR, "/home/alice");
        make_job(&job, 2);
        assert_int_equal(submit_n(s, &job, 1, NULL, (char *)spec.data, spec.size), 0);
        end_job(s, 2, ALICE);
        expect_nothing(s, 2);
        assert_int_equal(held[0], 0);
        sg_store_close(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_kept, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_array, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_not_kept, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_gives_way, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_steps, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_senseless, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
