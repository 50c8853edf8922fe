/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The loop's events and its timer. What the governor is told of a job is describe.c, applying its
 * decisions apply.c, keeping what it knows over a restart state.c.
 */
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FRESH_SEC .1     /* what was counted so lately is as good as now */
#define RECOVERY_SEC .05 /* until it is looked again whether all jobs are back */
#define FAILURE_SEC 1

double sg_loop_now(void)
{
        return (double)sg_now_monotonic_usec() / SG_USEC_PER_SEC;
}

static int on_due(sd_event_source *source, uint64_t usec, void *userdata);

/* As the pulse says. */
static void arm(struct sg_loop *loop)
{
        double at = loop->pulse.due;
        uint64_t usec = isinf(at) ? UINT64_MAX : (uint64_t)(at * SG_USEC_PER_SEC);
        int r;

        if (at == loop->armed)
                return;
        loop->armed = at;
        if (loop->timer) {
                r = sd_event_source_set_time(loop->timer, usec);
                if (r >= 0)
                        r = sd_event_source_set_enabled(loop->timer, isinf(at) ? SD_EVENT_OFF
                                                                               : SD_EVENT_ONESHOT);
        } else if (isinf(at)) {
                return;
        } else {
                r = sd_event_add_time(loop->manager->event, &loop->timer, CLOCK_MONOTONIC, usec,
                                      1000, on_due, loop);
        }
        if (r < 0)
                sg_log(LOG_ERR, "cannot set the governor's timer: %s", strerror(-r));
}

void sg_loop_look_by(struct sg_loop *loop, double at)
{
        sg_pulse_by(&loop->pulse, at);
        arm(loop);
}

void sg_loop_look_with_round(struct sg_loop *loop, double at)
{
        sg_pulse_with_round(&loop->pulse, at);
        arm(loop);
}

static void put_off(struct sg_loop *loop, double until)
{
        sg_pulse_put_off(&loop->pulse, until);
        arm(loop);
}

static void look_soon(struct sg_loop *loop, enum sg_decision_cause cause)
{
        loop->causes |= cause;
        loop->dirty = SG_LOOP_CHANGED;
        sg_pulse_event(&loop->pulse, sg_loop_now());
        arm(loop);
}

/* CPU time that the kernel has counted since the last round is read now, not waited for. */
static void read_use(struct sg_live *l, double now)
{
        uint64_t cpu_usec;

        if (sg_monitor_read_cpu(l, (uint64_t)(FRESH_SEC * SG_USEC_PER_SEC), &cpu_usec))
                sg_governor_count(l->manager->loop->governor, l->job.key.n, now,
                                  (double)cpu_usec / SG_USEC_PER_SEC);
}

static void note(struct sg_loop *loop, const struct sg_governor_plan *plan)
{
        unsigned causes = loop->causes ?: SG_CAUSE_TIME;
        int r;

        loop->causes = 0;
        if (!loop->log)
                return;
        r = sg_decision_log_put(loop->log, sg_now_realtime_usec(), causes, plan);
        if (r < 0 && r != loop->log_error)
                sg_log(LOG_WARNING, "cannot write the log of decisions, ignoring: %s",
                       strerror(-r));
        loop->log_error = r < 0 ? r : 0;
}

static int configure(struct sg_loop *loop);

/* CPUs went off or on line, or a group above us has others: a job whose own CPU went gets another
 * one, or fewer, and all CPUs are shared anew. The kernel has moved what ran there. */
static void look_at_cpus(struct sg_loop *loop)
{
        struct sg_manager *m = loop->manager;
        const struct sg_cpuset before = m->node.cpus;
        int r;

        if (!sg_node_look_at_cpus(&m->node))
                return;
        sg_log(LOG_NOTICE, "there are %" PRIu64 " CPUs for jobs now", m->node.n_cpus);
        sg_live_take_cpus(m, &before);
        r = configure(loop);
        if (r < 0)
                sg_log(LOG_ERR, "cannot share the CPUs that there are now: %s", strerror(-r));
        loop->causes |= SG_CAUSE_CHANGE;
        sg_manager_schedule(m);
}

