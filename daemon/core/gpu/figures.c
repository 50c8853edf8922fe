/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What follows from claims and the last look: who holds and uses how much, what is promised and
 * left of each GPU, and in which state it is.
 */
#include "core/gpu/account-internal.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* A GPU that has so much in use by nobody who is listed has users who can't be seen (in containers
 * with pids of their own, say); the driver itself takes less. */
#define HIDDEN_BYTES (UINT64_C(1) << 30)

int sg_gpu_figures_reserve(struct sg_gpu_account *a, const struct sg_gpu_inventory *inventory,
                           size_t n_parts)
{
        struct sg_gpu_hold *holds;

        for (size_t i = 0; i < a->n_claims; i++)
                n_parts += a->claims[i]->n;
        for (size_t i = 0; i < inventory->n; i++)
                n_parts += inventory->gpus[i].n_processes;
        if (n_parts <= a->holds_size)
                return 0;
        holds = reallocarray(a->holds, n_parts, sizeof(*holds));
        if (!holds)
                return -ENOMEM;
        a->holds = holds;
        a->holds_size = n_parts;
        return 0;
}

/* Holds */

static void add_known(uint64_t *sum, uint64_t amount)
{
        *sum = *sum == SG_GPU_UNKNOWN || amount == SG_GPU_UNKNOWN ? SG_GPU_UNKNOWN : *sum + amount;
}

/* UNKNOWN as soon as one of its processes has an unknown amount. */
static uint64_t used_by(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c,
                        size_t place, uint8_t instance)
{
        const struct sg_gpu *g = &a->seen.gpus[place];
        uint64_t sum = 0;

        if (!a->driver_ok || g->lost || !g->processes_known)
                return SG_GPU_UNKNOWN;
        for (size_t i = 0; i < g->n_processes; i++)
                if (sg_gpu_process_is_on(g, &g->processes[i], instance) &&
                    sg_gpu_whose(a, g->processes[i].pid).claim == c)
                        add_known(&sum, g->processes[i].memory);
        return sum;
}

static void add_hold(struct sg_gpu_account *a, const struct sg_gpu_hold *h)
{
        if (a->n_holds < a->holds_size)
                a->holds[a->n_holds++] = *h;
}

static void hold_claim(struct sg_gpu_account *a, struct sg_gpu_claimed *c)
{
        for (size_t k = 0; k < c->n; k++) {
                struct sg_gpu_part *part = &c->parts[k];
                struct sg_gpu_hold h = {.job = c->job, .declared = c->memory_bytes};
                size_t place = sg_gpu_part_place(a, part, &h.instance);

                part->used = SG_GPU_UNKNOWN;
                if (place == SG_GPU_NOWHERE)
                        continue;
                part->used = h.used = used_by(a, c, place, h.instance);
                if (c->ended)
                        continue;
                h.gpu = (uint8_t)place;
                h.share = (uint8_t)c->share;
                h.promised = h.used != SG_GPU_UNKNOWN && h.used > h.declared ? h.used : h.declared;
                add_hold(a, &h);
        }
}

static uint8_t instance_of(const struct sg_gpu *g, const struct sg_gpu_process *p)
{
        for (size_t k = 0; k < g->n_instances; k++)
                if (sg_gpu_process_is_on(g, p, (uint8_t)k))
                        return (uint8_t)k;
        return SG_GPU_NONE;
}

static bool claims_it(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c, size_t place)
{
        uint8_t instance;

        for (size_t k = 0; c && k < c->n; k++)
                if (sg_gpu_part_place(a, &c->parts[k], &instance) == place)
                        return true;
        return false;
}

/* A job on a GPU that it wasn't given: an adopted one, or one of before the upgrade. */
static void hold_user(struct sg_gpu_account *a, size_t place, const struct sg_gpu_process *p,
                      uint64_t job)
{
        uint8_t instance = instance_of(&a->seen.gpus[place], p);
        struct sg_gpu_hold *h = NULL;

        for (size_t i = 0; i < a->n_holds; i++)
                if (a->holds[i].job == job && a->holds[i].gpu == place && a->holds[i].share == 0 &&
                    a->holds[i].instance == instance)
                        h = &a->holds[i];
        if (!h) {
                if (a->n_holds == a->holds_size)
                        return;
                h = &a->holds[a->n_holds++];
                *h = (struct sg_gpu_hold){.job = job, .gpu = (uint8_t)place, .instance = instance};
        }
        add_known(&h->used, p->memory);
        h->promised += p->memory == SG_GPU_UNKNOWN ? 0 : p->memory;
}

