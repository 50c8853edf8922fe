/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Set: the kernel first, which may refuse, then the row; answered when that is durable. What can't
 * be stored is taken back, in the row and in the kernel, before it is answered as failed. Until
 * then there is no other Set of the job, so that what it goes back to is nobody else's.
 */
#include "adopt/adopt.h"
#include "api/internal.h"
#include "govern/loop.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct changes {
        struct sg_limits limits;
        uint64_t deadline_usec;
        int64_t priority;
        char name[SG_JOB_NAME_MAX];
};

struct set_answer {
        struct sg_manager *manager;
        struct sg_call *call;
        uint64_t n;
        struct changes to, from;
        bool gpus;                  /* it changes what is asked of them, too */
        struct sg_gpu_request *gpu; /* to that; once it is in force: from that */
        uint64_t row_from, row_to;  /* what its row takes in the store, as charged from the start */
        bool in_force;
        struct sg_own_cpus own; /* if it has such */
        uint32_t unenforced;
        int unstored; /* negative: it is on its way back */
};

static struct changes changes_of(const struct sg_job *j)
{
        struct changes c = {
                .limits = j->limits, .deadline_usec = j->deadline_usec, .priority = j->priority};

        strcpy(c.name, j->name);
        return c;
}

static void set_answer_free(struct set_answer *a)
{
        struct sg_live *l = sg_manager_find(a->manager, a->n);

        if (l && a->gpus && !a->in_force)
                (void)sg_live_resize_stored(l, a->row_to, a->row_from);
        if (l)
                l->changing = false;
        sg_gpu_request_free(a->gpu);
        sg_call_unref(a->call);
        free(a);
}

/* --- what was read ---------------------------------------------------------------------------- */

/* A number of CPUs without a second one is both. */
static void apply(const struct sg_request *q, const struct sg_live *l, struct sg_job *to)
{
        to->limits.cpus_max = 0;
        sg_request_apply(q, to);
        if (to->limits.cpus_max == 0)
                to->limits.cpus_max =
                        q->asked & SG_ASK_CPUS ? to->limits.cpus : l->job.limits.cpus_max;
}

/* What a job has of GPUs is fixed at its start. */
static int read_gpus(const struct sg_request *q, const struct sg_live *l,
                     struct sg_gpu_request **ret, struct sg_answer *a)
{
        struct sg_gpu_request *want = NULL;
        int r;

        if (!(q->asked & SG_ASK_GPU))
                return 0;
        if (l->job.state != SG_JOB_QUEUED)
                return sg_refuse_job(a, SG_ANSWER_INVALID, l->job.key.n,
                                     "job %" PRIu64 " is %s: what it has of GPUs is fixed\n"
                                     "`schedctl requeue` stops it and queues it again",
                                     l->job.key.n, sg_job_state_to_string(l->job.state));
        r = sg_gpus_take(q, l->job.gpu, l->class, l->manager->settings, &want, a);
        if (r >= 0)
                r = sg_gpus_check_fit(l->manager, want, a);
        if (r < 0)
                sg_gpu_request_free(want);
        else
                *ret = want;
        return r;
}

/* What of it Set may change, as asked for. */
static int read_changes(struct sg_call *call, const struct sg_live *l, struct sg_job *to,
                        struct set_answer *ret, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_call_read(call, &q, a);
        if (r < 0)
                return r;
        apply(&q, l, to);
        r = sg_request_check_cpus(&to->limits, a);
        if (r >= 0)
                r = sg_request_take_threads(&q, a);
        if (r >= 0 && q.asked & SG_ASK_TIME_LIMIT)
                r = sg_adopted_check(l, SG_ADOPTED_GOVERNED, "ended by a time limit", a);
        if (r < 0)
                return r;
        if (q.asked & SG_ASK_THREADS)
                to->limits.threads = q.job.limits.threads;
        r = sg_limits_check(&to->limits, q.asked, l->class, l->manager->settings, &l->manager->node,
                            a);
        if (r >= 0)
                r = read_gpus(&q, l, &ret->gpu, a);
        ret->gpus = r >= 0 && q.asked & SG_ASK_GPU;
        return r;
}

