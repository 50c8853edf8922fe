/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/pulse.h"
#include "tests/unit/test.h"
#include <math.h>

static struct sg_pulse stepped(double now, double next, bool calm)
{
        struct sg_pulse p;

        sg_pulse_init(&p);
        sg_pulse_stepped(&p, now, next, calm);
        return p;
}

static void expect(double got, double wanted)
{
        assert_near(got, wanted, 1e-9);
}

static void test_first(void **state)
{
        struct sg_pulse p;

        (void)state;
        sg_pulse_init(&p);
        assert_true(isinf(p.due));
        assert_true(p.due > 0);
        assert_true(sg_pulse_may_step(&p, 0)); /* the machine has just booted */
        sg_pulse_event(&p, .001);
        expect(p.due, .001);
}

/* What comes right after a step is gathered for 5 ms. */
static void test_burst(void **state)
{
        struct sg_pulse p = stepped(100, 200, false);

        (void)state;
        assert_false(sg_pulse_may_step(&p, 100.004));
        sg_pulse_event(&p, 100.001);
        sg_pulse_event(&p, 100.004);
        expect(p.due, 100.005);
        assert_true(sg_pulse_may_step(&p, 100.0051));
        sg_pulse_stepped(&p, 100.005, 200, false);
        sg_pulse_event(&p, 150);
        expect(p.due, 150);
}

static void test_what_a_step_asks_for(void **state)
{
        struct sg_pulse p = stepped(100, 107, false);

        (void)state;
        expect(p.due, 107);
        sg_pulse_by(&p, 108);
        expect(p.due, 107);
        sg_pulse_by(&p, 103);
        expect(p.due, 103);
        sg_pulse_stepped(&p, 103, 103.001, false); /* too soon */
        expect(p.due, 103.1);
        sg_pulse_stepped(&p, 104, INFINITY, true);
        assert_true(isinf(p.due));
        sg_pulse_event(&p, 105);
        sg_pulse_put_off(&p, 106); /* it can't be now, whatever happens */
        expect(p.due, 106);
}

static void test_reports(void **state)
{
        struct sg_pulse p = stepped(100, 200, false), calm = stepped(100, 200, true);

        (void)state;
        sg_pulse_report(&p, 101, 5);
        expect(p.due, 105);
        sg_pulse_report(&p, 104.999, 5);
        expect(p.due, 105);
        sg_pulse_stepped(&p, 105, 200, false);
        sg_pulse_report(&p, 120, 5);
        expect(p.due, 120.005); /* others come in the same round */
        sg_pulse_report(&calm, 101, 5);
        expect(calm.welcome, 200);
}

static void test_with_a_round(void **state)
{
        struct sg_pulse p = stepped(100, 110, false), calm = stepped(100, INFINITY, true);

        (void)state;
        assert_false(sg_pulse_goes_with_round(&p, 109.8, false));
        assert_true(sg_pulse_goes_with_round(&p, 109.95, false));
        assert_false(sg_pulse_goes_with_round(&p, 105, true));
        assert_false(sg_pulse_goes_with_round(&calm, 105, true));
        assert_true(sg_pulse_goes_with_round(&calm, 105, false)); /* somebody wants more */
}

/* A round a second takes it along, and it has no wake-up of its own. */
static void test_waits_for_a_round(void **state)
{
        struct sg_pulse calm = stepped(100, 107, true), p = stepped(100, INFINITY, false);

        (void)state;
        assert_in_range((uint64_t)(calm.due * 10), 1080, 1090);
        assert_false(sg_pulse_goes_with_round(&calm, 106.5, true));
        assert_true(sg_pulse_goes_with_round(&calm, 107.5, true));
        sg_pulse_event(&calm, 101); /* that isn't what was asked for */
        expect(calm.due, 101);
        sg_pulse_with_round(&p, 103);
        assert_false(sg_pulse_goes_with_round(&p, 102.5, true));
        assert_true(sg_pulse_goes_with_round(&p, 103, true));
        assert_in_range((uint64_t)p.due, 104, 104);
        sg_pulse_stepped(&p, 103, INFINITY, false);
        assert_false(sg_pulse_goes_with_round(&p, 104, true));
        sg_pulse_with_round(&p, 106);
        sg_pulse_put_off(&p, 110);
        assert_false(sg_pulse_goes_with_round(&p, 107, true));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_first),
                cmocka_unit_test(test_burst),
                cmocka_unit_test(test_what_a_step_asks_for),
                cmocka_unit_test(test_reports),
                cmocka_unit_test(test_with_a_round),
                cmocka_unit_test(test_waits_for_a_round),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
