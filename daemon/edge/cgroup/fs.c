/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cgroupfs backend as a whole: what this kernel offers, the base group in each hierarchy and
 * the class groups in it. Layout:
 * OWN/schedgov-INSTANCE/CLASS/schedgov-N-ORIGIN-ATTEMPT/{keeper,job}. Nothing outside of
 * OWN/schedgov-INSTANCE is written but OWN's cgroup.subtree_control.
 */

#include "edge/cgroup/fs.h"
#include "base/file.h"
#include "edge/cgroup/bpf/devices.h"
#include "edge/cgroup/bpf/net.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/knob.h"
#include "edge/cgroup/layout.h"
#include "edge/cgroup/v2.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

bool sg_fs_usable(const struct sg_backend *b, enum sg_hier h)
{
        return b->hier[b->hier[h].here].usable;
}

static bool has_controller(const struct sg_backend *b, enum sg_controller c)
{
        return b->v2_controllers & sg_bit(c);
}

static enum sg_hier controller_hier(const struct sg_backend *b, enum sg_controller c)
{
        static const enum sg_hier v1[_SG_CONTROLLER_MAX] = {
                [SG_CONTROLLER_CPU] = SG_HIER_CPU,   [SG_CONTROLLER_MEMORY] = SG_HIER_MEMORY,
                [SG_CONTROLLER_PIDS] = SG_HIER_PIDS, [SG_CONTROLLER_CPUSET] = SG_HIER_CPUSET,
                [SG_CONTROLLER_IO] = SG_HIER_BLKIO,
        };

        if (has_controller(b, c))
                return SG_HIER_UNIFIED;
        return sg_fs_usable(b, v1[c]) ? b->hier[v1[c]].here : SG_HIER_MAX;
}

/* Not every kernel accounts for swap: it can be left out, and on v1 switched off. */
static enum sg_hier swap_hier(const struct sg_backend *b)
{
        enum sg_hier h = controller_hier(b, SG_CONTROLLER_MEMORY);

        if (h == SG_HIER_MAX || !b->hier[h].base)
                return SG_HIER_MAX;
        return sg_group_has(b->hier[h].base, h == SG_HIER_UNIFIED ? "memory.swap.max"
                                                                  : "memory.memsw.limit_in_bytes")
                       ? h
                       : SG_HIER_MAX;
}

static enum sg_hier devices_hier(const struct sg_backend *b)
{
        if (b->device_programs)
                return SG_HIER_UNIFIED;
        return sg_fs_usable(b, SG_HIER_DEVICES) ? b->hier[SG_HIER_DEVICES].here : SG_HIER_MAX;
}

enum sg_hier sg_fs_hier_of(const struct sg_backend *b, enum sg_limit_kind kind)
{
        const struct sg_knob *k = sg_knob_of(kind);

        if (kind == SG_LIMIT_CPUSET)
                return controller_hier(b, SG_CONTROLLER_CPUSET);
        if (kind == SG_LIMIT_DEVICES)
                return devices_hier(b);
        if (kind == SG_LIMIT_FREEZE)
                return b->freeze_hier;
        if (kind == SG_LIMIT_SWAP)
                return swap_hier(b);
        if ((kind == SG_LIMIT_IO_WEIGHT && !b->io_weight_file) ||
            (!k->v1_file && !has_controller(b, k->controller)))
                return SG_HIER_MAX;
        return controller_hier(b, k->controller);
}