static int by_job(const void *x, const void *y)
{
        const struct sg_gpu_hold *a = x, *b = y;

        if (a->job != b->job)
                return a->job < b->job ? -1 : 1;
        return a->gpu != b->gpu ? a->gpu - b->gpu : a->instance - b->instance;
}

static void make_holds(struct sg_gpu_account *a)
{
        a->n_holds = 0;
        for (size_t i = 0; i < a->n_claims; i++)
                hold_claim(a, a->claims[i]);
        for (size_t i = 0; a->driver_ok && i < a->seen.n; i++)
                for (size_t k = 0; k < a->seen.gpus[i].n_processes; k++) {
                        const struct sg_gpu_process *p = &a->seen.gpus[i].processes[k];
                        struct sg_gpu_whose whose = sg_gpu_whose(a, p->pid);

                        if (whose.job != 0 && !claims_it(a, whose.claim, i))
                                hold_user(a, i, p, whose.job);
                }
        if (a->n_holds > 0)
                qsort(a->holds, a->n_holds, sizeof(*a->holds), by_job);
        a->pool.holds = a->holds;
        a->pool.n_holds = a->n_holds;
}

/* Rooms */

/* Nobody's processes: what they use, and whether that keeps others away. */
static void count_foreign(struct sg_gpu_account *a, size_t place, struct sg_gpu_room *room,
                          struct sg_gpu_status *s)
{
        const struct sg_gpu *g = &a->seen.gpus[place];

        for (size_t i = 0; i < g->n_processes; i++) {
                const struct sg_gpu_process *p = &g->processes[i];
                struct sg_gpu_whose whose = sg_gpu_whose(a, p->pid);
                uint8_t instance = instance_of(g, p);

                if (whose.job != 0)
                        continue;
                s->foreign += p->memory == SG_GPU_UNKNOWN ? 0 : p->memory;
                if (whose.ignored)
                        continue;
                if (instance == SG_GPU_NONE)
                        room->foreign = true;
                else
                        room->instances |= (uint16_t)(1U << instance);
        }
}

/* UNKNOWN: of the processes, or of the GPU. */
static uint64_t unattributed(const struct sg_gpu *g)
{
        uint64_t known = 0;

        if (g->memory_used == SG_GPU_UNKNOWN || !g->processes_known)
                return SG_GPU_UNKNOWN;
        for (size_t i = 0; i < g->n_processes; i++)
                known += g->processes[i].memory == SG_GPU_UNKNOWN ? 0 : g->processes[i].memory;
        return g->memory_used > known ? g->memory_used - known : 0;
}

static void count_holds(struct sg_gpu_account *a, size_t place, struct sg_gpu_room *room,
                        struct sg_gpu_status *s)
{
        for (size_t i = 0; i < a->n_holds; i++) {
                const struct sg_gpu_hold *h = &a->holds[i];

                if (h->gpu != place)
                        continue;
                s->promised += h->promised;
                if (h->instance != SG_GPU_NONE)
                        room->instances |= (uint16_t)(1U << h->instance);
                else if (h->share == 0)
                        room->users++;
                else
                        room->hundredths += h->share;
        }
}

static uint64_t free_instances(const struct sg_gpu *g, const struct sg_gpu_room *room)
{
        uint64_t sum = 0;

        for (size_t k = 0; k < g->n_instances; k++)
                if (!(room->instances & (1U << k)))
                        add_known(&sum, g->instances[k].memory_total);
        return sum;
}

