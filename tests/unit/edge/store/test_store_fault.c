/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes wrong below the store: disks, databases, other daemons, its writer. */

#include "tests/unit/edge/store/test_store_disk.h"
#include <poll.h>

/* Fails while it is full, says so, and works again by itself;
 * what was acknowledged is all there. */
static void test_full_disk(void **state)
{
        struct answer a = {.calls = 0};
        char ballast[PATH_MAX], spec[50000];
        uint64_t n = 0, last;
        struct sg_store *s;
        struct sg_job job;
        int r;

        (void)state;
        memset(spec, 'x', sizeof(spec));
        assert_int_equal(sg_path_join(ballast, sizeof(ballast), root, "ballast"), 0);
        put_ballast(ballast, 1 << 20);
        s = open_store();
        do {
                make_job(&job, ++n);
                r = submit_n(s, &job, 1, NULL, spec, sizeof(spec));
        } while (r == 0 && n < 1000);
        assert_int_equal(r, -ENOSPC);
        assert_non_null(sg_store_error(s));
        assert_non_null(strstr(sg_store_error(s), "no space left"));
        get(s, 1, &a); /* reading goes on */
        assert_int_equal(a.rows, 1);

        assert_int_equal(unlink(ballast), 0);
        assert_int_equal(submit_n(s, &job, 1, NULL, spec, sizeof(spec)), 0);
        assert_null(sg_store_error(s));
        kill_writer(s);
        sg_store_close(s);
        s = open_store();
        load(s, &a, &last);
        assert_int_equal(a.rows, n);
        assert_int_equal(last, n);
        sg_store_close(s);
        answer_reset(&a);
}

/* The row is committed and there is no room for the directory: nothing half-made stays. */
static void test_no_room_for_the_attempt(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_attempt_info info;
        _cleanup_free_ char *launch = calloc(1, 4 << 20);
        struct sg_record huge = {0};
        struct sg_store *s;
        struct sg_job job;

        (void)state;
        assert_non_null(launch);
        sg_record_put(&huge, 200, launch, 4 << 20);
        s = open_store();
        assert_int_equal(submit(s, 1), 0);
        make_job(&job, 1);
        job.key.attempt = 1;
        job.state = SG_JOB_STARTING;
        assert_int_equal(start(s, &job, &huge), -ENOSPC);
        get(s, 1, &a);
        assert_int_equal(a.job.state, SG_JOB_STARTING);
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_VOID, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_NO_DIR);
        job.key.attempt = 2;
        assert_int_equal(start(s, &job, NULL), 0);
        sg_store_close(s);
        sg_record_deinit(&huge);
        answer_reset(&a);
}

static void test_full_from_the_start(void **state)
{
        char path[PATH_MAX];

        (void)state;
        assert_int_equal(mkdir(state_dir, 0700), 0);
        assert_int_equal(sg_path_join(path, sizeof(path), root, "ballast"), 0);
        put_ballast(path, 4 << 20);
        expect_refusal(-ENOSPC, "No space left");
        assert_int_equal(unlink(path), 0);
        sg_store_close(open_store());
}

