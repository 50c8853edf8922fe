/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose processes are, and where claims are. */
#include "core/gpu/account-internal.h"
#include <fnmatch.h>
#include <string.h>

static const struct sg_gpu_owner *owner_of(const struct sg_gpu_account *a, uint64_t pid)
{
        size_t low = 0, high = a->n_owners;

        while (low < high) {
                size_t mid = low + (high - low) / 2;

                if (a->owners[mid].pid < pid)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low < a->n_owners && a->owners[low].pid == pid ? &a->owners[low] : NULL;
}

static bool is_ignored(const struct sg_gpu_account *a, const char *command)
{
        for (char *const *p = a->ignore; p && *p && command[0]; p++)
                if (fnmatch(*p, command, 0) == 0)
                        return true;
        return false;
}

/* What a job had when it ended may be listed after its group is gone. */
static struct sg_gpu_claimed *ended_with(const struct sg_gpu_account *a, uint64_t pid)
{
        for (size_t i = 0; i < a->n_claims; i++)
                for (size_t k = 0; a->claims[i]->ended && k < a->claims[i]->n_pids; k++)
                        if (a->claims[i]->pids[k] == pid)
                                return a->claims[i];
        return NULL;
}

struct sg_gpu_whose sg_gpu_whose(const struct sg_gpu_account *a, uint64_t pid)
{
        const struct sg_gpu_owner *o = owner_of(a, pid);

        if (!o || o->job == 0)
                return (struct sg_gpu_whose){.claim = ended_with(a, pid),
                                             .ignored = o && is_ignored(a, o->command)};
        for (size_t i = 0; i < a->n_claims; i++)
                if (a->claims[i]->job == o->job && a->claims[i]->attempt == o->attempt)
                        return (struct sg_gpu_whose){.claim = a->claims[i], .job = o->job};
        return (struct sg_gpu_whose){.job = o->job};
}

size_t sg_gpu_part_place(const struct sg_gpu_account *a, const struct sg_gpu_part *part,
                         uint8_t *ret_instance)
{
        for (size_t i = 0; i < a->seen.n; i++) {
                const struct sg_gpu *g = &a->seen.gpus[i];

                *ret_instance = SG_GPU_NONE;
                if (strcmp(g->uuid, part->uuid) == 0)
                        return i;
                for (size_t k = 0; k < g->n_instances; k++)
                        if (strcmp(g->instances[k].uuid, part->uuid) == 0) {
                                *ret_instance = (uint8_t)k;
                                return i;
                        }
        }
        return SG_GPU_NOWHERE;
}

bool sg_gpu_process_is_on(const struct sg_gpu *g, const struct sg_gpu_process *p, uint8_t instance)
{
        const struct sg_gpu_instance *it;

        if (instance == SG_GPU_NONE)
                return true;
        it = &g->instances[instance];
        return p->gpu_instance == it->gpu_instance &&
               (p->compute_instance == it->compute_instance ||
                p->compute_instance == SG_GPU_UNKNOWN);
}
