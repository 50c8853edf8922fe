/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device allow-lists of a scope's `job` group: a BPF program where there is a v2 tree, else the
 * devices controller of v1. */

#include "edge/cgroup-fs.h"
#include "edge/cgroup-group.h"
#include "edge/devices-bpf.h"
#include <errno.h>
#include <string.h>

static int allow_v1(const char *group, const struct sg_device_rule *rules, size_t n)
{
        char text[64], major[12], minor[12];
        int r = 0;

        for (size_t i = 0; r == 0 && i < n; i++) {
                (void)snprintf(major, sizeof(major), "%d", rules[i].major);
                (void)snprintf(minor, sizeof(minor), "%d", rules[i].minor);
                (void)snprintf(text, sizeof(text), "%c %s:%s %.*s", rules[i].type,
                               rules[i].major < 0 ? "*" : major, rules[i].minor < 0 ? "*" : minor,
                               (int)sizeof(rules[i].access), rules[i].access);
                r = sg_group_write(group, "devices.allow", text);
        }
        return r;
}

void sg_fs_apply_devices(struct sg_scope *s, const struct sg_scope_request *req, char **why)
{
        enum sg_hier h = sg_fs_hier_of(s->backend, SG_LIMIT_DEVICES);
        char group[PATH_MAX];
        int r = -EOPNOTSUPP;

        if (!req->device_closed)
                return;
        if (h != SG_HIER_MAX)
                r = sg_fs_limit_group(s, h, true, group);
        if (r == 0 && h == SG_HIER_UNIFIED) {
                r = sg_devices_bpf_attach(group, req->devices, req->n_devices);
        } else if (r == 0) {
                r = sg_group_write(group, "devices.deny", "a");
                if (r == 0)
                        r = allow_v1(group, sg_devices_standard, sg_devices_n_standard);
                if (r == 0)
                        r = allow_v1(group, req->devices, req->n_devices);
        }
        if (r < 0)
                sg_why(why, "devices of %s can't be restricted: %s", s->name, strerror(-r));
        sg_fs_set_unenforced(s, SG_LIMIT_DEVICES, r < 0);
}