static void step(struct sg_loop *loop)
{
        struct sg_governor_plan plan;
        struct sg_looped *p;
        double now = sg_loop_now();
        int r;

        /* A job that isn't back yet would be taken for one that has gone. */
        if (loop->manager->jobs->n_recovering > 0) {
                put_off(loop, now + RECOVERY_SEC);
                return;
        }
        look_at_cpus(loop);
        sg_list_foreach (p, &loop->jobs, link)
                read_use(p->live, now);
        sg_loop_look_for_servers(loop, now);
        r = sg_governor_step(loop->governor, now, &plan);
        if (r < 0) {
                sg_log(LOG_ERR, "cannot decide on shares: %s; what is in force stays",
                       strerror(-r));
                put_off(loop, now + FAILURE_SEC);
                return;
        }
        sg_pulse_stepped(&loop->pulse, now, plan.next, plan.calm);
        arm(loop);
        sg_loop_apply(loop, &plan, now);
        note(loop, &plan);
        sg_loop_store(loop, now);
}

void sg_loop_round_over(struct sg_loop *loop)
{
        bool calm;

        if (!loop)
                return;
        look_at_cpus(loop);
        calm = loop->causes == 0 || sg_governor_is_calm(loop->governor);
        if (sg_pulse_goes_with_round(&loop->pulse, sg_loop_now(), calm))
                step(loop);
}

/* For whoever wants to see what is decided: steps that were left out are made up for. */
void sg_loop_refresh(struct sg_loop *loop)
{
        if (loop && loop->pulse.calm && loop->causes != 0)
                step(loop);
}

static int on_due(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_loop *loop = userdata;

        (void)source;
        (void)usec;
        loop->armed = INFINITY;
        step(loop);
        return 0;
}

/* Jobs */

/* Tells the governor what is to be known of a job now. */
static void tell(struct sg_live *l)
{
        struct sg_looped *p = l->looped;
        struct sg_governor_job j = sg_loop_describe(l);

        /* A job that is being ended is to save what it has, and to be gone, soon. */
        j.aside = p->awaited || p->serves || l->job.intent != SG_INTENT_NONE;
        if (p->applied.weight == p->own_weight) /* it is what its user says */
                p->applied.weight = (uint32_t)l->job.limits.cpu_weight;
        p->own_weight = (uint32_t)l->job.limits.cpu_weight;
        (void)sg_governor_change(l->manager->loop->governor, &j);
}

static void add(struct sg_loop *loop, struct sg_live *l)
{
        struct sg_governor_job j;
        struct sg_looped *p;
        int r;

        p = calloc(1, sizeof(*p));
        j = sg_loop_describe(l);
        r = p ? sg_governor_add(loop->governor, &j) : -ENOMEM;
        if (r < 0) {
                free(p);
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot be governed: %s", l->job.key.n,
                       strerror(-r));
                return;
        }
        p->live = l;
        p->own_weight = (uint32_t)l->job.limits.cpu_weight;
        /* Of what an earlier daemon left in force only the CPUs are known. */
        p->applied = (struct sg_applied){
                .weight = l->attempt.begun_usec > 0 ? p->own_weight : 0,
                .cap_pm = SG_UNLIMITED,
                .cpus = l->groups.own ? sg_cpuset_count(&l->groups.own->cpus) : 0,
        };
        p->awaited = j.aside;
        sg_list_append(&loop->jobs, &p->link);
        l->looped = p;
        if (l->job.state == SG_JOB_SUSPENDED)
                sg_governor_hold(loop->governor, l->job.key.n, j.now, true);
        look_soon(loop, SG_CAUSE_BEGIN);
}

void sg_loop_expect(struct sg_live *l)
{
        struct sg_loop *loop = l->manager->loop;

        if (!loop || l->looped)
                return;
        add(loop, l);
        if (!l->looped)
                return;
        l->looped->expected = true;
        if (sg_pulse_may_step(&loop->pulse, sg_loop_now()))
                step(loop);
        sg_loop_begin_with(l->looped);
}

