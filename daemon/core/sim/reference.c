/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What policies are measured by: orders that look at real sizes, which no governor knows. The first
 * gets what it can use of the node, the next what is left, and so on.
 */

#include "base/cleanup.h"
#include "core/share/plan-search.h"
#include "core/sim/internal.h"
#include <errno.h>
#include <math.h>

struct place {
        double rank; /* small goes first */
        size_t i;
};

static double remaining(const struct sg_sim_run *run)
{
        return run->spec->work - run->done;
}

static int by_rank(const void *a, const void *b)
{
        const struct place *p = a, *q = b;

        if (p->rank != q->rank)
                return p->rank < q->rank ? -1 : 1;
        return p->i < q->i ? -1 : p->i > q->i;
}

/* Those that are kept come by deadline; when one would be late, the largest so far goes. What was
 * dropped goes last, by its deadline all the same. */
static void drop(const struct sg_sim_run *runs, struct place *places, size_t n, double now)
{
        double end = now;

        for (size_t k = 0; k < n; k++) {
                size_t largest = k;

                end += remaining(&runs[places[k].i]);
                if (end <= runs[places[k].i].spec->deadline)
                        continue;
                for (size_t m = 0; m < k; m++)
                        if (!signbit(places[m].rank) &&
                            remaining(&runs[places[m].i]) > remaining(&runs[places[largest].i]))
                                largest = m;
                end -= remaining(&runs[places[largest].i]);
                places[largest].rank = -1;
        }
        for (size_t k = 0; k < n; k++)
                if (signbit(places[k].rank))
                        places[k].rank = (double)INFINITY;
        qsort(places, n, sizeof(*places), by_rank);
}

/* What one CPU would take for what it takes alone. */
static double on_one(const struct sg_sim_run *run, double cpus)
{
        double most = run->spec->width * cpus;

        return remaining(run) / most * sg_speedup_at(&run->spec->speedup, most);
}

static int share_planned(const struct sg_sim_run *runs, size_t n, const struct sg_sim_options *o,
                         double now, double *shares)
{
        _cleanup_free_ struct sg_search_job *jobs = calloc(n + 1, sizeof(*jobs));
        const struct sg_search_node node = {.now = now, .capacity = 1, .cpus = o->cpus};
        struct sg_search_plan plan;
        int r;

        if (!jobs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                jobs[i] = (struct sg_search_job){
                        .remaining = on_one(&runs[i], o->cpus),
                        .to = {NAN, NAN, NAN, on_one(&runs[i], o->cpus)},
                        .width = runs[i].spec->width,
                        .exponent = 1,
                        .speedup = &runs[i].spec->speedup,
                        .weight = 1,
                        .index = 1 / on_one(&runs[i], o->cpus),
                        .due = INFINITY,
                };
        r = sg_plan_search(jobs, n, &node, SG_OBJECTIVE_JCT, &plan);
        for (size_t i = 0; r == 0 && i < n; i++)
                shares[i] = jobs[i].share;
        return r;
}

int sg_sim_share(const struct sg_sim_run *runs, size_t n, const struct sg_sim_options *o,
                 double now, double *shares)
{
        _cleanup_free_ struct place *places = calloc(n + 1, sizeof(*places));
        enum sg_sim_reference reference = o->reference;
        double left = 1;

        if (reference == SG_SIM_PLANNED)
                return share_planned(runs, n, o, now, shares);
        if (!places)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                places[i] = (struct place){
                        .rank = reference == SG_SIM_SHORTEST   ? remaining(&runs[i])
                                : reference == SG_SIM_EARLIEST ? runs[i].spec->deadline
                                                               : (double)i,
                        .i = i,
                };
        qsort(places, n, sizeof(*places), by_rank);
        if (reference == SG_SIM_EARLIEST)
                drop(runs, places, n, now);
        for (size_t k = 0; k < n; k++) {
                size_t i = places[k].i;

                shares[i] = fmin(left, sg_sim_width(runs[i].spec, o));
                left -= shares[i];
        }
        return 0;
}
