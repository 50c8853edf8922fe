/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Figures of simulations, as a table or a schedgov.simulation/1. One table says what there is. */

#include "ctl/show/output.h"
#include "base/cleanup.h"
#include "ctl/show/document.h"
#include "ctl/show/table.h"
#include "ctl/simulate/simulate.h"
#include <errno.h>
#include <math.h>

#define AT(member) offsetof(struct sg_sim_summary, member)

enum unit { SECONDS, RATIO, PART, NUMBER };

static const struct figure {
        const char *key;
        struct sg_column column;
        enum unit unit;
        size_t offset;
} figures[] = {
        {"mean_completion", {"mean", true, 0}, SECONDS, AT(mean_completion)},
        {"mean_makespan", {"all-done", true, 0}, SECONDS, AT(mean_makespan)},
        {"ratio_to_fair", {"ratio", true, 0}, RATIO, AT(ratio)},
        {"p95_ratio", {"p95", true, 0}, RATIO, AT(p95_ratio)},
        {"makespan_ratio", {"makespan", true, 0}, RATIO, AT(makespan_ratio)},
        {"t90_ratio", {"t90", true, 0}, RATIO, AT(quality_ratio[SG_SIM_90])},
        {"t95_ratio", {"t95", true, 0}, RATIO, AT(quality_ratio[SG_SIM_95])},
        {"t99_ratio", {"t99", true, 0}, RATIO, AT(quality_ratio[SG_SIM_99])},
        {"worst_ratio", {"worst", true, 0}, RATIO, AT(worst_ratio)},
        {"worst_ratio_max", {"worst-max", true, 0}, RATIO, AT(worst_ratio_most)},
        {"improved", {"improved", true, 0}, PART, AT(improved)},
        {"max_slowdown", {"slowdown", true, 0}, NUMBER, AT(slowdown_most)},
        {"deadlines_met", {"deadlines", true, 0}, PART, AT(deadlines_met)},
        {"liars_ratio", {"liars", true, 0}, RATIO, AT(liars_ratio)},
        {"honest_worst_ratio", {"honest", true, 0}, RATIO, AT(honest_worst_ratio)},
        {"promise_missed_max", {"missed", true, 0}, SECONDS, AT(broken_most)},
        {"switches", {"switches", true, 0}, NUMBER, AT(switches)},
};
#define N_FIGURES SG_ELEMENTSOF(figures)
#define POLICY N_FIGURES /* the column of names */

/* Without deadlines and lies there is nothing to say of them. */
static const char *default_columns(const struct sg_simulation *s)
{
        const struct sg_sim_summary *first = &s->policies[0].summary;

        if (!isnan(first->deadlines_met))
                return "policy,mean,ratio,p95,makespan,worst,deadlines,switches";
        if (!isnan(first->liars_ratio))
                return "policy,mean,ratio,p95,makespan,worst,honest,liars,switches";
        return "policy,mean,ratio,p95,makespan,t90,t95,worst,improved,switches";
}

static double value_of(const struct sg_simulated *p, const struct figure *f)
{
        const void *at = (const char *)&p->summary + f->offset;

        return *(const double *)at;
}

static const char *cell(const struct sg_simulated *p, size_t column, char *buf, size_t size)
{
        const struct figure *f = &figures[column];
        double v = column == POLICY ? 0 : value_of(p, f);

        if (column == POLICY)
                return p->name;
        if (isnan(v))
                return "-";
        switch (f->unit) {
        case SECONDS:
                (void)snprintf(buf, size, "%.1fs", v);
                break;
        case RATIO:
                (void)snprintf(buf, size, "%.3f", v);
                break;
        case PART:
                (void)snprintf(buf, size, "%.1f%%", 100 * v);
                break;
        case NUMBER:
                (void)snprintf(buf, size, "%.1f", v);
                break;
        }
        return buf;
}

static int choose(struct sg_table *ret, struct sg_column columns[static N_FIGURES + 1],
                  const char *list, struct sg_error *e)
{
        for (size_t i = 0; i < N_FIGURES; i++)
                columns[i] = figures[i].column;
        columns[POLICY] = (struct sg_column){"policy", false, 0};
        return sg_table_init(ret, columns, N_FIGURES + 1, list, sg_terminal_width(), e);
}

int sg_simulation_check_columns(const char *list, struct sg_error *e)
{
        struct sg_column columns[N_FIGURES + 1];
        struct sg_table t;

        return choose(&t, columns, list, e);
}

int sg_simulation_print_table(struct sg_simulation *s, const struct sg_invocation *inv,
                              struct sg_error *e)
{
        struct sg_column columns[N_FIGURES + 1];
        struct sg_table t;
        char buf[32];
        int r;

        r = choose(&t, columns, inv->columns ? inv->columns : default_columns(s), e);
        if (r < 0)
                return r;
        for (size_t i = 0; i < t.n; i++)
                for (size_t k = 0; k < s->n_policies; k++)
                        sg_table_measure(&t, i,
                                         cell(&s->policies[k], t.shown[i], buf, sizeof(buf)));
        sg_table_fit(&t);
        if (!inv->no_legend)
                sg_table_print_heading(&t, stdout);
        for (size_t k = 0; k < s->n_policies; k++)
                for (size_t i = 0; i < t.n; i++)
                        sg_table_print_cell(&t, i,
                                            cell(&s->policies[k], t.shown[i], buf, sizeof(buf)), "",
                                            "", stdout);
        return 0;
}

static json_t *policy_to_json(const struct sg_simulated *p)
{
        json_t *o = json_object();

        for (size_t i = 0; o && i < N_FIGURES; i++) {
                double v = value_of(p, &figures[i]);

                (void)json_object_set_new(o, figures[i].key, isnan(v) ? json_null() : json_real(v));
        }
        (void)json_object_set_new(o, "moves", json_integer(0));
        (void)json_object_set_new(o, "steps", json_integer((json_int_t)p->summary.steps));
        return o;
}

int sg_simulation_print_json(const struct sg_simulation *s)
{
        json_t *policies = json_object();

        for (size_t i = 0; policies && i < s->n_policies; i++)
                (void)json_object_set_new(policies, s->policies[i].name,
                                          policy_to_json(&s->policies[i]));
        return sg_document_print_new(json_pack("{s:s, s:I, s:o}", "schema", "schedgov.simulation/1",
                                               "instances", (json_int_t)s->n_instances, "policies",
                                               policies));
}

void sg_simulation_print_trace(const struct sg_simulation *s, bool legend)
{
        char line[SG_TRACE_LINE_MAX];

        if (legend)
                (void)puts(SG_TRACE_HEADER);
        for (size_t i = 0; i < s->trace.n; i++)
                (void)puts(sg_trace_format(&s->trace.jobs[i], line, sizeof(line)));
}
