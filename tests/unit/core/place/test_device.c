/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The devices of a job: its class's, and those that it was granted. */
#include "core/place/device.h"
#include "tests/unit/test.h"

#include <string.h>

static struct sg_device_rule nvidia0 = {'c', 195, 0, "rw"}, nvidia1 = {'c', 195, 1, "rwm"},
                             loops = {'b', 7, -1, "r"};

static void expect(const struct sg_device_list *d, const struct sg_device_rule *rules, size_t n)
{
        assert_int_equal(d->n, n);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(d->rules[i].type, rules[i].type);
                assert_int_equal(d->rules[i].major, rules[i].major);
                assert_int_equal(d->rules[i].minor, rules[i].minor);
                assert_string_equal(d->rules[i].access, rules[i].access);
        }
}

static void test_class_and_granted(void **state)
{
        struct sg_device_rule of_class[] = {nvidia0, loops}, granted[] = {nvidia1};
        const struct sg_device_list class = {.closed = true, .rules = of_class, .n = 2};
        struct sg_device_list d;

        (void)state;
        assert_int_equal(sg_device_list_of_job(&d, &class, granted, 1), 0);
        assert_true(d.closed);
        expect(&d, (struct sg_device_rule[]){nvidia0, loops, nvidia1}, 3);
        sg_device_list_deinit(&d);
        assert_int_equal(sg_device_list_of_job(&d, &class, NULL, 0), 0);
        expect(&d, of_class, 2);
        sg_device_list_deinit(&d);
        assert_null(d.rules);
}

/* A closed class that lists nothing gives its jobs what they are granted, and nothing else. */
static void test_granted_alone(void **state)
{
        const struct sg_device_list class = {.closed = true};
        struct sg_device_list d;

        (void)state;
        assert_int_equal(sg_device_list_of_job(&d, &class, &nvidia1, 1), 0);
        assert_true(d.closed);
        expect(&d, &nvidia1, 1);
        sg_device_list_deinit(&d);
        assert_int_equal(sg_device_list_of_job(&d, &class, NULL, 0), 0);
        assert_true(d.closed);
        assert_int_equal(d.n, 0);
        sg_device_list_deinit(&d);
}

/* Where everything may be opened, so may what is granted. */
static void test_open_class(void **state)
{
        const struct sg_device_list class = {.rules = &nvidia0, .n = 1};
        struct sg_device_list d;

        (void)state;
        assert_int_equal(sg_device_list_of_job(&d, &class, &nvidia1, 1), 0);
        assert_false(d.closed);
        assert_int_equal(d.n, 0);
        sg_device_list_deinit(&d);
}

/* A node that both name is one rule: backends that deny a rule would take it from the other. */
static void test_a_node_once(void **state)
{
        struct sg_device_rule of_class[] = {{'c', 195, 0, "r"}, {'c', 195, 0, "m"}, loops};
        struct sg_device_rule granted[] = {nvidia0, {'b', 195, 0, "w"}, {'b', 7, 0, "w"}};
        const struct sg_device_rule both[] = {
                {'c', 195, 0, "rwm"}, loops, {'b', 195, 0, "w"}, {'b', 7, 0, "w"}};
        const struct sg_device_list class = {
                .closed = true, .rules = of_class, .n = SG_ELEMENTSOF(of_class)};
        struct sg_device_list d;

        (void)state;
        assert_int_equal(sg_device_list_of_job(&d, &class, granted, SG_ELEMENTSOF(granted)), 0);
        expect(&d, both, SG_ELEMENTSOF(both));
        sg_device_list_deinit(&d);
}

static void test_equal(void **state)
{
        struct sg_device_rule rules[] = {nvidia0, loops}, turned[] = {loops, nvidia0};
        struct sg_device_list a = {.closed = true, .rules = rules, .n = 2},
                              b = {.closed = true, .rules = turned, .n = 2}, copy;

        (void)state;
        assert_true(sg_device_list_equal(&a, &b)); /* in any order */
        assert_true(sg_device_list_has(&a, &loops));
        assert_false(sg_device_list_has(&a, &nvidia1));
        assert_int_equal(sg_device_list_copy(&copy, &a), 0);
        assert_true(sg_device_list_equal(&a, &copy));
        copy.rules[0].access[1] = '\0';
        assert_false(sg_device_list_equal(&a, &copy));
        sg_device_list_deinit(&copy);
        b.n = 1;
        assert_false(sg_device_list_equal(&a, &b));
        b = a;
        b.closed = false;
        assert_false(sg_device_list_equal(&a, &b));
}

