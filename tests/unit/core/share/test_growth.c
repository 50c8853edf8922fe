/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* growth: what goes first and why, when it looks again, and what it keeps over a restart. */

#include "test_share.h"

#include "core/share/growth.h"

static void init(struct scene *c)
{
        scene_init(c, SG_SHARE_GROWTH);
        c->settings.objective = SG_OBJECTIVE_JCT;
}

static struct sg_share_job *sized(struct scene *c, double size)
{
        struct sg_share_job *j = scene_add(c);

        j->estimate.remaining = j->estimate.total = j->estimate.to[SG_MILESTONE_DONE] = size;
        return j;
}

/* The node goes on with what was decided; the jobs' estimates with it. */
static void pass(struct scene *c, double seconds)
{
        for (size_t i = 0; i < c->n; i++) {
                struct sg_share_job *j = &c->jobs[i];

                j->used += c->out[i].share * seconds;
                j->estimate.remaining -= c->out[i].share * seconds;
                j->estimate.to[SG_MILESTONE_DONE] = j->estimate.remaining;
        }
        c->now += seconds;
}

static void end_first(struct scene *c)
{
        c->policy->finished(c->state, c->jobs[0].key, c->jobs[0].used, c->now);
        memmove(c->jobs, c->jobs + 1, --c->n * sizeof(*c->jobs));
}

static void the_shortest_goes_first(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 50);
        sized(&c, 20);
        sized(&c, 90);
        scene_step(&c);
        expect_shares(&c, 0, 1, 0);
        assert_int_equal(c.out[1].weight, 10000);
        assert_int_equal(c.out[0].weight, 1);
        assert_int_equal(c.out[1].list, SG_LIST_RUN);
        assert_int_equal(c.out[0].list, SG_LIST_WAIT);
        assert_int_equal(c.out[1].why.reason, SG_REASON_INDEX);
        assert_int_equal(c.out[0].why.reason, SG_REASON_RANK);
        assert_int_equal(c.out[0].why.other, 20);
        assert_int_equal(c.out[2].why.rank, 3);
        assert_near(c.out[1].why.virtual_finish, 60, 1e-9);
        assert_near(c.out[1].why.due, 63, 1e-9);
        scene_deinit(&c);
}

static void one_alone_has_it_all(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 50);
        scene_step(&c);
        expect_shares(&c, 1);
        assert_int_equal(c.out[0].why.reason, SG_REASON_ALONE);
        assert_true(isinf(c.next));
        scene_deinit(&c);
}

/* Two equal jobs: the second one was promised 100 · 1.05, and runs from 5 before that on at the
 * latest when the first one turns out to be larger. */
static void a_promise_comes_first(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 49);
        sized(&c, 50);
        scene_step(&c);
        expect_shares(&c, 1, 0);
        pass(&c, 40);
        c.jobs[0].estimate.remaining = 20;
        c.jobs[0].estimate.total = 60;
        scene_step(&c);
        expect_shares(&c, 1, 0); /* there is time: 100 · 1.05 − 40 − 50 */
        assert_near(c.out[1].why.due, 105, 1e-9);
        assert_near(c.out[1].why.slack, 15, 1e-9);
        assert_near(c.next, 54, 1e-9); /* a tick before that has gone */
        pass(&c, 14);
        scene_step(&c);
        expect_shares(&c, 0, 1);
        assert_int_equal(c.out[1].why.reason, SG_REASON_SLACK);
        assert_int_equal(c.out[1].why.other, 20);
        scene_deinit(&c);
}

static void without_promises_it_is_shortest_first(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        c.settings.no_harm = INFINITY;
        scene_start(&c);
        sized(&c, 1000);
        sized(&c, 20);
        scene_step(&c);
        pass(&c, 10);
        c.jobs[1].estimate.remaining = 999;
        c.jobs[0].estimate.remaining = 1000;
        scene_step(&c);
        expect_shares(&c, 0, 1);
        assert_true(isnan(c.out[0].why.due));
        scene_deinit(&c);
}

static void narrow_ones_run_side_by_side(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 10)->width = .5;
        sized(&c, 11)->width = .2;
        sized(&c, 12)->width = .6;
        sized(&c, 13)->width = .6;
        scene_step(&c);
        expect_shares(&c, .5, .2, .3, 0);
        assert_int_equal(c.out[0].weight, 10000);
        assert_int_equal(c.out[1].weight, 10000);
        assert_int_equal(c.out[2].weight, 1000);
        assert_int_equal(c.out[3].weight, 1);
        assert_int_equal(c.out[2].list, SG_LIST_LAST);
        scene_deinit(&c);
}

