/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Limits as values of kernel files. Shares (cpu, io) sit on the scope, where the jobs of a class
 * compete; caps sit on `job`, so that the keeper is never throttled, refused a fork or killed for
 * what the job does. A value is written only where it differs, and read back: what did not arrive
 * becomes a bit in `unenforced`, never an error. The one exception is a memory limit below what the
 * job uses: -EBUSY, with nothing changed.
 */

#include "base/format.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/io.h"
#include "edge/cgroup/knob.h"
#include "edge/cgroup/v2.h"
#include <errno.h>
#include <string.h>

#define V1_UNLIMITED                                                                               \
        (UINT64_C(1) << 62)      /* memory.limit_in_bytes without one is 2^63 less a page          \
                                  */
#define QUOTA_MIN_USEC 1000U     /* the kernel's min_cfs_quota_period */
#define PERIOD_MIN_USEC 100000U  /* its default */
#define PERIOD_MAX_USEC 1000000U /* its max_cfs_quota_period */
#define PERMYRIAD 10000U

void sg_fs_set_unenforced(struct sg_scope *s, enum sg_limit_kind kind, bool on)
{
        s->unenforced = on ? s->unenforced | sg_bit(kind) : s->unenforced & ~sg_bit(kind);
}

/* bfq's range is 1 … 1000 with 100 in the middle, as systemd maps it too. */
static uint64_t bfq_weight(uint64_t weight)
{
        return weight <= 100 ? weight : 100 + (weight - 100) * (1000 - 100) / (SG_WEIGHT_MAX - 100);
}

static uint64_t shares(uint64_t weight)
{
        uint64_t v = weight * 1024 / 100;

        return v < 2 ? 2 : v;
}

uint64_t sg_limit_whole_pages(uint64_t bytes)
{
        static uint64_t page;

        if (!page)
                page = (uint64_t)sysconf(_SC_PAGESIZE);
        return bytes >= V1_UNLIMITED ? SG_UNLIMITED : bytes - bytes % page;
}

/* What the file should read after the write. */
static uint64_t kernel_value(const struct sg_knob *k, bool v2, const char *file, uint64_t value)
{
        if (k->kind == SG_LIMIT_CPU_WEIGHT)
                return v2 ? value : shares(value);
        if (k->kind == SG_LIMIT_IO_WEIGHT)
                return strstr(file, "bfq") ? bfq_weight(value) : value;
        if (k->unit == SG_UNIT_BYTES || k->unit == SG_UNIT_SWAP)
                return sg_limit_whole_pages(value);
        return sg_knob_held(k, value);
}

/* io.weight and io.bfq.weight read "default 100". */
int sg_limit_read(const char *group, const char *file, uint64_t *ret)
{
        uint64_t v;
        int r;

        r = strncmp(file, "io.", 3) == 0 ? sg_group_read_key(group, file, "default", &v)
                                         : sg_group_read_u64(group, file, &v);
        if (r == 0)
                *ret = v >= V1_UNLIMITED ? SG_UNLIMITED : v;
        return r;
}

int sg_limit_write(const char *group, const char *file, uint64_t value, char **why)
{
        bool v1_memory = strstr(file, "limit_in_bytes");
        uint64_t now;
        char text[24];
        int r;

        r = sg_limit_read(group, file, &now);
        if (r == 0 && now == value)
                return 0;
        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
        if (value == SG_UNLIMITED)
                (void)snprintf(text, sizeof(text), "%s", v1_memory ? "-1" : "max");
        r = sg_group_write(group, file, text);
        if (r < 0)
                return sg_group_explain(why, r, group, file, text);
        r = sg_limit_read(group, file, &now);
        if (r < 0)
                return sg_group_explain(why, r, group, file, text);
        if (now == value)
                return 0;
        sg_why(why, "%s of %s was set to %s but the kernel made it %llu", file, group, text,
               (unsigned long long)now);
        return -ERANGE;
}

int sg_fs_limit_group(const struct sg_scope *s, enum sg_hier h, bool on_job, char path[PATH_MAX])
{
        const char *dir = sg_scope_dir(s, h);

        if (!dir)
                return -ENOENT;
        if (on_job)
                return sg_group_join(path, dir, "job");
        (void)snprintf(path, PATH_MAX, "%s", dir);
        return 0;
}

/* A limit of memory or swap that the kernel can't bring the job below is the one refusal. */
static bool may_refuse(enum sg_limit_kind kind)
{
        return kind == SG_LIMIT_MEMORY_MAX || kind == SG_LIMIT_SWAP;
}

