/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc says of a process: of ourselves, of children with names of all kinds, of one that has
 * gone. */

#include "base/cleanup.h"
#include "base/file.h"
#include "edge/common/process.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static void test_ourselves(void **state)
{
        _cleanup_free_ char *cgroup = NULL;
        struct sg_process_look p;
        char line[4096];

        (void)state;
        assert_int_equal(sg_process_look(&p, getpid(), "memory"), 0);
        assert_int_equal(p.uid, getuid());
        assert_string_equal(p.name, "test_process_lo"); /* the kernel's 15 bytes */
        assert_true(sg_read_file(AT_FDCWD, "/proc/self/cgroup", 65536, &cgroup, NULL) >= 0);
        (void)snprintf(line, sizeof(line), "0::%s\n", p.group);
        if (p.group[0])
                assert_non_null(strstr(cgroup, line));
        else
                assert_null(strstr(cgroup, "0::/"));
        (void)snprintf(line, sizeof(line), "memory:%s\n", p.group_v1);
        if (p.group_v1[0])
                assert_non_null(strstr(cgroup, line));
        else
                assert_null(strstr(cgroup, ":memory:"));
        sg_process_look_deinit(&p);
        assert_int_equal(sg_process_look(&p, getpid(), NULL), 0);
        assert_string_equal(p.group_v1, "");
        sg_process_look_deinit(&p);
}

/* A child of that name, looked at. */
static void look_at_child(const char *name, const char *wanted)
{
        struct sg_process_look p;
        int ready[2], status;
        char c;
        pid_t pid;

        assert_int_equal(pipe(ready), 0);
        pid = fork();
        if (pid == 0) {
                (void)prctl(PR_SET_NAME, name);
                (void)!write(ready[1], "x", 1);
                for (;;)
                        (void)pause();
        }
        assert_int_equal(read(ready[0], &c, 1), 1);
        assert_int_equal(sg_process_look(&p, pid, NULL), 0);
        assert_string_equal(p.name, wanted);
        assert_int_equal(p.uid, getuid());
        sg_process_look_deinit(&p);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(sg_process_look(&p, pid, NULL), -ESRCH);
        (void)close(ready[0]);
        (void)close(ready[1]);
}

/* Names are users': none becomes another line, another field, or what a terminal obeys. */
static void test_names(void **state)
{
        (void)state;
        look_at_child("python3", "python3");
        look_at_child("two words", "two words");
        look_at_child("x\nUid:\t0\t0", "x\\nUid:"); /* (a tab is none of ours, either) */
        look_at_child("caf\xc3\xa9", "caf\xc3\xa9");
        look_at_child("a\x1b[31m", "a");
        look_at_child("bad\xff utf8", "bad");
        look_at_child("", "");
}

static void test_nobody(void **state)
{
        struct sg_process_look p;

        (void)state;
        assert_int_equal(sg_process_look(&p, 0, NULL), -ESRCH);
        assert_int_equal(sg_process_look(&p, -1, NULL), -ESRCH);
        assert_int_equal(sg_process_look(&p, INT32_MAX, NULL), -ESRCH);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_ourselves),
                cmocka_unit_test(test_names),
                cmocka_unit_test(test_nobody),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
