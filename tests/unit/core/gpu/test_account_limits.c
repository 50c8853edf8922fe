/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of jobs that use more GPU memory than they may, or leave their GPUs idle. */
#include "tests/unit/core/gpu/account_world.h"

static void test_memory_limit(void **state)
{
        (void)state;
        node.gpus[0].utilization = 50;
        claim(1, 25, 20 * GIB, "GPU-00");
        own(100, 1, "python");
        node_add_process(&node, 0, 100, 20 * GIB);
        look();
        look();
        assert_string_equal(told(), "");
        node.gpus[0].processes[0].memory = node.gpus[0].memory_used = 21 * GIB + 3 * GIB / 10;
        look();
        assert_string_equal(told(), "");
        look();
        assert_string_equal(told(), "1 over: GPU memory 21.3G of 20G; ");
        look_after(9 * SECOND);
        assert_string_equal(told(), "");
        look_after(SECOND);
        assert_string_equal(told(), "1 TERM: GPU memory 21.3G of 20G; ");
        look_after(9 * SECOND);
        assert_string_equal(told(), "");
        look_after(SECOND);
        assert_string_equal(told(), "1 KILL: GPU memory 21.3G of 20G; ");
        look_after(60 * SECOND);
        assert_string_equal(told(), "");
}

static void test_memory_limit_needs_figures(void **state)
{
        struct sg_gpu_inventory hung = {.state = SG_GPU_DRIVER_HUNG};

        (void)state;
        node.gpus[0].utilization = 50;
        claim(1, 25, 20 * GIB, "GPU-00");
        own(100, 1, "python");
        node_add_process(&node, 0, 100, 30 * GIB);
        look();
        look();
        assert_string_equal(told(), "1 over: GPU memory 30G of 20G; ");
        node.gpus[0].processes[0].memory = SG_GPU_UNKNOWN;
        look_after(60 * SECOND); /* it would be time for TERM */
        assert_string_equal(told(), "");
        assert_int_equal(sg_gpu_account_look(account, &hung, NULL, 0, now + SECOND), 0);
        assert_string_equal(told(), "");
        for (unsigned i = 0; i < 3; i++)
                look();
        node.gpus[0].processes[0].memory = 30 * GIB;
        look();
        assert_string_equal(told(), ""); /* all begins anew */
        look();
        assert_string_equal(told(), "1 over: GPU memory 30G of 20G; ");
        node.gpus[0].processes[0].memory = 20 * GIB;
        look();
        node.gpus[0].processes[0].memory = 30 * GIB;
        look_after(60 * SECOND);
        assert_string_equal(told(), "");
}

static void test_idle(void **state)
{
        struct sg_gpu_use use;

        (void)state;
        node.gpus[0].utilization = 3;
        node.gpus[2].utilization = SG_GPU_UNKNOWN;
        claim(1, 100, SG_UNLIMITED, "GPU-00,GPU-01");
        claim(2, 100, SG_UNLIMITED, "GPU-03");
        claim(3, 100, SG_UNLIMITED, "GPU-02");
        look();
        look_after(60 * SECOND);
        assert_string_equal(told(), "2 idle: GPU idle for 1min; 2 end: GPU idle for 1min; ");
        assert_true(sg_gpu_account_use(account, 1, &use));
        assert_int_equal(use.utilization, 2);
        assert_int_equal(use.idle_usec, 0);
        assert_true(gpu(2)->idle_usec == SG_GPU_UNKNOWN);
        node.gpus[0].utilization = 0;
        look();
        look_after(59 * SECOND);
        assert_string_equal(told(), "");
        node.gpus[0].utilization = SG_GPU_UNKNOWN;
        look();
        assert_string_equal(told(), "");
        node.gpus[0].utilization = 0;
        look();
        assert_string_equal(told(), "1 idle: GPUs idle for 1min 3s; ");
        look();
        assert_string_equal(told(), ""); /* once */
        assert_int_equal(gpu(0)->idle_usec, 65 * SECOND);
}

/* A job's part is idle if the driver says so of its processes. */
static void test_idle_part(void **state)
{
        (void)state;
        claim(1, 50, GIB, "GPU-00");
        claim(2, 50, GIB, "GPU-00");
        own(100, 1, "python");
        own(101, 2, "python");
        node_add_process(&node, 0, 100, GIB);
        node_add_process(&node, 0, 101, GIB);
        node.gpus[0].processes[0].utilization = 0;
        node.gpus[0].processes[1].utilization = 90;
        node.gpus[0].utilization = 90;
        look();
        look_after(60 * SECOND);
        assert_string_equal(told(), "1 idle: GPU idle for 1min; ");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_memory_limit),
                TEST(test_memory_limit_needs_figures),
                TEST(test_idle),
                TEST(test_idle_part),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
