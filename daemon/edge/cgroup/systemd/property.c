/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits as properties of a unit, and what the kernel made of them. Values are always full and
 * explicit, never "unset": an empty assignment has been known not to reset (systemd 43846). That
 * the bus accepted a property proves nothing, a user's manager takes AllowedCPUs= without being
 * able to do anything about it; so the file is read.
 */

#include "edge/cgroup/systemd/property.h"
#include "base/format.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/io.h"
#include "edge/cgroup/knob.h"
#include <errno.h>
#include <string.h>

/* The shim is in the scope, too, and must not take a place from the job. */
#define KEEPER_TASKS 1U

#define USEC_PER_PERMYRIAD 100U

static uint64_t times(uint64_t value, uint64_t factor)
{
        return value > (SG_UNLIMITED - 1) / factor ? SG_UNLIMITED : value * factor;
}

static uint64_t value_for_unit(const struct sg_knob *k, uint64_t limit)
{
        if (limit == SG_UNLIMITED)
                return limit;
        if (k->kind == SG_LIMIT_CPU_QUOTA)
                return times(limit, USEC_PER_PERMYRIAD);
        return k->kind == SG_LIMIT_TASKS ? limit + KEEPER_TASKS : limit;
}

int sg_property_append_cpus(sd_bus_message *m, const struct sg_cpuset *cpus)
{
        uint8_t bytes[SG_CPUS_MAX / 8] = {0};
        size_t n = 0;
        int r;

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                if (!sg_cpuset_has(cpus, cpu))
                        continue;
                bytes[cpu / 8] |= (uint8_t)(1U << cpu % 8);
                n = cpu / 8 + 1;
        }
        r = sd_bus_message_open_container(m, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", "AllowedCPUs");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', "ay");
        if (r >= 0)
                r = sd_bus_message_append_array(m, 'y', bytes, n);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static bool same_cpus(const struct sg_scope *s, const struct sg_limits *l,
                      const struct sg_cpuset *cpus)
{
        return s->limits.pin == l->pin && (!l->pin || memcmp(s->cpus, cpus, sizeof(*cpus)) == 0);
}

static int open_array(sd_bus_message *m, const char *name, const char *type, const char *element)
{
        int r;

        r = sd_bus_message_open_container(m, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", name);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', type);
        return r < 0 ? r : sd_bus_message_open_container(m, 'a', element);
}

static int close_array(sd_bus_message *m)
{
        int r = 0;

        for (int i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

/* Disk by disk: each keeps what it was given last until it is named again. */
static int append_disks(sd_bus_message *m, const struct sg_knob *k, uint64_t value)
{
        _cleanup_free_ struct sg_disk *disks = NULL;
        size_t n = 0;
        int r;

        r = sg_disks(&disks, &n);
        if (r < 0 || n == 0)
                return r == -ENOMEM ? r : 0; /* which reading back tells */
        r = open_array(m, k->property, "a(st)", "(st)");
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = sd_bus_message_append(m, "(st)", disks[i].node, value);
        return r < 0 ? r : close_array(m);
}

static int append_limit(sd_bus_message *m, const struct sg_knob *k, uint64_t value)
{
        return k->v2_key ? append_disks(m, k, value)
                         : sd_bus_message_append(m, "(sv)", k->property, "t",
                                                 value_for_unit(k, value));
}

int sg_property_append_limits(sd_bus_message *m, const struct sg_scope *s, bool all,
                              const struct sg_limits *l, const struct sg_cpuset *cpus)
{
        bool ours = s->ops->scope_place, made = s->n_dirs > 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < sg_n_knobs; i++) {
                const struct sg_knob *k = &sg_knobs[i];
                uint64_t value = sg_knob_value(l, k);
                bool anew = all;

                /* Nothing has one from its making, and a unit of others may for single disks. */
                if (k->v2_key && value == SG_UNLIMITED && !(made && ours))
                        anew = false;
                if (anew || sg_knob_value(&s->limits, k) != value)
                        r = append_limit(m, k, value);
        }
        if (r >= 0 && (all || !same_cpus(s, l, cpus)))
                r = sg_property_append_cpus(m, l->pin ? cpus : &s->unit->systemd->cpus);
        return r;
}

static int append_pattern(sd_bus_message *m, char type, const char *of, const char *access)
{
        char pattern[SG_DRIVER_NAME_MAX + 8];

        (void)snprintf(pattern, sizeof(pattern), "%s-%s", type == 'b' ? "block" : "char", of);
        return sd_bus_message_append(m, "(ss)", pattern, access);
}

/* By number, as a node may be made later than the job is started. */
static int append_rule(sd_bus_message *m, const struct sg_device_rule *rule)
{
        char node[64], major[16];

        (void)snprintf(major, sizeof(major), "%d", rule->major);
        if (rule->minor < 0)
                return append_pattern(m, rule->type, rule->major < 0 ? "*" : major, rule->access);
        (void)snprintf(node, sizeof(node), "/dev/%s/%s:%d", rule->type == 'b' ? "block" : "char",
                       major, rule->minor);
        return sd_bus_message_append(m, "(ss)", node, rule->access);
}

/* A driver by its name where that will do: whenever systemd makes the program anew, it looks up
 * which numbers that has by then. */
static int append_other(sd_bus_message *m, const struct sg_device_other *o)
{
        return o->name[0] ? append_pattern(m, o->rule.type, o->name, o->rule.access)
                          : append_rule(m, &o->rule);
}

static int append_allowed(sd_bus_message *m, const struct sg_device_list *d)
{
        int r;

        r = open_array(m, "DeviceAllow", "a(ss)", "(ss)");
        for (size_t i = 0; r >= 0 && i < d->n; i++)
                r = append_rule(m, &d->rules[i]);
        for (size_t i = 0; r >= 0 && d->guard && i < d->guard->n_others; i++)
                r = append_other(m, &d->guard->others[i]);
        return r < 0 ? r : close_array(m);
}

/* To systemd, a guarded list is a closed one with all else that there is. */
int sg_property_append_devices(sd_bus_message *m, const struct sg_device_list *d, bool replace)
{
        bool restricts = sg_device_list_restricts(d);
        int r;

        r = sd_bus_message_append(m, "(sv)", "DevicePolicy", "s", restricts ? "closed" : "auto");
        /* Rules add up: without this, what a change leaves out would stay. */
        if (r >= 0 && replace)
                r = sd_bus_message_append(m, "(sv)", "DeviceAllow", "a(ss)", 0);
        /* systemd 252 leaves the program where it is when nothing is left to restrict. */
        if (r >= 0 && replace && !restricts)
                r = sd_bus_message_append(m, "(sv)", "DeviceAllow", "a(ss)", 2, "char-*", "rwm",
                                          "block-*", "rwm");
        return r < 0 || !restricts ? r : append_allowed(m, d);
}

/* Reading back */

static bool quota_arrived(const char *dir, uint64_t pm)
{
        char text[64], *end;
        uint64_t quota, period;

        if (sg_group_read(dir, "cpu.max", text, sizeof(text)) < 0)
                return false;
        if (strncmp(text, "max ", 4) == 0)
                return pm == SG_UNLIMITED;
        quota = strtoull(text, &end, 10);
        period = strtoull(end, NULL, 10);
        /* systemd rounds to whole microseconds of quota */
        return pm != SG_UNLIMITED && period > 0 && quota * 10000 / period + 1 >= pm &&
               quota * 10000 / period <= pm + 1;
}

static bool cpus_arrived(const char *dir, const struct sg_cpuset *cpus)
{
        struct sg_cpuset now;
        char text[4096];

        return sg_group_read(dir, "cpuset.cpus.effective", text, sizeof(text)) >= 0 &&
               sg_parse_cpuset(text, &now) >= 0 && memcmp(&now, cpus, sizeof(now)) == 0;
}

static bool arrived(const struct sg_scope *s, const struct sg_knob *k, uint64_t limit)
{
        const char *dir = s->dirs[0].path;
        const char *file = k->kind == SG_LIMIT_IO_WEIGHT ? s->backend->io_weight_file : k->v2_file;

        if (k->kind == SG_LIMIT_CPU_QUOTA)
                return quota_arrived(dir, limit);
        if (k->kind == SG_LIMIT_TASKS && limit != SG_UNLIMITED)
                limit += KEEPER_TASKS;
        return file && sg_limit_stands(dir, k->kind, file, limit);
}

void sg_property_read_back(struct sg_scope *s)
{
        const struct sg_unit *u = s->unit;
        uint32_t missing = 0;

        for (size_t i = 0; i < sg_n_knobs; i++) {
                const struct sg_knob *k = &sg_knobs[i];
                uint64_t limit = sg_knob_value(&s->limits, k);

                if (sg_knob_is_asked(k, limit) && !arrived(s, k, limit))
                        missing |= sg_bit(k->kind);
        }
        if (s->limits.pin && !cpus_arrived(s->dirs[0].path, s->cpus))
                missing |= sg_bit(SG_LIMIT_CPUSET);
        /* Who has set it can't be read without rights that we don't want: a user's manager has no
         * way to, the system's has. */
        if (u->devices_refused || (sg_device_list_restricts(&s->devices) && u->systemd->user))
                missing |= sg_bit(SG_LIMIT_DEVICES);
        s->unenforced = missing;
}
