/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The three algorithms of SpeCon: the thesis's own numbers, and what must hold for any. */

#include "core/moves/specon.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <math.h>

#define P SG_SPECON_PROGRESSING
#define W SG_SPECON_WATCHING
#define C SG_SPECON_CONVERGED

static uint64_t draw(uint64_t *random, uint64_t below)
{
        uint64_t z = *random += 0x9e3779b97f4a7c15ULL;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return (z ^ (z >> 31)) % below;
}

/* --- Algorithm 3 --- */

struct tick {
        double eval;
        enum sg_specon_category after;
        bool asks;
};

static void expect_ticks(double first, size_t n_growing, const struct tick *ticks, size_t n)
{
        struct sg_specon_job j;

        sg_specon_init(&j, first);
        for (size_t i = 0; i < n; i++) {
                bool asks = sg_specon_tick(&j, 30. * (double)i, ticks[i].eval, .01, n_growing);

                assert_int_equal(j.category, ticks[i].after);
                assert_int_equal(asks, ticks[i].asks);
        }
}
#define TICKS(first, n_growing, ...)                                                               \
        expect_ticks(first, n_growing, (const struct tick[]){__VA_ARGS__},                         \
                     sizeof((const struct tick[]){__VA_ARGS__}) / sizeof(struct tick))

static void test_converges(void **state)
{
        (void)state;
        /* a step down each time that growth falls; it asks once it was converged before */
        TICKS(2, 2, {1.2, P, false}, {.8, P, false}, {.79, W, false}, {.784, C, false},
              {.78, C, true}, {.779, C, true});
        /* growing, but less than alpha: it stays where it is */
        TICKS(2, 2, {1.2, P, false}, {1.19, W, false}, {1.178, W, false}, {1.176, C, false},
              {1.17, C, false}, {1.168, C, true});
        /* above alpha: from anywhere back to the beginning */
        TICKS(2, 2, {1.2, P, false}, {1.19, W, false}, {1.184, C, false}, {1.1, P, false},
              {1.09, W, false});
        /* alone among those that grow, it has nobody to make way for */
        TICKS(2, 1, {1.2, P, false}, {1.19, W, false}, {1.184, C, false}, {1.18, C, false});
}

/* G = alpha is none of the published cases. */
static void test_exactly_alpha(void **state)
{
        struct sg_specon_job j;

        (void)state;
        sg_specon_init(&j, 1);
        assert_false(sg_specon_tick(&j, 0, .5, .0078125, 2));
        assert_false(sg_specon_tick(&j, 0, .4921875, .0078125, 2));
        assert_int_equal(j.category, P);
        assert_true(j.growth == .0078125);
}

static void test_odd_evaluations(void **state)
{
        struct sg_specon_job j;

        (void)state;
        sg_specon_init(&j, NAN); /* nothing was said yet */
        assert_false(sg_specon_tick(&j, 0, NAN, .01, 2));
        assert_int_equal(j.category, P);
        assert_false(sg_specon_tick(&j, 30, 4, .01, 2));
        assert_true(j.first == 4);
        assert_false(sg_specon_tick(&j, 60, 3, .01, 2));
        assert_true(j.growth == .25);
        assert_false(sg_specon_tick(&j, 60, INFINITY, .01, 2));
        assert_near(j.growth, .25, 0);
        assert_near(j.last, 3, 0);
        sg_specon_init(&j, 0); /* no unit: it is 1 */
        assert_false(sg_specon_tick(&j, 0, .5, .01, 2));
        assert_true(j.growth == .5);
}

static void test_marked_is_left_alone(void **state)
{
        struct sg_specon_job j;

        (void)state;
        sg_specon_init(&j, 1);
        (void)sg_specon_tick(&j, 30, .5, .01, 2);
        (void)sg_specon_tick(&j, 60, .495, .01, 2);
        assert_true(isnan(j.since));
        (void)sg_specon_tick(&j, 90, .492, .01, 2);
        assert_true(j.since == 90);
        assert_true(sg_specon_tick(&j, 120, .49, .01, 2));
        assert_true(j.since == 90);
        sg_specon_mark(&j, 125);
        assert_true(j.since == 125);
        assert_false(sg_specon_tick(&j, 150, .1, .01, 2));
        assert_int_equal(j.category, C);
}

/* --- Algorithm 4 --- */

static struct sg_specon_node node(size_t p, size_t w, size_t c, double use)
{
        return (struct sg_specon_node){.n = {p, w, c}, .use = use};
}

static void test_target(void **state)
{
        const struct sg_specon_node thesis[] = {node(3, 0, 0, .9), node(1, 1, 0, .9),
                                                node(2, 0, 0, .9), node(5, 0, 1, 1)};
        const struct sg_specon_node ties[] = {node(2, 0, 1, 1), node(1, 0, 0, .7),
                                              node(1, 0, 0, .4), node(0, 0, 2, .2),
                                              node(0, 0, 2, .2)};
        static const double scores[] = {6, 3.5, 4, 11};
        bool candidates[5];

        (void)state;
        for (size_t i = 0; i < 4; i++)
                assert_true(sg_specon_score(&thesis[i], &sg_specon_weights) == scores[i]);
        assert_int_equal(sg_specon_target(thesis, 4, 3, &sg_specon_weights), 1);
        assert_int_equal(sg_specon_target(thesis, 4, 1, &sg_specon_weights), 1);
        assert_int_equal(sg_specon_candidates(thesis, 4, &sg_specon_weights, candidates), 1);
        assert_true(candidates[1]);
        assert_false(candidates[0]);
        assert_false(candidates[2]);
        assert_false(candidates[3]);
        assert_int_equal(sg_specon_candidates(ties, 5, &sg_specon_weights, candidates), 4);
        assert_int_equal(sg_specon_target(ties, 5, 0, &sg_specon_weights), 3);
        assert_int_equal(sg_specon_target(ties, 5, 4, &sg_specon_weights),
                         4); /* it is among them */
        assert_int_equal(sg_specon_target(ties, 1, 0, &sg_specon_weights), 0);
}

