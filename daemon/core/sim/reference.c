/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What policies are measured by: orders that look at real sizes, which no governor knows. The first
 * gets what it can use of the node, the next what is left, and so on.
 */

#include "base/cleanup.h"
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

int sg_sim_share(const struct sg_sim_run *runs, size_t n, enum sg_sim_reference reference,
                 double now, double *shares)
{
        _cleanup_free_ struct place *places = calloc(n + 1, sizeof(*places));
        double left = 1;

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

                shares[i] = fmin(left, runs[i].spec->width);
                left -= shares[i];
        }
        return 0;
}
