/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the published text leaves open is decided here. Algorithm 3: the first growth is compared
 * with infinity; a job goes down one category per tick (as printed, CONVERGED can't be reached);
 * one that was converged before the tick asks to be moved. Algorithm 5: sources are what isn't a
 * target, and a target gets one job per run.
 */

#include "core/moves/specon.h"

#include <math.h>

#define SAME_SCORE 1e-9

const struct sg_specon_weights sg_specon_weights = {{2, 1.5, 1}};

/* Algorithm 3 */

void sg_specon_init(struct sg_specon_job *j, double eval)
{
        *j = (struct sg_specon_job){
                .category = SG_SPECON_PROGRESSING,
                .first = eval,
                .last = eval,
                .growth = INFINITY,
                .since = NAN,
        };
}

/* One category down; whether it was at the bottom already. */
static bool slow_down(struct sg_specon_job *j, double now)
{
        if (j->category == SG_SPECON_CONVERGED)
                return true;
        j->category++;
        if (j->category == SG_SPECON_CONVERGED)
                j->since = now;
        return false;
}

bool sg_specon_tick(struct sg_specon_job *j, double now, double eval, double alpha,
                    size_t n_growing)
{
        double growth, before = j->growth;

        if (j->marked || !isfinite(eval))
                return false;
        if (!isfinite(j->first))
                j->first = j->last = eval;
        growth = fabs(eval - j->last) / (j->first != 0 ? fabs(j->first) : 1);
        j->last = eval;
        j->growth = growth;
        if (growth < before && growth < alpha)
                return slow_down(j, now) && n_growing > 1;
        if (growth > alpha) {
                j->category = SG_SPECON_PROGRESSING;
                j->since = NAN;
        }
        return false;
}

void sg_specon_mark(struct sg_specon_job *j, double now)
{
        j->marked = true;
        j->since = now;
}

/* Algorithm 4 */

double sg_specon_score(const struct sg_specon_node *node, const struct sg_specon_weights *w)
{
        double score = 0;

        for (int c = 0; c < SG_SPECON_N_CATEGORIES; c++)
                score += w->weight[c] * (double)node->n[c];
        return score;
}

static double least_score(const struct sg_specon_node *nodes, size_t n,
                          const struct sg_specon_weights *w)
{
        double least = INFINITY;

        for (size_t i = 0; i < n; i++)
                least = fmin(least, sg_specon_score(&nodes[i], w));
        return least + SAME_SCORE * (1 + least);
}

size_t sg_specon_candidates(const struct sg_specon_node *nodes, size_t n,
                            const struct sg_specon_weights *w, bool *candidates)
{
        double least = least_score(nodes, n, w);
        size_t n_candidates = 0;

        for (size_t i = 0; i < n; i++) {
                candidates[i] = sg_specon_score(&nodes[i], w) <= least;
                n_candidates += candidates[i];
        }
        return n_candidates;
}

size_t sg_specon_target(const struct sg_specon_node *nodes, size_t n, size_t host,
                        const struct sg_specon_weights *w)
{
        double least = least_score(nodes, n, w);
        size_t target = host;

        if (sg_specon_score(&nodes[host], w) <= least)
                return host;
        for (size_t i = 0; i < n; i++)
                if (sg_specon_score(&nodes[i], w) <= least &&
                    (target == host || nodes[i].use < nodes[target].use))
                        target = i;
        return target;
}

/* Algorithm 5 */

size_t sg_specon_balance(size_t n_jobs, size_t n_hosts, bool up)
{
        return n_hosts == 0 ? 0 : (n_jobs + (up ? n_hosts - 1 : 0)) / n_hosts;
}

/* Hosts without a job, or if there are none, those that lack two; whether there are any without. */
static bool find_targets(struct sg_specon_host *hosts, size_t n, size_t balance)
{
        bool any_idle = false;

        for (size_t i = 0; i < n; i++)
                any_idle |= hosts[i].n_jobs == 0;
        for (size_t i = 0; i < n; i++)
                hosts[i].target = any_idle ? hosts[i].n_jobs == 0 : hosts[i].n_jobs + 1 < balance;
        return any_idle;
}

/* The one that converged last, of hosts that can spare one; n_jobs = none. */
static size_t find_job(const struct sg_specon_placed *jobs, size_t n_jobs,
                       const struct sg_specon_host *hosts)
{
        size_t best = n_jobs;

        for (size_t j = 0; j < n_jobs; j++) {
                const struct sg_specon_host *host = &hosts[jobs[j].host];

                if (jobs[j].rebalanced || host->target || host->n_jobs < 2)
                        continue;
                if (best == n_jobs || jobs[j].since > jobs[best].since)
                        best = j;
        }
        return best;
}

size_t sg_specon_rebalance(struct sg_specon_placed *jobs, size_t n_jobs,
                           struct sg_specon_host *hosts, size_t n_hosts, bool up,
                           struct sg_specon_move *moves)
{
        size_t balance = sg_specon_balance(n_jobs, n_hosts, up), n_moves = 0;
        bool any_idle;

        for (size_t i = 0; i < n_hosts; i++)
                hosts[i].n_jobs = 0;
        for (size_t j = 0; j < n_jobs; j++)
                hosts[jobs[j].host].n_jobs++;
        any_idle = find_targets(hosts, n_hosts, balance);
        for (size_t to = 0; to < n_hosts; to++) {
                size_t j;

                if (!hosts[to].target || (any_idle && balance == 0))
                        continue;
                j = find_job(jobs, n_jobs, hosts);
                if (j == n_jobs)
                        break;
                moves[n_moves++] = (struct sg_specon_move){j, jobs[j].host, to};
                hosts[jobs[j].host].n_jobs--;
                hosts[to].n_jobs++;
                jobs[j].host = to;
                jobs[j].rebalanced = true;
        }
        return n_moves;
}
