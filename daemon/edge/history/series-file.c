/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See series-file.h. A header that says what the file is and never changes, with its checksum, and
 * the series behind it. What changes has no checksum, as it would have to be right after each
 * store: sg_series_repair() accepts anything there. Values are in the host's order: the file stays
 * where it was made.
 */

#include "edge/history/series-file.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/record.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAGIC "sgseries"
#define VERSION 1U

struct header {
        char magic[8];
        uint32_t version;
        uint32_t point_size;
        uint32_t points_max;
        uint32_t crc; /* of what is before it */
};

struct file {
        struct header header;
        char spare[40];
        struct sg_series series;
};

_Static_assert(sizeof(struct sg_point) == 40, "the layout of a version");
_Static_assert(offsetof(struct file, series) == 64, "likewise");
_Static_assert(sizeof(struct file) <= 5 * 4096, "as series.h says");

static struct header expected(void)
{
        struct header h = {.magic = MAGIC,
                           .version = VERSION,
                           .point_size = sizeof(struct sg_point),
                           .points_max = SG_SERIES_MAX};

        h.crc = sg_crc32c(&h, offsetof(struct header, crc));
        return h;
}

static bool is_ours(const struct header *h)
{
        struct header want = expected();

        return memcmp(h, &want, sizeof(want)) == 0;
}

/* A header of zeroes: a crash came between the making of the file and its header. */
static bool is_blank(const struct header *h)
{
        static const struct header blank;

        return memcmp(h, &blank, sizeof(blank)) == 0;
}

static int path_of(const char *state_dir, const struct sg_job_key *key, char buf[PATH_MAX])
{
        int n = snprintf(buf, PATH_MAX, "%s/series/%" PRIu64 "-%s", state_dir, key->n, key->origin);

        return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* On file systems that never write in place (btrfs) allocated blocks promise nothing, unless the
 * file is marked. */
static void write_in_place(int fd)
{
        int flags;

        if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
                return;
        flags |= FS_NOCOW_FL;
        (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

static int open_file(const char *state_dir, const char *path)
{
        const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
        char dir[PATH_MAX];
        int fd, r;

        fd = open(path, flags, 0600);
        if (fd >= 0 || errno != ENOENT)
                return fd >= 0 ? fd : -errno;
        r = sg_path_join(dir, sizeof(dir), state_dir, "series");
        if (r >= 0)
                r = sg_mkdir_p(dir, 0700);
        if (r < 0)
                return r;
        fd = open(path, flags, 0600);
        return fd >= 0 ? fd : -errno;
}

/* Allocates all blocks, and writes the header if the file is new. */
static int make_whole(int fd, bool anew)
{
        struct header h = expected();
        int r;

        if (anew && ftruncate(fd, 0) < 0)
                return -errno;
        if (anew)
                write_in_place(fd);
        r = posix_fallocate(fd, 0, sizeof(struct file));
        if (r != 0)
                return -r;
        if (anew && pwrite(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h))
                return errno > 0 ? -errno : -EIO;
        return 0;
}

static int open_at(const char *state_dir, const char *path, struct sg_series **ret)
{
        _cleanup_close_ int fd = -1;
        struct header h = {0};
        bool anew;
        void *p;
        int r;

        fd = open_file(state_dir, path);
        if (fd < 0)
                return fd;
        anew = pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || !is_ours(&h);
        if (anew && !is_blank(&h))
                sg_log(LOG_WARNING, "%s is no series of this version, starting it anew", path);
        r = make_whole(fd, anew);
        if (r < 0) {
                if (anew)
                        (void)unlink(path);
                return r;
        }
        p = mmap(NULL, sizeof(struct file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
                return -errno;
        *ret = &((struct file *)p)->series;
        if (sg_series_repair(*ret) > 0)
                sg_log(LOG_NOTICE, "%s was being written when something ended that", path);
        return 0;
}

int sg_series_open(const char *state_dir, const struct sg_job_key *key, struct sg_series **ret)
{
        char path[PATH_MAX];
        int r = path_of(state_dir, key, path);

        if (r < 0)
                return r;
        r = open_at(state_dir, path, ret);
        if (r < 0)
                sg_log(LOG_WARNING, "cannot keep %s: %s", path, strerror(-r));
        return r;
}

struct sg_series *sg_series_close(struct sg_series *s)
{
        if (s)
                (void)munmap((char *)s - offsetof(struct file, series), sizeof(struct file));
        return NULL;
}

struct sg_series *sg_series_finish(const char *state_dir, const struct sg_job_key *key,
                                   struct sg_series *s)
{
        char path[PATH_MAX];
        uint64_t n;

        if (!s)
                return NULL;
        n = s->n;
        (void)sg_series_close(s);
        if (path_of(state_dir, key, path) >= 0 &&
            truncate(path, (off_t)(offsetof(struct file, series.points) +
                                   n * sizeof(struct sg_point))) < 0)
                sg_log(LOG_DEBUG, "%s stays as large as it is: %m", path);
        return NULL;
}

int sg_series_parse(const void *data, uint64_t size, struct sg_series *ret)
{
        const size_t begin = offsetof(struct file, series);
        struct header h;
        uint64_t room;

        if (size < begin + offsetof(struct sg_series, points))
                return -EBADMSG;
        memcpy(&h, data, sizeof(h));
        if (!is_ours(&h))
                return -EBADMSG;
        size = size < sizeof(struct file) ? size : sizeof(struct file);
        *ret = (struct sg_series){0};
        memcpy(ret, (const char *)data + begin, size - begin);
        room = (size - begin - offsetof(struct sg_series, points)) / sizeof(struct sg_point);
        if (ret->n > room)
                ret->n = room;
        (void)sg_series_repair(ret);
        return 0;
}

int sg_series_read(const char *state_dir, const struct sg_job_key *key, struct sg_series **ret)
{
        _cleanup_free_ struct sg_series *s = malloc(sizeof(*s));
        _cleanup_free_ char *data = NULL;
        char path[PATH_MAX];
        size_t size;
        int r;

        if (!s)
                return -ENOMEM;
        r = path_of(state_dir, key, path);
        if (r >= 0)
                r = sg_read_file(AT_FDCWD, path, sizeof(struct file), &data, &size);
        if (r >= 0)
                r = sg_series_parse(data, size, s);
        if (r < 0)
                return r == -EFBIG ? -EBADMSG : r;
        *ret = TAKE_PTR(s);
        return 0;
}
