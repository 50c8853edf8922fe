/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The one table of keys. Assignment, reset, documentation checks and the merged listing all follow
 * it, so that a key is added by one line here and one paragraph in a man page.
 */

#include "core/settings/table.h"
#include "proto/gpus.h"
#include <errno.h>
#include <string.h>

#define SEC 1000000ULL
#define DAY (86400 * SEC)
#define KIB 1024ULL
#define MIB (1024 * KIB)

static int in_range(const struct sg_settings_key *k, uint64_t v, uint64_t *field)
{
        if (v < k->min || v > k->max)
                return -EINVAL;
        *field = v;
        return 0;
}

static int parse_count(const struct sg_settings_key *k, const char *value, void *field)
{
        uint64_t v;

        if (strcmp(value, "infinity") == 0)
                return in_range(k, SG_UNLIMITED, field);
        if (sg_parse_u64(value, &v) < 0 || v == SG_UNLIMITED)
                return -EINVAL;
        return in_range(k, v, field);
}

static int parse_gpu_count(const struct sg_settings_key *k, const char *value, void *field)
{
        if (strcmp(value, "infinity") == 0) {
                *(uint64_t *)field = SG_UNLIMITED;
                return 0;
        }
        return parse_count(k, value, field);
}

/* "auto" is kept as SG_UNLIMITED, so that "infinity" must not be accepted beside it. */
static int parse_count_auto(const struct sg_settings_key *k, const char *value, void *field)
{
        if (strcmp(value, "auto") == 0) {
                *(uint64_t *)field = SG_UNLIMITED;
                return 0;
        }
        return parse_count(k, value, field);
}

static int parse_bytes(const struct sg_settings_key *k, const char *value, void *field)
{
        uint64_t v;

        return sg_parse_bytes(value, &v) < 0 ? -EINVAL : in_range(k, v, field);
}

static int parse_usec(const struct sg_settings_key *k, const char *value, void *field)
{
        uint64_t v;

        return sg_parse_usec(value, &v) < 0 ? -EINVAL : in_range(k, v, field);
}

static int parse_percent(const struct sg_settings_key *k, const char *value, void *field)
{
        uint64_t v;

        if (strcmp(value, "infinity") == 0)
                return in_range(k, SG_UNLIMITED, field);
        return sg_parse_percent(value, &v) < 0 ? -EINVAL : in_range(k, v, field);
}

/* "4" or "2-8" into cpus and cpus_max; nothing = not said; "infinity" only as a maximum. */
static int parse_cpus(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_limits *l = field;
        uint32_t lo = 0, hi = 0;

        if (value[0] != '\0' && (sg_parse_range(value, &lo, &hi) < 0 || hi > k->max))
                return -EINVAL;
        l->cpus = lo;
        l->cpus_max = hi;
        return 0;
}

static int parse_choice(const char *const *choices, const char *value)
{
        for (int i = 0; choices[i]; i++)
                if (strcmp(choices[i], value) == 0)
                        return i;
        return -EINVAL;
}

static int parse_show(const struct sg_settings_key *k, const char *value, void *field)
{
        static const char *const choices[] = {[SG_SHOW_NONE] = "no", [SG_SHOW_LIST] = "list", NULL};
        int r = parse_choice(choices, value);

        (void)k;
        if (r < 0)
                return r;
        *(enum sg_visibility *)field = (enum sg_visibility)r;
        return 0;
}

static int parse_threads(const struct sg_settings_key *k, const char *value, void *field)
{
        int r = sg_threads_from_string(value);

        (void)k;
        if (r < 0)
                return r;
        *(uint64_t *)field = (uint64_t)r;
        return 0;
}

static int parse_goal(const struct sg_settings_key *k, const char *value, void *field)
{
        static const char *const choices[] = {[SG_GOAL_MIN] = "min", [SG_GOAL_MAX] = "max", NULL};
        int r = parse_choice(choices, value);

        (void)k;
        if (r < 0)
                return r;
        *(enum sg_goal *)field = (enum sg_goal)r;
        return 0;
}

