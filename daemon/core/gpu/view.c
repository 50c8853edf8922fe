/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account as others see it. */
#include "core/gpu/account-internal.h"
#include <stdio.h>
#include <string.h>

const char *sg_gpu_state_to_string(enum sg_gpu_state state)
{
        static const char *const names[] = {
                [SG_GPU_STATE_OK] = "ok",
                [SG_GPU_STATE_UNKNOWN] = "unknown",
                [SG_GPU_STATE_LOST] = "lost",
                [SG_GPU_STATE_UNHEALTHY] = "unhealthy",
                [SG_GPU_STATE_LEAKING] = "leaking",
                [SG_GPU_STATE_DRAINED] = "drained",
                [SG_GPU_STATE_EXCLUDED] = "excluded",
        };

        return names[state];
}

const char *sg_gpu_mode_to_string(enum sg_gpu_mode mode)
{
        static const char *const names[] = {
                [SG_GPU_MODE_FREE] = "free",
                [SG_GPU_MODE_WHOLE] = "whole",
                [SG_GPU_MODE_SHARED] = "shared",
                [SG_GPU_MODE_MIG] = "mig",
        };

        return names[mode];
}

const struct sg_gpu_decision *sg_gpu_account_decisions(const struct sg_gpu_account *a,
                                                       size_t *ret_n)
{
        *ret_n = a->n_decisions;
        return a->decisions;
}

const struct sg_gpu_pool *sg_gpu_account_pool(const struct sg_gpu_account *a)
{
        return &a->pool;
}

size_t sg_gpu_account_n(const struct sg_gpu_account *a)
{
        return a->n_shown;
}

const struct sg_gpu_status *sg_gpu_account_at(const struct sg_gpu_account *a, size_t i)
{
        return &a->records[a->order[i]].status;
}

/* Indexes are of those that are listed. */
static bool is_called(const struct sg_gpu_status *s, const char *id)
{
        char index[24];

        (void)snprintf(index, sizeof(index), "%llu", (unsigned long long)s->gpu->index);
        return strcmp(s->gpu->uuid, id) == 0 || strcmp(s->gpu->bus_id, id) == 0 ||
               (s->place != SG_GPU_NOWHERE && strcmp(index, id) == 0);
}

const struct sg_gpu_status *sg_gpu_account_find(const struct sg_gpu_account *a, const char *id)
{
        for (size_t i = 0; i < a->n_shown; i++)
                if (is_called(sg_gpu_account_at(a, i), id))
                        return sg_gpu_account_at(a, i);
        return NULL;
}

/* What an instance is worth of its GPU, by memory. */
static uint64_t hundredths_of(const struct sg_gpu_account *a, const struct sg_gpu_part *part,
                              uint64_t share)
{
        uint8_t instance;
        size_t place = sg_gpu_part_place(a, part, &instance);
        const struct sg_gpu *g;

        if (place == SG_GPU_NOWHERE || instance == SG_GPU_NONE)
                return share;
        g = &a->seen.gpus[place];
        return sg_gpu_instance_hundredths(g, instance);
}

static void sum_up(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c,
                   struct sg_gpu_use *ret)
{
        ret->n = c->n;
        for (size_t k = 0; k < c->n; k++) {
                uint64_t used = c->parts[k].used;

                ret->hundredths += hundredths_of(a, &c->parts[k], c->share);
                if (used == SG_GPU_UNKNOWN)
                        ret->memory_bytes = ret->most_bytes = SG_GPU_UNKNOWN;
                if (ret->memory_bytes == SG_GPU_UNKNOWN)
                        continue;
                ret->memory_bytes += used;
                ret->most_bytes = used > ret->most_bytes ? used : ret->most_bytes;
        }
        ret->utilization = sg_gpu_utilization(a, c);
        ret->idle_usec = sg_gpu_idle_for(&c->idle, a->now_usec);
}

bool sg_gpu_account_use(const struct sg_gpu_account *a, uint64_t job, struct sg_gpu_use *ret)
{
        for (size_t i = 0; i < a->n_claims; i++)
                if (a->claims[i]->job == job && !a->claims[i]->ended) {
                        *ret = (struct sg_gpu_use){0};
                        sum_up(a, a->claims[i], ret);
                        return true;
                }
        return false;
}

uint64_t sg_gpu_account_job_of(const struct sg_gpu_account *a, uint64_t pid)
{
        return sg_gpu_whose(a, pid).job;
}

bool sg_gpu_account_unsettled(const struct sg_gpu_account *a)
{
        const unsigned soon = 40; /* looks: 10 s of four a second */
        const uint64_t long_usec = UINT64_C(60) * 1000000;

        for (size_t i = 0; i < a->n_claims; i++) {
                const struct sg_gpu_claimed *c = a->claims[i];

                if (c->ended ? a->now_usec < c->ended_usec + long_usec
                             : !c->seen && c->looks < soon)
                        return true;
        }
        return false;
}
