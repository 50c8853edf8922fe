/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Changes of limits of running scopes: what differs is sent, and read back when systemd has
 * answered.
 * Which is sent when, and which needn't be any more, says core/place/changes.h.
 */

#include "base/cleanup.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/systemd/property.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

struct change {
        struct sg_change base; /* prepared: memory.high of `job` is down until the new maximum is
                                  in force */
        struct sg_scope *scope;
        sd_bus_slot *slot; /* while it is in flight */
        sg_scope_done_cb done;
        void *userdata;
};

static struct change *change_of(struct sg_change *base)
{
        return base ? sg_list_entry(base, struct change, base) : NULL;
}

static int job_group(const struct sg_scope *s, char path[PATH_MAX])
{
        return sg_fs_limit_group(s, SG_HIER_UNIFIED, true, path);
}

static void end_reclaim(struct change *c)
{
        char job[PATH_MAX];

        if (c->base.prepared && job_group(c->scope, job) == 0)
                (void)sg_group_write_u64(job, "memory.high", SG_UNLIMITED);
}

static void change_free(struct change *c)
{
        end_reclaim(c);
        sd_bus_slot_unref(c->slot);
        free(c);
}

static void drop(struct change *c)
{
        sg_changes_remove(&c->scope->unit->systemd->changes, &c->base);
        change_free(c);
}

static void give_up(struct change *c, int error, const char *why)
{
        struct sg_scope *s = c->scope;
        sg_scope_done_cb done = c->done;
        void *theirs = c->userdata;

        drop(c);
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
        struct sg_change *c, *next;

        sg_list_foreach_safe (c, next, &u->changing.changes, link)
                give_up(change_of(c), -ECANCELED, "it has ended meanwhile");
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
                c->slot = sd_bus_slot_unref(c->slot);
                sg_changes_back(&sd->changes, &c->base);
                sg_systemd_later(sd);
                return 0;
        }
        send_soon(sd);
        if (e) { /* also who has ended just now */
                bool gone = sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("NoSuchUnit"));

                give_up(c, gone ? -ECANCELED : -EIO, e->message ?: e->name);
                return 0;
        }
        s->limits = c->base.limits;
        s->unit->cpus = c->base.cpus;
        sg_property_read_back(s);
        drop(c);
        if (done)
                done(s, 0, NULL, theirs);
        return 0;
}

/* A maximum below what is used would make the kernel kill: the job is brought below it first. */
static int make_room(struct change *c, char **why)
{
        const struct sg_scope *s = c->scope;
        uint64_t usage = 0, value = c->base.limits.memory_max;
        char job[PATH_MAX];
        int r;

        if (value >= s->limits.memory_max || job_group(s, job) < 0 ||
            sg_group_read_u64(job, "memory.current", &usage) < 0 || usage <= value)
                return 0;
        c->base.prepared = true;
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
                r = sg_property_append_limits(m, c->scope, c->base.all, &c->base.limits,
                                              &c->base.cpus);
        if (r >= 0 && c->base.all && c->scope->devices_known)
                r = sg_property_append_devices(m, &c->scope->devices, true);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sd_bus_call_async(sg_bus_connection_get(sd->connection), &c->slot, m,
                                      on_changed, c, 0);
        if (r >= 0)
                sg_changes_sent(&sd->changes, &c->base);
        return r;
}

void sg_systemd_send_changes(struct sg_systemd *sd)
{
        struct change *c;
        int r;

        while ((c = change_of(sg_changes_next(&sd->changes)))) {
                if (sg_change_is_void(&c->base)) {
                        drop(c);
                        continue;
                }
                r = send_change(c);
                if (sg_systemd_is_lost(r))
                        return;
                if (r < 0)
                        give_up(c, r, NULL);
        }
}

static void free_all(struct sg_list *changes)
{
        struct sg_change *c, *next;

        sg_list_foreach_safe (c, next, changes, link)
                change_free(change_of(c));
}

static int change(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                  bool all, sg_scope_done_cb done, void *userdata, char **why)
{
        struct change *c = calloc(1, sizeof(*c));
        struct sg_list replaced = SG_LIST_INIT(replaced);
        int r;

        if (!c)
                return -ENOMEM;
        c->scope = s;
        c->base = (struct sg_change){.limits = *l, .all = all, .awaited = done};
        if (cpus)
                c->base.cpus = *cpus;
        c->base.limits.pin = l->pin && sg_cpuset_count(&c->base.cpus) > 0;
        c->done = done;
        c->userdata = userdata;
        r = make_room(c, why);
        if (r < 0) {
                change_free(c);
                return r;
        }
        sg_changes_add(&s->unit->systemd->changes, &s->unit->changing, &c->base, &replaced);
        free_all(&replaced);
        if (done) /* which isn't called from here */
                send_soon(s->unit->systemd);
        else
                sg_systemd_send_changes(s->unit->systemd);
        return 1;
}

void sg_unit_keep_limits(struct sg_scope *s, const struct sg_limits *l,
                         const struct sg_cpuset *cpus)
{
        s->limits = *l;
        if (cpus)
                s->unit->cpus = *cpus;
        s->limits.pin = l->pin && sg_cpuset_count(&s->unit->cpus) > 0;
}

int sg_unit_ask_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                       sg_scope_done_cb done, void *userdata, char **ret_why)
{
        struct sg_unit *u = s->unit;

        if (s->n_dirs == 0) { /* the unit isn't there yet */
                sg_unit_keep_limits(s, l, cpus);
                u->stale = u->stale || u->step > SG_UNIT_CALLED;
                return 0;
        }
        if (!sg_changing_wants(&u->changing, l, cpus))
                return 0;
        return change(s, l, cpus, false, done, userdata, ret_why);
}

void sg_unit_reapply(struct sg_scope *s)
{
        _cleanup_free_ char *why = NULL;
        struct sg_limits limits = s->limits;
        struct sg_cpuset cpus = s->unit->cpus;
        int r;

        r = change(s, &limits, &cpus, true, NULL, NULL, &why);
        if (r < 0)
                sg_log(LOG_WARNING, "%s: its limits can't be set: %s", s->unit->name,
                       why ?: strerror(-r));
}