/* Into an array of k->max bytes. */
static int store_text(const struct sg_settings_key *k, const char *value, char *field)
{
        size_t n = strlen(value);

        if (n >= k->max)
                return -EINVAL;
        memset(field, 0, k->max);
        memcpy(field, value, n);
        return 0;
}

static int parse_preset(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_progress_source s;

        if (sg_progress_source_parse(value, &s) < 0 ||
            (s.kind != SG_PROGRESS_AUTO && s.kind != SG_PROGRESS_NONE &&
             s.kind != SG_PROGRESS_PRESET))
                return -EINVAL;
        return store_text(k, value, field);
}

/* Whether it compiles is looked at when all files are read: that takes a library. */
static int parse_progress_pattern(const struct sg_settings_key *k, const char *value, void *field)
{
        if (value[0] != '\0' && !strstr(value, "(?<"))
                return -EINVAL;
        return store_text(k, value, field);
}

static int parse_progress_file(const struct sg_settings_key *k, const char *value, void *field)
{
        return store_text(k, value, field);
}

#define NAME(kind, name) [SG_ORDER_##kind] = #name,
int sg_order_from_string(const char *name)
{
        static const char *const names[] = {SG_ORDERS(NAME)};

        for (int i = 0; i < _SG_ORDER_MAX; i++)
                if (strcmp(names[i], name) == 0)
                        return i;
        return -EINVAL;
}

static int parse_order(const struct sg_settings_key *k, const char *value, void *field)
{
        int r = sg_order_from_string(value);

        (void)k;
        if (r < 0)
                return r;
        *(enum sg_order *)field = (enum sg_order)r;
        return 0;
}

static int parse_directory(const struct sg_settings_key *k, const char *value, void *field)
{
        return value[0] && value[0] != '/' ? -EINVAL : store_text(k, value, field);
}

static int parse_listen(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        if (value[0])
                return sg_parse_address(value, field);
        memset(field, 0, sizeof(struct sg_address));
        return 0;
}

static int parse_device_policy(const struct sg_settings_key *k, const char *value, void *field)
{
        static const char *const choices[] = {"auto", "closed", NULL};
        int r = parse_choice(choices, value);

        (void)k;
        if (r < 0)
                return r;
        *(bool *)field = r > 0;
        return 0;
}

static bool is_word(const char *s, const char *also)
{
        for (; *s; s++)
                if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                      (*s >= '0' && *s <= '9') || strchr(also, *s)))
                        return false;
        return true;
}

/* It becomes part of ids ("7@node"), of directories and of groups. */
static int parse_node_name(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_settings *s = field;
        size_t n;

        (void)k;
        if (value[0] == '\0')
                value = s->hostname;
        n = strlen(value);
        if (n >= sizeof(s->name) || value[0] == '.' || value[0] == '-' || !is_word(value, "._-"))
                return -EINVAL;
        memset(s->name, 0, sizeof(s->name)); /* equal settings are equal bytes */
        memcpy(s->name, value, n);
        return 0;
}

/* It becomes a directory of the cgroup trees: never a path, never one of the kernel's own files. */
static int parse_class_name(const struct sg_settings_key *k, const char *value, void *field)
{
        static const char *const taken[] = {"tasks", "notify_on_release", "release_agent", NULL};
        size_t n = strlen(value);

        (void)k;
        if (n >= SG_CLASS_NAME_MAX || value[0] == '-' || !is_word(value, "_-") ||
            parse_choice(taken, value) >= 0)
                return -EINVAL;
        memset(field, 0, SG_CLASS_NAME_MAX);
        memcpy(field, value, n);
        return 0;
}

static int parse_yes(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        return sg_parse_bool(value, field);
}

static int parse_cpus_max(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_limits *l = field;
        int r = parse_count(k, value, &l->cpus);

        if (r >= 0)
                l->cpus_max = l->cpus;
        return r;
}

