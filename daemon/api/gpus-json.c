/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What documents say of GPUs: the one of the node's (schedgov.gpus/1), and those of jobs. */
#include "api/gpu-view.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/utf8.h"
#include <inttypes.h>
#include <string.h>

#define TEXT_MAX 512

static json_t *number(uint64_t v)
{
        return v == SG_GPU_UNKNOWN ? json_null() : json_integer((json_int_t)v);
}

static json_t *scaled(uint64_t v, double unit)
{
        return v == SG_GPU_UNKNOWN ? json_null() : json_real((double)v / unit);
}

static json_t *text(const char *s)
{
        char line[TEXT_MAX];

        if (!s || !*s)
                return json_null();
        (void)snprintf(line, sizeof(line), "%s", s);
        sg_utf8_clean(line, strlen(line));
        return json_string(line);
}

static json_t *when(uint64_t usec)
{
        char buf[SG_FORMAT_MAX];

        return usec == 0 ? json_null() : json_string(sg_format_rfc3339(buf, usec));
}

const char *sg_gpu_driver_state_to_string(enum sg_gpu_driver_state state)
{
        static const char *const names[] = {
                [SG_GPU_DRIVER_ABSENT] = "absent",     [SG_GPU_DRIVER_OK] = "ok",
                [SG_GPU_DRIVER_ERROR] = "error",       [SG_GPU_DRIVER_HUNG] = "hung",
                [SG_GPU_DRIVER_MISMATCH] = "mismatch",
        };

        return names[state];
}

/* 12040 is 12.4. */
static json_t *cuda(uint64_t v)
{
        return v == SG_GPU_UNKNOWN || v == 0
                       ? json_null()
                       : json_sprintf("%" PRIu64 ".%" PRIu64, v / 1000, v % 1000 / 10);
}

static json_t *driver(const struct sg_gpu_view *v)
{
        return json_pack("{s:o,s:o,s:o,s:o,s:o}", "state",
                         v->managed ? text(sg_gpu_driver_state_to_string(v->driver)) : json_null(),
                         "version", text(v->version), "cuda", cuda(v->cuda), "since",
                         when(v->since_usec), "message", text(v->message));
}

/* --- one GPU */

static json_t *memory(const struct sg_gpu_view_gpu *g)
{
        return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "total_bytes", number(g->gpu->memory_total),
                         "used_bytes", number(g->fresh ? g->gpu->memory_used : SG_GPU_UNKNOWN),
                         "promised_bytes", number(g->promised), "free_bytes", number(g->free),
                         "foreign_bytes", number(g->foreign), "unattributed_bytes",
                         number(g->unattributed));
}

static json_t *power(const struct sg_gpu_view_gpu *g)
{
        return json_pack("{s:o,s:o,s:o}", "watts",
                         scaled(g->fresh ? g->gpu->power_mw : SG_GPU_UNKNOWN, 1e3), "limit_watts",
                         scaled(g->gpu->power_limit_mw, 1e3), "default_watts",
                         scaled(g->gpu->power_default_mw, 1e3));
}

static json_t *throttled(const struct sg_gpu_view_gpu *g)
{
        json_t *a = json_array();

        if (g->fresh && g->gpu->throttled_power)
                (void)json_array_append_new(a, json_string("power"));
        if (g->fresh && g->gpu->throttled_thermal)
                (void)json_array_append_new(a, json_string("thermal"));
        return a;
}

static const char *level_of(uint8_t distance)
{
        return distance <= SG_GPU_LINKED     ? "nvlink"
               : distance <= SG_GPU_SWITCHES ? "switch"
               : distance <= SG_GPU_HOST     ? "host"
               : distance <= SG_GPU_NODE     ? "node"
                                             : "system";
}

static json_t *near(const struct sg_gpu_view *v, const struct sg_gpu *g)
{
        const struct sg_gpu_inventory *all = v->inventory;
        json_t *a = json_array();

        for (size_t i = 0; all && i < all->n && i < SG_GPUS_MAX; i++) {
                const struct sg_gpu_near *n = &g->near[i];
                bool linked = n->distance == SG_GPU_LINKED;

                if (n->distance == 0)
                        continue;
                (void)json_array_append_new(
                        a, json_pack("{s:o,s:s,s:o}", "gpu", number(all->gpus[i].index), "level",
                                     level_of(n->distance), "links",
                                     linked ? json_integer(n->links) : json_null()));
        }
        return a;
}

static json_t *jobs(const struct sg_gpu_view_gpu *g)
{
        json_t *a = json_array();

        for (size_t i = 0; i < g->n_jobs; i++) {
                const struct sg_gpu_view_job *j = &g->jobs[i];

                (void)json_array_append_new(
                        a, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "id", text(j->id), "user",
                                     text(j->user), "share",
                                     j->share ? scaled(j->share, SG_GPU_WHOLE) : json_null(),
                                     "memory_limit_bytes", number(j->memory_limit), "memory_bytes",
                                     number(j->memory), "idle_sec", scaled(j->idle_usec, 1e6)));
        }
        return a;
}

static json_t *processes(const struct sg_gpu_view_gpu *g)
{
        json_t *a;

        if (!g->fresh || !g->gpu->processes_known)
                return json_null();
        a = json_array();
        for (size_t i = 0; i < g->n_processes; i++) {
                const struct sg_gpu_view_process *p = &g->processes[i];

                (void)json_array_append_new(
                        a, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "pid", number(p->process->pid),
                                     "user", text(p->user), "command", text(p->command), "job",
                                     text(p->job), "memory_bytes", number(p->process->memory),
                                     "utilization", number(p->process->utilization)));
        }
        return a;
}

