/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a request: one table of keys, each with its D-Bus type,
 * its place and its range. */
#include "api/internal.h"
#include "base/format.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

struct option_key {
        const char *name;
        char type; /* of D-Bus; 'u', 't' and 'b' go to a uint64_t, 'i' to an int64_t, 's' to a char
                    * or an array */
        size_t offset, size; /* size: of a char array, 0 = heap string */
        int64_t min;
        uint64_t max;
        uint64_t ask;
        bool live; /* Set may change it */
};

#define AT(member) offsetof(struct sg_submission, member)
#define IO_MIN (64 << 10) /* as IOReadBandwidthMax= wants it */
#define CHARS(member) AT(member), sizeof(((struct sg_submission *)NULL)->member)

static const struct option_key keys[] = {
        {"name", 's', CHARS(job.name), 0, 0, 0, true},
        {"class", 's', CHARS(job.class), 0, 0, 0, false},
        {"cpus", 'u', AT(job.limits.cpus), 0, 1, SG_CPUS_MAX, SG_ASK_CPUS, true},
        {"cpus_max", 'u', AT(job.limits.cpus_max), 0, 1, SG_CPUS_MAX, SG_ASK_CPUS, true},
        {"pin", 'b', AT(job.limits.pin), 0, 0, 1, 0, false},
        {"threads", 's', CHARS(threads), 0, 0, SG_ASK_THREADS, true},
        {"cpu_weight", 't', AT(job.limits.cpu_weight), 0, 1, 10000, SG_ASK_CPU_WEIGHT, true},
        {"cpu_quota", 't', AT(job.limits.cpu_quota_pm), 0, SG_CPU_QUOTA_MIN, SG_UNLIMITED,
         SG_ASK_CPU_QUOTA, true},
        {"mem", 't', AT(job.limits.memory_max), 0, 1 << 20, SG_UNLIMITED, SG_ASK_MEMORY_MAX, true},
        {"mem_high", 't', AT(job.limits.memory_high), 0, 1 << 20, SG_UNLIMITED, SG_ASK_MEMORY_HIGH,
         true},
        {"mem_swap", 't', AT(job.limits.memory_swap_max), 0, 0, SG_UNLIMITED, SG_ASK_SWAP_MAX,
         true},
        {"tasks", 't', AT(job.limits.tasks_max), 0, 1, SG_UNLIMITED, SG_ASK_TASKS, true},
        {"io_weight", 't', AT(job.limits.io_weight), 0, 1, 10000, SG_ASK_IO_WEIGHT, true},
        {"io_read_max", 't', AT(job.limits.io_read_max), 0, IO_MIN, SG_UNLIMITED, SG_ASK_IO_READ,
         true},
        {"io_write_max", 't', AT(job.limits.io_write_max), 0, IO_MIN, SG_UNLIMITED, SG_ASK_IO_WRITE,
         true},
        {"time_limit", 't', AT(job.limits.time_limit_usec), 0, 1, SG_UNLIMITED, SG_ASK_TIME_LIMIT,
         true},
        {"priority", 'i', AT(job.priority), 0, -SG_PRIORITY_MAX, SG_PRIORITY_MAX, 0, true},
        {"after", 's', AT(job.after), 0, 0, 0, 0, false},
        {"begin", 't', AT(job.begin_usec), 0, 0, SG_UNLIMITED, 0, false},
        {"deadline", 't', AT(job.deadline_usec), 0, 1, SG_UNLIMITED, 0, true},
        {"retry", 'u', AT(job.retry), 0, 0, 1000, 0, false},
        {"array_first", 'u', AT(array_first), 0, 0, INT32_MAX, 0, false},
        {"array_last", 'u', AT(array_last), 0, 0, INT32_MAX, 0, false},
        {"hold", 'b', AT(job.hold), 0, 0, 1, 0, false},
        {"workdir", 's', AT(workdir), 0, 0, 0, 0, false},
        {"output", 's', AT(job.output), 0, 0, 0, 0, false},
        {"error", 's', AT(job.error), 0, 0, 0, 0, false},
        {"on_end", 's', AT(on_end), 0, 0, 0, 0, false},
        {"progress", 's', AT(job.progress), 0, 0, 0, 0, false},
        {"eval_goal", 's', CHARS(eval_goal), 0, 0, 0, false},
        {"steps", 't', AT(job.steps), 0, 1, INT64_MAX, 0, false},
        {"umask", 'u', AT(umask), 0, 0, 0777, 0, false},
        {"token", 's', CHARS(token), 0, 0, 0, false},
        {"no_wait", 'b', AT(no_wait), 0, 0, 1, 0, false},
};

static int wrong(sd_bus_error *error, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static int wrong(sd_bus_error *error, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        (void)sd_bus_error_setfv(error, SG_ERROR_INVALID, format, ap);
        va_end(ap);
        return -EINVAL;
}

static const struct option_key *find_key(const char *name)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(keys); i++)
                if (strcmp(keys[i].name, name) == 0)
                        return &keys[i];
        return NULL;
}

/* --- one value */

