/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all jobs are kept from, as drivers come, go and change their numbers; and the texts that say
 * so. */
#include "tests/unit/core/gpu/nodes_fixture.h"

#include <stdio.h>

static struct node node;

static int setup(void **state)
{
        (void)state;
        node_init(&node);
        return 0;
}

static int teardown(void **state)
{
        (void)state;
        node_deinit(&node);
        return 0;
}

static bool covers(const struct sg_device_guard *g, int32_t major, int32_t minor)
{
        return sg_device_guard_covers(g, 'c', major, minor);
}

static const struct sg_device_other *other(const struct sg_device_guard *g, int32_t major,
                                           int32_t minor)
{
        for (size_t i = 0; i < g->n_others; i++) {
                const struct sg_device_other *o = &g->others[i];

                if (o->rule.type == 'c' && o->rule.major == major && o->rule.minor == minor)
                        return o;
        }
        return NULL;
}

static void test_others(void **state)
{
        struct sg_device_guard *g = node_guard(&node, NULL);
        const struct sg_device_other *last = &g->others[g->n_others - 1];

        (void)state;
        assert_string_equal(other(g, 1, -1)->name, "mem");
        assert_string_equal(other(g, 4, -1)->name, "/dev/vc/0");
        assert_string_equal(other(g, 511, -1)->name, "nvidia-nvswitch");
        /* Graphics nodes that aren't a GPU's, one by one, and nothing of a GPU's. */
        assert_null(other(g, 226, -1));
        assert_string_equal(other(g, 226, 0)->name, "");
        assert_non_null(other(g, 226, 130));
        assert_null(other(g, 226, 128));
        assert_null(other(g, 195, -1));
        assert_null(other(g, 240, -1));
        assert_int_equal(last->rule.type, 'b');
        assert_int_equal(last->rule.major, -1);
        sg_device_guard_unref(g);
}

/* A closed list made of it allows what it allows, of what there is, and nothing else. */
static void test_closed_alike(void **state)
{
        struct sg_device_list class = {.guard = node_guard(&node, NULL)}, d, closed;

        (void)state;
        assert_int_equal(sg_gpu_job_devices(&d, &class, &node.devices, &node.inventory, "GPU-a"),
                         0);
        assert_int_equal(sg_device_list_close(&closed, &d), 0);
        assert_true(closed.closed);
        for (size_t i = 0; i < node.devices.n_drivers; i++)
                for (int32_t minor = 0; minor < 256; minor++) {
                        int32_t major = node.devices.drivers[i].major;

                        if (major == 226 && minor > 2 && (minor < 128 || minor > 130))
                                continue; /* isn't there */
                        if (node_opens(&d, major, minor) != node_opens(&closed, major, minor))
                                fail_msg("%d:%d is open in one only", major, minor);
                }
        sg_device_list_deinit(&closed);
        sg_device_list_deinit(&d);
        sg_device_list_deinit(&class);
}

/* A name is a pattern, a number a major, and systemd looks names up itself. */
static void test_names_that_cannot_be_said(void **state)
{
        static const char *const names[] = {"*",   "nv?dia", "[a]", "a b",      "240", "",
                                            "a%b", "a\"b",   "\\a", "\xc3\xa4", "1-2"};
        struct sg_device_guard *g;
        char text[512];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++) {
                (void)snprintf(text, sizeof(text),
                               "Character devices:\n240 nvidia-uvm\n 99 %s\n\nBlock devices:\n",
                               names[i]);
                if (!*names[i]) { /* twice one name */
                        (void)snprintf(text, sizeof(text),
                                       "Character devices:\n240 nvidia-uvm\n 99 nvidia-uvm2\n195 "
                                       "nvidia-uvm2\n\nBlock devices:\n");
                }
                node_take_drivers(&node, text);
                g = node_guard(&node, NULL);
                assert_non_null(other(g, 99, -1));
                assert_string_equal(other(g, 99, -1)->name, "");
                sg_device_guard_unref(g);
        }
}

static void test_same_again(void **state)
{
        struct sg_device_guard *g = node_guard(&node, NULL), *again = NULL;

        (void)state;
        assert_int_equal(sg_gpu_guard(&again, &node.devices, &node.inventory, g), 0);
        assert_ptr_equal(again, g);
        sg_device_guard_unref(again);
        node_take_drivers(&node, DRIVERS(NVIDIA("240", "239") "250 hidraw\n"));
        assert_int_equal(sg_gpu_guard(&again, &node.devices, &node.inventory, g), 1);
        assert_string_equal(other(again, 250, -1)->name, "hidraw"); /* a name that came later */
        sg_device_guard_unref(again);
        sg_device_guard_unref(g);
}

