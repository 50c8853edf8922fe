/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flowcon as a policy; exact cases of its algorithms are in tests/data/vectors. */
#include "tests/unit/core/share/test_share.h"

static void start(struct scene *c)
{
        scene_init(c, SG_SHARE_FLOWCON);
        scene_start(c);
}

static void grow(struct sg_share_job *j, double growth)
{
        j->estimate.efficiency = growth;
        j->estimate.measured = true;
}

static void expect_list(const struct scene *c, size_t i, enum sg_share_list list,
                        enum sg_share_reason reason)
{
        assert_string_equal(sg_share_list_to_string(c->out[i].list), sg_share_list_to_string(list));
        assert_int_equal(c->out[i].why.reason, reason);
}

/* A slow job alone; another one comes after 40 s, as in the published experiment. */
static void test_published_numbers(void **state)
{
        struct scene c;

        (void)state;
        start(&c);
        scene_add(&c);
        assert_int_equal(scene_step(&c), 1);
        expect_list(&c, 0, SG_LIST_NEW, SG_REASON_UNMEASURED);
        assert_near(c.next, 20, 1e-9);

        c.now = 20;
        grow(&c.jobs[0], .0159);
        assert_int_equal(scene_step(&c), 1);
        expect_list(&c, 0, SG_LIST_WATCH, SG_REASON_STALE);

        c.now = 40;
        scene_add(&c);
        assert_int_equal(scene_step(&c), 1);
        expect_list(&c, 0, SG_LIST_COMPLETE, SG_REASON_BOUND);
        expect_list(&c, 1, SG_LIST_NEW, SG_REASON_UNMEASURED);
        expect_shares(&c, .25, .75);
        assert_int_equal(c.out[0].weight, 2500);
        assert_int_equal(c.out[1].weight, 7500);
        assert_true(isinf(c.out[0].cap));
        assert_near(c.next, 60, 1e-9);
        scene_deinit(&c);
}

/* Reports and other events in between change nothing, but a width is looked at. */
static void test_only_its_own_time_counts(void **state)
{
        struct scene c;

        (void)state;
        start(&c);
        scene_add(&c);
        scene_add(&c);
        scene_step(&c);
        c.now = 7;
        grow(&c.jobs[0], .001);
        grow(&c.jobs[1], .3);
        assert_int_equal(scene_step(&c), 0);
        expect_list(&c, 0, SG_LIST_NEW, SG_REASON_UNMEASURED);
        assert_near(c.next, 20, 1e-9);
        c.jobs[0].width = .2;
        assert_int_equal(scene_step(&c), 0);
        expect_shares(&c, .2, .8);
        c.now = 20;
        assert_int_equal(scene_step(&c), 1);
        expect_list(&c, 0, SG_LIST_WATCH, SG_REASON_STALE);
        scene_deinit(&c);
}

static void test_back_off_and_back(void **state)
{
        static const double times[] = {40, 80, 160, 320};
        struct scene c;

        (void)state;
        start(&c);
        scene_add(&c);
        scene_step(&c);
        for (c.now = 20; c.now < 40; c.now += 20) { /* to watch */
                grow(&c.jobs[0], .01);
                scene_step(&c);
        }
        for (size_t i = 0; i < SG_ELEMENTSOF(times); i++) {
                double gap = 40 * exp2((double)i);

                assert_int_equal(scene_step(&c), 1);
                expect_list(&c, 0, SG_LIST_COMPLETE, SG_REASON_CONVERGED);
                assert_near(c.next, c.now + gap, 1e-9);
                c.now = c.next;
        }
        scene_add(&c);
        scene_step(&c);
        assert_near(c.next, c.now + 20, 1e-9);
        scene_deinit(&c);
}

static void test_a_held_job_is_away(void **state)
{
        struct scene c;

        (void)state;
        start(&c);
        scene_add(&c);
        scene_add(&c);
        scene_step(&c);
        c.now = 20;
        grow(&c.jobs[0], .01);
        grow(&c.jobs[1], .1);
        scene_step(&c);
        expect_list(&c, 0, SG_LIST_WATCH, SG_REASON_STALE);
        c.now = 25;
        c.jobs[0].held = true;
        assert_int_equal(scene_step(&c), 1);
        expect_shares(&c, 0, 1);
        assert_near(c.next, 45, 1e-9);
        c.now = 30;
        c.jobs[0].held = false;
        assert_int_equal(scene_step(&c), 1);
        assert_int_equal(c.out[0].list, SG_LIST_WATCH); /* it came as new, and one step down */
        scene_deinit(&c);
}

