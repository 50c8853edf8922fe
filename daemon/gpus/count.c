/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What jobs took of their GPUs, from look to look: for their rows, and from there for history. */
#include "gpus/internal.h"
#include <string.h>

/* Looks that are further apart don't tell what was between them. */
#define APART_MAX_USEC (60ULL * 1000000)

static void add_to(uint64_t *sum, uint64_t more)
{
        *sum = *sum == SG_UNLIMITED ? more : *sum + more;
}

static const struct sg_gpu *find(const struct sg_gpu_inventory *v, const char *uuid)
{
        for (size_t i = 0; i < v->n; i++)
                if (strcmp(v->gpus[i].uuid, uuid) == 0)
                        return &v->gpus[i];
        return NULL;
}

/* Of GPUs that are the job's alone: what others took of one can't be told apart. */
static uint64_t energy_of(const struct sg_gpus *g, uint64_t job,
                          const struct sg_gpu_inventory *before)
{
        const struct sg_gpu_pool *pool = sg_gpu_account_pool(g->account);
        uint64_t sum = 0;

        for (size_t i = 0; i < pool->n_holds; i++) {
                const struct sg_gpu_hold *h = &pool->holds[i];
                const struct sg_gpu *now, *then;

                if (h->job != job)
                        continue;
                now = &pool->inventory->gpus[h->gpu];
                then = find(before, now->uuid);
                if (h->share != SG_GPU_WHOLE || h->instance != SG_GPU_NONE || !then ||
                    now->energy_mj == SG_GPU_UNKNOWN || then->energy_mj == SG_GPU_UNKNOWN ||
                    now->energy_mj < then->energy_mj)
                        return SG_GPU_UNKNOWN;
                sum += now->energy_mj - then->energy_mj;
        }
        return sum;
}

static void count_job(struct sg_gpus *g, struct sg_live *l, const struct sg_gpu_inventory *before,
                      uint64_t apart_usec)
{
        struct sg_gpu_used *used = &l->job.gpu->used;
        struct sg_gpu_use use;
        uint64_t energy;

        if (!sg_gpu_account_use(g->account, l->job.key.n, &use))
                return;
        if (use.most_bytes != SG_GPU_UNKNOWN &&
            (used->memory_peak_bytes == SG_UNLIMITED || use.most_bytes > used->memory_peak_bytes))
                used->memory_peak_bytes = use.most_bytes;
        if (use.utilization != SG_GPU_UNKNOWN)
                add_to(&used->usec, use.n * (apart_usec * use.utilization / 100));
        energy = energy_of(g, l->job.key.n, before);
        if (energy != SG_GPU_UNKNOWN)
                add_to(&used->energy_mj, energy);
}

void sg_gpus_count(struct sg_gpus *g, const struct sg_gpu_inventory *now)
{
        const struct sg_gpu_inventory *before = &g->last;
        uint64_t apart = now->looked_usec - before->looked_usec;
        struct sg_live *l;

        if (!g->looked || now->state != SG_GPU_DRIVER_OK || before->state != SG_GPU_DRIVER_OK ||
            apart > APART_MAX_USEC)
                return;
        sg_list_foreach (l, &g->manager->jobs->active, groups.active_link)
                if (l->job.gpu && l->job.gpus && l->job.gpus[0] && l->job.state == SG_JOB_RUNNING)
                        count_job(g, l, before, apart);
}
