/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plot as one SVG file: lines and text, no script, nothing from elsewhere. */

#include "ctl/show/plot.h"
#include "ctl/show/svg.h"
#include <math.h>

/* In pixels. */
#define LEFT 80
#define PANEL 180 /* with its title and the space below */
#define PLOT 140
#define BOTTOM 40
#define TITLE 20

static double x_of(const struct sg_chart *c, double v)
{
        return LEFT + sg_axis_place(&c->x, v) * (SG_SVG_WIDTH - LEFT - SG_SVG_RIGHT);
}

static double y_of(const struct sg_chart *c, double top, double v)
{
        return top + (1 - sg_axis_place(&c->y, v)) * PLOT;
}

static void print_line(const struct sg_chart *c, double top, FILE *f)
{
        const char *mark = "M";

        (void)fputs("<path class=\"line\" d=\"", f);
        for (size_t i = 0; i < c->n; i++) {
                if (!isfinite(c->ys[i]))
                        continue;
                (void)fprintf(f, "%s%.1f %.1f", mark, x_of(c, c->xs[i]), y_of(c, top, c->ys[i]));
                if (*mark == 'M') /* a line to itself: one point alone is a dot */
                        (void)fputs("h0", f);
                mark = "L";
        }
        (void)fputs("\"/>\n", f);
}

static void print_panel(const struct sg_chart *c, double top, FILE *f)
{
        char label[64];
        double v;

        sg_svg_text(LEFT, top - 8, "title", c->title, f);
        for (unsigned i = 0; sg_axis_tick(&c->y, i, &v); i++) {
                double y = y_of(c, top, v);

                (void)fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y,
                              SG_SVG_WIDTH - SG_SVG_RIGHT);
                sg_svg_text(LEFT - 8, y + 4, "y", sg_axis_label(&c->y, v, label, sizeof(label)), f);
        }
        for (unsigned i = 0; sg_axis_tick(&c->x, i, &v); i++)
                (void)fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fv%d\"/>\n", x_of(c, v), top,
                              PLOT);
        print_line(c, top, f);
}

static void print_x_labels(const struct sg_chart *c, double top, FILE *f)
{
        char label[64];
        double v;

        for (unsigned i = 0; sg_axis_tick(&c->x, i, &v); i++)
                sg_svg_text(x_of(c, v), top, "x", sg_axis_label(&c->x, v, label, sizeof(label)), f);
}

void sg_plot_print_svg(const struct sg_plot *p, FILE *f)
{
        int height = SG_SVG_TOP + (int)sg_plot_panels(p) * PANEL + BOTTOM;
        struct sg_chart chart = {0};
        double top = SG_SVG_TOP + TITLE;
        char title[128];
        size_t at = 0;

        sg_svg_begin(SG_SVG_WIDTH, height, p->heading,
                     ".line{stroke:#06c;stroke-width:1.5;stroke-linecap:round;fill:none}", f);
        sg_svg_text(LEFT, 24, "heading", p->heading, f);
        for (; sg_plot_next(p, &at, 5, &chart, title, sizeof(title)); top += PANEL)
                print_panel(&chart, top, f);
        if (chart.n > 0)
                print_x_labels(&chart, top - PANEL + PLOT + 18, f);
        else
                sg_svg_text(LEFT, top, "title", "nothing is known", f);
        (void)fputs("</svg>\n", f);
}
