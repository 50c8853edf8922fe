/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GPUs as they are remembered: by UUID, whether they are listed now or not. */
#include "core/gpu/account-internal.h"
#include <string.h>

struct sg_gpu_record *sg_gpu_record_find(struct sg_gpu_account *a, const char *uuid)
{
        for (size_t i = 0; i < a->n_records; i++)
                if (strcmp(a->records[i].uuid, uuid) == 0)
                        return &a->records[i];
        return NULL;
}

/* Of those that aren't listed, and of which nothing has to be remembered, the first. */
static struct sg_gpu_record *reuse(struct sg_gpu_account *a)
{
        for (size_t i = 0; i < a->n_records; i++) {
                struct sg_gpu_record *r = &a->records[i];

                if (r->status.place != SG_GPU_NOWHERE || r->status.drained || r->status.unhealthy)
                        continue;
                free(r->gone);
                return r;
        }
        return NULL;
}

struct sg_gpu_record *sg_gpu_record_get(struct sg_gpu_account *a, const char *uuid)
{
        struct sg_gpu_record *r = sg_gpu_record_find(a, uuid);

        if (r)
                return r;
        r = a->n_records < SG_GPU_RECORDS_MAX ? &a->records[a->n_records++] : reuse(a);
        if (!r)
                return NULL;
        *r = (struct sg_gpu_record){.status.place = SG_GPU_NOWHERE};
        strncpy(r->uuid, uuid, sizeof(r->uuid) - 1);
        return r;
}

/* What was seen before is dropped now: who isn't listed any more is kept as it was. */
static void keep_gone(struct sg_gpu_record *r)
{
        if (r->status.place != SG_GPU_NOWHERE || !r->status.gpu || r->gone)
                return;
        r->gone = malloc(sizeof(*r->gone));
        if (r->gone)
                *r->gone = *r->status.gpu;
        r->status.gpu = r->gone;
}

void sg_gpu_records_follow(struct sg_gpu_account *a, const struct sg_gpu_inventory *now,
                           struct sg_gpu *gpus)
{
        for (size_t i = 0; i < a->n_records; i++) {
                a->records[i].status.place = SG_GPU_NOWHERE;
                a->records[i].twice = false;
        }
        for (size_t i = 0; i < now->n; i++) {
                struct sg_gpu_record *r = sg_gpu_record_get(a, gpus[i].uuid);

                if (!r)
                        continue;
                r->twice = r->status.place != SG_GPU_NOWHERE;
                r->status.place = r->twice ? r->status.place : i;
        }
        for (size_t i = 0; i < a->n_records; i++)
                keep_gone(&a->records[i]);
        free(a->seen.gpus);
        a->seen = *now;
        a->seen.gpus = gpus;
        for (size_t i = 0; i < a->n_records; i++) {
                struct sg_gpu_record *r = &a->records[i];

                if (r->status.place == SG_GPU_NOWHERE)
                        continue;
                r->status.gpu = &gpus[r->status.place];
                free(TAKE_PTR(r->gone));
        }
}

/* Listed ones by index, then the others. */
static bool is_shown_before(const struct sg_gpu_record *a, const struct sg_gpu_record *b)
{
        bool a_gone = a->status.place == SG_GPU_NOWHERE, b_gone = b->status.place == SG_GPU_NOWHERE;

        if (a_gone != b_gone)
                return b_gone;
        if (a->status.gpu->index != b->status.gpu->index)
                return a->status.gpu->index < b->status.gpu->index;
        return strcmp(a->uuid, b->uuid) < 0;
}

void sg_gpu_records_sort(struct sg_gpu_account *a)
{
        a->n_shown = 0;
        for (size_t i = 0; i < a->n_records; i++) {
                size_t at = a->n_shown;

                if (!a->records[i].status.gpu)
                        continue;
                for (; at > 0 && is_shown_before(&a->records[i], &a->records[a->order[at - 1]]);
                     at--)
                        a->order[at] = a->order[at - 1];
                a->order[at] = i;
                a->n_shown++;
        }
}
