/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/list.h"
#include "tests/unit/test.h"

struct item {
        int value; /* before the node, so that an offset of 0 can't hide a mistake */
        struct sg_list node;
};

static void assert_values(const struct sg_list *head, const int *values, int n)
{
        const struct sg_list *back = head->prev;
        struct item *it;
        int i = 0;

        sg_list_foreach (it, head, node) {
                assert_true(i < n);
                assert_int_equal(it->value, values[i++]);
        }
        assert_int_equal(i, n);
        for (; i > 0; back = back->prev)
                assert_int_equal(sg_list_entry(back, struct item, node)->value, values[--i]);
        assert_ptr_equal(back, head);
}
#define ASSERT_VALUES(head, ...)                                                                   \
        do {                                                                                       \
                const int _v[] = {__VA_ARGS__};                                                    \
                assert_values(head, _v, (int)SG_ELEMENTSOF(_v));                                   \
        } while (0)

static void test_empty(void **state)
{
        struct sg_list head = SG_LIST_INIT(head), other;

        (void)state;
        sg_list_init(&other);
        assert_true(sg_list_empty(&head));
        assert_true(sg_list_empty(&other));
        assert_values(&head, NULL, 0);
}

static void test_order(void **state)
{
        struct sg_list head = SG_LIST_INIT(head);
        struct item a = {.value = 1}, b = {.value = 2}, c = {.value = 3};

        (void)state;
        sg_list_append(&head, &a.node);
        sg_list_append(&head, &c.node);
        sg_list_insert_before(&c.node, &b.node);
        assert_false(sg_list_empty(&head));
        ASSERT_VALUES(&head, 1, 2, 3);
}

static void test_remove(void **state)
{
        struct sg_list head = SG_LIST_INIT(head);
        struct item a = {.value = 1}, b = {.value = 2}, c = {.value = 3};

        (void)state;
        sg_list_append(&head, &a.node);
        sg_list_append(&head, &b.node);
        sg_list_append(&head, &c.node);
        sg_list_remove(&b.node);
        ASSERT_VALUES(&head, 1, 3);
        sg_list_remove(&b.node); /* twice is harmless */
        ASSERT_VALUES(&head, 1, 3);
        sg_list_append(&head, &b.node);
        ASSERT_VALUES(&head, 1, 3, 2);
        sg_list_remove(&a.node);
        sg_list_remove(&c.node);
        sg_list_remove(&b.node);
        assert_true(sg_list_empty(&head));
}

static void test_free_while_iterating(void **state)
{
        struct sg_list head = SG_LIST_INIT(head);
        struct item *it, *next;

        (void)state;
        for (int i = 0; i < 5; i++) {
                it = malloc(sizeof(*it));
                assert_non_null(it);
                it->value = i;
                sg_list_append(&head, &it->node);
        }
        sg_list_foreach_safe (it, next, &head, node) {
                if (it->value % 2 == 0) {
                        sg_list_remove(&it->node);
                        free(it);
                }
        }
        ASSERT_VALUES(&head, 1, 3);
        sg_list_foreach_safe (it, next, &head, node)
                free(it);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_empty),
                cmocka_unit_test(test_order),
                cmocka_unit_test(test_remove),
                cmocka_unit_test(test_free_while_iterating),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
