/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Free competition, the table of policies, their settings, and what every policy owes. */
#include "base/rng.h"
#include "core/settings/table.h"
#include "tests/unit/core/share/test_share.h"

static void test_by_weights(void **state)
{
        struct scene c;

        (void)state;
        scene_init(&c, SG_SHARE_FAIR);
        scene_start(&c);
        scene_add(&c);
        assert_int_equal(scene_step(&c), 0);
        assert_int_equal(c.out[0].why.reason, SG_REASON_ALONE);
        expect_shares(&c, 1);

        scene_add(&c)->weight = 300;
        scene_step(&c);
        assert_int_equal(c.out[0].why.reason, SG_REASON_FAIR);
        expect_shares(&c, .25, .75);
        assert_int_equal(c.out[0].weight, 100); /* as it was submitted */
        assert_int_equal(c.out[1].weight, 300);
        assert_true(isinf(c.next));
        assert_true(isinf(c.out[0].cap));

        c.jobs[1].width = .5;
        scene_step(&c);
        expect_shares(&c, .5, .5);
        scene_deinit(&c);
}

static void test_classes_and_held_jobs(void **state)
{
        struct scene c;

        (void)state;
        scene_init(&c, SG_SHARE_FAIR);
        scene_start(&c);
        c.classes[1].weight = 300;
        scene_add(&c);
        scene_add(&c)->class = 1;
        scene_add(&c)->class = 1;
        scene_step(&c);
        expect_shares(&c, .25, .375, .375);
        c.jobs[1].held = true;
        scene_step(&c);
        expect_shares(&c, .25, 0, .75);
        c.jobs[2].width = .1;
        scene_step(&c);
        expect_shares(&c, .9, 0, .1);
        c.jobs[0].held = c.jobs[2].held = true;
        scene_step(&c);
        expect_shares(&c, 0, 0, 0);
        scene_deinit(&c);
}

/* --- of all policies --- */

static void random_job(struct scene *c, struct sg_rng *rng)
{
        struct sg_share_job *j = scene_add(c);

        j->width = sg_rng_below(rng, 2) ? 1 : sg_rng_between(rng, .05, 1);
        j->class = sg_rng_below(rng, 2);
        j->uid = 1000 + sg_rng_below(rng, 3);
        j->used = sg_rng_between(rng, 0, 100);
        j->weight = sg_rng_between(rng, 1, 1000);
        j->estimate.remaining = sg_rng_between(rng, .1, 300);
        j->estimate.total = j->used + j->estimate.remaining;
        j->estimate.to[SG_MILESTONE_DONE] = j->estimate.remaining;
        j->estimate.efficiency = sg_rng_below(rng, 4) ? sg_rng_between(rng, 0, .2) : NAN;
        j->estimate.measured = sg_rng_below(rng, 2);
        j->estimate.loss_rate = sg_rng_below(rng, 2) ? sg_rng_double(rng) : NAN;
        j->held = sg_rng_below(rng, 6) == 0;
        j->aside = sg_rng_below(rng, 6) == 0;
        j->cpu_bound = sg_rng_below(rng, 6) != 0;
        if (!j->cpu_bound) /* its width is what it uses, which all of them do at once */
                j->width = sg_rng_between(rng, .001, .1);
        if (sg_rng_below(rng, 4) == 0)
                j->deadline = sg_rng_between(rng, 1, 600);
}

/* Nobody gets more than it can use, and nothing is left that somebody could. */
static void check_work_conservation(const struct scene *c, uint64_t seed)
{
        double wanted = 0, given = 0;

        for (size_t i = 0; i < c->n; i++)
                if (!c->jobs[i].held) {
                        wanted += c->jobs[i].width;
                        given += c->out[i].share;
                }
        if (fabs(given - fmin(wanted, 1)) > 1e-6)
                fail_msg("%s, seed %d: %g given of %g", c->policy->name, (int)seed, given, wanted);
}

static void check_same_again(struct scene *c)
{
        struct sg_share_out before[MAX_JOBS];

        memcpy(before, c->out, sizeof(before));
        scene_step(c);
        for (size_t i = 0; i < c->n; i++) {
                assert_near(c->out[i].share, before[i].share, 1e-9);
                assert_int_equal(c->out[i].weight, before[i].weight);
                assert_int_equal(c->out[i].list, before[i].list);
        }
}

static void test_all_conserve_work(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= 300; seed++) {
                struct sg_rng rng;
                struct scene c;

                sg_rng_init(&rng, seed, 0);
                scene_init(&c, seed % _SG_SHARE_MAX);
                c.settings.floor = sg_rng_below(&rng, 2) ? .05 : 0;
                scene_start(&c);
                for (uint32_t n = 1 + sg_rng_below(&rng, MAX_JOBS); n > 0; n--)
                        random_job(&c, &rng);
                for (int i = 0; i < 4; i++) {
                        scene_step(&c);
                        check_work_conservation(&c, seed);
                        check_same_again(&c);
                        c.now += sg_rng_between(&rng, .1, 30);
                }
                scene_deinit(&c);
        }
}

static void test_none(void **state)
{
        (void)state;
        for (int kind = 0; kind < _SG_SHARE_MAX; kind++) {
                struct scene c;

                scene_init(&c, kind);
                scene_start(&c);
                scene_step(&c);
                assert_true(isinf(c.next));
                scene_deinit(&c);
        }
}

static void test_table(void **state)
{
        const struct sg_settings_key *key = sg_settings_key_find("policy", "Policy", "Share");

        (void)state;
        for (int kind = 0; kind < _SG_SHARE_MAX; kind++) {
                const struct sg_share_policy *p = sg_share_policies[kind];
                enum sg_share_kind parsed = _SG_SHARE_MAX;

                assert_non_null(p);
                assert_true(p->name[0]);
                assert_true(p->summary[0]);
                assert_true(p->step);
                assert_int_equal(key->parse(key, p->name, &parsed), 0);
                assert_int_equal(parsed, kind);
                assert_true(!p->create == !p->destroy);
                assert_true(!p->save == !p->load);
                for (int other = 0; other < kind; other++)
                        assert_string_not_equal(p->name, sg_share_policies[other]->name);
        }
        assert_string_equal(sg_share_policies[SG_SHARE_FLOWCON]->name, "flowcon");
        assert_string_equal(sg_share_list_to_string(SG_LIST_NEW), "new");
        assert_string_equal(sg_share_list_to_string(SG_LIST_DROPPED), "dropped");
}

static void test_settings(void **state)
{
        struct sg_share_settings a, b;

        (void)state;
        sg_share_settings_init(&a);
        sg_share_settings_init(&b);
        assert_int_equal(a.share, SG_SHARE_GROWTH);
        assert_near(a.no_harm, .05, 1e-9);
        assert_true(sg_share_settings_equal(&a, &b)); /* NaN among them */
        b.exponent = .75;
        assert_false(sg_share_settings_equal(&a, &b));
        b = a;
        a.no_harm = b.no_harm = INFINITY;
        assert_true(sg_share_settings_equal(&a, &b));
        b.literal = true;
        assert_false(sg_share_settings_equal(&a, &b));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_by_weights),
                cmocka_unit_test(test_classes_and_held_jobs),
                cmocka_unit_test(test_all_conserve_work),
                cmocka_unit_test(test_none),
                cmocka_unit_test(test_table),
                cmocka_unit_test(test_settings),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
