/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The documents: a job's (schedgov.job/1) and the node's (schedgov.status/1). Keys are added, never
 * renamed. */
#include "api/internal.h"
#include "base/format.h"
#include "base/time-util.h"
#include "core/settings/adopt.h"
#include "gpus/gpus.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define WEIGHT_DEFAULT 100

static json_t *string_or_null(const char *s)
{
        return s ? json_string(s) : json_null();
}

static json_t *time_or_null(uint64_t usec)
{
        char buf[SG_FORMAT_MAX];

        return usec == 0 ? json_null() : json_string(sg_format_rfc3339(buf, usec));
}

static json_t *signal_or_null(int64_t sig)
{
        const char *name = sg_signal_name((int)sig);

        if (sig == 0)
                return json_null();
        return name ? json_string(name) : json_sprintf("%d", (int)sig);
}

static json_t *times(const struct sg_job *j)
{
        uint64_t begin = j->state == SG_JOB_QUEUED ? j->begin_usec : 0;

        return json_pack("{s:o,s:o,s:o,s:o,s:o}", "deadline", time_or_null(j->deadline_usec),
                         "submitted", time_or_null(j->submitted_usec), "begin", time_or_null(begin),
                         "started", time_or_null(j->started_usec), "ended",
                         time_or_null(j->ended_usec));
}

/* The kernel's own weight of a group that is only observed is no limit of anybody's. */
static json_t *weight(const struct sg_job *j, uint64_t v)
{
        return j->adopted == SG_ADOPTED_OBSERVED && v == WEIGHT_DEFAULT ? json_null()
                                                                        : sg_json_number(v);
}

static json_t *limit(const struct sg_job *j, const struct sg_limit *k)
{
        uint64_t v = sg_limit_of(&j->limits, k);

        if (k->unit == SG_UNIT_WEIGHT)
                return weight(j, v);
        if (v == k->unset)
                return json_null();
        if (k->unit == SG_UNIT_PERCENT)
                return json_real((double)v / 1e4);
        return k->unit == SG_UNIT_TIME ? json_real((double)v / 1e6) : sg_json_number(v);
}

static json_t *threads(const struct sg_job *j)
{
        return j->adopted ? json_null() : json_string(sg_threads_to_string(j->limits.threads));
}

static json_t *limits(const struct sg_job *j)
{
        json_t *o = json_object();

        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];

                if (k->document)
                        json_object_set_new(o, k->document, limit(j, k));
                if (k->document && k->kind == SG_LIMIT_CPUSET)
                        json_object_set_new(o, "threads", threads(j));
        }
        json_object_set_new(o, "gpus", sg_json_given_gpus(j));
        return o;
}

static json_t *limit_names(uint32_t bits)
{
        json_t *a = json_array();

        for (unsigned k = 0; k < _SG_LIMIT_MAX; k++)
                if (bits & (1U << k))
                        json_array_append_new(a, json_string(sg_limit_kind_to_string(k)));
        return a;
}

/* Of a job that waits, or isn't one yet: which of its limits can't be held here, as far as is known
 * before it has groups. */
static uint32_t beyond_us(const struct sg_manager *m, const struct sg_limits *l)
{
        return sg_limits_asked(l) & sg_backend_unenforced(m->backend);
}

static uint32_t unenforced(const struct sg_manager *m, const struct sg_job *j,
                           const struct sg_live *live)
{
        if (live && live->groups.scope)
                return sg_scope_unenforced(live->groups.scope);
        return j->state == SG_JOB_QUEUED ? beyond_us(m, &j->limits) : 0;
}

/* Their names; GPUs aren't a limit of the kernel's, but what it holds of them are devices. */
static json_t *not_enforced(const struct sg_manager *m, const struct sg_job *j,
                            const struct sg_live *live)
{
        uint32_t beyond = live && live->groups.scope ? sg_scope_unenforced(live->groups.scope)
                                                     : sg_backend_unenforced(m->backend);
        json_t *a = limit_names(unenforced(m, j, live));

        if (!sg_job_state_is_final(j->state) && sg_gpus_are_open(m, j, beyond))
                json_array_append_new(a, json_string("gpus"));
        return a;
}

const char *sg_job_reason_now(const struct sg_job *j, struct sg_live *live, char *buf, size_t size)
{
        char when[SG_FORMAT_MAX], no_class[SG_ADOPT_NO_CLASS_MAX];

        if (live && j->state == SG_JOB_QUEUED && !j->reason) {
                sg_live_why_pending(live, buf, size);
                return buf;
        }
        if (live && j->adopted && !j->reason &&
            sg_adopt_no_class(live->manager->settings, j->class, no_class)) {
                (void)snprintf(buf, size, "%s", no_class);
                return buf;
        }
        if (j->reason && j->state == SG_JOB_QUEUED && j->begin_usec > sg_now_realtime_usec() &&
            snprintf(buf, size, "%s, not before %s", j->reason,
                     sg_format_local(when, j->begin_usec)) < (int)size)
                return buf;
        return j->reason ?: "";
}

int sg_json_dump(json_t *o, char **ret)
{
        char *s = o ? json_dumps(o, JSON_COMPACT) : NULL;

        json_decref(o);
        if (!s)
                return -ENOMEM;
        *ret = s;
        return 0;
}

/* The id of its array, which is that of the first task. */
static json_t *array_or_null(const struct sg_manager *m, const struct sg_job *j)
{
        struct sg_job_key key = j->key;
        char id[SG_JOB_ID_MAX];

        if (j->array_first == 0)
                return json_null();
        key.n = j->array_first;
        sg_job_id_format(id, &key, m->node.name);
        return json_string(id);
}

