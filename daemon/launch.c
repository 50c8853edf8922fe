/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the shim is told besides what was submitted: the launch part of its spec. */
#include "base/format.h"
#include "manager.h"
#include "proto/spec.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_env(struct sg_record *r, uint16_t tag, const char *name, const char *value)
{
        char line[256];

        (void)snprintf(line, sizeof(line), "%s=%s", name, value);
        sg_record_put_str(r, tag, line);
}

static void put_env_u64(struct sg_record *r, uint16_t tag, const char *name, uint64_t value)
{
        char number[24];

        (void)snprintf(number, sizeof(number), "%" PRIu64, value);
        put_env(r, tag, name, number);
}

static void put_environment(const struct sg_live *l, struct sg_record *r)
{
        static const char *const threads[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                              "MKL_NUM_THREADS"};
        char id[SG_JOB_ID_MAX];

        sg_job_id_format(id, &l->job.key, l->manager->node.name);
        put_env(r, SG_SPEC_ENV_FORCE, "SCHEDGOV_JOB_ID", id);
        put_env(r, SG_SPEC_ENV_FORCE, "SCHEDGOV_JOB_NAME", l->job.name);
        put_env_u64(r, SG_SPEC_ENV_FORCE, "SCHEDGOV_ATTEMPT", l->job.key.attempt);
        if (l->job.array_first > 0)
                put_env_u64(r, SG_SPEC_ENV_FORCE, "SCHEDGOV_ARRAY_INDEX",
                            (uint64_t)l->job.array_index);
        if (l->job.limits.cpus > 0)
                for (size_t i = 0; i < SG_ELEMENTSOF(threads); i++)
                        put_env_u64(r, SG_SPEC_ENV_DEFAULT, threads[i], l->job.limits.cpus);
        if (l->job.limits.cpu_quota_pm != SG_UNLIMITED)
                put_env(r, SG_SPEC_ENV_DEFAULT, "OMP_WAIT_POLICY", "passive");
}

static void put_groups(const struct sg_live *l, struct sg_record *r)
{
        size_t n;
        const struct sg_group_dir *dirs = sg_scope_dirs(l->scope, &n);

        if (sg_scope_wants_place(l->scope))
                sg_record_put_u64(r, SG_SPEC_AWAITS_PLACE, 1);
        for (size_t i = 0; i < n; i++) {
                char field[4096];
                size_t size = strnlen(dirs[i].path, sizeof(field) - 1);

                field[0] = (char)dirs[i].hier;
                memcpy(field + 1, dirs[i].path, size);
                sg_record_put(r, SG_SPEC_GROUP_DIR, field, size + 1);
        }
}

void sg_live_put_launch(const struct sg_live *l, struct sg_record *r)
{
        const struct sg_settings *s = l->manager->settings;
        char path[4096], cpus[256];

        put_groups(l, r);
        put_environment(l, r);
        (void)snprintf(path, sizeof(path), "%s/logs/%" PRIu64 "-%s.log",
                       sg_store_dir(l->manager->store), l->job.key.n, l->job.key.origin);
        sg_record_put_str(r, SG_SPEC_LOG, path);
        sg_record_put_u64(r, SG_SPEC_LOG_MAX,
                          s->log_max_bytes == SG_UNLIMITED ? 0 : s->log_max_bytes);
        sg_record_put_u64(r, SG_SPEC_LOG_KEEP, s->log_keep);
        if (l->job.limits.pin && (sg_scope_unenforced(l->scope) & (1U << SG_LIMIT_CPUSET)) &&
            sg_format_cpuset(cpus, sizeof(cpus), &l->pinned) >= 0)
                sg_record_put_str(r, SG_SPEC_CPU_AFFINITY, cpus);
}