int sg_fs_fill_cpuset(const char *parent, const char *group)
{
        static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};
        char value[4096];
        int r;

        for (size_t i = 0; i < SG_ELEMENTSOF(files); i++) {
                r = sg_group_read(parent, files[i], value, sizeof(value));
                if (r >= 0)
                        r = sg_group_write(group, files[i], value);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int base_make(struct sg_backend *b, enum sg_hier h)
{
        struct sg_hierarchy *x = &b->hier[h];
        int r;

        if (x->base_made)
                return 0;
        r = sg_group_make_kept(b, h, x->base);
        if (r == 0 && h == b->hier[SG_HIER_CPUSET].here)
                r = sg_fs_fill_cpuset(x->own, x->base);
        x->base_made = r == 0;
        return r;
}

int sg_fs_class_name(char buf[SG_CLASS_NAME_MAX + 1], const char *name)
{
        static const char *const taken[] = {"daemon", "tasks", "notify_on_release",
                                            "release_agent"};
        bool escape = name[0] == '_' || strchr(name, '.');

        if (!*name || strchr(name, '/') || strlen(name) >= SG_CLASS_NAME_MAX)
                return -EINVAL;
        for (size_t i = 0; i < SG_ELEMENTSOF(taken); i++)
                escape = escape || strcmp(name, taken[i]) == 0;
        (void)snprintf(buf, SG_CLASS_NAME_MAX + 1, "%s%s", escape ? "_" : "", name);
        return 0;
}

int sg_fs_class_get(struct sg_backend *b, const char *name, struct sg_class_group **ret)
{
        char group[SG_CLASS_NAME_MAX + 1];
        int r = sg_fs_class_name(group, name);

        return r < 0 ? r : sg_class_group_get(b, group, ret);
}

int sg_fs_class_make(struct sg_backend *b, struct sg_class_group *c, enum sg_hier h, char **why)
{
        char path[PATH_MAX];
        int r;

        if (c->made & sg_bit(h))
                return 0;
        r = base_make(b, h);
        if (r < 0)
                return sg_group_explain(why, r, b->hier[h].base, NULL, NULL);
        r = sg_group_join(path, b->hier[h].base, c->name);
        if (r == 0)
                r = sg_group_make_kept(b, h, path);
        if (r == 0 && h == b->hier[SG_HIER_CPUSET].here)
                r = sg_fs_fill_cpuset(b->hier[h].base, path);
        if (r < 0)
                return sg_group_explain(why, r, path, NULL, NULL);
        if (h == SG_HIER_UNIFIED)
                (void)sg_v2_enable(path, b->v2_controllers);
        c->made |= sg_bit(h);
        return 0;
}

/* A weight does something only where a device uses bfq, or iocost (v2). */
const char *sg_fs_find_io_weight(const struct sg_backend *b, bool v2)
{
        _cleanup_closedir_ DIR *d = opendir("/sys/block");
        _cleanup_free_ char *cost = NULL;
        char path[PATH_MAX], schedulers[256];
        struct dirent *e;

        while (d && (e = readdir(d))) {
                (void)snprintf(path, sizeof(path), "/sys/block/%s/queue/scheduler", e->d_name);
                if (e->d_name[0] != '.' &&
                    sg_read_line_file(AT_FDCWD, path, schedulers, sizeof(schedulers)) == 0 &&
                    strstr(schedulers, "[bfq]"))
                        return v2 ? "io.bfq.weight" : "blkio.bfq.weight";
        }
        if (!v2 || sg_group_join(path, b->hier[SG_HIER_UNIFIED].mount, "io.cost.qos") < 0 ||
            sg_read_file(AT_FDCWD, path, 65536, &cost, NULL) < 0)
                return NULL;
        return strstr(cost, "enable=1") ? "io.weight" : NULL;
}

/* Limits that most jobs don't ask for: a group in a hierarchy of their own costs every job some 0.1
 * ms. */
static bool on_demand(enum sg_limit_kind kind)
{
        const struct sg_knob *k = sg_knob_of(kind);

        if (!k)
                return kind == SG_LIMIT_CPUSET || kind == SG_LIMIT_DEVICES;
        return k->controller == SG_CONTROLLER_IO || k->controller == SG_CONTROLLER_PIDS;
}

static void choose_hierarchies(struct sg_backend *b)
{
        struct sg_hierarchy *unified = &b->hier[SG_HIER_UNIFIED];
        bool v2 = unified->usable;

        b->freeze_hier = v2 && sg_group_has(unified->base, "cgroup.freeze") ? SG_HIER_UNIFIED
                         : sg_fs_usable(b, SG_HIER_FREEZER) ? b->hier[SG_HIER_FREEZER].here
                                                            : SG_HIER_MAX;
        b->device_programs = v2 && sg_devices_bpf_supported();
        b->io_weight_file = sg_fs_find_io_weight(b, has_controller(b, SG_CONTROLLER_IO));
        b->default_hiers = v2 ? sg_bit(SG_HIER_UNIFIED) : 0;
        for (enum sg_limit_kind k = 0; k < _SG_LIMIT_MAX; k++) {
                enum sg_hier h = sg_fs_hier_of(b, k);

                if (h == SG_HIER_MAX)
                        b->unenforced |= sg_bit(k);
                else if (!on_demand(k))
                        b->default_hiers |= sg_bit(h);
        }
        if ((!v2 || !sg_group_has(unified->base, "cpu.stat")) && sg_fs_usable(b, SG_HIER_CPUACCT))
                b->default_hiers |= sg_bit(b->hier[SG_HIER_CPUACCT].here);
        b->list_hier = v2                              ? SG_HIER_UNIFIED
                       : b->freeze_hier != SG_HIER_MAX ? b->freeze_hier
                       : b->default_hiers ? (enum sg_hier)__builtin_ctz(b->default_hiers)
                                          : SG_HIER_MAX;
}

static void describe_v1(const struct sg_backend *b, FILE *f)
{
        const char *lead = "v1";

        for (enum sg_hier h = SG_HIER_CPU; h < SG_HIER_MAX; h++) {
                if (!sg_fs_usable(b, h))
                        continue;
                fprintf(f, "%s %s", lead, sg_hier_name(h));
                lead = "";
        }
}

static void describe_v2(const struct sg_backend *b, FILE *f)
{
        fputs("v2", f);
        for (unsigned c = 0; c < _SG_CONTROLLER_MAX; c++)
                if (has_controller(b, c))
                        fprintf(f, " %s", sg_controller_names[c]);
        if (b->freeze_hier == SG_HIER_UNIFIED)
                fputs(" freeze", f);
        if (sg_group_has(b->hier[SG_HIER_UNIFIED].base, "cgroup.kill"))
                fputs(" kill", f);
        if (b->device_programs)
                fputs(" devices", f);
        if (b->net)
                fputs(" net", f);
}

static int describe(struct sg_backend *b, const char *note)
{
        bool v1 = false, v2 = b->hier[SG_HIER_UNIFIED].usable;
        size_t size;
        FILE *f;

        for (enum sg_hier h = SG_HIER_CPU; h < SG_HIER_MAX; h++)
                v1 = v1 || sg_fs_usable(b, h);
        f = open_memstream(&b->describe, &size);
        if (!f)
                return -ENOMEM;
        fprintf(f, "cgroupfs (%s", v1 && v2 ? "hybrid: " : "");
        if (v1)
                describe_v1(b, f);
        if (v1 && v2)
                fputs(", ", f);
        if (v2)
                describe_v2(b, f);
        fprintf(f, "%s%s)", note ? "; " : "", note ? note : "");
        return fclose(f) == 0 ? 0 : -ENOMEM;
}

static void explain_unusable(const struct sg_backend *b, char **why)
{
        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++)
                if (b->hier[h].own && access(b->hier[h].own, W_OK | X_OK) < 0)
                        (void)sg_group_explain(why, -errno, b->hier[h].base, NULL, NULL);
        sg_why(why, "no cgroup hierarchy shows our own group");
}