void sg_loop_add(struct sg_live *l)
{
        if (l->looped && l->looped->expected) {
                l->looped->expected = false;
                tell(l);
                if (!sg_loop_apply_begun(l->looped, sg_loop_now()))
                        look_soon(l->manager->loop, SG_CAUSE_BEGIN);
        } else if (l->manager->loop && !l->looped) {
                add(l->manager->loop, l);
        }
}

void sg_loop_hold(struct sg_live *l, bool held)
{
        if (!l->looped || l->looped->over)
                return;
        sg_governor_hold(l->manager->loop->governor, l->job.key.n, sg_loop_now(), held);
        look_soon(l->manager->loop, SG_CAUSE_HOLD);
}

void sg_loop_changed(struct sg_live *l)
{
        if (!l->looped)
                return;
        tell(l);
        look_soon(l->manager->loop, SG_CAUSE_CHANGE);
}

void sg_loop_heard(struct sg_live *l, const struct sg_report *report, uint64_t cpu_usec)
{
        struct sg_loop *loop = l->manager->loop;
        double now = sg_loop_now();
        struct sg_learner_report r = {
                .now = now,
                .cpu = (double)cpu_usec / SG_USEC_PER_SEC,
                .counters = report,
                .eval = report->has & SG_REPORT_EVAL ? report->eval : (double)NAN,
        };

        if (!l->looped || cpu_usec == SG_UNLIMITED)
                return;
        if (sg_governor_report(loop->governor, l->job.key.n, &r) < 0)
                return;
        if (loop->dirty == SG_LOOP_CLEAN)
                loop->dirty = SG_LOOP_HEARD;
        loop->causes |= SG_CAUSE_REPORT;
        sg_pulse_report(&loop->pulse, now, l->class->share.tick);
        arm(loop);
}

void sg_loop_over(struct sg_live *l)
{
        struct sg_loop *loop = l->manager->loop;

        if (!l->looped || l->looped->over) /* it is heard of in two ways */
                return;
        l->looped->over = true;
        (void)sg_live_pin(l, NULL);
        sg_governor_hold(loop->governor, l->job.key.n, sg_loop_now(), true);
        look_soon(loop, SG_CAUSE_END);
}

static enum sg_ended how_it_ended(const struct sg_live *l)
{
        const struct sg_job *j = &l->job;

        if (l->looped->expected || l->life.again || j->intent == SG_INTENT_CANCEL ||
            !sg_job_state_is_final(j->state))
                return SG_ENDED_BY_OTHERS;
        return j->state == SG_JOB_EXITED && j->exit_code == 0 ? SG_ENDED_WELL : SG_ENDED_BADLY;
}

void sg_loop_end(struct sg_live *l)
{
        struct sg_looped *p = l->looped;
        const struct sg_job *j = &l->job;

        if (!p)
                return;
        sg_governor_end(l->manager->loop->governor, j->key.n, sg_loop_now(),
                        j->cpu_usec == SG_UNLIMITED ? 0 : (double)j->cpu_usec / SG_USEC_PER_SEC,
                        how_it_ended(l));
        (void)sg_loop_take_back_dropped(l);
        sg_list_remove(&p->link);
        l->looped = NULL;
        free(p);
        look_soon(l->manager->loop, SG_CAUSE_END);
}

double sg_loop_cpus_of_node(const struct sg_manager *m)
{
        return m->loop ? m->loop->node.cpus : (double)m->node.n_cpus;
}

bool sg_loop_holds_shares(const struct sg_manager *m)
{
        return !(sg_backend_unenforced(m->backend) & 1U << SG_LIMIT_CPU_WEIGHT);
}

double sg_loop_share(const struct sg_live *l, char *why, size_t size)
{
        bool suspended = l->job.state == SG_JOB_SUSPENDED;
        char reason[256] = "nothing has been decided yet";
        double share = l->looped ? sg_governor_share(l->manager->loop->governor, l->job.key.n,
                                                     reason, size > 0 ? sizeof(reason) : 0)
                                 : (double)NAN;
        bool enforced = isnan(share) || sg_loop_holds_shares(l->manager);

        if (size > 0)
                (void)snprintf(why, size, "%s%s", enforced ? "" : "not enforced: ",
                               suspended ? "suspended"
                               : l->job.adopted == SG_ADOPTED_OBSERVED
                                       ? "only observed; nothing is set for it"
                                       : reason);
        return suspended ? 0 : share;
}