/* Unloaded, loaded with other majors, and what was its own given to somebody else. */
static void test_reload(void **state)
{
        struct sg_device_guard *g = node_guard(&node, NULL), *next;

        (void)state;
        assert_true(sg_gpu_driver_is_loaded(&node.devices));
        node_take_drivers(&node, DRIVERS("511 nvidia-nvswitch\n"));
        assert_false(sg_gpu_driver_is_loaded(&node.devices));
        node.devices.n_drm = 1;
        next = node_guard(&node, g);
        assert_true(covers(next, 195, 0));
        assert_true(covers(next, 240, 0)); /* it may come back to it before we look */
        assert_true(covers(next, 239, 5));
        assert_true(covers(next, 226, 129));
        assert_false(covers(next, 226, 0));
        sg_device_guard_unref(g);
        g = next;
        node_take_drivers(&node, DRIVERS(NVIDIA("238", "240") "239 hidraw\n"));
        next = node_guard(&node, g);
        assert_true(covers(next, 238, 0));
        assert_true(covers(next, 240, 12));
        assert_false(covers(next, 239, 5));
        assert_string_equal(other(next, 239, -1)->name, "hidraw");
        sg_device_guard_unref(g);
        sg_device_guard_unref(next);
}

static void test_before_anything_is_known(void **state)
{
        struct sg_device_guard *g;

        (void)state;
        node.inventory.n = 0;
        g = node_guard(&node, NULL);
        assert_true(covers(g, 226, 128)); /* by what drives it */
        assert_false(covers(g, 226, 0));
        sg_device_guard_unref(g);
        node_take_drivers(&node, "Character devices:\n  1 mem\n\nBlock devices:\n");
        assert_int_equal(sg_gpu_guard(&g, &node.devices, NULL, NULL), 1);
        assert_true(covers(g, 195, 0)); /* NVIDIA's, whether its driver is there or not */
        sg_device_guard_unref(g);
}

/* --- texts */

static void test_drivers_text(void **state)
{
        static const char text[] = DRIVERS(NVIDIA("240", "239"));
        static const char *const bad[] = {
                "Character devices:\n  1 mem\n",
                "Character devices:\n  1 mem\n\n",
                "Character devices:\n  1 mem\nBlock devices:\n",
                "Character devices:\nmem\n\nBlock devices:\n",
                "Character devices:\n4096 mem\n\nBlock devices:\n",
                "Character devices:\n-1 mem\n\nBlock devices:\n",
                "Character devices:\n  1 \n\nBlock devices:\n",
                "Character devices:\n  1mem\n\nBlock devices:\n",
                "Block devices:\n  1 mem\n",
                "Character devices:\n  1 "
                "0123456789012345678901234567890123456789012345678901234567890123\n\n"
                "Block devices:\n",
        };
        struct sg_gpu_devices d = {0};
        const char *block = strstr(text, "Block");

        (void)state;
        assert_int_equal(sg_gpu_devices_take_drivers(&d, text, sizeof(text) - 1), 0);
        assert_int_equal(d.n_drivers, 10); /* of block devices none */
        assert_int_equal(d.drivers[5].major, 195);
        assert_string_equal(d.drivers[5].name, "nvidia-frontend");
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(sg_gpu_devices_take_drivers(&d, bad[i], strlen(bad[i])), -EBADMSG);
        for (size_t n = 0; n < (size_t)(block - text) + strlen("Block devices:\n"); n++)
                assert_int_equal(sg_gpu_devices_take_drivers(&d, text, n), -EBADMSG);
        assert_int_equal(d.n_drivers, 10);
        sg_gpu_devices_deinit(&d);
}

static void test_mig_text(void **state)
{
        static const char *const bad[] = {"gpu0/gi0/access\n", "gpu0/gi0/access x\n",
                                          "gpu0/gi0/access 3 4\n", "gpu0/gi0/access 3",
                                          "gpu0/gi0/access 1048576\n"};
        static const char good[] = "config 1\ngpu0/gi0/access 3\ngpu31/gi14/ci7/access 4320\n"
                                   "gpu0/other 7\ngpu0/gi0/ci/access 9\nnew thing\n";
        struct sg_gpu_devices d = {0};

        (void)state;
        assert_int_equal(sg_gpu_devices_take_mig(&d, good, sizeof(good) - 1), 0);
        assert_int_equal(d.n_mig, 2);
        assert_int_equal(d.mig[1].gpu, 31);
        assert_int_equal(d.mig[1].gpu_instance, 14);
        assert_int_equal(d.mig[1].compute_instance, 7);
        assert_int_equal(d.mig[1].minor, 4320);
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(sg_gpu_devices_take_mig(&d, bad[i], strlen(bad[i])), -EBADMSG);
        assert_int_equal(d.n_mig, 2);
        assert_int_equal(sg_gpu_devices_take_mig(&d, "", 0), 0);
        assert_int_equal(d.n_mig, 0);
        sg_gpu_devices_deinit(&d);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_others),
                TEST(test_closed_alike),
                TEST(test_names_that_cannot_be_said),
                TEST(test_same_again),
                TEST(test_reload),
                TEST(test_before_anything_is_known),
                TEST(test_drivers_text),
                TEST(test_mig_text),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
