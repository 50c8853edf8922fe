/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On a real directory: one of our own, below $TMPDIR, removed at the end. */
#include "base/file.h"
#include "base/time-util.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char root[PATH_MAX];
static int dir = -1;

static int set_up(void **state)
{
        const char *tmp = getenv("TMPDIR");

        (void)state;
        (void)snprintf(root, sizeof(root), "%s/sg-test-file.XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(root))
                return -1;
        dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return dir < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
        (void)state;
        dir = sg_close(dir);
        return sg_remove_tree(AT_FDCWD, root);
}

static void put(const char *name, const void *data, size_t size)
{
        _cleanup_close_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, data, size), 0);
}

static void expect_content(const char *name, const char *want)
{
        _cleanup_free_ char *s = NULL;
        size_t size;

        assert_int_equal(sg_read_file(dir, name, 4096, &s, &size), 0);
        assert_string_equal(s, want);
        assert_int_equal(size, strlen(want));
}

static bool there(const char *name)
{
        struct stat st;

        return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int entries(void)
{
        _cleanup_closedir_ DIR *d = opendir(root);
        int n = 0;

        assert_non_null(d);
        while (readdir(d))
                n++;
        return n - 2;
}

static void test_read_file_limits(void **state)
{
        char *s = NULL;
        size_t size = 77;

        (void)state;
        put("ten", "0123456789", 10);
        assert_int_equal(sg_read_file(dir, "ten", 9, &s, &size), -EFBIG);
        assert_int_equal(sg_read_file(dir, "none", 9, &s, &size), -ENOENT);
        assert_int_equal(sg_read_file(dir, ".", 9, &s, &size), -EISDIR);
        assert_null(s);
        assert_int_equal(size, 77);
        assert_int_equal(sg_read_file(dir, "ten", 10, &s, NULL), 0);
        assert_string_equal(s, "0123456789");
        free(s);
        assert_int_equal(sg_read_file(dir, "ten", SIZE_MAX, &s, &size), 0);
        assert_int_equal(size, 10);
        free(s);
        put("empty", "", 0);
        assert_int_equal(sg_read_file(dir, "empty", 0, &s, &size), 0);
        assert_string_equal(s, "");
        assert_int_equal(size, 0);
        free(s);
        assert_int_equal(sg_read_file(dir, "ten", 0, &s, &size), -EFBIG);
}

static void test_read_file_keeps_nuls(void **state)
{
        _cleanup_free_ char *s = NULL;
        size_t size;

        (void)state;
        put("nul", "a\0b", 3);
        assert_int_equal(sg_read_file(dir, "nul", 100, &s, &size), 0);
        assert_int_equal(size, 3);
        assert_memory_equal(s, "a\0b", 4);
}

/* /proc says that its files are empty, and hands some out by the page. */
static void test_read_file_of_unknown_size(void **state)
{
        _cleanup_free_ char *s = NULL;
        size_t size;

        (void)state;
        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/kallsyms", 64 << 20, &s, &size), 0);
        assert_true(size > 8192);
        assert_int_equal(size, strlen(s));
        assert_int_equal(s[size - 1], '\n');
        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/kallsyms", 8192, &s, &size), -EFBIG);
}

static void test_read_line_file(void **state)
{
        char buf[5] = "old";

        (void)state;
        put("line", "12345\n", 6);
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), -EFBIG);
        assert_int_equal(sg_read_line_file(dir, "none", buf, sizeof(buf)), -ENOENT);
        put("line", "1234\n", 5); /* fits exactly: the newline makes room for the NUL */
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), 0);
        assert_string_equal(buf, "1234");
        put("line", "1234\nmore", 9);
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), -EFBIG);
        put("line", "12345", 5);
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), -EFBIG);
        put("line", "123", 3);
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), 0);
        assert_string_equal(buf, "123");
        put("line", "\n", 1);
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), 0);
        assert_string_equal(buf, "");
        put("line", "", 0);
        assert_int_equal(sg_read_line_file(dir, "line", buf, sizeof(buf)), 0);
        assert_string_equal(buf, "");
}

