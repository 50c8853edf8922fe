/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/changes.h"
#include "tests/unit/test.h"

#define SCOPES 6

struct fixture {
        struct sg_changes q;
        struct sg_limits limits[SCOPES]; /* in force */
        struct sg_cpuset cpus[SCOPES];
        struct sg_changing scopes[SCOPES];
        struct sg_list replaced;
};

static int set_up(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        sg_changes_init(&f->q);
        sg_list_init(&f->replaced);
        for (size_t i = 0; i < SCOPES; i++) {
                sg_limits_default(&f->limits[i]);
                sg_changing_init(&f->scopes[i], &f->limits[i], &f->cpus[i]);
        }
        *state = f;
        return 0;
}

static int tear_down(void **state)
{
        free(*state);
        return 0;
}

static struct sg_change weight(uint64_t weight)
{
        struct sg_change c = {0};

        sg_limits_default(&c.limits);
        c.limits.cpu_weight = weight;
        return c;
}

static void add(struct fixture *f, size_t scope, struct sg_change *c)
{
        sg_changes_add(&f->q, &f->scopes[scope], c, &f->replaced);
}

static size_t n_replaced(struct fixture *f)
{
        struct sg_list *l;
        size_t n = 0;

        for (l = f->replaced.next; l != &f->replaced; l = l->next)
                n++;
        return n;
}

static void expect_sent(struct fixture *f, struct sg_change *c)
{
        assert_ptr_equal(sg_changes_next(&f->q), c);
        assert_false(sg_change_is_void(c));
        sg_changes_sent(&f->q, c);
}

static void end(struct fixture *f, struct sg_change *c)
{
        *(struct sg_limits *)c->scope->limits = c->limits;
        sg_changes_remove(&f->q, c);
}

static void test_what_moves_most_first(void **state)
{
        struct sg_change less = weight(1), more = weight(10000), some = weight(190),
                         quota = weight(100);
        struct fixture *f = *state;

        quota.limits.cpu_quota_pm = 5000;
        f->limits[4].cpu_quota_pm = 5200;
        add(f, 4, &quota); /* takes 200 */
        add(f, 0, &less);  /* takes 99 */
        add(f, 1, &more);
        add(f, 2, &some); /* gives 90, which counts twice */
        expect_sent(f, &more);
        expect_sent(f, &quota);
        assert_null(sg_changes_next(&f->q)); /* two are in flight */
        end(f, &quota);
        expect_sent(f, &some);
        end(f, &more);
        expect_sent(f, &less);
        end(f, &some);
        end(f, &less);
        assert_null(sg_changes_next(&f->q));
        assert_true(sg_list_empty(&f->q.scopes));
}

/* Other CPUs are as much as a quota of one of them. */
static void test_cpus_move(void **state)
{
        struct sg_change cpus = weight(100), some = weight(2000), quota = weight(100);
        struct fixture *f = *state;

        cpus.limits.pin = f->limits[0].pin = true;
        sg_cpuset_add(&cpus.cpus, 1);
        quota.limits.cpu_quota_pm = 15000;
        f->limits[2].cpu_quota_pm = 40000;
        add(f, 1, &some);
        add(f, 0, &cpus);
        add(f, 2, &quota);
        expect_sent(f, &quota);
        expect_sent(f, &cpus);
}

static void test_the_longest_there_of_the_same(void **state)
{
        struct sg_change a = weight(200), b = weight(200), later = weight(200);
        struct fixture *f = *state;

        add(f, 3, &a);
        add(f, 1, &b);
        add(f, 3, &later); /* it keeps its scope's place */
        expect_sent(f, &later);
        expect_sent(f, &b);
        assert_int_equal(n_replaced(f), 1);
}

static void test_awaited_before_all(void **state)
{
        struct sg_change most = weight(10000), asked = weight(101), all = weight(100);
        struct fixture *f = *state;

        asked.awaited = all.all = true;
        add(f, 0, &most);
        add(f, 1, &asked);
        add(f, 2, &all);
        expect_sent(f, &asked);
        expect_sent(f, &all);
        end(f, &all);
        expect_sent(f, &most);
}