static int set_knob(const char *group, const struct sg_knob *k, const char *file, bool v2,
                    const struct sg_limits *l, char **why)
{
        uint64_t value = sg_knob_value(l, k);

        if (k->v2_key)
                return sg_io_apply(group, v2, k->kind, value, why);
        if (may_refuse(k->kind) && !v2)
                return sg_memory_set_v1(group, k->kind, l, why);
        value = kernel_value(k, v2, file, value);
        return k->kind == SG_LIMIT_MEMORY_MAX ? sg_memory_set_v2(group, value, why)
                                              : sg_limit_write(group, file, value, why);
}

static int apply_knob(struct sg_scope *s, const struct sg_knob *k, const struct sg_limits *l,
                      char **why)
{
        const struct sg_backend *b = s->backend;
        enum sg_hier h = sg_fs_hier_of(b, k->kind);
        bool v2 = h == SG_HIER_UNIFIED, asked = sg_knob_is_asked(k, sg_knob_value(l, k));
        const char *file = v2 ? k->v2_file : k->v1_file;
        char group[PATH_MAX];
        int r = -EOPNOTSUPP;

        if (k->kind == SG_LIMIT_IO_WEIGHT)
                file = b->io_weight_file;
        if (h != SG_HIER_MAX && (asked || sg_scope_dir(s, h)))
                r = sg_scope_extend(s, h, why);
        if (r == 0)
                r = sg_fs_limit_group(s, h, k->unit != SG_UNIT_WEIGHT, group);
        if (r == 0)
                r = set_knob(group, k, file, v2, l, why);
        if (r == -EBUSY && may_refuse(k->kind))
                return r;
        if (r == -EOPNOTSUPP && asked)
                sg_why(why, "%s is not enforced: this kernel offers us no way to",
                       sg_limit_kind_to_string(k->kind));
        sg_fs_set_unenforced(s, k->kind, r < 0 && asked);
        return 0;
}

/* Below 1 ms per 100 ms the period grows instead; below 1 ms per second there is nothing. */
static bool quota_values(uint64_t pm, uint64_t *ret_quota, uint64_t *ret_period)
{
        uint64_t period = PERIOD_MIN_USEC;

        if (pm == 0 || pm > UINT64_MAX / PERIOD_MAX_USEC)
                return false;
        if (pm * period / PERMYRIAD < QUOTA_MIN_USEC)
                period = (uint64_t)QUOTA_MIN_USEC * PERMYRIAD / pm;
        if (period > PERIOD_MAX_USEC)
                return false;
        *ret_period = period;
        *ret_quota = (pm * period + PERMYRIAD - 1) / PERMYRIAD;
        return true;
}

static int write_quota_v1(const char *group, uint64_t quota, uint64_t period, char **why)
{
        int r;

        if (quota == SG_UNLIMITED) {
                uint64_t now;

                r = sg_group_read_u64(group, "cpu.cfs_quota_us", &now);
                if (r < 0 || now == SG_UNLIMITED)
                        return r;
                return sg_group_write(group, "cpu.cfs_quota_us", "-1");
        }
        r = sg_limit_write(group, "cpu.cfs_period_us", period, why);
        return r < 0 ? r : sg_limit_write(group, "cpu.cfs_quota_us", quota, why);
}

static int write_quota_v2(const char *group, uint64_t quota, uint64_t period, char **why)
{
        char text[64], now[64];
        int r;

        (void)snprintf(text, sizeof(text), "%llu %llu", (unsigned long long)quota,
                       (unsigned long long)period);
        if (quota == SG_UNLIMITED)
                (void)snprintf(text, sizeof(text), "max %llu", (unsigned long long)period);
        r = sg_group_read(group, "cpu.max", now, sizeof(now));
        if (r == 0 && strcmp(now, text) == 0)
                return 0;
        r = sg_group_write(group, "cpu.max", text);
        if (r == 0)
                r = sg_group_read(group, "cpu.max", now, sizeof(now));
        if (r < 0)
                return sg_group_explain(why, r, group, "cpu.max", text);
        return strcmp(now, text) == 0 ? 0 : -ERANGE;
}

