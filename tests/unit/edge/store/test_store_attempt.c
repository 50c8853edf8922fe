/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attempts of the store: starting, inspecting, voiding and finishing them on a
 * real directory. */

#include "proto/spec.h"
#include "tests/unit/edge/store/fixture.h"

/* --- attempts */

static void test_start_writes_the_spec(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record spec = {0}, launch = {0};
        _cleanup_free_ char *data = NULL;
        struct sg_store *s = open_store();
        struct sg_job job, with_output;
        struct sg_spec got = {0};
        char path[PATH_MAX];
        size_t size;

        (void)state;
        sg_record_put_u64(&spec, SG_SPEC_UID, 7);
        sg_record_put_u64(&spec, SG_SPEC_GID, 8);
        sg_record_put_str(&spec, SG_SPEC_ARG, "sleep");
        sg_record_put_str(&spec, SG_SPEC_OUTPUT, "%a.log");
        sg_record_put_str(&launch, SG_SPEC_ENV_FORCE, "SCHEDGOV_JOB_ID=5");
        make_job(&job, 5);
        job.array_first = 5;
        job.output = strdup("%a.log");
        assert_int_equal(submit_n(s, &job, 2, NULL, (char *)spec.data, spec.size), 0);
        sg_job_deinit(&job);
        make_starting(&with_output, 6, 1);
        with_output.output = strdup("1.log");
        assert_int_equal(start(s, &with_output, &launch), 0);
        assert_int_equal(start(s, &with_output, &launch), -EEXIST);
        expect_mode("jobs/6-home-1", 0700);
        expect_mode("jobs/6-home-1/spec", 0600);
        expect_mode("jobs/6-home-1/lock", 0600);
        expect_mode("jobs/6-home-1/exit.tmp", 0600);
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "jobs/6-home-1/spec"), 0);
        assert_int_equal(sg_read_file(AT_FDCWD, path, SG_SPEC_MAX, &data, &size), 0);
        assert_int_equal(sg_spec_decode(&got, data, size), 0);
        assert_int_equal(got.uid, 7);
        assert_string_equal(got.argv[0], "sleep");
        assert_string_equal(got.output, "1.log");
        assert_string_equal(got.env_force[0], "SCHEDGOV_JOB_ID=5");
        sg_spec_deinit(&got);
        make_starting(&job, 7, 1);
        assert_int_equal(start(s, &job, &launch), -ENOENT);
        assert_false(exists("jobs/7-home-1"));
        sg_store_close(s);
        sg_job_deinit(&with_output);
}

/* A shim as far as the store sees one: it holds the lock until the pipe closes. */
static pid_t fork_holder(const char *name, int *ret_pipe)
{
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        char path[PATH_MAX], c;
        int go[2], ready[2];
        pid_t pid;

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        assert_int_equal(pipe2(go, O_CLOEXEC), 0);
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                int fd = open(path, O_RDWR | O_CLOEXEC);

                (void)close(go[1]);
                if (fcntl(fd, F_SETLK, &lock) == 0 && write(ready[1], "x", 1) == 1)
                        (void)!read(go[0], &c, 1);
                _exit(0);
        }
        (void)close(go[0]);
        (void)close(ready[1]);
        assert_int_equal(read(ready[0], &c, 1), 1);
        (void)close(ready[0]);
        *ret_pipe = go[1];
        return pid;
}

static void put_exit(const char *name, bool whole)
{
        struct sg_exit e = {.exit_code = 3, .pid = 77};
        uint8_t buf[SG_EXIT_SIZE];
        char path[PATH_MAX];

        sg_exit_pack(&e, buf);
        buf[100] ^= whole ? 0 : 1;
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, buf, sizeof(buf), 0600), 0);
}

static int record(struct sg_store *s, const struct sg_job_key *key, int code)
{
        struct sg_exit e = {.exit_code = code, .pid = 78};
        struct answer a = {.calls = 0};

        sg_store_record(s, key, &e, on_done, &a);
        assert_int_equal(sg_store_flush(s), 0);
        assert_int_equal(a.calls, 1);
        return a.result;
}

/* What the user's shim says is written for it; what it says first counts. */
static void test_record(void **state)
{
        struct sg_store *s = open_store();
        struct sg_attempt_info info;
        struct sg_job job;

        (void)state;
        make_starting(&job, 1, 1);
        assert_int_equal(submit(s, 1), 0);
        assert_int_equal(record(s, &job.key, 3), -ENOENT);
        assert_int_equal(start(s, &job, NULL), 0);
        for (int code = 3; code < 6; code++) {
                assert_int_equal(record(s, &job.key, code), 0);
                assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), 0);
                assert_true(info.have_exit);
                assert_false(info.exit_unnamed);
                assert_int_equal(info.exit.exit_code, 3);
                assert_int_equal(info.exit.pid, 78);
        }
        sg_store_close(s);
}

