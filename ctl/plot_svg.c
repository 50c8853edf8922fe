/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plot as one SVG file: lines and text, no script, nothing from elsewhere. */

#include "ctl/output.h"
#include "ctl/plot.h"
#include <math.h>
#include <string.h>

/* In pixels. */
#define WIDTH 800
#define LEFT 80
#define RIGHT 20
#define TOP 40
#define PANEL 180 /* with its title and the space below */
#define PLOT 140
#define BOTTOM 40
#define TITLE 20

/* What is no character of XML is left out: control characters have no form in it at all. */
static void put_text(const char *s, FILE *f)
{
        size_t left = strlen(s), n;

        for (; left > 0; s += n, left -= n) {
                n = sg_utf8_char(s, left);
                if (n == 0 || (n == 1 && (unsigned char)*s < 0x20)) {
                        (void)fputc('?', f);
                        n = n > 0 ? n : 1;
                } else if (*s == '&') {
                        (void)fputs("&amp;", f);
                } else if (*s == '<') {
                        (void)fputs("&lt;", f);
                } else if (*s == '>') {
                        (void)fputs("&gt;", f);
                } else {
                        (void)fwrite(s, 1, n, f);
                }
        }
}

static void text(double x, double y, const char *class, const char *s, FILE *f)
{
        (void)fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
        put_text(s, f);
        (void)fputs("</text>\n", f);
}

static double x_of(const struct sg_chart *c, double v)
{
        return LEFT + sg_axis_place(&c->x, v) * (WIDTH - LEFT - RIGHT);
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

        text(LEFT, top - 8, "title", c->title, f);
        for (unsigned i = 0; sg_axis_tick(&c->y, i, &v); i++) {
                double y = y_of(c, top, v);

                (void)fprintf(f, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LEFT, y,
                              WIDTH - RIGHT);
                text(LEFT - 8, y + 4, "y", sg_axis_label(&c->y, v, label, sizeof(label)), f);
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
                text(x_of(c, v), top, "x", sg_axis_label(&c->x, v, label, sizeof(label)), f);
}

void sg_plot_print_svg(const struct sg_plot *p, FILE *f)
{
        int height = TOP + (int)sg_plot_panels(p) * PANEL + BOTTOM;
        struct sg_chart chart = {0};
        double top = TOP + TITLE;
        char title[128];
        size_t at = 0;

        (void)fprintf(f,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                      "viewBox=\"0 0 %d %d\">\n<title>",
                      WIDTH, height, WIDTH, height);
        put_text(p->heading, f);
        (void)fputs("</title>\n<style>"
                    "text{font:12px sans-serif;fill:#333}.heading{font-size:16px}"
                    ".y{text-anchor:end}.x{text-anchor:middle}"
                    ".grid{stroke:#ddd;fill:none}"
                    ".line{stroke:#06c;stroke-width:1.5;stroke-linecap:round;fill:none}"
                    "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
                    f);
        text(LEFT, 24, "heading", p->heading, f);
        for (; sg_plot_next(p, &at, 5, &chart, title, sizeof(title)); top += PANEL)
                print_panel(&chart, top, f);
        if (chart.n > 0)
                print_x_labels(&chart, top - PANEL + PLOT + 18, f);
        else
                text(LEFT, top, "title", "nothing is known", f);
        (void)fputs("</svg>\n", f);
}
