/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of sources. A bare v2 tree beside v1 has cpu.stat and the pressure files too;
 * throttling comes from the controller and is only on v1 there. Where the first of a role's figures
 * comes with another role's file as well (on v2 memory.events has the times at the limit, io.stat
 * the operations), the role comes behind that one and has nothing to do.
 */

#include "base/cleanup.h"
#include "core/measure/kernel-text.h"
#include "edge/kernel/sampler-internal.h"
#include <errno.h>
#include <stddef.h>

#define FIELDS_MAX 6

#define KEY(name, unit, key)                                                                       \
        {                                                                                          \
                offsetof(struct sg_sample, name) / sizeof(uint64_t), SG_UNIT_##unit, key           \
        }
#define FIELD(name) KEY(name, AS_IS, NULL)

static const struct sg_source_field cpu_usage[] = {
        KEY(cpu_usec, AS_IS, "usage_usec"),      KEY(user_usec, AS_IS, "user_usec"),
        KEY(system_usec, AS_IS, "system_usec"),  KEY(n_periods, AS_IS, "nr_periods"),
        KEY(n_throttled, AS_IS, "nr_throttled"), KEY(throttled_usec, AS_IS, "throttled_usec"),
};
static const struct sg_source_field cpuacct_usage[] = {KEY(cpu_usec, NSEC, NULL)};
static const struct sg_source_field cpuacct_stat[] = {
        KEY(user_usec, TICKS, "user"),
        KEY(system_usec, TICKS, "system"),
};
static const struct sg_source_field throttle[] = {
        KEY(n_periods, AS_IS, "nr_periods"),
        KEY(n_throttled, AS_IS, "nr_throttled"),
        KEY(throttled_usec, AS_IS, "throttled_usec"),
};
static const struct sg_source_field throttle_v1[] = {
        KEY(n_periods, AS_IS, "nr_periods"),
        KEY(n_throttled, AS_IS, "nr_throttled"),
        KEY(throttled_usec, NSEC, "throttled_time"),
};
static const struct sg_source_field memory[] = {FIELD(memory_bytes)};
static const struct sg_source_field inactive[] = {KEY(working_set_bytes, AS_IS, "inactive_file")};
static const struct sg_source_field inactive_v1[] = {
        KEY(working_set_bytes, AS_IS, "total_inactive_file")};
static const struct sg_source_field peak[] = {FIELD(memory_peak_bytes)};
static const struct sg_source_field memory_events[] = {
        KEY(oom_kills, AS_IS, "oom_kill"),
        KEY(memory_high_events, AS_IS, "high"),
        KEY(memory_max_events, AS_IS, "max"),
};
static const struct sg_source_field oom_control[] = {KEY(oom_kills, AS_IS, "oom_kill")};
static const struct sg_source_field failcnt[] = {FIELD(memory_max_events)};
static const struct sg_source_field io_stat[] = {
        FIELD(io_read_bytes),
        FIELD(io_write_bytes),
        FIELD(io_read_ops),
        FIELD(io_write_ops),
};
static const struct sg_source_field io_bytes[] = {FIELD(io_read_bytes), FIELD(io_write_bytes)};
static const struct sg_source_field io_ops[] = {FIELD(io_read_ops), FIELD(io_write_ops)};
static const struct sg_source_field pids[] = {FIELD(pids)};
static const struct sg_source_field psi_cpu[] = {FIELD(psi_cpu_some_usec)};
static const struct sg_source_field psi_memory[] = {FIELD(psi_memory_some_usec),
                                                    FIELD(psi_memory_full_usec)};
static const struct sg_source_field psi_io[] = {FIELD(psi_io_some_usec), FIELD(psi_io_full_usec)};

#define SOURCE(hier, file, format, fields)                                                         \
        {                                                                                          \
                SG_HIER_##hier, file, SG_SOURCE_##format, SG_ELEMENTSOF(fields), fields            \
        }

const struct sg_role sg_roles[SG_ROLES_MAX] = {
        {SG_SAMPLE_CPU,
         {SOURCE(UNIFIED, "cpu.stat", KEYED, cpu_usage),
          SOURCE(CPUACCT, "cpuacct.usage", NUMBER, cpuacct_usage),
          SOURCE(CPU, "cpuacct.usage", NUMBER, cpuacct_usage)}},
        {SG_SAMPLE_CPU,
         {SOURCE(CPUACCT, "cpuacct.stat", KEYED, cpuacct_stat),
          SOURCE(CPU, "cpuacct.stat", KEYED, cpuacct_stat)}},
        {SG_SAMPLE_MEMORY,
         {SOURCE(UNIFIED, "memory.current", NUMBER, memory),
          SOURCE(MEMORY, "memory.usage_in_bytes", NUMBER, memory)}},
        {SG_SAMPLE_WORKING_SET,
         {SOURCE(UNIFIED, "memory.stat", INACTIVE, inactive),
          SOURCE(MEMORY, "memory.stat", INACTIVE, inactive_v1)}},
        {SG_SAMPLE_EVENTS,
         {SOURCE(UNIFIED, "cpu.stat", KEYED, throttle),
          SOURCE(CPU, "cpu.stat", KEYED, throttle_v1)}},
        {SG_SAMPLE_EVENTS,
         {SOURCE(UNIFIED, "memory.peak", NUMBER, peak),
          SOURCE(MEMORY, "memory.max_usage_in_bytes", NUMBER, peak)}},
        {SG_SAMPLE_EVENTS,
         {SOURCE(UNIFIED, "memory.events", KEYED, memory_events),
          SOURCE(MEMORY, "memory.oom_control", KEYED, oom_control)}},
        {SG_SAMPLE_EVENTS, {SOURCE(MEMORY, "memory.failcnt", NUMBER, failcnt)}},
        {SG_SAMPLE_IO,
         {SOURCE(UNIFIED, "io.stat", IO_STAT, io_stat),
          SOURCE(BLKIO, "blkio.throttle.io_service_bytes_recursive", BLKIO, io_bytes)}},
        {SG_SAMPLE_IO, {SOURCE(BLKIO, "blkio.throttle.io_serviced_recursive", BLKIO, io_ops)}},
        {SG_SAMPLE_PIDS,
         {SOURCE(UNIFIED, "pids.current", NUMBER, pids),
          SOURCE(PIDS, "pids.current", NUMBER, pids)}},
        {SG_SAMPLE_PSI, {SOURCE(UNIFIED, "cpu.pressure", PSI, psi_cpu)}},
        {SG_SAMPLE_PSI, {SOURCE(UNIFIED, "memory.pressure", PSI, psi_memory)}},
        {SG_SAMPLE_PSI, {SOURCE(UNIFIED, "io.pressure", PSI, psi_io)}},
};

