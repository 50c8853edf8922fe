/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The simulator: known times come out, nothing of the node is lost or made up, and the same goes in
 * twice gives the same twice. */
#include "core/sim/generate.h"
#include "core/sim/stats.h"
#include "tests/unit/test.h"

#include <math.h>

#define JOBS_MAX 64

struct check {
        const struct sg_trace_job *jobs;
        double used, end;
};

/* All that somebody could use is used, and nobody gets more than that. */
static void check_span(void *userdata, double from, double to, const struct sg_sim_share *shares,
                       size_t n)
{
        struct check *c = userdata;
        double sum = 0, could = 0;

        assert_true(from >= c->end - 1e-9);
        assert_true(to > from);
        for (size_t i = 0; i < n; i++) {
                const struct sg_trace_job *j = &c->jobs[shares[i].job];

                assert_in_between(shares[i].share, 0, j->width + 1e-9);
                assert_true(j->arrival <= from + 1e-9);
                sum += shares[i].share;
                could += j->width;
        }
        assert_near(sum, fmin(1, could), 1e-9);
        c->used += sum * (to - from);
        c->end = to;
}

static void simulate(const struct sg_trace *t, size_t begin, const struct sg_sim_options *from,
                     struct sg_sim_result *result)
{
        size_t n = sg_trace_instance_end(t, begin) - begin;
        struct check check = {.jobs = &t->jobs[begin]};
        struct sg_sim_options o = *from;
        double work = 0, cpu = 0, end = 0;

        o.watch = check_span;
        o.userdata = &check;
        assert_true(n <= JOBS_MAX);
        assert_int_equal(sg_sim_run(&t->jobs[begin], n, &o, result), 0);
        for (size_t i = 0; i < n; i++) {
                work += t->jobs[begin + i].work;
                cpu += result->jobs[i].cpu;
                end = fmax(end, result->jobs[i].finish);
        }
        assert_near(check.used, work, 1e-5 * work);
        assert_near(cpu, work, 1e-5 * work);
        assert_near(check.end, end, 1e-9);
}

static void test_the_fixed_schedule_under_fair(void **state)
{
        static const double ends[] = {393.9, 240.4, 84.6}, begins[] = {0, 40, 80};
        struct sg_sim_job got[3];
        struct sg_sim_result result = {.jobs = got};
        struct sg_sim_options o;
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_generate(&t, "fixed3", 1, 1), 0);
        sg_sim_options_init(&o);
        o.settings.share = SG_SHARE_FAIR;
        simulate(&t, 0, &o, &result);
        for (size_t i = 0; i < 3; i++)
                assert_near(got[i].finish - begins[i], ends[i], .06);
        o.reference = SG_SIM_FIRST;
        simulate(&t, 0, &o, &result);
        assert_near(got[1].finish, 259.6 + 106.1, .06);
        o.reference = SG_SIM_SHORTEST; /* the second is not as long as what is left of the first */
        simulate(&t, 0, &o, &result);
        assert_near(got[2].finish, 80 + 28.2, .06);
        assert_near(got[1].finish, 40 + 106.1 + 28.2, .06);
        sg_trace_deinit(&t);
}

/* Alone, the time at which a quality is reached is where the curve says. */
static void test_a_job_alone(void **state)
{
        static const struct sg_trace_job job = {.instance = "1",
                                                .job = "a",
                                                .arrival = 7,
                                                .work = 50,
                                                .width = .5,
                                                .a = 5.2,
                                                .first = 550,
                                                .last = 105,
                                                .reports = 31,
                                                .deadline = INFINITY};
        struct sg_sim_job got;
        struct sg_sim_result result = {.jobs = &got};
        struct sg_sim_options o;
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_trace_add(&t, &job), 0);
        sg_sim_options_init(&o);
        simulate(&t, 0, &o, &result);
        assert_near(got.finish, 107, 1e-6);
        assert_near(got.reached[SG_SIM_90], 7 + 100 * sg_trace_left_at(&job, .1), 1e-6);
        assert_near(got.reached[SG_SIM_99], 7 + 100 * sg_trace_left_at(&job, .01), 1e-6);
        assert_near(got.cpu, 50, 1e-6);
        sg_trace_deinit(&t);
}

static double last_of(const struct sg_sim_job *jobs, size_t n)
{
        double end = 0;

        for (size_t i = 0; i < n; i++)
                end = fmax(end, jobs[i].finish);
        return end;
}

/* (every policy through simulate(), which checks each span) */
static void test_linear_jobs_of_width_1_end_together_under_every_policy(void **state)
{
        struct sg_sim_job got[12];
        struct sg_sim_result result = {.jobs = got};
        struct sg_sim_options o;
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_generate(&t, "wide12", 5, 8), 0);
        for (size_t begin = 0; begin < t.n; begin += 12) {
                double end = 0;

                for (int share = 0; share < _SG_SHARE_MAX; share++) {
                        sg_sim_options_init(&o);
                        o.settings.share = (enum sg_share_kind)share;
                        simulate(&t, begin, &o, &result);
                        if (share > 0)
                                assert_near(last_of(got, 12), end, 1e-4);
                        end = last_of(got, 12);
                }
        }
        sg_trace_deinit(&t);
}

static void test_nothing_is_lost_with_narrow_jobs(void **state)
{
        struct sg_sim_job got[20];
        struct sg_sim_result result = {.jobs = got};
        struct sg_sim_options o;
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_generate(&t, "narrow20", 6, 6), 0);
        for (size_t begin = 0; begin < t.n; begin += 20)
                for (int share = 0; share < _SG_SHARE_MAX; share++) {
                        sg_sim_options_init(&o);
                        o.settings.share = (enum sg_share_kind)share;
                        simulate(&t, begin, &o, &result);
                }
        sg_trace_deinit(&t);
}

