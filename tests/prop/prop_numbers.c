/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What single functions promise: limits and widths, heSRPT's shares, what is written to the kernel,
 * FlowCon's lists and SpeCon's moves. */

#include "core/govern/diff.h"
#include "core/moves/specon.h"
#include "core/share/flowcon.h"
#include "core/share/hesrpt.h"
#include "core/share/max-min.h"
#include "tests/prop/prop.h"

#define MANY 20000
#define JOBS_MAX 12
#define NODES_MAX 6

static bool one_in(struct sg_rng *rng, uint32_t n)
{
        return sg_rng_below(rng, n) == 0;
}

/* --- shares */

static double sum_of(const double *v, size_t n)
{
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += v[i];
        return sum;
}

/* All that somebody could have is given, and nobody gets more than it can use. */
static void conserve(struct sg_rng *rng)
{
        double limits[JOBS_MAX], widths[JOBS_MAX], shares[JOBS_MAX];
        size_t n = 1 + sg_rng_below(rng, JOBS_MAX);

        for (size_t i = 0; i < n; i++) {
                limits[i] = one_in(rng, 5) ? 1 : sg_rng_between(rng, 1e-3, 1);
                widths[i] = one_in(rng, 3) ? 1 : sg_rng_between(rng, 1e-3, 1);
        }
        for (int mode = SG_FLOWCON_SOFT; mode <= SG_FLOWCON_WEIGHT; mode++) {
                sg_max_min_shares(limits, widths, n, (enum sg_flowcon_mode)mode, shares);
                for (size_t i = 0; i < n; i++)
                        prop_check(shares[i] >= 0 && shares[i] <= widths[i] + 1e-9);
                if (mode == SG_FLOWCON_HARD)
                        for (size_t i = 0; i < n; i++)
                                prop_check(shares[i] <= limits[i] + 1e-9);
                else
                        prop_near(sum_of(shares, n), fmin(1, sum_of(widths, n)), 1e-9);
        }
}

static void test_conservation(void **state)
{
        (void)state;
        prop_each(MANY, conserve);
}

/* Their sum is one, the shorter never has less, and an exponent of 0 makes all equal. */
static void hesrpt(struct sg_rng *rng)
{
        double remaining[JOBS_MAX], shares[JOBS_MAX];
        size_t n = 1 + sg_rng_below(rng, JOBS_MAX);
        double exponent = sg_rng_double(rng);

        for (size_t i = 0; i < n; i++)
                remaining[i] = one_in(rng, 4) ? 10 : sg_rng_between(rng, .1, 1000);
        prop_check(sg_hesrpt_shares(remaining, n, exponent, shares) == 0);
        prop_near(sum_of(shares, n), 1, 1e-9);
        for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++)
                        prop_check(remaining[i] >= remaining[k] || shares[i] >= shares[k] - 1e-12);
        prop_check(sg_hesrpt_shares(remaining, n, 0, shares) == 0);
        for (size_t i = 0; i < n; i++)
                prop_near(shares[i], 1 / (double)n, 1e-9);
}

static void test_hesrpt(void **state)
{
        (void)state;
        prop_each(MANY, hesrpt);
}

/* --- plans */

static struct sg_applied some_values(struct sg_rng *rng)
{
        return (struct sg_applied){
                .weight = 1 + sg_rng_below(rng, 10000),
                .cap_pm = one_in(rng, 2) ? SG_UNLIMITED : 100 + sg_rng_below(rng, 40000),
                .threads = sg_rng_below(rng, 9),
                .cpus = sg_rng_below(rng, 3),
        };
}

/* What is in force is not written again; what has to wait is written when its time has come. */
static void plan_twice(struct sg_rng *rng)
{
        struct sg_applied have = some_values(rng);
        struct sg_planned p = {.want = some_values(rng),
                               .moved = one_in(rng, 2),
                               .now = sg_rng_between(rng, 10, 20),
                               .interval = sg_rng_between(rng, 0, 5),
                               .most = sg_rng_below(rng, 10000) * 10};
        double any = p.now - sg_rng_between(rng, 0, 8), due;
        struct sg_changed changed = {any, one_in(rng, 2) ? any : any - sg_rng_double(rng)};
        unsigned write = sg_diff_writes(&have, &changed, &p, &due), allocated = 0;

        prop_check(due > p.now);
        for (unsigned i = 0; i < 3 && !(write == 0 && isinf(due)); i++) {
                if (write & SG_WRITE_ALLOCATION) {
                        prop_check(p.now >= changed.allocation + .25);
                        changed.allocation = p.now;
                        allocated++;
                }
                if (write != 0)
                        changed.any = p.now;
                have = sg_diff_applied(&have, &p.want, write);
                p.now = isinf(due) ? p.now : due;
                write = sg_diff_writes(&have, &changed, &p, &due);
        }
        prop_check(write == 0 && isinf(due) && allocated <= 1);
        prop_check(have.threads == p.want.threads && have.cpus == p.want.cpus);
        p.moved = false;
        prop_check(sg_diff_writes(&have, &changed, &p, &due) == 0);
        p.now += 100;
        prop_check(sg_diff_writes(&have, &changed, &p, &due) == 0 && isinf(due));
}

