/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/govern/use.h"
#include "tests/unit/test.h"
#include <math.h>

#define SEC 1000000ULL
#define MB 1000000ULL

static struct sg_sample sample(uint64_t now_sec, uint64_t cpu_usec)
{
        struct sg_sample s;

        sg_sample_init(&s);
        s.now_usec = now_sec * SEC;
        s.cpu_usec = cpu_usec;
        return s;
}

static struct sg_learner_use tell(const struct sg_sample *s, struct sg_use_last *last,
                                  struct sg_use_node *node)
{
        struct sg_learner_use u = sg_use_counted(s, SG_UNLIMITED, SG_UNLIMITED);

        sg_use_parts(&u, s, last, node);
        return u;
}

static void test_seconds(void **state)
{
        struct sg_sample s = sample(7, 2500000);
        struct sg_learner_use u = sg_use_counted(&s, SG_UNLIMITED, SG_UNLIMITED);

        (void)state;
        assert_near(u.now, 7, 0);
        assert_near(u.cpu, 2.5, 0);
        assert_true(isnan(u.delay));
        assert_true(isnan(u.pressure));
        assert_false(u.held);
        for (int r = 0; r < SG_N_RESOURCES; r++)
                assert_true(isnan(u.use[r]));
        s.cpu_usec = SG_UNLIMITED;
        assert_true(isnan(sg_use_counted(&s, 0, 0).cpu));
}

/* A wait that isn't over yet is only in the one, those of all threads only in the other. */
static void test_waits(void **state)
{
        struct sg_sample s = sample(7, 0);
        struct sg_learner_use u = sg_use_counted(&s, 3 * SEC, SG_UNLIMITED);

        (void)state;
        assert_near(u.delay, 3, 0);
        assert_true(isnan(u.pressure));
        u = sg_use_counted(&s, SG_UNLIMITED, 2 * SEC);
        assert_true(isnan(u.delay));
        assert_near(u.pressure, 2, 0);
        u = sg_use_counted(&s, 0, 2 * SEC);
        assert_near(u.delay, 0, 0);
        assert_near(u.pressure, 2, 0);
}

static void test_parts_of_the_node(void **state)
{
        struct sg_use_node node = {.cpus = 4, .memory_bytes = 8000 * MB};
        struct sg_sample s = sample(10, SEC);
        struct sg_use_last last = {0};
        struct sg_learner_use u;

        (void)state;
        s.memory_bytes = 2000 * MB;
        u = tell(&s, &last, &node);
        assert_true(isnan(u.use[SG_RESOURCE_CPU])); /* since when? */
        assert_true(u.use[SG_RESOURCE_MEMORY] == .25);
        s = sample(12, 5 * SEC);
        u = tell(&s, &last, &node);
        assert_true(u.use[SG_RESOURCE_CPU] == .5);
        assert_true(isnan(u.use[SG_RESOURCE_MEMORY]));
        assert_true(isnan(u.use[SG_RESOURCE_IO]));
        /* The same sample again: no time has passed. */
        u = tell(&s, &last, &node);
        assert_true(isnan(u.use[SG_RESOURCE_CPU]));
        node.memory_bytes = SG_UNLIMITED;
        s.memory_bytes = 1;
        assert_true(isnan(tell(&s, &last, &node).use[SG_RESOURCE_MEMORY]));
}

/* One job's peak is what the others are measured by, and doesn't shrink. */
static void test_peak_of_all(void **state)
{
        struct sg_use_node node = {.cpus = 1, .memory_bytes = 1};
        struct sg_use_last one = {0}, other = {0};
        struct sg_sample a = sample(10, 0), b = sample(10, 0);

        (void)state;
        a.io_read_bytes = a.io_write_bytes = b.io_read_bytes = b.io_write_bytes = 0;
        (void)tell(&a, &one, &node);
        (void)tell(&b, &other, &node);
        a.now_usec = b.now_usec = 20 * SEC;
        a.io_read_bytes = 300 * MB;
        a.io_write_bytes = 100 * MB;
        b.io_write_bytes = 100 * MB;
        assert_true(tell(&a, &one, &node).use[SG_RESOURCE_IO] == 1);
        assert_true(tell(&b, &other, &node).use[SG_RESOURCE_IO] == .25);
        a.now_usec = 30 * SEC;
        a.io_write_bytes += 40 * MB;
        assert_true(tell(&a, &one, &node).use[SG_RESOURCE_IO] == .1);
}

/* Who is alone with a trickle doesn't use the whole network. */
static void test_least_peak(void **state)
{
        struct sg_use_node node = {.cpus = 1, .memory_bytes = 1};
        struct sg_use_last last = {0};
        struct sg_sample s = sample(10, 0);

        (void)state;
        s.net_rx_bytes = s.net_tx_bytes = s.io_read_bytes = s.io_write_bytes = 0;
        (void)tell(&s, &last, &node);
        s.now_usec = 11 * SEC;
        s.net_tx_bytes = 10000;
        s.io_read_bytes = MB;
        assert_true(tell(&s, &last, &node).use[SG_RESOURCE_NET] == .01);
        s.now_usec = 12 * SEC;
        s.io_read_bytes = 2 * MB;
        assert_true(tell(&s, &last, &node).use[SG_RESOURCE_IO] == .1);
        /* Either way that isn't counted makes the sum unknown, and the next has no beginning. */
        s.now_usec = 13 * SEC;
        s.net_rx_bytes = SG_UNLIMITED;
        assert_true(isnan(tell(&s, &last, &node).use[SG_RESOURCE_NET]));
        s.now_usec = 14 * SEC;
        s.net_rx_bytes = 0;
        assert_true(isnan(tell(&s, &last, &node).use[SG_RESOURCE_NET]));
        s.now_usec = 15 * SEC;
        assert_true(tell(&s, &last, &node).use[SG_RESOURCE_NET] == 0);
}

/* A counter that goes backwards is no rate, and no peak. */
static void test_backwards(void **state)
{
        struct sg_use_node node = {.cpus = 1, .memory_bytes = 1};
        struct sg_use_last last = {0};
        struct sg_sample s = sample(10, 5 * SEC);

        (void)state;
        s.net_rx_bytes = 900 * MB;
        s.net_tx_bytes = 0;
        (void)tell(&s, &last, &node);
        s.now_usec = 11 * SEC;
        s.cpu_usec = 4 * SEC;
        s.net_rx_bytes = 0;
        assert_true(isnan(tell(&s, &last, &node).use[SG_RESOURCE_CPU]));
        assert_true(node.peak[SG_RESOURCE_NET] == 0);
        s.now_usec = 12 * SEC;
        s.net_rx_bytes = 2 * MB;
        assert_true(tell(&s, &last, &node).use[SG_RESOURCE_NET] == 1);
        assert_true(node.peak[SG_RESOURCE_NET] == 2e6);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_seconds),           cmocka_unit_test(test_waits),
                cmocka_unit_test(test_parts_of_the_node), cmocka_unit_test(test_peak_of_all),
                cmocka_unit_test(test_least_peak),        cmocka_unit_test(test_backwards),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
