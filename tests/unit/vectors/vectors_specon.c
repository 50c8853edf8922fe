/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cases of SpeCon: Algorithms 3, 4 and 5. */
#include "base/cleanup.h"
#include "core/moves/specon.h"
#include "tests/unit/vectors/vectors.h"

static const char *const categories[] = {"PC", "WC", "CC"};

json_t *vector_alg3(const json_t *c)
{
        const json_t *in = vector_array(c, "E");
        size_t n = json_array_size(in);
        _cleanup_free_ double *evals = vector_numbers(c, "E", n);
        size_t growing = (size_t)(vector_number(c, "npc_others_plus_self") +
                                  vector_number(c, "nwc_others_plus_self"));
        double alpha = vector_number_or(c, "alpha", SG_SPECON_ALPHA);
        struct sg_specon_job job;
        json_t *steps;

        if (n == 0)
                vector_wrong("E", "is empty");
        if (vector_is_wrong())
                return NULL;
        sg_specon_init(&job, evals[0]);
        steps = json_array();
        for (size_t i = 1; i < n; i++) {
                const char *before = categories[job.category];
                bool asks = sg_specon_tick(&job, SG_SPECON_INTERVAL * (double)i, evals[i], alpha,
                                           growing);

                json_array_append_new(
                        steps, json_pack("{s:I, s:f, s:o, s:s, s:s, s:b}", "tick", (json_int_t)i,
                                         "E", evals[i], "G", vector_real(job.growth), "cat_before",
                                         before, "cat_after", categories[job.category],
                                         "request_reallocation", asks));
        }
        return json_pack("{s:o}", "steps", steps);
}

/* --- Algorithm 4 --- */

static struct sg_specon_weights weights_of(const json_t *c)
{
        struct sg_specon_weights w = sg_specon_weights;
        _cleanup_free_ double *given = NULL;

        if (!json_object_get(c, "weights"))
                return w;
        given = vector_numbers(c, "weights", SG_SPECON_N_CATEGORIES);
        for (size_t i = 0; i < SG_SPECON_N_CATEGORIES; i++)
                w.weight[i] = given[i];
        return w;
}

static struct sg_specon_node node_of(const json_t *worker)
{
        return (struct sg_specon_node){
                .n = {(size_t)vector_number(worker, "pc"), (size_t)vector_number(worker, "wc"),
                      (size_t)vector_number(worker, "cc")},
                .use = vector_number(worker, "R"),
        };
}

json_t *vector_alg4(const json_t *c)
{
        const json_t *in = vector_array(c, "workers");
        size_t n = json_array_size(in), host = (size_t)vector_number(c, "host"), target;
        struct sg_specon_weights w = weights_of(c);
        _cleanup_free_ struct sg_specon_node *nodes = calloc(n + 1, sizeof(*nodes));
        _cleanup_free_ bool *chosen = calloc(n + 1, sizeof(*chosen));
        json_t *scores = json_array(), *candidates = json_array();
        struct sg_specon_job job;

        if (!nodes || !chosen)
                abort();
        for (size_t i = 0; i < n; i++) {
                nodes[i] = node_of(json_array_get(in, i));
                json_array_append_new(scores, vector_real(sg_specon_score(&nodes[i], &w)));
        }
        if (host >= n)
                vector_wrong("host", "is none of the workers");
        sg_specon_candidates(nodes, n, &w, chosen);
        for (size_t i = 0; i < n; i++)
                if (chosen[i])
                        json_array_append_new(candidates, json_integer((json_int_t)i));
        target = host < n ? sg_specon_target(nodes, n, host, &w) : host;
        sg_specon_init(&job, 1);
        sg_specon_mark(&job, 0);
        return json_pack("{s:{s:o, s:o, s:I, s:b, s:b}}", "expect", "scores", scores, "candidates",
                         candidates, "target", (json_int_t)target, "migrate", target != host,
                         "mark_migrated", job.marked);
}

/* --- Algorithm 5 --- */

struct placed {
        struct sg_specon_placed *jobs;
        const char **ids;
        size_t n;
};

static void place(struct placed *p, const json_t *workers)
{
        json_t *worker, *job;
        size_t host, i;

        json_array_foreach (workers, host, worker)
                p->n += json_array_size(worker);
        p->jobs = calloc(p->n + 1, sizeof(*p->jobs));
        p->ids = calloc(p->n + 1, sizeof(const char *));
        if (!p->jobs || !p->ids)
                abort();
        p->n = 0;
        json_array_foreach (workers, host, worker) {
                json_array_foreach (worker, i, job) {
                        p->ids[p->n] = vector_text(job, "id");
                        p->jobs[p->n++] = (struct sg_specon_placed){
                                .host = host,
                                .since = vector_number(job, "t_conv"),
                        };
                }
        }
}

static json_t *rebalance(const json_t *workers, bool up)
{
        size_t n = json_array_size(workers), n_moves;
        struct sg_specon_host *hosts = calloc(n + 1, sizeof(*hosts));
        struct sg_specon_move *moves = calloc(n + 1, sizeof(*moves));
        json_t *targets = json_array(), *made = json_array();
        struct placed p = {0};

        if (!hosts || !moves)
                abort();
        place(&p, workers);
        n_moves = sg_specon_rebalance(p.jobs, p.n, hosts, n, up, moves);
        for (size_t i = 0; i < n; i++)
                if (hosts[i].target)
                        json_array_append_new(targets, json_integer((json_int_t)i));
        for (size_t i = 0; i < n_moves; i++)
                json_array_append_new(made, json_pack("{s:s, s:I, s:I}", "job", p.ids[moves[i].job],
                                                      "src", (json_int_t)moves[i].from, "dst",
                                                      (json_int_t)moves[i].to));
        free(hosts);
        free(moves);
        free(p.jobs);
        free(p.ids);
        return json_pack("{s:I, s:o, s:o}", "bf", (json_int_t)sg_specon_balance(p.n, n, up),
                         "candidates", targets, "moves", made);
}

json_t *vector_alg5(const json_t *c)
{
        const json_t *workers = vector_array(c, "workers");

        if (json_array_size(workers) == 0)
                vector_wrong("workers", "are none");
        if (vector_is_wrong())
                return NULL;
        return json_pack("{s:o, s:o}", "expect_floor", rebalance(workers, false), "expect_ceil",
                         rebalance(workers, true));
}