/* Trying is the only proof: a delegated or namespaced tree may refuse for many reasons. */
static int make_bases(struct sg_backend *b, char **note, char **why)
{
        static const enum sg_hier eager[] = {SG_HIER_CPU, SG_HIER_MEMORY, SG_HIER_PIDS,
                                             SG_HIER_FREEZER};
        struct sg_hierarchy *h = &b->hier[SG_HIER_UNIFIED];
        bool any;
        int r;

        if (h->usable) {
                r = sg_v2_prepare(b, note);
                h->usable = h->base_made = r == 0;
                if (r < 0)
                        (void)sg_group_explain(why, r, h->base, NULL, NULL);
        }
        any = h->usable;
        for (size_t i = 0; i < SG_ELEMENTSOF(eager); i++) {
                h = &b->hier[b->hier[eager[i]].here];
                if (!h->usable || (eager[i] == SG_HIER_FREEZER && any))
                        continue;
                r = base_make(b, h->here);
                h->usable = r == 0;
                any = any || r == 0;
                if (r < 0)
                        (void)sg_group_explain(why, r, h->base, NULL, NULL);
        }
        return any ? 0 : -EACCES;
}

static int fs_start(struct sg_backend *b, const struct sg_backend_options *o, char **ret_why)
{
        _cleanup_free_ char *note = NULL;
        int r;

        (void)o;
        r = sg_layout_discover(b->hier, b->instance);
        if (r < 0)
                return r;
        r = sg_fs_collect(b);
        if (r < 0)
                return r;
        r = make_bases(b, &note, ret_why);
        if (r < 0) {
                explain_unusable(b, ret_why);
                return r;
        }
        choose_hierarchies(b);
        r = sg_fs_net_start(b);
        if (r < 0)
                return r;
        if (note)
                sg_why(ret_why, "%s", note);
        return describe(b, note);
}

/* What runs goes on being counted. */
static void fs_stop(struct sg_backend *b)
{
        b->net = sg_net_bpf_free(b->net);
        (void)sg_fs_collect(b);
        if (b->hier[SG_HIER_UNIFIED].base)
                sg_v2_restore(b);
        for (enum sg_hier h = 0; h < SG_HIER_MAX; h++)
                if (b->hier[h].base_made)
                        (void)sg_group_remove_kept(b, h, b->hier[h].base);
        sg_layout_deinit(b->hier);
}

static int fs_class_set_weight(struct sg_backend *b, const char *class, uint64_t weight,
                               char **ret_why)
{
        char name[SG_CLASS_NAME_MAX + 1];
        struct sg_class_group *c;

        if (sg_fs_class_name(name, class) < 0)
                return 0;
        c = sg_class_group_find(b, name);
        return c && c->made ? sg_fs_class_weight(b, c, weight, ret_why) : 0;
}

static void fs_scope_counters(struct sg_scope *s, struct sg_counters *ret)
{
        sg_counters_read(s->dirs, s->n_dirs, ret);
}

const struct sg_backend_ops sg_cgroupfs_ops = {
        .name = "cgroupfs",
        .start = fs_start,
        .stop = fs_stop,
        .scope_new = sg_fs_scope_new,
        .scope_adopt = sg_fs_scope_adopt,
        .scope_free = sg_fs_scope_free,
        .scope_remove = sg_fs_scope_remove,
        .scope_move = sg_fs_scope_move,
        .scope_holds = sg_fs_scope_holds,
        .scope_set_limits = sg_fs_scope_set_limits,
        .scope_set_devices = sg_fs_scope_set_devices,
        .class_set_weight = fs_class_set_weight,
        .scope_freeze = sg_fs_scope_freeze,
        .scope_frozen = sg_fs_scope_frozen,
        .scope_signal = sg_fs_scope_signal,
        .scope_populated = sg_fs_scope_populated,
        .scope_counters = fs_scope_counters,
        .scope_net = sg_fs_scope_net,
        .sweep = sg_fs_sweep,
};
