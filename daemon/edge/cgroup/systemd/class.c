/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A class is a slice of systemd's below schedgov.slice. systemd switches a controller on for a
 * slice's members when the first of them needs it and off when the last has gone, which costs the
 * next job's start some 60 ms and makes open files of neighbours fail with ENODEV. So an active
 * class keeps a holder: an empty slice in its own that needs them all. It has no process.
 *
 * The class's slice is never made by us, but comes with its first member, ours or somebody else's:
 * a transient slice that has gone makes `systemd-run --slice=` fail with "Unit not found" if there
 * was a daemon-reload while it was there (systemd 252 remembers its file). So it's stopped by hand.
 */

#include "base/cleanup.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/systemd/property.h"
#include "edge/common/log.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <syslog.h>

#define SLICE_PREFIX "schedgov-"

/* A '-' would put the slice a level deeper. */
void sg_class_slice_name(char buf[SG_UNIT_NAME_MAX], const char *class)
{
        size_t n = (size_t)snprintf(buf, SG_UNIT_NAME_MAX, SLICE_PREFIX);

        for (; *class; class ++)
                n += (size_t)snprintf(buf + n, SG_UNIT_NAME_MAX - n,
                                      isalnum((unsigned char)*class) || *class == '_' ? "%c"
                                                                                      : "\\x%02x",
                                      (unsigned char)*class);
        (void)snprintf(buf + n, SG_UNIT_NAME_MAX - n, ".slice");
}

static int hex(char c)
{
        const char *digits = "0123456789abcdef", *p = c ? strchr(digits, c) : NULL;

        return p ? (int)(p - digits) : -1;
}

int sg_class_of_slice(char buf[SG_CLASS_NAME_MAX], const char *slice)
{
        const char *p = slice + strlen(SLICE_PREFIX), *end = strrchr(slice, '.');
        size_t n = 0;

        if (strncmp(slice, SLICE_PREFIX, strlen(SLICE_PREFIX)) != 0 || !end ||
            strcmp(end, ".slice") != 0)
                return -EINVAL;
        for (; p < end && n + 1 < SG_CLASS_NAME_MAX; p++) {
                if (*p == '-')
                        return -EINVAL; /* a level deeper */
                if (p[0] == '\\' && p[1] == 'x' && hex(p[2]) >= 0 && hex(p[3]) >= 0) {
                        buf[n++] = (char)(hex(p[2]) * 16 + hex(p[3]));
                        p += 3;
                } else {
                        buf[n++] = *p;
                }
        }
        buf[n] = 0;
        return p == end && n > 0 ? 0 : -EINVAL;
}

/* schedgov-CLASS-hold.INSTANCE.slice: each daemon has its own. */
void sg_class_holder_name(char buf[SG_UNIT_NAME_MAX], const struct sg_systemd *sd,
                          const char *class)
{
        sg_class_slice_name(buf, class);
        strcpy(strrchr(buf, '.'), "-hold");
        (void)snprintf(buf + strlen(buf), SG_UNIT_NAME_MAX - strlen(buf), "%s.slice", sd->suffix);
}

static int append_weight(sd_bus_message *m, uint64_t weight)
{
        int r = sd_bus_message_append(m, "(sv)", "CPUWeight", "t", weight);

        return r < 0 ? r : sd_bus_message_append(m, "(sv)", "IOWeight", "t", weight);
}

void sg_class_group_set_weight(struct sg_systemd *sd, struct sg_class_group *c, uint64_t weight)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char slice[SG_UNIT_NAME_MAX];
        int r;

        c->weight = weight;
        sg_class_slice_name(slice, c->name);
        r = sg_systemd_new_set(sd, &m, slice);
        if (r >= 0)
                r = append_weight(m, weight);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                r = sg_systemd_send(sd, m, NULL);
        if (r < 0 && r != -ENOTCONN)
                sg_log(LOG_WARNING, "cannot set the weight of %s: %s", slice, strerror(-r));
}

int sg_class_group_change_weight(struct sg_backend *b, const char *class, uint64_t weight,
                                 char **ret_why)
{
        struct sg_class_group *c = sg_class_group_find(b, class);

        (void)ret_why; /* if systemd can't be reached it is told when it is back */
        if (c && c->weight != weight)
                sg_class_group_set_weight(b->systemd, c, weight);
        return 0;
}

