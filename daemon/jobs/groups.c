/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The groups of a live job: made for an attempt or found again after a restart, with the devices of
 * its class and CPUs of its own, and dropped when nothing lives in them.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "core/place/cpus.h"
#include "core/place/device.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <syslog.h>

void sg_groups_init(struct sg_groups *g)
{
        g->events = -1;
        sg_list_init(&g->active_link);
}

void sg_groups_deinit(struct sg_live *l)
{
        sg_list_remove(&l->groups.active_link);
        sg_live_unwatch_group(l);
        sg_scope_free(l->groups.scope);
        free(l->groups.own);
}

/* A device that isn't there (yet) can't be opened either: its rule is left out. */
static void add_rules(const struct sg_class *class, struct sg_device_list *d)
{
        for (size_t i = 0; i < class->n_devices; i++) {
                const struct sg_device_allow *a = &class->devices[i];
                struct sg_device_rule *rule = &d->rules[d->n];
                struct stat st;

                if (stat(a->path, &st) < 0 || !(S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)))
                        continue;
                *rule = (struct sg_device_rule){
                        .type = S_ISCHR(st.st_mode) ? 'c' : 'b',
                        .major = (int32_t)major(st.st_rdev),
                        .minor = (int32_t)minor(st.st_rdev),
                };
                memcpy(rule->access, a->access, sizeof(a->access));
                d->n++;
        }
}

/* The class's file has gone. The device rules of its jobs stay: the default class's may allow more.
 */
static bool class_is_gone(const struct sg_live *l)
{
        return strcmp(l->class->name, l->job.class) != 0;
}

/* What its class lets it use, and the nodes of its GPUs. Positive: not all of those are known. */
static int job_devices(const struct sg_live *l, struct sg_device_list *ret)
{
        _cleanup_(sg_device_list_deinit) struct sg_device_list class = {
                .closed = l->class->device_closed};

        if (class.closed && l->class->n_devices > 0) {
                class.rules = calloc(l->class->n_devices, sizeof(*class.rules));
                if (!class.rules)
                        return -ENOMEM;
                add_rules(l->class, &class);
        }
        return sg_gpus_devices(l, &class, ret);
}

/* Of GPUs whose nodes aren't known, as their driver says nothing yet, what is in force is the best
 * that there is. */
static int apply_devices(struct sg_live *l, char **ret_why)
{
        _cleanup_(sg_device_list_deinit) struct sg_device_list devices = {0};
        int r;

        if (class_is_gone(l))
                return 0;
        r = job_devices(l, &devices);
        if (r != 0 && (r < 0 || !sg_gpus_answer(l->manager)))
                return r < 0 ? r : 0;
        return sg_scope_set_devices(l->groups.scope, &devices, ret_why);
}

void sg_live_apply_devices(struct sg_live *l)
{
        _cleanup_free_ char *why = NULL;
        int r;

        if (!l->groups.scope || l->job.adopted != SG_ADOPTED_NOT)
                return;
        r = apply_devices(l, &why);
        if (r < 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot set which devices it may open: %s",
                       l->job.key.n, why ?: strerror(-r));
}

void sg_live_apply_class(struct sg_live *l)
{
        _cleanup_free_ char *why = NULL;
        int r;

        if (!l->groups.scope || l->job.adopted != SG_ADOPTED_NOT)
                return;
        r = sg_backend_set_class_weight(l->manager->backend, l->job.class,
                                        sg_loop_class_weight(l->manager, l->class), &why);
        if (r >= 0)
                r = apply_devices(l, &why);
        if (r < 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot apply its class's settings: %s",
                       l->job.key.n, why ?: strerror(-r));
}

/* CPUs of its own */

static void count_cpus(struct sg_live *l, int by)
{
        for (unsigned cpu = 0; l->groups.own && cpu < SG_CPUS_MAX; cpu++)
                if (sg_cpuset_has(&l->groups.own->cpus, cpu))
                        l->manager->jobs->pinned[cpu] += (uint32_t)by;
}

struct sg_own_cpus sg_live_cpus_of(const struct sg_live *l, uint64_t n)
{
        const struct sg_manager *m = l->manager;
        const struct sg_cpus_place place = {.topology = &m->node.topology,
                                            .allowed = &m->node.cpus,
                                            .jobs = m->jobs->pinned,
                                            .stays = l->job.limits.pin};
        struct sg_own_cpus own = l->groups.own ? *l->groups.own : (struct sg_own_cpus){0};

        sg_cpus_resize(&place, n, &own);
        return own;
}

int sg_live_pin(struct sg_live *l, const struct sg_own_cpus *own)
{
        if (own && !l->groups.own) {
                l->groups.own = calloc(1, sizeof(*l->groups.own));
                if (!l->groups.own)
                        return -ENOMEM;
        }
        count_cpus(l, -1);
        if (own) {
                *l->groups.own = *own;
        } else {
                free(l->groups.own);
                l->groups.own = NULL;
        }
        count_cpus(l, 1);
        return 0;
}