static void test_twice_the_same(void **state)
{
        struct sg_sim_job a[15], b[15];
        struct sg_sim_result first = {.jobs = a}, second = {.jobs = b};
        struct sg_sim_options o;
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_generate(&t, "random15", 9, 4), 0);
        sg_sim_options_init(&o);
        o.lies = .3;
        for (size_t begin = 0; begin < t.n; begin += 15) {
                simulate(&t, begin, &o, &first);
                simulate(&t, begin, &o, &second);
                assert_int_equal(first.steps, second.steps);
                for (size_t i = 0; i < 15; i++) {
                        assert_near(a[i].finish, b[i].finish, 0);
                        assert_true(a[i].lies == b[i].lies);
                }
                o.settings.share = SG_SHARE_FAIR;
                simulate(&t, begin, &o, &second);
                o.settings.share = SG_SHARE_GROWTH;
                for (size_t i = 0; i < 15; i++) /* other policies meet the same jobs */
                        assert_true(a[i].lies == b[i].lies);
        }
        sg_trace_deinit(&t);
}

/* Nobody who doesn't know the sizes beats the one who does, where widths don't matter. */
static void test_clairvoyant_is_a_bound(void **state)
{
        struct sg_sim_job got[10];
        struct sg_sim_result result = {.jobs = got};
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_generate(&t, "wide10", 11, 10), 0);
        for (size_t begin = 0; begin < t.n; begin += 10) {
                double best = 0;

                for (int share = -1; share < _SG_SHARE_MAX; share++) {
                        struct sg_sim_options o;
                        double sum = 0;

                        sg_sim_options_init(&o);
                        o.settings.share = share < 0 ? SG_SHARE_FAIR : (enum sg_share_kind)share;
                        o.reference = share < 0 ? SG_SIM_SHORTEST : SG_SIM_GOVERNED;
                        simulate(&t, begin, &o, &result);
                        for (size_t i = 0; i < 10; i++)
                                sum += got[i].finish - t.jobs[begin + i].arrival;
                        if (share < 0)
                                best = sum;
                        assert_true(sum >= best - 1e-6);
                }
        }
        sg_trace_deinit(&t);
}

/* Two jobs share the node; with an exponent below 1 both together get more done than one alone. */
static void test_speedup(void **state)
{
        static const struct sg_trace_job job = {.instance = "1",
                                                .job = "a",
                                                .work = 50,
                                                .width = 1,
                                                .a = 5,
                                                .first = 2,
                                                .last = 1,
                                                .reports = 10,
                                                .deadline = INFINITY};
        const struct sg_trace_job jobs[] = {job, job};
        struct sg_sim_job got[2];
        struct sg_sim_result result = {.jobs = got};
        struct sg_sim_options o;

        (void)state;
        sg_sim_options_init(&o);
        o.settings.share = SG_SHARE_FAIR;
        o.speedup = .5;
        assert_int_equal(sg_sim_run(jobs, 2, &o, &result), 0);
        assert_near(got[0].finish, 50 / sqrt(.5), 1e-6);
        assert_near(got[1].finish, 50 / sqrt(.5), 1e-6);
}

static void test_figures(void **state)
{
        static const struct sg_trace_job jobs[] = {
                {.arrival = 0, .work = 10, .width = 1, .deadline = 12},
                {.arrival = 10, .work = 10, .width = .5, .deadline = INFINITY},
        };
        struct sg_sim_job fair[] = {{.finish = 20, .reached = {2, 4, 8}},
                                    {.finish = 30, .reached = {12, 14, 18}}};
        struct sg_sim_job got[] = {{.finish = 10, .reached = {1, 2, 4}},
                                   {.finish = 40, .reached = {14, 18, 26}, .lies = true}};
        struct sg_sim_result result = {.jobs = got, .switches = 3, .steps = 5};
        struct sg_sim_result baseline = {.jobs = fair};
        struct sg_share_settings settings;
        struct sg_sim_stats stats = {0};
        struct sg_sim_summary s;

        (void)state;
        sg_share_settings_init(&settings);
        assert_int_equal(sg_sim_stats_add(&stats, jobs, 2, &settings, &result, &baseline), 0);
        sg_sim_stats_summarize(&stats, &s);
        assert_true(s.mean_completion == 20);
        assert_true(s.ratio == 1);
        assert_true(s.p95_ratio == 1.5);
        assert_near(s.makespan_ratio, 40 / 30., 1e-12);
        assert_near(s.quality_ratio[SG_SIM_90], 5 / 4., 1e-12);
        assert_near(s.worst_ratio, 1.5, 0);
        assert_near(s.worst_ratio_most, 1.5, 0);
        assert_true(s.improved == .5);
        assert_true(s.slowdown_most == 1.5);
        assert_true(s.deadlines_met == 1);
        assert_true(s.liars_ratio == 1.5);
        assert_true(s.honest_worst_ratio == .5);
        assert_near(s.broken_most, 30 - (20 * 1.06 + 1), 1e-9);
        assert_true(s.switches == 3);
        sg_sim_stats_deinit(&stats);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_the_fixed_schedule_under_fair),
                cmocka_unit_test(test_a_job_alone),
                cmocka_unit_test(test_linear_jobs_of_width_1_end_together_under_every_policy),
                cmocka_unit_test(test_nothing_is_lost_with_narrow_jobs),
                cmocka_unit_test(test_twice_the_same),
                cmocka_unit_test(test_clairvoyant_is_a_bound),
                cmocka_unit_test(test_speedup),
                cmocka_unit_test(test_figures),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
