/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See chart.h. */

#include "ctl/show/chart.h"
#include "base/cleanup.h"
#include "ctl/show/table.h"
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Dots of one bit each, in cells of cols × rows. */
struct canvas {
        unsigned width, height; /* cells */
        unsigned cols, rows;
        uint8_t *cells;
};

static void dot(struct canvas *c, int x, int y)
{
        unsigned bit = (unsigned)x % c->cols * c->rows + (unsigned)y % c->rows;

        c->cells[(unsigned)y / c->rows * c->width + (unsigned)x / c->cols] |= (uint8_t)(1U << bit);
}

/* Bresenham's line. */
static void line_to(struct canvas *c, const int from[2], const int to[2])
{
        int dx = abs(to[0] - from[0]), dy = -abs(to[1] - from[1]);
        int sx = from[0] < to[0] ? 1 : -1, sy = from[1] < to[1] ? 1 : -1, error = dx + dy;
        int x = from[0], y = from[1];

        for (;;) {
                int twice = 2 * error;

                dot(c, x, y);
                if (x == to[0] && y == to[1])
                        return;
                if (twice >= dy) {
                        error += dy;
                        x += sx;
                }
                if (twice <= dx) {
                        error += dx;
                        y += sy;
                }
        }
}

static void draw(struct canvas *c, const struct sg_chart *chart)
{
        double w = c->width * c->cols - 1, h = c->height * c->rows - 1;
        int at[2], before[2];
        bool any = false;

        for (size_t i = 0; i < chart->n; i++) {
                if (!isfinite(chart->ys[i]))
                        continue;
                at[0] = (int)lround(sg_axis_place(&chart->x, chart->xs[i]) * w);
                at[1] = (int)lround((1 - sg_axis_place(&chart->y, chart->ys[i])) * h);
                line_to(c, any ? before : at, at);
                memcpy(before, at, sizeof(before));
                any = true;
        }
}

static unsigned put_utf8(uint32_t code, char *buf)
{
        buf[0] = (char)(0xe0 | code >> 12);
        buf[1] = (char)(0x80 | (code >> 6 & 0x3f));
        buf[2] = (char)(0x80 | (code & 0x3f));
        return 3;
}

/* U+2800 has its dots numbered down the left column, down the right one, and the lowest last. */
static void put_braille(uint8_t dots, FILE *f)
{
        uint32_t code = 0x2800U + (dots & 0x07U) + ((dots & 0x08U) << 3) + ((dots & 0x70U) >> 1) +
                        (dots & 0x80U);
        char buf[4] = "";

        (void)put_utf8(code, buf);
        (void)fputs(buf, f);
}

static void print_cells(const struct canvas *c, unsigned row, FILE *f)
{
        const uint8_t *cells = c->cells + row * c->width;
        unsigned n = c->width;

        while (n > 0 && cells[n - 1] == 0) /* no blanks at the end */
                n--;
        for (unsigned i = 0; i < n; i++)
                if (c->cols == 1)
                        (void)fputc(" '.:"[cells[i]], f);
                else if (cells[i] == 0)
                        (void)fputc(' ', f);
                else
                        put_braille(cells[i], f);
}

/* The label of the tick on this line, if there is one. */
static bool label_of(const struct sg_axis *y, unsigned row, unsigned height, char *buf, size_t size)
{
        double v;

        for (unsigned i = 0; sg_axis_tick(y, i, &v); i++)
                if ((unsigned)lround((1 - sg_axis_place(y, v)) * (height - 1)) == row) {
                        if (strlen(sg_axis_label(y, v, buf, size)) > SG_CHART_GUTTER - 2)
                                (void)snprintf(buf, size, "%.0e", v);
                        return true;
                }
        return false;
}

static void print_gutter(const struct sg_chart *c, unsigned row, unsigned height, bool utf8,
                         FILE *f)
{
        char label[64] = "";
        bool tick = label_of(&c->y, row, height, label, sizeof(label));

        (void)fprintf(f, "%*s %s", (int)SG_CHART_GUTTER - 2, label,
                      utf8   ? tick ? "┤" : "│"
                      : tick ? "+"
                             : "|");
}

void sg_chart_print_text(unsigned indent, const char *text, unsigned width, FILE *f)
{
        size_t n = sg_text_prefix(text, width > indent ? width - indent : 0);

        (void)fprintf(f, "%*s%.*s\n", (int)indent, "", (int)n, text);
}

static unsigned inner_width(unsigned width)
{
        return width > SG_CHART_GUTTER + 1 ? width - SG_CHART_GUTTER : 1;
}

