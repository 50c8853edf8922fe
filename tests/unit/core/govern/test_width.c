/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How wide a job is taken to be: by what it uses, by what it said, and by what its runtime says. */

#include "core/govern/governor.h"
#include "tests/unit/test.h"
#include <math.h>

#define CPUS 8

/* Alone on the node for a while, it uses so many CPUs: its width, in CPUs. */
static double width(struct sg_governor_job j, double uses)
{
        struct sg_governor_class class = {.name = "default", .weight = 100};
        struct sg_governor_plan plan;
        struct sg_governor *g;
        double got;

        sg_share_settings_init(&class.settings);
        j.key = 1;
        j.class = "default";
        j.weight = 100;
        j.deadline = INFINITY;
        if (j.cpus_max == 0)
                j.cpus_max = INFINITY;
        assert_int_equal(sg_governor_new(&g, CPUS), 0);
        assert_int_equal(sg_governor_configure(g, CPUS, &class, 1), 0);
        assert_int_equal(sg_governor_add(g, &j), 0);
        for (int t = 0; uses > 0 && t <= 10; t++)
                sg_governor_use(g, 1,
                                &(struct sg_learner_use){
                                        .now = t, .cpu = t * uses, .use = {NAN, NAN, NAN, NAN}});
        assert_int_equal(sg_governor_step(g, 10, &plan), 0);
        got = plan.jobs[0]->width * CPUS;
        sg_governor_free(g);
        return round(got * 1000) / 1000;
}

static void expect(double got, double want)
{
        if (got != want)
                fail_msg("%g CPUs instead of %g", got, want);
}

static void test_said(void **state)
{
        (void)state;
        expect(width((struct sg_governor_job){0}, 0), 1);
        expect(width((struct sg_governor_job){0}, 3), 3);
        expect(width((struct sg_governor_job){.cpus = 4}, 0), 4);
        expect(width((struct sg_governor_job){.cpus = 4}, 1), 1);
        expect(width((struct sg_governor_job){.cpus = 4}, 6), 4);
        expect(width((struct sg_governor_job){.cpus = 4, .cpus_max = 2}, 6), 2);
        expect(width((struct sg_governor_job){.cpus = 6, .elastic = true}, 1), 6);
        expect(width((struct sg_governor_job){.cpus = 6, .elastic = true}, 8), 6);
}

/* One thread at the moment isn't all that it could have; nor is a process's number the job's. */
static void test_follows(void **state)
{
        (void)state;
        expect(width((struct sg_governor_job){.cpus = 4, .follows = true}, 1), 4);
        expect(width((struct sg_governor_job){.cpus = 2, .follows = true}, 6), 6);
        expect(width((struct sg_governor_job){.cpus = 8, .follows = true, .cpus_max = 1.5}, 1),
               1.5);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_said),
                cmocka_unit_test(test_follows),
        };

        return cmocka_run_group_tests_name("width", tests, NULL, NULL);
}
