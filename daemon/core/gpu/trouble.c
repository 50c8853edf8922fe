/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What goes wrong with a GPU: errors that its driver tells of, memory and processes that stay
 * behind, others who take what is promised. */
#include "base/format.h"
#include "core/gpu/account-internal.h"
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000)
#define LEAK_TOLD_USEC (10 * SECOND)
/* An error that comes again and again is told once in so long. */
#define ERROR_USEC (60 * SECOND)
/* What the driver keeps for others varies by so much. */
#define SLACK_BYTES (UINT64_C(256) << 20)

struct sg_gpu_decision *sg_gpu_decide(struct sg_gpu_account *a, enum sg_gpu_decision_kind kind,
                                      const struct sg_gpu_record *about,
                                      const struct sg_gpu_claimed *of)
{
        struct sg_gpu_decision *d;

        if (a->n_decisions == a->decisions_size)
                return NULL;
        d = &a->decisions[a->n_decisions++];
        *d = (struct sg_gpu_decision){.kind = kind};
        if (about) {
                strcpy(d->uuid, about->uuid);
                d->state = about->status.state;
        }
        if (of) {
                d->job = of->job;
                d->attempt = of->attempt;
        }
        return d;
}

/* Errors */

static const struct {
        uint64_t xid;
        bool of_application;
        const char *text;
} errors[] = {
        {13, true, "exception of the program"},
        {31, true, "memory page fault of the program"},
        {43, true, "the program's channel has stopped"},
        {45, true, "the program's channels were cleaned up"},
        {48, false, "memory error that can't be corrected"},
        {61, false, "internal microcontroller breakpoint"},
        {62, false, "internal microcontroller halt"},
        {63, false, "memory row or page was retired"},
        {64, false, "memory row or page couldn't be retired"},
        {68, true, "exception of a video processor"},
        {74, false, "NVLink error"},
        {79, false, "it has fallen off the bus"},
        {92, false, "many memory errors"},
        {94, false, "memory error, contained"},
        {95, false, "memory error, not contained"},
        {109, true, "the program's context switch took too long"},
        {119, false, "its system processor doesn't answer"},
        {120, false, "its system processor has failed"},
};

static const char *error_text(uint64_t xid, bool *ret_of_application)
{
        *ret_of_application = false;
        for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
                if (errors[i].xid == xid) {
                        *ret_of_application = errors[i].of_application;
                        return errors[i].text;
                }
        return "hardware or driver";
}

static bool holds(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c, size_t place)
{
        uint8_t instance;

        for (size_t k = 0; k < c->n; k++)
                if (sg_gpu_part_place(a, &c->parts[k], &instance) == place)
                        return true;
        return false;
}

static void tell_error(struct sg_gpu_account *a, const struct sg_gpu_record *r,
                       const struct sg_gpu_claimed *of, uint64_t xid, const char *text)
{
        struct sg_gpu_decision *d = sg_gpu_decide(a, SG_GPU_TELL_ERROR, r, of);

        if (!d)
                return;
        d->xid = xid;
        (void)snprintf(d->text, sizeof(d->text), "GPU %llu: XID %llu, %s",
                       (unsigned long long)r->status.gpu->index, (unsigned long long)xid, text);
}

/* The driver says on which GPU, not whose: all that hold it hear of it. */
static void application_error(struct sg_gpu_account *a, struct sg_gpu_record *r, uint64_t xid,
                              const char *text, uint64_t now_usec)
{
        bool any = false;

        if (r->error == xid && now_usec - r->error_usec < ERROR_USEC)
                return;
        r->error = xid;
        r->error_usec = now_usec;
        for (size_t i = 0; i < a->n_claims; i++)
                if (holds(a, a->claims[i], r->status.place)) {
                        tell_error(a, r, a->claims[i], xid, text);
                        any = true;
                }
        if (!any)
                tell_error(a, r, NULL, xid, text);
}

