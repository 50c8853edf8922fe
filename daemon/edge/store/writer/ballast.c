/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/writer/ballast.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/param.h>
#include <sys/stat.h>
#include <unistd.h>

/* Erasing the largest submission takes as much room in the log of the database (secure_delete), and
 * a log that couldn't be moved into the database before may be as long. */
#define BALLAST_MAX (24ULL << 20)
#define PART_OF_DISK 8U
#define PAGE 4096U

uint64_t sg_ballast_room(const struct sg_ballast *b)
{
        return sg_disk_free(b->state_fd);
}

static uint64_t wanted(int state_fd)
{
        uint64_t disk = sg_disk_size(state_fd);

        return disk == UINT64_MAX ? 0 : MIN(disk / PART_OF_DISK, BALLAST_MAX) / PAGE * PAGE;
}

void sg_ballast_open(struct sg_ballast *b, int state_fd)
{
        *b = (struct sg_ballast){.state_fd = state_fd, .fd = -1, .wanted = wanted(state_fd)};
        sg_ballast_fill(b);
}

void sg_ballast_close(struct sg_ballast *b)
{
        b->fd = sg_close(b->fd);
}

bool sg_ballast_drop(struct sg_ballast *b)
{
        bool held = b->held > 0;

        if (held && ftruncate(b->fd, 0) < 0)
                return false;
        b->held = 0;
        return held;
}

/* A former one is kept, unless it is of another size, or a copy with holes. */
static int open_file(struct sg_ballast *b)
{
        _cleanup_close_ int fd =
                openat(b->state_fd, "ballast", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                return -errno;
        b->held = (uint64_t)st.st_size;
        if (b->held > b->wanted || (uint64_t)st.st_blocks * 512 < b->held) {
                if (ftruncate(fd, 0) < 0)
                        return -errno;
                b->held = 0;
        }
        b->fd = TAKE_FD(fd);
        return 0;
}

void sg_ballast_fill(struct sg_ballast *b)
{
        uint64_t more;

        if (b->wanted == 0 || (b->fd < 0 && open_file(b) < 0))
                return;
        more = MIN(b->wanted - b->held, sg_ballast_room(b)) / PAGE * PAGE;
        while (more > 0) {
                if (posix_fallocate(b->fd, (off_t)b->held, (off_t)more) == 0) {
                        b->held += more;
                        return;
                }
                /* A part of it may be there. The disk needs room for its own books. */
                if (ftruncate(b->fd, (off_t)b->held) < 0)
                        return;
                more = more / 2 / PAGE * PAGE;
        }
}

bool sg_ballast_is_whole(const struct sg_ballast *b)
{
        return b->held == b->wanted;
}

bool sg_ballast_is_short(const struct sg_ballast *b)
{
        return b->held < b->wanted && sg_ballast_room(b) < b->wanted - b->held;
}