static uint64_t *figure(struct sg_sampling *s, const struct sg_source_field *f)
{
        return (uint64_t *)&s->sample + f->figure;
}

static bool is_known(const struct sg_source_field *f, const struct sg_sampling *s)
{
        return s->known & UINT32_C(1) << f->figure;
}

bool sg_role_known(const struct sg_role *role, const struct sg_sampling *s)
{
        return is_known(&role->sources[0].fields[0], s);
}

void sg_role_forget(const struct sg_role *role, struct sg_sampling *s)
{
        for (size_t i = 0; i < SG_SOURCES_MAX && role->sources[i].file; i++)
                for (size_t k = 0; k < role->sources[i].n_fields; k++) {
                        const struct sg_source_field *f = &role->sources[i].fields[k];

                        if (!is_known(f, s))
                                *figure(s, f) = SG_UNLIMITED;
                }
}

static uint64_t in_unit(uint64_t v, enum sg_source_unit unit)
{
        switch (unit) {
        case SG_UNIT_NSEC:
                return v / 1000;
        case SG_UNIT_TICKS:
                return __builtin_mul_overflow(v, 1000000 / (uint64_t)sysconf(_SC_CLK_TCK), &v)
                               ? SG_UNLIMITED
                               : v;
        default:
                return v;
        }
}

/* What a text has not, beside the first, is left alone: another role may give it. */
static void set_figures(const struct sg_source *source, const uint64_t *values,
                        struct sg_sampling *s)
{
        for (size_t i = 0; i < source->n_fields; i++)
                if (i == 0 || values[i] != SG_UNLIMITED) {
                        const struct sg_source_field *f = &source->fields[i];

                        *figure(s, f) = in_unit(values[i], f->unit);
                        s->known |= UINT32_C(1) << f->figure;
                }
}

static int parse_keyed(const struct sg_source *source, const char *text, size_t n, uint64_t *values)
{
        struct sg_kernel_key keys[FIELDS_MAX];

        for (size_t i = 0; i < source->n_fields; i++)
                keys[i] = (struct sg_kernel_key){source->fields[i].key, &values[i]};
        return sg_kernel_keyed(text, n, keys, source->n_fields);
}

static int parse(const struct sg_source *source, const char *text, size_t n, uint64_t *values)
{
        struct sg_kernel_psi psi;
        struct sg_kernel_io io;
        int r;

        switch (source->format) {
        case SG_SOURCE_NUMBER:
                return sg_kernel_number(text, n, &values[0]);
        case SG_SOURCE_KEYED:
        case SG_SOURCE_INACTIVE:
                return parse_keyed(source, text, n, values);
        case SG_SOURCE_PSI:
                r = sg_kernel_psi(text, n, &psi);
                if (r >= 0) {
                        values[0] = psi.some_usec;
                        values[1] = psi.full_usec;
                }
                return r;
        case SG_SOURCE_IO_STAT:
                r = sg_kernel_io_stat(text, n, &io);
                if (r >= 0) {
                        values[0] = io.read_bytes;
                        values[1] = io.write_bytes;
                        values[2] = io.read_ops;
                        values[3] = io.write_ops;
                }
                return r;
        case SG_SOURCE_BLKIO:
                return sg_kernel_blkio(text, n, &values[0], &values[1]);
        }
        return -EBADMSG;
}

/* Both change all the time and are read one after the other. */
static uint64_t working_set(const struct sg_sample *s, uint64_t inactive_bytes)
{
        if (s->memory_bytes == SG_UNLIMITED)
                return SG_UNLIMITED;
        return s->memory_bytes > inactive_bytes ? s->memory_bytes - inactive_bytes : 0;
}

int sg_source_parse(const struct sg_source *source, const char *text, size_t n,
                    struct sg_sampling *s)
{
        uint64_t values[FIELDS_MAX];
        int r;

        for (size_t i = 0; i < FIELDS_MAX; i++)
                values[i] = SG_UNLIMITED;
        r = parse(source, text, n, values);
        if (r < 0)
                return r;
        if (values[0] == SG_UNLIMITED)
                return -ENODATA;
        if (source->format == SG_SOURCE_INACTIVE)
                values[0] = working_set(&s->sample, values[0]);
        set_figures(source, values, s);
        return 0;
}
