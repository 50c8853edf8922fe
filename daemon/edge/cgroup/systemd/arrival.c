/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hearing from the kernel that a scope holds its shim, before systemd says so:
 *
 *   the class's slice gets a directory → the scope's cgroup.events change → on_arrival()
 *
 * JobRemoved follows on it, but only when PID 1 has told everybody of the unit, and the bus, the
 * journal and logind have made something of that. Meanwhile the kernel still has to itself that
 * processes change groups: another such change right now costs nothing, a few milliseconds later it
 * waits for a grace period of RCU, and the daemon with it.
 *
 * An event that is missed does no harm: JobRemoved comes in any case.
 */

#include "edge/cgroup/group.h"
#include "edge/cgroup/systemd/internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

int sg_unit_expected_dir(const struct sg_unit *u, char dir[PATH_MAX])
{
        const struct sg_hierarchy *x = &u->scope->backend->hier[SG_HIER_UNIFIED];
        char slice[SG_UNIT_NAME_MAX];
        int n;

        sg_class_slice_name(slice, u->scope->class->name);
        n = snprintf(dir, PATH_MAX, "%s/%s/%s", x->base, slice, u->name);
        return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

void sg_unit_forget_arrival(struct sg_unit *u)
{
        u->arrival = sd_event_source_disable_unref(u->arrival);
}

static int on_events(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
        struct sg_unit *u = userdata;

        (void)source;
        (void)event;
        u->on_arrival(u); /* may free the unit */
        return 0;
}

/* The scope is there. Its process may be, too, and then no event comes any more. */
static void watch_scope(struct sg_unit *u)
{
        char group[PATH_MAX], file[PATH_MAX];

        sg_unit_forget_arrival(u);
        if (sg_unit_expected_dir(u, group) < 0 || sg_group_join(file, group, "cgroup.events") < 0 ||
            sd_event_add_inotify(u->systemd->event, &u->arrival, file, IN_MODIFY, on_events, u) < 0)
                return;
        if (sg_group_populated(group) > 0)
                u->on_arrival(u);
}

static int on_slice(sd_event_source *source, const struct inotify_event *event, void *userdata)
{
        struct sg_unit *u = userdata;

        (void)source;
        if (event->len > 0 && strcmp(event->name, u->name) == 0)
                watch_scope(u);
        return 0;
}

void sg_unit_await_arrival(struct sg_unit *u, void (*on_arrival)(struct sg_unit *))
{
        char group[PATH_MAX];

        u->on_arrival = on_arrival;
        if (sg_unit_expected_dir(u, group) < 0)
                return;
        *strrchr(group, '/') = '\0';
        /* The first scope of a class comes with its slice. */
        sg_unit_forget_arrival(u);
        (void)sd_event_add_inotify(u->systemd->event, &u->arrival, group, IN_CREATE | IN_ONLYDIR,
                                   on_slice, u);
}
