/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See nodes_fixture.h. */
#include "tests/unit/core/gpu/nodes_fixture.h"

static const char mig_minors[] = "config 1\nmonitor 2\n"
                                 "gpu0/gi1/access 30\ngpu0/gi1/ci0/access 31\n"
                                 "gpu7/gi1/access 12\ngpu7/gi1/ci0/access 13\n"
                                 "gpu7/gi2/access 21\ngpu7/gi2/ci0/access 22\n"
                                 "gpu7/gi2/ci1/access 23\n";

static const struct sg_drm_node graphics[] = {
        {226, 0, "card0", "0000:03:00.0", "ast"},
        {226, 1, "card1", "0000:3b:00.0", "nvidia"},
        {226, 2, "card2", "0000:86:00.0", "nvidia"},
        {226, 128, "renderD128", "0000:3b:00.0", "nvidia"},
        {226, 129, "renderD129", "0000:86:00.0", "nvidia"},
        {226, 130, "renderD130", "", ""},
};

static const struct sg_gpu gpus[] = {
        {.uuid = "GPU-a", .vendor = "nvidia", .bus_id = "0000:3b:00.0", .index = 2, .minor = 1},
        {.uuid = "GPU-b", .vendor = "nvidia", .bus_id = "0000:86:00.0", .index = 0, .minor = 0},
        {.uuid = "GPU-c",
         .vendor = "nvidia",
         .bus_id = "0000:af:00.0",
         .index = 1,
         .minor = 7,
         .mig = true,
         .n_instances = 2,
         .instances = {{.uuid = "MIG-1", .gpu_instance = 1, .compute_instance = 0},
                       {.uuid = "MIG-2", .gpu_instance = 2, .compute_instance = 1}}},
};

void node_take_drivers(struct node *n, const char *text)
{
        assert_int_equal(sg_gpu_devices_take_drivers(&n->devices, text, strlen(text)), 0);
}

void node_init(struct node *n)
{
        *n = (struct node){.inventory = {.state = SG_GPU_DRIVER_OK, .n = SG_ELEMENTSOF(gpus)}};
        n->inventory.gpus = calloc(1, sizeof(gpus));
        n->devices.drm = calloc(1, sizeof(graphics));
        assert_non_null(n->inventory.gpus);
        assert_non_null(n->devices.drm);
        memcpy(n->inventory.gpus, gpus, sizeof(gpus));
        memcpy(n->devices.drm, graphics, sizeof(graphics));
        n->devices.n_drm = SG_ELEMENTSOF(graphics);
        node_take_drivers(n, DRIVERS(NVIDIA("240", "239")));
        assert_int_equal(sg_gpu_devices_take_mig(&n->devices, mig_minors, sizeof(mig_minors) - 1),
                         0);
}

void node_deinit(struct node *n)
{
        sg_gpu_devices_deinit(&n->devices);
        free(n->inventory.gpus);
}

struct sg_device_guard *node_guard(struct node *n, struct sg_device_guard *before)
{
        struct sg_device_guard *g = NULL;

        assert_in_range(sg_gpu_guard(&g, &n->devices, &n->inventory, before), 0, 1);
        return g;
}

static bool allows(const struct sg_device_list *d, int32_t major, int32_t minor)
{
        for (size_t i = 0; i < d->n; i++) {
                const struct sg_device_rule *r = &d->rules[i];

                if (r->type == 'c' && (r->major < 0 || r->major == major) &&
                    (r->minor < 0 || r->minor == minor))
                        return true;
        }
        return false;
}

bool node_opens(const struct sg_device_list *d, int32_t major, int32_t minor)
{
        if (d->closed || allows(d, major, minor))
                return allows(d, major, minor);
        return !d->guard || !sg_device_guard_covers(d->guard, 'c', major, minor);
}