/* Of its own, if it has such: as many as it may have now. */
static struct sg_own_cpus cpus_within(const struct sg_live *l, const struct sg_limits *limits)
{
        if (!l->groups.own)
                return (struct sg_own_cpus){0};
        return sg_live_cpus_of(l, sg_loop_own_cpus(l, limits));
}

/* --- into force, and back --------------------------------------------------------------------- */

/* Of one that has started meanwhile, what it was given stays. */
static void swap_gpus(struct sg_live *l, struct set_answer *a)
{
        struct sg_gpu_request *before = l->job.gpu;

        if (!a->gpus || l->job.state != SG_JOB_QUEUED)
                return;
        if (sg_queue_set_gpus(l->manager->jobs->queue, &l->queued.entry, a->gpu) < 0)
                return;
        l->job.gpu = a->gpu;
        a->gpu = before;
        a->in_force = !a->in_force;
}

/* The kernel holds the limits: now the rest of it may change, too. */
static void take_changes(struct sg_live *l, const struct changes *c, const struct sg_own_cpus *own)
{
        struct sg_queue_entry e = l->queued.entry;

        l->job.limits = c->limits;
        if (l->groups.own)
                (void)sg_live_pin(l, own); /* which it has room for */
        l->job.deadline_usec = c->deadline_usec;
        l->job.priority = c->priority;
        strcpy(l->job.name, c->name);
        sg_queue_describe(l->manager->jobs->queue, &e, &l->job,
                          sg_loop_history(l->manager, &l->job));
        l->queued.entry.size = e.size;
        l->queued.entry.deadline_usec = e.deadline_usec;
        l->queued.entry.limit_usec = e.limit_usec;
        sg_queue_change(l->manager->jobs->queue, &l->queued.entry, e.priority, e.need);
        sg_manager_schedule(l->manager);
        if (l->measured) {
                sg_loop_changed(l);
                sg_monitor_publish(l);
                sg_monitor_wake(l->manager->monitor);
        }
}

static void on_limits_set(struct sg_scope *s, int result, const char *why, void *userdata);

static void set_limits(struct sg_live *l, struct set_answer *a, struct sg_limits limits)
{
        _cleanup_free_ char *why = NULL;
        int r = 0;

        if (l->groups.scope) {
                (void)sg_loop_overlay(l, &limits);
                r = sg_scope_set_limits(l->groups.scope, &limits, &a->own.cpus, on_limits_set, a,
                                        &why);
        }
        l->groups.setting = r > 0;
        if (r <= 0)
                on_limits_set(l->groups.scope, r, why, a);
}

static void refuse(struct set_answer *a, enum sg_answer_kind kind, const char *what,
                   const char *why)
{

        sg_call_refuse_job(a->call, kind, a->n, "%s: %s", what, why);
        set_answer_free(a);
}

static void refuse_unstored(struct set_answer *a)
{
        refuse(a, SG_ANSWER_STORE, "cannot store that", strerror(-a->unstored));
}

/* Also in the store, where a row that was written meanwhile may have brought it. */
static void take_back(struct set_answer *a, int error)
{
        struct sg_live *l = sg_manager_find(a->manager, a->n);

        a->unstored = error;
        if (!l || a->manager->stopping) {
                refuse_unstored(a);
                return;
        }
        a->own = cpus_within(l, &a->from.limits);
        swap_gpus(l, a);
        take_changes(l, &a->from, &a->own);
        if (!sg_life_is_closing(&l->life))
                sg_store_update(a->manager->store, &l->job, NULL, NULL);
        set_limits(l, a, a->from.limits);
}

/* --- the answer ------------------------------------------------------------------------------- */

static int reply_unenforced(const struct set_answer *a)
{
        static const enum sg_value_type limit = SG_VALUE_TEXT;
        struct sg_reply *r = sg_call_reply(a->call);

        sg_reply_open_list(r, "not_enforced", &limit, 1);
        for (unsigned k = 0; k < _SG_LIMIT_MAX; k++)
                if (a->unenforced & (1U << k))
                        sg_reply_text(r, NULL, sg_limit_kind_to_string(k));
        sg_reply_close_list(r);
        return sg_call_send(a->call);
}

/* Nobody is ended by what may yet be taken back. */
static void arm_time_limit(struct sg_live *l)
{
        if ((l->job.state == SG_JOB_RUNNING || l->job.state == SG_JOB_SUSPENDED) &&
            l->job.intent == SG_INTENT_NONE)
                sg_live_arm_time_limit(l);
}

