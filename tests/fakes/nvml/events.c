/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake.h"
#include <string.h>
#include <time.h>

#define SLICE_MSEC 50U /* how soon a change of the script is an event */
#define QUEUE 64U

struct happening {
        unsigned gpu, n;
        unsigned long long type, data;
};

static struct happening queue[QUEUE];
static size_t n_queued;
static unsigned long long registered[GPUS];
static struct sg_nv_events {
        bool made;
} the_set;

extern struct sg_nv_device fake_devices[GPUS];

void fake_event(unsigned gpu, unsigned long long type, unsigned long long data, unsigned n)
{
        if (n > 0 && n_queued < QUEUE)
                queue[n_queued++] = (struct happening){gpu, n, type, data};
}

sg_nv_code nvmlEventSetCreate(sg_nv_events *set)
{
        ENTER(NULL);
        memset(registered, 0, sizeof(registered));
        the_set.made = true;
        *set = &the_set;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlEventSetFree(sg_nv_events set)
{
        ENTER(NULL);
        set->made = false;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetSupportedEventTypes(sg_nv_device device, unsigned long long *types)
{
        ENTER(device);
        *types = 0xffff;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceRegisterEvents(sg_nv_device device, unsigned long long types, sg_nv_events set)
{
        ENTER(device);
        if (!set->made)
                return SG_NV_INVALID_ARGUMENT;
        registered[device->gpu] |= types;
        return SG_NV_SUCCESS;
}

/* The first that somebody has registered for; those before it are nobody's. */
static bool take(struct sg_nv_event *event)
{
        while (n_queued > 0) {
                struct happening h = queue[0];

                if (--queue[0].n == 0)
                        memmove(queue, queue + 1, --n_queued * sizeof(queue[0]));
                if (!(registered[h.gpu] & h.type))
                        continue;
                *event = (struct sg_nv_event){&fake_devices[h.gpu], h.type, h.data,
                                              SG_NV_NO_INSTANCE, SG_NV_NO_INSTANCE};
                return true;
        }
        return false;
}

static sg_nv_code wait_for(const char *function, sg_nv_events set, struct sg_nv_event *event,
                           unsigned msec)
{
        for (;;) {
                unsigned slice = msec < SLICE_MSEC ? msec : SLICE_MSEC;
                struct timespec t = {0, (long)slice * 1000000};
                sg_nv_code code = fake_enter(function, NULL);

                if (code != SG_NV_SUCCESS)
                        return code;
                if (!set->made)
                        return SG_NV_INVALID_ARGUMENT;
                if (take(event))
                        return SG_NV_SUCCESS;
                if (msec == 0)
                        return SG_NV_TIMEOUT;
                (void)nanosleep(&t, NULL);
                msec -= slice;
        }
}

sg_nv_code nvmlEventSetWait_v2(sg_nv_events set, struct sg_nv_event *event, unsigned msec)
{
        return wait_for(__func__, set, event, msec);
}

sg_nv_code nvmlEventSetWait(sg_nv_events set, struct sg_nv_event *event, unsigned msec)
{
        return wait_for(__func__, set, event, msec);
}
