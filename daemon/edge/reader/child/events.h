/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * TensorBoard's event files, as they grow: one file, or the newest below a directory, where
 * programs begin another one for every run and for every kind of data ("train", "validation").
 *
 * Without a tag it is the scalar that is best known for a metric of the goal; values of the
 * training set come before those of a held-out one.
 */

#include "core/reports/report.h"
#include "core/reports/tfevents.h"
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#define SG_EVENTS_FILES_MAX 4U
#define SG_EVENTS_TAG_MAX 96U

struct sg_events_file {
        char *path; /* NULL: this place is free */
        int fd;
        dev_t dev;
        ino_t ino;
        uint64_t at;
        uint64_t modified_usec; /* at the last scan */
        bool held_out, lost;
        struct sg_tfevents events;
};

struct sg_events {
        char *path, *tag;
        uid_t uid;
        uint64_t since_usec;
        enum sg_goal goal;
        /* its own: */
        struct sg_events_file files[SG_EVENTS_FILES_MAX];
        struct timespec scanned; /* the directory's time then */
        unsigned idle;           /* looks without news */
        uint8_t rank;
        bool held_out;
        char chosen[SG_EVENTS_TAG_MAX];
};

/* -ENOMEM. tag may be NULL. */
int sg_events_init(struct sg_events *e, const char *path, const char *tag, enum sg_goal goal);
void sg_events_deinit(struct sg_events *e);

/* The number of scalars that were taken, merged in *ret; as sg_tail_look() for what isn't right;
 * -EBADMSG: a file is damaged, which is told once for each. */
int sg_events_look(struct sg_events *e, struct sg_report *ret);
