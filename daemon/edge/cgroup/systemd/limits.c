/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of limits of running scopes: what differs is sent, and read back when systemd has
 * answered.
 *
 * PID 1 does one thing after the other, and others wait for it, too: few changes are on their way
 * to it at a time, one of each unit. Those that wait are sent by how much they change, and give way
 * to a later one of their unit; so what is sent is always the newest.
 */

#include "base/cleanup.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/systemd/property.h"
#include "edge/common/log.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <syslog.h>

/* With one more than the one that it is busy with PID 1 isn't idle, and an urgent one waits for two
 * at most. */
#define IN_FLIGHT_MAX 2

struct change {
        struct sg_list link; /* unit.changes */
        struct sg_scope *scope;
        struct sg_limits limits;
        struct sg_cpuset cpus;
        bool reclaimed;    /* memory.high of `job` is down until the new maximum stands */
        bool all;          /* not only what differs */
        sd_bus_slot *slot; /* NULL: it waits */
        sg_scope_done_cb done;
        void *userdata;
};

static int job_group(const struct sg_scope *s, char path[PATH_MAX])
{
        return sg_fs_limit_group(s, SG_HIER_UNIFIED, true, path);
}

static void end_reclaim(struct change *c)
{
        char job[PATH_MAX];

        if (c->reclaimed && job_group(c->scope, job) == 0)
                (void)sg_group_write_u64(job, "memory.high", SG_UNLIMITED);
        c->reclaimed = false;
}

static void land(struct change *c)
{
        if (!c->slot)
                return;
        c->slot = sd_bus_slot_unref(c->slot);
        c->scope->unit->systemd->n_changing--;
}

static void change_free(struct change *c)
{
        end_reclaim(c);
        sg_list_remove(&c->link);
        land(c);
        free(c);
}

static void give_up(struct change *c, int error, const char *why)
{
        struct sg_scope *s = c->scope;
        sg_scope_done_cb done = c->done;
        void *theirs = c->userdata;

        change_free(c);
        if (done)
                done(s, error, why, theirs);
        else if (error != -ECANCELED)
                sg_log(LOG_WARNING, "%s: its limits can't be set: %s", s->unit->name,
                       why ?: strerror(-error));
}

static int on_soon(sd_event_source *source, void *userdata)
{
        (void)source;
        sg_systemd_send_changes(userdata);
        return 0;
}

/* From callbacks, in which units may come and go. */
static void send_soon(struct sg_systemd *sd)
{
        int r;

        if (sd->changes_source)
                r = sd_event_source_set_enabled(sd->changes_source, SD_EVENT_ONESHOT);
        else
                r = sd_event_add_defer(sd->event, &sd->changes_source, on_soon, sd);
        if (r < 0)
                sg_systemd_later(sd);
}

void sg_unit_forget_changes(struct sg_unit *u)
{
        struct change *c, *next;

        sg_list_foreach_safe (c, next, &u->changes, link)
                give_up(c, -ECANCELED, "it has ended meanwhile");
        send_soon(u->systemd); /* others may have waited for its */
}

static int on_changed(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct change *c = userdata;
        struct sg_scope *s = c->scope;
        struct sg_systemd *sd = s->unit->systemd;
        sg_scope_done_cb done = c->done;
        void *theirs = c->userdata;

        (void)error;
        if (e && sg_systemd_is_away(e)) {
                land(c);
                sg_systemd_later(sd);
                return 0;
        }
        send_soon(sd);
        if (e) { /* also who has ended just now */
                bool gone = sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("NoSuchUnit"));

                give_up(c, gone ? -ECANCELED : -EIO, e->message ?: e->name);
                return 0;
        }
        s->limits = c->limits;
        s->cpus = c->cpus;
        sg_property_read_back(s);
        change_free(c);
        if (done)
                done(s, 0, NULL, theirs);
        return 0;
}

/* A maximum below what is used would make the kernel kill: the job is brought below it first. */
static int make_room(struct change *c, char **why)
{
        const struct sg_scope *s = c->scope;
        uint64_t usage = 0, value = c->limits.memory_max;
        char job[PATH_MAX];
        int r;

        if (value >= s->limits.memory_max || job_group(s, job) < 0 ||
            sg_group_read_u64(job, "memory.current", &usage) < 0 || usage <= value)
                return 0;
        c->reclaimed = true;
        r = sg_limit_reclaim(job, value, why);
        return r == -EBUSY ? r : 0;
}

