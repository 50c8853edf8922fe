/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making a scope around its shim:
 *
 *   its turn → StartTransientUnit → JobRemoved(done) → is the shim there? → groups
 *                        │              └─ not where it should be → ControlGroup ─┤
 *                        └─ its group fills (arrival.c) → is the shim there? ─────┘
 *
 * Where a scope is to be follows from its slice, and whether the shim is there says the kernel. PID
 * 1 is asked only if it isn't: after a start it has things to do, and doesn't answer for as long as
 * the start itself took.
 *
 * A scope can be made empty when its process dies at the wrong moment, and has been known to be
 * stopped right after its start (systemd 36781): then it is stopped for good and tried once more.
 * When a scope may be asked for, and how often, says core/place/pace.h. What systemd doesn't answer
 * because it is away (a re-execution, the bus's restart) is asked again when it is back.
 */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/layout.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/systemd/property.h"
#include "edge/cgroup/v2.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

/* What the counters of `job` need. */
#define COUNTED                                                                                    \
        (sg_bit(SG_CONTROLLER_MEMORY) | sg_bit(SG_CONTROLLER_PIDS) | sg_bit(SG_CONTROLLER_IO))

static void set_step(struct sg_unit *u, enum sg_unit_step step)
{
        bool before = u->step > SG_UNIT_WAITING, after = step > SG_UNIT_WAITING;

        if (after && !before)
                sg_pace_started(&u->systemd->pace);
        else if (before && !after)
                sg_pace_over(&u->systemd->pace);
        u->step = step;
        u->slot = sd_bus_slot_unref(u->slot);
        sg_unit_forget_arrival(u);
}

static void finish(struct sg_unit *u, int result, const char *why)
{
        sg_scope_done_cb done = u->placing.done;
        void *userdata = u->placing.userdata;

        sg_unit_forget_place(u);
        if (result == 0 && u->stale)
                sg_unit_reapply(u->scope);
        u->stale = false;
        done(u->scope, result, why, userdata); /* may free the unit */
}

static int on_next(sd_event_source *source, uint64_t usec, void *userdata);

static bool looks_by(const struct sg_systemd *sd, uint64_t at)
{
        uint64_t armed;

        return sd->next_timer && sd_event_source_get_enabled(sd->next_timer, NULL) > 0 &&
               sd_event_source_get_time(sd->next_timer, &armed) >= 0 && armed <= at;
}

/* Looks at what is due, and whose turn it is, after that time, unless something else leads to it
 * before. */
static void look_in(struct sg_systemd *sd, uint64_t usec)
{
        uint64_t at = sg_now_monotonic_usec() + usec;
        int r;

        /* Units that are put down as the daemon stops are followed by none. */
        if (looks_by(sd, at) || sd_event_get_state(sd->event) == SD_EVENT_FINISHED)
                return;
        sd->next_timer = sd_event_source_disable_unref(sd->next_timer);
        r = sd_event_add_time(sd->event, &sd->next_timer, CLOCK_MONOTONIC, at, 1, on_next, sd);
        if (r < 0)
                sg_log(LOG_ERR, "cannot set the timer of what systemd is asked: %s", strerror(-r));
}

void sg_systemd_next(struct sg_systemd *sd)
{
        look_in(sd, 0);
}

void sg_systemd_later(struct sg_systemd *sd)
{
        look_in(sd, SG_PACE_RETRY_USEC);
}

void sg_unit_forget_place(struct sg_unit *u)
{
        set_step(u, SG_UNIT_IDLE);
        sg_list_remove(&u->link);
        u->placing.pidfd = sg_close(u->placing.pidfd);
        u->placing.done = NULL;
        if (!sg_list_empty(&u->systemd->placing)) /* somebody may have waited for it */
                sg_systemd_next(u->systemd);
}

/* The class's slice is being stopped or has just gone, by us as it was idle or by somebody else. */
static bool lost_its_slice(const sd_bus_error *e)
{
        return sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("TransactionIsDestructive")) ||
               sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("NoSuchUnit"));
}

static void begin_again(struct sg_unit *u)
{
        set_step(u, SG_UNIT_WAITING);
        sg_systemd_next(u->systemd);
}

