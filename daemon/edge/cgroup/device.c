/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of devices of a scope's `job` group: a BPF program where there is a v2 tree, else the
 * devices controller of v1. To that, what a guarded list denies can't be told beside what it allows
 * of the same major: it gets all else that there is as a closed one. */

#include "base/cleanup.h"
#include "edge/cgroup/bpf/devices.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include <errno.h>
#include <string.h>

static int write_v1(const char *group, const char *file, const struct sg_device_rule *rule)
{
        char text[64], major[12], minor[12];

        (void)snprintf(major, sizeof(major), "%d", rule->major);
        (void)snprintf(minor, sizeof(minor), "%d", rule->minor);
        (void)snprintf(text, sizeof(text), "%c %s:%s %.*s", rule->type,
                       rule->major < 0 ? "*" : major, rule->minor < 0 ? "*" : minor,
                       (int)sizeof(rule->access), rule->access);
        return sg_group_write(group, file, text);
}

static int allow_v1(const char *group, const struct sg_device_list *d)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < sg_devices_n_standard; i++)
                r = write_v1(group, "devices.allow", &sg_devices_standard[i]);
        for (size_t i = 0; r == 0 && i < d->n; i++)
                r = write_v1(group, "devices.allow", &d->rules[i]);
        return r;
}

/* Additions come first, and once more what a removal may have taken along: what is in both lists is
 * never denied in between. */
static int replace_closed_v1(const char *group, const struct sg_device_list *d,
                             const struct sg_device_list *old)
{
        int r;

        if (!old) {
                r = sg_group_write(group, "devices.deny", "a");
                return r < 0 ? r : allow_v1(group, d);
        }
        r = allow_v1(group, d);
        for (size_t i = 0; r == 0 && i < old->n; i++)
                if (!sg_device_list_has(d, &old->rules[i]))
                        r = write_v1(group, "devices.deny", &old->rules[i]);
        return r < 0 ? r : allow_v1(group, d);
}

static int replace_v1(const char *group, const struct sg_device_list *d,
                      const struct sg_device_list *old)
{
        _cleanup_(sg_device_list_deinit) struct sg_device_list closed = {0}, old_closed = {0};
        bool was_closed = old && sg_device_list_restricts(old);
        int r;

        if (!sg_device_list_restricts(d))
                return sg_group_write(group, "devices.allow", "a");
        r = sg_device_list_close(&closed, d);
        if (r >= 0 && was_closed)
                r = sg_device_list_close(&old_closed, old);
        return r < 0 ? r : replace_closed_v1(group, &closed, was_closed ? &old_closed : NULL);
}

/* A driver that comes changes what else there is for all jobs at once, but not their programs. */
static bool program_stays(const struct sg_scope *s, const struct sg_device_list *old)
{
        return old && !(s->unenforced & sg_bit(SG_LIMIT_DEVICES)) &&
               sg_device_list_denies_same(&s->devices, old);
}

static int replace_program(const struct sg_scope *s, const char *group,
                           const struct sg_device_list *old)
{
        if (program_stays(s, old))
                return 0;
        return sg_device_list_restricts(&s->devices) ? sg_devices_bpf_attach(group, &s->devices)
                                                     : sg_devices_bpf_detach(group);
}

int sg_fs_scope_set_devices(struct sg_scope *s, const struct sg_device_list *old, char **ret_why)
{
        const struct sg_device_list *d = &s->devices;
        bool restricts = sg_device_list_restricts(d);
        enum sg_hier h = sg_fs_hier_of(s->backend, SG_LIMIT_DEVICES);
        char group[PATH_MAX];
        int r = -EOPNOTSUPP;

        if (!restricts && (h == SG_HIER_MAX || !sg_scope_dir(s, h))) {
                sg_fs_set_unenforced(s, SG_LIMIT_DEVICES, false);
                return 0;
        }
        if (h != SG_HIER_MAX)
                r = sg_scope_extend(s, h, ret_why);
        if (r == 0)
                r = sg_fs_limit_group(s, h, true, group);
        if (r == 0)
                r = h == SG_HIER_UNIFIED ? replace_program(s, group, old)
                                         : replace_v1(group, d, old);
        if (r < 0)
                sg_why(ret_why, "devices of %s can't be %s: %s", s->name,
                       restricts ? "restricted" : "opened", strerror(-r));
        sg_fs_set_unenforced(s, SG_LIMIT_DEVICES, r < 0 && restricts);
        return r;
}
