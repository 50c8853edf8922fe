/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the governor knows of how programs scale when they come again. */

#include "core/govern/governor.h"
#include "tests/unit/test.h"
#include <math.h>

struct world {
        struct sg_governor *g;
        struct sg_governor_plan plan;
};

static void step(struct world *w, double now)
{
        assert_int_equal(sg_governor_step(w->g, now, &w->plan), 0);
}

/* On two CPUs, times as fast as on one. */
static double speed_of(const struct world *w, uint64_t key)
{
        return sg_speedup_at(&sg_governor_decision(w->g, key)->estimate.speedup, 2);
}

static void add_program(struct world *w, uint64_t key, uint64_t program, double now)
{
        const struct sg_governor_job j = {.key = key,
                                          .class = "default",
                                          .uid = 1000,
                                          .now = now,
                                          .arrival = now,
                                          .cpus = 2,
                                          .cpus_max = 2,
                                          .weight = 100,
                                          .deadline = INFINITY,
                                          .program = program,
                                          .elastic = true};

        assert_int_equal(sg_governor_add(w->g, &j), 0);
}

#define PART 20 /* reports before the companion comes, and beside it, and after it */

/* Job 1 runs until job 2 has come and gone, twice as fast on two CPUs as on one. The node is looked
 * at as often as job 1 reports, or only when something happens. */
static void show(struct world *w, bool often)
{
        double x = 0, cpu = 0;

        for (unsigned i = 1; i <= 3 * PART; i++) {
                double now = 2 * i, cpus = i > PART && i <= 2 * PART ? 1 : 2;
                struct sg_learner_use use = {.now = now, .cpu = cpu += 2 * cpus, .delay = 0};
                struct sg_learner_report r = {
                        .now = now, .cpu = cpu, .fraction = x += .002 * cpus, .eval = NAN};

                if (i == PART + 1)
                        add_program(w, 2, 6, now - 1);
                if (i == 2 * PART + 1)
                        sg_governor_end(w->g, 2, now - 1, 0, SG_ENDED_BY_OTHERS);
                if (often || i % PART == 1) {
                        sg_governor_use(w->g, 1, &use);
                        step(w, now);
                }
                assert_int_equal(sg_governor_report(w->g, 1, &r), 0);
        }
        sg_governor_end(w->g, 1, 6 * PART + 1, cpu, SG_ENDED_BADLY);
}

static void world_of_two_cpus(struct world *w)
{
        struct sg_governor_class class = {.name = "default", .weight = 100};

        *w = (struct world){0};
        sg_share_settings_init(&class.settings);
        class.settings.share = SG_SHARE_GROWTH;
        assert_int_equal(sg_governor_new(&w->g, 2), 0);
        assert_int_equal(sg_governor_configure(w->g, 2, &class, 1), 0);
        sg_governor_plan_cpus(w->g, true);
}

/* How a program has scaled is known of its next run, also after a reboot; of its class's others a
 * little. */
static void test_programs(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        double unknown = exp2(SG_SPEEDUP_PRIOR);
        struct world w, again;

        (void)state;
        world_of_two_cpus(&w);
        add_program(&w, 1, 5, 0);
        step(&w, 0);
        assert_true(speed_of(&w, 1) == unknown);
        show(&w, true);
        sg_governor_save(w.g, &r);
        assert_int_equal(r.error, 0);
        world_of_two_cpus(&again);
        assert_int_equal(sg_governor_load(again.g, r.data, r.size, NAN), 0);
        for (int i = 0; i < 2; i++) {
                struct world *now = i == 0 ? &w : &again;

                add_program(now, 3, 5, 200);
                add_program(now, 4, 7, 200);
                step(now, 200);
                assert_true(speed_of(now, 3) > 1.7);
                assert_true(speed_of(now, 4) > unknown);
                assert_true(speed_of(now, 4) < 1.6);
                sg_governor_free(now->g);
        }
}

/* What it said on its CPUs counts as said on these, however seldom the node is looked at. */
static void test_between_looks(void **state)
{
        struct world w;

        (void)state;
        world_of_two_cpus(&w);
        add_program(&w, 1, 5, 0);
        show(&w, false);
        add_program(&w, 3, 5, 200);
        step(&w, 200);
        if (!(speed_of(&w, 3) > 1.7))
                fail_msg("%.2f times as fast on two CPUs as on one", speed_of(&w, 3));
        sg_governor_free(w.g);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_programs),
                cmocka_unit_test(test_between_looks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