static void on_set_durable(int result, const struct sg_job *job, void *userdata)
{
        struct set_answer *a = userdata;
        struct sg_live *l = sg_manager_find(a->manager, a->n);
        int r;

        (void)job;
        if (result < 0) {
                take_back(a, result);
                return;
        }
        if (l && !a->manager->stopping)
                arm_time_limit(l);
        r = reply_unenforced(a);
        if (r < 0)
                sg_call_fail(a->call, r);
        set_answer_free(a);
}

static void on_limits_set(struct sg_scope *s, int result, const char *why, void *userdata)
{
        struct set_answer *a = userdata;
        struct sg_live *l = sg_manager_find(a->manager, a->n);
        char what[32];

        (void)s;
        if (l)
                l->groups.setting = false;
        if (a->unstored < 0) {
                refuse_unstored(a);
        } else if (result < 0 || !l) {
                (void)snprintf(what, sizeof(what), "job %" PRIu64, a->n);
                refuse(a, SG_ANSWER_INVALID, what, why ?: strerror(-result));
        } else {
                swap_gpus(l, a);
                take_changes(l, &a->to, &a->own);
                if (l->groups.scope)
                        a->unenforced = sg_scope_unenforced(l->groups.scope);
                sg_store_update(a->manager->store, &l->job, on_set_durable, a);
        }
}

static int refuse_full(const struct sg_live *l, uint64_t more, struct sg_answer *a)
{
        const struct sg_ledger *ledger = l->manager->ledger;
        uint32_t uid = (uint32_t)l->job.uid;
        char asked[SG_FORMAT_MAX], held[SG_FORMAT_MAX], max[SG_FORMAT_MAX];

        return sg_refuse_job(
                a, SG_ANSWER_BUSY, l->job.key.n,
                "no room to store that: user %s may store %s for unfinished jobs, %s are in use, "
                "and this needs %s more; cancel some, or wait for them to end",
                l->job.user, sg_format_bytes(max, sg_ledger_limit(ledger, uid, SG_CHARGE_STORED)),
                sg_format_bytes(held, sg_ledger_held(ledger, uid, SG_CHARGE_STORED)),
                sg_format_bytes(asked, more));
}

/* Names of GPUs and of types may be long: they are charged like what was submitted. */
static int charge_gpus(struct sg_live *l, struct set_answer *read, struct sg_answer *answer)
{
        struct sg_job to = l->job; /* borrows */
        int r;

        if (!read->gpus)
                return 0;
        to.gpu = read->gpu;
        read->row_from = sg_job_stored_bytes(&l->job);
        read->row_to = sg_job_stored_bytes(&to);
        r = sg_live_resize_stored(l, read->row_from, read->row_to);
        if (r <= 0)
                return r;
        return refuse_full(l, read->row_to - read->row_from, answer);
}

int sg_api_set(struct sg_call *call, struct sg_live *l, struct sg_answer *answer)
{
        struct sg_job to = l->job; /* borrows the strings; Set changes none of them */
        struct set_answer *a, read = {.gpu = NULL};
        int r;

        r = sg_adopted_check(l, SG_ADOPTED_LIMITED, "limited", answer);
        if (r >= 0)
                r = read_changes(call, l, &to, &read, answer);
        if (r < 0)
                return r;
        r = l->changing ? sg_api_busy(l, answer) : charge_gpus(l, &read, answer);
        a = r < 0 ? NULL : malloc(sizeof(*a));
        if (!a) {
                sg_gpu_request_free(read.gpu);
                if (r >= 0 && read.gpus)
                        (void)sg_live_resize_stored(l, read.row_to, read.row_from);
                return r < 0 ? r : -ENOMEM;
        }
        *a = (struct set_answer){.manager = l->manager,
                                 .call = sg_call_ref(call),
                                 .n = l->job.key.n,
                                 .gpus = read.gpus,
                                 .gpu = read.gpu,
                                 .row_from = read.row_from,
                                 .row_to = read.row_to,
                                 .to = changes_of(&to),
                                 .from = changes_of(&l->job),
                                 .own = cpus_within(l, &to.limits)};
        l->changing = true;
        set_limits(l, a, a->to.limits);
        return 1;
}