static void distrust(struct sg_gpu_record *r, const struct sg_gpu_event *e, const char *text)
{
        if (r->status.unhealthy)
                return;
        r->status.unhealthy = true;
        if (e->type == SG_GPU_EVENT_ECC)
                strcpy(r->why_unhealthy, "memory errors that can't be corrected");
        else if (e->data == SG_GPU_UNKNOWN)
                strcpy(r->why_unhealthy, "an error that the driver doesn't number");
        else
                (void)snprintf(r->why_unhealthy, sizeof(r->why_unhealthy), "XID %llu, %s",
                               (unsigned long long)e->data, text);
}

void sg_gpu_events(struct sg_gpu_account *a, const struct sg_gpu_inventory *now, uint64_t now_usec)
{
        for (size_t i = 0; i < now->n_events; i++) {
                const struct sg_gpu_event *e = &now->events[i];
                struct sg_gpu_record *r = sg_gpu_record_find(a, e->uuid);
                bool of_application;
                const char *text = error_text(e->data, &of_application);

                if (!r || !r->status.gpu || e->type == SG_GPU_EVENT_MIG)
                        continue;
                if (e->type == SG_GPU_EVENT_XID && of_application)
                        application_error(a, r, e->data, text, now_usec);
                else
                        distrust(r, e, text);
        }
        if (now->n_events_lost > 0 &&
            (a->lost_events_usec == 0 || now_usec - a->lost_events_usec >= ERROR_USEC)) {
                struct sg_gpu_decision *d = sg_gpu_decide(a, SG_GPU_TELL_LOST_EVENTS, NULL, NULL);

                a->lost_events_usec = now_usec;
                if (d)
                        (void)snprintf(d->text, sizeof(d->text),
                                       "%llu events of GPUs were too many to be looked at",
                                       (unsigned long long)now->n_events_lost);
        }
}

/* Leaks */

/* What is left of a job on one of its GPUs. */
struct rest {
        uint64_t pid, bytes;
};

static bool any_unknown(const struct sg_gpu *g)
{
        for (size_t i = 0; i < g->n_processes; i++)
                if (g->processes[i].memory == SG_GPU_UNKNOWN)
                        return true;
        return false;
}

/* Whether something is there still, as far as the driver can say it. */
static bool find_rest(const struct sg_gpu_account *a, const struct sg_gpu_claimed *c,
                      const struct sg_gpu_part *part, const struct sg_gpu_record *r,
                      uint8_t instance, struct rest *ret)
{
        const struct sg_gpu *g = r->status.gpu;
        uint64_t over = part->base == SG_GPU_UNKNOWN ? SLACK_BYTES * 4 : part->base + SLACK_BYTES;

        for (size_t i = 0; i < g->n_processes; i++)
                if (sg_gpu_process_is_on(g, &g->processes[i], instance) &&
                    sg_gpu_whose(a, g->processes[i].pid).claim == c) {
                        *ret = (struct rest){g->processes[i].pid, g->processes[i].memory};
                        return true;
                }
        /* Of an instance the driver doesn't say it apart. */
        if (instance != SG_GPU_NONE || any_unknown(g) || r->status.unattributed == SG_GPU_UNKNOWN ||
            r->status.unattributed <= over)
                return false;
        *ret = (struct rest){0, r->status.unattributed};
        return true;
}

static void tell_leak(struct sg_gpu_account *a, struct sg_gpu_claimed *c,
                      const struct sg_gpu_record *r, const struct rest *rest)
{
        struct sg_gpu_decision *d = sg_gpu_decide(a, SG_GPU_TELL_LEAK, r, c);
        char size[SG_FORMAT_MAX], who[64] = "";

        c->leak_told = true;
        if (!d)
                return;
        d->pid = rest->pid;
        d->used_bytes = rest->bytes;
        if (rest->pid > 0)
                (void)snprintf(who, sizeof(who), "process %llu with ",
                               (unsigned long long)rest->pid);
        (void)snprintf(d->text, sizeof(d->text), "GPU %llu: job %llu has ended, but %s%s is left",
                       (unsigned long long)r->status.gpu->index, (unsigned long long)c->job, who,
                       rest->bytes == SG_GPU_UNKNOWN ? "memory"
                                                     : sg_format_bytes(size, rest->bytes));
}