static int link_in_state(const char *name, const char *other)
{
        char from[PATH_MAX], to[PATH_MAX];

        assert_int_equal(sg_path_join(from, sizeof(from), state_dir, name), 0);
        assert_int_equal(sg_path_join(to, sizeof(to), state_dir, other), 0);
        return link(from, to);
}

static void end_well(struct sg_store *s, struct sg_job *job)
{
        struct sg_attempt_info info;

        assert_int_equal(inspect(s, &job->key, SG_PUBLISH_RUN, &info), 0);
        assert_int_equal(record(s, &job->key, 0), 0);
        job->state = SG_JOB_EXITED;
        assert_int_equal(write_job(s, sg_store_finish, job), 0);
}

/* Its user may have the lock open, and locked, for as long as they like: the next job in the
 * directory has another one. */
static void test_lock_of_run_is_not_used_again(void **state)
{
        struct sg_store *s = open_store();
        struct sg_attempt_info info;
        struct sg_job job;
        pid_t pid;
        int hold;

        (void)state;
        make_starting(&job, 1, 1);
        job.foreground = 1;
        assert_int_equal(submit(s, 1), 0);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_int_equal(link_in_state("jobs/1-home-1/lock", "theirs"), 0);
        end_well(s, &job);
        assert_false(exists("jobs/1-home-1"));
        assert_true(exists("jobs/.spare-0"));
        pid = fork_holder("theirs", &hold);
        make_starting(&job, 2, 1);
        assert_int_equal(submit(s, 2), 0);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_false(exists("jobs/.spare-0"));
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), 0);
        assert_int_equal(info.shim, 0);
        assert_int_equal(info.fate, SG_ATTEMPT_NO_FATE);
        assert_false(info.have_exit);
        (void)close(hold);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        end_well(s, &job);
        sg_store_close(s);
}

static void test_inspect(void **state)
{
        struct sg_store *s = open_store();
        struct sg_attempt_info info;
        struct sg_job job;
        int hold;
        pid_t pid;

        (void)state;
        make_starting(&job, 1, 1);
        assert_int_equal(submit(s, 1), 0);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_VOID, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_NO_DIR);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_NO_FATE);
        assert_int_equal(info.shim, 0);
        assert_false(info.have_exit);

        pid = fork_holder("jobs/1-home-1/lock", &hold);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_RUN, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_RUN);
        assert_int_equal(info.shim, pid);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_VOID, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_RUN); /* first come, first served */
        (void)close(hold);
        assert_int_equal(waitpid(pid, NULL, 0), pid);

        put_exit("jobs/1-home-1/exit", false);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), 0);
        assert_false(info.have_exit);
        put_exit("jobs/1-home-1/exit", true);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(inspect(s, &job.key, SG_PUBLISH_NONE, &info), 0);
                assert_true(info.have_exit);
                assert_int_equal(info.exit.exit_code, 3);
                assert_int_equal(info.exit.pid, 77);
                assert_int_equal(info.shim, 0);
        }
        sg_store_close(s);
}

static void test_void(void **state)
{
        struct sg_store *s = open_store();
        struct sg_attempt_info info;
        struct sg_job job;
        char path[PATH_MAX];

        (void)state;
        make_starting(&job, 1, 1);
        assert_int_equal(submit(s, 1), 0);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_VOID, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_VOID);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_RUN, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_VOID);
        /* Without the file to link, nobody is told that something was published. */
        make_starting(&job, 1, 2);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "fate.run"), 0);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_RUN, &info), -ENOENT);
        sg_store_close(s);
}

static void test_finish(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;
        uint64_t last;

        (void)state;
        assert_int_equal(submit(s, 1), 0);
        make_starting(&job, 1, 1);
        assert_int_equal(start(s, &job, NULL), 0);
        job.state = SG_JOB_QUEUED; /* to be run again */
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        assert_false(exists("jobs/1-home-1"));
        make_starting(&job, 1, 2);
        assert_int_equal(start(s, &job, NULL), 0); /* its spec is still there */
        job.state = SG_JOB_KILLED;
        job.signal = 9;
        assert_int_equal(sg_job_set_reason(&job, "cancelled by root"), 0);
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        assert_false(exists("jobs/1-home-2"));
        load(s, &a, &last);
        assert_int_equal(a.rows, 0);
        assert_int_equal(last, 1);
        get(s, 1, &a);
        assert_int_equal(a.job.state, SG_JOB_KILLED);
        assert_int_equal(a.job.signal, 9);
        assert_int_equal(a.job.key.attempt, 2);
        assert_string_equal(a.job.reason, "cancelled by root");
        job.key.n = 2;
        assert_int_equal(write_job(s, sg_store_finish, &job), -ENOENT);
        sg_job_deinit(&job);
        sg_store_close(s);
        answer_reset(&a);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        static const struct CMUnitTest tests[] = {
                TEST(test_start_writes_the_spec),
                TEST(test_record),
                TEST(test_lock_of_run_is_not_used_again),
                TEST(test_inspect),
                TEST(test_void),
                TEST(test_finish),
        };

        return cmocka_run_group_tests_name("store-attempt", tests, NULL, NULL);
}