/* It can't go faster than a fifth of the node, so what is lost now is lost. */
static void a_narrow_one_runs_in_time(void **state)
{
        struct scene c;
        double next;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 20)->width = .2;
        sized(&c, 19);
        scene_step(&c);
        assert_near(c.out[0].why.virtual_finish, 100, 1e-9);
        next = c.next;
        pass(&c, next);
        assert_near(next, 4, 1e-9); /* of the 5 that it has more than it needs */
        scene_step(&c);
        expect_shares(&c, .2, .8);
        assert_int_equal(c.out[0].why.reason, SG_REASON_OWN_SLACK);
        scene_deinit(&c);
}

static void what_said_nothing_is_probed(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 1);
        sized(&c, 130)->estimate.wants_probe = true;
        sized(&c, 130)->estimate.wants_probe = true;
        c.jobs[1].used = 1;
        scene_step(&c);
        expect_shares(&c, 0, 0, 1);
        assert_int_equal(c.out[2].list, SG_LIST_PROBE);
        assert_int_equal(c.out[2].why.reason, SG_REASON_PROBE);
        assert_near(c.next, 1, 1e-9);
        scene_deinit(&c);
}

/* While another user is there, probes take a tenth of the node: 6 s at once, and then no more. */
static void probes_are_rationed(void **state)
{
        struct scene c;
        double probed = 0;

        (void)state;
        init(&c);
        c.settings.no_harm = INFINITY;
        scene_start(&c);
        sized(&c, 1e6)->uid = 7;
        sized(&c, 2e6)->estimate.wants_probe = true;
        for (int i = 0; i < 600; i++) {
                scene_step(&c);
                probed += c.out[1].share;
                pass(&c, 1);
        }
        assert_in_between(probed, 50, 70);
        c.jobs[0].uid = c.jobs[1].uid;
        scene_step(&c);
        expect_shares(&c, 0, 1);
        scene_deinit(&c);
}

static void held_ones_get_nothing_and_are_owed_nothing(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 10)->held = true;
        sized(&c, 50);
        sized(&c, 60);
        scene_step(&c);
        expect_shares(&c, 0, 1, 0);
        assert_near(c.out[1].why.virtual_finish, 100, 1e-9);
        scene_deinit(&c);
}

/* Its fair share, whatever the others do; they have the rest in turn. */
static void one_that_serves_somebody_keeps_its_share(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 1000)->aside = true;
        sized(&c, 50);
        sized(&c, 60);
        sized(&c, 70);
        scene_step(&c);
        expect_shares(&c, .25, .75, 0, 0);
        assert_int_equal(c.out[0].list, SG_LIST_ASIDE);
        assert_near(c.out[0].weight, 3333, 1e-9);
        assert_int_equal(c.out[1].weight, 10000);
        scene_deinit(&c);
}

static void what_does_not_wait_for_the_cpu_has_it_at_once(void **state)
{
        struct scene c;
        struct sg_share_job *j;

        (void)state;
        init(&c);
        scene_start(&c);
        j = sized(&c, 1000);
        j->width = .1;
        j->cpu_bound = false;
        sized(&c, 50);
        sized(&c, 60);
        scene_step(&c);
        expect_shares(&c, .1, .9, 0);
        assert_int_equal(c.out[0].weight, 10000);
        assert_int_equal(c.out[0].why.reason, SG_REASON_UNBOUND);
        scene_deinit(&c);
}

static void everybody_has_a_floor(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        c.settings.floor = .1;
        scene_start(&c);
        sized(&c, 50);
        sized(&c, 20);
        sized(&c, 90);
        sized(&c, 90);
        scene_step(&c);
        expect_shares(&c, .025, .925, .025, .025);
        assert_int_equal(c.out[1].weight, 10000);
        assert_int_equal(c.out[0].weight, 270);
        scene_deinit(&c);
}

/* Floors are of fair shares, and those beside the order may use more than theirs. */
static void floors_leave_nobody_less_than_nothing(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        c.settings.floor = 1;
        scene_start(&c);
        sized(&c, 50)->cpu_bound = false;
        sized(&c, 20);
        sized(&c, 90);
        scene_step(&c);
        for (size_t i = 0; i < c.n; i++) {
                assert_true(c.out[i].share > 0);
                assert_true(c.out[i].share <= 1);
        }
        scene_deinit(&c);
}

/* Of the same size: what gains more on the way goes first, and loses its turn when it has. */
static void what_gains_most_goes_first(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        c.settings.objective = SG_OBJECTIVE_BALANCED;
        scene_start(&c);
        sized(&c, 100);
        sized(&c, 100)->estimate.to[SG_MILESTONE_90] = 10;
        scene_step(&c);
        expect_shares(&c, 0, 1);
        assert_near(c.out[1].why.index, 100 / 10.0, 1e-9);
        assert_near(c.next, 10, 1e-9);
        c.jobs[1].estimate.to[SG_MILESTONE_90] = NAN;
        c.jobs[0].estimate.to[SG_MILESTONE_90] = 40;
        scene_step(&c);
        expect_shares(&c, 1, 0);
        scene_deinit(&c);
}

