/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The account's claims, and what its caller says of GPUs. */
#include "core/gpu/account-internal.h"
#include "core/job/limits.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

int sg_gpu_account_new(struct sg_gpu_account **ret)
{
        struct sg_gpu_account *a = calloc(1, sizeof(*a));

        if (!a)
                return -ENOMEM;
        sg_gpu_pool_init(&a->pool, NULL);
        *ret = a;
        return 0;
}

struct sg_gpu_account *sg_gpu_account_free(struct sg_gpu_account *a)
{
        if (!a)
                return NULL;
        for (size_t i = 0; i < a->n_claims; i++)
                free(a->claims[i]);
        for (size_t i = 0; i < a->n_records; i++)
                free(a->records[i].gone);
        free(a->claims);
        free(a->seen.gpus);
        free(a->owners);
        free(a->holds);
        free(a->decisions);
        free(a);
        return NULL;
}

void sg_gpu_account_configure(struct sg_gpu_account *a, char *const *exclude, char *const *ignore,
                              uint64_t now_usec)
{
        a->exclude = exclude;
        a->ignore = ignore;
        sg_gpu_figures(a, now_usec);
}

/* Claims */

static size_t place_of(const struct sg_gpu_account *a, uint64_t job, uint64_t attempt)
{
        size_t i = 0;

        while (i < a->n_claims && (a->claims[i]->job < job ||
                                   (a->claims[i]->job == job && a->claims[i]->attempt < attempt)))
                i++;
        return i;
}

static bool is_at(const struct sg_gpu_account *a, size_t i, uint64_t job, uint64_t attempt)
{
        return i < a->n_claims && a->claims[i]->job == job && a->claims[i]->attempt == attempt;
}

static void remove_claim(struct sg_gpu_account *a, size_t i)
{
        free(a->claims[i]);
        memmove(&a->claims[i], &a->claims[i + 1], (--a->n_claims - i) * sizeof(*a->claims));
}

static size_t count_parts(const char *gpus)
{
        size_t n = *gpus != '\0';

        for (; *gpus; gpus++)
                n += *gpus == ',';
        return n;
}

static int make_claim(const struct sg_gpu_claim *claim, struct sg_gpu_claimed **ret)
{
        size_t n = count_parts(claim->gpus);
        struct sg_gpu_claimed *c;
        const char *id = claim->gpus;

        if (n == 0 || n > SG_GPUS_MAX)
                return -EINVAL;
        c = calloc(1, sizeof(*c) + n * sizeof(c->parts[0]));
        if (!c)
                return -ENOMEM;
        c->job = claim->job;
        c->attempt = claim->attempt;
        c->share = claim->share;
        c->memory_bytes = claim->memory_bytes == SG_UNLIMITED ? 0 : claim->memory_bytes;
        c->idle_limit_usec = claim->idle_limit_usec;
        c->idle_ends = claim->idle_ends;
        for (; c->n < n; c->n++) {
                struct sg_gpu_part *part = &c->parts[c->n];
                size_t length = strcspn(id, ",");

                (void)snprintf(part->uuid, sizeof(part->uuid), "%.*s", (int)length, id);
                part->used = part->base = SG_GPU_UNKNOWN;
                id += length + 1;
        }
        *ret = c;
        return 0;
}

int sg_gpu_account_claim(struct sg_gpu_account *a, const struct sg_gpu_claim *claim,
                         uint64_t now_usec)
{
        size_t at = place_of(a, claim->job, claim->attempt);
        _cleanup_free_ struct sg_gpu_claimed *c = NULL;
        struct sg_gpu_claimed **claims;
        int r = make_claim(claim, &c);

        if (r < 0)
                return r;
        claims = reallocarray(a->claims, a->n_claims + 1, sizeof(*claims));
        if (!claims)
                return -ENOMEM;
        a->claims = claims;
        r = sg_gpu_figures_reserve(a, &a->seen, c->n);
        if (r < 0)
                return r;
        if (is_at(a, at, claim->job, claim->attempt))
                free(claims[at]);
        else
                memmove(&claims[at + 1], &claims[at], (a->n_claims++ - at) * sizeof(*claims));
        claims[at] = TAKE_PTR(c);
        sg_gpu_note_base(a, claims[at]);
        sg_gpu_figures(a, now_usec);
        return 0;
}

void sg_gpu_account_release(struct sg_gpu_account *a, uint64_t job, uint64_t attempt, bool ran,
                            uint64_t now_usec)
{
        size_t at = place_of(a, job, attempt);

        if (!is_at(a, at, job, attempt) || a->claims[at]->ended)
                return;
        a->claims[at]->ended = true;
        a->claims[at]->ended_usec = now_usec;
        if (!ran)
                remove_claim(a, at);
        sg_gpu_figures(a, now_usec);
}

/* What is said of GPUs */

static void forget_leaks(struct sg_gpu_account *a, const char *uuid)
{
        const struct sg_gpu_record *r = sg_gpu_record_find(a, uuid);
        uint8_t instance;

        for (size_t i = 0; i < a->n_claims; i++)
                for (size_t k = 0; a->claims[i]->ended && k < a->claims[i]->n; k++)
                        if (r && sg_gpu_part_place(a, &a->claims[i]->parts[k], &instance) ==
                                         r->status.place)
                                a->claims[i]->parts[k].back = true;
}

