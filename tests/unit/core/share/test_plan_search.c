/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* heSRPT's shares, and the search for a plan of jobs that scale badly. */

#include "core/share/hesrpt.h"
#include "core/share/plan-search.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define N_MAX 1000
#define INSTANCES 300U

/* splitmix64 */
static double draw(uint64_t *random, double lo, double hi)
{
        uint64_t z = *random += 0x9e3779b97f4a7c15ULL;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return lo + (hi - lo) * (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* --- heSRPT --- */

static void test_hesrpt(void **state)
{
        static const double remaining[] = {30, 20, 10}, expected[] = {1. / 9, 3. / 9, 5. / 9};
        double shares[3];

        (void)state;
        assert_int_equal(sg_hesrpt_shares(remaining, 3, .5, shares), 0);
        for (int i = 0; i < 3; i++)
                assert_alike(shares[i], expected[i], 1e-12);
        assert_int_equal(sg_hesrpt_shares(remaining, 3, 0, shares), 0);
        for (int i = 0; i < 3; i++)
                assert_alike(shares[i], 1. / 3, 1e-12);
        assert_int_equal(sg_hesrpt_shares(remaining, 3, 1, shares), 0);
        assert_near(shares[0], 0, 0);
        assert_near(shares[1], 0, 0);
        assert_alike(shares[2], 1, 0);
        assert_int_equal(sg_hesrpt_shares(remaining, 0, .5, NULL), 0);
}

static void test_hesrpt_ties(void **state)
{
        static const double remaining[] = {10, 10, 20};
        double shares[3];

        (void)state;
        assert_int_equal(sg_hesrpt_shares(remaining, 3, .8, shares), 0);
        assert_true(shares[0] > shares[1]);
        assert_true(shares[1] > shares[2]);
}

static void test_hesrpt_sums(void **state)
{
        uint64_t random = 1;

        (void)state;
        for (unsigned k = 0; k < INSTANCES; k++) {
                size_t n = 1 + (size_t)draw(&random, 0, 200);
                double remaining[200], shares[200], sum = 0;
                double exponent = k % 10 == 0 ? .999 : draw(&random, 0, 1);

                for (size_t i = 0; i < n; i++)
                        remaining[i] = draw(&random, 1, 100);
                assert_int_equal(sg_hesrpt_shares(remaining, n, exponent, shares), 0);
                for (size_t i = 0; i < n; i++) {
                        sum += shares[i];
                        for (size_t j = 0; j < n; j++)
                                assert_true(remaining[i] >= remaining[j] || shares[i] >= shares[j]);
                }
                assert_alike(sum, 1, 1e-9);
        }
}

/* --- the search --- */

static struct sg_search_job job(double remaining, double exponent)
{
        return (struct sg_search_job){
                .remaining = remaining,
                .to = {NAN, NAN, NAN, remaining},
                .width = 1,
                .exponent = exponent,
                .weight = 1,
                .index = 1 / remaining,
                .due = INFINITY,
        };
}

static struct sg_search_plan plan(struct sg_search_job *jobs, size_t n, enum sg_objective objective)
{
        const struct sg_search_node node = {.now = 100, .capacity = 1};
        struct sg_search_plan p;

        assert_int_equal(sg_plan_search(jobs, n, &node, objective, &p), 0);
        return p;
}

static void test_nothing_and_one(void **state)
{
        struct sg_search_job j = job(7, .5);
        struct sg_search_plan p;

        (void)state;
        p = plan(NULL, 0, SG_OBJECTIVE_JCT);
        assert_near(p.value, 0, 0);
        assert_near(p.tardiness, 0, 0);
        p = plan(&j, 1, SG_OBJECTIVE_JCT);
        assert_alike(p.value, 7, 1e-9);
        assert_alike(j.share, 1, 1e-9);
        assert_alike(j.finish, 107, 1e-9);
        assert_int_equal(j.rank, 1);
        assert_int_equal(j.list, SG_LIST_RUN);
}

/* That the best exponent of heSRPT for jobs of one exponent is this very exponent is its theorem:
 * the search must find the one of its list, and the value must be the theorem's. */
static void test_finds_the_optimum(void **state)
{
        static const double q[] = {.9, .8, .7, .6, .45, .3, .15};

        (void)state;
        for (size_t k = 0; k < SG_ELEMENTSOF(q); k++) {
                static const double sizes[] = {260, 150, 106, 28, 12};
                struct sg_search_job jobs[SG_ELEMENTSOF(sizes)];
                struct sg_search_plan p;
                double best = 0;

                for (size_t i = 0; i < SG_ELEMENTSOF(sizes); i++) {
                        double i1 = (double)i + 1;

                        /* Σ x_i·(i^c − (i−1)^c)^(1−q), c = 1/(1−q), sizes falling */
                        jobs[i] = job(sizes[i], q[k]);
                        best += sizes[i] *
                                pow(pow(i1, 1 / (1 - q[k])) - pow(i1 - 1, 1 / (1 - q[k])),
                                    1 - q[k]);
                }
                p = plan(jobs, SG_ELEMENTSOF(sizes), SG_OBJECTIVE_JCT);
                assert_true(p.exponent == q[k]);
                assert_alike(p.value, best, 1e-9);
                assert_int_equal(jobs[4].rank, 1);
                assert_int_equal(jobs[0].rank, 5);
        }
}

static void test_linear_jobs_go_one_by_one(void **state)
{
        struct sg_search_job jobs[] = {job(30, 1), job(20, 1), job(10, 1)};
        struct sg_search_plan p = plan(jobs, 3, SG_OBJECTIVE_JCT);

        (void)state;
        assert_true(p.exponent == .98);
        assert_alike(p.value, 10 + 30 + 60, 1e-6);
        assert_int_equal(jobs[2].list, SG_LIST_RUN);
        assert_int_equal(jobs[0].list, SG_LIST_WAIT);
        assert_alike(jobs[1].finish, 130, 1e-6);
}

/* Two that would end soonest together, but one has a promise that only half of the way by itself
 * keeps. */
static void test_promises_come_first(void **state)
{
        struct sg_search_job jobs[] = {job(40, .5), job(10, .5)};
        struct sg_search_plan free_plan = plan(jobs, 2, SG_OBJECTIVE_JCT), bound;
        double finish = jobs[0].finish;

        (void)state;
        assert_true(free_plan.tardiness == 0);
        jobs[0].due = finish - 4;
        bound = plan(jobs, 2, SG_OBJECTIVE_JCT);
        assert_true(jobs[0].finish < finish);
        assert_true(bound.value > free_plan.value);
        assert_true(bound.tardiness < 3);
        jobs[0].due = finish - .9; /* less than a second is nothing */
        bound = plan(jobs, 2, SG_OBJECTIVE_JCT);
        assert_alike(bound.value, free_plan.value, 1e-12);
}

static void test_widths(void **state)
{
        struct sg_search_job jobs[] = {job(10, .7), job(20, .7), job(30, .7)};
        struct sg_search_plan p;

        (void)state;
        for (int i = 0; i < 3; i++)
                jobs[i].width = .25;
        p = plan(jobs, 3, SG_OBJECTIVE_JCT); /* there is room for all */
        for (int i = 0; i < 3; i++) {
                assert_alike(jobs[i].share, .25, 1e-12);
                assert_alike(jobs[i].finish, 100 + 40 * (i + 1), 1e-9);
        }
        assert_alike(p.value, 240, 1e-9);
        jobs[0].width = .5;
        jobs[1].width = jobs[2].width = 1;
        (void)plan(jobs, 3, SG_OBJECTIVE_JCT);
        assert_alike(jobs[0].share + jobs[1].share + jobs[2].share, 1, 1e-9);
        assert_true(jobs[0].share <= .5);
}

/* Of two alike, the one that has much to gain soon goes first. */
static void test_milestones_count(void **state)
{
        struct sg_search_job jobs[] = {job(100, .9), job(99, .9)};
        struct sg_search_plan p;

        (void)state;
        jobs[0].to[SG_MILESTONE_90] = 5;
        jobs[0].to[SG_MILESTONE_95] = 10;
        jobs[0].to[SG_MILESTONE_99] = 20;
        jobs[0].index = 1;
        (void)plan(jobs, 2, SG_OBJECTIVE_JCT);
        assert_int_equal(jobs[1].rank, 1);
        p = plan(jobs, 2, SG_OBJECTIVE_BALANCED);
        assert_int_equal(p.order, SG_SEARCH_INDEX);
        assert_int_equal(jobs[0].rank, 1);
        jobs[0].weight = 0;
        (void)plan(jobs, 2, SG_OBJECTIVE_BALANCED);
        assert_int_equal(jobs[1].rank, 1);
}

/* --- what must hold for any jobs --- */

static void draw_jobs(struct sg_search_job *jobs, size_t n, uint64_t *random)
{
        for (size_t i = 0; i < n; i++) {
                jobs[i] = job(draw(random, 1, 300), draw(random, .3, 1));
                jobs[i].width = draw(random, 0, 1) < .3 ? draw(random, .05, 1) : 1;
                jobs[i].index = draw(random, 0, 1);
                jobs[i].to[SG_MILESTONE_95] = jobs[i].remaining * draw(random, 0, 1);
                if (draw(random, 0, 1) < .5)
                        jobs[i].due = 100 + draw(random, 0, 600);
        }
}

static void test_random(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
                struct sg_search_job jobs[60], again[60];
                uint64_t random = seed;
                size_t n = 1 + (size_t)draw(&random, 0, 59);
                double capacity = draw(&random, 0, 1) < .5 ? 1 : draw(&random, .1, 1);
                double sum = 0, widths = 0, late = 0;
                const struct sg_search_node node = {.now = 100, .capacity = capacity};
                struct sg_search_plan p, q;

                draw_jobs(jobs, n, &random);
                assert_int_equal(sg_plan_search(jobs, n, &node, SG_OBJECTIVE_QUALITY, &p), 0);
                for (size_t i = 0; i < n; i++) {
                        sum += jobs[i].share;
                        widths += jobs[i].width;
                        late += fmax(0, jobs[i].finish - jobs[i].due - 1);
                        if (!(jobs[i].share <= jobs[i].width * (1 + 1e-9)) ||
                            !(jobs[i].finish >=
                              100 + jobs[i].remaining / jobs[i].width * (1 - 1e-9)))
                                fail_msg("seed %" PRIu64 ", job %zu", seed, i);
                        again[i] = jobs[i];
                }
                assert_alike(sum, fmin(widths, capacity), 1e-9);
                assert_alike(late, p.tardiness, 1e-6);
                assert_int_equal(sg_plan_search(again, n, &node, SG_OBJECTIVE_QUALITY, &q), 0);
                assert_memory_equal(&p, &q, sizeof(p));
                assert_memory_equal(jobs, again, n * sizeof(*jobs));
        }
}

static void test_a_thousand_jobs(void **state)
{
        static struct sg_search_job jobs[N_MAX];
        struct sg_search_plan p;
        struct timespec from, to;
        uint64_t random = 5;
        double sum = 0, seconds;

        (void)state;
        draw_jobs(jobs, N_MAX, &random);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        p = plan(jobs, N_MAX, SG_OBJECTIVE_BALANCED);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        for (size_t i = 0; i < N_MAX; i++)
                sum += jobs[i].share;
        assert_alike(sum, 1, 1e-9);
        assert_true(isfinite(p.value));
        print_message("a thousand jobs: %.1f ms\n", 1e3 * seconds);
        assert_true(seconds < .25); /* with sanitizers, too */
}

/* --- whole CPUs --- */

static struct sg_search_plan plan_cpus(struct sg_search_job *jobs, size_t n, double cpus)
{
        const struct sg_search_node node = {.now = 100, .capacity = 1, .cpus = cpus};
        struct sg_search_plan p;

        assert_int_equal(sg_plan_search(jobs, n, &node, SG_OBJECTIVE_JCT, &p), 0);
        return p;
}

/* remaining: seconds of one CPU ÷ cpus. */
static struct sg_search_job scaling(double remaining, const struct sg_speedup *speedup)
{
        struct sg_search_job j = job(remaining, 1);

        j.speedup = speedup;
        return j;
}

/* By hand: on two CPUs each alone would take 10 / 1.4 s, then the other as long again. */
static void test_who_scales_badly_gets_one(void **state)
{
        const struct sg_speedup badly = sg_speedup_of(log2(1.4)), well = sg_speedup_of(log2(1.9));
        struct sg_search_job two[] = {scaling(5, &badly), scaling(5, &badly)};

        (void)state;
        assert_alike(plan_cpus(two, 2, 2).value, 20, 1e-9);
        assert_int_equal(two[0].cpus, 1);
        assert_int_equal(two[1].cpus, 1);
        two[0] = scaling(5, &well);
        two[1] = scaling(5, &well);
        assert_alike(plan_cpus(two, 2, 2).value, 10 / 1.9 + 20 / 1.9, 1e-9);
        assert_int_equal(two[0].cpus, 2);
        assert_int_equal(two[1].cpus, 0);
        assert_int_equal(two[1].list, SG_LIST_WAIT);
}

/* It hasn't two threads' worth of use for two, whatever its curve. */
static void test_next_cpu_goes_where_it_gains(void **state)
{
        const struct sg_speedup none = sg_speedup_of(0), well = sg_speedup_of(.9);
        struct sg_search_job jobs[] = {scaling(5, &none), scaling(9, &well), scaling(6, &well)};

        (void)state;
        jobs[2].width = .25;
        (void)plan_cpus(jobs, 3, 4);
        assert_int_equal(jobs[0].cpus, 1);
        assert_int_equal(jobs[1].cpus, 2);
        assert_int_equal(jobs[2].cpus, 1);
        (void)plan_cpus(&jobs[1], 1, 4);
        assert_int_equal(jobs[1].cpus, 4);
}

static void test_who_gets_slower_gets_one(void **state)
{
        const struct sg_speedup slower = sg_speedup_of(-.4);
        struct sg_search_job j = scaling(5, &slower);

        (void)state;
        assert_alike(plan_cpus(&j, 1, 2).value, 10, 1e-9);
        assert_int_equal(j.cpus, 1);
}

/* A promise is kept where the objective would have it broken. */
static void test_whole_cpus_keep_promises(void **state)
{
        const struct sg_speedup badly = sg_speedup_of(.4);
        struct sg_search_job jobs[] = {scaling(5, &badly), scaling(5, &badly), scaling(20, &badly)};

        (void)state;
        (void)plan_cpus(jobs, 3, 2);
        assert_int_equal(jobs[2].cpus, 0);
        jobs[2].due = 100 + 36;
        assert_near(plan_cpus(jobs, 3, 2).tardiness, 0, 1e-9);
        assert_true(jobs[2].cpus > 0);
}

static void test_random_on_cpus(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
                struct sg_search_job jobs[60], again[60];
                struct sg_speedup curves[60];
                uint64_t random = seed;
                size_t n = 1 + (size_t)draw(&random, 0, 59);
                double cpus = floor(draw(&random, 2, 65)), usable = 0, late = 0;
                const struct sg_search_node node = {.now = 100, .capacity = 1, .cpus = cpus};
                struct sg_search_plan p, q;
                unsigned given = 0;

                draw_jobs(jobs, n, &random);
                for (size_t i = 0; i < n; i++) {
                        curves[i] = sg_speedup_of(draw(&random, 0, 1));
                        jobs[i].speedup = &curves[i];
                }
                memcpy(again, jobs, sizeof(jobs));
                assert_int_equal(sg_plan_search(jobs, n, &node, SG_OBJECTIVE_QUALITY, &p), 0);
                for (size_t i = 0; i < n; i++) {
                        double most = fmax(1, ceil(jobs[i].width * cpus - .05));
                        double best = sg_speedup_at(&curves[i], jobs[i].width * cpus) / cpus;

                        given += jobs[i].cpus;
                        usable += most;
                        late += fmax(0, jobs[i].finish - jobs[i].due - 1);
                        if (jobs[i].cpus > most ||
                            !(jobs[i].finish >= 100 + jobs[i].remaining / best * (1 - 1e-9)))
                                fail_msg("seed %" PRIu64 ", job %zu", seed, i);
                }
                assert_int_equal(given, (unsigned)fmin(usable, cpus));
                assert_alike(late, p.tardiness, 1e-6);
                assert_int_equal(sg_plan_search(again, n, &node, SG_OBJECTIVE_QUALITY, &q), 0);
                assert_memory_equal(&p, &q, sizeof(p));
                assert_memory_equal(jobs, again, n * sizeof(*jobs));
        }
}

