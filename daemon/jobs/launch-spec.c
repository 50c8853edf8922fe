/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the shim is told besides what was submitted: the launch part of its spec. */
#include "base/format.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include "proto/job-env.h"
#include "proto/spec.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void put_env(const struct sg_live_env *out, bool force, const char *name, const char *value)
{
        char line[PATH_MAX + 64];

        (void)snprintf(line, sizeof(line), "%s=%s", name, value);
        out->put(line, force, out->userdata);
}

static void put_env_u64(const struct sg_live_env *out, bool force, const char *name, uint64_t value)
{
        char number[24];

        (void)snprintf(number, sizeof(number), "%" PRIu64, value);
        put_env(out, force, name, number);
}

static void put_channels(const struct sg_live *l, const struct sg_live_env *out)
{
        struct sg_monitor_paths paths = {0};

        if (sg_monitor_paths(l, &paths) >= 0)
                put_env(out, true, "SCHEDGOV_ALLOCATION", paths.allocation);
        put_env(out, true, "NOTIFY_SOCKET", paths.notify);
}

/* Runtimes are told the most threads that the job can ever have, as they make no room for more
 * later; a job whose threads don't follow is told what its share is worth now. */
uint64_t sg_live_threads_given(const struct sg_live *l)
{
        const struct sg_limits *limits = &l->job.limits;
        struct sg_thread_range all = sg_limits_threads(limits, sg_live_usable_cpus(l));
        uint64_t now = sg_loop_threads(l);

        if (limits->threads == SG_THREADS_START && now > 0)
                return now;
        return limits->threads == SG_THREADS_LEAVE ? 0 : all.most;
}

/* A `schedctl` inside the job tells by SCHEDGOV_THREADS_MAX which of these variables are ours, and
 * not the user's (job-env.h). */
static void put_threads(const struct sg_live *l, const struct sg_live_env *out)
{
        const struct sg_job *j = &l->job;
        bool follows = j->limits.threads == SG_THREADS_FOLLOW;
        uint64_t least = sg_limits_threads(&j->limits, sg_live_usable_cpus(l)).least;

        for (size_t i = 0; i < SG_JOB_ENV_THREADS; i++)
                put_env_u64(out, false, sg_job_env_threads[i], j->threads_given);
        for (size_t i = 0; i < SG_JOB_ENV_WAITS; i++)
                put_env(out, false, sg_job_env_waits[i].name, sg_job_env_waits[i].value);
        put_env_u64(out, true, "SCHEDGOV_THREADS", follows ? least : j->threads_given);
        put_env_u64(out, true, "SCHEDGOV_THREADS_MAX", j->threads_given);
        if (follows && l->manager->preload)
                put_env(out, true, "SCHEDGOV_PRELOAD", l->manager->preload);
}

void sg_live_environment(const struct sg_live *l, const struct sg_live_env *out)
{
        char id[SG_JOB_ID_MAX];

        sg_job_id_format(id, &l->job.key, l->manager->node.name);
        put_env(out, true, "SCHEDGOV_JOB_ID", id);
        put_env(out, true, "SCHEDGOV_JOB_NAME", l->job.name);
        put_env_u64(out, true, "SCHEDGOV_ATTEMPT", l->job.key.attempt);
        put_channels(l, out);
        if (l->job.array_first > 0)
                put_env_u64(out, true, "SCHEDGOV_ARRAY_INDEX", (uint64_t)l->job.array_index);
        if (l->class->unbuffered)
                put_env(out, false, "PYTHONUNBUFFERED", "1");
        if (l->job.limits.threads != SG_THREADS_LEAVE)
                put_threads(l, out);
        sg_gpus_environment(l, out);
}

static void put_in_record(const char *line, bool force, void *userdata)
{
        sg_record_put_str(userdata, force ? SG_SPEC_ENV_FORCE : SG_SPEC_ENV_DEFAULT, line);
}

static void put_groups(const struct sg_live *l, struct sg_record *r)
{
        size_t n;
        const struct sg_group_dir *dirs = sg_scope_dirs(l->groups.scope, &n);

        if (sg_scope_wants_place(l->groups.scope))
                sg_record_put_u64(r, SG_SPEC_AWAITS_PLACE, 1);
        for (size_t i = 0; i < n; i++) {
                char field[4096];
                size_t size = strnlen(dirs[i].path, sizeof(field) - 1);

                field[0] = (char)dirs[i].hier;
                memcpy(field + 1, dirs[i].path, size);
                sg_record_put(r, SG_SPEC_GROUP_DIR, field, size + 1);
        }
}

void sg_live_log_path(const struct sg_live *l, char buf[PATH_MAX])
{
        (void)snprintf(buf, PATH_MAX, "%s/logs/%" PRIu64 "-%s.log", sg_store_dir(l->manager->store),
                       l->job.key.n, l->job.key.origin);
}

uint64_t sg_live_log_size(const struct sg_live *l)
{
        char path[PATH_MAX];
        struct stat st;

        sg_live_log_path(l, path);
        return stat(path, &st) < 0 ? 0 : (uint64_t)st.st_size;
}

/* Where its keeper puts the script, if it runs one that came from stdin. */
static void put_script_file(const struct sg_live *l, struct sg_record *r)
{
        struct sg_monitor_paths paths = {0};

        if (sg_monitor_paths(l, &paths) >= 0)
                sg_record_put_str(r, SG_SPEC_SCRIPT_FILE, paths.script);
}

/* Affinity stands in for a CPU set that the kernel doesn't hold, if the number of CPUs is fixed.
 * With systemd the scope isn't there yet, so the backend is asked as well. */
static bool wants_affinity(const struct sg_live *l)
{
        uint32_t unenforced =
                sg_scope_unenforced(l->groups.scope) | sg_backend_unenforced(l->manager->backend);

        return l->job.limits.pin && l->groups.own &&
               !sg_thread_range_is_elastic(sg_live_threads(l)) &&
               (unenforced & (1U << SG_LIMIT_CPUSET));
}

void sg_live_put_launch(const struct sg_live *l, struct sg_record *r)
{
        const struct sg_settings *s = l->manager->settings;
        char path[PATH_MAX], cpus[256];

        put_groups(l, r);
        sg_live_environment(l, &(struct sg_live_env){put_in_record, r});
        put_script_file(l, r);
        sg_live_log_path(l, path);
        sg_record_put_str(r, SG_SPEC_LOG, path);
        sg_record_put_u64(r, SG_SPEC_LOG_MAX,
                          s->log_max_bytes == SG_UNLIMITED ? 0 : s->log_max_bytes);
        sg_record_put_u64(r, SG_SPEC_LOG_KEEP, s->log_keep);
        if (wants_affinity(l) && sg_format_cpuset(cpus, sizeof(cpus), &l->groups.own->cpus) >= 0)
                sg_record_put_str(r, SG_SPEC_CPU_AFFINITY, cpus);
}