/* Open but for what the guard has: granted nodes are its rules, and the guard is shared. */
static void test_guarded(void **state)
{
        const struct sg_device_rule guarded[] = {{'c', 195, -1, "rwm"}, {'c', 226, 129, "rwm"}};
        const struct sg_device_other others[] = {{{'c', 10, -1, "rwm"}, "misc"}, {loops, ""}};
        struct sg_device_list class = {0}, d, copy, closed;

        (void)state;
        assert_int_equal(sg_device_guard_new(&class.guard, guarded, 2, others, 2), 0);
        assert_int_equal(sg_device_list_of_job(&d, &class, &nvidia1, 1), 0);
        assert_false(d.closed);
        assert_true(sg_device_list_restricts(&d));
        assert_ptr_equal(d.guard, class.guard);
        expect(&d, &nvidia1, 1);
        assert_int_equal(sg_device_list_copy(&copy, &d), 0);
        assert_true(sg_device_list_equal(&copy, &d));
        assert_int_equal(sg_device_list_close(&closed, &d), 0);
        expect(&closed, (struct sg_device_rule[]){nvidia1, others[0].rule, loops}, 3);
        sg_device_list_deinit(&class);
        sg_device_list_deinit(&d);
        assert_int_equal(copy.guard->n_guarded, 2); /* the last one holds it */
        sg_device_list_deinit(&copy);
        sg_device_list_deinit(&closed);
}

/* A closed list knows nothing of it, so that it doesn't differ when that changes. */
static void test_guard_and_closed(void **state)
{
        const struct sg_device_rule guarded = {'c', 195, -1, "rwm"};
        struct sg_device_list class = {.closed = true}, d;

        (void)state;
        assert_int_equal(sg_device_guard_new(&class.guard, &guarded, 1, NULL, 0), 0);
        assert_int_equal(sg_device_list_of_job(&d, &class, &nvidia1, 1), 0);
        assert_true(d.closed);
        assert_null(d.guard);
        expect(&d, &nvidia1, 1);
        sg_device_list_deinit(&d);
        sg_device_list_deinit(&class);
}

static void expect_lists(struct sg_device_guard *a, struct sg_device_guard *b, bool equal,
                         bool denies_same)
{
        const struct sg_device_list x = {.guard = a}, y = {.guard = b};

        assert_int_equal(sg_device_list_equal(&x, &y), equal);
        assert_int_equal(sg_device_list_denies_same(&x, &y), denies_same);
}

static void test_guards_equal(void **state)
{
        const struct sg_device_rule guarded[] = {{'c', 195, -1, "rwm"}, {'c', 226, 129, "rwm"}};
        struct sg_device_other others[] = {{{'c', 10, -1, "rwm"}, "misc"}};
        struct sg_device_guard *g[4];

        (void)state;
        assert_int_equal(sg_device_guard_new(&g[0], guarded, 2, others, 1), 0);
        assert_int_equal(sg_device_guard_new(&g[1], guarded, 2, others, 1), 0);
        assert_int_equal(sg_device_guard_new(&g[2], guarded, 1, others, 1), 0);
        strcpy(others[0].name, "misd");
        assert_int_equal(sg_device_guard_new(&g[3], guarded, 2, others, 1), 0);
        assert_true(sg_device_guard_equal(g[0], g[1]));
        assert_false(sg_device_guard_equal(g[0], g[2]));
        assert_false(sg_device_guard_equal(g[0], g[3]));
        assert_false(sg_device_guard_equal(g[0], NULL));
        assert_true(sg_device_guard_equal(NULL, NULL));
        expect_lists(g[0], g[1], true, true);
        expect_lists(g[0], g[3], false, true); /* other names alone */
        expect_lists(g[0], g[2], false, false);
        expect_lists(g[0], NULL, false, false);
        assert_true(sg_device_guard_covers(g[0], 'c', 195, 17));
        assert_false(sg_device_guard_covers(g[0], 'b', 195, 17));
        assert_false(sg_device_guard_covers(g[0], 'c', 226, 128));
        assert_true(sg_device_guard_covers(g[0], 'c', 226, -1)); /* one of them is */
        for (size_t i = 0; i < SG_ELEMENTSOF(g); i++)
                sg_device_guard_unref(g[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_class_and_granted),
                cmocka_unit_test(test_granted_alone),
                cmocka_unit_test(test_open_class),
                cmocka_unit_test(test_a_node_once),
                cmocka_unit_test(test_equal),
                cmocka_unit_test(test_guarded),
                cmocka_unit_test(test_guard_and_closed),
                cmocka_unit_test(test_guards_equal),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
