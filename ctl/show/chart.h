/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A line over time, in the characters of a terminal: braille, two by four dots in each, or ASCII.
 * Pure but for the FILE. */

#include "ctl/show/axis.h"
#include <stdio.h>

/* Left of each line: a label and the axis. */
#define SG_CHART_GUTTER 9U

struct sg_chart {
        const char *title;
        struct sg_axis x, y;
        const double *xs, *ys; /* n of each; what isn't finite is left out */
        size_t n;
};

/* A line, of which so much is shown. */
void sg_chart_print_text(unsigned indent, const char *text, unsigned width, FILE *f);

/* `height` lines below the title, each at most `width` wide; -ENOMEM. colour: a sequence, or "". */
int sg_chart_print(const struct sg_chart *c, unsigned width, unsigned height, bool utf8,
                   const char *colour, const char *plain, FILE *f);

/* The axis below, two lines. */
int sg_chart_print_x_axis(const struct sg_axis *x, unsigned width, bool utf8, FILE *f);

/* The last n of v as one character each, from the least to the most of them; "" where none is
 * finite. buf has 3 bytes for each and one more. Returns buf. */
const char *sg_sparkline(const double *v, size_t n_v, size_t n, bool utf8, char *buf);

/* A bar of `width` characters; buf has 3 bytes for each and one more. Returns buf. */
const char *sg_bar(double fraction, unsigned width, bool utf8, char *buf);
