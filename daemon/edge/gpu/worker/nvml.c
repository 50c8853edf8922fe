/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NVIDIA's driver. It is held open, as opening it takes seconds where nobody else does (and it
 * doesn't fall back to its defaults then); what a board is, is asked for once, what it does by each
 * look. GPUs are known by their UUID for as long as it is open: one that has gone is told as lost.
 */
#include "edge/gpu/worker/nvml.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

static void say_code(struct sg_gpu_inventory *v, const struct sg_nvml_library *l, sg_nv_code code)
{
        switch (code) {
        case SG_NV_MISMATCH:
                v->state = SG_GPU_DRIVER_MISMATCH;
                sg_gpu_say(v, "the driver's library and module are of different versions: "
                              "reboot, or load the module anew");
                break;
        case SG_NV_DRIVER_NOT_LOADED:
                v->state = SG_GPU_DRIVER_ABSENT;
                sg_gpu_say(v, "the driver's module isn't loaded");
                break;
        default:
                v->state = SG_GPU_DRIVER_ERROR;
                sg_gpu_say(v, "%s (%u)", sg_nvml_error(l, code), code);
        }
}

static sg_nv_code init(const struct sg_nvml_library *l)
{
        return l->init_with_flags ? l->init_with_flags(SG_NV_FLAG_NO_GPUS) : l->init();
}

static int nvml_open(struct sg_gpu_driver **ret, const struct sg_gpu_order *order,
                     struct sg_gpu_inventory *v)
{
        _cleanup_free_ struct sg_gpu_driver *d = calloc(1, sizeof(*d));
        sg_nv_code code;
        int cuda;

        *ret = NULL;
        if (!d)
                return -ENOMEM;
        sg_nvml_load(&d->library, order->library, order->root, v);
        if (!d->library.handle)
                return 0;
        (void)strcpy(d->root, order->root);
        sg_nvml_make_nodes(d->root, 0);
        code = init(&d->library);
        if (code != SG_NV_SUCCESS) {
                say_code(v, &d->library, code);
                sg_nvml_unload(&d->library);
                return 0;
        }
        if (SG_NV_CALL(&d->library, driver_version, d->version, sizeof(d->version) - 1) !=
            SG_NV_SUCCESS)
                d->version[0] = '\0';
        d->cuda = SG_NV_CALL(&d->library, cuda_version, &cuda) == SG_NV_SUCCESS && cuda > 0
                          ? (uint64_t)cuda
                          : SG_GPU_UNKNOWN;
        *ret = TAKE_PTR(d);
        return 0;
}

static void nvml_close(struct sg_gpu_driver *d)
{
        if (!d)
                return;
        sg_nvml_forget_events(d);
        (void)d->library.shut_down();
        sg_nvml_unload(&d->library);
        free(d);
}

/* --- */

/* The one of that UUID which isn't taken yet by this look: two that call themselves the same are
 * two, and for others to wonder at. */
static struct sg_nvml_gpu *find(struct sg_gpu_driver *d, const bool seen[], const char *uuid)
{
        for (size_t i = 0; i < d->n; i++)
                if (!seen[i] && strcmp(d->gpus[i].fixed.uuid, uuid) == 0)
                        return &d->gpus[i];
        return NULL;
}

static struct sg_nvml_gpu *add(struct sg_gpu_driver *d, const char *uuid)
{
        struct sg_nvml_gpu *gpu;
        struct sg_gpu_inventory one = {.gpus = NULL};

        if (d->n >= SG_GPUS_MAX)
                return NULL;
        gpu = &d->gpus[d->n++];
        *gpu = (struct sg_nvml_gpu){.present = false};
        one.gpus = &gpu->fixed;
        (void)sg_gpu_add(&one);
        (void)snprintf(gpu->fixed.uuid, sizeof(gpu->fixed.uuid), "%s", uuid);
        return gpu;
}

/* The GPU at an index. Which one doesn't answer is seen from that another one is missing; if it
 * never answered, its index is all that there is to tell. */