static void look_for_rest(struct sg_gpu_account *a, struct sg_gpu_claimed *c, size_t k,
                          uint64_t now_usec)
{
        struct sg_gpu_part *part = &c->parts[k];
        uint8_t instance;
        size_t place = sg_gpu_part_place(a, part, &instance);
        const struct sg_gpu_record *r =
                place == SG_GPU_NOWHERE ? NULL : sg_gpu_record_find(a, a->seen.gpus[place].uuid);
        struct rest rest;

        /* One that is lost or gone is looked at anew, as a whole, when it is there again. */
        if (!r || part->back)
                return;
        if (r->status.gpu->lost || !r->status.gpu->processes_known)
                return;
        part->back = !find_rest(a, c, part, r, instance, &rest);
        if (!part->back && !c->leak_told && now_usec - c->ended_usec >= LEAK_TOLD_USEC)
                tell_leak(a, c, r, &rest);
}

/* From before a job starts, the least that nobody was known to have is what isn't the job's. */
void sg_gpu_note_base(struct sg_gpu_account *a, struct sg_gpu_claimed *c)
{
        uint8_t instance;

        for (size_t k = 0; k < c->n; k++) {
                size_t place = sg_gpu_part_place(a, &c->parts[k], &instance);
                const struct sg_gpu_record *r =
                        place == SG_GPU_NOWHERE ? NULL
                                                : sg_gpu_record_find(a, a->seen.gpus[place].uuid);

                if (r && r->status.fresh && r->status.unattributed < c->parts[k].base)
                        c->parts[k].base = r->status.unattributed;
        }
}

void sg_gpu_leaks(struct sg_gpu_account *a, uint64_t looked_usec, uint64_t now_usec)
{
        for (size_t i = 0; i < a->n_claims; i++) {
                struct sg_gpu_claimed *c = a->claims[i];

                if (!c->ended)
                        sg_gpu_note_base(a, c);
                /* A look from before the end says nothing of what came after. */
                for (size_t k = 0; c->ended && looked_usec >= c->ended_usec && k < c->n; k++)
                        look_for_rest(a, c, k, now_usec);
        }
}

/* Others */

void sg_gpu_crowds(struct sg_gpu_account *a)
{
        for (size_t i = 0; i < a->n_records; i++) {
                struct sg_gpu_record *r = &a->records[i];
                const struct sg_gpu_status *s = &r->status;
                struct sg_gpu_decision *d;
                char all[SG_FORMAT_MAX], has[SG_FORMAT_MAX], foreign[SG_FORMAT_MAX];
                uint64_t usable;
                bool crowded;

                if (!s->gpu || !s->fresh || s->promised == SG_GPU_UNKNOWN)
                        continue;
                usable = sg_gpu_usable(s->gpu);
                crowded = s->foreign > 0 && s->mode != SG_GPU_MODE_FREE &&
                          usable != SG_GPU_UNKNOWN && s->promised > usable;
                d = crowded && !r->told_crowded ? sg_gpu_decide(a, SG_GPU_TELL_CROWDED, r, NULL)
                                                : NULL;
                r->told_crowded = crowded;
                if (!d)
                        continue;
                d->used_bytes = s->promised;
                d->limit_bytes = usable;
                (void)snprintf(d->text, sizeof(d->text),
                               "GPU %llu: with %s of processes that aren't ours %s of %s is spoken "
                               "for",
                               (unsigned long long)s->gpu->index,
                               sg_format_bytes(foreign, s->foreign),
                               sg_format_bytes(all, s->promised), sg_format_bytes(has, usable));
        }
}
