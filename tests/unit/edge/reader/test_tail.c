/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Following files that grow: over rotation as the shim does it, truncation, and absence. */

#include "base/file.h"
#include "edge/reader/child/tail.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The keeper of the managed log itself. */
#include "daemon/shim/joblog.c" // NOLINT(bugprone-suspicious-include)

const char *sg_process_strerror(int error)
{
        return strerror(error);
}

static char root[PATH_MAX - 64];
static char log_path[PATH_MAX];
static struct sg_tail tail;
static char got[4U << 20];
static size_t got_size, gaps;

static int set_up(void **state)
{
        const char *tmp = getenv("TMPDIR");

        (void)state;
        (void)snprintf(root, sizeof(root), "%s/sg-test-tail.XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(root))
                return -1;
        got_size = gaps = 0;
        return sg_path_join(log_path, sizeof(log_path), root, "log") < 0 ||
               sg_tail_init(&tail, log_path, SG_TAIL_ANYBODY, 0) < 0;
}

static int tear_down(void **state)
{
        (void)state;
        sg_tail_deinit(&tail);
        return sg_remove_tree(AT_FDCWD, root);
}

static void on_data(const char *data, size_t n, void *userdata)
{
        (void)userdata;
        gaps += n == 0;
        assert_true(got_size + n < sizeof(got));
        if (n > 0)
                memcpy(got + got_size, data, n);
        got_size += n;
        got[got_size] = 0;
}

static int look(void)
{
        got_size = 0;
        got[0] = 0;
        return sg_tail_look(&tail, on_data, NULL);
}

static void expect(const char *text)
{
        int r = look();

        assert_string_equal(got, text);
        assert_int_equal(r, *text != 0);
}

static void write_log(int flags, const char *text, size_t n)
{
        _cleanup_close_ int fd = open(log_path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, text, n), 0);
}

static void add(const char *text)
{
        write_log(O_APPEND, text, strlen(text));
}

static void test_grows(void **state)
{
        (void)state;
        assert_int_equal(look(), -ENOENT);
        add("one\ntw");
        expect("one\ntw");
        expect("");
        add("o\n");
        expect("o\n");
}

static void test_truncated(void **state)
{
        (void)state;
        add("a long line\n");
        expect("a long line\n");
        write_log(O_TRUNC, "new\n", 4);
        expect("new\n");
        assert_int_equal(tail.n_truncated, 1);
        assert_int_equal(gaps, 1);
}

static void test_removed(void **state)
{
        (void)state;
        add("old\n");
        expect("old\n");
        add("more\n");
        assert_int_equal(rename(log_path, tail.path), 0); /* to itself: nothing happens */
        assert_int_equal(unlink(log_path), 0);
        expect("more\n"); /* it is still read, without a name */
        expect("");
        add("new\n");
        expect("new\n");
        assert_int_equal(tail.n_rotated, 1);
}

static void test_old_content(void **state)
{
        const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

        (void)state;
        add("of an earlier program: loss=9\n");
        assert_int_equal(utimensat(AT_FDCWD, log_path, times, 0), 0);
        tail.since_usec = 2000 * 1000000ULL;
        expect("");
        add("own\n");
        expect("own\n");
}

/* What an attempt before wrote a moment ago isn't read, also when this one was faster than we. */
static void test_attempt_before(void **state)
{
        (void)state;
        add("attempt 1: loss=9\n");
        tail.before = strlen("attempt 1: loss=9\n");
        add("attempt 2\n");
        expect("attempt 2\n");
}

static int glance(void)
{
        got_size = 0;
        got[0] = 0;
        return sg_tail_glance(&tail, on_data, NULL);
}

/* What is added to a file that has lost its name comes first, and its successor isn't missed. */
static void test_glances(void **state)
{
        _cleanup_close_ int fd = -1;
        int looks = 0;

        (void)state;
        assert_int_equal(glance(), -ENOENT);
        add("one\n");
        assert_int_equal(glance(), 1);
        add("old\n");
        assert_int_equal(unlink(log_path), 0);
        add("new\n");
        assert_int_equal(glance(), 1);
        assert_string_equal(got, "old\n");
        assert_int_equal(glance(), 1);
        assert_string_equal(got, "new\n");
        assert_int_equal(tail.n_rotated, 1);
        fd = open(log_path, O_WRONLY | O_APPEND | O_CLOEXEC);
        assert_int_equal(unlink(log_path), 0);
        add("next\n");
        while (!strstr(got, "next\n")) {
                assert_true(looks++ < 10);
                assert_int_equal(sg_write_all(fd, "more\n", 5), 0); /* without a name */
                assert_int_equal(glance(), 1);
        }
        assert_string_equal(got, "more\nnext\n");
}

