/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Charts of a job over time, one below the other over one axis of time. Pure but for the FILE. */

#include "ctl/line/error.h"
#include "ctl/show/chart.h"
#include "ctl/show/curves.h"
#include "ctl/show/table.h"

struct sg_plot {
        const char *heading;
        const struct sg_curves *curves;
        bool ended;              /* false by init: the last points are as it is now */
        double *seconds;         /* since the first point */
        struct sg_table columns; /* which panels, in which order */
};

/* panels: "eval,share,cpu", see -o; NULL for these. heading and curves are borrowed. */
int sg_plot_init(struct sg_plot *p, const char *heading, const struct sg_curves *curves,
                 const char *panels, struct sg_error *e);
void sg_plot_deinit(struct sg_plot *p);

/* The i-th panel that there are figures for, with at most max_ticks beside it, until false. *at
 * begins with 0. */
bool sg_plot_next(const struct sg_plot *p, size_t *at, unsigned max_ticks, struct sg_chart *ret,
                  char *title, size_t size);
size_t sg_plot_panels(const struct sg_plot *p);

/* For a terminal of this many cells. -ENOMEM. */
int sg_plot_print(const struct sg_plot *p, unsigned width, unsigned height, bool utf8, FILE *f);

/* One file that needs no other. */
void sg_plot_print_svg(const struct sg_plot *p, FILE *f);