static void test_read_only(void **state)
{
        (void)state;
        sg_store_close(open_store());
        assert_int_equal(mount(NULL, root, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
        expect_refusal(-EROFS, state_dir);
        assert_int_equal(mount(NULL, root, NULL, MS_REMOUNT, NULL), 0);
        sg_store_close(open_store());
}

/* --- the database */

static void test_damaged(void **state)
{
        _cleanup_free_ char *good = NULL, *bad = NULL;
        struct sg_store *s = open_store();
        size_t size;

        (void)state;
        for (uint64_t n = 1; n <= 200; n++)
                assert_int_equal(submit(s, n), 0);
        sg_store_close(s);
        good = database(&size);
        bad = malloc(size);
        assert_non_null(bad);

        memset(bad, 'z', size);
        database_put(bad, size);
        expect_database_refused(-EBADMSG, "damaged");
        database_put(good, size / 2 / 4096 * 4096);
        expect_database_refused(-EBADMSG, "damaged");
        memcpy(bad, good, 100);
        database_put(bad, size);
        expect_database_refused(-EBADMSG, "damaged");

        database_put(good, size);
        s = open_store();
        assert_int_equal(submit(s, 201), 0);
        sg_store_close(s);
}

/* All but the first pages, which hold the schema: it goes on with nothing, and says so. */
static void test_damaged_inside(void **state)
{
        _cleanup_free_ char *data = NULL;
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        uint64_t last;
        size_t size;

        (void)state;
        for (uint64_t n = 1; n <= 600; n++)
                assert_int_equal(submit(s, n), 0);
        sg_store_close(s);
        data = database(&size);
        assert_true(size > 20 * 4096);
        memset(data + 12 * 4096, 0xff, size - 12 * 4096);
        database_put(data, size);
        s = open_store();
        assert_non_null(strstr(sg_store_notice(s), "damaged"));
        assert_null(sg_store_error(s));
        load(s, &a, &last);
        assert_true(a.rows < 600);
        assert_int_equal(submit(s, 700), 0);
        sg_store_close(s);
        answer_reset(&a);
}

static void test_other_schema(void **state)
{
        (void)state;
        sg_store_close(open_store());
        database_exec("PRAGMA user_version = 99");
        expect_database_refused(-EPROTONOSUPPORT, "newer schedgov");
        database_exec("PRAGMA user_version = 1; PRAGMA application_id = 7");
        expect_database_refused(-EBADMSG, "not a database of schedgov");
}

/* --- who uses it */

/* Runs f in a process of its own, as another daemon would; true = it returned true. */
static bool elsewhere(bool (*f)(void))
{
        int status;
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0)
                _exit(f() ? 0 : 1);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        return status == 0;
}

static bool is_refused(void)
{
        uint64_t started = sg_now_monotonic_usec();
        struct sg_store *s = NULL;
        char *why = NULL, pid[32];
        int r = sg_store_open(&s, state_dir, &why);

        (void)snprintf(pid, sizeof(pid), "(pid %d)", (int)getppid());
        return r == -EBUSY && why && strstr(why, "another schedgovd") && strstr(why, pid) &&
               sg_now_monotonic_usec() - started < 8 * SG_USEC_PER_SEC; /* it would wait for 10 */
}

static void test_two_daemons(void **state)
{
        struct sg_store *s = open_store();

        (void)state;
        assert_true(elsewhere(is_refused));
        assert_int_equal(submit(s, 1), 0);
        sg_store_close(s);
        assert_false(elsewhere(is_refused));
}

/* A daemon that is killed while its writer still has work: the next one waits for it, and what the
 * writer had received is there. */
static void test_dying_writer(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s;
        int status, ends[2];
        pid_t daemon, writer, waker;
        uint64_t last;

        (void)state;
        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        daemon = fork();
        assert_true(daemon >= 0);
        if (daemon == 0) {
                struct sg_job job;

                s = open_store();
                writer = sg_store_pid(s);
                (void)kill(writer, SIGSTOP);
                make_job(&job, 1);
                sg_store_submit(s, &job, NULL, NULL, "", 0, NULL, NULL);
                (void)!write(ends[1], &writer, sizeof(writer));
                pause();
        }
        assert_int_equal(read(ends[0], &writer, sizeof(writer)), sizeof(writer));
        assert_int_equal(kill(daemon, SIGKILL), 0);
        assert_int_equal(waitpid(daemon, &status, 0), daemon);
        waker = fork();
        assert_true(waker >= 0);
        if (waker == 0) {
                (void)poll(NULL, 0, 200); /* the opening below is under way by then */
                _exit(kill(writer, SIGCONT) == 0 ? 0 : 1);
        }
        s = open_store();
        assert_int_equal(waitpid(waker, &status, 0), waker);
        assert_int_equal(status, 0);
        load(s, &a, &last);
        assert_int_equal(a.rows, 1);
        sg_store_close(s);
        (void)close(ends[0]);
        (void)close(ends[1]);
        answer_reset(&a);
}

static void test_writer_dies(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;

        (void)state;
        assert_int_equal(kill(sg_store_pid(s), SIGSTOP), 0);
        make_job(&job, 1);
        sg_store_submit(s, &job, NULL, NULL, "", 0, on_done, &a);
        kill_writer(s);
        assert_true(sg_store_flush(s) < 0);
        assert_int_equal(a.calls, 1);
        assert_int_equal(a.result, -EPIPE);
        assert_non_null(strstr(sg_store_error(s), "writer"));
        sg_store_update(s, &job, on_done, &a);
        assert_int_equal(a.calls, 1); /* never from within the call */
        assert_true(sg_store_flush(s) < 0);
        assert_int_equal(a.calls, 2);
        sg_store_close(s);
}

struct mourning {
        sd_event *event;
        unsigned deaths;
};

static void on_death(void *userdata)
{
        struct mourning *m = userdata;

        m->deaths++;
        (void)sd_event_exit(m->event, 0);
}

static void test_writer_dies_in_the_loop(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct mourning m = {0};
        struct sg_job job;

        (void)state;
        assert_true(sd_event_new(&m.event) >= 0);
        assert_int_equal(sg_store_attach(s, m.event), 0);
        sg_store_on_death(s, on_death, &m);
        assert_int_equal(kill(sg_store_pid(s), SIGSTOP), 0);
        make_job(&job, 1);
        sg_store_submit(s, &job, NULL, NULL, "", 0, on_done, &a);
        kill_writer(s);
        assert_int_equal(sd_event_loop(m.event), 0);
        assert_int_equal(m.deaths, 1);
        assert_int_equal(a.calls,
                         0); /* it may have been committed: nobody is told that it wasn't */
        assert_true(sg_store_flush(s) < 0);
        assert_int_equal(a.calls, 0);
        sg_store_close(s);
        assert_int_equal(a.calls, 1);
        sd_event_unref(m.event);
}

/* --- what is left over */

static void put_attempt(const char *name)
{
        char path[PATH_MAX], file[PATH_MAX];

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "jobs"), 0);
        assert_int_equal(sg_path_join(file, sizeof(file), path, name), 0);
        assert_int_equal(mkdir(file, 0700), 0);
        assert_int_equal(sg_path_join(path, sizeof(path), file, "lock"), 0);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, "", 0, 0600), 0);
}

