/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which nodes belong to which GPU, and the devices of jobs. */
#include "tests/unit/core/gpu/nodes_fixture.h"

static int setup(void **state)
{
        struct node *n = calloc(1, sizeof(*n));

        if (!n)
                return -1;
        node_init(n);
        *state = n;
        return 0;
}

static int teardown(void **state)
{
        node_deinit(*state);
        free(*state);
        return 0;
}

static void expect_node(const struct sg_gpu_node *node, const char *path, int32_t major,
                        int32_t minor)
{
        assert_string_equal(node->path, path);
        assert_int_equal(node->rule.type, 'c');
        assert_int_equal(node->rule.major, major);
        assert_int_equal(node->rule.minor, minor);
}

/* By the minor, not by the index or by the place in the inventory. */
static void test_of_gpu(void **state)
{
        struct node *n = *state;
        struct sg_gpu_node nodes[SG_GPU_NODES_MAX];

        assert_int_equal(sg_gpu_nodes_of(&n->devices, &n->inventory.gpus[0], NULL, nodes), 3);
        expect_node(&nodes[0], "/dev/nvidia1", 195, 1);
        expect_node(&nodes[1], "/dev/dri/card1", 226, 1);
        expect_node(&nodes[2], "/dev/dri/renderD128", 226, 128);
        assert_int_equal(sg_gpu_nodes_of(&n->devices, &n->inventory.gpus[2], NULL, nodes), 1);
        expect_node(&nodes[0], "/dev/nvidia7", 195, 7);
}

static void test_of_instance(void **state)
{
        struct node *n = *state;
        struct sg_gpu *gpu = &n->inventory.gpus[2];
        struct sg_gpu_node nodes[SG_GPU_NODES_MAX];

        assert_int_equal(sg_gpu_nodes_of(&n->devices, gpu, &gpu->instances[1], nodes), 3);
        expect_node(&nodes[0], "/dev/nvidia7", 195, 7);
        expect_node(&nodes[1], "/dev/nvidia-caps/nvidia-cap21", 239, 21);
        expect_node(&nodes[2], "/dev/nvidia-caps/nvidia-cap23", 239, 23);
        gpu->instances[1].compute_instance = 2; /* of which nothing is known: not half of it */
        assert_int_equal(sg_gpu_nodes_of(&n->devices, gpu, &gpu->instances[1], nodes), 0);
}

static void test_shared(void **state)
{
        struct node *n = *state;
        struct sg_gpu_node nodes[SG_GPU_NODES_MAX];

        assert_int_equal(sg_gpu_nodes_shared(&n->devices, "nvidia", nodes), 4);
        expect_node(&nodes[0], "/dev/nvidiactl", 195, 255);
        expect_node(&nodes[1], "/dev/nvidia-modeset", 195, 254);
        expect_node(&nodes[2], "/dev/nvidia-uvm", 240, 0);
        expect_node(&nodes[3], "/dev/nvidia-uvm-tools", 240, 1);
        /* As newer drivers have it, and with a module that isn't loaded yet. */
        node_take_drivers(n, DRIVERS("195 nvidia\n195 nvidia-modeset\n195 nvidiactl\n"));
        assert_int_equal(sg_gpu_nodes_shared(&n->devices, "nvidia", nodes), 2);
        expect_node(&nodes[1], "/dev/nvidia-modeset", 195, 254);
        assert_int_equal(sg_gpu_nodes_shared(&n->devices, "somebody", nodes), 0);
}

/* A GPU of a vendor that isn't in any table is what there is of it on the bus. */
static void test_of_another_vendor(void **state)
{
        struct node *n = *state;
        struct sg_gpu_node nodes[SG_GPU_NODES_MAX];

        strcpy(n->inventory.gpus[1].vendor, "somebody");
        assert_int_equal(sg_gpu_nodes_of(&n->devices, &n->inventory.gpus[1], NULL, nodes), 2);
        expect_node(&nodes[1], "/dev/dri/renderD129", 226, 129);
}

/* A minor that can't be is nobody's: 255 is everybody's, and unknown is no number. */
static void test_impossible_minor(void **state)
{
        static const uint64_t minors[] = {254, 255, SG_GPU_UNKNOWN, UINT64_C(1) << 32};
        struct node *n = *state;
        struct sg_gpu_node nodes[SG_GPU_NODES_MAX];

        for (size_t i = 0; i < SG_ELEMENTSOF(minors); i++) {
                n->inventory.gpus[0].minor = minors[i];
                assert_int_equal(sg_gpu_nodes_of(&n->devices, &n->inventory.gpus[0], NULL, nodes),
                                 0);
        }
}

/* --- devices of jobs */

struct job {
        struct sg_device_list class, devices;
        int missing;
};

static struct job job(struct node *n, bool closed, const char *uuids)
{
        struct job j = {.class.closed = closed};

        j.class.guard = closed ? NULL : node_guard(n, NULL);
        j.missing = sg_gpu_job_devices(&j.devices, &j.class, &n->devices, &n->inventory, uuids);
        return j;
}

static void drop(struct job *j)
{
        sg_device_list_deinit(&j->class);
        sg_device_list_deinit(&j->devices);
}

static void expect_opens(const struct job *j, int32_t major, int32_t minor, bool want)
{
        if (node_opens(&j->devices, major, minor) != want)
                fail_msg("%d:%d can%s be opened", major, minor, want ? "not" : "");
}