static void a_little_better_is_not_enough(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 100);
        sized(&c, 101);
        scene_step(&c);
        expect_shares(&c, 1, 0);
        c.jobs[1].estimate.remaining = 90;
        scene_step(&c);
        expect_shares(&c, 1, 0);
        c.jobs[1].estimate.remaining = 80;
        scene_step(&c);
        expect_shares(&c, 0, 1);
        scene_deinit(&c);
}

/* Whoever isn't believed has what it was promised, and no turn of its own. */
static void a_lie_does_not_pay(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, .9)->estimate.source = SG_SIZE_DISTRUST;
        sized(&c, 100);
        scene_step(&c);
        expect_shares(&c, 1, 0); /* promised to have ended at 1.89 s */
        assert_int_equal(c.out[0].why.reason, SG_REASON_SLACK);
        c.jobs[0].estimate.remaining = c.jobs[0].estimate.total = 30;
        scene_step(&c);
        expect_shares(&c, 0, 1);
        scene_deinit(&c);
}

static void jobs_that_scale_badly_share(void **state)
{
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 100)->estimate.exponent = .5;
        sized(&c, 100)->estimate.exponent = .5;
        scene_step(&c);
        assert_true(c.out[0].share > .1);
        assert_true(c.out[1].share > .1);
        assert_near(c.out[0].share + c.out[1].share, 1, 1e-9);
        assert_int_equal(c.out[0].why.reason, SG_REASON_PLAN);
        assert_true(abs((int)c.out[0].weight -
                        (int)lround(c.out[1].weight * c.out[0].share / c.out[1].share)) <= 1);
        scene_deinit(&c);
}

/* What was kept goes on as if nothing had been. */
static void a_restart_changes_nothing(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {};
        struct scene c, other;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 30);
        sized(&c, 100);
        sized(&c, 101);
        scene_step(&c);
        pass(&c, 30);
        end_first(&c);
        scene_step(&c);
        pass(&c, 20);
        c.policy->save(c.state, &r);
        assert_int_equal(r.error, 0);
        other = c;
        scene_start(&other);
        assert_int_equal(other.policy->load(other.state, r.data, r.size), 0);
        for (int i = 0; i < 100; i++) {
                scene_step(&c);
                scene_step(&other);
                assert_memory_equal(c.out, other.out, c.n * sizeof(c.out[0]));
                assert_near(c.next, other.next, 0);
                pass(&c, 1);
                pass(&other, 1);
        }
        scene_deinit(&c);
        scene_deinit(&other);
}

/* Widths are measured, and fill the node but for rounding. */
static void rounding_is_no_damage(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {};
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        for (unsigned i = 0; i < 2; i++) {
                sized(&c, 130)->estimate.wants_probe = true;
                c.jobs[i].width = .5 + 2e-10 * i;
        }
        scene_step(&c);
        assert_true(c.out[0].share + c.out[1].share > 1);
        c.policy->save(c.state, &r);
        assert_int_equal(c.policy->load(c.state, r.data, r.size), 0);
        scene_deinit(&c);
}

static void damage_is_refused(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {};
        struct scene c;

        (void)state;
        init(&c);
        scene_start(&c);
        sized(&c, 30);
        sized(&c, 40);
        scene_step(&c);
        c.policy->save(c.state, &r);
        for (size_t i = 0; i < r.size; i++) {
                r.data[i] ^= 0x55;
                (void)c.policy->load(c.state, r.data, r.size);
                scene_step(&c);
                assert_near(c.out[0].share + c.out[1].share, 1, 1e-9);
                r.data[i] ^= 0x55;
        }
        assert_int_equal(c.policy->load(c.state, r.data, r.size - 1), -EBADMSG);
        scene_deinit(&c);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_shortest_goes_first),
                cmocka_unit_test(one_alone_has_it_all),
                cmocka_unit_test(a_promise_comes_first),
                cmocka_unit_test(without_promises_it_is_shortest_first),
                cmocka_unit_test(narrow_ones_run_side_by_side),
                cmocka_unit_test(a_narrow_one_runs_in_time),
                cmocka_unit_test(what_said_nothing_is_probed),
                cmocka_unit_test(probes_are_rationed),
                cmocka_unit_test(held_ones_get_nothing_and_are_owed_nothing),
                cmocka_unit_test(one_that_serves_somebody_keeps_its_share),
                cmocka_unit_test(what_does_not_wait_for_the_cpu_has_it_at_once),
                cmocka_unit_test(everybody_has_a_floor),
                cmocka_unit_test(floors_leave_nobody_less_than_nothing),
                cmocka_unit_test(what_gains_most_goes_first),
                cmocka_unit_test(a_little_better_is_not_enough),
                cmocka_unit_test(a_lie_does_not_pay),
                cmocka_unit_test(jobs_that_scale_badly_share),
                cmocka_unit_test(a_restart_changes_nothing),
                cmocka_unit_test(rounding_is_no_damage),
                cmocka_unit_test(damage_is_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