static void apply_quota(struct sg_scope *s, uint64_t pm, char **why)
{
        enum sg_hier h = sg_fs_hier_of(s->backend, SG_LIMIT_CPU_QUOTA);
        uint64_t quota = SG_UNLIMITED, period = PERIOD_MIN_USEC;
        char group[PATH_MAX];
        int r = -EOPNOTSUPP;

        if (pm != SG_UNLIMITED && !quota_values(pm, &quota, &period)) {
                sg_why(why, "cpu_quota is below 0.1%% of a CPU, less than the kernel can hold");
                h = SG_HIER_MAX;
        }
        if (h != SG_HIER_MAX)
                r = sg_fs_limit_group(s, h, true, group);
        if (r == 0 && h == SG_HIER_UNIFIED) {
                if (pm != SG_UNLIMITED)
                        (void)sg_v2_enable(sg_scope_dir(s, h), sg_bit(SG_CONTROLLER_CPU));
                r = write_quota_v2(group, quota, period, pm == SG_UNLIMITED ? NULL : why);
        } else if (r == 0) {
                r = write_quota_v1(group, quota, period, why);
        }
        sg_fs_set_unenforced(s, SG_LIMIT_CPU_QUOTA, r < 0 && pm != SG_UNLIMITED);
}

/* The set in force is what counts: v2 accepts CPUs that the groups above don't have. */
static int write_cpuset(const char *group, bool v2, const struct sg_cpuset *cpus, char **why)
{
        struct sg_cpuset now;
        char text[4096], back[4096];
        int r;

        r = sg_format_cpuset(text, sizeof(text), cpus);
        if (r < 0)
                return r;
        r = sg_group_write(group, "cpuset.cpus", text);
        if (r == 0)
                r = sg_group_read(group, v2 ? "cpuset.cpus.effective" : "cpuset.effective_cpus",
                                  back, sizeof(back));
        if (r < 0)
                return sg_group_explain(why, r, group, "cpuset.cpus", text);
        if (sg_parse_cpuset(back, &now) == 0 && memcmp(&now, cpus, sizeof(now)) == 0)
                return 0;
        sg_why(why, "cpuset of %s was set to %s but only %s is in force", group, text, back);
        return -ERANGE;
}

struct sg_cpuset sg_group_cpus(const char *group)
{
        struct sg_cpuset cpus;
        char text[4096];

        if (sg_group_read(group, "cpuset.cpus", text, sizeof(text)) < 0 ||
            sg_parse_cpuset(text, &cpus) < 0)
                cpus = (struct sg_cpuset){0};
        return cpus;
}

struct sg_cpuset sg_fs_scope_cpus(const struct sg_scope *s)
{
        enum sg_hier h = sg_fs_hier_of(s->backend, SG_LIMIT_CPUSET);
        char group[PATH_MAX];

        if (h == SG_HIER_MAX || sg_fs_limit_group(s, h, true, group) < 0)
                return (struct sg_cpuset){0};
        return sg_group_cpus(group);
}

/* All CPUs again. v2 refuses to empty the list of a group with processes (6.1), so what the group
 * above has is written there instead. */
static int release_cpuset(const char *dir, const char *group, bool v2)
{
        char all[4096];
        int r;

        if (!v2)
                return sg_fs_fill_cpuset(dir, group);
        r = sg_group_write(group, "cpuset.cpus", "\n");
        if (r != -ENOSPC)
                return r;
        r = sg_group_read(dir, "cpuset.cpus.effective", all, sizeof(all));
        return r < 0 ? r : sg_group_write(group, "cpuset.cpus", all);
}

static void apply_cpuset(struct sg_scope *s, bool pin, const struct sg_cpuset *cpus, char **why)
{
        enum sg_hier h = sg_fs_hier_of(s->backend, SG_LIMIT_CPUSET);
        const char *dir = h == SG_HIER_MAX ? NULL : sg_scope_dir(s, h);
        bool v2 = h == SG_HIER_UNIFIED;
        char group[PATH_MAX];
        int r = -EOPNOTSUPP;

        if (!pin && !dir) {
                sg_fs_set_unenforced(s, SG_LIMIT_CPUSET, false);
                return;
        }
        if (h != SG_HIER_MAX)
                r = sg_scope_extend(s, h, why);
        if (r == 0)
                r = sg_fs_limit_group(s, h, true, group);
        if (r == 0 && v2 && pin)
                (void)sg_v2_enable(sg_scope_dir(s, h), sg_bit(SG_CONTROLLER_CPUSET));
        if (r == 0 && pin)
                r = write_cpuset(group, v2, cpus, why);
        else if (r == 0)
                r = release_cpuset(sg_scope_dir(s, h), group, v2);
        sg_fs_set_unenforced(s, SG_LIMIT_CPUSET, r < 0 && pin);
}