static int store_string(const struct option_key *k, void *place, const char *s, sd_bus_error *error)
{
        char *copy;

        for (const char *p = s; *p; p++)
                if ((unsigned char)*p < 0x20 || *p == 0x7f)
                        return wrong(error, "%s: control characters are not allowed", k->name);
        if (k->size > 0) {
                if (strlen(s) >= k->size)
                        return wrong(error, "%s: at most %zu bytes, not %zu", k->name, k->size - 1,
                                     strlen(s));
                strcpy(place, s);
                return 0;
        }
        if (strlen(s) >= PATH_MAX)
                return wrong(error, "%s: at most %d bytes, not %zu", k->name, PATH_MAX - 1,
                             strlen(s));
        copy = strdup(s);
        if (!copy)
                return -ENOMEM;
        free(*(char **)place);
        *(char **)place = copy;
        return 0;
}

/* As people write it. */
static const char *format_value(char buf[SG_FORMAT_MAX], const struct option_key *k, uint64_t v)
{
        switch (k->ask) {
        case SG_ASK_MEMORY_MAX:
        case SG_ASK_MEMORY_HIGH:
        case SG_ASK_IO_READ:
        case SG_ASK_IO_WRITE:
                return sg_format_bytes(buf, v);
        case SG_ASK_CPU_QUOTA:
                return sg_format_percent(buf, v);
        case SG_ASK_TIME_LIMIT:
                return sg_format_usec(buf, v);
        default:
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64, v);
                return buf;
        }
}

static int store_unsigned(const struct option_key *k, uint64_t *place, uint64_t v,
                          sd_bus_error *error)
{
        bool low = v < (uint64_t)k->min;
        char bound[SG_FORMAT_MAX], given[SG_FORMAT_MAX];

        if (low || v > k->max)
                return wrong(error, "%s: at %s %s, not %s", k->name, low ? "least" : "most",
                             format_value(bound, k, low ? (uint64_t)k->min : k->max),
                             format_value(given, k, v));
        *place = v;
        return 0;
}

static int store_signed(const struct option_key *k, int64_t *place, int64_t v, sd_bus_error *error)
{
        if (v < k->min || v > (int64_t)k->max)
                return wrong(error, "%s: from %" PRIi64 " to %" PRIu64 ", not %" PRIi64, k->name,
                             k->min, k->max, v);
        *place = v;
        return 0;
}

static int read_value(const struct option_key *k, void *place, sd_bus_message *m,
                      sd_bus_error *error)
{
        union {
                const char *s;
                uint64_t t;
                uint32_t u;
                int32_t i;
                int b;
        } v = {0};
        const char type[] = {k->type, 0};
        int r;

        r = sd_bus_message_read(m, "v", type, &v);
        if (r < 0)
                return wrong(error, "%s: wants a value of D-Bus type %s", k->name, type);
        switch (k->type) {
        case 's':
                return store_string(k, place, v.s, error);
        case 't':
                return store_unsigned(k, place, v.t, error);
        case 'u':
                return store_unsigned(k, place, v.u, error);
        case 'b':
                *(uint64_t *)place = v.b != 0;
                return 0;
        default:
                return store_signed(k, place, v.i, error);
        }
}

static int read_option(struct sg_submission *s, const char *name, bool live, sd_bus_message *m,
                       sd_bus_error *error)
{
        const struct option_key *k = find_key(name);
        int r;

        if (!k)
                return wrong(error, "unknown option '%s'", name);
        if (live && !k->live)
                return wrong(error, "%s can't be changed once a job is submitted", name);
        s->asked |= k->ask;
        r = read_value(k, (char *)s + k->offset, m, error);
        if (s->job.deadline_usec == SG_UNLIMITED)
                s->job.deadline_usec = 0;
        return r;
}

int sg_option_read(const char *key, sd_bus_message *m, void *submission, sd_bus_error *error)
{
        return read_option(submission, key, false, m, error);
}

int sg_option_read_live(const char *key, sd_bus_message *m, void *submission, sd_bus_error *error)
{
        return read_option(submission, key, true, m, error);
}

/* --- all of them */

int sg_limits_check_cpus(const struct sg_limits *l, sd_bus_error *error)
{
        if (l->cpus_max != 0 && l->cpus_max < l->cpus)
                return wrong(error, "cpus: the upper number must not be below the lower one");
        return 0;
}

int sg_submission_take_threads(struct sg_submission *s, sd_bus_error *error)
{
        int threads;

        if (!(s->asked & SG_ASK_THREADS))
                return 0;
        threads = sg_threads_from_string(s->threads);
        if (threads < 0)
                return wrong(error, "threads: follow, start or leave, not '%s'", s->threads);
        s->job.limits.threads = (uint64_t)threads;
        return 0;
}

