/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A disk that others fill. */

#include "tests/unit/edge/store/test_store_disk.h"

__attribute__((unused)) static void in_root(char path[PATH_MAX], const char *name)
{
        assert_int_equal(sg_path_join(path, PATH_MAX, root, name), 0);
}

__attribute__((unused)) static void in_state(char path[PATH_MAX], const char *name)
{
        assert_int_equal(sg_path_join(path, PATH_MAX, state_dir, name), 0);
}

/* Every page of it, with a file of this name, which others' room becomes part of. */
__attribute__((unused)) static void fill_disk(const char *name)
{
        char path[PATH_MAX], page[4096] = "";
        int fd;

        in_root(path, name);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        while (write(fd, page, sizeof(page)) == (ssize_t)sizeof(page))
                continue;
        assert_int_equal(errno, ENOSPC);
        (void)close(fd);
}

/* … and what the store has put by. */
__attribute__((unused)) static void fill_disk_and_ballast(const char *name)
{
        char path[PATH_MAX];

        in_state(path, "ballast");
        assert_int_equal(truncate(path, 0), 0);
        fill_disk(name);
}

__attribute__((unused)) static void empty_disk(const char *name)
{
        char path[PATH_MAX];

        in_root(path, name);
        assert_int_equal(unlink(path), 0);
}