/* What waits gives way to a later one of its scope, what is in flight is followed by it. */
static void test_newest_only(void **state)
{
        struct sg_change first = weight(2), second = weight(3), third = weight(4),
                         other = weight(9);
        struct fixture *f = *state;

        add(f, 0, &first);
        expect_sent(f, &first);
        add(f, 0, &second);
        assert_null(sg_changes_next(&f->q)); /* one of each scope */
        second.all = true;
        add(f, 1, &other);
        add(f, 0, &third);
        assert_int_equal(n_replaced(f), 1);
        assert_ptr_equal(f->replaced.next, &second.link);
        assert_true(third.all); /* as it now says what that would have said */
        expect_sent(f, &other);
        end(f, &first);
        expect_sent(f, &third);
}

static void test_who_does_not_give_way(void **state)
{
        struct sg_change asked = weight(2), prepared = weight(3), last = weight(4);
        struct fixture *f = *state;

        asked.awaited = prepared.prepared = true;
        add(f, 0, &asked);
        add(f, 0, &prepared);
        add(f, 0, &last);
        assert_int_equal(n_replaced(f), 0);
        expect_sent(f, &asked);
        end(f, &asked);
        expect_sent(f, &prepared);
        end(f, &prepared);
        expect_sent(f, &last);
}

/* Back to what is in force: nothing has to be sent. */
static void test_void(void **state)
{
        struct sg_change c = weight(100), asked = weight(100), all = weight(100);
        struct fixture *f = *state;

        f->limits[0].time_limit_usec = 7; /* is nobody's business here */
        asked.awaited = all.all = true;
        add(f, 0, &c);
        add(f, 1, &asked);
        add(f, 2, &all);
        assert_true(sg_change_is_void(&c));
        assert_false(sg_change_is_void(&asked));
        assert_false(sg_change_is_void(&all));
        c.limits.memory_max--;
        assert_false(sg_change_is_void(&c));
}

static void test_wants(void **state)
{
        struct sg_change c = weight(2);
        struct fixture *f = *state;
        struct sg_limits l = f->limits[0];
        struct sg_cpuset cpus = {0};

        assert_false(sg_changing_wants(&f->scopes[0], &l, NULL));
        l.time_limit_usec = 1;
        assert_false(sg_changing_wants(&f->scopes[0], &l, NULL));
        sg_cpuset_add(&cpus, 3);
        assert_false(sg_changing_wants(&f->scopes[0], &l, &cpus)); /* not its own */
        l.pin = f->limits[0].pin = true;
        assert_true(sg_changing_wants(&f->scopes[0], &l, &cpus));
        assert_true(sg_changing_wants(&f->scopes[0], &l, NULL));
        f->cpus[0] = cpus;
        assert_false(sg_changing_wants(&f->scopes[0], &l, &cpus));
        /* What is on its way would change it. */
        add(f, 0, &c);
        assert_true(sg_changing_wants(&f->scopes[0], &l, &cpus));
        sg_changes_remove(&f->q, &c);
        assert_false(sg_changing_wants(&f->scopes[0], &l, &cpus));
}

/* What got no answer waits again, and gives way. */
static void test_back(void **state)
{
        struct sg_change a = weight(200), b = weight(300), c = weight(250), later = weight(50);
        struct fixture *f = *state;

        add(f, 0, &a);
        add(f, 1, &b);
        add(f, 2, &c);
        expect_sent(f, &b);
        expect_sent(f, &c);
        sg_changes_back(&f->q, &b);
        expect_sent(f, &b);
        sg_changes_back(&f->q, &b);
        add(f, 1, &later);
        assert_int_equal(n_replaced(f), 1);
        expect_sent(f, &a);
        sg_changes_remove(&f->q, &c); /* in flight: there is room for another one */
        expect_sent(f, &later);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_what_moves_most_first, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_cpus_move, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_the_longest_there_of_the_same, set_up,
                                                tear_down),
                cmocka_unit_test_setup_teardown(test_awaited_before_all, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_newest_only, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_who_does_not_give_way, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_void, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_wants, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_back, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
