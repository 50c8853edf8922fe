/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What is below the store: a disk of its own, and its database as a file. */

#include "tests/unit/edge/store/fixture.h"
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>

/* --- a file system of our own */

__attribute__((unused)) static int own_mounts(void **state)
{
        int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

        (void)state;
        if (unshare(flags) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
                print_error("these tests need a mount namespace: %s\n", strerror(errno));
                return -1;
        }
        return 0;
}

__attribute__((unused)) static int set_up_disk(void **state, const char *options)
{
        return set_up(state) < 0 || mount("none", root, "tmpfs", 0, options) < 0 ? -1 : 0;
}

__attribute__((unused)) static int set_up_small_disk(void **state)
{
        return set_up_disk(state, "size=4m,mode=0700");
}

__attribute__((unused)) static int tear_down_small_disk(void **state)
{
        if (umount2(root, MNT_DETACH) < 0)
                return -1;
        return tear_down(state);
}

__attribute__((unused)) static void put_ballast(const char *path, size_t size)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

        assert_true(fd >= 0);
        assert_int_equal(posix_fallocate(fd, 0, (off_t)size), 0);
        (void)close(fd);
}

/* --- the database, while nobody has it open */

__attribute__((unused)) static char *database(size_t *ret_size)
{
        char path[PATH_MAX], *data = NULL;

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sg_read_file(AT_FDCWD, path, 1 << 26, &data, ret_size), 0);
        return data;
}

__attribute__((unused)) static void database_put(const void *data, size_t size)
{
        char path[PATH_MAX];

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, data, size, 0600), 0);
}

__attribute__((unused)) static void database_exec(const char *sql)
{
        char path[PATH_MAX];
        sqlite3 *db;

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "schedgov.db"), 0);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        (void)sqlite3_close(db);
}

/* Refused with this, and not a byte of it changed. */
__attribute__((unused)) static void expect_database_refused(int error, const char *word)
{
        _cleanup_free_ char *before = NULL, *after = NULL;
        size_t size, size_after;

        before = database(&size);
        expect_refusal(error, word);
        after = database(&size_after);
        assert_int_equal(size, size_after);
        assert_memory_equal(before, after, size);
}

/* --- fault points */

/* The next one of this name kills the writer. */
__attribute__((unused)) static void arm(const char *point)
{
        char path[PATH_MAX], line[128];

        (void)snprintf(line, sizeof(line), "%s self\n", point);
        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, "fault"), 0);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, line, strlen(line), 0600), 0);
}