static void not_now(struct sg_unit *u)
{
        sg_pace_refused(&u->systemd->pace, sg_now_monotonic_usec());
        begin_again(u);
}

/* It says no, or isn't there at the moment. */
static void refused(struct sg_unit *u, const sd_bus_error *e)
{
        enum sg_pace_setback what = lost_its_slice(e)       ? SG_PACE_CONFLICT
                                    : sg_systemd_is_away(e) ? SG_PACE_AWAY
                                                            : SG_PACE_NO;

        if (!sg_pace_again(&u->setbacks, what)) {
                finish(u, -EIO, e->message ?: e->name);
                return;
        }
        if (what == SG_PACE_CONFLICT)
                u->scope->class->held = false;
        not_now(u);
}

/* Its groups */

int sg_unit_set_group(struct sg_scope *s, const char *control_group)
{
        const struct sg_hierarchy *x = &s->backend->hier[SG_HIER_UNIFIED];
        char *path, *cg;

        if (control_group[0] != '/' || strstr(control_group, "/../"))
                return -EBADMSG;
        cg = strdup(control_group);
        if (!cg || asprintf(&path, "%s%s", x->mount, control_group) < 0) {
                free(cg);
                return -ENOMEM;
        }
        s->n_dirs = 0;
        return sg_scope_put_dir(s, SG_HIER_UNIFIED, path, cg);
}

static void forget_group(struct sg_scope *s)
{
        if (s->n_dirs == 0)
                return;
        sg_scope_drop_dir(s, 0);
        s->n_dirs = 0;
}

void sg_unit_switch_on(struct sg_scope *s)
{
        struct sg_unit *u = s->unit;

        if (!u->switched_on)
                u->switched_on = sg_v2_enable(s->dirs[0].path, COUNTED) != 0;
}

static int make_groups(struct sg_scope *s)
{
        static const char *const pair[] = {"keeper", "job"};
        const char *dir = s->dirs[0].path;
        char group[PATH_MAX];
        int r = 0;

        for (size_t i = 0; r == 0 && i < SG_ELEMENTSOF(pair); i++) {
                r = sg_group_join(group, dir, pair[i]);
                if (r == 0)
                        r = sg_group_mkdir(group);
        }
        if (r == 0)
                r = sg_fs_scope_move(s, s->unit->placing.shim, false);
        if (r == 0)
                sg_unit_switch_on(s);
        return r;
}

/* 0, or why this scope is no good. */
static int occupy(struct sg_scope *s, const char *control_group)
{
        char group[PATH_MAX];
        int r;

        r = sg_group_of_process(s->unit->placing.shim, group);
        if (r < 0)
                return r;
        if (strcmp(group, control_group) != 0)
                return -ENOENT;
        r = sg_unit_set_group(s, control_group);
        if (r == 0)
                r = make_groups(s);
        if (r == 0) {
                r = sg_fs_scope_holds(s, s->unit->placing.shim, false);
                r = r < 0 ? r : r == 0 ? -ENOENT : 0;
        }
        if (r < 0)
                forget_group(s);
        else
                sg_property_read_back(s);
        return r;
}

/* Once more */

static int on_stop_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        (void)error;
        if (sd_bus_message_get_error(reply))
                begin_again(userdata); /* it has gone by itself */
        return 0;                      /* JobRemoved follows */
}

static void try_again(struct sg_unit *u, int error)
{
        enum sg_pace_setback what = error == -ESRCH ? SG_PACE_NO : SG_PACE_MISPLACED;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char why[SG_UNIT_NAME_MAX + 128];
        int r = error;

        if (sg_pace_again(&u->setbacks, what)) {
                sg_log(LOG_NOTICE, "%s does not hold its process: %s; trying once more", u->name,
                       strerror(-error));
                r = sg_systemd_new_call(u->systemd, &m, "StopUnit");
                if (r >= 0)
                        r = sd_bus_message_append(m, "ss", u->name, "replace");
                set_step(u, SG_UNIT_STOPPING);
                if (r >= 0)
                        r = sd_bus_call_async(sg_bus_connection_get(u->systemd->connection),
                                              &u->slot, m, on_stop_reply, u, 0);
        }
        if (r >= 0)
                return;
        (void)sg_systemd_stop_unit(u->systemd, u->name);
        (void)snprintf(why, sizeof(why), "%s was made but does not hold its process: %s", u->name,
                       strerror(-error));
        finish(u, error, why);
}

