/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/max-min.h"
#include "core/share/share.h"
#include <math.h>

/* With soft limits nobody is left out when there is something to spare, be its limit 0. */
#define LEAST_PART 1e-9

/* Finds how high water stands in a row of connected vessels, each as high as its limit: in each
 * round those below the last level are full, and the others divide what these leave. */
static double level_of(const double *weights, const double *limits, size_t n, double capacity)
{
        double level = 0;
        size_t n_full = 0;

        for (size_t round = 0; round <= n; round++) {
                double left = capacity, weight = 0;
                size_t full = 0;

                for (size_t i = 0; i < n; i++) {
                        double w = weights ? weights[i] : 1;

                        if (!(w > 0))
                                continue;
                        if (round > 0 && limits[i] <= w * level) {
                                left -= limits[i];
                                full++;
                        } else {
                                weight += w;
                        }
                }
                if (round > 0 && full == n_full)
                        break;
                n_full = full;
                level = weight > 0 ? fmax(left, 0) / weight : INFINITY;
        }
        return level;
}

void sg_max_min_level(const double *weights, const double *limits, size_t n, double capacity,
                      double *shares)
{
        double level = level_of(weights, limits, n, capacity);

        for (size_t i = 0; i < n; i++) {
                double w = weights ? weights[i] : 1;

                shares[i] = w > 0 ? fmin(limits[i], w * level) : 0;
        }
}

void sg_share_by_weight(const double *weights, const double *widths, size_t n, double *shares)
{
        sg_max_min_level(weights, widths, n, 1, shares);
}

double sg_share_part_of_unbound(const struct sg_share_snapshot *s,
                                bool (*is_one)(const struct sg_share_job *j), double left,
                                const double *has)
{
        double wanted = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                if (is_one(&s->jobs[i]))
                        wanted += fmax(s->jobs[i].width - (has ? has[i] : 0), 0);
        return wanted > left ? fmax(left, 0) / wanted : 1;
}

void sg_max_min_shares(const double *limits, const double *widths, size_t n,
                       enum sg_flowcon_mode mode, double *shares)
{
        if (mode == SG_FLOWCON_WEIGHT) {
                sg_max_min_level(limits, widths, n, 1, shares);
                return;
        }
        for (size_t i = 0; i < n; i++)
                shares[i] = fmin(limits[i], widths[i]);
        sg_max_min_level(NULL, shares, n, 1, shares);
        if (mode == SG_FLOWCON_HARD)
                return;
        for (size_t i = 0; i < n; i++)
                shares[i] = fmax(shares[i], LEAST_PART);
        sg_max_min_level(shares, widths, n, 1, shares);
}
