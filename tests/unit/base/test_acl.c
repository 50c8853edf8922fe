/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one more user may do with a file, tried by that user. */
#include "base/cleanup.h"
#include "base/file.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define USER 1234
#define OTHER 1235

static bool can_open(const char *path, int flags, uid_t uid)
{
        pid_t pid = fork();
        int status;

        if (pid == 0)
                _exit(setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
                      setresuid(uid, uid, uid) < 0 || open(path, flags | O_CLOEXEC) < 0);
        assert_return_code(pid, errno);
        assert_return_code(waitpid(pid, &status, 0), errno);
        return status == 0;
}

static void test_admit(void **state)
{
        char path[] = "/tmp/sg-acl-XXXXXX";
        _cleanup_close_ int fd = mkostemp(path, O_CLOEXEC);
        struct stat st;

        (void)state;
        if (geteuid() != 0) {
                print_message("not root: there are no other users\n");
                assert_return_code(unlink(path), errno);
                return;
        }
        assert_return_code(fchmod(fd, 0666), errno);
        assert_int_equal(sg_acl_admit(fd, USER, 6, 4), 0);
        assert_true(can_open(path, O_RDONLY, USER));
        assert_false(can_open(path, O_WRONLY, USER));
        assert_false(can_open(path, O_RDONLY, OTHER));
        assert_return_code(fstat(fd, &st), errno);
        assert_int_equal(st.st_mode & 0777, 0640);          /* as ls(1) shows it, with a + */
        assert_int_equal(sg_acl_admit(fd, OTHER, 6, 6), 0); /* in place of the one before */
        assert_false(can_open(path, O_RDONLY, USER));
        assert_true(can_open(path, O_RDWR, OTHER));
        assert_return_code(unlink(path), errno);
}

static void test_no_lists(void **state)
{
        _cleanup_close_ int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

        (void)state;
        assert_int_equal(sg_acl_admit(fd, USER, 6, 4), -EOPNOTSUPP);
        assert_int_equal(sg_acl_admit(-1, USER, 6, 4), -EBADF);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_admit),
                cmocka_unit_test(test_no_lists),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