/* Settles where it should be. */
static int settle(struct sg_unit *u)
{
        const struct sg_hierarchy *x = &u->scope->backend->hier[SG_HIER_UNIFIED];
        char dir[PATH_MAX];
        int r;

        r = sg_unit_expected_dir(u, dir);
        return r < 0 ? r : occupy(u->scope, dir + strlen(x->mount));
}

static void look(struct sg_unit *u);

static void on_made(struct sg_unit *u)
{
        if (settle(u) < 0)
                look(u);
        else
                finish(u, 0, NULL);
}

/* What is wrong, if anything, JobRemoved leads to. */
static void on_arrival(struct sg_unit *u)
{
        if (u->step == SG_UNIT_STARTING && settle(u) >= 0)
                finish(u, 0, NULL);
}

/* Asking */

static int on_control_group(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct sg_unit *u = userdata;
        const char *group;
        int r;

        (void)error;
        if (e) {
                refused(u, e);
                return 0;
        }
        sg_pace_answered(&u->systemd->pace, u->asked_usec, sg_now_monotonic_usec());
        r = sd_bus_message_read(reply, "v", "s", &group);
        if (r >= 0)
                r = occupy(u->scope, group);
        if (r < 0)
                try_again(u, r);
        else
                finish(u, 0, NULL);
        return 0;
}

static void look(struct sg_unit *u)
{
        _cleanup_free_ char *path = NULL;
        int r;

        set_step(u, SG_UNIT_LOOKING);
        u->asked_usec = sg_now_monotonic_usec();
        r = sd_bus_path_encode(SG_SYSTEMD_PATH "/unit", u->name, &path);
        if (r >= 0)
                r = sd_bus_call_method_async(
                        sg_bus_connection_get(u->systemd->connection), &u->slot, SG_SYSTEMD_NAME,
                        path, "org.freedesktop.DBus.Properties", "Get", on_control_group, u, "ss",
                        SG_SYSTEMD_NAME ".Scope", "ControlGroup");
        if (sg_systemd_is_lost(r))
                not_now(u);
        else if (r < 0)
                finish(u, r, NULL);
}

static int on_start_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct sg_unit *u = userdata;

        (void)error;
        if (e && sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("UnitExists"))) {
                u->stale = true; /* asked for before systemd was away, or stopping still */
                look(u);
        } else if (e) {
                refused(u, e);
        } else {
                sg_pace_answered(&u->systemd->pace, u->asked_usec, sg_now_monotonic_usec());
        }
        return 0; /* JobRemoved follows */
}

static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_systemd *sd = userdata;
        const char *unit, *result;
        struct sg_unit *u;

        (void)error;
        if (sd_bus_message_read(m, "uoss", NULL, NULL, &unit, &result) < 0)
                return 0;
        sg_list_foreach (u, &sd->placing, link) {
                if (strcmp(u->name, unit) != 0)
                        continue;
                if (u->step == SG_UNIT_STOPPING)
                        begin_again(u);
                else if (u->step != SG_UNIT_STARTING)
                        break;
                else if (strcmp(result, "done") == 0)
                        on_made(u);
                else
                        try_again(u, -ECANCELED);
                break;
        }
        return 0;
}

static int watch_jobs(struct sg_systemd *sd)
{
        if (sd->jobs_match)
                return 0;
        return sd_bus_match_signal_async(sg_bus_connection_get(sd->connection), &sd->jobs_match,
                                         SG_SYSTEMD_NAME, SG_SYSTEMD_PATH, SG_SYSTEMD_MANAGER,
                                         "JobRemoved", on_job_removed, NULL, sd);
}

static bool has_gone(int pidfd)
{
        struct pollfd fd = {.fd = pidfd, .events = POLLIN};

        return pidfd < 0 || poll(&fd, 1, 0) != 0;
}

