/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * One small file that is replaced from time to time. A descriptor of what was read is kept: that
 * the file was replaced shows in its link count, that it was written to in its time and size, and
 * both cost one fstat(2), with no path to walk and no inotify instance, of which a user has only
 * 128.
 *
 * A program may close or reuse any descriptor that it doesn't know: what isn't our file any more is
 * never closed by us.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sgc_follow {
        const char *path; /* NULL: there is nothing to follow, nothing changes */
        _Atomic int fd;
        _Atomic uint64_t signature;     /* of what was read */
        _Atomic uint64_t patient_until; /* it isn't there: when to look again */
        dev_t dev;                      /* whose signature that is */
        ino_t ino;
};

#define SGC_FOLLOW_INIT                                                                            \
        {                                                                                          \
                .fd = -1                                                                           \
        }

/* Whether sgc_follow_read() may have news. Lock-free, async-signal-safe. */
bool sgc_follow_changed(struct sgc_follow *f);
/* Makes the next look a real one, whatever `patient_until` says: the caller has heard elsewhere
 * that there may be news. */
void sgc_follow_hurry(struct sgc_follow *f);
/* Reads it, one caller at a time: its length, or negative errno (-EFBIG beyond size). */
ssize_t sgc_follow_read(struct sgc_follow *f, char *buf, size_t size);
/* Moves a new descriptor above those that programs and shells use as fixed numbers; takes it over
 * and returns another, or itself. */
int sgc_move_high(int fd);
/* Closes the descriptor, if it is still our file's. */
void sgc_follow_close(struct sgc_follow *f);