const char *sg_loop_list(const struct sg_live *l)
{
        if (!sg_loop_decision(l))
                return NULL;
        return sg_share_list_to_string(sg_governor_list(l->manager->loop->governor, l->job.key.n));
}

const struct sg_decision *sg_loop_decision(const struct sg_live *l)
{
        return l->looped ? sg_governor_decision(l->manager->loop->governor, l->job.key.n) : NULL;
}

int sg_loop_explain(const struct sg_live *l, char **ret)
{
        return l->looped ? sg_governor_explain(l->manager->loop->governor, l->job.key.n, ret)
                         : -ENOENT;
}

/* The object */

static int configure(struct sg_loop *loop)
{
        const struct sg_settings *s = loop->manager->settings;
        _cleanup_free_ struct sg_governor_class *classes = calloc(s->n_classes, sizeof(*classes));

        if (!classes)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_classes; i++)
                classes[i] = (struct sg_governor_class){
                        .name = s->classes[i].name,
                        .weight = (double)s->classes[i].weight,
                        .settings = s->classes[i].share,
                };
        loop->node.cpus = fmin((double)loop->manager->node.n_cpus,
                               sg_backend_cpu_quota(loop->manager->backend));
        sg_governor_plan_cpus(loop->governor, true);
        return sg_governor_configure(loop->governor, loop->node.cpus, classes, s->n_classes);
}

void sg_loop_reload(struct sg_manager *m)
{
        struct sg_looped *p;
        int r;

        if (!m->loop)
                return;
        r = configure(m->loop);
        if (r < 0)
                sg_log(LOG_ERR, "cannot change policies: %s; the previous ones go on",
                       strerror(-r));
        sg_list_foreach (p, &m->loop->jobs, link)
                sg_loop_changed(p->live);
        m->loop->causes |= SG_CAUSE_CHANGE;
        step(m->loop); /* who asked for it sees it when it is answered */
}

static void id_of(uint64_t key, char buf[SG_DECISION_ID_MAX], void *userdata)
{
        const struct sg_loop *loop = userdata;
        struct sg_live *l = sg_manager_find(loop->manager, key);

        if (l)
                sg_job_id_format(buf, &l->job.key, loop->manager->node.name);
        else
                (void)snprintf(buf, SG_DECISION_ID_MAX, "%" PRIu64, key);
}

static void open_log(struct sg_loop *loop)
{
        int r = sg_decision_log_open(&loop->log, loop->state_dir, 0, id_of, loop);

        if (r < 0)
                sg_log(LOG_WARNING, "decisions aren't logged: %s", strerror(-r));
}

int sg_loop_new(struct sg_loop **ret, struct sg_manager *m)
{
        struct sg_loop *loop = calloc(1, sizeof(*loop));
        int r;

        if (!loop)
                return -ENOMEM;
        loop->manager = m;
        loop->armed = INFINITY;
        sg_pulse_init(&loop->pulse);
        sg_list_init(&loop->jobs);
        loop->state_dir = strdup(sg_store_dir(m->store));
        r = loop->state_dir ? sg_governor_new(&loop->governor, (double)m->node.n_cpus) : -ENOMEM;
        if (r >= 0)
                r = configure(loop);
        if (r < 0) {
                sg_governor_free(loop->governor);
                free(loop->state_dir);
                free(loop);
                return r;
        }
        sg_loop_recall(loop);
        open_log(loop);
        (void)sg_listeners_new(&loop->listeners);
        *ret = loop;
        return 0;
}

struct sg_loop *sg_loop_free(struct sg_loop *loop)
{
        struct sg_looped *p, *next;

        if (!loop)
                return NULL;
        sg_loop_store_now(loop, sg_loop_now());
        sg_list_foreach_safe (p, next, &loop->jobs, link) {
                p->live->looped = NULL;
                free(p);
        }
        sd_event_source_disable_unref(loop->timer);
        sg_decision_log_close(loop->log);
        sg_listeners_free(loop->listeners);
        sg_governor_free(loop->governor);
        free(loop->state_dir);
        free(loop);
        return NULL;
}
