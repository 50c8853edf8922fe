/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* How `top` looks, as lines of text: for a screen, or one below the other. All that colours say,
 * the text says as well. Pure. */

#include "ctl/top/model.h"

enum sg_top_look {
        SG_TOP_PLAIN,
        SG_TOP_BOLD,
        SG_TOP_HEADING,
        SG_TOP_SELECTED,
        SG_TOP_DIM,    /* what waits */
        SG_TOP_YELLOW, /* what was stopped */
        SG_TOP_RED,    /* what needs somebody */
        SG_TOP_GREEN,  /* what goes on */
};

/* A part of a line that looks different, in characters from its beginning. */
struct sg_top_span {
        unsigned from, n;
        enum sg_top_look look;
};

#define SG_TOP_SPANS 8

struct sg_top_line {
        const char *text;
        enum sg_top_look look;
        struct sg_top_span spans[SG_TOP_SPANS]; /* from left to right */
        size_t n_spans;
};

struct sg_top_view {
        unsigned width, height; /* 0 = as much as there is */
        bool utf8;
        bool interactive; /* with a selected job, and keys to press */
        bool no_legend;
        size_t selected; /* in t->order */
        size_t first;    /* the job at the top: follows what is selected */
};

/* One line, at most as wide as the view. */
typedef void sg_top_put(void *userdata, unsigned row, const struct sg_top_line *line);

/* Draws all; brings selected and first within bounds. -ENOMEM. */
int sg_top_draw(const struct sg_top *t, struct sg_top_view *v, sg_top_put *put, void *userdata);

/* Lines that are left for jobs. */
unsigned sg_top_rows(const struct sg_top_view *v);
