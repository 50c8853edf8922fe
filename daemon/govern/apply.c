/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a plan to the kernel: what differs from what is in force is written, job by job. What can't
 * be written now is tried again.
 */
#include "adopt/adopt.h"
#include "base/format.h"
#include "edge/common/log.h"
#include "govern/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RETRY_SEC 1

const struct sg_cpuset *sg_loop_overlay(const struct sg_live *l, struct sg_limits *limits)
{
        const struct sg_looped *p = l->looped;

        if (p) {
                if (p->applied.weight > 0 && p->applied.weight != p->own_weight)
                        limits->cpu_weight = p->applied.weight;
                if (p->applied.cap_pm < limits->cpu_quota_pm)
                        limits->cpu_quota_pm = p->applied.cap_pm;
        }
        if (!l->groups.own)
                return NULL;
        limits->pin = true;
        return &l->groups.own->cpus;
}

uint64_t sg_loop_threads(const struct sg_live *l)
{
        return l->looped ? l->looped->applied.threads : 0;
}

uint64_t sg_loop_cpus(const struct sg_live *l)
{
        return sg_loop_threads(l) ?: sg_live_threads(l).least;
}

/* A pinned job has as many CPUs of its own as threads, but no more than a plan gives it. */
uint64_t sg_loop_own_cpus(const struct sg_live *l, const struct sg_limits *limits)
{
        uint64_t plan = l->looped ? l->looped->applied.cpus : 0, own = sg_loop_cpus(l);

        if (!limits->pin)
                return plan;
        own = own < limits->cpus ? limits->cpus : own > limits->cpus_max ? limits->cpus_max : own;
        return plan > 0 && plan < own ? plan : own;
}

static bool can_be_limited(const struct sg_live *l)
{
        return l->groups.scope &&
               (l->job.adopted == SG_ADOPTED_NOT ||
                (l->job.adopted == SG_ADOPTED_GOVERNED && sg_adopted_is_limited(l)));
}

static bool can_be_confined(const struct sg_live *l)
{
        return l->job.adopted == SG_ADOPTED_NOT &&
               !(sg_backend_unenforced(l->manager->backend) & 1U << SG_LIMIT_CPUSET);
}

/* Without memory the job keeps the CPUs that it has. */
static void choose_cpus(struct sg_live *l)
{
        uint64_t n = sg_loop_own_cpus(l, &l->job.limits);
        struct sg_own_cpus own = sg_live_cpus_of(l, n);

        (void)sg_live_pin(l, n > 0 ? &own : NULL);
}

/* Whether the change is in force, or on its way. */
static bool write_cpu(struct sg_live *l)
{
        _cleanup_free_ char *why = NULL;
        struct sg_limits limits = l->job.limits;
        const struct sg_cpuset *cpus;
        int r;

        if (l->groups.setting) /* its user's change first, which may yet be refused */
                return false;
        choose_cpus(l);
        cpus = sg_loop_overlay(l, &limits);
        r = sg_scope_set_limits(l->groups.scope, &limits, cpus, NULL, NULL, &why);
        if (r < 0 && r != -ENOTCONN && sg_scope_populated(l->groups.scope) > 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": its share can't be set: %s", l->job.key.n,
                       why ?: strerror(-r));
        return r >= 0;
}

static const char dropped_reason[] =
        "its deadline can't be met any more: it gets what the others leave";

static bool is_told_dropped(const struct sg_live *l)
{
        return l->job.reason && strcmp(l->job.reason, dropped_reason) == 0;
}

/* A reason for the job's end stays. */
bool sg_loop_take_back_dropped(struct sg_live *l)
{
        bool told = is_told_dropped(l);

        if (told)
                sg_job_clear_reason(&l->job);
        return told;
}

/* The job's user hears of it once, as of all that becomes of a job, and also if it is taken
 * back. */
static void tell_dropped(struct sg_live *l, bool dropped)
{
        bool news =
                !dropped ? sg_loop_take_back_dropped(l)
                         : !l->job.reason && sg_job_set_reason(&l->job, "%s", dropped_reason) >= 0;

        if (news)
                sg_live_changed(l);
}

static struct sg_want_job describe(const struct sg_looped *p)
{
        const struct sg_thread_range threads = sg_live_threads(p->live);

        return (struct sg_want_job){.own_weight = p->own_weight,
                                    .cpus = threads.least,
                                    .cpus_max = threads.most,
                                    .foreground = p->live->job.foreground,
                                    .confinable = can_be_confined(p->live)};
}

/* Other jobs, or CPUs, have come and gone: the job could have better CPUs, if only as many. */
static bool is_misplaced(const struct sg_live *l)
{
        uint64_t n = sg_loop_own_cpus(l, &l->job.limits);
        struct sg_own_cpus own;

        if (!l->groups.own || n == 0)
                return false;
        if (l->job.limits.pin && sg_cpuset_count(&l->groups.own->cpus) == n) /* it stays */
                return false;
        own = sg_live_cpus_of(l, n);
        return memcmp(&own.cpus, &l->groups.own->cpus, sizeof(own.cpus)) != 0;
}