static void test_plan_twice(void **state)
{
        (void)state;
        prop_each(MANY, plan_twice);
}

/* --- FlowCon */

static struct sg_flowcon_job *flowcon_find(struct sg_flowcon *f, uint64_t key)
{
        for (size_t i = 0; i < f->n; i++)
                if (f->jobs[i].key == key)
                        return &f->jobs[i];
        return NULL;
}

/* Some end, some begin: whether it is another set than before. */
static bool come_and_go(struct sg_rng *rng, uint64_t *keys, size_t *n, uint64_t *newest)
{
        bool changed = false;
        size_t kept = 0;

        for (size_t i = 0; i < *n; i++)
                if (one_in(rng, 12))
                        changed = true;
                else
                        keys[kept++] = keys[i];
        if (kept < JOBS_MAX && one_in(rng, 5)) {
                keys[kept++] = ++*newest;
                changed = true;
        }
        *n = kept;
        return changed;
}

static void check_flowcon_job(const struct sg_flowcon_job *j, const struct sg_flowcon_job *before,
                              double alpha, double bound, bool all)
{
        bool low = j->measured && !(j->growth >= alpha);

        prop_check(j->list == SG_LIST_NEW || j->list == SG_LIST_WATCH ||
                   j->list == SG_LIST_COMPLETE);
        prop_check(j->limit >= 0 && j->limit <= 1 + 1e-12);
        if (isnan(j->growth) || (j->measured && !low))
                prop_check(j->list == SG_LIST_NEW);
        else if (low)
                prop_check(j->list - before->list <= 1 && j->list >= before->list);
        else
                prop_check(j->list == before->list);
        if (all)
                prop_near(j->limit, 1, 0);
        else if (j->list == SG_LIST_COMPLETE)
                prop_check(j->limit >= fmin(bound, 1) - 1e-12);
        else if (j->list == SG_LIST_WATCH)
                prop_near(j->limit, before->limit, 0);
}

static void flowcon_run(struct sg_rng *rng, struct sg_flowcon *f, double alpha, double beta)
{
        struct sg_flowcon_job before[JOBS_MAX];
        double interval = f->interval, now = f->next + 1;
        bool all, complete = true;

        for (size_t i = 0; i < f->n; i++) {
                struct sg_flowcon_job *j = &f->jobs[i];

                j->measured = !one_in(rng, 4);
                if (j->measured)
                        j->growth = one_in(rng, 2) ? sg_rng_between(rng, 0, alpha)
                                                   : sg_rng_between(rng, alpha, 1);
                before[i] = *j;
        }
        all = sg_flowcon_run(f, alpha, beta, now);
        for (size_t i = 0; i < f->n; i++) {
                check_flowcon_job(&f->jobs[i], &before[i], alpha, 1 / (beta * (double)f->n),
                                  all && f->n > 0);
                complete &= f->jobs[i].list == SG_LIST_COMPLETE;
        }
        prop_check(all == complete);
        prop_near(f->interval, all && f->n > 0 ? 2 * interval : interval, 0);
        prop_near(f->next, now + f->interval, 1e-12);
}

/* Each job is in one list and goes down one at a time, watched ones keep their limits, complete
 * ones have their bound; when all are complete limits are lifted and the interval is doubled;
 * whoever comes or ends resets it. */
static void flowcon(struct sg_rng *rng)
{
        struct sg_flowcon f = {.initial = 20, .interval = 20};
        double alpha = sg_rng_between(rng, .01, .2), beta = sg_rng_between(rng, 1, 4);
        uint64_t keys[JOBS_MAX], newest = 0;
        size_t n = 0;

        for (unsigned round = 0; round < 40; round++) {
                bool changed = come_and_go(rng, keys, &n, &newest);

                prop_check(sg_flowcon_listen(&f, keys, n) == changed);
                prop_check(f.n == n);
                for (size_t i = 0; i < n; i++)
                        prop_check(flowcon_find(&f, keys[i]));
                if (changed)
                        prop_near(f.interval, f.initial, 0);
                flowcon_run(rng, &f, alpha, beta);
        }
        free(f.jobs);
}