static int append_holder(sd_bus_message *m, const struct sg_systemd *sd)
{
        int r;

        r = sd_bus_message_append(m, "(sv)", "Description", "s",
                                  "Keeps the controllers of a class switched on");
        if (r >= 0)
                r = append_weight(m, 100);
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)(sv)(sv)", "MemoryAccounting", "b", 1,
                                          "TasksAccounting", "b", 1, "IOAccounting", "b", 1);
        if (r >= 0)
                r = sg_property_append_cpus(m, &sd->cpus);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static void not_held(struct sg_class_group *c, const sd_bus_error *e)
{
        c->held = false; /* the next job asks again */
        if (!sg_systemd_is_away(e))
                sg_log(LOG_WARNING, "class %s: systemd refused its slice: %s", c->name,
                       e->message ?: e->name);
}

static int on_kept(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct sg_class_group *c = userdata;

        (void)error;
        if (e && sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("NoSuchUnit"))) {
                c->held = false; /* it has gone meanwhile */
                sg_class_group_hold(c->systemd, c);
        } else if (e) {
                not_held(c, e);
        }
        return 0;
}

/* The holder exists, but may be about to stop, as its class was idle a moment ago: then it is
 * kept. */
static int keep_holder(struct sg_class_group *c)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char holder[SG_UNIT_NAME_MAX];
        int r;

        sg_class_holder_name(holder, c->systemd, c->name);
        r = sg_systemd_new_call(c->systemd, &m, "StartUnit");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", holder, "replace");
        return r < 0 ? r
                     : sd_bus_call_async(sg_bus_connection_get(c->systemd->connection), NULL, m,
                                         on_kept, c, 0);
}

static int on_held(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct sg_class_group *c = userdata;

        (void)error;
        if (e && sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("UnitExists")))
                c->held = keep_holder(c) >= 0;
        else if (e)
                not_held(c, e);
        return 0;
}

static int start_holder(struct sg_systemd *sd, struct sg_class_group *c)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char holder[SG_UNIT_NAME_MAX];
        int r;

        sg_class_holder_name(holder, sd, c->name);
        r = sg_systemd_new_start(sd, &m, holder);
        if (r >= 0)
                r = append_holder(m, sd);
        if (r >= 0)
                r = sd_bus_message_append(m, "a(sa(sv))", 0);
        return r < 0 ? r
                     : sd_bus_call_async(sg_bus_connection_get(sd->connection), NULL, m, on_held, c,
                                         0);
}

void sg_class_group_hold(struct sg_systemd *sd, struct sg_class_group *c)
{
        int r;

        if (c->held)
                return;
        c->systemd = sd;
        r = start_holder(sd, c);
        if (r < 0) {
                sg_log(LOG_WARNING, "class %s: cannot ask for its slice: %s", c->name,
                       strerror(-r));
                return;
        }
        c->held = true;
        sg_class_group_set_weight(sd, c, c->weight);
}

/* A slice that somebody has made in ours stays active when it is empty, as slices do, and needs
 * ours. */
static int is_others_slice(const char *name, void *userdata)
{
        const char *holder = userdata, *end = strrchr(name, '.');

        return end && strcmp(end, ".slice") == 0 && strcmp(name, holder) != 0;
}

/* Without its requirements: a unit that is started in it just now must not be stopped with it.
 * Empty groups, as systemd leaves them for a while, are nobody. */
static int stop_slice(struct sg_systemd *sd, const char *slice, char *holder)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char group[PATH_MAX];
        int r;

        if (sg_group_join(group, sd->backend->hier[SG_HIER_UNIFIED].base, slice) < 0 ||
            sg_group_populated(group) != 0 ||
            sg_group_foreach_child(group, is_others_slice, holder) != 0)
                return 0;
        r = sg_systemd_new_call(sd, &m, "StopUnit");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", slice, "ignore-requirements");
        return r < 0 ? r : sg_systemd_send(sd, m, SG_SYSTEMD_ERROR("NoSuchUnit"));
}

void sg_class_group_release_idle(struct sg_systemd *sd)
{
        char slice[SG_UNIT_NAME_MAX], holder[SG_UNIT_NAME_MAX];
        struct sg_class_group *c;

        sg_list_foreach (c, &sd->backend->classes, list) {
                if (!c->held || c->n_scopes > 0)
                        continue;
                sg_class_slice_name(slice, c->name);
                sg_class_holder_name(holder, sd, c->name);
                if (sg_systemd_stop_unit(sd, holder) >= 0 && stop_slice(sd, slice, holder) >= 0)
                        c->held = false;
        }
}