static json_t *gpu_of(const struct sg_job *j, const struct sg_live *live)
{
        struct sg_gpu_now now;

        sg_gpu_now(live, &now);
        return sg_json_job_gpu(j, &now);
}

int sg_job_document(struct sg_manager *m, const struct sg_job *j, struct sg_live *live, bool full,
                    char **ret)
{
        char id[SG_JOB_ID_MAX], why[256];
        json_t *o = json_object();

        sg_job_id_format(id, &j->key, m->node.name);
        json_object_set_new(o, "schema", json_string("schedgov.job/1"));
        json_object_set_new(o, "id", json_string(id));
        json_object_set_new(o, "name", json_string(j->name));
        json_object_set_new(o, "class", json_string(j->class));
        json_object_set_new(o, "user", json_string(j->user));
        json_object_set_new(o, "uid", json_integer((json_int_t)j->uid));
        json_object_set_new(o, "state", json_string(sg_job_state_to_string(j->state)));
        json_object_set_new(o, "reason", json_string(sg_job_reason_now(j, live, why, sizeof(why))));
        json_object_set_new(o, "pid", j->pid > 0 ? json_integer(j->pid) : json_null());
        json_object_set_new(o, "node", json_string(m->node.name));
        json_object_set_new(o, "attempt", json_integer((json_int_t)j->key.attempt));
        json_object_set_new(o, "priority", json_integer(j->priority));
        json_object_set_new(o, "array", array_or_null(m, j));
        json_object_set_new(o, "array_index",
                            j->array_first > 0 ? json_integer(j->array_index) : json_null());
        json_object_set_new(o, "array_max",
                            j->array_max > 0 ? sg_json_number(j->array_max) : json_null());
        json_object_set_new(o, "command", full ? string_or_null(j->command) : json_null());
        json_object_set_new(o, "submitted",
                            json_null()); /* schedctl asks for it, where it is kept */
        json_object_set_new(o, "output", full ? string_or_null(j->output) : json_null());
        json_object_set_new(o, "error", full ? string_or_null(j->error) : json_null());
        json_object_set_new(o, "exit_code",
                            j->exit_code < 0 ? json_null() : json_integer(j->exit_code));
        json_object_set_new(o, "signal", signal_or_null(j->signal));
        json_object_set_new(o, "times", times(j));
        json_object_set_new(o, "limits", limits(j));
        json_object_set_new(o, "not_enforced", not_enforced(m, j, live));
        json_object_set_new(o, "usage", sg_json_usage(j, live));
        json_object_set_new(o, "gpu", gpu_of(j, live));
        json_object_set_new(o, "adopted", json_boolean(j->adopted != SG_ADOPTED_NOT));
        json_object_set_new(o, "unit", string_or_null(j->unit));
        json_object_set_new(o, "cgroup", string_or_null(j->group));
        json_object_set_new(o, "progress", sg_json_progress(j, live, full));
        json_object_set_new(o, "progress_from", full ? string_or_null(j->progress) : json_null());
        json_object_set_new(o, "threads", sg_json_threads(j, live));
        json_object_set_new(o, "share", live && live->measured ? sg_json_share(live) : json_null());
        return sg_json_dump(o, ret);
}

json_t *sg_json_stored(const struct sg_manager *m, uint32_t uid)
{
        return json_pack(
                "{s:o, s:o, s:o}", "bytes",
                sg_json_number(sg_ledger_held(m->ledger, uid, SG_CHARGE_STORED)), "ended_bytes",
                sg_json_number(sg_ledger_held(m->ledger, uid, SG_CHARGE_KEPT)), "max_bytes",
                sg_json_number(sg_ledger_limit(m->ledger, uid, SG_CHARGE_STORED)));
}

int sg_status_document(struct sg_manager *m, const struct sg_caller *c, char **ret)
{
        uint64_t count[_SG_JOB_STATE_MAX] = {0};
        const char *trouble = sg_store_error(m->store);
        json_t *o = json_object(), *jobs = json_object();
        struct sg_live *l;

        sg_list_foreach (l, &m->jobs->all, link)
                count[l->job.state] += sg_caller_may_see(m, c, l->job.uid);
        for (unsigned state = 0; state < _SG_JOB_LIVE_MAX; state++)
                json_object_set_new(jobs, sg_job_state_to_string(state),
                                    json_integer((json_int_t)count[state]));
        json_object_set_new(o, "schema", json_string("schedgov.status/1"));
        json_object_set_new(o, "version", json_string(SG_VERSION));
        json_object_set_new(o, "node", json_string(m->node.name));
        json_object_set_new(o, "pid", json_integer(getpid()));
        json_object_set_new(o, "backend", json_string(sg_backend_name(m->backend)));
        json_object_set_new(o, "backend_detail", json_string(sg_backend_describe(m->backend)));
        json_object_set_new(o, "not_enforced", limit_names(sg_backend_unenforced(m->backend)));
        json_object_set_new(o, "cpus", json_integer((json_int_t)m->node.n_cpus));
        json_object_set_new(o, "memory_bytes", json_integer((json_int_t)m->node.memory_total));
        json_object_set_new(o, "jobs", jobs);
        json_object_set_new(o, "load", sg_json_load(m));
        json_object_set_new(o, "links", sg_json_links(m));
        json_object_set_new(o, "max_jobs",
                            sg_json_number(sg_queue_slots(m->jobs->queue, m->node.n_cpus)));
        json_object_set_new(o, "gpus", json_pack("{s:b}", "managed", (int)m->settings->gpu.manage));
        json_object_set_new(o, "stored", sg_json_stored(m, c->uid));
        json_object_set_new(o, "store", json_string(trouble ?: "ok"));
        return sg_json_dump(o, ret);
}
