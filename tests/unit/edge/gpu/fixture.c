/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/edge/gpu/fixture.h"
#include "tests/unit/test.h"

static void name(char *to, size_t size, const char *what, size_t k, size_t length)
{
        int n = snprintf(to, size, "%s-%03zu", what, k);

        for (size_t i = (size_t)n; i < length; i++)
                to[i] = 'x';
        to[(size_t)n > length ? (size_t)n : length] = '\0';
}

static void add_instances(struct sg_gpu *g, size_t k, size_t n, size_t length)
{
        g->mig = n > 0;
        g->n_instances = n;
        for (size_t i = 0; i < n; i++) {
                name(g->instances[i].uuid, sizeof(g->instances[i].uuid), "MIG", k * 100 + i,
                     length);
                (void)strcpy(g->instances[i].profile, "1g.10gb");
                g->instances[i].gpu_instance = (uint32_t)i + 7;
                g->instances[i].compute_instance = 0;
                g->instances[i].memory_total = 9984ULL << 20;
        }
}

static void add_processes(struct sg_gpu *g, size_t n)
{
        g->processes_known = true;
        g->n_processes = n;
        for (size_t i = 0; i < n; i++)
                g->processes[i] = (struct sg_gpu_process){
                        .pid = 1000 + i,
                        .memory = i % 2 ? 1ULL << 30 : SG_GPU_UNKNOWN,
                        .utilization = i % 3 ? 50 : SG_GPU_UNKNOWN,
                        .gpu_instance = SG_GPU_UNKNOWN,
                        .compute_instance = SG_GPU_UNKNOWN,
                };
}

static void make_gpu(struct sg_gpu *g, size_t k, size_t n, enum fill fill)
{
        size_t length = fill == FULL ? SG_GPU_TEXT_MAX - 1 : 40;

        name(g->uuid, sizeof(g->uuid), "GPU", k, length);
        name(g->name, sizeof(g->name), "A100", k, length);
        (void)strcpy(g->vendor, "nvidia");
        (void)snprintf(g->bus_id, sizeof(g->bus_id), "0000:%02zx:00.0", k + 1);
        g->index = n - 1 - k;
        g->minor = k;
        g->numa_node = k / 4;
        g->exclusive = k % 2;
        g->memory_total = 80ULL << 30;
        g->memory_used = 5ULL << 30;
        g->memory_reserved = 600ULL << 20;
        g->utilization = 97;
        g->temperature = 61;
        g->power_mw = 310000;
        g->power_limit_mw = g->power_default_mw = g->power_max_mw = 400000;
        g->power_min_mw = 100000;
        g->energy_mj = 123456789012;
        g->throttled_power = true;
        for (size_t i = 0; i < n; i++)
                if (i != k)
                        g->near[i] = i / 2 == k / 2 ? (struct sg_gpu_near){SG_GPU_LINKED, 12}
                                                    : (struct sg_gpu_near){SG_GPU_SYSTEM, 0};
        add_instances(g, k, fill == FULL ? SG_GPU_INSTANCES_MAX : 0, length);
        add_processes(g, fill == FULL ? SG_GPU_PROCESSES_MAX : 2);
}

void make_inventory(struct sg_gpu_inventory *ret, size_t n, enum fill fill)
{
        memset(ret, 0, sizeof(*ret));
        ret->state = SG_GPU_DRIVER_OK;
        (void)strcpy(ret->version, "550.54.15");
        (void)strcpy(ret->message, "two GPUs call themselves GPU-0 — neither is given out");
        ret->cuda = 12040;
        ret->looked_usec = 77;
        ret->n = n;
        ret->gpus = calloc(n ? n : 1, sizeof(*ret->gpus));
        assert_non_null(ret->gpus);
        for (size_t k = 0; k < n; k++)
                make_gpu(&ret->gpus[k], k, n, fill);
        ret->n_events = fill == FULL ? SG_GPU_EVENTS_MAX : 1;
        ret->n_events_lost = fill == FULL ? 12345 : 0;
        for (size_t i = 0; i < ret->n_events; i++) {
                ret->events[i].type = i % 3;
                name(ret->events[i].uuid, sizeof(ret->events[i].uuid), "GPU", i, 40);
                ret->events[i].data = i == 0 ? 79 : SG_GPU_UNKNOWN;
        }
}