static int send_change(struct change *c)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        struct sg_unit *u = c->scope->unit;
        struct sg_systemd *sd = u->systemd;
        int r;

        r = sg_systemd_new_set(sd, &m, u->name);
        if (r >= 0)
                r = sg_property_append_limits(m, c->scope, c->all, &c->limits, &c->cpus);
        if (r >= 0 && c->all && c->scope->devices_known)
                r = sg_property_append_devices(m, &c->scope->devices, true);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_call_async(sg_bus_connection_get(sd->connection), &c->slot, m,
                                      on_changed, c, 0);
        if (r >= 0)
                sd->n_changing++;
        return r;
}

/* What is given counts twice: what it is taken from has less at once. */
static double moves(uint64_t have, uint64_t want)
{
        return want > have ? 2 * (double)(want - have) : (double)(have - want);
}

/* Somebody waits for those that have a callback. */
static double urgency(const struct change *c)
{
        const struct sg_limits *have = &c->scope->limits, *want = &c->limits;

        return c->done || c->all ? INFINITY
                                 : fmax(moves(have->cpu_weight, want->cpu_weight),
                                        moves(have->cpu_quota_pm, want->cpu_quota_pm));
}

/* NULL: none waits that could be sent. */
static struct change *most_urgent(struct sg_systemd *sd)
{
        struct change *found = NULL;
        struct sg_unit *u;

        sg_list_foreach (u, &sd->units, all) {
                struct change *c = sg_list_entry(u->changes.next, struct change, link);

                if (!sg_list_empty(&u->changes) && !c->slot &&
                    (!found || urgency(c) > urgency(found)))
                        found = c;
        }
        return found;
}

static bool same_limits(const struct sg_scope *s, const struct sg_limits *l,
                        const struct sg_cpuset *cpus)
{
        struct sg_limits ours = s->limits;

        ours.time_limit_usec = l->time_limit_usec; /* not systemd's business */
        return memcmp(&ours, l, sizeof(ours)) == 0 &&
               (!l->pin || (cpus && memcmp(&s->cpus, cpus, sizeof(*cpus)) == 0));
}

void sg_systemd_send_changes(struct sg_systemd *sd)
{
        struct change *c;
        int r;

        while (sd->n_changing < IN_FLIGHT_MAX && (c = most_urgent(sd))) {
                if (!c->done && !c->all && same_limits(c->scope, &c->limits, &c->cpus)) {
                        change_free(c); /* back to what it was before it was sent */
                        continue;
                }
                r = send_change(c);
                if (sg_systemd_is_lost(r))
                        return;
                if (r < 0)
                        give_up(c, r, NULL);
        }
}

/* A later one says all that those say that still wait, unless somebody waits for one of them. */
static bool replace_waiting(struct sg_unit *u)
{
        struct change *c, *next;
        bool all = false;

        sg_list_foreach_safe (c, next, &u->changes, link) {
                if (c->slot || c->done || c->reclaimed)
                        continue;
                all = all || c->all;
                change_free(c);
        }
        return all;
}

static int change(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                  bool all, sg_scope_done_cb done, void *userdata, char **why)
{
        struct change *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        sg_list_init(&c->link);
        c->scope = s;
        c->limits = *l;
        if (cpus)
                c->cpus = *cpus;
        c->limits.pin = l->pin && sg_cpuset_count(&c->cpus) > 0;
        c->done = done;
        c->userdata = userdata;
        r = make_room(c, why);
        if (r < 0) {
                change_free(c);
                return r;
        }
        c->all = replace_waiting(s->unit) || all;
        sg_list_append(&s->unit->changes, &c->link);
        if (done) /* which isn't called from here */
                send_soon(s->unit->systemd);
        else
                sg_systemd_send_changes(s->unit->systemd);
        return 1;
}

int sg_unit_ask_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                       sg_scope_done_cb done, void *userdata, char **ret_why)
{
        struct sg_unit *u = s->unit;

        if (s->n_dirs == 0) { /* the unit isn't there yet */
                s->limits = *l;
                if (cpus)
                        s->cpus = *cpus;
                u->stale = u->stale || u->step > SG_UNIT_WAITING;
                return 0;
        }
        if (sg_list_empty(&u->changes) && same_limits(s, l, cpus))
                return 0;
        return change(s, l, cpus, false, done, userdata, ret_why);
}

void sg_unit_reapply(struct sg_scope *s)
{
        _cleanup_free_ char *why = NULL;
        struct sg_limits limits = s->limits;
        struct sg_cpuset cpus = s->cpus;
        int r;

        r = change(s, &limits, &cpus, true, NULL, NULL, &why);
        if (r < 0)
                sg_log(LOG_WARNING, "%s: its limits can't be set: %s", s->unit->name,
                       why ?: strerror(-r));
}
