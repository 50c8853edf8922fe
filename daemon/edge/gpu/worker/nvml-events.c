/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the driver tells by itself: errors, and instances that were made or removed. */

#include "edge/gpu/worker/nvml.h"
#include <errno.h>
#include <string.h>

#define WANTED (SG_NV_EVENT_XID | SG_NV_EVENT_DOUBLE_ECC | SG_NV_EVENT_MIG)
/* At once. A GPU that fails may tell so by the thousand: the next look isn't kept waiting. */
#define AT_ONCE 1000

void sg_nvml_forget_events(struct sg_gpu_driver *d)
{
        if (d->events)
                (void)SG_NV_CALL(&d->library, events_free, d->events);
        d->events = NULL;
}

void sg_nvml_watch_events(struct sg_gpu_driver *d)
{
        const struct sg_nvml_library *l = &d->library;
        unsigned registered = 0;

        sg_nvml_forget_events(d);
        if (!l->events_wait || SG_NV_CALL(l, events_create, &d->events) != SG_NV_SUCCESS) {
                d->events = NULL;
                return;
        }
        for (size_t i = 0; i < d->n; i++) {
                unsigned long long types = 0;

                if (d->gpus[i].present &&
                    SG_NV_CALL(l, events_supported, d->gpus[i].device, &types) == SG_NV_SUCCESS &&
                    (types & WANTED) &&
                    SG_NV_CALL(l, events_register, d->gpus[i].device, types & WANTED, d->events) ==
                            SG_NV_SUCCESS)
                        registered++;
        }
        if (registered == 0)
                sg_nvml_forget_events(d);
}

static const char *uuid_of(struct sg_gpu_driver *d, sg_nv_device device)
{
        sg_nv_device gpu = device;

        for (int way = 0; way < 2; way++) {
                for (size_t i = 0; i < d->n; i++)
                        if (d->gpus[i].device == gpu)
                                return d->gpus[i].fixed.uuid;
                /* that of an instance, then */
                if (SG_NV_CALL(&d->library, mig_gpu, device, &gpu) != SG_NV_SUCCESS)
                        break;
        }
        return "";
}

static void note(struct sg_gpu_driver *d, const struct sg_nv_event *e)
{
        const char *uuid = uuid_of(d, e->device);
        uint64_t xid = e->data == SG_NV_XID_UNKNOWN ? SG_GPU_UNKNOWN : e->data;

        if (e->type & SG_NV_EVENT_XID)
                sg_gpu_add_event(&d->happened, SG_GPU_EVENT_XID, uuid, xid);
        if (e->type & SG_NV_EVENT_DOUBLE_ECC)
                sg_gpu_add_event(&d->happened, SG_GPU_EVENT_ECC, uuid, SG_GPU_UNKNOWN);
        if (e->type & SG_NV_EVENT_MIG)
                sg_gpu_add_event(&d->happened, SG_GPU_EVENT_MIG, uuid, SG_GPU_UNKNOWN);
}

int sg_nvml_wait_events(struct sg_gpu_driver *d, unsigned msec)
{
        struct sg_nv_event event;
        sg_nv_code code = SG_NV_SUCCESS;
        int n = 0;

        if (!d->events)
                return -EOPNOTSUPP;
        for (; n < AT_ONCE && code == SG_NV_SUCCESS; n++) {
                memset(&event, 0, sizeof(event));
                code = d->library.events_wait(d->events, &event, n == 0 ? msec : 0);
                if (code == SG_NV_SUCCESS)
                        note(d, &event);
        }
        if (code == SG_NV_SUCCESS || code == SG_NV_TIMEOUT)
                return n > 1 || code == SG_NV_SUCCESS;
        /* As after a GPU was lost: it would fail at once each time. The next look begins anew. */
        sg_nvml_forget_events(d);
        d->changed = true;
        return -EIO;
}
