/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See plot.h. */

#include "ctl/show/plot.h"
#include "base/cleanup.h"
#include "ctl/show/output.h"
#include <errno.h>
#include <math.h>

/* What falls by this factor is shown on a logarithmic scale. */
#define LOG_RATIO 100
/* Beyond it, sums of figures overflow. */
#define SANE_MAX 1e300

static const struct sg_column panel_columns[] = {
        {"eval", false, 0},   {"share", false, 0}, {"cpu", false, 0},
        {"memory", false, 0}, {"step", false, 0},
};

static const struct panel {
        const char *title;
        enum sg_curve curve;
        enum sg_scale scale;
        bool from_zero;
} panels[SG_ELEMENTSOF(panel_columns)] = {
        {"loss", SG_CURVE_EVAL, SG_SCALE_NUMBER, false},
        {"share of the node", SG_CURVE_SHARE, SG_SCALE_PERCENT, true},
        {"CPUs in use", SG_CURVE_CPU, SG_SCALE_NUMBER, true},
        {"memory", SG_CURVE_MEMORY, SG_SCALE_BYTES, true},
        {"step", SG_CURVE_STEP, SG_SCALE_NUMBER, true},
};

int sg_plot_init(struct sg_plot *p, const char *heading, const struct sg_curves *curves,
                 const char *list, struct sg_error *e)
{
        struct sg_plot new = {.heading = heading, .curves = curves};
        const double *time = curves->v[SG_CURVE_TIME];
        int r;

        r = sg_table_init(&new.columns, panel_columns, SG_ELEMENTSOF(panel_columns),
                          list ? list : "eval,share,cpu", 0, e);
        if (r < 0)
                return r;
        new.seconds = calloc(curves->n + 1, sizeof(*new.seconds));
        if (!new.seconds)
                return -ENOMEM;
        for (size_t i = 0; i < curves->n; i++)
                new.seconds[i] = time[i] - time[0];
        *p = new;
        return 0;
}

void sg_plot_deinit(struct sg_plot *p)
{
        free(p->seconds);
        *p = (struct sg_plot){0};
}

/* The last value that is known, which there must be for true. */
static bool range(const double *v, size_t n, double *lo, double *hi, double *last)
{
        *lo = INFINITY;
        *hi = -INFINITY;
        for (size_t i = 0; i < n; i++) {
                if (!(fabs(v[i]) <= SANE_MAX))
                        continue;
                *lo = fmin(*lo, v[i]);
                *hi = fmax(*hi, v[i]);
                *last = v[i];
        }
        return *lo <= *hi;
}

static bool make_chart(const struct sg_plot *p, const struct panel *panel, unsigned max_ticks,
                       struct sg_chart *ret, char *title, size_t size)
{
        const double *v = p->curves->v[panel->curve];
        size_t n = p->curves->n;
        enum sg_scale scale = panel->scale;
        double lo, hi, last = NAN;
        char value[64];

        if (!range(v, n, &lo, &hi, &last))
                return false;
        if (panel->curve == SG_CURVE_EVAL && lo > 0 && hi / lo >= LOG_RATIO)
                scale = SG_SCALE_LOG;
        *ret = (struct sg_chart){.title = title, .xs = p->seconds, .ys = v, .n = n};
        sg_axis_fit(&ret->x, SG_SCALE_SECONDS, 0, n > 1 ? p->seconds[n - 1] : 0, 6);
        sg_axis_fit(&ret->y, scale, panel->from_zero ? fmin(lo, 0) : lo, hi, max_ticks);
        if (panel->scale == SG_SCALE_NUMBER)
                (void)snprintf(value, sizeof(value), "%.4g", last);
        else
                (void)sg_axis_label(&ret->y, last, value, sizeof(value));
        (void)snprintf(title, size, "%s%s: %s", panel->title,
                       scale == SG_SCALE_LOG ? " (logarithmic)" : "", value);
        return true;
}

bool sg_plot_next(const struct sg_plot *p, size_t *at, unsigned max_ticks, struct sg_chart *ret,
                  char *title, size_t size)
{
        while (*at < p->columns.n)
                if (make_chart(p, &panels[p->columns.shown[(*at)++]], max_ticks, ret, title, size))
                        return true;
        return false;
}

size_t sg_plot_panels(const struct sg_plot *p)
{
        struct sg_chart chart;
        size_t n = 0, at = 0;
        char title[128];

        while (sg_plot_next(p, &at, 2, &chart, title, sizeof(title)))
                n++;
        return n;
}

static const char *nothing_known(const struct sg_plot *p)
{
        return p->curves->n == 0 ? "nothing was measured yet" : "nothing of this is known";
}

int sg_plot_print(const struct sg_plot *p, unsigned width, unsigned height, bool utf8, FILE *f)
{
        size_t n = sg_plot_panels(p), at = 0;
        unsigned fixed = 3 + (unsigned)n, lines; /* heading, axis of time, titles */
        struct sg_chart chart = {0};
        char title[128];
        int r = 0;

        sg_chart_print_text(0, p->heading, width, f);
        if (n == 0) {
                sg_chart_print_text(SG_CHART_GUTTER, nothing_known(p), width, f);
                return 0;
        }
        lines = height > fixed + 3 * n ? (height - fixed) / (unsigned)n : 3;
        while (r >= 0 && sg_plot_next(p, &at, lines / 2 + 1, &chart, title, sizeof(title)))
                r = sg_chart_print(&chart, width, lines, utf8, sg_colour(SG_GREEN),
                                   sg_colour(SG_PLAIN), f);
        return r < 0 ? r : sg_chart_print_x_axis(&chart.x, width, utf8, f);
}