static void lock_attempt(const char *name, int *ret_fd)
{
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        char path[PATH_MAX];

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        *ret_fd = open(path, O_RDWR | O_CLOEXEC);
        assert_int_equal(fcntl(*ret_fd, F_SETLK, &lock), 0);
}

static void test_leftovers(void **state)
{
        struct answer a = {.calls = 0};
        struct sg_store *s = open_store();
        struct sg_job job;
        uint64_t last;
        int fd;

        (void)state;
        assert_int_equal(submit(s, 1), 0);
        assert_int_equal(submit(s, 2), 0);
        make_job(&job, 2);
        job.key.attempt = 2;
        job.state = SG_JOB_STARTING;
        assert_int_equal(start(s, &job, NULL), 0);
        make_job(&job, 1);
        job.key.attempt = 1;
        job.state = SG_JOB_LOST;
        assert_int_equal(write_job(s, sg_store_finish, &job), 0);
        sg_store_close(s);
        put_attempt("1-home-1");  /* its end is committed */
        put_attempt("2-home-1");  /* superseded */
        put_attempt("7-home-1");  /* unknown */
        put_attempt("70-away-1"); /* unknown, and it runs */
        lock_attempt("jobs/70-away-1/lock", &fd);
        assert_int_equal(
                mkdir(strcat(strcpy((char[PATH_MAX]){0}, state_dir), "/jobs/lost+found"), 0700), 0);
        s = open_store();
        assert_false(exists("jobs/1-home-1"));
        assert_false(exists("jobs/2-home-1"));
        assert_true(exists("jobs/2-home-2"));
        assert_false(exists("jobs/7-home-1"));
        assert_true(exists("jobs/70-away-1"));
        assert_true(exists("jobs/lost+found"));
        load(s, &a, &last);
        assert_int_equal(last, 70); /* never met by a new job */
        sg_store_close(s);
        (void)close(fd);
        answer_reset(&a);
}

/* --- at the named points */

#ifdef SG_FAULTS
/* Does `state` to job 1 with the writer killed at the point, and opens anew. */
static struct sg_store *strike(struct sg_store *s, const char *point, uint64_t state)
{
        struct sg_job job;

        make_job(&job, 1);
        job.state = state;
        job.key.attempt = state == SG_JOB_QUEUED ? 0 : 1;
        arm(point);
        if (state == SG_JOB_QUEUED)
                assert_int_equal(submit(s, 1), -EPIPE);
        else if (state == SG_JOB_STARTING)
                assert_int_equal(start(s, &job, NULL), -EPIPE);
        else
                assert_int_equal(write_job(s, sg_store_finish, &job), -EPIPE);
        assert_false(exists("fault"));
        sg_store_close(s);
        return open_store();
}

static void expect_state(struct sg_store *s, int want, bool dir)
{
        struct answer a = {.calls = 0};

        get(s, 1, &a);
        assert_int_equal(a.rows > 0 ? (int)a.job.state : -1, want);
        assert_int_equal(exists("jobs/1-home-1"), dir);
        answer_reset(&a);
}

static void test_points(void **state)
{
        struct sg_store *s = open_store();

        (void)state;
        s = strike(s, "store-submit-before-commit", SG_JOB_QUEUED);
        expect_state(s, -1, false);
        s = strike(s, "store-submit-after-commit", SG_JOB_QUEUED);
        expect_state(s, SG_JOB_QUEUED, false);
        s = strike(s, "store-start-after-commit", SG_JOB_STARTING);
        expect_state(s, SG_JOB_STARTING, false);
        s = strike(s, "store-start-after-dir", SG_JOB_STARTING);
        expect_state(s, SG_JOB_STARTING, true);
        s = strike(s, "store-finish-before-commit", SG_JOB_EXITED);
        expect_state(s, SG_JOB_STARTING, true);
        s = strike(s, "store-finish-after-commit", SG_JOB_EXITED);
        expect_state(s, SG_JOB_EXITED, false); /* swept */
        sg_store_close(s);
}
#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define TEST_SMALL(f) cmocka_unit_test_setup_teardown(f, set_up_small_disk, tear_down_small_disk)
        static const struct CMUnitTest tests[] = {
                TEST_SMALL(test_full_disk),
                TEST_SMALL(test_no_room_for_the_attempt),
                TEST_SMALL(test_full_from_the_start),
                TEST_SMALL(test_read_only),
                TEST(test_damaged),
                TEST(test_damaged_inside),
                TEST(test_other_schema),
                TEST(test_two_daemons),
                TEST(test_dying_writer),
                TEST(test_writer_dies),
                TEST(test_writer_dies_in_the_loop),
                TEST(test_leftovers),
#ifdef SG_FAULTS
                TEST(test_points),
#endif
        };

        return cmocka_run_group_tests_name("store faults", tests, own_mounts, NULL);
}
