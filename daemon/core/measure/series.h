/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a job did over time, in a block of fixed size however long it runs. When the block is full,
 * every second point is merged into the one behind it, and from then on the points are twice as far
 * apart. The first point stays where it was, the last is always what came last. Pure.
 *
 * A point stands for the time since the one before it: cpu and share are averages over that time,
 * memory is the most that was seen, eval and step are the last that were known.
 */

#include <stdint.h>

/* With its header the file of a series (edge/history/series-file.h) is five pages. */
#define SG_SERIES_MAX 510

struct sg_point {
        uint64_t time_usec;    /* since the epoch; never 0 */
        double eval;           /* NaN = not known, as in cpu and share */
        uint64_t step;         /* SG_UNLIMITED = not known */
        uint64_t memory_bytes; /* likewise */
        float cpu;             /* CPUs */
        float share;           /* of the node, 0 … 1 */
};

/* Also the layout in the file. All zeros is an empty one. */
struct sg_series {
        uint64_t spacing_usec; /* points that are nearer than this are merged */
        uint64_t n;
        struct sg_point points[SG_SERIES_MAX];
};

/* A clock that was set back counts as standing still. */
void sg_series_add(struct sg_series *s, const struct sg_point *p);

/* Makes anything that was read from a disk a valid series, in increasing order of time; the number
 * of points that had to go. One that was torn while it was being thinned out loses none. */
uint64_t sg_series_repair(struct sg_series *s);
