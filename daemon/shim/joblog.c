/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The managed log. Rotation renames log → log.1 → … → log.KEEP; it happens between lines where the
 * buffer shows one, and inside of a line only if that is longer than what was left of the file.
 */

#include "shim/joblog.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "shim/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* The size of a pipe: one read empties it. */
#define BUFFER_SIZE (64U * 1024)
#define KEEP_MAX 1000
#define LOG_MODE 0640

static char buffer[BUFFER_SIZE];

void sg_joblog_init(struct sg_joblog *l, struct sg_spec *s)
{
        *l = (struct sg_joblog){
                .uid = s->uid,
                .max = s->log_max,
                .keep = s->log_keep < KEEP_MAX ? s->log_keep : KEEP_MAX,
                .fd = -1,
                .at_line_start = true,
        };
        l->path = TAKE_PTR(s->log);
}

void sg_joblog_deinit(struct sg_joblog *l)
{
        l->fd = sg_close(l->fd);
        free(TAKE_PTR(l->path));
}

/* The log is root's, as an owner could make it larger than it may be; its user may read it. A log
 * of an earlier keeper was the user's. Where there are no access control lists, the user reads it
 * by OpenLog. */
static int own(const struct sg_joblog *l, int fd, const struct stat *st)
{
        if (geteuid() != 0 || l->uid == 0)
                return 0;
        if (st->st_uid != 0 && (fchown(fd, 0, 0) < 0 || fchmod(fd, LOG_MODE) < 0))
                return -errno;
        (void)sg_acl_admit(fd, l->uid, 6, 4);
        return 0;
}

/* NONBLOCK: what lies there may be a FIFO that nobody reads; only a regular file is a log. */
static int log_open(struct sg_joblog *l, int flags)
{
        _cleanup_close_ int fd = -1;
        struct stat st;
        int r;

        if (l->fd >= 0)
                return 0;
        if (!l->path)
                return -ENOENT;
        fd = open(l->path,
                  O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | O_CLOEXEC |
                          flags,
                  LOG_MODE);
        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode))
                return -ENOTSUP;
        r = own(l, fd, &st);
        if (r < 0)
                return r;
        l->size = (uint64_t)st.st_size;
        l->fd = TAKE_FD(fd);
        return 0;
}

static int numbered(char buf[PATH_MAX], const char *path, uint64_t n)
{
        int length = n == 0 ? snprintf(buf, PATH_MAX, "%s", path)
                            : snprintf(buf, PATH_MAX, "%s.%llu", path, (unsigned long long)n);

        return length < 0 || length >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int rotate(struct sg_joblog *l)
{
        char from[PATH_MAX], to[PATH_MAX];
        int r;

        l->fd = sg_close(l->fd);
        for (uint64_t n = l->keep; n > 0; n--) {
                r = numbered(from, l->path, n - 1);
                if (r == 0)
                        r = numbered(to, l->path, n);
                if (r < 0)
                        return r;
                if (rename(from, to) < 0 && errno != ENOENT)
                        return -errno;
        }
        return log_open(l, O_TRUNC);
}

/* Appends all of it: 0, or -errno with the rest counted as dropped by the caller. */
static int append(struct sg_joblog *l, const char *data, size_t size, size_t *written)
{
        while (*written < size) {
                ssize_t n = write(l->fd, data + *written, size - *written);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                *written += (size_t)n;
                l->size += (uint64_t)n;
                l->at_line_start = data[*written - 1] == '\n';
        }
        return 0;
}

/* How much of data goes into the present file; 0: rotate first. */
static size_t fitting(const struct sg_joblog *l, const char *data, size_t size)
{
        uint64_t room = l->size < l->max ? l->max - l->size : 0;
        const char *end;

        if (l->max == 0 || size <= room)
                return size;
        end = memrchr(data, '\n', room);
        if (end)
                return (size_t)(end - data) + 1;
        /* A line that doesn't fit here starts the next file, unless it is longer than a file. */
        return l->at_line_start && l->size > 0 ? 0 : (size_t)room;
}

static int store(struct sg_joblog *l, const char *data, size_t size, size_t *ret_done)
{
        size_t done = 0;
        int r;

        *ret_done = 0;
        while (done < size) {
                size_t part = 0, n;

                r = log_open(l, 0);
                if (r < 0)
                        return r;
                n = fitting(l, data + done, size - done);
                r = n > 0 ? append(l, data + done, n, &part) : rotate(l);
                done += part;
                *ret_done = done;
                if (r < 0)
                        return r;
        }
        return 0;
}

static void drop(struct sg_joblog *l, size_t size, int r)
{
        if (l->dropped == 0)
                l->error = -r;
        l->dropped += size;
        /* The file may be back under its name, on a disk with room, after an error. */
        l->fd = sg_close(l->fd);
}

static int store_note(struct sg_joblog *l, const char *what, const char *why)
{
        char line[256];
        size_t done;
        int n = snprintf(line, sizeof(line), "%sschedgov: %s: %s\n", l->at_line_start ? "" : "\n",
                         what, why);

        if (n < 0)
                return -EINVAL;
        return store(l, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1, &done);
}

static int store_loss(struct sg_joblog *l)
{
        char what[64];
        int r;

        if (l->dropped == 0)
                return 0;
        (void)snprintf(what, sizeof(what), "%llu bytes of output lost here",
                       (unsigned long long)l->dropped);
        r = store_note(l, what, sg_process_strerror(l->error));
        if (r == 0)
                l->dropped = 0;
        return r;
}

static void put(struct sg_joblog *l, const char *data, size_t size)
{
        size_t done = 0;
        int r;

        r = store_loss(l);
        if (r == 0)
                r = store(l, data, size, &done);
        if (r < 0)
                drop(l, size - done, r);
}

void sg_joblog_note(struct sg_joblog *l, const char *what, const char *why)
{
        if (store_loss(l) == 0)
                (void)store_note(l, what, why);
}

ssize_t sg_joblog_drain(struct sg_joblog *l, int pipe)
{
        ssize_t n;

        do
                n = read(pipe, buffer, sizeof(buffer));
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        if (n > 0)
                put(l, buffer, (size_t)n);
        return n;
}

void sg_joblog_drain_rest(struct sg_joblog *l, int pipe)
{
        int left;

        if (ioctl(pipe, FIONREAD, &left) == 0)
                while (left > 0) {
                        ssize_t n = sg_joblog_drain(l, pipe);

                        if (n <= 0)
                                break;
                        left -= (int)n;
                }
        (void)store_loss(l);
}