static void test_read_parts(void **state)
{
        const struct stat st = {.st_mtim = {.tv_sec = 3, .tv_nsec = 4999}};
        char buf[8] = "";
        int fd;

        (void)state;
        put("parts", "abcdef", 6);
        fd = openat(dir, "parts", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(sg_pread(fd, buf, 2, 3), 2);
        assert_memory_equal(buf, "de", 2);
        assert_int_equal(sg_pread(fd, buf, 2, 6), 0);
        assert_int_equal(sg_read_full(fd, buf, 4), 4); /* not moved by the other */
        assert_memory_equal(buf, "abcd", 4);
        assert_int_equal(sg_read_full(fd, buf, sizeof(buf)), 2);
        fd = sg_close(fd);
        assert_int_equal(sg_pread(fd, buf, 1, 0), -EBADF);
        assert_int_equal(sg_read_full(fd, buf, 1), -EBADF);
        assert_int_equal(sg_mtime_usec(&st), 3000004);
}

static void test_write_file(void **state)
{
        (void)state;
        assert_int_equal(sg_write_file(dir, "none", "1"), -ENOENT); /* never creates */
        assert_false(there("none"));
        put("knob", "", 0);
        assert_int_equal(sg_write_file(dir, "knob", "max"), 0);
        expect_content("knob", "max");
        assert_int_equal(sg_write_file(AT_FDCWD, "/dev/full", "1"), -ENOSPC);
}

static void test_write_file_atomic(void **state)
{
        struct stat st;

        (void)state;
        int before = entries();
        assert_int_equal(sg_write_file_atomic(dir, "state", "one", 3, 0640), 0);
        expect_content("state", "one");
        assert_int_equal(fstatat(dir, "state", &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, 0640);
        assert_int_equal(sg_write_file_atomic(dir, "state", "", 0, 0600), 0);
        expect_content("state", "");
        assert_int_equal(entries(), before + 1); /* nothing temporary stays */
        assert_int_equal(sg_write_file_atomic(dir, "nowhere/state", "x", 1, 0600), -ENOENT);
        assert_int_equal(sg_write_file_atomic(dir, ".", "x", 1, 0600), -EBUSY);
        assert_int_equal(entries(), before + 1);
}

static void test_replace_file_at_leisure(void **state)
{
        struct stat st;

        (void)state;
        int before = entries();
        assert_int_equal(sg_replace_file_at_leisure(dir, "leisure", "one", 3, 0640), 0);
        expect_content("leisure", "one");
        assert_int_equal(sg_replace_file_at_leisure(dir, "leisure", "two", 3, 0600), 0);
        expect_content("leisure", "two");
        assert_int_equal(fstatat(dir, "leisure", &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        assert_int_equal(st.st_nlink, 1);
        assert_int_equal(entries(), before + 1);
        assert_int_equal(mkdirat(dir, "a-directory", 0700), 0);
        assert_int_equal(sg_replace_file_at_leisure(dir, "a-directory", "x", 1, 0600), -EISDIR);
        assert_int_equal(symlinkat("leisure", dir, "a-link"), 0);
        assert_int_equal(sg_replace_file_at_leisure(dir, "a-link", "own", 3, 0600), 0);
        expect_content("a-link", "own");
        expect_content("leisure", "two");
        assert_int_equal(entries(), before + 3);
}

static void test_write_file_atomic_over_a_stale_temporary(void **state)
{
        char stale[64];

        (void)state;
        (void)snprintf(stale, sizeof(stale), "next.%d.tmp", (int)getpid());
        assert_int_equal(symlinkat("/proc/version", dir, stale), 0);
        assert_int_equal(sg_write_file_atomic(dir, "next", "x", 1, 0600), 0);
        expect_content("next", "x");
        assert_false(there(stale));
}

static void test_write_file_atomic_takes_any_path(void **state)
{
        char path[PATH_MAX];

        (void)state;
        assert_int_equal(mkdirat(dir, "deep", 0700), 0);
        assert_int_equal(sg_write_file_atomic(dir, "deep/file", "x", 1, 0600), 0);
        assert_int_equal(sg_path_join(path, sizeof(path), root, "deep/file"), 0);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, "y", 1, 0600), 0);
        expect_content("deep/file", "y");
}

static void test_mkdir_p(void **state)
{
        char path[PATH_MAX];
        struct stat st;

        (void)state;
        assert_int_equal(sg_path_join(path, sizeof(path), root, "a//b/c/"), 0);
        assert_int_equal(sg_mkdir_p(path, 0700), 0);
        assert_int_equal(fstatat(dir, "a/b/c", &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        assert_int_equal(fstatat(dir, "a/b", &st, 0), 0);
        assert_int_equal(st.st_mode & 07777, 0755);
        assert_int_equal(sg_mkdir_p(path, 0700), 0); /* again */

        put("a/file", "", 0);
        assert_int_equal(sg_path_join(path, sizeof(path), root, "a/file"), 0);
        assert_int_equal(sg_mkdir_p(path, 0700), -ENOTDIR);
        assert_int_equal(sg_path_join(path, sizeof(path), root, "a/file/b"), 0);
        assert_int_equal(sg_mkdir_p(path, 0700), -ENOTDIR);
        assert_int_equal(sg_mkdir_p("/", 0700), 0);
        assert_int_equal(sg_mkdir_p("", 0700), -ENOENT);
}

static void test_remove_tree(void **state)
{
        (void)state;
        put("outside", "keep", 4);
        assert_int_equal(mkdirat(dir, "tree", 0700), 0);
        assert_int_equal(mkdirat(dir, "tree/sub", 0700), 0);
        put("tree/sub/file", "x", 1);
        assert_int_equal(mkdirat(dir, "other", 0700), 0);
        put("other/file", "keep", 4);
        assert_int_equal(symlinkat("../other", dir, "tree/link"), 0);
        assert_int_equal(symlinkat("nowhere", dir, "tree/dangling"), 0);

        assert_int_equal(sg_remove_tree(dir, "tree"), 0);
        assert_false(there("tree"));
        expect_content("outside", "keep");
        expect_content("other/file", "keep");

        assert_int_equal(sg_remove_tree(dir, "tree"), 0); /* not there: fine */
        assert_int_equal(symlinkat("other", dir, "link"), 0);
        assert_int_equal(sg_remove_tree(dir, "link"), 0); /* the link, not its target */
        assert_true(there("other/file"));
        assert_false(there("link"));
        assert_int_equal(sg_remove_tree(dir, "outside"), 0);
        assert_false(there("outside"));
        assert_int_equal(sg_remove_tree(dir, "other/file/x"), -ENOTDIR);
}

static void test_remove_tree_bounds_its_depth(void **state)
{
        char path[PATH_MAX] = "deeper";

        (void)state;
        for (int i = 0; i < 80; i++) {
                assert_int_equal(mkdirat(dir, path, 0700), 0);
                strcat(path, "/d");
        }
        assert_int_equal(sg_remove_tree(dir, "deeper"), -ELOOP);
        path[strlen("deeper") + 2 * 30] = 0; /* the lower part is within the bound */
        assert_int_equal(sg_remove_tree(dir, path), 0);
        assert_int_equal(sg_remove_tree(dir, "deeper"), 0);
}

static void test_path_join(void **state)
{
        char buf[8];

        (void)state;
        assert_int_equal(sg_path_join(buf, sizeof(buf), "a", "b"), 0);
        assert_string_equal(buf, "a/b");
        assert_int_equal(sg_path_join(buf, sizeof(buf), "/", "b"), 0);
        assert_string_equal(buf, "/b");
        assert_int_equal(sg_path_join(buf, sizeof(buf), "abc", "def"), 0);
        assert_int_equal(sg_path_join(buf, sizeof(buf), "abc", "defg"), -ENAMETOOLONG);
}

static void test_fsync_dir(void **state)
{
        (void)state;
        put("plain", "", 0);
        assert_int_equal(sg_fsync_dir(dir, "."), 0);
        assert_int_equal(sg_fsync_dir(dir, "plain"), -ENOTDIR);
        assert_int_equal(sg_fsync_dir(dir, "none"), -ENOENT);
}

/* A pipe takes 64 KiB at once: more needs several writes while the other end reads. */
static void test_write_all_over_short_writes(void **state)
{
        const size_t size = 1 << 20;
        _cleanup_free_ char *data = calloc(1, size);
        int fds[2], status;

        (void)state;
        assert_non_null(data);
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                size_t got = 0;
                char buf[777];

                (void)sg_close(fds[1]);
                for (ssize_t n; (n = read(fds[0], buf, sizeof(buf))) > 0;)
                        got += (size_t)n;
                _exit(got == size ? 0 : 1);
        }
        fds[0] = sg_close(fds[0]);
        assert_int_equal(sg_write_all(fds[1], data, size), 0);
        fds[1] = sg_close(fds[1]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);

        _cleanup_close_ int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
        assert_int_equal(sg_write_all(full, data, 1), -ENOSPC);
        assert_int_equal(sg_write_all(full, data, 0), 0);
}

static void test_close(void **state)
{
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void)state;
        assert_true(fd >= 0);
        errno = EXDEV;
        assert_int_equal(sg_close(fd), -1);
        assert_int_equal(fcntl(fd, F_GETFD), -1);
        errno = EXDEV;
        assert_int_equal(sg_close(fd), -1); /* closed already: errno is still left alone */
        assert_int_equal(errno, EXDEV);
        assert_int_equal(sg_close(-1), -1);
}

static void test_take(void **state)
{
        char text[] = "x", *p = text;
        int fd = 5;

        (void)state;
        assert_ptr_equal(TAKE_PTR(p), text);
        assert_null(p);
        assert_int_equal(TAKE_FD(fd), 5);
        assert_int_equal(fd, -1);
}

static void test_disk(void **state)
{
        int nowhere = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

        (void)state;
        assert_in_range(sg_disk_free(dir), 1, sg_disk_size(dir));
        assert_int_equal(sg_disk_size(nowhere), UINT64_MAX); /* no blocks, and never full */
        assert_int_equal(sg_disk_free(nowhere), UINT64_MAX);
        (void)sg_close(nowhere);
}

static void test_clocks(void **state)
{
        uint64_t real = sg_now_realtime_usec(), mono = sg_now_monotonic_usec();

        (void)state;
        assert_true(real > 1700000000 * SG_USEC_PER_SEC); /* microseconds, and after 2023 */
        assert_true(sg_now_monotonic_usec() >= mono);
        assert_true(mono < real);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_read_file_limits),
                cmocka_unit_test(test_read_file_keeps_nuls),
                cmocka_unit_test(test_read_file_of_unknown_size),
                cmocka_unit_test(test_read_line_file),
                cmocka_unit_test(test_read_parts),
                cmocka_unit_test(test_write_file),
                cmocka_unit_test(test_write_file_atomic),
                cmocka_unit_test(test_replace_file_at_leisure),
                cmocka_unit_test(test_write_file_atomic_over_a_stale_temporary),
                cmocka_unit_test(test_write_file_atomic_takes_any_path),
                cmocka_unit_test(test_mkdir_p),
                cmocka_unit_test(test_remove_tree),
                cmocka_unit_test(test_remove_tree_bounds_its_depth),
                cmocka_unit_test(test_path_join),
                cmocka_unit_test(test_fsync_dir),
                cmocka_unit_test(test_write_all_over_short_writes),
                cmocka_unit_test(test_close),
                cmocka_unit_test(test_take),
                cmocka_unit_test(test_disk),
                cmocka_unit_test(test_clocks),
        };

        return cmocka_run_group_tests(tests, set_up, tear_down);
}
