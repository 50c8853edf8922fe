/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trials of numbers of CPUs: when one begins, for whom, and when it is over. */

#include "core/share/growth-trial.h"
#include "tests/unit/test.h"
#include <math.h>

#define CPUS 4

/* Jobs with CPUs, which report every second and could use all CPUs. */
struct node {
        struct sg_growth_line line;
        struct sg_growth_trial trial;
        struct sg_estimate estimates[3];
};

static void init(struct node *n)
{
        *n = (struct node){};
        assert_int_equal(sg_growth_line_init(&n->line, 3), 0);
        n->line.tick = .5;
        n->line.now = 100;
        n->line.n = 3;
        for (size_t i = 0; i < 3; i++) {
                n->estimates[i] = (struct sg_estimate){.known = 1, .every = 1};
                n->line.jobs[i] = (struct sg_growth_job){.key = i + 1,
                                                         .estimate = &n->estimates[i],
                                                         .remaining = 1000. + (double)i,
                                                         .width = 1,
                                                         .index = 1,
                                                         .stays = true,
                                                         .slack = 100,
                                                         .own_slack = 100};
        }
        n->line.at_stake = 3;
}

static uint64_t look(struct node *n)
{
        const struct sg_growth_job *j = sg_growth_try(&n->trial, &n->line, CPUS);

        return j ? j->key : 0;
}

static void deinit(struct node *n)
{
        sg_growth_line_deinit(&n->line);
}

static void the_longest_is_tried_on_two(void **state)
{
        struct node n;

        (void)state;
        init(&n);
        assert_int_equal(look(&n), 3);
        assert_int_equal(n.trial.cpus, 2);
        n.line.now += 2;
        assert_int_equal(look(&n), 3);
        n.estimates[2].known |= 2;
        assert_int_equal(look(&n), 0); /* it has told; others have to wait */
        n.line.now = n.trial.next - .1;
        assert_int_equal(look(&n), 0);
        n.line.now = n.trial.next;
        assert_int_equal(look(&n), 3); /* on four, now */
        assert_int_equal(n.trial.cpus, 4);
        deinit(&n);
}

/* One that was never seen on one CPU, but on two. */
static void down_as_well_as_up(void **state)
{
        struct node n;

        (void)state;
        init(&n);
        n.estimates[2].known = 2;
        assert_int_equal(look(&n), 3);
        assert_int_equal(n.trial.cpus, 1);
        deinit(&n);
}

static void only_where_it_is_worth_it(void **state)
{
        struct node n;

        (void)state;
        init(&n);
        for (size_t i = 0; i < 3; i++)
                n.estimates[i].known = 0; /* there is nothing to compare with */
        assert_int_equal(look(&n), 0);
        for (size_t i = 0; i < 3; i++)
                n.estimates[i].known = 7; /* all is known */
        assert_int_equal(look(&n), 0);
        n.estimates[0].known = 1;
        assert_int_equal(look(&n), 1);
        n.trial = (struct sg_growth_trial){};
        n.line.jobs[0].stays = false; /* it has no CPU now */
        assert_int_equal(look(&n), 0);
        n.line.jobs[0].stays = true;
        n.line.jobs[0].remaining = 50; /* over before it would pay */
        assert_int_equal(look(&n), 0);
        n.line.jobs[0].remaining = 1000;
        for (size_t i = 0; i < 3; i++)
                n.line.jobs[i].width = .25; /* there are CPUs for all */
        assert_int_equal(look(&n), 0);
        deinit(&n);
}

static void promises_come_first(void **state)
{
        struct node n;

        (void)state;
        init(&n);
        n.line.jobs[1].slack = 3;
        assert_int_equal(look(&n), 0);
        n.line.jobs[1].slack = 100;
        n.line.jobs[0].own_slack = 3;
        assert_int_equal(look(&n), 0);
        n.line.jobs[0].own_slack = 100;
        n.line.at_stake = 0;
        assert_int_equal(look(&n), 0);
        n.line.at_stake = 3;
        n.line.jobs[0].index = INFINITY; /* somebody is probed */
        assert_int_equal(look(&n), 0);
        n.line.jobs[0].index = 1;
        assert_int_equal(look(&n), 3);
        n.line.at_stake = 0; /* one that is under way ends for it */
        assert_int_equal(look(&n), 0);
        deinit(&n);
}

/* Who doesn't tell within its time is asked more and more rarely. */
static void silence_costs_less_and_less(void **state)
{
        double rest = 0;
        struct node n;

        (void)state;
        init(&n);
        for (int i = 0; i < 4; i++) {
                assert_int_equal(look(&n), 3);
                n.line.now = n.trial.until;
                assert_int_equal(look(&n), 0);
                if (i > 0)
                        assert_near((n.trial.next - n.line.now) / rest, 2, 1e-9);
                rest = n.trial.next - n.line.now;
                n.line.now = n.trial.next;
        }
        n.line.n = n.line.at_stake = 2; /* it has ended */
        assert_int_equal(look(&n), 2);
        deinit(&n);
}

static void survives_a_restart(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        struct sg_growth_trial trial = {};
        struct sg_reader in;
        struct sg_field f;
        struct node n;

        (void)state;
        init(&n);
        assert_int_equal(look(&n), 3);
        sg_growth_trial_save(&n.trial, &r, 9);
        in = sg_reader_init(r.data, r.size);
        assert_true(sg_reader_next(&in, &f) > 0);
        assert_int_equal(f.tag, 9);
        assert_int_equal(sg_growth_trial_load(&trial, &f), 0);
        n.trial = trial;
        assert_int_equal(look(&n), 3);
        assert_int_equal(n.trial.cpus, 2);
        f.size--;
        assert_int_equal(sg_growth_trial_load(&trial, &f), -EBADMSG);
        deinit(&n);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_longest_is_tried_on_two),
                cmocka_unit_test(down_as_well_as_up),
                cmocka_unit_test(only_where_it_is_worth_it),
                cmocka_unit_test(promises_come_first),
                cmocka_unit_test(silence_costs_less_and_less),
                cmocka_unit_test(survives_a_restart),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
