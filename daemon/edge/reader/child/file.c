/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/child/file.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/record.h"
#include "edge/reader/child/tail.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Times of files go in steps: of the kernel's clock, or of a file system on another machine. */
#define SETTLED_USEC 1000000

static char buffer[SG_PROGRESS_FILE_MAX + 1];

int sg_progress_file_init(struct sg_progress_file *f, const char *path, uid_t uid,
                          uint64_t since_usec, enum sg_goal goal)
{
        *f = (struct sg_progress_file){.uid = uid, .since_usec = since_usec, .goal = goal};
        f->path = strdup(path);
        return f->path ? 0 : -ENOMEM;
}

void sg_progress_file_deinit(struct sg_progress_file *f)
{
        free(TAKE_PTR(f->path));
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
        return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_same(const struct sg_progress_file *f, const struct stat *st)
{
        return st->st_ino == f->ino && st->st_dev == f->dev && st->st_size == f->size &&
               same_time(&st->st_mtim, &f->modified) && same_time(&st->st_ctim, &f->changed);
}

static void remember(struct sg_progress_file *f, const struct stat *st, uint64_t now_usec)
{
        f->ino = st->st_ino;
        f->dev = st->st_dev;
        f->size = st->st_size;
        f->modified = st->st_mtim;
        f->changed = st->st_ctim;
        f->settled = sg_mtime_usec(st) + SETTLED_USEC < now_usec;
}

static int understand(struct sg_progress_file *f, size_t n, struct sg_report *ret)
{
        uint32_t crc = sg_crc32c(buffer, n);
        int r;

        if (n == 0 || crc == f->crc)
                return 0;
        r = sg_values_json(&f->values, f->goal, buffer, n, ret);
        if (r == 0)
                r = sg_values_lines(&f->values, f->goal, buffer, n, ret);
        if (r > 0)
                f->crc = crc;
        /* A file that isn't settled may be half written. */
        return r == 0 && f->settled ? -EBADMSG : r;
}

int sg_progress_file_look(struct sg_progress_file *f, uint64_t now_usec, struct sg_report *ret)
{
        _cleanup_close_ int fd = -1;
        struct stat st;
        ssize_t n;

        if (fstatat(AT_FDCWD, f->path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if ((f->settled && is_same(f, &st)) || sg_mtime_usec(&st) < f->since_usec)
                return 0;
        fd = sg_open_own(AT_FDCWD, f->path, f->uid, &st);
        if (fd < 0)
                return fd;
        n = sg_read_full(fd, buffer, sizeof(buffer));
        if (n < 0)
                return (int)n;
        remember(f, &st, now_usec);
        return (size_t)n > SG_PROGRESS_FILE_MAX ? -EFBIG : understand(f, (size_t)n, ret);
}