int sg_chart_print(const struct sg_chart *c, unsigned width, unsigned height, bool utf8,
                   const char *colour, const char *plain, FILE *f)
{
        unsigned inner = inner_width(width);
        struct canvas canvas = {
                .width = inner, .height = height, .cols = utf8 ? 2 : 1, .rows = utf8 ? 4 : 2};
        _cleanup_free_ uint8_t *cells = calloc(inner, height);

        if (!cells)
                return -ENOMEM;
        canvas.cells = cells;
        draw(&canvas, c);
        sg_chart_print_text(SG_CHART_GUTTER, c->title, width, f);
        for (unsigned row = 0; row < height; row++) {
                print_gutter(c, row, height, utf8, f);
                (void)fputs(colour, f);
                print_cells(&canvas, row, f);
                (void)fprintf(f, "%s\n", plain);
        }
        return 0;
}

/* Labels begin below their tick, or end where the line does, and are left out where they would
 * touch the one before. */
static void put_label(char *labels, unsigned inner, unsigned at, const char *label, unsigned *used)
{
        unsigned n = (unsigned)strlen(label);

        if (at + n > inner)
                at = n < inner ? inner - n : 0;
        if ((*used > 0 && at <= *used) || at + n > inner)
                return;
        memcpy(labels + at, label, n);
        *used = at + n;
}

int sg_chart_print_x_axis(const struct sg_axis *x, unsigned width, bool utf8, FILE *f)
{
        unsigned inner = inner_width(width), used = 0;
        _cleanup_free_ char *ticks = calloc(inner + 1, 1), *labels = calloc(inner + 1, 1);
        char label[64];
        double v;

        if (!ticks || !labels)
                return -ENOMEM;
        memset(ticks, '-', inner);
        memset(labels, ' ', inner);
        for (unsigned i = 0; sg_axis_tick(x, i, &v); i++) {
                unsigned at = (unsigned)lround(sg_axis_place(x, v) * (inner - 1));

                ticks[at] = '+';
                put_label(labels, inner, at, sg_axis_label(x, v, label, sizeof(label)), &used);
        }
        labels[used] = '\0';
        (void)fprintf(f, "%*s%s", (int)SG_CHART_GUTTER - 1, "", utf8 ? "└" : "+");
        for (const char *t = ticks; *t; t++)
                if (utf8)
                        (void)fputs(*t == '+' ? "┬" : "─", f);
                else
                        (void)fputc(*t, f);
        (void)fprintf(f, "\n%*s%s\n", (int)SG_CHART_GUTTER, "", labels);
        return 0;
}

static void range_of(const double *v, size_t n, double *lo, double *hi)
{
        *lo = INFINITY;
        *hi = -INFINITY;
        for (size_t i = 0; i < n; i++)
                if (isfinite(v[i])) {
                        *lo = v[i] < *lo ? v[i] : *lo;
                        *hi = v[i] > *hi ? v[i] : *hi;
                }
}

const char *sg_sparkline(const double *v, size_t n_v, size_t n, bool utf8, char *buf)
{
        static const char ascii[] = "_.-=+*#@";
        double lo, hi;
        char *p = buf;

        if (n_v > n) {
                v += n_v - n;
                n_v = n;
        }
        range_of(v, n_v, &lo, &hi);
        for (size_t i = 0; lo <= hi && i < n_v; i++) {
                unsigned level = 0;

                if (!isfinite(v[i])) {
                        *p++ = ' ';
                        continue;
                }
                if (hi > lo)
                        level = (unsigned)lround((v[i] / 2 - lo / 2) / (hi / 2 - lo / 2) * 7);
                p += utf8 ? put_utf8(0x2581 + level, p) : (unsigned)(*p = ascii[level], 1);
        }
        *p = '\0';
        return buf;
}

const char *sg_bar(double fraction, unsigned width, bool utf8, char *buf)
{
        double filled = (fraction > 0 ? fraction < 1 ? fraction : 1 : 0) * width;
        unsigned eighths = (unsigned)(filled * 8 + 1e-9);
        char *p = buf;

        for (unsigned i = 0; i < width; i++) {
                unsigned here = eighths >= 8 * (i + 1) ? 8 : eighths > 8 * i ? eighths - 8 * i : 0;

                if (!utf8)
                        *p++ = here >= 4 ? '#' : '.';
                else if (here > 0)
                        p += put_utf8(0x2590 - here, p); /* U+258F one eighth … U+2588 full */
                else
                        p += put_utf8(0x2591, p);
        }
        *p = '\0';
        return buf;
}
