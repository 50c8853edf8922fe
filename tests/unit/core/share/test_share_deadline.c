/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The policies `deadline` and `hesrpt`: steps by example, and what `deadline` makes of standard
 * workloads in the simulator.
 */

#include "core/share/policies.h"
#include "core/sim/generate.h"
#include "core/sim/sim.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#define N_MAX 8
#define NOW 1000.

struct fixture {
        struct sg_share_settings settings;
        struct sg_share_class class;
        struct sg_share_job jobs[N_MAX];
        struct sg_share_out out[N_MAX];
        struct sg_share_snapshot s;
        double next;
};

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        sg_share_settings_init(&f->settings);
        f->settings.floor = 0;
        f->class = (struct sg_share_class){.name = "default", .weight = 100};
        f->class.settings = &f->settings;
        f->s = (struct sg_share_snapshot){
                .now = NOW, .classes = &f->class, .n_classes = 1, .jobs = f->jobs};
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        free(*state);
        return 0;
}

/* left: seconds until its deadline */
static struct sg_share_job *add(struct fixture *f, double remaining, double left)
{
        struct sg_share_job *j = &f->jobs[f->s.n_jobs++];

        *j = (struct sg_share_job){
                .key = f->s.n_jobs,
                .arrival = 900,
                .used = 10,
                .weight = 100,
                .width = 1,
                .deadline = NOW + left,
                .cpu_bound = true,
                .estimate = {.remaining = remaining,
                             .total = remaining + 10,
                             .exponent = 1,
                             .n_reports = 5,
                             .source = SG_SIZE_REPORTS},
        };
        return j;
}

static void step(struct fixture *f, const struct sg_share_policy *policy)
{
        double sum = 0, widths = 0;

        assert_true(policy->step(NULL, &f->s, f->out, &f->next) >= 0);
        for (size_t i = 0; i < f->s.n_jobs; i++) {
                assert_true(f->out[i].share <= f->jobs[i].width + 1e-9);
                assert_in_range(f->out[i].weight, 1, 10000);
                sum += f->out[i].share;
                widths += f->jobs[i].held ? 0 : f->jobs[i].width;
        }
        assert_near(sum, fmin(widths, 1), 1e-9);
        assert_true(f->next > f->s.now);
}

static void expect_share(const struct fixture *f, size_t i, double share)
{
        if (fabs(f->out[i].share - share) > 1e-6)
                fail_msg("job %zu has %g, not %g", i, f->out[i].share, share);
}

/* --- deadline --- */

static void test_earliest_first(void **state)
{
        struct fixture *f = *state;

        add(f, 50, 300);
        add(f, 60, 100);
        step(f, &sg_share_deadline);
        expect_share(f, 0, 0);
        expect_share(f, 1, 1);
        assert_int_equal(f->out[1].list, SG_LIST_RUN);
        assert_int_equal(f->out[0].list, SG_LIST_WAIT);
        assert_int_equal(f->out[1].why.reason, SG_REASON_DEADLINE);
        assert_int_equal(f->out[1].why.rank, 1);
        assert_true(f->out[1].why.due == NOW + 100);
        assert_near(f->out[1].why.slack, 40, 0);
        assert_true(isinf(f->next));
}

static void test_dropped_goes_last(void **state)
{
        struct fixture *f = *state;

        add(f, 500, 600);
        add(f, 100, 700);
        add(f, 250, 750);
        step(f, &sg_share_deadline);
        expect_share(f, 1, 1);
        assert_int_equal(f->out[0].list, SG_LIST_DROPPED);
        assert_int_equal(f->out[0].why.reason, SG_REASON_DROPPED);
        assert_int_equal(f->out[0].why.rank, 3);
        f->s.n_jobs = 1;
        step(f, &sg_share_deadline); /* without the others it is fine */
        assert_int_equal(f->out[0].list, SG_LIST_RUN);
}

/* Who has no deadline gets what the others can spare, and those just what they need. */
static void test_spare(void **state)
{
        struct fixture *f = *state;

        add(f, 40, 100);
        add(f, 10, INFINITY);
        add(f, 10, INFINITY)->weight = 300;
        step(f, &sg_share_deadline);
        expect_share(f, 0, .5); /* .4 and a quarter more */
        expect_share(f, 1, .125);
        expect_share(f, 2, .375);
        assert_int_equal(f->out[1].why.reason, SG_REASON_SPARE);
        assert_int_equal(f->out[2].weight, 3750);
        f->jobs[0].estimate.remaining = 90; /* no room to spare */
        step(f, &sg_share_deadline);
        expect_share(f, 0, 1);
        f->jobs[0].estimate.remaining = 40;
        f->jobs[1].width = f->jobs[2].width = .1; /* what they can't use is back */
        step(f, &sg_share_deadline);
        expect_share(f, 0, .8);
        add(f, 500, 200); /* dropped: after those without a deadline */
        f->jobs[1].width = 1;
        step(f, &sg_share_deadline);
        expect_share(f, 3, 0);
        assert_int_equal(f->out[3].list, SG_LIST_DROPPED);
}

static void test_narrow_beside(void **state)
{
        struct fixture *f = *state;

        add(f, 100, 400);
        add(f, 60, 500)->width = .2;
        step(f, &sg_share_deadline);
        expect_share(f, 0, 1);
        assert_near(f->next, NOW + 199, 1e-6); /* then it has to go on by itself */
        f->s.now += 199;
        f->jobs[0].estimate.remaining = 50;
        step(f, &sg_share_deadline);
        expect_share(f, 0, .8);
        expect_share(f, 1, .2);
        assert_int_equal(f->out[1].why.rank, 1);
}

