/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* GPUs of a node that isn't there, for tests and measurements. */

#include "core/gpu/place.h"
#include "core/job/limits.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GIB (1ULL << 30)

struct gpu_node {
        struct sg_gpu_inventory inventory;
        struct sg_gpu gpus[SG_GPUS_MAX];
};

static inline void node_join(struct gpu_node *node, size_t i, size_t j, unsigned distance)
{
        node->gpus[i].near[j].distance = node->gpus[j].near[i].distance = (uint8_t)distance;
}

/* A board as one is that has nothing to do, under the given name. */
static inline void node_board(struct gpu_node *node, size_t i, const char *name, uint64_t memory)
{
        struct sg_gpu *g = &node->gpus[i];

        *g = (struct sg_gpu){
                .index = i,
                .minor = i,
                .numa_node = SG_GPU_UNKNOWN,
                .memory_total = memory,
                .memory_used = 0,
                .memory_reserved = 0,
                .utilization = 0,
                .temperature = 40,
                .power_mw = SG_GPU_UNKNOWN,
                .energy_mj = SG_GPU_UNKNOWN,
                .processes_known = true,
        };
        (void)snprintf(g->uuid, sizeof(g->uuid), "GPU-%02zu", i);
        (void)snprintf(g->name, sizeof(g->name), "%s", name);
        (void)snprintf(g->bus_id, sizeof(g->bus_id), "0000:%02zx:00.0", i + 1);
        strcpy(g->vendor, "nvidia");
}

/* n equal boards: pairs by NVLink, two pairs at a switch, four at a host bridge, all others apart.
 */
static inline void node_make(struct gpu_node *node, size_t n)
{
        memset(node, 0, sizeof(*node));
        node->inventory =
                (struct sg_gpu_inventory){.state = SG_GPU_DRIVER_OK, .n = n, .gpus = node->gpus};
        strcpy(node->inventory.version, "550.54.15");
        for (size_t i = 0; i < n; i++)
                node_board(node, i, "A100-SXM4-80GB", 80 * GIB);
        for (size_t i = 0; i < n; i++)
                for (size_t j = i + 1; j < n; j++)
                        node_join(node, i, j,
                                  i / 2 == j / 2   ? SG_GPU_LINKED
                                  : i / 4 == j / 4 ? SG_GPU_SWITCH
                                  : i / 8 == j / 8 ? SG_GPU_HOST
                                                   : SG_GPU_SYSTEM);
}

static inline void node_add_instance(struct gpu_node *node, size_t i, const char *profile,
                                     uint64_t memory)
{
        struct sg_gpu *g = &node->gpus[i];
        struct sg_gpu_instance *it = &g->instances[g->n_instances];

        g->mig = true;
        it->gpu_instance = (uint32_t)g->n_instances + 1;
        it->compute_instance = 0;
        it->memory_total = memory;
        (void)snprintf(it->uuid, sizeof(it->uuid), "MIG-%02zu-%zu", i, g->n_instances);
        (void)snprintf(it->profile, sizeof(it->profile), "%s", profile);
        g->n_instances++;
}

static inline void node_add_process(struct gpu_node *node, size_t i, uint64_t pid, uint64_t memory)
{
        struct sg_gpu *g = &node->gpus[i];

        g->processes[g->n_processes++] = (struct sg_gpu_process){
                .pid = pid,
                .memory = memory,
                .utilization = SG_GPU_UNKNOWN,
                .gpu_instance = SG_GPU_UNKNOWN,
                .compute_instance = SG_GPU_UNKNOWN,
        };
        g->memory_used += memory;
}

static inline struct sg_gpu_request want(uint64_t min, uint64_t max)
{
        return (struct sg_gpu_request){
                .min = min, .max = max, .share = SG_GPU_WHOLE, .memory_bytes = SG_UNLIMITED};
}

static inline struct sg_gpu_request want_part(uint64_t share, uint64_t memory)
{
        return (struct sg_gpu_request){.min = 1, .max = 1, .share = share, .memory_bytes = memory};
}

static inline struct sg_gpu_request want_mig(char *profile)
{
        struct sg_gpu_request r = want(1, 1);

        r.mig = profile;
        return r;
}

static inline struct sg_gpu_request want_ids(char *ids)
{
        struct sg_gpu_request r = want(1, 1);

        r.ids = ids;
        for (const char *c = ids; *c; c++)
                r.max = r.min += *c == ',';
        return r;
}
