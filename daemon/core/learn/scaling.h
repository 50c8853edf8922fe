/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How a job's speed grows with its share of the node: as share^exponent. One that spins, or whose
 * threads wait for each other, is less than twice as fast with twice the share, and what it has
 * used doesn't tell how far it is: what counts there is the time at each share, by this rule.
 *
 * The exponent is the slope of log speed over log share, of intervals between reports in which the
 * share hardly changed. It stays 1 until it is surely less.
 *
 * Where shares come in whole CPUs there is a curve in its place (pace.h), and what counts is the
 * time at each number of CPUs, by the curve: seconds of one CPU.
 */

#include "core/learn/pace.h"
#include <stdint.h>

struct sg_scaling {
        double exponent;
        double now, cpu; /* as last told; now NaN = never */
        double done;     /* CPU-seconds alone that the job has made of its shares */
        /* since the last report */
        double begun, begun_cpu, x;
        double every; /* s between two, lately; 0 = not known */
        double own;   /* CPUs that it has had for itself; NaN = they changed */
        double lowest, highest;
        /* of intervals, older ones fade */
        double n, share, speed, share_square, speed_square, product; /* logarithms */
        bool given, whole;
        struct sg_pace pace;
};

struct sg_scaling_count {
        double now, cpu; /* CPU-seconds used */
        double cpus, width;
        double own; /* CPUs that it had for itself since the last one; 0 = it shared them */
};

void sg_scaling_init(struct sg_scaling *s, double exponent /* NaN or 0: as measured */);
/* From the beginning: shares come in whole CPUs. usual: what is thought of its curve. */
void sg_scaling_use_whole(struct sg_scaling *s, const struct sg_usual *usual);
void sg_scaling_give(struct sg_scaling *s, double exponent /* likewise */); /* in its place */
void sg_scaling_advance(struct sg_scaling *s, const struct sg_scaling_count *c);
/* What `done` will be then. */
double sg_scaling_done(const struct sg_scaling *s, const struct sg_scaling_count *c);
/* After advance(). True: the exponent has changed, and `done` counts otherwise from here on. */
bool sg_scaling_report(struct sg_scaling *s, double x, const struct sg_scaling_count *c);
