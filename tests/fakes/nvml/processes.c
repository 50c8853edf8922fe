/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake.h"
#include <string.h>

static bool is_listed(const struct process *p, unsigned list)
{
        return list == SG_NV_LIST_COMPUTE    ? p->computes
               : list == SG_NV_LIST_GRAPHICS ? p->draws
                                             : p->mps;
}

/* An entry of any size begins as the largest does. What the real library doesn't write, as padding,
 * isn't written here. */
static void write_entry(unsigned char *to, const struct process *p, unsigned stride)
{
        struct sg_nv_process_32 e = {
                .pid = p->pid,
                .memory = p->memory == NONE ? SG_NV_NO_VALUE : p->memory,
                .gpu_instance = p->gi,
                .compute_instance = p->ci,
        };

        memcpy(to, &e.pid, sizeof(e.pid));
        memcpy(to + 8, (char *)&e + 8, stride - 8);
}

static sg_nv_code list_processes(const struct gpu *g, unsigned list, unsigned *count,
                                 unsigned char *to, unsigned stride)
{
        unsigned room = *count, n = 0;

        if (g->grows) {
                *count = room + 1;
                return SG_NV_INSUFFICIENT_SIZE;
        }
        for (size_t i = 0; i < g->n_processes; i++) {
                if (!is_listed(&g->processes[i], list))
                        continue;
                if (n < room)
                        write_entry(to + (size_t)n * stride, &g->processes[i], stride);
                n++;
        }
        *count = n;
        return n > room ? SG_NV_INSUFFICIENT_SIZE : SG_NV_SUCCESS;
}

#define LISTS(symbol, list)                                                                        \
        sg_nv_code symbol(sg_nv_device device, unsigned *count, void *processes)                   \
        {                                                                                          \
                ENTER(device);                                                                     \
                return list_processes(gpu_of(device), list, count, processes, 16);                 \
        }                                                                                          \
        sg_nv_code symbol##_v2(sg_nv_device device, unsigned *count, void *processes)              \
        {                                                                                          \
                ENTER(device);                                                                     \
                return list_processes(gpu_of(device), list, count, processes, 24);                 \
        }                                                                                          \
        sg_nv_code symbol##_v3(sg_nv_device device, unsigned *count, void *processes)              \
        {                                                                                          \
                ENTER(device);                                                                     \
                return list_processes(gpu_of(device), list, count, processes, fake_v3_stride);     \
        }
SG_NV_PROCESS_LISTS(LISTS)

sg_nv_code nvmlDeviceGetRunningProcessDetailList(sg_nv_device device,
                                                 struct sg_nv_process_list *list)
{
        ENTER(device);
        if (list->version != SG_NV_STRUCT(*list, 1))
                return SG_NV_ARGUMENT_VERSION;
        if (gpu_of(device)->no_details)
                return SG_NV_NOT_SUPPORTED;
        return list_processes(gpu_of(device), list->list, &list->count,
                              (unsigned char *)list->processes, 32);
}

sg_nv_code nvmlDeviceGetProcessUtilization(sg_nv_device device, struct sg_nv_sample *samples,
                                           unsigned *count, unsigned long long since_usec)
{
        const struct gpu *g;
        unsigned room = *count, n = 0;

        ENTER(device);
        g = gpu_of(device);
        for (size_t i = 0; i < g->n_processes; i++) {
                if (g->processes[i].percent == NONE)
                        continue;
                if (n < room)
                        samples[n] =
                                (struct sg_nv_sample){.pid = g->processes[i].pid,
                                                      .usec = since_usec + 1,
                                                      .gpu = (unsigned)g->processes[i].percent};
                n++;
        }
        *count = n;
        return n == 0 ? SG_NV_NOT_FOUND : n > room ? SG_NV_INSUFFICIENT_SIZE : SG_NV_SUCCESS;
}