static void test_glance_truncated(void **state)
{
        (void)state;
        add("a long line\n");
        assert_int_equal(glance(), 1);
        write_log(O_TRUNC, "new\n", 4);
        assert_int_equal(glance(), 1);
        assert_string_equal(got, "new\n");
        assert_int_equal(tail.n_truncated, 1);
        assert_int_equal(glance(), 0);
        assert_int_equal(glance(), 0);
}

/* Of much only the newest is read, from a line's beginning on. */
static void test_much(void **state)
{
        const size_t size = SG_TAIL_LOOK_MAX + 100;
        _cleanup_free_ char *text = malloc(size);

        (void)state;
        assert_non_null(text);
        for (size_t i = 0; i < size; i++)
                text[i] = i % 10 == 9 ? '\n' : (char)('0' + i % 10);
        add("first\nhal");
        expect("first\nhal");
        write_log(O_APPEND, text, size);
        assert_int_equal(look(), 1);
        assert_in_range(got_size, SG_TAIL_NEWEST - 10, SG_TAIL_NEWEST);
        assert_memory_equal(got, "012345678\n", 10);
        assert_int_equal(gaps, 1);
        assert_in_range(tail.skipped_bytes, size - SG_TAIL_NEWEST, size);
        expect("");
        add("next\n");
        expect("next\n");
}

static void test_much_before_the_first_look(void **state)
{
        const size_t size = SG_TAIL_NEWEST + 100;
        _cleanup_free_ char *text = malloc(size);

        (void)state;
        assert_non_null(text);
        memset(text, 'x', size);
        text[size - 5] = '\n';
        write_log(O_APPEND, text, size);
        expect("xxxx");
}

/* Nothing but regular files of the right user is opened, and nothing waits for a writer. */
static void test_others(void **state)
{
        char target[PATH_MAX];

        (void)state;
        assert_int_equal(mkfifo(log_path, 0600), 0);
        assert_int_equal(look(), -ENOTSUP);
        assert_int_equal(unlink(log_path), 0);
        assert_int_equal(mkdir(log_path, 0700), 0);
        assert_int_equal(look(), -ENOTSUP);
        assert_int_equal(rmdir(log_path), 0);
        assert_int_equal(sg_path_join(target, sizeof(target), root, "target"), 0);
        assert_int_equal(symlink(target, log_path), 0);
        assert_int_equal(look(), -ENOTSUP);
        assert_int_equal(unlink(log_path), 0);
        tail.uid = geteuid() + 1;
        add("theirs\n");
        assert_int_equal(look(), -EPERM);
        tail.uid = geteuid();
        expect("theirs\n");
}

/* --- the shim's rotation */

static int pipe_fds[2];
static struct sg_joblog job_log;

static void open_job_log(uint64_t max, uint64_t keep)
{
        struct sg_spec spec = {
                .uid = geteuid(), .gid = getegid(), .log_max = max, .log_keep = keep};

        spec.log = strdup(log_path);
        assert_non_null(spec.log);
        assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
        sg_joblog_init(&job_log, &spec);
}

static void close_job_log(void)
{
        sg_joblog_deinit(&job_log);
        (void)close(pipe_fds[0]);
        (void)close(pipe_fds[1]);
}

static void job_writes(const char *text)
{
        assert_int_equal(sg_write_all(pipe_fds[1], text, strlen(text)), 0);
        assert_int_equal(sg_joblog_drain(&job_log, pipe_fds[0]), (ssize_t)strlen(text));
}

/* Every line of 2,000 arrives once and in order, over hundreds of rotations. */
static void test_rotation(void **state)
{
        _cleanup_free_ char *all = NULL, *expected = NULL;
        size_t all_size, expected_size;
        FILE *a = open_memstream(&all, &all_size), *e = open_memstream(&expected, &expected_size);

        (void)state;
        open_job_log(100, 2);
        for (unsigned i = 0; i < 2000; i++) {
                char line[64];

                (void)snprintf(line, sizeof(line), "step %u/2000 loss=%u\n", i, 2000 - i);
                job_writes(line);
                (void)fputs(line, e);
                if (i % 3 == 0) {
                        assert_int_equal(look(), 1);
                        (void)fputs(got, a);
                }
        }
        (void)look();
        (void)fputs(got, a);
        assert_int_equal(fclose(a), 0);
        assert_int_equal(fclose(e), 0);
        assert_string_equal(all, expected);
        assert_true(tail.n_rotated > 300);
        assert_int_equal(gaps, 0);
        close_job_log();
}

/* A line longer than a file goes on in the next one. */
static void test_rotation_within_a_line(void **state)
{
        (void)state;
        open_job_log(20, 1);
        job_writes("a line of a job");
        expect("a line of a job");
        job_writes(" that is longer\n");
        expect(" that is longer\n");
        assert_int_equal(tail.n_rotated, 1);
        assert_int_equal(gaps, 0);
        close_job_log();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_grows, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_truncated, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_removed, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_glances, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_glance_truncated, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_old_content, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_attempt_before, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_much, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_much_before_the_first_look, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_others, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_rotation, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_rotation_within_a_line, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
