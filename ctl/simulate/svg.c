/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first instance as a drawing: for each policy a lane per job, in the order in which they come,
 * and in it how much of what it can use it had. A thin line is where it waited.
 */

#include "ctl/show/svg.h"
#include "base/cleanup.h"
#include "ctl/show/axis.h"
#include "ctl/simulate/simulate.h"
#include <errno.h>
#include <math.h>

/* In pixels. */
#define LEFT 110
#define LANE 18
#define BAR 14
#define GAP 34    /* title and axis of a policy */
#define SAME 1e-3 /* of the node: a share that stays */

struct span {
        double from, to, share;
};

struct lane {
        struct span *spans;
        size_t n, allocated;
};

struct drawing {
        const struct sg_trace_job *jobs;
        size_t n;
        struct lane *lanes;
        int error;
};

static void drawing_deinit(struct drawing *d)
{
        for (size_t i = 0; d->lanes && i < d->n; i++)
                free(d->lanes[i].spans);
        free(d->lanes);
}

static int lane_add(struct lane *l, double from, double to, double share)
{
        struct span *last = l->n > 0 ? &l->spans[l->n - 1] : NULL;

        if (last && last->to >= from && fabs(last->share - share) < SAME) {
                last->to = to;
                return 0;
        }
        if (l->n == l->allocated) {
                size_t room = l->allocated ? 2 * l->allocated : 16;
                struct span *grown = reallocarray(l->spans, room, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                l->spans = grown;
                l->allocated = room;
        }
        l->spans[l->n++] = (struct span){from, to, share};
        return 0;
}

static void watch(void *userdata, double from, double to, const struct sg_sim_share *shares,
                  size_t n)
{
        struct drawing *d = userdata;

        for (size_t i = 0; i < n && d->error == 0; i++)
                d->error = lane_add(&d->lanes[shares[i].job], from, to, shares[i].share);
}

static int draw(struct drawing *d, const struct sg_simulated *p)
{
        _cleanup_free_ struct sg_sim_job *jobs = calloc(d->n, sizeof(*jobs));
        struct sg_sim_result result = {.jobs = jobs};
        struct sg_sim_options o = p->options;
        int r;

        d->lanes = calloc(d->n, sizeof(*d->lanes));
        if (!jobs || !d->lanes)
                return -ENOMEM;
        o.watch = watch;
        o.userdata = d;
        r = sg_sim_run(d->jobs, d->n, &o, &result);
        return r < 0 ? r : d->error;
}

static double end_of(const struct drawing *d)
{
        double end = 0;

        for (size_t i = 0; i < d->n; i++)
                if (d->lanes[i].n > 0)
                        end = fmax(end, d->lanes[i].spans[d->lanes[i].n - 1].to);
        return end;
}

static double x_of(const struct sg_axis *a, double t)
{
        return LEFT + sg_axis_place(a, t) * (SG_SVG_WIDTH - LEFT - SG_SVG_RIGHT);
}

static void print_lane(const struct drawing *d, size_t i, const struct sg_axis *a, double top,
                       FILE *f)
{
        const struct lane *l = &d->lanes[i];

        sg_svg_text(LEFT - 8, top + BAR - 2, "y", d->jobs[i].job, f);
        for (size_t k = 0; k < l->n; k++) {
                double part = fmin(l->spans[k].share / d->jobs[i].width, 1);
                double height = fmax(part * BAR, 1), x = x_of(a, l->spans[k].from);

                (void)fprintf(f,
                              "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" "
                              "height=\"%.1f\"/>\n",
                              part > SAME ? "had" : "waited", x, top + BAR - height,
                              x_of(a, l->spans[k].to) - x, height);
        }
}

static void print_policy(const struct drawing *d, const struct sg_simulated *p,
                         const struct sg_axis *a, double top, FILE *f)
{
        double bottom = top + (double)d->n * LANE;
        char title[96], label[64];
        double t;

        (void)snprintf(title, sizeof(title), "%s, ended after %.1f s", p->name, end_of(d));
        sg_svg_text(LEFT, top - 6, "title", title, f);
        for (unsigned i = 0; sg_axis_tick(a, i, &t); i++) {
                (void)fprintf(f, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x_of(a, t), top,
                              bottom);
                sg_svg_text(x_of(a, t), bottom + 12, "x", sg_axis_label(a, t, label, sizeof(label)),
                            f);
        }
        for (size_t i = 0; i < d->n; i++)
                print_lane(d, i, a, top + (double)i * LANE, f);
}

static int print(struct sg_simulation *s, struct drawing *drawings, FILE *f)
{
        size_t n = drawings[0].n;
        double end = 0, top = SG_SVG_TOP + GAP / 2., panel = (double)n * LANE + GAP;
        struct sg_axis a;

        for (size_t k = 0; k < s->n_policies; k++) {
                int r = draw(&drawings[k], &s->policies[k]);

                if (r < 0)
                        return r;
                end = fmax(end, end_of(&drawings[k]));
        }
        sg_axis_fit(&a, SG_SCALE_SECONDS, 0, end, 9);
        sg_svg_begin(SG_SVG_WIDTH, (int)(SG_SVG_TOP + (double)s->n_policies * panel + GAP / 2.),
                     "What policies do", ".had{fill:#06c}.waited{fill:#999}", f);
        sg_svg_text(LEFT, 24, "heading", "What each job had of what it can use", f);
        for (size_t k = 0; k < s->n_policies; k++)
                print_policy(&drawings[k], &s->policies[k], &a, top + (double)k * panel, f);
        (void)fputs("</svg>\n", f);
        return 0;
}

static int print_all(struct sg_simulation *s, FILE *f)
{
        size_t n = sg_trace_instance_end(&s->trace, 0);
        struct drawing *drawings = calloc(s->n_policies, sizeof(*drawings));
        int r;

        if (!drawings)
                return -ENOMEM;
        for (size_t k = 0; k < s->n_policies; k++)
                drawings[k] = (struct drawing){.jobs = s->trace.jobs, .n = n};
        r = print(s, drawings, f);
        for (size_t k = 0; k < s->n_policies; k++)
                drawing_deinit(&drawings[k]);
        free(drawings);
        return r;
}

int sg_simulation_write_svg(struct sg_simulation *s, const char *path, struct sg_error *e)
{
        FILE *f = sg_svg_open(path, e);
        int r, q;

        if (!f)
                return -ECANCELED;
        r = print_all(s, f);
        q = sg_svg_close(f, path, e);
        return r < 0 ? r : q;
}
