/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is written to stderr, read back from a file; and to the journal, whose socket is ours in a
 * mount namespace of this process.
 */
#include "base/file.h"
#include "edge/common/log.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

static int real_stderr = -1, captured = -1;

static int capture(void **state)
{
        (void)state;
        real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
        captured = memfd_create("stderr", MFD_CLOEXEC);
        if (real_stderr < 0 || captured < 0)
                return -1;
        return dup2(captured, STDERR_FILENO) < 0 ? -1 : 0;
}

static int release(void **state)
{
        (void)state;
        (void)dup2(real_stderr, STDERR_FILENO);
        real_stderr = sg_close(real_stderr);
        captured = sg_close(captured);
        sg_log_set_level(LOG_INFO);
        return unsetenv("JOURNAL_STREAM");
}

/* All that came since the last call. */
static const char *stderr_text(void)
{
        static char text[8192];
        ssize_t n = pread(captured, text, sizeof(text) - 1, 0);

        assert_true(n >= 0);
        text[n] = 0;
        assert_int_equal(ftruncate(captured, 0), 0);
        assert_int_equal(lseek(captured, 0, SEEK_SET), 0);
        return text;
}

static void test_one_line(void **state)
{
        (void)state;
        sg_log(LOG_NOTICE, "ready on %s", "DIR/bus");
        assert_string_equal(stderr_text(), "schedgovd: ready on DIR/bus\n");
        sg_log_job(LOG_INFO, SG_MESSAGE_JOB_ENDED, "7@host", "exited", "ended with %d", 3);
        assert_string_equal(stderr_text(), "schedgovd: job 7@host: ended with 3\n");
        sg_log_job(LOG_ERR, NULL, NULL, NULL, "no job");
        assert_string_equal(stderr_text(), "schedgovd: no job\n");
}

static void test_level(void **state)
{
        (void)state;
        sg_log(LOG_DEBUG, "details");
        assert_string_equal(stderr_text(), "");
        sg_log_set_level(LOG_DEBUG);
        sg_log(LOG_DEBUG, "details");
        assert_string_equal(stderr_text(), "schedgovd: details\n");
        sg_log_set_level(LOG_ERR);
        sg_log(LOG_WARNING, "careful");
        assert_string_equal(stderr_text(), "");
        sg_log(LOG_ERR, "failed");
        assert_string_equal(stderr_text(), "schedgovd: failed\n");
}

static void test_a_name_cannot_forge_a_line(void **state)
{
        (void)state;
        sg_log(LOG_INFO, "job '%s'", "x\nschedgovd: all is well\033[2J\x7f");
        assert_string_equal(stderr_text(), "schedgovd: job 'x?schedgovd: all is well?[2J?'\n");
}

static void test_long_lines_are_cut(void **state)
{
        char text[8000];

        (void)state;
        memset(text, 'x', sizeof(text) - 1);
        text[sizeof(text) - 1] = 0;
        sg_log_job(LOG_INFO, NULL, text, NULL, "%s", text);
        const char *line = stderr_text();
        size_t size = strlen(line);
        assert_in_range(size, 2001, 2099);
        assert_ptr_equal(strchr(line, '\n'), line + size - 1);
}

static void test_errno_survives_and_is_shown(void **state)
{
        (void)state;
        errno = ENOSPC;
        sg_log_job(LOG_INFO, NULL, "7", NULL, "cannot write: %m");
        assert_int_equal(errno, ENOSPC);
        assert_string_equal(stderr_text(),
                            "schedgovd: job 7: cannot write: No space left on device\n");
        errno = EXDEV;
        sg_log(LOG_DEBUG, "dropped");
        assert_int_equal(errno, EXDEV);
}

/* JOURNAL_STREAM= that names our captured stderr. */
static void pretend_journal(void)
{
        struct stat st;
        char value[64];

        assert_int_equal(fstat(STDERR_FILENO, &st), 0);
        (void)snprintf(value, sizeof(value), "%llu:%llu", (unsigned long long)st.st_dev,
                       (unsigned long long)st.st_ino);
        assert_int_equal(setenv("JOURNAL_STREAM", value, 1), 0);
}

static int journal_socket(void)
{
        const struct sockaddr_un address = {
                .sun_family = AF_UNIX,
                .sun_path = "/run/systemd/journal/socket",
        };

        assert_int_equal(unshare(CLONE_NEWNS), 0);
        assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
        assert_int_equal(mount("tmpfs", "/run", "tmpfs", 0, "mode=0755"), 0);
        assert_int_equal(sg_mkdir_p("/run/systemd/journal", 0755), 0);
        int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        assert_true(fd >= 0);
        assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
        return fd;
}

static void test_a_stranger_is_not_the_journal(void **state)
{
        static const char *const values[] = {"1:1", "", "x", "1"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(values); i++) {
                assert_int_equal(setenv("JOURNAL_STREAM", values[i], 1), 0);
                sg_log(LOG_INFO, "here");
                assert_string_equal(stderr_text(), "schedgovd: here\n");
        }
}

static void test_journal(void **state)
{
        _cleanup_close_ int fd = journal_socket();
        char entry[4096];
        ssize_t n;

        (void)state;
        pretend_journal();
        sg_log_job(LOG_WARNING, SG_MESSAGE_LIMIT_NOT_ENFORCED, "7@host", "no such controller",
                   "memory_high is not enforced");
        n = recv(fd, entry, sizeof(entry) - 1, MSG_DONTWAIT);
        assert_true(n > 0);
        entry[n] = 0;
        assert_non_null(strstr(entry, "MESSAGE=job 7@host: memory_high is not enforced\n"));
        assert_non_null(strstr(entry, "PRIORITY=4\n"));
        assert_non_null(strstr(entry, "MESSAGE_ID=" SG_MESSAGE_LIMIT_NOT_ENFORCED "\n"));
        assert_non_null(strstr(entry, "SCHEDGOV_JOB_ID=7@host\n"));
        assert_non_null(strstr(entry, "SCHEDGOV_REASON=no such controller\n"));
        assert_null(strstr(entry, "CODE_FILE="));
        assert_string_equal(stderr_text(), "");

        sg_log(LOG_INFO, "plain");
        n = recv(fd, entry, sizeof(entry) - 1, MSG_DONTWAIT);
        assert_true(n > 0);
        entry[n] = 0;
        assert_non_null(strstr(entry, "MESSAGE=plain\n"));
        assert_null(strstr(entry, "SCHEDGOV_"));
        assert_null(strstr(entry, "MESSAGE_ID="));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_one_line, capture, release),
                cmocka_unit_test_setup_teardown(test_level, capture, release),
                cmocka_unit_test_setup_teardown(test_a_name_cannot_forge_a_line, capture, release),
                cmocka_unit_test_setup_teardown(test_long_lines_are_cut, capture, release),
                cmocka_unit_test_setup_teardown(test_errno_survives_and_is_shown, capture, release),
                cmocka_unit_test_setup_teardown(test_a_stranger_is_not_the_journal, capture,
                                                release),
                cmocka_unit_test_setup_teardown(test_journal, capture,
                                                release), /* last: it moves */
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
