/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cases of what is learnt of a job: its size from its reports, x from what they count, where its
 * milestones are from its evaluations. */
#include "base/cleanup.h"
#include "core/learn/curve.h"
#include "core/learn/fraction.h"
#include "core/learn/work.h"
#include "tests/unit/vectors/vectors.h"

#include <math.h>

json_t *vector_size(const json_t *c)
{
        const json_t *in = vector_array(c, "reports");
        struct sg_work work;
        json_t *report;
        size_t i;

        sg_work_init(&work, !json_is_true(json_object_get(c, "restarted")));
        json_array_foreach (in, i, report) {
                const struct sg_work_point p = {
                        .x = vector_number(report, "x"),
                        .at = {[SG_WORK_CPU] = vector_number(report, "cpu"),
                               [SG_WORK_TIME] = NAN,
                               [SG_WORK_SPEED] = NAN},
                };

                sg_work_add(&work, &p);
        }
        return json_pack("{s:o}", "expect_total", vector_real(sg_work_cost(&work, SG_WORK_CPU)));
}

static struct sg_report report_of(const json_t *o)
{
        struct sg_report r = {0};
        const struct {
                const char *key;
                uint32_t bit;
                uint64_t *to;
        } fields[] = {
                {"step", SG_REPORT_STEP, &r.step},
                {"total", SG_REPORT_TOTAL, &r.total},
                {"epoch", SG_REPORT_EPOCH, &r.epoch},
                {"epochs", SG_REPORT_EPOCHS, &r.epochs},
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(fields); i++) {
                double v = vector_number_or(o, fields[i].key, NAN);

                if (isnan(v))
                        continue;
                r.has |= fields[i].bit;
                *fields[i].to = (uint64_t)v;
        }
        return r;
}

json_t *vector_fraction(const json_t *c)
{
        const json_t *in = vector_array(c, "reports");
        json_t *out = json_array(), *report;
        struct sg_fraction f;
        size_t i;

        sg_fraction_init(&f, (uint64_t)vector_number_or(c, "steps", 0));
        json_array_foreach (in, i, report) {
                const struct sg_report r = report_of(report);

                json_array_append_new(
                        out, json_pack("{s:o}", "x", vector_real(sg_fraction_feed(&f, &r))));
        }
        return json_pack("{s:o}", "reports", out);
}

json_t *vector_fit(const json_t *c)
{
        const json_t *in = vector_array(c, "reports");
        struct sg_curve curve;
        json_t *report;
        size_t i;

        sg_curve_init(&curve);
        json_array_foreach (in, i, report)
                sg_curve_add(&curve, vector_number(report, "x"), vector_number(report, "eval"));
        return json_pack("{s:o}", "expect_at",
                         vector_reals(sg_curve_milestones(&curve), SG_MILESTONE_DONE));
}