static void test_job_without(void **state)
{
        struct node *n = *state;
        struct job j = job(n, false, NULL);

        assert_int_equal(j.missing, 0);
        for (int32_t minor = 0; minor < 256; minor++)
                expect_opens(&j, 195, minor, false);
        expect_opens(&j, 240, 0, false);
        expect_opens(&j, 239, 1, false);
        expect_opens(&j, 226, 1, false);
        expect_opens(&j, 226, 128, false);
        expect_opens(&j, 226, 129, false);
        /* What isn't a GPU's is as it was. */
        expect_opens(&j, 226, 0, true);
        expect_opens(&j, 226, 130, true);
        expect_opens(&j, 10, 229, true);
        expect_opens(&j, 511, 0, true);
        drop(&j);
}

static void test_job_with_two(void **state)
{
        struct node *n = *state;
        struct job j = job(n, false, "GPU-b,GPU-a");

        assert_int_equal(j.missing, 0);
        expect_opens(&j, 195, 0, true);
        expect_opens(&j, 195, 1, true);
        expect_opens(&j, 195, 7, false);
        expect_opens(&j, 195, 255, true);
        expect_opens(&j, 240, 0, true);
        expect_opens(&j, 226, 128, true);
        expect_opens(&j, 226, 129, true);
        expect_opens(&j, 239, 12, false);
        expect_opens(&j, 10, 229, true);
        drop(&j);
}

static void test_job_with_instance(void **state)
{
        struct node *n = *state;
        struct job j = job(n, false, "MIG-1");

        assert_int_equal(j.missing, 0);
        expect_opens(&j, 195, 7, true);
        expect_opens(&j, 195, 0, false);
        expect_opens(&j, 239, 12, true);
        expect_opens(&j, 239, 13, true);
        for (int32_t minor = 1; minor <= 31; minor++)
                expect_opens(&j, 239, minor, minor == 12 || minor == 13);
        drop(&j);
}

/* A closed class stays closed, and gets its GPUs. */
static void test_job_of_closed_class(void **state)
{
        struct node *n = *state;
        struct job j = job(n, true, "GPU-a");

        assert_int_equal(j.missing, 0);
        assert_true(j.devices.closed);
        assert_null(j.devices.guard);
        expect_opens(&j, 195, 1, true);
        expect_opens(&j, 195, 0, false);
        expect_opens(&j, 240, 0, true);
        expect_opens(&j, 10, 229, false);
        drop(&j);
        j = job(n, true, NULL);
        assert_int_equal(j.devices.n, 0);
        drop(&j);
}

/* Names that are none, and GPUs that aren't there, give nothing, and are counted. */
static void test_job_with_unknown(void **state)
{
        static const char *const texts[] = {"GPU-", "GPU-aa", "gpu-a", "MIG-3"};
        struct node *n = *state;
        struct job j;

        for (size_t i = 0; i < SG_ELEMENTSOF(texts); i++) {
                j = job(n, false, texts[i]);
                assert_int_equal(j.missing, 1);
                assert_int_equal(j.devices.n, 0);
                drop(&j);
        }
        j = job(n, false, "GPU-x,GPU-a,,GPU-y");
        assert_int_equal(j.missing, 3);
        expect_opens(&j, 195, 1, true);
        expect_opens(&j, 195, 0, false);
        drop(&j);
        node_take_drivers(n, DRIVERS("")); /* the driver was unloaded */
        j = job(n, false, "GPU-a");
        assert_int_equal(j.missing, 1);
        expect_opens(&j, 195, 1, false);
        drop(&j);
        assert_int_equal(sg_gpu_job_devices(&j.devices, &j.class, &n->devices, NULL, "GPU-a"), 1);
        sg_device_list_deinit(&j.devices);
}

/* After a reboot of its driver a GPU is the same by its UUID alone. What all are kept from doesn't
 * differ, and what the job has does. */
static void test_other_minors(void **state)
{
        struct node *n = *state;
        struct job before = job(n, false, "GPU-a"), now;

        n->inventory.gpus[0].minor = 0;
        n->inventory.gpus[1].minor = 1;
        now = job(n, false, "GPU-a");
        assert_true(sg_device_guard_equal(before.class.guard, now.class.guard));
        assert_false(sg_device_list_equal(&before.devices, &now.devices));
        expect_opens(&now, 195, 0, true);
        expect_opens(&now, 195, 1, false);
        drop(&before);
        drop(&now);
}

/* Where nothing is guarded (Manage=no) everything is open, as ever. */
static void test_job_unguarded(void **state)
{
        const struct sg_device_list class = {0};
        struct node *n = *state;
        struct sg_device_list d;

        assert_int_equal(sg_gpu_job_devices(&d, &class, &n->devices, &n->inventory, NULL), 0);
        assert_false(sg_device_list_restricts(&d));
        assert_int_equal(d.n, 0);
        sg_device_list_deinit(&d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_of_gpu),
                TEST(test_of_instance),
                TEST(test_shared),
                TEST(test_of_another_vendor),
                TEST(test_impossible_minor),
                TEST(test_job_without),
                TEST(test_job_with_two),
                TEST(test_job_with_instance),
                TEST(test_job_of_closed_class),
                TEST(test_job_with_unknown),
                TEST(test_other_minors),
                TEST(test_job_unguarded),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
