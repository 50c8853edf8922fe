/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Workloads for the simulator: jobs that come at their time, want so much, and learn along a curve.
 * As a file it is CSV, a header with the columns below in any order, then a line per job:
 *
 *   instance,job   labels, of up to 31 characters; jobs of one instance share a node, instances
 *                  have nothing to do with each other
 *   arrival        seconds
 *   work           seconds alone on the node
 *   width          the largest part of the node that it can use, 0 … 1
 *   curve,a,b      exp e^(−a·x); pow (1 + a·x)^(−b); weibull e^(−(x/a)^b), x the done part
 *   first,last     the loss at the beginning and at the end, as the curve goes from 1 to its value
 *                  at 1
 *   reports        how often it says how far it is
 *   noise          on what it says, as a part of the way that its loss has still to go
 *   deadline       seconds, from the same zero as arrival; empty = none
 *   exponent       its speed grows as CPUs^exponent, from one up; empty = in proportion
 *   speedup        in its place points of the curve, "1:1,2:1.4,4:2.1" in quotes
 *   threads        that it has if nobody tells it; empty = as many as it can use CPUs
 *
 * The last four may be missing.
 */

#include "core/job/speedup.h"
#include <stddef.h>
#include <stdint.h>

#define SG_TRACE_HEADER                                                                            \
        "instance,job,arrival,work,width,curve,a,b,first,last,reports,noise,deadline,"             \
        "exponent,speedup,threads"
#define SG_TRACE_LABEL_MAX 32
#define SG_TRACE_LINE_MAX 1024

enum sg_trace_curve { SG_CURVE_EXP, SG_CURVE_POW, SG_CURVE_WEIBULL };

struct sg_trace_job {
        char instance[SG_TRACE_LABEL_MAX], job[SG_TRACE_LABEL_MAX];
        double arrival, work, width;
        enum sg_trace_curve curve;
        double a, b, first, last;
        uint32_t reports;
        double noise;
        double deadline; /* INFINITY = none */
        struct sg_speedup speedup;
        uint32_t threads; /* 0 = as many as it can use CPUs */
};

struct sg_trace { /* zero-initialise */
        struct sg_trace_job *jobs;
        size_t n, allocated;
};

void sg_trace_deinit(struct sg_trace *t);
int sg_trace_add(struct sg_trace *t, const struct sg_trace_job *job); /* copied; -ENOMEM */
/* Instances together, jobs of each by arrival; what is equal stays in its order. -ENOMEM */
int sg_trace_sort(struct sg_trace *t);
/* Where the instance that begins at `begin` ends. */
size_t sg_trace_instance_end(const struct sg_trace *t, size_t begin);

struct sg_trace_error {
        size_t line;        /* from 1 */
        const char *column; /* NULL = the whole line */
        const char *what;
};

/* Adds the jobs of a file, and sorts. -EBADMSG with the error described: nothing was added. */
int sg_trace_parse(struct sg_trace *t, const char *text, size_t size, struct sg_trace_error *e);
/* One line without its end, which parses to the same, but for points of a speed-up between the
 * powers of two; buf of SG_TRACE_LINE_MAX is enough. */
const char *sg_trace_format(const struct sg_trace_job *job, char *buf, size_t size);

/* The loss without noise, x from 0 to 1. */
double sg_trace_loss(const struct sg_trace_job *job, double x);
/* How much of the way from the first to the last loss is still to go, 1 … 0. */
double sg_trace_left(const struct sg_trace_job *job, double x);
/* The x at which only `left` of it is to go. */
double sg_trace_left_at(const struct sg_trace_job *job, double left);