/* --- Algorithm 5 --- */

#define HOSTS 8
#define JOBS 40

struct cluster {
        struct sg_specon_placed jobs[JOBS];
        struct sg_specon_host hosts[HOSTS];
        struct sg_specon_move moves[HOSTS];
        size_t n_jobs, n_hosts;
};

static void put(struct cluster *c, size_t host, double since)
{
        c->jobs[c->n_jobs++] = (struct sg_specon_placed){.host = host, .since = since};
}

static size_t rebalance(struct cluster *c, bool up)
{
        return sg_specon_rebalance(c->jobs, c->n_jobs, c->hosts, c->n_hosts, up, c->moves);
}

static void expect_move(const struct cluster *c, size_t i, size_t job, size_t from, size_t to)
{
        assert_int_equal(c->moves[i].job, job);
        assert_int_equal(c->moves[i].from, from);
        assert_int_equal(c->moves[i].to, to);
}

static void test_idle_hosts(void **state)
{
        struct cluster c = {.n_hosts = 4};

        (void)state;
        put(&c, 0, 10);
        put(&c, 0, 50);
        put(&c, 0, 90);
        put(&c, 1, 20);
        put(&c, 1, 80);
        assert_int_equal(rebalance(&c, false), 2);
        expect_move(&c, 0, 2, 0, 2);
        expect_move(&c, 1, 4, 1, 3);
        assert_int_equal(rebalance(&c, false), 0); /* all hosts have one, none lacks two */
}

static void test_few_jobs(void **state)
{
        struct cluster c = {.n_hosts = 4};

        (void)state;
        put(&c, 0, 10);
        put(&c, 0, 50);
        put(&c, 0, 30);
        assert_int_equal(sg_specon_balance(3, 4, false), 0);
        assert_int_equal(rebalance(&c, false), 0); /* as published: hosts stay idle */
        assert_true(c.hosts[1].target);
        assert_int_equal(rebalance(&c, true), 2);
        expect_move(&c, 0, 1, 0, 1);
        expect_move(&c, 1, 2, 0, 2);
        assert_int_equal(rebalance(&c, true), 0); /* a host keeps its last job */
}

static void test_lacking_two(void **state)
{
        struct cluster c = {.n_hosts = 3};

        (void)state;
        put(&c, 0, 1);
        for (int i = 0; i < 5; i++)
                put(&c, 1, 10 + i);
        for (int i = 0; i < 4; i++)
                put(&c, 2, 20 + i);
        assert_int_equal(rebalance(&c, false), 1); /* 10 jobs: 3 each; host 0 has 1 < 2 */
        expect_move(&c, 0, 9, 2, 0);
        assert_int_equal(rebalance(&c, false), 0);
        assert_int_equal(rebalance(&c, true), 1); /* 4 each: 2 < 3 */
        expect_move(&c, 0, 8, 2, 0);
}

static void test_nothing_to_move(void **state)
{
        struct cluster c = {0};

        (void)state;
        assert_int_equal(rebalance(&c, true), 0);
        c.n_hosts = 2;
        assert_int_equal(rebalance(&c, true), 0);
        put(&c, 0, 1);
        put(&c, 0, 2);
        c.jobs[0].rebalanced = c.jobs[1].rebalanced = true;
        assert_int_equal(rebalance(&c, true), 0); /* each is moved once */
}

static void test_random_clusters(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= 2000; seed++) {
                uint64_t random = seed;
                struct cluster c = {.n_hosts = 1 + draw(&random, HOSTS)};
                size_t n = draw(&random, JOBS), moved[JOBS] = {0};
                bool up = draw(&random, 2);

                for (size_t i = 0; i < n; i++)
                        put(&c, draw(&random, c.n_hosts), (double)draw(&random, 20));
                for (int round = 0; round < 50; round++) {
                        size_t n_moves = rebalance(&c, up), counts[HOSTS] = {0};

                        for (size_t i = 0; i < n_moves; i++) {
                                assert_int_equal(++moved[c.moves[i].job], 1);
                                assert_int_not_equal(c.moves[i].from, c.moves[i].to);
                                assert_true(c.hosts[c.moves[i].from].n_jobs > 0);
                                assert_false(c.hosts[c.moves[i].from].target);
                                assert_int_equal(c.jobs[c.moves[i].job].host, c.moves[i].to);
                        }
                        for (size_t i = 0; i < n; i++)
                                counts[c.jobs[i].host]++;
                        for (size_t i = 0; i < c.n_hosts; i++)
                                assert_int_equal(counts[i], c.hosts[i].n_jobs);
                        if (n_moves == 0)
                                break;
                }
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_converges),       cmocka_unit_test(test_exactly_alpha),
                cmocka_unit_test(test_odd_evaluations), cmocka_unit_test(test_marked_is_left_alone),
                cmocka_unit_test(test_target),          cmocka_unit_test(test_idle_hosts),
                cmocka_unit_test(test_few_jobs),        cmocka_unit_test(test_lacking_two),
                cmocka_unit_test(test_nothing_to_move), cmocka_unit_test(test_random_clusters),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