static int append_scope(sd_bus_message *m, const struct sg_unit *u)
{
        char slice[SG_UNIT_NAME_MAX];
        int r;

        sg_class_slice_name(slice, u->scope->class->name);
        r = sd_bus_message_append(m, "(sv)(sv)(sv)(sv)(sv)(sv)", "Description", "s",
                                  u->description ?: u->name, "Slice", "s", slice, "PIDs", "au", 1,
                                  (uint32_t)u->placing.shim, "Delegate", "b", 1, "CollectMode", "s",
                                  "inactive-or-failed", "IPAccounting", "b", 1);
        /* When the host goes down, units stop in the opposite order: we before our jobs, so that we
         * don't take the end that it brings them for their own. */
        if (r >= 0 && u->systemd->own_unit)
                r = sd_bus_message_append(m, "(sv)", "Before", "as", 1, u->systemd->own_unit);
        if (r >= 0 && u->stop_usec != SG_UNLIMITED)
                r = sd_bus_message_append(m, "(sv)", "TimeoutStopUSec", "t", u->stop_usec);
        if (r >= 0)
                r = sg_property_append_limits(m, u->scope, true, &u->scope->limits, &u->cpus);
        return r < 0 ? r : sg_property_append_devices(m, &u->scope->devices, false);
}

static int start(struct sg_unit *u)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        struct sg_systemd *sd = u->systemd;
        int r;

        if (has_gone(u->placing.pidfd)) /* its pid may be another's by now */
                return -ESRCH;
        r = watch_jobs(sd);
        if (r < 0)
                return r;
        sg_class_group_hold(sd, u->scope->class);
        r = sg_systemd_new_start(sd, &m, u->name);
        if (r >= 0)
                r = append_scope(m, u);
        if (r >= 0)
                r = sg_systemd_end_start(m);
        if (r < 0)
                return r;
        set_step(u, SG_UNIT_STARTING);
        sg_unit_await_arrival(u, on_arrival);
        u->asked_usec = sg_now_monotonic_usec();
        r = sd_bus_call_async(sg_bus_connection_get(sd->connection), &u->slot, m, on_start_reply, u,
                              0);
        if (!sg_systemd_is_lost(r))
                return r;
        not_now(u);
        return 0;
}

int sg_unit_begin(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus)
{
        struct sg_unit *u = s->unit;
        int r;

        sg_unit_keep_limits(s, l, cpus);
        if (u->step != SG_UNIT_CALLED) /* systemd went away meanwhile: it is called again */
                return 0;
        r = start(u);
        if (r < 0)
                sg_unit_forget_place(u);
        return r;
}

/* Whose turn it is */

static struct sg_unit *first_waiting(const struct sg_systemd *sd)
{
        struct sg_unit *u;

        sg_list_foreach (u, &sd->placing, link)
                if (u->step == SG_UNIT_WAITING)
                        return u;
        return NULL;
}

static bool may_start(struct sg_systemd *sd)
{
        uint64_t wait = sg_pace_wait(&sd->pace, sg_now_monotonic_usec());

        if (wait > 0 && wait != SG_UNLIMITED)
                look_in(sd, wait);
        return wait == 0 && sg_bus_connection_get(sd->connection);
}

static int on_next(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_systemd *sd = userdata;
        struct sg_unit *u;

        (void)source;
        (void)usec;
        sg_systemd_send_due(sd);
        while ((u = first_waiting(sd)) && may_start(sd)) {
                set_step(u, SG_UNIT_CALLED);
                u->placing.turn(u->scope, u->placing.userdata); /* may free the unit */
        }
        return 0;
}

void sg_systemd_retry(struct sg_systemd *sd)
{
        struct sg_unit *u;

        sg_list_foreach (u, &sd->placing, link)
                set_step(u, SG_UNIT_WAITING);
}

int sg_unit_place(struct sg_scope *s, const struct sg_scope_placing *p)
{
        struct sg_unit *u = s->unit;

        u->placing = *p;
        u->placing.pidfd = p->pidfd < 0 ? -1 : fcntl(p->pidfd, F_DUPFD_CLOEXEC, 3);
        if (u->placing.pidfd < 0)
                return -ESRCH;
        u->setbacks = (struct sg_pace_setbacks){0};
        u->step = SG_UNIT_WAITING;
        sg_list_append(&u->systemd->placing, &u->link);
        sg_systemd_next(u->systemd);
        return 1;
}
