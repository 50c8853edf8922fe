/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The textfile: replaced as a whole, by somebody who may hang. */

#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/metrics/textfile.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENCE_USEC (20 * SG_USEC_PER_SEC)

struct bench {
        sd_event *event;
        struct sg_textfile *textfile;
        char top[32], dir[64], file[96], temporary[96];
};

static int setup(void **state)
{
        struct bench *b = calloc(1, sizeof(*b));

        strcpy(b->top, "/tmp/sg-textfile-XXXXXX");
        assert_non_null(mkdtemp(b->top));
        snprintf(b->dir, sizeof(b->dir), "%s/out", b->top);
        snprintf(b->file, sizeof(b->file), "%s/schedgov.prom", b->dir);
        snprintf(b->temporary, sizeof(b->temporary), "%s/.schedgov.prom.new", b->dir);
        assert_int_equal(mkdir(b->dir, 0755), 0);
        assert_int_equal(sd_event_new(&b->event), 0);
        assert_int_equal(sg_textfile_new(&b->textfile, b->event, b->dir), 0);
        sg_log_set_level(LOG_CRIT);
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        struct bench *b = *state;

        sg_textfile_free(b->textfile);
        sd_event_unref(b->event);
        assert_int_equal(sg_remove_tree(AT_FDCWD, b->top), 0);
        free(b);
        return 0;
}

static bool readable(int fd)
{
        struct pollfd p = {.fd = fd, .events = POLLIN};

        return poll(&p, 1, 0) > 0;
}

/* Writes it twice: when the second write can begin, the first is done. */
static void put(struct bench *b, const char *text)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        int r;

        for (unsigned i = 0; i < 2; i++) {
                while ((r = sg_textfile_put(b->textfile, text, strlen(text))) == -EBUSY &&
                       sg_now_monotonic_usec() < end)
                        assert_true(sd_event_run(b->event, 10000) >= 0);
                assert_int_equal(r, 0);
        }
}

static void expect_file(const char *path, const char *text)
{
        _cleanup_free_ char *got = NULL;

        assert_int_equal(sg_read_file(AT_FDCWD, path, 1 << 20, &got, NULL), 0);
        assert_string_equal(got, text);
}

static void test_replaced(void **state)
{
        struct bench *b = *state;
        struct stat before, after;

        put(b, "one\n");
        expect_file(b->file, "one\n");
        assert_int_equal(stat(b->file, &before), 0);
        assert_int_equal(before.st_mode, S_IFREG | 0644);
        _cleanup_close_ int old = open(b->file, O_RDONLY | O_CLOEXEC);
        put(b, "two\n");
        expect_file(b->file, "two\n");
        assert_int_equal(fstat(old, &after), 0);
        assert_int_equal(after.st_nlink, 0); /* who reads the old one goes on with that */
        assert_int_equal(after.st_size, 4);
        b->textfile = sg_textfile_free(b->textfile);
        assert_int_equal(rmdir(b->dir), 0); /* nothing is left in it */
        assert_int_equal(mkdir(b->dir, 0755), 0);
}

/* What others may have put there isn't written through. */
static void test_links(void **state)
{
        struct bench *b = *state;
        char victim[96];
        struct stat st;

        snprintf(victim, sizeof(victim), "%s/victim", b->top);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, victim, "own\n", 4, 0600), 0);
        assert_int_equal(symlink(victim, b->file), 0);
        assert_int_equal(symlink(victim, b->temporary), 0);
        put(b, "text\n");
        expect_file(b->file, "text\n");
        expect_file(victim, "own\n");
        assert_int_equal(lstat(b->file, &st), 0);
        assert_true(S_ISREG(st.st_mode));
        assert_int_equal(stat(victim, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
}

static void test_no_directory(void **state)
{
        struct bench *b = *state;

        assert_int_equal(rmdir(b->dir), 0);
        put(b, "text\n");
        assert_int_equal(access(b->dir, F_OK), -1);
        assert_int_equal(mkdir(b->dir, 0755), 0);
        put(b, "text\n");
        expect_file(b->file, "text\n");
}

/* A file system whose server never answers: each look at it hangs. */
static int mount_hanging(const char *dir)
{
        char options[128];
        int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
        if (mount("hanging", dir, "fuse", 0, options) < 0)
                return sg_close(fd), -errno;
        return fd;
}

static void test_disk_that_hangs(void **state)
{
        struct bench *b = *state;
        int fds[2], server = mount_hanging(b->dir);
        uint64_t begin;

        if (server < 0) {
                print_message("cannot mount a FUSE here: %s\n", strerror(-server));
                skip();
        }
        assert_int_equal(pipe(fds), 0);
        assert_int_equal(sg_textfile_put(b->textfile, "one\n", 4), 0);
        close(fds[1]);
        for (unsigned i = 0; i < 20; i++) {
                assert_int_equal(sg_textfile_put(b->textfile, "two\n", 4), -EBUSY);
                assert_true(sd_event_run(b->event, 10000) >= 0);
        }
        assert_true(readable(fds[0])); /* it holds nothing of ours */
        close(fds[0]);
        begin = sg_now_monotonic_usec();
        b->textfile = sg_textfile_free(b->textfile);
        assert_true(sg_now_monotonic_usec() - begin < 10 * SG_USEC_PER_SEC);
        assert_int_equal(umount2(b->dir, MNT_DETACH), 0);
        close(server);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_replaced),
                TEST(test_links),
                TEST(test_no_directory),
                TEST(test_disk_that_hangs),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
