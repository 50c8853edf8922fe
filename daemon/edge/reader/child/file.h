/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A progress file: a small file that its job writes anew to say how far it is. */

#include "edge/reader/child/values.h"
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define SG_PROGRESS_FILE_MAX (64U << 10)

struct sg_progress_file {
        char *path;
        uid_t uid;
        uint64_t since_usec;
        enum sg_goal goal;
        /* its own: */
        struct sg_values values;
        ino_t ino;
        dev_t dev;
        off_t size;
        struct timespec modified, changed;
        uint32_t crc;
        bool settled; /* a further change would show in the times */
};

/* -ENOMEM. */
int sg_progress_file_init(struct sg_progress_file *f, const char *path, uid_t uid,
                          uint64_t since_usec, enum sg_goal goal);
void sg_progress_file_deinit(struct sg_progress_file *f);

/* 1: it says something new; 0: nothing new; -EFBIG, -EBADMSG: it can't be understood (and hasn't
 * been written just now); else as sg_tail_look(). */
int sg_progress_file_look(struct sg_progress_file *f, uint64_t now_usec, struct sg_report *ret);