void sg_live_take_cpus(struct sg_manager *m, const struct sg_cpuset *before)
{
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->active, groups.active_link) {
                struct sg_own_cpus *own = l->groups.own;

                if (!own)
                        continue;
                count_cpus(l, -1);
                for (size_t i = 0; i < SG_ELEMENTSOF(own->cpus.bits); i++)
                        own->cpus.bits[i] &= ~before->bits[i] | m->node.cpus.bits[i];
                count_cpus(l, 1);
        }
}

static bool is_part_of(const struct sg_cpuset *set, const struct sg_cpuset *all)
{
        unsigned n = 0;

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                n += sg_cpuset_has(set, cpu) && sg_cpuset_has(all, cpu);
        return n > 0 && n == sg_cpuset_count(set) && n < sg_cpuset_count(all);
}

/* After a restart. CPUs that the user asked for (--pin) have been the job's since its start, and
 * are chosen anew only if the kernel has none in force or too many. CPUs that a plan gave stay
 * until the next plan. */
static int pin_again(struct sg_live *l)
{
        const struct sg_node *node = &l->manager->node;
        struct sg_own_cpus own = {.cpus = sg_scope_cpus(l->groups.scope)};
        unsigned n = sg_cpuset_count(&own.cpus);

        own.home = sg_cpus_home(&node->topology, &own.cpus);
        if (!l->job.limits.pin)
                return is_part_of(&own.cpus, &node->cpus) ? sg_live_pin(l, &own) : 0;
        if (n == 0 || n > l->job.limits.cpus_max) {
                own = sg_live_cpus_of(l, l->job.limits.cpus);
                (void)sg_scope_set_limits(l->groups.scope, &l->job.limits, &own.cpus, NULL, NULL,
                                          NULL);
        }
        return sg_live_pin(l, &own);
}

/* CPUs of the node that its class may have. */
uint64_t sg_live_usable_cpus(const struct sg_live *l)
{
        uint64_t most = l->class->limits_max.cpus_max, n = l->manager->node.n_cpus;

        return most < n ? most : n;
}

struct sg_thread_range sg_live_threads(const struct sg_live *l)
{
        return sg_job_threads(&l->job, sg_live_usable_cpus(l));
}

/* What is asked of the backend. Its devices are the caller's. Positive: see job_devices(). */
static int describe(const struct sg_live *l, struct sg_scope_request *ret,
                    struct sg_own_cpus *ret_own)
{
        uint64_t n_cpus = sg_loop_own_cpus(l, &l->job.limits);

        *ret = (struct sg_scope_request){
                .key = &l->job.key,
                .description = l->job.name,
                .stop_usec = l->manager->settings->kill_grace_usec,
                .class = l->job.class,
                .class_weight = sg_loop_class_weight(l->manager, l->class),
                .limits = l->job.limits,
                .devices_stay = class_is_gone(l),
        };
        (void)sg_loop_overlay(l, &ret->limits);
        if (n_cpus > 0) {
                ret->limits.pin = true;
                *ret_own = sg_live_cpus_of(l, n_cpus);
                ret->cpus = ret_own->cpus;
        }
        return job_devices(l, &ret->devices);
}

static void take_scope(struct sg_live *l, struct sg_scope *scope)
{
        l->groups.scope = scope;
        sg_list_append(&l->manager->jobs->active, &l->groups.active_link);
}

static void leave_scope(struct sg_live *l)
{
        (void)sg_live_pin(l, NULL);
        sg_list_remove(&l->groups.active_link);
        l->groups.scope = sg_scope_free(l->groups.scope);
}

static int make_scope(struct sg_live *l, char **ret_why)
{
        struct sg_scope_request req;
        struct sg_own_cpus own = {0};
        struct sg_scope *scope;
        int r;

        r = describe(l, &req, &own);
        if (r < 0)
                return r;
        if (r > 0) {
                sg_device_list_deinit(&req.devices);
                return -ENODEV;
        }
        r = sg_scope_new(&scope, l->manager->backend, &req, ret_why);
        sg_device_list_deinit(&req.devices);
        if (r < 0)
                return r;
        take_scope(l, scope);
        r = req.limits.pin ? sg_live_pin(l, &own) : 0;
        if (r < 0) {
                (void)sg_scope_remove(scope);
                leave_scope(l);
        }
        return r;
}

static int make(struct sg_live *l, char **ret_why)
{
        int r;

        /* Where the backend gives turns, shares are decided when the turn comes (on_turn()), unless
         * the job's environment has to say now with how many threads it begins. */
        if (!sg_backend_gives_turns(l->manager->backend) ||
            l->job.limits.threads == SG_THREADS_START)
                sg_loop_expect(l);
        r = make_scope(l, ret_why);
        if (r < 0)
                sg_loop_end(l);
        return r;
}