/* Nothing is known of the third, which decides whether the first has to make way. */
static void test_probe(void **state)
{
        struct fixture *f = *state;

        add(f, 400, 500);
        add(f, 100, 600);
        add(f, 300, 550)->estimate.n_reports = 0;
        f->jobs[2].used = 0;
        step(f, &sg_share_deadline);
        assert_int_equal(f->out[0].list, SG_LIST_DROPPED);
        assert_int_equal(f->out[2].list, SG_LIST_PROBE);
        expect_share(f, 2, 1);
        assert_true(f->next == NOW + f->settings.tick);
        f->jobs[2].used = 100; /* it has had its chance */
        step(f, &sg_share_deadline);
        assert_int_equal(f->out[2].list, SG_LIST_RUN);
        f->jobs[2].estimate.n_reports = 1;
        f->jobs[2].estimate.remaining = 20;
        step(f, &sg_share_deadline);
        assert_int_equal(f->out[0].list, SG_LIST_RUN);
}

static void test_held_and_aside(void **state)
{
        struct fixture *f = *state;

        add(f, 80, 100)->held = true;
        add(f, 80, 101);
        add(f, 10, INFINITY)->aside = true;
        step(f, &sg_share_deadline);
        expect_share(f, 0, 0);
        expect_share(f, 2, .5); /* its fair share, whatever becomes of the deadline */
        expect_share(f, 1, .5);
        assert_int_equal(f->out[0].list, SG_LIST_NONE);
        assert_int_equal(f->out[2].list, SG_LIST_ASIDE);
        assert_int_equal(f->out[1].list, SG_LIST_DROPPED);
        f->settings.floor = .1;
        f->jobs[2].aside = false;
        step(f, &sg_share_deadline);
        expect_share(f, 2, .05);
        f->settings.floor = 0;
        f->jobs[2].cpu_bound = false;
        f->jobs[2].width = .25;
        step(f, &sg_share_deadline);
        expect_share(f, 2, .25);
        f->s.n_jobs = 0;
        step(f, &sg_share_deadline);
}

/* --- hesrpt --- */

static void test_hesrpt(void **state)
{
        struct fixture *f = *state;

        add(f, 28.2, INFINITY);
        add(f, 106.1, INFINITY);
        add(f, 259.6, INFINITY);
        step(f, &sg_share_hesrpt);
        expect_share(f, 0, .802469136);
        expect_share(f, 1, .185185185);
        expect_share(f, 2, .012345679);
        f->settings.exponent = .5;
        f->jobs[0].width = .5; /* what it can't use is the others' */
        step(f, &sg_share_hesrpt);
        expect_share(f, 0, .5);
        expect_share(f, 1, .375);
        expect_share(f, 2, .125);
        f->jobs[1].aside = true;
        f->jobs[2].held = true;
        step(f, &sg_share_hesrpt);
        expect_share(f, 1, .5);
        expect_share(f, 0, .5);
        f->jobs[1].aside = false;
        f->jobs[1].cpu_bound = false;
        f->jobs[1].width = .1;
        step(f, &sg_share_hesrpt);
        expect_share(f, 1, .1);
        f->s.n_jobs = 0;
        step(f, &sg_share_hesrpt);
}

/* --- simulated --- */

static double part_met(const char *workload, uint32_t instances, const struct sg_sim_options *o)
{
        struct sg_trace t = {0};
        size_t met = 0, end;
        double part;

        assert_int_equal(sg_generate(&t, workload, 1, instances), 0);
        for (size_t i = 0; i < t.n; i = end) {
                struct sg_sim_job jobs[32];
                struct sg_sim_result result = {.jobs = jobs};

                end = sg_trace_instance_end(&t, i);
                assert_true(end - i <= SG_ELEMENTSOF(jobs));
                assert_int_equal(sg_sim_run(&t.jobs[i], end - i, o, &result), 0);
                for (size_t k = i; k < end; k++)
                        met += jobs[k - i].finish <= t.jobs[k].deadline + .5;
        }
        part = (double)met / (double)t.n;
        sg_trace_deinit(&t);
        return part;
}

static void test_simulated(void **state)
{
        struct sg_sim_options o, reference;
        double feasible, overload, exact, best, first;

        (void)state;
        sg_sim_options_init(&o);
        o.settings.share = SG_SHARE_DEADLINE;
        o.seed = 7;
        reference = o;
        feasible = part_met("deadline15", 60, &o);
        overload = part_met("overload15", 60, &o);
        o.claims = 0;
        exact = part_met("deadline15", 60, &o);
        reference.reference = SG_SIM_EARLIEST;
        best = part_met("overload15", 60, &reference);
        reference.reference = SG_SIM_FIRST;
        first = part_met("overload15", 60, &reference);
        print_message("deadlines met: %.4f, by exact claims %.4f; too many %.4f of %.4f\n",
                      feasible, exact, overload, best);
        assert_true(exact == 1);
        assert_true(feasible >= .99);
        assert_true(overload >= .98 * best);
        assert_true(overload >= first + .25);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_earliest_first), TEST(test_dropped_goes_last),
                TEST(test_spare),          TEST(test_narrow_beside),
                TEST(test_probe),          TEST(test_held_and_aside),
                TEST(test_hesrpt),         cmocka_unit_test(test_simulated),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