#define WANTS_WEIGHT "a whole number from 1 to 10000"
#define WANTS_COUNT "a whole number from 1, or \"infinity\""
#define WANTS_BYTES "a size of at least 1M such as 512M or 4G, or \"infinity\""
#define WANTS_SWAP "a size such as 0 or 4G, or \"infinity\""
#define WANTS_RATE "a size per second, at least 64K, such as 10M, or \"infinity\""
#define WANTS_PERCENT "a percentage of one CPU, at least 0.1%, such as 50% or 200%, or \"infinity\""
#define WANTS_GPUS "a whole number from 0 to 64, or \"infinity\""
#define WANTS_DIRECTORY "the absolute path of a directory, of less than 256 bytes"
#define WANTS_TIME "a time span of at least 1s such as 90min or 2h, or \"infinity\""
#define WANTS_NAMES "patterns between blanks, at most 1000 of them"
#define WANTS_PEOPLE "names or patterns between blanks, without commas, at most 1000 of them"

/* The names of a list such as SG_ORDERS, quoted, with commas between them. */
#define WANTS_NAME(kind, name) ", \"" #name "\""
#define WANTS_ONE_OF(list) (&list(WANTS_NAME)[2])

#define NODE(field) offsetof(struct sg_settings, field)
#define CLASS(field) offsetof(struct sg_class, field)
#define INF SG_UNLIMITED

/* A limit has two keys: what a job gets that doesn't ask, and what it may ask for. How they are
 * parsed follows from its unit. */
#define PARSE_WEIGHT parse_count
#define PARSE_PERCENT parse_percent
#define PARSE_BYTES parse_bytes
#define PARSE_SWAP parse_bytes
#define PARSE_RATE parse_bytes
#define PARSE_COUNT parse_count
#define PARSE_TIME parse_usec
#define IS_WEIGHT(unit) (SG_UNIT_##unit == SG_UNIT_WEIGHT)
/* A time limit for all jobs of a class is a second or more. */
#define LEAST(unit) (SG_UNIT_##unit == SG_UNIT_TIME ? SEC : SG_LEAST_##unit)

