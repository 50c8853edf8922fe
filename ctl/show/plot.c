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

/* What is said of a curve that is over. */
enum summary { SUMMARY_LAST, SUMMARY_MEAN, SUMMARY_PEAK };

static const struct panel {
        const char *title;
        enum sg_curve curve;
        enum sg_scale scale;
        bool from_zero;
        enum summary summary;
} panels[SG_ELEMENTSOF(panel_columns)] = {
        {"loss", SG_CURVE_EVAL, SG_SCALE_NUMBER, false, SUMMARY_LAST},
        {"share of the node", SG_CURVE_SHARE, SG_SCALE_PERCENT, true, SUMMARY_MEAN},
        {"CPUs in use", SG_CURVE_CPU, SG_SCALE_NUMBER, true, SUMMARY_MEAN},
        {"memory", SG_CURVE_MEMORY, SG_SCALE_BYTES, true, SUMMARY_PEAK},
        {"step", SG_CURVE_STEP, SG_SCALE_NUMBER, true, SUMMARY_LAST},
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

struct range {
        double lo, hi, last, mean; /* over time; each point is of the time before it */
};

/* Of what is known, which there must be something of for true. */
static bool find_range(const double *v, const double *seconds, size_t n, struct range *ret)
{
        double sum = 0, time = 0;

        *ret = (struct range){.lo = INFINITY, .hi = -INFINITY};
        for (size_t i = 0; i < n; i++) {
                double dt = i > 0 ? seconds[i] - seconds[i - 1] : 0;

                if (!(fabs(v[i]) <= SANE_MAX))
                        continue;
                ret->lo = fmin(ret->lo, v[i]);
                ret->hi = fmax(ret->hi, v[i]);
                ret->last = v[i];
                sum += v[i] * dt;
                time += dt;
        }
        ret->mean = time > 0 ? sum / time : ret->last;
        return ret->lo <= ret->hi;
}

/* "loss: 0.2": as it is now, or what remains to be said of a job that has ended. */
static void put_title(const struct sg_plot *p, const struct panel *panel, const struct range *r,
                      const struct sg_axis *y, char *title, size_t size)
{
        const double shown[] = {
                [SUMMARY_LAST] = r->last, [SUMMARY_MEAN] = r->mean, [SUMMARY_PEAK] = r->hi};
        static const char *const how[] = {
                [SUMMARY_LAST] = " at the end",
                [SUMMARY_MEAN] = " on average",
                [SUMMARY_PEAK] = " at most",
        };
        double v = p->ended ? shown[panel->summary] : r->last;
        char value[64];

        if (panel->scale == SG_SCALE_NUMBER)
                (void)snprintf(value, sizeof(value), "%.4g", v);
        else
                (void)sg_axis_label(y, v, value, sizeof(value));
        (void)snprintf(title, size, "%s%s: %s%s", panel->title,
                       y->scale == SG_SCALE_LOG ? " (logarithmic)" : "", value,
                       p->ended ? how[panel->summary] : "");
}

static bool make_chart(const struct sg_plot *p, const struct panel *panel, unsigned max_ticks,
                       struct sg_chart *ret, char *title, size_t size)
{
        const double *v = p->curves->v[panel->curve];
        size_t n = p->curves->n;
        enum sg_scale scale = panel->scale;
        struct range r;

        if (!find_range(v, p->seconds, n, &r))
                return false;
        if (panel->curve == SG_CURVE_EVAL && r.lo > 0 && r.hi / r.lo >= LOG_RATIO)
                scale = SG_SCALE_LOG;
        *ret = (struct sg_chart){.title = title, .xs = p->seconds, .ys = v, .n = n};
        sg_axis_fit(&ret->x, SG_SCALE_SECONDS, 0, n > 1 ? p->seconds[n - 1] : 0, 6);
        sg_axis_fit(&ret->y, scale, panel->from_zero ? fmin(r.lo, 0) : r.lo, r.hi, max_ticks);
        put_title(p, panel, &r, &ret->y, title, size);
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
        if (p->curves->n > 0)
                return "nothing of this is known";
        return p->ended ? "nothing was measured: it ended too soon" : "nothing was measured yet";
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