static void test_flowcon(void **state)
{
        (void)state;
        prop_each(2000, flowcon);
}

/* --- SpeCon */

struct cluster {
        struct sg_specon_job jobs[JOBS_MAX];
        size_t host[JOBS_MAX], n, n_nodes;
        unsigned moved[JOBS_MAX], balanced[JOBS_MAX];
};

static void count(const struct cluster *c, struct sg_specon_node *nodes)
{
        for (size_t k = 0; k < c->n_nodes; k++)
                nodes[k] = (struct sg_specon_node){.use = (double)k / NODES_MAX};
        for (size_t i = 0; i < c->n; i++)
                nodes[c->host[i]].n[c->jobs[i].category]++;
}

static void tick_all(struct sg_rng *rng, struct cluster *c, double now)
{
        struct sg_specon_node nodes[NODES_MAX], before[NODES_MAX];

        count(c, before);
        for (size_t i = 0; i < c->n; i++) {
                struct sg_specon_job *j = &c->jobs[i];
                bool was_marked = j->marked;
                enum sg_specon_category was = j->category;
                double eval =
                        j->last - j->first * sg_rng_between(rng, 0, one_in(rng, 3) ? .1 : .02);
                const struct sg_specon_node *own = &before[c->host[i]];

                if (!sg_specon_tick(j, now, eval, SG_SPECON_ALPHA,
                                    own->n[SG_SPECON_PROGRESSING] + own->n[SG_SPECON_WATCHING])) {
                        prop_check(!was_marked || j->category == was);
                        continue;
                }
                prop_check(!was_marked && was == SG_SPECON_CONVERGED);
                count(c, nodes);
                c->host[i] = sg_specon_target(nodes, c->n_nodes, c->host[i], &sg_specon_weights);
                sg_specon_mark(j, now);
                c->moved[i]++;
        }
}

static bool is_settled(const struct cluster *c)
{
        for (size_t i = 0; i < c->n; i++)
                if (!c->jobs[i].marked && c->jobs[i].category != SG_SPECON_CONVERGED)
                        return false;
        return true;
}

static void balance(struct cluster *c)
{
        struct sg_specon_placed placed[JOBS_MAX];
        struct sg_specon_host hosts[NODES_MAX];
        struct sg_specon_move moves[NODES_MAX];
        size_t left[NODES_MAX] = {0}, n;

        for (size_t i = 0; i < c->n; i++)
                placed[i] = (struct sg_specon_placed){.host = c->host[i],
                                                      .since = c->jobs[i].since,
                                                      .rebalanced = c->jobs[i].rebalanced};
        n = sg_specon_rebalance(placed, c->n, hosts, c->n_nodes, false, moves);
        prop_check(n <= c->n_nodes);
        for (size_t i = 0; i < n; i++) {
                prop_check(c->host[moves[i].job] == moves[i].from && moves[i].from != moves[i].to);
                prop_check(hosts[moves[i].to].target && !hosts[moves[i].from].target);
                c->host[moves[i].job] = moves[i].to;
                c->jobs[moves[i].job].rebalanced = true;
                c->balanced[moves[i].job]++;
        }
        for (size_t i = 0; i < c->n; i++)
                left[c->host[i]]++;
        for (size_t i = 0; i < n; i++)
                prop_check(left[moves[i].from] > 0); /* a source keeps one */
}

/* A job is moved at most once because it has converged, and at most once to even out. */
static void specon(struct sg_rng *rng)
{
        struct cluster c = {.n = 1 + sg_rng_below(rng, JOBS_MAX),
                            .n_nodes = 1 + sg_rng_below(rng, NODES_MAX)};

        for (size_t i = 0; i < c.n; i++) {
                sg_specon_init(&c.jobs[i], sg_rng_between(rng, .1, 500));
                c.host[i] = sg_rng_below(rng, (uint32_t)c.n_nodes);
        }
        for (unsigned tick = 1; tick <= 60; tick++) {
                tick_all(rng, &c, tick * SG_SPECON_INTERVAL);
                if (is_settled(&c))
                        balance(&c);
        }
        for (size_t i = 0; i < c.n; i++)
                prop_check(c.moved[i] <= 1 && c.balanced[i] <= 1);
}

static void test_specon(void **state)
{
        (void)state;
        prop_each(2000, specon);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_conservation), cmocka_unit_test(test_hesrpt),
                cmocka_unit_test(test_plan_twice),   cmocka_unit_test(test_flowcon),
                cmocka_unit_test(test_specon),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