static void count_memory(const struct sg_gpu *g, struct sg_gpu_room *room, struct sg_gpu_status *s)
{
        s->used = g->memory_used;
        s->unattributed = unattributed(g);
        s->promised += s->foreign;
        add_known(&s->promised, s->unattributed);
        room->left = SG_GPU_UNKNOWN;
        if (s->promised != SG_GPU_UNKNOWN && room->usable != SG_GPU_UNKNOWN)
                room->left = room->usable > s->promised ? room->usable - s->promised : 0;
        s->free = g->mig ? free_instances(g, room) : room->left;
        if (room->hundredths == 0 && !g->mig && s->unattributed != SG_GPU_UNKNOWN &&
            s->unattributed > HIDDEN_BYTES)
                room->foreign = true;
}

static void forget_figures(struct sg_gpu_status *s)
{
        s->fresh = false;
        s->used = s->promised = s->free = s->foreign = s->unattributed = SG_GPU_UNKNOWN;
        s->idle_usec = SG_GPU_UNKNOWN;
}

static void count(struct sg_gpu_account *a, struct sg_gpu_record *r)
{
        struct sg_gpu_status *s = &r->status;
        const struct sg_gpu *g = s->gpu;
        struct sg_gpu_room *room = &a->pool.rooms[s->place];

        room->foreign = room->closed = room->leaving = false;
        room->excluded = r->excluded;
        room->users = 0;
        room->instances = 0;
        room->hundredths = 0;
        s->promised = s->foreign = 0;
        s->fresh = a->driver_ok && !g->lost;
        count_holds(a, s->place, room, s);
        s->mode = g->mig                            ? SG_GPU_MODE_MIG
                  : room->hundredths == 0           ? SG_GPU_MODE_FREE
                  : room->hundredths < SG_GPU_WHOLE ? SG_GPU_MODE_SHARED
                                                    : SG_GPU_MODE_WHOLE;
        for (size_t i = 0; i < a->n_holds; i++)
                if (a->holds[i].gpu == s->place && a->holds[i].share > 0 &&
                    a->holds[i].share < SG_GPU_WHOLE && !g->mig)
                        s->mode = SG_GPU_MODE_SHARED;
        if (!s->fresh) {
                forget_figures(s);
                room->left = SG_GPU_UNKNOWN;
                return;
        }
        count_foreign(a, s->place, room, s);
        count_memory(g, room, s);
}

/* States */

static bool is_excluded(const struct sg_gpu_account *a, const struct sg_gpu *g)
{
        char index[24];

        (void)snprintf(index, sizeof(index), "%llu", (unsigned long long)g->index);
        for (char *const *p = a->exclude; p && *p; p++)
                if (fnmatch(*p, index, 0) == 0 || fnmatch(*p, g->uuid, 0) == 0 ||
                    fnmatch(*p, g->bus_id, 0) == 0 || fnmatch(*p, g->name, 0) == 0)
                        return true;
        return false;
}

/* The first of its jobs that have ended and aren't gone. */
static const struct sg_gpu_claimed *leak_on(const struct sg_gpu_account *a, size_t place)
{
        uint8_t instance;

        for (size_t i = 0; i < a->n_claims; i++)
                for (size_t k = 0; a->claims[i]->ended && k < a->claims[i]->n; k++)
                        if (!a->claims[i]->parts[k].back &&
                            sg_gpu_part_place(a, &a->claims[i]->parts[k], &instance) == place)
                                return a->claims[i];
        return NULL;
}

static enum sg_gpu_state state_of(const struct sg_gpu_account *a, const struct sg_gpu_record *r,
                                  char reason[SG_GPU_REASON_MAX])
{
        const struct sg_gpu_status *s = &r->status;
        const struct sg_gpu_claimed *leak = leak_on(a, s->place);

        reason[0] = '\0';
        if (r->excluded)
                return SG_GPU_STATE_EXCLUDED;
        if (!a->driver_ok) {
                strcpy(reason, a->driver_message);
                return SG_GPU_STATE_UNKNOWN;
        }
        if (s->place == SG_GPU_NOWHERE || s->gpu->lost) {
                strcpy(reason, s->place == SG_GPU_NOWHERE ? "the driver doesn't list it any more"
                                                          : "the driver doesn't reach it");
                return SG_GPU_STATE_LOST;
        }
        if (r->twice) {
                strcpy(reason, "two GPUs say that they are it");
                return SG_GPU_STATE_UNKNOWN;
        }
        if (s->unhealthy) {
                strcpy(reason, r->why_unhealthy);
                return SG_GPU_STATE_UNHEALTHY;
        }
        if (s->drained)
                return SG_GPU_STATE_DRAINED;
        if (leak) {
                (void)snprintf(reason, SG_GPU_REASON_MAX, "job %llu has ended, but isn't gone",
                               (unsigned long long)leak->job);
                return SG_GPU_STATE_LEAKING;
        }
        if (!s->gpu->processes_known) {
                strcpy(reason, "the driver doesn't say who uses it");
                return SG_GPU_STATE_UNKNOWN;
        }
        return SG_GPU_STATE_OK;
}

