/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cases of growth and of plans: the guard, run sets, indices, heSRPT, deadlines. */
#include "base/cleanup.h"
#include "core/share/deadline.h"
#include "core/share/growth.h"
#include "core/share/hesrpt.h"
#include "tests/unit/vectors/vectors.h"

#include <math.h>

/* --- the guard --- */

static void line_from(struct sg_growth_line *l, const json_t *c, const json_t *in)
{
        size_t n = json_array_size(in);

        if (n == 0)
                vector_wrong("jobs", "are none");
        if (sg_growth_line_init(l, n) < 0)
                abort();
        l->now = vector_number_or(c, "now", 0);
        l->tick = vector_number_or(c, "tick", 1);
        l->capacity = vector_number_or(c, "capacity", 1);
        for (size_t i = 0; i < n; i++) {
                const json_t *job = json_array_get(in, i);

                l->jobs[i] = (struct sg_growth_job){
                        .key = i + 1,
                        .arrival = vector_number_or(job, "arrival", 0),
                        .remaining = vector_number_or(job, "rem", 1),
                        .width = vector_number_or(job, "p", 1),
                        .index = vector_number_or(job, "index", 0),
                        .due = vector_number_or(job, "D", INFINITY),
                        .origin = i,
                };
                l->order[i] = &l->jobs[i];
        }
        l->n = n;
}

static const char *id_of(const json_t *in, const struct sg_growth_job *j)
{
        return vector_text(json_array_get(in, j->origin), "id");
}

static json_t *by_id(const json_t *in, const struct sg_growth_line *l, bool own)
{
        json_t *out = json_object();

        for (size_t i = 0; i < l->n; i++)
                json_object_set_new(out, id_of(in, &l->jobs[i]),
                                    vector_real(own ? l->jobs[i].own_slack : l->jobs[i].slack));
        return out;
}

json_t *vector_guard(const json_t *c)
{
        const json_t *in = vector_array(c, "jobs");
        json_t *order = json_array(), *out = NULL;
        struct sg_growth_line l;

        line_from(&l, c, in);
        if (!vector_is_wrong()) {
                sg_growth_order(&l);
                for (size_t i = 0; i < l.n; i++)
                        json_array_append_new(order, json_string(id_of(in, l.order[i])));
                out = json_pack("{s:{s:o, s:o, s:s, s:O}}", "expect", "slack", by_id(in, &l, false),
                                "own_slack", by_id(in, &l, true), "run", id_of(in, l.order[0]),
                                "order", order);
        }
        json_decref(order);
        sg_growth_line_deinit(&l);
        return out;
}

json_t *vector_run_set(const json_t *c)
{
        json_t *shares = json_array(), *weights = json_array();
        struct sg_growth_line l;
        size_t n;

        line_from(&l, c, vector_array(c, "jobs"));
        n = sg_growth_run_set(&l, l.capacity);
        for (size_t i = 0; i < l.n; i++) {
                json_array_append_new(shares, vector_real(l.jobs[i].share));
                json_array_append_new(weights, json_integer(l.jobs[i].weight));
        }
        sg_growth_line_deinit(&l);
        return json_pack("{s:{s:o, s:o, s:I}}", "expect", "shares", shares, "weights", weights, "n",
                         (json_int_t)n);
}

json_t *vector_milestone_index(const json_t *c)
{
        const json_t *in = vector_array(c, "milestones");
        size_t n = json_array_size(in);
        _cleanup_free_ double *seconds = calloc(n + 1, sizeof(*seconds));
        _cleanup_free_ double *values = calloc(n + 1, sizeof(*values));
        double best;

        if (!seconds || !values)
                abort();
        for (size_t i = 0; i < n; i++) {
                seconds[i] = vector_number(json_array_get(in, i), "cpu_seconds_to");
                values[i] = vector_number(json_array_get(in, i), "value");
        }
        return json_pack("{s:o}", "expect_index",
                         vector_real(sg_growth_index(seconds, values, n, &best)));
}

/* --- plans --- */

json_t *vector_hesrpt(const json_t *c)
{
        size_t n = json_array_size(vector_array(c, "rem"));
        _cleanup_free_ double *remaining = vector_numbers(c, "rem", n);
        _cleanup_free_ double *shares = calloc(n + 1, sizeof(*shares));
        double q = vector_number(c, "q");

        if (!shares)
                abort();
        if (vector_is_wrong())
                return NULL;
        if (sg_hesrpt_shares(remaining, n, q, shares) < 0)
                abort();
        return json_pack("{s:o}", "expect", vector_reals(shares, n));
}

json_t *vector_deadline(const json_t *c)
{
        const json_t *in = vector_array(c, "jobs");
        double now = vector_number(c, "now");
        size_t n = json_array_size(in), kept;
        _cleanup_free_ struct sg_deadline_job *jobs = calloc(n + 1, sizeof(*jobs));
        json_t *order = json_array();

        if (!jobs)
                abort();
        for (size_t i = 0; i < n; i++)
                jobs[i] = (struct sg_deadline_job){
                        .key = i,
                        .remaining = vector_number(json_array_get(in, i), "rem"),
                        .width = vector_number_or(json_array_get(in, i), "p", 1),
                        .due = vector_number(json_array_get(in, i), "D"),
                };
        kept = sg_deadline_plan(jobs, n, now, vector_number_or(c, "patience", 0));
        for (size_t i = 0; i < n; i++)
                json_array_append_new(
                        order, json_string(vector_text(json_array_get(in, jobs[i].key), "id")));
        return json_pack("{s:{s:I, s:o, s:o}}", "expect", "kept", (json_int_t)kept, "order", order,
                         "rate", vector_real(sg_deadline_rate(jobs, kept, now)));
}