static int check_together(struct sg_submission *s, sd_bus_error *error)
{
        struct sg_limits *l = &s->job.limits;

        if (s->array_first != SG_UNLIMITED || s->array_last != SG_UNLIMITED) {
                if (s->array_first > s->array_last || s->array_last == SG_UNLIMITED)
                        return wrong(error, "array: the first index must not be above the last");
                if (s->array_last - s->array_first >= SG_ARRAY_MAX)
                        return wrong(error, "array: at most %u tasks", SG_ARRAY_MAX);
                s->count = s->array_last - s->array_first + 1;
                s->job.array_index = (int64_t)s->array_first;
        }
        if (s->workdir && s->workdir[0] != '/')
                return wrong(error, "workdir: wants an absolute path, not '%s'", s->workdir);
        if ((s->job.output && s->job.output[0] != '/') || (s->job.error && s->job.error[0] != '/'))
                return wrong(error, "output and error want absolute paths");
        if (sg_limits_check_cpus(l, error) < 0 || sg_submission_take_threads(s, error) < 0)
                return -EINVAL;
        if (l->pin && l->cpus == 0)
                return wrong(error, "pin: how many CPUs? give --cpus, too");
        return sg_submission_check_progress(s, error);
}

int sg_submission_read_options(struct sg_submission *s, sd_bus_message *m, sd_bus_error *error)
{
        int r;

        s->array_first = s->array_last = SG_UNLIMITED;
        r = sg_api_read_dict(m, sg_option_read, s, error);
        return r < 0 ? r : check_together(s, error);
}

/* Limits: asked for, or the class's */

struct limit_key {
        const char *name;
        uint64_t ask;
        size_t offset;
        char *(*format)(char *, uint64_t);
};

static char *format_count(char *buf, uint64_t v)
{
        (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64, v);
        return buf;
}

static uint64_t *limit_of(struct sg_limits *l, const struct limit_key *k)
{
        return (uint64_t *)((char *)l + k->offset);
}

static const struct limit_key limits[] = {
        {"cpu-weight", SG_ASK_CPU_WEIGHT, offsetof(struct sg_limits, cpu_weight), format_count},
        {"cpu-quota", SG_ASK_CPU_QUOTA, offsetof(struct sg_limits, cpu_quota_pm),
         sg_format_percent},
        {"cpus", SG_ASK_CPUS, offsetof(struct sg_limits, cpus), format_count},
        {"cpus", SG_ASK_CPUS, offsetof(struct sg_limits, cpus_max), format_count},
        {"mem-high", SG_ASK_MEMORY_HIGH, offsetof(struct sg_limits, memory_high), sg_format_bytes},
        {"mem", SG_ASK_MEMORY_MAX, offsetof(struct sg_limits, memory_max), sg_format_bytes},
        {"mem-swap", SG_ASK_SWAP_MAX, offsetof(struct sg_limits, memory_swap_max), sg_format_bytes},
        {"tasks", SG_ASK_TASKS, offsetof(struct sg_limits, tasks_max), format_count},
        {"io-weight", SG_ASK_IO_WEIGHT, offsetof(struct sg_limits, io_weight), format_count},
        {"io-read-max", SG_ASK_IO_READ, offsetof(struct sg_limits, io_read_max), sg_format_bytes},
        {"io-write-max", SG_ASK_IO_WRITE, offsetof(struct sg_limits, io_write_max),
         sg_format_bytes},
        {"time-limit", SG_ASK_TIME_LIMIT, offsetof(struct sg_limits, time_limit_usec),
         sg_format_usec},
};

int sg_limits_check(struct sg_limits *l, uint64_t asked, const struct sg_class *class,
                    const struct sg_settings *settings, const struct sg_node *node,
                    sd_bus_error *error)
{
        uint64_t usable =
                node->memory_total - node->memory_total / 10000 * settings->memory_reserve_pm;
        char a[SG_FORMAT_MAX], b[SG_FORMAT_MAX];

        for (size_t i = 0; i < SG_ELEMENTSOF(limits); i++) {
                const struct limit_key *k = &limits[i];
                uint64_t value = *limit_of(l, k),
                         max = *limit_of((struct sg_limits *)&class->limits_max, k);

                if ((asked & k->ask) && max != SG_UNLIMITED && value > max)
                        return wrong(error, "%s: %s is more than the %s that class '%s' allows",
                                     k->name, k->format(a, value), k->format(b, max), class->name);
        }
        if (l->memory_max != SG_UNLIMITED && l->memory_max > usable)
                return wrong(error,
                             "mem: %s can never be had here: this node can promise %s in all",
                             sg_format_bytes(a, l->memory_max), sg_format_bytes(b, usable));
        if (l->cpus > node->n_cpus)
                return wrong(error, "cpus: this node has %" PRIu64 ", not %" PRIu64, node->n_cpus,
                             l->cpus);
        if (l->cpus_max < l->cpus)
                l->cpus_max = l->cpus;
        return 0;
}

void sg_limits_complete(struct sg_limits *l, uint64_t asked, const struct sg_class *class)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(limits); i++)
                if (!(asked & limits[i].ask))
                        *limit_of(l, &limits[i]) =
                                *limit_of((struct sg_limits *)&class->limits, &limits[i]);
        if (!(asked & SG_ASK_THREADS))
                l->threads = class->limits.threads;
}