/* clang-format off */
#define GIVEN(kind, field, tag, unit, option, request, document, class_key, ...) \
        {"Limits", class_key, "policy", IS_WEIGHT(unit) ? "100" : "infinity", WANTS_##unit, false, PARSE_##unit, CLASS(limits.field), LEAST(unit), SG_UNIT_MOST(SG_UNIT_##unit)}
#define ALLOWED(kind, field, tag, unit, option, request, document, class_key, ...) \
        {"Limits", "Max" class_key, "policy", "infinity", IS_WEIGHT(unit) ? WANTS_COUNT : WANTS_##unit, false, PARSE_##unit, CLASS(limits_max.field), LEAST(unit), INF}

const struct sg_settings_key sg_settings_keys[] = {
        /* section, key, file, fallback, wants, list, parse, offset, min, max */
        {"Node", "Name", "conf", "", "letters, digits and \"._-\", at most 64, the first no \".\" or \"-\"", false, parse_node_name, 0, 0, 0},
        {"Node", "ShowOthers", "conf", "list", "\"no\" or \"list\"", false, parse_show, NODE(show_others), 0, 0},

        {"Queue", "JobsPerCpu", "conf", "4", "a whole number from 1 to 10000", false, parse_count, NODE(jobs_per_cpu), 1, 10000},
        {"Queue", "MaxJobs", "conf", "auto", "a whole number from 1 to 1000000, or \"auto\"", false, parse_count_auto, NODE(max_jobs), 1, 1000000},
        {"Queue", "MaxQueuedPerUser", "conf", "100000", WANTS_COUNT, false, parse_count, NODE(max_queued_per_user), 1, INF},
        {"Queue", "MaxStoredPerUser", "conf", "256M", WANTS_BYTES, false, parse_bytes, NODE(max_stored_per_user), MIB, INF},
        {"Queue", "MemoryReserve", "conf", "10%", "a percentage from 0% to 90%", false, parse_percent, NODE(memory_reserve_pm), 0, 9000},
        {"Queue", "KillGrace", "conf", "10s", "a time span from 0 to 1d such as 10s", false, parse_usec, NODE(kill_grace_usec), 0, DAY},

        {"Gpu", "Manage", "conf", "auto", "\"auto\" or \"no\"", false, sg_settings_parse_manage, NODE(gpu.manage), 0, 0},
        {"Gpu", "Exclude", "conf", "", "indexes, UUIDs or bus ids between blanks, of less than 4096 bytes", false, sg_settings_parse_words, NODE(gpu.exclude), 95, SG_GPU_EXCLUDED_MAX},
        {"Gpu", "IgnoreProcesses", "conf", "Xorg Xwayland gnome-shell mutter-x11-fram kwin_wayland kwin_x11", "names of processes between blanks, each of at most 15 bytes, of less than 1024", false, sg_settings_parse_words, NODE(gpu.ignore), 15, SG_GPU_IGNORED_MAX},
        {"Gpu", "Timeout", "conf", "5s", "a time span from 1s to 5min", false, parse_usec, NODE(gpu.timeout_usec), SEC, 300 * SEC},
        {"Gpu", "Library", "conf", "", "the absolute path of a library, of less than 256 bytes", false, parse_directory, NODE(gpu.library), 0, SG_GPU_FILE_MAX},
        {"Gpu", "DriverRoot", "conf", "/", WANTS_DIRECTORY, false, parse_directory, NODE(gpu.driver_root), 0, SG_GPU_FILE_MAX},
        {"Gpu", "JobMapping", "conf", "", WANTS_DIRECTORY, false, parse_directory, NODE(gpu.job_mapping), 0, SG_GPU_FILE_MAX},

        {"Logs", "MaxSize", "conf", "256M", "a size of at least 1K such as 256M, or \"infinity\"", false, parse_bytes, NODE(log_max_bytes), 1024, INF},
        {"Logs", "Keep", "conf", "1", "a whole number from 0 to 100", false, parse_count, NODE(log_keep), 0, 100},

        {"History", "KeepJobs", "conf", "100000", WANTS_COUNT, false, parse_count, NODE(history_jobs), 1, INF},
        {"History", "KeepTime", "conf", "365d", "a time span of at least 1s such as 30d, or \"infinity\"", false, parse_usec, NODE(history_usec), SEC, INF},

        {"Store", "KeepCommands", "conf", "yes", "\"yes\" or \"no\"", false, parse_yes, NODE(keep_commands), 0, 0},

        {"Monitor", "Interval", "conf", "1s", "a time span from 100ms to 1min", false, parse_usec, NODE(monitor_usec), SEC / 10, 60 * SEC},
        {"Monitor", "MaxInterval", "conf", "30s", "a time span from 1s to 1h", false, parse_usec, NODE(monitor_max_usec), SEC, 3600 * SEC},

        {"Metrics", "TextFile", "conf", "", WANTS_DIRECTORY, false, parse_directory, NODE(metrics_dir), 0, SG_METRICS_DIR_MAX},
        {"Metrics", "Listen", "conf", "", "a port, or ADDRESS:PORT such as 127.0.0.1:9750 or [::1]:9750", false, parse_listen, NODE(metrics_listen), 0, 0},
        {"Metrics", "Interval", "conf", "15s", "a time span from 1s to 1h such as 15s", false, parse_usec, NODE(metrics_usec), SEC, 3600 * SEC},

        {"Match", "User", "policy", "", WANTS_PEOPLE, true, sg_settings_parse_people, CLASS(match_user), 0, 0},
        {"Match", "Group", "policy", "", WANTS_PEOPLE, true, sg_settings_parse_people, CLASS(match_group), 0, 0},
        {"Match", "Command", "policy", "", "a pattern, at most 1000 of them", true, sg_settings_parse_pattern, CLASS(match_command), 0, 0},

        {"Match", "Gpu", "policy", "", "\"yes\" or \"no\"", false, sg_settings_parse_match_gpu, CLASS(gpus.match), 0, 0},

        {"Class", "Name", "policy", "", "letters, digits and \"_-\", at most 32, the first no \"-\", and no file of the kernel's (\"tasks\")", false, parse_class_name, CLASS(name), 0, 0},
        {"Class", "Weight", "policy", "100", WANTS_WEIGHT, false, parse_count, CLASS(weight), 1, SG_WEIGHT_MAX},
        {"Class", "MaxJobs", "policy", "infinity", WANTS_COUNT, false, parse_count, CLASS(max_jobs), 1, INF},
        {"Class", "MaxJobsPerUser", "policy", "infinity", WANTS_COUNT, false, parse_count, CLASS(max_jobs_per_user), 1, INF},
        {"Class", "MaxGpusPerUser", "policy", "infinity", WANTS_GPUS, false, parse_gpu_count, CLASS(gpus.max_per_user), 0, SG_GPUS_ASKED_MAX},
        {"Class", "Threads", "policy", "follow", "\"follow\", \"start\" or \"leave\"", false, parse_threads, CLASS(limits.threads), 0, 0},
        {"Class", "Unbuffered", "policy", "yes", "\"yes\" or \"no\"", false, parse_yes, CLASS(unbuffered), 0, 0},

        SG_CPU_LIMITS(GIVEN),
        {"Limits", "CPUs", "policy", "", "a number of CPUs such as 4, or a range such as 2-8, up to 1024", false, parse_cpus, CLASS(limits), 1, SG_CPUS_MAX},
        SG_MORE_LIMITS(GIVEN),
        {"Limits", "Gpus", "policy", "", SG_GPUS_WANTS, false, sg_settings_parse_gpus, CLASS(gpus.given), 0, 0},
        {"Limits", "GpuMemory", "policy", "infinity", WANTS_BYTES, false, parse_bytes, CLASS(gpus.given.memory_bytes), MIB, INF},
        {"Limits", "GpuIdleLimit", "policy", "infinity", "a time span of at least 1min such as 2h, with \"end\" behind it if jobs are to be ended then, or \"infinity\"", false, sg_settings_parse_idle, CLASS(gpus), 60 * SEC, INF},
        SG_CPU_LIMITS(ALLOWED),
        {"Limits", "MaxCPUs", "policy", "infinity", WANTS_COUNT, false, parse_cpus_max, CLASS(limits_max), 1, INF},
        SG_MORE_LIMITS(ALLOWED),
        {"Limits", "MaxGpus", "policy", "infinity", WANTS_GPUS, false, parse_gpu_count, CLASS(gpus.max), 0, SG_GPUS_ASKED_MAX},
        {"Limits", "DevicePolicy", "policy", "auto", "\"auto\" or \"closed\"", false, parse_device_policy, CLASS(device_closed), 0, 0},
        {"Limits", "DeviceAllow", "policy", "", "the path of a node below /dev and any of \"rwm\", such as \"/dev/nvidia0 rw\", at most 1000 of them", true, sg_settings_parse_device, 0, 0, 0},

        {"Policy", "Share", "policy", "growth", WANTS_ONE_OF(SG_SHARE_POLICIES), false, sg_settings_parse_share, CLASS(share.share), 0, 0},
        {"Policy", "Objective", "policy", "balanced", "\"jct\", \"balanced\" or \"quality\"", false, sg_settings_parse_objective, CLASS(share.objective), 0, 0},
        {"Policy", "Order", "policy", "priority", WANTS_ONE_OF(SG_ORDERS), false, parse_order, CLASS(order), 0, 0},
        {"Policy", "Backfill", "policy", "yes", "\"yes\" or \"no\"", false, parse_yes, CLASS(backfill), 0, 0},

        {"Growth", "Tick", "policy", "1s", "a time span from 100ms to 1min", false, sg_settings_parse_seconds, CLASS(share.tick), SEC / 10, 60 * SEC},
        {"Growth", "MaxInterval", "policy", "1min", "a time span from 1s to 1h", false, sg_settings_parse_seconds, CLASS(share.max_interval), SEC, 3600 * SEC},
        {"Growth", "ProbeCpu", "policy", "3s", "a time span from 0 to 1h, of CPU", false, sg_settings_parse_seconds, CLASS(share.probe), 0, 3600 * SEC},
        {"Growth", "NoHarm", "policy", "5%", "a percentage such as 5%, or \"infinity\"", false, sg_settings_parse_part, CLASS(share.no_harm), 0, INF},
        {"Growth", "Floor", "policy", "5%", "a percentage from 0% to 100%", false, sg_settings_parse_part, CLASS(share.floor), 0, 10000},
        {"Growth", "Exponent", "policy", "auto", "a number from 0.05 to 1, or \"auto\"", false, sg_settings_parse_exponent, CLASS(share.exponent), 50000, 1000000},

        {"FlowCon", "Alpha", "policy", "0.05", "a number from 0 to 1000", false, sg_settings_parse_number, CLASS(share.alpha), 0, 1000000000},
        {"FlowCon", "Interval", "policy", "20s", "a time span from 1s to 1h", false, sg_settings_parse_seconds, CLASS(share.interval), SEC, 3600 * SEC},
        {"FlowCon", "Beta", "policy", "2", "a number from 1 to 1000", false, sg_settings_parse_number, CLASS(share.beta), 1000000, 1000000000},
        {"FlowCon", "Mode", "policy", "soft", "\"soft\", \"hard\" or \"weight\"", false, sg_settings_parse_mode, CLASS(share.mode), 0, 0},
        {"FlowCon", "Literal", "policy", "no", "\"yes\" or \"no\"", false, parse_yes, CLASS(share.literal), 0, 0},
        {"FlowCon", "Resource", "policy", "cpu", "\"cpu\", \"memory\", \"io\" or \"net\"", false, sg_settings_parse_resource, CLASS(share.resource), 0, 0},

        {"Progress", "Preset", "policy", "auto", "\"auto\", \"none\", \"json\" or a preset: \"keras\", \"lightning\", \"huggingface\", \"tqdm\", \"xgboost\", \"lightgbm\", \"plain\"", false, parse_preset, CLASS(progress_preset), 0, SG_PRESET_NAME_MAX},
        {"Progress", "Pattern", "policy", "", "a regular expression with (?<loss>…), of less than 1024 bytes", false, parse_progress_pattern, CLASS(progress_pattern), 0, SG_PROGRESS_SOURCE_MAX},
        {"Progress", "File", "policy", "", "the path of a file, or \"tensorboard:\" and a directory, of less than 1024 bytes", false, parse_progress_file, CLASS(progress_file), 0, SG_PROGRESS_SOURCE_MAX},
        {"Progress", "Journal", "policy", "yes", "\"yes\" or \"no\"", false, parse_yes, CLASS(progress_journal), 0, 0},
        {"Progress", "Goal", "policy", "min", "\"min\" or \"max\"", false, parse_goal, CLASS(goal), 0, 0},

        {"Adopt", "Units", "policy", "", WANTS_NAMES, true, sg_settings_parse_patterns, CLASS(adopt_units), 0, 0},
        {"Adopt", "Cgroups", "policy", "", "absolute paths between blanks, patterns in each component, \"**\" once for any number of them, at most 1000", true, sg_settings_parse_cgroups, CLASS(adopt_cgroups), 0, 0},
        {"Adopt", "Limits", "policy", "no", "\"yes\" or \"no\"", false, parse_yes, CLASS(adopt_limits), 0, 0},
        {NULL, NULL, NULL, NULL, NULL, false, NULL, 0, 0, 0},
};
/* clang-format on */
