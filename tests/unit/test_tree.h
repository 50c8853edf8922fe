/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Groups of a job that are directories of ordinary files, as kernels word them. */

#include "base/file.h"
#include "proto/spec.h"
#include "test.h"
#include <fcntl.h>
#include <limits.h>

struct tree {
        char top[64];
        struct sg_group_dir dirs[SG_HIER_MAX];
        size_t n_dirs;
};

static inline int tree_setup(void **state)
{
        struct tree *t = calloc(1, sizeof(*t));

        assert_non_null(t);
        strcpy(t->top, "/tmp/sg-tree-XXXXXX");
        assert_non_null(mkdtemp(t->top));
        *state = t;
        return 0;
}

static inline int tree_teardown(void **state)
{
        struct tree *t = *state;

        for (size_t i = 0; i < t->n_dirs; i++)
                free(t->dirs[i].path);
        assert_int_equal(sg_remove_tree(AT_FDCWD, t->top), 0);
        free(t);
        return 0;
}

static inline const char *dir_of(struct tree *t, enum sg_hier hier)
{
        struct sg_group_dir *d = &t->dirs[t->n_dirs];
        char path[PATH_MAX];

        for (size_t i = 0; i < t->n_dirs; i++)
                if (t->dirs[i].hier == hier)
                        return t->dirs[i].path;
        assert_true(asprintf(&d->path, "%s/%d", t->top, (int)hier) > 0);
        d->hier = hier;
        t->n_dirs++;
        assert_int_equal(sg_path_join(path, sizeof(path), d->path, "job"), 0);
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
        return d->path;
}

static inline void path_in(struct tree *t, enum sg_hier hier, const char *name, char path[PATH_MAX])
{
        char dir[PATH_MAX];

        assert_int_equal(sg_path_join(dir, sizeof(dir), dir_of(t, hier), "job"), 0);
        assert_int_equal(sg_path_join(path, PATH_MAX, dir, name), 0);
}

/* In place: who has the file open sees it change, as with the kernel's. */
static inline void put(struct tree *t, enum sg_hier hier, const char *name, const char *text)
{
        _cleanup_close_ int fd = -1;
        char path[PATH_MAX];

        path_in(t, hier, name, path);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, text, strlen(text)), 0);
}