int sg_gpu_account_drain(struct sg_gpu_account *a, const char *uuid, bool drain, uint64_t now_usec)
{
        struct sg_gpu_record *r = sg_gpu_record_get(a, uuid);

        if (!r)
                return -ENOMEM;
        r->status.drained = drain;
        if (!drain) {
                r->status.unhealthy = false;
                forget_leaks(a, uuid);
        }
        sg_gpu_figures(a, now_usec);
        return 0;
}

int sg_gpu_account_distrust(struct sg_gpu_account *a, const char *uuid, const char *reason,
                            uint64_t now_usec)
{
        struct sg_gpu_record *r = sg_gpu_record_get(a, uuid);

        if (!r)
                return -ENOMEM;
        r->status.unhealthy = true;
        (void)snprintf(r->why_unhealthy, sizeof(r->why_unhealthy), "%s", reason);
        sg_gpu_figures(a, now_usec);
        return 0;
}

/* A look */

static int reserve_decisions(struct sg_gpu_account *a, const struct sg_gpu_inventory *now)
{
        size_t size =
                1 + now->n_events * (1 + a->n_claims) + SG_GPU_RECORDS_MAX * 4 + a->n_claims * 6;
        struct sg_gpu_decision *decisions = a->decisions;

        if (size <= a->decisions_size)
                return 0;
        decisions = reallocarray(decisions, size, sizeof(*decisions));
        if (!decisions)
                return -ENOMEM;
        a->decisions = decisions;
        a->decisions_size = size;
        return 0;
}

static int copy_owners(struct sg_gpu_account *a, const struct sg_gpu_owner *owners, size_t n)
{
        struct sg_gpu_owner *copy = calloc(n + 1, sizeof(*copy));

        if (!copy)
                return -ENOMEM;
        if (n > 0)
                memcpy(copy, owners, n * sizeof(*copy));
        free(a->owners);
        a->owners = copy;
        a->n_owners = n;
        return 0;
}

static void fail_look(struct sg_gpu_account *a, const struct sg_gpu_inventory *now,
                      uint64_t now_usec)
{
        a->driver_ok = false;
        a->n_decisions = 0;
        strcpy(a->driver_message, now->message);
        if (a->seen.n == 0)
                a->absent = now->state == SG_GPU_DRIVER_ABSENT;
        sg_gpu_figures(a, now_usec);
}

/* Only after what the processes are has been said may what they use be counted. */
static void remember_pids(struct sg_gpu_account *a, const struct sg_gpu *g)
{
        for (size_t i = 0; i < g->n_processes; i++) {
                struct sg_gpu_claimed *c = sg_gpu_whose(a, g->processes[i].pid).claim;
                size_t k = 0;

                if (!c || c->ended)
                        continue;
                c->seen = true;
                while (k < c->n_pids && c->pids[k] != g->processes[i].pid)
                        k++;
                if (k < c->n_pids)
                        continue;
                if (c->n_pids == SG_GPU_PIDS_MAX)
                        memmove(c->pids, c->pids + 1, --c->n_pids * sizeof(c->pids[0]));
                c->pids[c->n_pids++] = g->processes[i].pid;
        }
}

static void drop_leaks_that_ended(struct sg_gpu_account *a)
{
        for (size_t i = a->n_claims; i-- > 0;) {
                bool back = a->claims[i]->ended;

                for (size_t k = 0; k < a->claims[i]->n; k++)
                        back = back && a->claims[i]->parts[k].back;
                if (back)
                        remove_claim(a, i);
        }
}

int sg_gpu_account_look(struct sg_gpu_account *a, const struct sg_gpu_inventory *now,
                        const struct sg_gpu_owner *owners, size_t n_owners, uint64_t now_usec)
{
        struct sg_gpu *gpus;
        int r = reserve_decisions(a, now);

        if (r >= 0)
                r = sg_gpu_figures_reserve(a, now, 0);
        if (r < 0)
                return r;
        a->now_usec = now_usec;
        if (now->state != SG_GPU_DRIVER_OK) {
                fail_look(a, now, now_usec);
                return 0;
        }
        gpus = calloc(now->n + 1, sizeof(*gpus));
        r = gpus ? copy_owners(a, owners, n_owners) : -ENOMEM;
        if (r < 0) {
                free(gpus);
                return r;
        }
        if (now->n > 0)
                memcpy(gpus, now->gpus, now->n * sizeof(*gpus));
        sg_gpu_records_follow(a, now, gpus);
        a->driver_ok = true;
        a->n_decisions = 0;
        sg_gpu_pool_init(&a->pool, &a->seen);
        for (size_t i = 0; i < now->n; i++)
                remember_pids(a, &gpus[i]);
        for (size_t i = 0; i < a->n_claims; i++)
                a->claims[i]->looks++;
        sg_gpu_events(a, now, now_usec);
        sg_gpu_figures(a, now_usec);
        sg_gpu_leaks(a, now->looked_usec, now_usec);
        drop_leaks_that_ended(a);
        sg_gpu_figures(a, now_usec);
        sg_gpu_crowds(a);
        sg_gpu_watch(a, now_usec);
        return 0;
}
