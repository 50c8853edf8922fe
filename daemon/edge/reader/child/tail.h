/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Follows a text file that grows, by its name: over rotation (the file is renamed or removed and
 * another one takes its name; what the old one still had is read first), truncation, and its not
 * being there yet. What hasn't changed costs one stat; what grows, one read.
 *
 * One look reads SG_TAIL_LOOK_MAX at most; of more, or of what was there before the first look,
 * only the newest is read, from the next line on.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SG_TAIL_LOOK_MAX (4U << 20) /* 20 ms of parsing */
#define SG_TAIL_NEWEST (512U << 10) /* what is read of more than that */

/* n = 0: something is missing here; what comes begins with a new line. */
typedef void sg_tail_fn(const char *data, size_t n, void *userdata);

struct sg_tail {
        char *path;
        uid_t uid;           /* whose file it has to be; SG_TAIL_ANYBODY */
        uint64_t since_usec; /* a file that was last written before then is left alone */
        uint64_t before;     /* so many bytes at the file's beginning aren't read */
        uint64_t n_rotated, n_truncated, skipped_bytes;
        /* its own: */
        int fd;
        dev_t dev;
        ino_t ino;
        uint64_t at;
        bool mid_line; /* what comes first is the rest of a line that was skipped */
        bool opened;   /* ever */
        bool grows;    /* something came at the last look */
        uint8_t glances;
};

#define SG_TAIL_ANYBODY ((uid_t)-1)

/* The strings are copied. -ENOMEM. */
int sg_tail_init(struct sg_tail *t, const char *path, uid_t uid, uint64_t since_usec);
void sg_tail_deinit(struct sg_tail *t);

/* 1: something came; 0: nothing; -ENOENT: it isn't there (yet); -EPERM: it belongs to somebody
 * else; -ENOTSUP: it isn't a regular file; or why it can't be read. All may pass: look again. */
int sg_tail_look(struct sg_tail *t, sg_tail_fn *fn, void *userdata);
/* The same for a file that grows, of which only what was added is read: that another file has its
 * name is noticed when nothing was added, or some looks later. */
int sg_tail_glance(struct sg_tail *t, sg_tail_fn *fn, void *userdata);

/* For other files that are looked at in the same way: opens what must be a regular file of this
 * user. No link is followed (in the last place of the path), nothing is waited for. The fd, or as
 * above. */
struct stat;
int sg_open_own(int dirfd, const char *path, uid_t uid, struct stat *ret);
