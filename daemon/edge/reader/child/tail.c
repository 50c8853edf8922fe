/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/child/tail.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_SIZE (64U << 10)
#define GLANCES 8 /* until the name is looked at again */

static char buffer[BUFFER_SIZE];

int sg_tail_init(struct sg_tail *t, const char *path, uid_t uid, uint64_t since_usec)
{
        *t = (struct sg_tail){.uid = uid, .since_usec = since_usec, .fd = -1};
        t->path = strdup(path);
        return t->path ? 0 : -ENOMEM;
}

void sg_tail_deinit(struct sg_tail *t)
{
        t->fd = sg_close(t->fd);
        free(TAKE_PTR(t->path));
}

static int check_own(const struct stat *st, uid_t uid)
{
        if (!S_ISREG(st->st_mode))
                return -ENOTSUP;
        return uid == SG_TAIL_ANYBODY || st->st_uid == uid ? 0 : -EPERM;
}

/* Looked at before it is opened, as opening a device does something to it. */
int sg_open_own(int dirfd, const char *path, uid_t uid, struct stat *ret)
{
        _cleanup_close_ int fd = -1;
        struct stat st;
        int r;

        if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        r = check_own(&st, uid);
        if (r < 0)
                return r;
        fd = openat(dirfd, path, O_RDONLY | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return errno == ELOOP ? -ENOTSUP : -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        r = check_own(&st, uid);
        if (r < 0)
                return r;
        *ret = st;
        return TAKE_FD(fd);
}

/* Skips the rest of a line whose beginning wasn't read. */
static size_t rest_of_line(struct sg_tail *t, const char *data, size_t n)
{
        size_t i = 0;

        while (t->mid_line && i < n) {
                t->mid_line = data[i] != '\n' && data[i] != '\r';
                i++;
        }
        return i;
}

static void skip_to(struct sg_tail *t, uint64_t to, sg_tail_fn *fn, void *userdata)
{
        if (t->at > 0)
                fn(NULL, 0, userdata);
        t->skipped_bytes += to - t->at;
        t->at = to;
        t->mid_line = true;
}

/* What was read into the buffer. */
static void take(struct sg_tail *t, size_t n, sg_tail_fn *fn, void *userdata)
{
        size_t skip = rest_of_line(t, buffer, n);

        t->at += n;
        if (n > skip)
                fn(buffer + skip, n - skip, userdata);
}

/* Reads on to `size`, or to the file's end if that comes first. */
static int read_on(struct sg_tail *t, uint64_t size, sg_tail_fn *fn, void *userdata)
{
        uint64_t begin = t->at;

        if (size - t->at > SG_TAIL_LOOK_MAX)
                skip_to(t, size - SG_TAIL_NEWEST, fn, userdata);
        while (t->at < size) {
                uint64_t left = size - t->at;
                ssize_t n = sg_pread(t->fd, buffer, left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE,
                                     t->at);

                if (n < 0)
                        return (int)n;
                if (n == 0)
                        break;
                take(t, (size_t)n, fn, userdata);
        }
        return t->at > begin;
}

/* A file that was there before we were is read from near its end, to know where the job is; one
 * that an earlier program wrote isn't read at all. */
static void start_reading(struct sg_tail *t, const struct stat *st)
{
        uint64_t size = (uint64_t)st->st_size;

        t->at = !t->opened && t->before <= size ? t->before : 0;
        t->mid_line = false;
        if (!t->opened && sg_mtime_usec(st) < t->since_usec)
                t->at = size;
        else if (!t->opened && size - t->at > SG_TAIL_NEWEST) {
                t->at = size - SG_TAIL_NEWEST;
                t->mid_line = true;
        }
        t->opened = true;
        t->dev = st->st_dev;
        t->ino = st->st_ino;
}

static int open_file(struct sg_tail *t, uint64_t *ret_size)
{
        struct stat st;
        int r;

        r = sg_open_own(AT_FDCWD, t->path, t->uid, &st);
        if (r < 0)
                return r;
        t->fd = r;
        start_reading(t, &st);
        *ret_size = (uint64_t)st.st_size;
        return 0;
}

/* Reads what is left of the file that had the name before. */
static int leave_file(struct sg_tail *t, sg_tail_fn *fn, void *userdata)
{
        struct stat st;
        int r = 0;

        if (fstat(t->fd, &st) == 0 && (uint64_t)st.st_size > t->at)
                r = read_on(t, (uint64_t)st.st_size, fn, userdata);
        t->fd = sg_close(t->fd);
        t->n_rotated++;
        return r > 0;
}

static int look_at_same(struct sg_tail *t, uint64_t size, sg_tail_fn *fn, void *userdata)
{
        if (size == t->at)
                return 0;
        if (size < t->at) {
                fn(NULL, 0, userdata);
                t->n_truncated++;
                t->at = 0;
                t->mid_line = false;
        }
        return read_on(t, size, fn, userdata);
}

static int look(struct sg_tail *t, sg_tail_fn *fn, void *userdata)
{
        uint64_t size = 0;
        struct stat st;
        int r, came = 0;

        if (t->fd >= 0) {
                if (fstatat(AT_FDCWD, t->path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
                        if (errno != ENOENT)
                                return -errno;
                        /* Between two steps of a rotation, or for good: it may still grow. */
                        if (fstat(t->fd, &st) < 0)
                                return -errno;
                }
                if (st.st_dev == t->dev && st.st_ino == t->ino)
                        return look_at_same(t, (uint64_t)st.st_size, fn, userdata);
                came = leave_file(t, fn, userdata);
        }
        r = open_file(t, &size);
        if (r >= 0)
                r = read_on(t, size, fn, userdata);
        return came > 0 ? 1 : r;
}

int sg_tail_look(struct sg_tail *t, sg_tail_fn *fn, void *userdata)
{
        int r = look(t, fn, userdata);

        t->grows = r > 0;
        t->glances = 0;
        return r;
}

int sg_tail_glance(struct sg_tail *t, sg_tail_fn *fn, void *userdata)
{
        ssize_t n = 0;

        if (t->fd >= 0 && t->grows && t->glances++ < GLANCES)
                n = sg_pread(t->fd, buffer, BUFFER_SIZE, t->at);
        /* There may be more than is to be read at once. */
        if (n <= 0 || n == (ssize_t)BUFFER_SIZE)
                return sg_tail_look(t, fn, userdata);
        take(t, (size_t)n, fn, userdata);
        return 1;
}
