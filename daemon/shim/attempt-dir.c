/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The attempt's directory: lock, spec, fate and exit record. */

#include "shim/attempt-dir.h"
#include "base/fault.h"
#include "base/file.h"
#include "proto/names.h"
#include "shim/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#define STATE "../../"
#define RETRY_FIRST_MSEC 10
#define RETRY_LONGEST_MSEC 1000
#define RETRY_TOTAL_MSEC 30000

int sg_attempt_dir_open(struct sg_attempt_dir *ret, const char *path)
{
        _cleanup_close_ int fd = -1, lock = -1, record = -1;
        int r;

        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        lock = openat(fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
                return -errno;
        r = sg_process_lock(lock);
        if (r < 0)
                return r;
        record = openat(fd, "exit.tmp", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (record < 0)
                return -errno;
        *ret = (struct sg_attempt_dir){
                .fd = TAKE_FD(fd),
                .lock = TAKE_FD(lock),
                .record = TAKE_FD(record),
                .daemon = getppid(),
        };
        return 0;
}

int sg_attempt_dir_read_spec(const struct sg_attempt_dir *d, struct sg_spec *ret)
{
        _cleanup_free_ char *data = NULL;
        size_t size;
        int r;

        r = sg_read_file(d->fd, "spec", SG_SPEC_MAX, &data, &size);
        if (r < 0)
                return r;
        return sg_spec_decode(ret, data, size);
}

/* Both fates are hard links, so the inode tells which one is there. */
static int read_fate(const struct sg_attempt_dir *d)
{
        struct stat fate, run;

        if (fstatat(d->fd, "fate", &fate, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (fstatat(d->fd, STATE "fate.run", &run, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (fate.st_ino == run.st_ino && fate.st_dev == run.st_dev)
                return SG_PUBLISHED_RUN;
        return SG_PUBLISHED_VOID;
}

int sg_attempt_dir_publish(const struct sg_attempt_dir *d, enum sg_published wanted)
{
        const char *source = wanted == SG_PUBLISHED_RUN ? STATE "fate.run" : STATE "fate.void";
        int fate = (int)wanted;

        if (linkat(d->fd, source, d->fd, "fate", 0) < 0) {
                if (errno != EEXIST)
                        return -errno;
                fate = read_fate(d);
        }
        /* fsync(2) also when another process has linked it: that one may have died before its
         * own. */
        if (fate == SG_PUBLISHED_RUN && fsync(d->fd) < 0)
                return -errno;
        return fate;
}

void sg_attempt_dir_fault(const struct sg_attempt_dir *d, const char *name)
{
        sg_fault(name, d->fd, STATE "fault", d->daemon);
}

static int write_exit(const struct sg_attempt_dir *d, const uint8_t buf[SG_EXIT_SIZE])
{
        ssize_t n = pwrite(d->record, buf, SG_EXIT_SIZE, 0);

        if (n != SG_EXIT_SIZE)
                return n < 0 ? -errno : -ENOSPC;
        /* Preallocated: but for the times there is no metadata to make durable. */
        if (fdatasync(d->record) < 0)
                return -errno;
        sg_attempt_dir_fault(d, "record-before-rename");
        if (renameat(d->fd, "exit.tmp", d->fd, "exit") < 0)
                return -errno;
        sg_attempt_dir_fault(d, "record-after-rename");
        return 0;
}

int sg_attempt_dir_write_exit(const struct sg_attempt_dir *d, const struct sg_exit *e)
{
        uint8_t buf[SG_EXIT_SIZE];
        bool renamed = false;
        int r, waited = 0, pause = RETRY_FIRST_MSEC;

        sg_exit_pack(e, buf);
        for (;;) {
                r = renamed ? 0 : write_exit(d, buf);
                renamed = r == 0;
                if (renamed)
                        r = fsync(d->fd) < 0 ? -errno : 0;
                /* Without its directory there is nobody left to write for. */
                if (r == 0 || r == -ENOENT || waited >= RETRY_TOTAL_MSEC)
                        return r;
                (void)poll(NULL, 0, pause);
                waited += pause;
                if (pause < RETRY_LONGEST_MSEC)
                        pause *= 2;
        }
}