/* Without a new report nothing is known, unless the letter is wanted: then nothing was gained. */
static void test_no_new_report(void **state)
{
        (void)state;
        for (int literal = 0; literal < 2; literal++) {
                struct scene c;

                scene_init(&c, SG_SHARE_FLOWCON);
                c.settings.literal = literal;
                scene_start(&c);
                scene_add(&c);
                scene_add(&c);
                scene_step(&c);
                expect_list(&c, 0, SG_LIST_NEW, SG_REASON_UNMEASURED);
                c.now = 20;
                grow(&c.jobs[0], .1);
                grow(&c.jobs[1], .3);
                scene_step(&c);
                expect_shares(&c, .25, .75);
                c.now = 40;
                c.jobs[0].estimate.measured = false;
                scene_step(&c);
                assert_int_equal(c.out[0].list, literal ? SG_LIST_WATCH : SG_LIST_NEW);
                scene_deinit(&c);
        }
}

static void test_modes(void **state)
{
        static const struct {
                enum sg_flowcon_mode mode;
                double share, cap;
        } modes[] = {
                {SG_FLOWCON_SOFT, .25, INFINITY},
                {SG_FLOWCON_HARD, .25, .25},
                {SG_FLOWCON_WEIGHT, .2, INFINITY},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(modes); i++) {
                struct scene c;

                scene_init(&c, SG_SHARE_FLOWCON);
                c.settings.mode = modes[i].mode;
                scene_start(&c);
                for (scene_add(&c); c.now < 40; c.now += 20) {
                        scene_step(&c);
                        grow(&c.jobs[0], .0159);
                }
                scene_add(&c);
                scene_step(&c);
                expect_shares(&c, modes[i].share, 1 - modes[i].share);
                if (isinf(modes[i].cap))
                        assert_true(isinf(c.out[0].cap));
                else
                        assert_near(c.out[0].cap, modes[i].cap, 1e-9);
                assert_true(isinf(c.out[1].cap)); /* a limit of 1 is none */
                scene_deinit(&c);
        }
}

/* --- what survives a restart --- */

static void prepare(struct scene *c)
{
        start(c);
        scene_add(c);
        scene_add(c);
        scene_add(c);
        scene_step(c);
        c->now = 20;
        grow(&c->jobs[0], .01);
        grow(&c->jobs[1], .2);
        scene_step(c);
        c->now = 29;
}

static void test_restart(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0}, again = {0};
        struct scene a, b;

        (void)state;
        prepare(&a);
        a.policy->save(a.state, &saved);
        b = a;
        scene_start(&b);
        assert_int_equal(b.policy->load(b.state, saved.data, saved.size), 0);
        b.policy->save(b.state, &again);
        assert_int_equal(again.size, saved.size);
        assert_memory_equal(again.data, saved.data, saved.size);
        for (int i = 0; i < 5; i++) {
                assert_int_equal(scene_step(&a), scene_step(&b));
                assert_memory_equal(a.out, b.out, a.n * sizeof(a.out[0]));
                assert_near(a.next, b.next, 1e-9);
                a.now = b.now = a.next;
        }
        scene_deinit(&a);
        scene_deinit(&b);
}

/* What isn't whole is refused, and changes nothing. */
static void test_garbage(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0}, again = {0};
        struct scene a, b;

        (void)state;
        prepare(&a);
        a.policy->save(a.state, &saved);
        start(&b);
        for (size_t size = 0; size < saved.size; size++) {
                int r = a.policy->load(b.state, saved.data, size);

                assert_true(r == 0 || r == -EBADMSG);
        }
        for (size_t i = 0; i < saved.size; i++) {
                int r;

                saved.data[i] ^= 0x55;
                r = a.policy->load(b.state, saved.data, saved.size);
                assert_true(r == 0 || r == -EBADMSG);
                saved.data[i] ^= 0x55;
        }
        assert_int_equal(a.policy->load(b.state, saved.data, saved.size), 0);
        assert_int_equal(a.policy->load(b.state, "garbage", 7), -EBADMSG);
        b.policy->save(b.state, &again);
        assert_memory_equal(again.data, saved.data, saved.size);
        scene_deinit(&a);
        scene_deinit(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_published_numbers),
                cmocka_unit_test(test_only_its_own_time_counts),
                cmocka_unit_test(test_back_off_and_back),
                cmocka_unit_test(test_a_held_job_is_away),
                cmocka_unit_test(test_no_new_report),
                cmocka_unit_test(test_modes),
                cmocka_unit_test(test_restart),
                cmocka_unit_test(test_garbage),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
