/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The systemd backend: transient scopes of the system's manager, or of a user's. What is decided by
 * files of our own two groups (who is in them, freezing, killing, counters) is done on these as in
 * the cgroupfs backend.
 */

#include "edge/cgroup/systemd/systemd.h"
#include "base/cleanup.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/layout.h"
#include "edge/cgroup/systemd/foreign.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/systemd/property.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>
#include <systemd/sd-login.h>

/* Holders and the watch on systemd's jobs outlive the last job by this: the next is often near. */
#define IDLE_USEC (5ULL * 1000000)
/* Slices of classes, and their scopes. */
#define DEPTH_MAX 4

/* Coming and going of the connection */

static int on_up(sd_bus *bus, void *userdata)
{
        struct sg_systemd *sd = userdata;
        struct sg_class_group *c;

        (void)bus;
        sg_list_foreach (c, &sd->backend->classes, list) {
                if (!c->held && c->n_scopes == 0)
                        continue;
                c->held = false; /* it may have gone meanwhile; if not, nothing happens */
                sg_class_group_hold(sd, c);
        }
        sg_systemd_next(sd);
        return 0;
}

static void on_down(sd_bus *bus, void *userdata)
{
        struct sg_systemd *sd = userdata;

        (void)bus;
        sd->jobs_match = sd_bus_slot_unref(sd->jobs_match);
        sg_systemd_retry(sd);
}

static const struct sg_bus_connection_ops connection_ops = {
        .purpose = "unit calls",
        .up = on_up,
        .down = on_down,
};

static int on_idle(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_systemd *sd = userdata;

        (void)source;
        (void)usec;
        if (!sg_bus_connection_get(sd->connection))
                return 0;
        if (sg_list_empty(&sd->placing))
                sd->jobs_match = sd_bus_slot_unref(sd->jobs_match);
        sg_class_group_release_idle(sd);
        return 0;
}

static void idle_later(struct sg_systemd *sd)
{
        sd->idle_timer = sd_event_source_disable_unref(sd->idle_timer);
        (void)sd_event_add_time_relative(sd->event, &sd->idle_timer, CLOCK_MONOTONIC, IDLE_USEC,
                                         IDLE_USEC / 10, on_idle, sd);
}

/* Starting and stopping */

/* Classes whose holders an earlier run has left. */
static int note_held(const char *slice, void *userdata)
{
        struct sg_systemd *sd = userdata;
        char name[SG_CLASS_NAME_MAX], holder[SG_UNIT_NAME_MAX], path[PATH_MAX], below[PATH_MAX];
        struct sg_class_group *c;
        int r;

        if (sg_class_of_slice(name, slice) < 0)
                return 0;
        sg_class_holder_name(holder, sd, name);
        r = sg_group_join(path, sd->backend->hier[SG_HIER_UNIFIED].base, slice);
        if (r == 0)
                r = sg_group_join(below, path, holder);
        if (r < 0 || access(below, F_OK) < 0)
                return r;
        r = sg_class_group_get(sd->backend, name, &c);
        if (r == 0)
                c->held = true;
        return r;
}

static int systemd_start(struct sg_backend *b, const struct sg_backend_options *o, char **ret_why)
{
        struct sg_systemd *sd;
        int r;

        r = sg_systemd_look_around(b, o->user, ret_why);
        if (r < 0)
                return r;
        sd = calloc(1, sizeof(*sd));
        if (!sd)
                return -ENOMEM;
        b->systemd = sd;
        sd->backend = b;
        sd->event = sd_event_ref(o->event);
        sd->user = o->user;
        sg_list_init(&sd->units);
        sg_list_init(&sd->placing);
        sg_changes_init(&sd->changes);
        sg_list_init(&sd->net_waiting);
        if (o->shared)
                (void)snprintf(sd->suffix, sizeof(sd->suffix), ".%s", o->instance);
        if (o->user)
                (void)sd_pid_get_user_unit(0, &sd->own_unit);
        else
                (void)sd_pid_get_unit(0, &sd->own_unit);
        sg_systemd_find_cpus(sd);
        b->list_hier = b->freeze_hier = SG_HIER_UNIFIED;
        b->default_hiers = sg_bit(SG_HIER_UNIFIED);
        sg_systemd_find_unenforced(b, o->user);
        r = sg_systemd_describe(b, o->user);
        if (r >= 0)
                r = sg_group_foreach_child(b->hier[SG_HIER_UNIFIED].base, note_held, sd);
        if (r >= 0)
                r = sg_bus_connection_new(&sd->connection, sd->event, o->user, &connection_ops, sd);
        if (r >= 0)
                idle_later(sd); /* holders of an earlier run */
        return r;
}