uint32_t sg_fs_limit_hiers(const struct sg_backend *b, const struct sg_limits *l)
{
        enum sg_hier h = sg_fs_hier_of(b, SG_LIMIT_CPUSET);
        uint32_t bits = l->pin && h != SG_HIER_MAX ? sg_bit(h) : 0;

        for (size_t i = 0; i < sg_n_knobs; i++) {
                const struct sg_knob *k = &sg_knobs[i];

                h = sg_fs_hier_of(b, k->kind);
                if (sg_knob_is_asked(k, sg_knob_value(l, k)) && h != SG_HIER_MAX)
                        bits |= sg_bit(h);
        }
        return bits;
}

/* v1 holds swap as memory and swap together. */
static bool differs(const struct sg_limits *a, const struct sg_limits *b, const struct sg_knob *k)
{
        return sg_knob_value(a, k) != sg_knob_value(b, k) ||
               (k->kind == SG_LIMIT_SWAP && a->memory_max != b->memory_max);
}

/* Those that may refuse, or the others. Refused, while adopting: the old value stands. */
static int apply_knobs(struct sg_scope *s, const struct sg_limits *l, bool all, bool refusing,
                       char **why)
{
        int r, busy = 0;

        for (size_t i = 0; i < sg_n_knobs; i++) {
                const struct sg_knob *k = &sg_knobs[i];

                if (k->kind == SG_LIMIT_CPU_QUOTA || may_refuse(k->kind) != refusing ||
                    (!all && !differs(l, &s->limits, k)))
                        continue;
                r = apply_knob(s, k, l, why);
                if (r < 0 && !all)
                        return r;
                if (r < 0) {
                        sg_fs_set_unenforced(s, k->kind, true);
                        busy = r;
                }
        }
        return busy;
}

static bool has_cpus(const struct sg_scope *s, const struct sg_cpuset *cpus)
{
        return s->cpus && memcmp(s->cpus, cpus, sizeof(*cpus)) == 0;
}

/* Without memory for it the set is written again the next time. */
static void keep_cpus(struct sg_scope *s, const struct sg_cpuset *cpus)
{
        struct sg_cpuset *copy = cpus ? malloc(sizeof(*copy)) : NULL;

        if (copy)
                *copy = *cpus;
        free((void *)s->cpus);
        s->cpus = copy;
}

void sg_fs_scope_free(struct sg_scope *s)
{
        keep_cpus(s, NULL);
}

/* Memory and swap first: they alone can refuse, and must then leave all as it was. With the first
 * of them v1 has both set or none, so that the second has nothing left to be refused; v2 takes any
 * limit of swap. */
int sg_fs_apply(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                bool all, char **why)
{
        bool pin = l->pin && sg_cpuset_count(cpus) > 0, pinned = s->limits.pin;
        int busy;

        busy = apply_knobs(s, l, all, true, why);
        if (busy < 0 && !all)
                return busy;
        (void)apply_knobs(s, l, all, false, why);
        if (all || l->cpu_quota_pm != s->limits.cpu_quota_pm)
                apply_quota(s, l->cpu_quota_pm, why);
        if (all || pin != pinned || (pin && !has_cpus(s, cpus)))
                apply_cpuset(s, pin, cpus, why);
        s->limits = *l;
        s->limits.pin = pin;
        keep_cpus(s, pin ? cpus : NULL);
        return busy;
}

int sg_fs_scope_set_limits(struct sg_scope *s, const struct sg_limits *l,
                           const struct sg_cpuset *cpus, char **ret_why)
{
        static const struct sg_cpuset none;

        return sg_fs_apply(s, l, cpus ? cpus : &none, false, ret_why);
}

bool sg_limit_stands(const char *group, enum sg_limit_kind kind, const char *file, uint64_t value)
{
        const struct sg_knob *k = sg_knob_of(kind);
        uint64_t now;

        if (k->v2_key)
                return sg_io_stands(group, true, kind, value);
        return sg_limit_read(group, file, &now) == 0 && now == kernel_value(k, true, file, value);
}

int sg_fs_class_weight(struct sg_backend *b, struct sg_class_group *c, uint64_t weight, char **why)
{
        const struct sg_knob *knob = sg_knob_of(SG_LIMIT_CPU_WEIGHT);
        enum sg_hier h = sg_fs_hier_of(b, SG_LIMIT_CPU_WEIGHT);
        bool v2 = h == SG_HIER_UNIFIED;
        const char *file = v2 ? knob->v2_file : knob->v1_file;
        char group[PATH_MAX];
        int r;

        if (h == SG_HIER_MAX || weight == 0 || c->weight == weight)
                return 0;
        r = sg_group_join(group, b->hier[h].base, c->name);
        if (r == 0)
                r = sg_limit_write(group, file, kernel_value(knob, v2, file, weight), why);
        if (r == 0)
                c->weight = weight;
        return r;
}