static void look_at(struct sg_gpu_driver *d, unsigned index, bool seen[],
                    struct sg_gpu_inventory *v)
{
        char uuid[SG_NV_TEXT + 1] = "";
        struct sg_nvml_gpu *gpu;
        sg_nv_device device;
        sg_nv_code code = d->library.by_index(index, &device);

        if (code == SG_NV_SUCCESS)
                code = d->library.uuid(device, uuid, SG_NV_TEXT);
        if (code != SG_NV_SUCCESS) {
                sg_gpu_say(v, "the GPU at index %u doesn't answer: %s (%u)", index,
                           sg_nvml_error(&d->library, code), code);
                return;
        }
        gpu = find(d, seen, uuid) ?: add(d, uuid);
        if (!gpu) {
                sg_gpu_say(v, "there are more than %u GPUs", SG_GPUS_MAX);
                return;
        }
        seen[gpu - d->gpus] = true;
        if (!gpu->present || gpu->device != device)
                d->changed = true;
        gpu->present = true;
        gpu->device = device;
        gpu->index = index;
        if (gpu->fixed.minor == SG_GPU_UNKNOWN)
                sg_nvml_read_fixed(d, gpu);
}

static sg_nv_code scan(struct sg_gpu_driver *d, struct sg_gpu_inventory *v)
{
        bool seen[SG_GPUS_MAX] = {false};
        unsigned count = 0;
        sg_nv_code code = d->library.count(&count);

        if (code != SG_NV_SUCCESS && code != SG_NV_GPU_IS_LOST)
                return code;
        for (unsigned i = 0; i < count && i <= SG_GPUS_MAX; i++)
                look_at(d, i, seen, v);
        for (size_t i = 0; i < d->n; i++)
                if (d->gpus[i].present && !seen[i]) {
                        d->gpus[i].present = false;
                        d->changed = true;
                }
        return SG_NV_SUCCESS;
}

static void report(struct sg_gpu_driver *d, size_t i, struct sg_gpu_inventory *v)
{
        struct sg_nvml_gpu *gpu = &d->gpus[i];
        struct sg_gpu *g = sg_gpu_add(v);

        if (!g)
                return;
        memcpy(g, &gpu->fixed, sizeof(*g));
        memcpy(g->near, d->near[i], sizeof(g->near));
        g->index = gpu->present ? gpu->index : SG_GPU_UNKNOWN;
        g->lost = !gpu->present;
        if (gpu->present && sg_nvml_read_figures(d, gpu, g)) {
                sg_nvml_read_instances(d, gpu, g);
                sg_nvml_read_processes(d, gpu, g);
        }
}

static void tell_events(struct sg_gpu_driver *d, struct sg_gpu_inventory *v)
{
        memcpy(v->events, d->happened.events, sizeof(v->events));
        v->n_events = d->happened.n_events;
        v->n_events_lost = d->happened.n_events_lost;
        d->happened.n_events = 0;
        d->happened.n_events_lost = 0;
}

static int nvml_look(struct sg_gpu_driver *d, struct sg_gpu_inventory *v)
{
        sg_nv_code code;

        (void)snprintf(v->version, sizeof(v->version), "%.31s", d->version);
        v->cuda = d->cuda;
        v->state = SG_GPU_DRIVER_OK;
        (void)sg_nvml_wait_events(d, 0);
        tell_events(d, v);
        code = scan(d, v);
        if (code != SG_NV_SUCCESS) {
                say_code(v, &d->library, code);
                return 0;
        }
        if (d->changed) {
                d->changed = false;
                sg_nvml_read_near(d);
                sg_nvml_watch_events(d);
        }
        for (size_t i = 0; i < d->n; i++)
                report(d, i, v);
        return 0;
}

const struct sg_gpu_driver_kind sg_nvml_driver = {
        .open = nvml_open,
        .look = nvml_look,
        .wait = sg_nvml_wait_events,
        .close = nvml_close,
};