/* What runs goes on. Without jobs nothing of ours is left: the calls are out before we close. */
static void systemd_stop(struct sg_backend *b)
{
        struct sg_systemd *sd = b->systemd;
        sd_bus *bus;

        if (sd) {
                bus = sg_bus_connection_get(sd->connection);
                if (bus) {
                        sg_class_group_release_idle(sd);
                        (void)sd_bus_flush(bus);
                }
                sd->jobs_match = sd_bus_slot_unref(sd->jobs_match);
                sg_bus_connection_free(sd->connection);
                sd_event_source_disable_unref(sd->next_timer);
                sd_event_source_disable_unref(sd->idle_timer);
                sd_event_source_disable_unref(sd->changes_source);
                sd_event_unref(sd->event);
                free(sd->own_unit);
                free(sd);
                b->systemd = NULL;
        }
        sg_layout_deinit(b->hier);
}

/* Scopes */

int sg_unit_new(struct sg_scope *s, const char *class)
{
        struct sg_unit *u;
        int r;

        r = sg_class_group_get(s->backend, class, &s->class);
        if (r < 0)
                return r;
        u = calloc(1, sizeof(*u));
        if (!u)
                return -ENOMEM;
        s->unit = u;
        s->cpus = &u->cpus;
        s->class->n_scopes++;
        u->scope = s;
        u->systemd = s->backend->systemd;
        u->placing.pidfd = -1;
        sg_list_append(&u->systemd->units, &u->all);
        sg_list_init(&u->link);
        sg_changing_init(&u->changing, &s->limits, &u->cpus);
        sg_list_init(&u->calls);
        sg_list_init(&u->net.waiting);
        return 0;
}

void sg_unit_free(struct sg_scope *s)
{
        struct sg_unit *u = s->unit;

        if (!u)
                return;
        sg_list_remove(&u->all);
        sd_bus_slot_unref(u->devices_slot);
        sg_unit_forget_place(u);
        sg_unit_forget_changes(u);
        sg_unit_forget_net(u);
        s->class->n_scopes--;
        idle_later(u->systemd);
        free(u->description);
        free(u);
        s->unit = NULL;
        s->cpus = NULL;
}

static int copy_request(struct sg_unit *u, const struct sg_scope_request *req)
{
        u->stop_usec = req->stop_usec;
        if (req->description) {
                u->description = strdup(req->description);
                if (!u->description)
                        return -ENOMEM;
        }
        return 0;
}

static int plan_scope(struct sg_scope *s, const struct sg_scope_request *req, char **why)
{
        char attempt[SG_ATTEMPT_NAME_MAX];
        struct sg_unit *u;
        int r;

        r = sg_unit_new(s, req->class);
        if (r == -EINVAL)
                sg_why(why, "class name '%s' can't be the name of a slice", req->class);
        if (r < 0)
                return r;
        u = s->unit;
        sg_attempt_name_format(attempt, req->key);
        (void)snprintf(u->name, sizeof(u->name), "schedgov-%s%s.scope", attempt,
                       u->systemd->suffix);
        sg_unit_keep_limits(s, &req->limits, &req->cpus);
        if (s->class->weight != req->class_weight)
                sg_class_group_set_weight(u->systemd, s->class, req->class_weight);
        return copy_request(u, req);
}

static int scope_new(struct sg_scope *s, const struct sg_scope_request *req, char **ret_why)
{
        return plan_scope(s, req, ret_why);
}

struct search {
        const char *dir, *name;
        unsigned depth;
        char *found;
};

static int search_below(struct search *s);

static int search_child(const char *name, void *userdata)
{
        struct search *s = userdata, below = *s;
        char path[PATH_MAX];
        int r;

        r = sg_group_join(path, s->dir, name);
        if (r < 0)
                return r;
        if (strcmp(name, s->name) == 0) {
                s->found = strdup(path);
                return s->found ? 1 : -ENOMEM;
        }
        if (!strstr(name, ".slice"))
                return 0;
        below.dir = path;
        below.depth++;
        r = search_below(&below);
        s->found = below.found;
        return r;
}