/* The process of `run` is there already: its scope is made while its start is being stored. */
static int place_runner(struct sg_live *l)
{
        int r;

        if (!l->runner || !l->runner->here)
                return 0;
        r = sg_live_place(l, l->runner->pid, l->runner->pidfd);
        if (r == 0)
                sg_live_result_kind(l, SG_LIFE_E_PLACED);
        return r;
}

static void begin_attempt(struct sg_attempt *a)
{
        free(TAKE_PTR(a->counters));
        a->ready_pid = 0;
        a->runs_since_usec = a->let_go_usec = 0;
        a->claim = SG_CLAIM_NONE;
        a->begun_usec = sg_now_realtime_usec();
}

void sg_do_make_groups(struct sg_live *l)
{
        _cleanup_free_ char *why = NULL;
        struct sg_life_event e = {.kind = SG_LIFE_E_GROUPS_FAILED, .what = "make its groups"};

        begin_attempt(&l->attempt);
        l->attempt.log_before = sg_live_log_size(l);
        e.error = sg_gpus_grant(l);
        if (e.error < 0)
                e.what = "get its GPUs";
        else
                e.error = make(l, &why);
        e.why = why;
        if (e.error < 0)
                sg_gpus_release(l, false);
        if (e.error >= 0) {
                sg_manager_fault(l->manager, "groups-made");
                e.what = "get a scope";
                e.error = place_runner(l);
        }
        if (e.error >= 0)
                e.kind = SG_LIFE_E_GROUPS_MADE;
        sg_live_result(l, &e);
}

int sg_live_find_scope(struct sg_live *l, pid_t shim)
{
        struct sg_scope_request req;
        struct sg_own_cpus own = {0};
        struct sg_scope *scope;
        int r;

        if (l->groups.scope)
                return 0;
        r = describe(l, &req, &own);
        if (r < 0)
                return r;
        req.devices_stay |= r > 0 || sg_gpus_keeps_devices(l);
        req.shim = shim;
        r = sg_scope_adopt(&scope, l->manager->backend, &req);
        sg_device_list_deinit(&req.devices);
        if (r < 0)
                return r;
        take_scope(l, scope);
        r = pin_again(l);
        if (r < 0)
                leave_scope(l);
        return r;
}

/* Groups that others made have no `keeper`: all of them is the job. */
static enum sg_membership adopted_membership(const struct sg_live *l, const char *group)
{
        size_t n = l->job.group ? strlen(l->job.group) : 0;

        return n > 0 && strncmp(group, l->job.group, n) == 0 &&
                               (group[n] == '/' || group[n] == '\0')
                       ? SG_MEMBER_JOB
                       : SG_MEMBER_NOT;
}

enum sg_membership sg_live_membership(const struct sg_live *l, const char *group,
                                      const char *group_v1)
{
        enum sg_membership part = SG_MEMBER_NOT;

        if (l->job.adopted)
                return adopted_membership(l, group);
        if (group[0])
                part = sg_scope_membership(l->groups.scope, SG_HIER_UNIFIED, group);
        if (part == SG_MEMBER_NOT && group_v1[0])
                part = sg_scope_membership(l->groups.scope, SG_HIER_MEMORY, group_v1);
        return part;
}

const char *sg_live_unified_group(const struct sg_live *l)
{
        size_t n;
        const struct sg_group_dir *dirs = sg_scope_dirs(l->groups.scope, &n);

        for (size_t i = 0; i < n; i++)
                if (dirs[i].hier == SG_HIER_UNIFIED)
                        return dirs[i].path;
        return NULL;
}

/* 0, or -EBUSY while something lives in them. */
int sg_live_drop_scope(struct sg_live *l)
{
        if (l->groups.scope && sg_scope_remove(l->groups.scope) == -EBUSY)
                return -EBUSY;
        sg_loop_end(l);
        sg_monitor_forget(l);
        /* A job that ended while no daemon ran may have left an allocation, though no groups. */
        sg_monitor_unpublish(l);
        if (!l->groups.scope)
                return 0;
        leave_scope(l);
        return 0;
}

void sg_do_find_groups(struct sg_live *l)
{
        int r = sg_live_find_scope(l, 0);

        if (r < 0 && r != -ENOENT)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot find its groups again: %s", l->job.key.n,
                       strerror(-r));
}

void sg_do_drop_groups(struct sg_live *l)
{
        if (sg_live_drop_scope(l) == -EBUSY) {
                sg_live_result_kind(l, SG_LIFE_E_GROUPS_BUSY);
                return;
        }
        free(l->attempt.record);
        l->attempt.record = NULL;
        sg_gpus_release(l, l->attempt.let_go_usec > 0 || l->job.started_usec > 0);
        sg_live_result_kind(l, SG_LIFE_E_GROUPS_GONE);
}

void sg_do_kill_groups(struct sg_live *l)
{
        (void)sg_scope_signal(l->groups.scope, SIGKILL);
}