static const char *holder(const struct sg_gpu_view_gpu *g, size_t instance)
{
        for (size_t i = 0; i < g->n_jobs; i++)
                if (g->jobs[i].instance == instance)
                        return g->jobs[i].id;
        return NULL;
}

static json_t *instances(const struct sg_gpu_view_gpu *g)
{
        json_t *a = json_array();

        for (size_t i = 0; i < g->gpu->n_instances; i++) {
                const struct sg_gpu_instance *m = &g->gpu->instances[i];

                (void)json_array_append_new(
                        a, json_pack("{s:o,s:o,s:I,s:I,s:o,s:o}", "uuid", text(m->uuid), "profile",
                                     text(m->profile), "gpu_instance", (json_int_t)m->gpu_instance,
                                     "compute_instance", (json_int_t)m->compute_instance,
                                     "memory_bytes", number(m->memory_total), "job",
                                     text(holder(g, i))));
        }
        return a;
}

static json_t *nodes(const struct sg_gpu_view_gpu *g)
{
        json_t *a = json_array();

        for (size_t i = 0; i < g->n_nodes; i++)
                (void)json_array_append_new(a, text(g->nodes[i]));
        return a;
}

static void put_figures(json_t *o, const struct sg_gpu_view_gpu *g)
{
        const struct sg_gpu *gpu = g->gpu;
        uint64_t no = SG_GPU_UNKNOWN;

        (void)json_object_set_new(o, "memory", memory(g));
        (void)json_object_set_new(o, "utilization", number(g->fresh ? gpu->utilization : no));
        (void)json_object_set_new(o, "temperature_celsius",
                                  number(g->fresh ? gpu->temperature : no));
        (void)json_object_set_new(o, "power", power(g));
        (void)json_object_set_new(o, "energy_joules", scaled(g->fresh ? gpu->energy_mj : no, 1e3));
        (void)json_object_set_new(o, "throttled", throttled(g));
}

static json_t *gpu_new(const struct sg_gpu_view *v, const struct sg_gpu_view_gpu *g)
{
        const struct sg_gpu *gpu = g->gpu;
        json_t *o = json_object();

        (void)json_object_set_new(o, "index", number(gpu->index));
        (void)json_object_set_new(o, "uuid", text(gpu->uuid));
        (void)json_object_set_new(o, "name", text(gpu->name));
        (void)json_object_set_new(o, "vendor", text(gpu->vendor));
        (void)json_object_set_new(o, "state", text(g->state));
        (void)json_object_set_new(o, "reason", text(g->reason));
        (void)json_object_set_new(o, "since", when(g->since_usec));
        (void)json_object_set_new(o, "minor", number(gpu->minor));
        (void)json_object_set_new(o, "bus_id", text(gpu->bus_id));
        (void)json_object_set_new(o, "numa_node", number(gpu->numa_node));
        (void)json_object_set_new(o, "nodes", nodes(g));
        put_figures(o, g);
        (void)json_object_set_new(o, "near", near(v, gpu));
        (void)json_object_set_new(o, "mode", text(g->mode));
        (void)json_object_set_new(o, "jobs", jobs(g));
        (void)json_object_set_new(o, "processes", processes(g));
        (void)json_object_set_new(o, "mig", instances(g));
        return o;
}

json_t *sg_json_gpus(const struct sg_gpu_view *v)
{
        json_t *gpus = json_array();

        for (size_t i = 0; i < v->n; i++)
                (void)json_array_append_new(gpus, gpu_new(v, &v->gpus[i]));
        return json_pack("{s:s,s:b,s:o,s:o,s:o}", "schema", "schedgov.gpus/1", "managed",
                         (int)v->managed, "driver", driver(v), "fragmentation",
                         scaled(v->fragmentation_pm, 1e4), "gpus", gpus);
}

/* A job's */

json_t *sg_json_given_gpus(const struct sg_job *j)
{
        json_t *a;

        if (!j->gpus)
                return json_null();
        a = json_array();
        for (const char *p = j->gpus; *p; p += strcspn(p, ","), p += *p == ',')
                (void)json_array_append_new(a, json_stringn(p, strcspn(p, ",")));
        return a;
}

json_t *sg_json_job_gpu(const struct sg_job *j, const struct sg_gpu_now *now)
{
        const struct sg_gpu_request *q = j->gpu;
        json_t *o = json_object();

        if (!q) {
                json_decref(o);
                return json_null();
        }
        (void)json_object_set_new(o, "min", sg_json_number(q->min));
        (void)json_object_set_new(o, "max", sg_json_number(q->max));
        (void)json_object_set_new(o, "share", json_real((double)q->share / SG_GPU_WHOLE));
        (void)json_object_set_new(o, "memory_bytes", sg_json_number(q->memory_bytes));
        (void)json_object_set_new(o, "type", text(q->type));
        (void)json_object_set_new(o, "ids", text(q->ids));
        (void)json_object_set_new(o, "mig", text(q->mig));
        (void)json_object_set_new(o, "memory_used_bytes", sg_json_number(now->memory_bytes));
        (void)json_object_set_new(o, "utilization", sg_json_number(now->utilization));
        (void)json_object_set_new(o, "memory_peak_bytes",
                                  sg_json_number(q->used.memory_peak_bytes));
        (void)json_object_set_new(o, "gpu_usec", sg_json_number(q->used.usec));
        (void)json_object_set_new(o, "energy_joules",
                                  q->used.energy_mj == SG_UNLIMITED
                                          ? json_null()
                                          : json_real((double)q->used.energy_mj / 1e3));
        return o;
}