/* Notes what a decision says of a job, whether anything is written or not. */
static void heed(struct sg_looped *p, const struct sg_decision *d)
{
        if ((d->out.list == SG_LIST_DROPPED) != (p->list == SG_LIST_DROPPED))
                tell_dropped(p->live, d->out.list == SG_LIST_DROPPED);
        p->list = d->out.list;
        p->reports = d->estimate.n_reports > 0;
}

static void apply(struct sg_loop *loop, struct sg_looped *p, const struct sg_decision *d,
                  double now)
{
        struct sg_live *l = p->live;
        const struct sg_want_job job = describe(p);
        struct sg_applied before = p->applied;
        double due;
        const struct sg_planned planned = {
                .want = sg_want(&job, &d->out, loop->node.cpus),
                .moved = d->out.list != p->list,
                .misplaced = is_misplaced(l),
                .now = now,
                .interval = l->class->share.tick,
                .most = loop->most,
        };
        unsigned write = sg_diff_writes(&p->applied, &p->changed, &planned, &due);

        heed(p, d);
        sg_loop_look_by(loop, due);
        if (write == 0 || !can_be_limited(l))
                return;
        p->applied = sg_diff_applied(&before, &planned.want, write);
        if ((write != SG_WRITE_THREADS || l->groups.own) && !write_cpu(l)) {
                p->applied = before;
                sg_loop_look_by(loop, now + RETRY_SEC);
                return;
        }
        p->changed.any = now;
        if (write & SG_WRITE_ALLOCATION) {
                p->changed.allocation = now;
                sg_monitor_publish(l);
        }
}

static void apply_classes(struct sg_loop *loop, const struct sg_governor_plan *plan)
{
        for (size_t i = 0; i < plan->n_classes; i++) {
                _cleanup_free_ char *why = NULL;
                const struct sg_class_decision *c = &plan->classes[i];
                int r = c->weight == 0 ? 0
                                       : sg_backend_set_class_weight(loop->manager->backend,
                                                                     c->name, c->weight, &why);

                if (r < 0)
                        sg_log(LOG_WARNING, "class %s: its weight can't be set: %s", c->name,
                               why ?: strerror(-r));
        }
}

static bool gives_cpus(const struct sg_looped *p, const struct sg_decision *d)
{
        return d->out.cpus < p->applied.cpus;
}

static bool gets_turn(const struct sg_looped *p, const struct sg_decision *d)
{
        return d->out.list != p->list && d->out.weight > p->applied.weight;
}

static bool is_any(const struct sg_looped *p, const struct sg_decision *d)
{
        (void)p;
        (void)d;
        return true;
}

/* Jobs that give up CPUs come first, so that others can have them; then those whose turn begins, as
 * systemd takes one change after the other. A plan that was applied and is planned again writes
 * nothing. */
void sg_loop_apply(struct sg_loop *loop, const struct sg_governor_plan *plan, double now)
{
        static bool (*const passes[])(const struct sg_looped *p, const struct sg_decision *d) = {
                gives_cpus, gets_turn, is_any};

        apply_classes(loop, plan);
        loop->most = 0;
        for (size_t i = 0; i < plan->n_jobs; i++)
                if (plan->jobs[i]->out.weight > loop->most)
                        loop->most = plan->jobs[i]->out.weight;
        for (size_t pass = 0; pass < SG_ELEMENTSOF(passes); pass++)
                for (size_t i = 0; i < plan->n_jobs; i++) {
                        const struct sg_decision *d = plan->jobs[i];
                        struct sg_live *l = sg_manager_find(loop->manager, d->key);

                        if (!l || !l->looped || l->looped->over)
                                continue;
                        if (l->looped->expected) /* until it runs it has what it began with */
                                heed(l->looped, d);
                        else if (passes[pass](l->looped, d))
                                apply(loop, l->looped, d, now);
                }
}

void sg_loop_begin_with(struct sg_looped *p)
{
        const struct sg_decision *d = sg_loop_decision(p->live);
        const struct sg_loop *loop = p->live->manager->loop;
        const struct sg_want_job job = describe(p);

        p->applied = sg_want_to_begin(&job, d ? &d->out : NULL, loop->node.cpus, loop->most);
        if (p->live->groups.scope) /* else it is made with them */
                choose_cpus(p->live);
        if (p->applied.threads > 0)
                sg_monitor_publish(p->live);
}

bool sg_loop_apply_begun(struct sg_looped *p, double now)
{
        const struct sg_decision *d = sg_loop_decision(p->live);

        p->changed = (struct sg_changed){-INFINITY, -INFINITY};
        if (d)
                apply(p->live->manager->loop, p, d, now);
        return d != NULL;
}

uint64_t sg_loop_class_weight(const struct sg_manager *m, const struct sg_class *class)
{
        uint32_t weight = m->loop ? sg_governor_class_weight(m->loop->governor, class->name) : 0;

        return weight > 0 ? weight : class->weight;
}