static void test_a_thousand_jobs_on_64_cpus(void **state)
{
        static struct sg_search_job jobs[N_MAX];
        static struct sg_speedup curves[N_MAX];
        uint64_t random = 7;
        struct timespec from, to;
        unsigned given = 0;
        double seconds;

        (void)state;
        draw_jobs(jobs, N_MAX, &random);
        for (size_t i = 0; i < N_MAX; i++) {
                curves[i] = sg_speedup_of(draw(&random, .29, .87));
                jobs[i].speedup = &curves[i];
                jobs[i].width = 1;
        }
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        (void)plan_cpus(jobs, N_MAX, 64);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        for (size_t i = 0; i < N_MAX; i++)
                given += jobs[i].cpus;
        assert_int_equal(given, 64);
        print_message("a thousand jobs on 64 CPUs: %.1f ms\n", 1e3 * seconds);
        assert_true(seconds < .25); /* with sanitizers, too */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_hesrpt),
                cmocka_unit_test(test_hesrpt_ties),
                cmocka_unit_test(test_hesrpt_sums),
                cmocka_unit_test(test_nothing_and_one),
                cmocka_unit_test(test_finds_the_optimum),
                cmocka_unit_test(test_linear_jobs_go_one_by_one),
                cmocka_unit_test(test_promises_come_first),
                cmocka_unit_test(test_widths),
                cmocka_unit_test(test_milestones_count),
                cmocka_unit_test(test_random),
                cmocka_unit_test(test_a_thousand_jobs),
                cmocka_unit_test(test_who_scales_badly_gets_one),
                cmocka_unit_test(test_next_cpu_goes_where_it_gains),
                cmocka_unit_test(test_who_gets_slower_gets_one),
                cmocka_unit_test(test_whole_cpus_keep_promises),
                cmocka_unit_test(test_random_on_cpus),
                cmocka_unit_test(test_a_thousand_jobs_on_64_cpus),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