/* Of one that isn't in order of itself: what comes and goes with jobs, or with the driver, is told
 * elsewhere. */
static bool is_told(enum sg_gpu_state state, bool driver_ok)
{
        return state != SG_GPU_STATE_OK && state != SG_GPU_STATE_LEAKING &&
               (state != SG_GPU_STATE_UNKNOWN || driver_ok);
}

static void enter(struct sg_gpu_account *a, struct sg_gpu_record *r, uint64_t now_usec)
{
        struct sg_gpu_status *s = &r->status;
        enum sg_gpu_state before = s->state, state;
        struct sg_gpu_decision *d;

        r->excluded = is_excluded(a, s->gpu);
        state = state_of(a, r, s->reason);
        if (state == before && s->since_usec > 0)
                return;
        s->state = state;
        s->since_usec = now_usec;
        if (!is_told(state, a->driver_ok) && !r->told_state)
                return;
        /* Its end is told as well, but not what a driver that hangs hides. */
        if (state == SG_GPU_STATE_UNKNOWN && !a->driver_ok)
                return;
        d = sg_gpu_decide(a, SG_GPU_TELL_STATE, r, NULL);
        r->told_state = is_told(state, a->driver_ok);
        if (d)
                (void)snprintf(d->text, sizeof(d->text), "GPU %llu is %s%s%.150s",
                               (unsigned long long)s->gpu->index, sg_gpu_state_to_string(state),
                               s->reason[0] ? ": " : "", s->reason);
}

/* Nearly all do within a second; of one that was told it isn't expected any more. */
static bool is_leaving(const struct sg_gpu_account *a, const struct sg_gpu_record *r)
{
        uint8_t instance;

        for (size_t i = 0; i < a->n_claims; i++)
                for (size_t k = 0; a->claims[i]->leak_told && k < a->claims[i]->n; k++)
                        if (sg_gpu_part_place(a, &a->claims[i]->parts[k], &instance) ==
                            r->status.place)
                                return false;
        return r->status.state == SG_GPU_STATE_LEAKING;
}

static void note_gone(struct sg_gpu_account *a, struct sg_gpu_record *r)
{
        forget_figures(&r->status);
        if (!r->excluded)
                a->gone[a->pool.n_gone++] = r->status.gpu;
}

void sg_gpu_figures(struct sg_gpu_account *a, uint64_t now_usec)
{
        a->pool.inventory = a->seen.gpus || a->absent ? &a->seen : NULL;
        a->pool.known = a->driver_ok;
        a->pool.changes = ++a->changes;
        a->pool.gone = a->gone;
        a->pool.n_gone = 0;
        make_holds(a);
        /* Of two that say that they are one the second has no record. */
        for (size_t i = 0; i < a->seen.n; i++)
                a->pool.rooms[i].closed = true;
        for (size_t i = 0; i < a->n_records; i++) {
                struct sg_gpu_record *r = &a->records[i];
                struct sg_gpu_room *room;

                if (!r->status.gpu)
                        continue;
                enter(a, r, now_usec);
                if (r->status.place == SG_GPU_NOWHERE) {
                        note_gone(a, r);
                        continue;
                }
                count(a, r);
                room = &a->pool.rooms[r->status.place];
                room->closed = r->status.state != SG_GPU_STATE_OK;
                room->leaving = is_leaving(a, r);
        }
        sg_gpu_records_sort(a);
}