static int search_below(struct search *s)
{
        return s->depth >= DEPTH_MAX ? 0 : sg_group_foreach_child(s->dir, search_child, s);
}

/* What a former daemon's loop has made of them isn't what the job asked for. */
static void find_share(struct sg_scope *s)
{
        struct sg_limits now;

        sg_scope_read_limits(s, &now);
        s->limits.cpu_weight = now.cpu_weight;
        s->limits.cpu_quota_pm = now.cpu_quota_pm;
}

/* A set that all scopes begin with isn't the scope's own. */
static struct sg_cpuset own_cpus(const struct sg_scope *s, bool wanted)
{
        struct sg_cpuset cpus = sg_group_cpus(s->dirs[0].path);

        if (!wanted && memcmp(&cpus, &s->backend->systemd->cpus, sizeof(cpus)) == 0)
                return (struct sg_cpuset){0};
        return cpus;
}

static int scope_adopt(struct sg_scope *s, const struct sg_scope_request *req)
{
        const struct sg_hierarchy *x = &s->backend->hier[SG_HIER_UNIFIED];
        struct search find = {.dir = x->base};
        _cleanup_free_ char *found = NULL;
        int r;

        r = plan_scope(s, req, NULL);
        if (r < 0)
                return r;
        s->class->held = true; /* by the daemon that started it */
        find.name = s->unit->name;
        r = search_below(&find);
        found = find.found;
        if (r <= 0)
                return r < 0 ? r : -ENOENT;
        r = sg_unit_set_group(s, found + strlen(x->mount));
        if (r >= 0)
                s->unit->cpus = own_cpus(s, req->limits.pin);
        s->limits.pin = sg_cpuset_count(&s->unit->cpus) > 0;
        if (r >= 0) {
                find_share(s);
                sg_property_read_back(s);
        }
        if (r >= 0 && !req->devices_stay)
                sg_unit_adopt_devices(s);
        return r;
}

/* systemd removes a scope that has emptied; ours is only to see that it has. */
static int scope_remove(struct sg_scope *s)
{
        int r = s->n_dirs == 0 ? 0 : sg_group_populated(s->dirs[0].path);

        return r == 0 || r == -ENOENT || r == -ENODEV ? 0 : -EBUSY;
}

static int scope_move(struct sg_scope *s, pid_t pid, bool into_job)
{
        int r = s->n_dirs == 0 ? -ENOENT : sg_fs_scope_holds(s, pid, into_job);

        if (r == 0)
                r = sg_fs_scope_move(s, pid, into_job);
        if (r >= 0)
                sg_unit_switch_on(s);
        return r < 0 ? r : 0;
}

static int scope_holds(const struct sg_scope *s, pid_t pid, bool in_job)
{
        return s->n_dirs == 0 ? 0 : sg_fs_scope_holds(s, pid, in_job);
}

static int scope_signal(struct sg_scope *s, int sig, const uid_t *as)
{
        return s->n_dirs == 0 ? 0 : sg_fs_scope_signal(s, sig, as);
}

static int scope_populated(const struct sg_scope *s)
{
        return s->n_dirs == 0 ? 0 : sg_fs_scope_populated(s);
}

static void scope_counters(struct sg_scope *s, struct sg_counters *ret)
{
        sg_counters_read(s->dirs, s->n_dirs, ret);
}

static int sweep(struct sg_backend *b, sg_owned_cb owned, void *userdata)
{
        (void)b;
        (void)owned;
        (void)userdata;
        return 0;
}

const struct sg_backend_ops sg_systemd_ops = {
        .name = "systemd",
        .start = systemd_start,
        .stop = systemd_stop,
        .scope_new = scope_new,
        .scope_adopt = scope_adopt,
        .scope_free = sg_unit_free,
        .scope_place = sg_unit_place,
        .scope_begin = sg_unit_begin,
        .scope_remove = scope_remove,
        .scope_move = scope_move,
        .scope_holds = scope_holds,
        .scope_ask_limits = sg_unit_ask_limits,
        .scope_set_devices = sg_unit_set_devices,
        .class_set_weight = sg_class_group_change_weight,
        .scope_freeze = sg_fs_scope_freeze,
        .scope_frozen = sg_fs_scope_frozen,
        .scope_signal = scope_signal,
        .scope_populated = scope_populated,
        .scope_counters = scope_counters,
        .scope_net = sg_unit_net,
        .sweep = sweep,
};
