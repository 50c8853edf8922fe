/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An inventory as lines of `key=value`, for who wants to see what the driver says. */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/gpu/worker/serve.h"
#include <errno.h>
#include <inttypes.h>

static const char *const states[] = {
        [SG_GPU_DRIVER_ABSENT] = "absent",     [SG_GPU_DRIVER_OK] = "ok",
        [SG_GPU_DRIVER_ERROR] = "error",       [SG_GPU_DRIVER_HUNG] = "hung",
        [SG_GPU_DRIVER_MISMATCH] = "mismatch",
};

static void figure(FILE *out, const char *key, uint64_t v)
{
        if (v == SG_GPU_UNKNOWN)
                (void)fprintf(out, " %s=-", key);
        else
                (void)fprintf(out, " %s=%" PRIu64, key, v);
}

static void text(FILE *out, const char *key, const char *s)
{
        (void)fprintf(out, " %s=\"%s\"", key, s);
}

static void print_figures(FILE *out, const struct sg_gpu *g)
{
        figure(out, "index", g->index);
        figure(out, "minor", g->minor);
        figure(out, "numa", g->numa_node);
        figure(out, "memory", g->memory_total);
        figure(out, "used", g->memory_used);
        figure(out, "reserved", g->memory_reserved);
        figure(out, "utilization", g->utilization);
        figure(out, "temperature", g->temperature);
        figure(out, "power_mw", g->power_mw);
        figure(out, "power_limit_mw", g->power_limit_mw);
        figure(out, "power_default_mw", g->power_default_mw);
        figure(out, "power_min_mw", g->power_min_mw);
        figure(out, "power_max_mw", g->power_max_mw);
        figure(out, "energy_mj", g->energy_mj);
        (void)fprintf(out, "%s%s%s%s%s%s%s", g->lost ? " lost" : "", g->mig ? " mig" : "",
                      g->exclusive ? " exclusive" : "", g->prohibited ? " prohibited" : "",
                      g->throttled_power ? " throttled-power" : "",
                      g->throttled_thermal ? " throttled-thermal" : "",
                      g->processes_known ? "" : " processes-unknown");
}

static void print_gpu(FILE *out, const struct sg_gpu_inventory *v, size_t k)
{
        const struct sg_gpu *g = &v->gpus[k];

        (void)fprintf(out, "gpu uuid=%s vendor=%s bus=%s", g->uuid, g->vendor, g->bus_id);
        text(out, "name", g->name);
        print_figures(out, g);
        (void)fprintf(out, " near=");
        for (size_t i = 0; i < v->n; i++)
                (void)fprintf(out, "%s%u*%u", i > 0 ? "," : "", g->near[i].distance,
                              g->near[i].links);
        (void)fputc('\n', out);
        for (size_t i = 0; i < g->n_instances; i++) {
                const struct sg_gpu_instance *m = &g->instances[i];

                (void)fprintf(out, "  instance uuid=%s profile=%s gi=%u ci=%u", m->uuid, m->profile,
                              m->gpu_instance, m->compute_instance);
                figure(out, "memory", m->memory_total);
                (void)fputc('\n', out);
        }
        for (size_t i = 0; i < g->n_processes; i++) {
                const struct sg_gpu_process *p = &g->processes[i];

                (void)fprintf(out, "  process pid=%" PRIu64, p->pid);
                figure(out, "memory", p->memory);
                figure(out, "utilization", p->utilization);
                figure(out, "gi", p->gpu_instance);
                figure(out, "ci", p->compute_instance);
                (void)fputc('\n', out);
        }
}

static void print(FILE *out, const struct sg_gpu_inventory *v)
{
        static const char *const types[] = {"xid", "ecc", "mig"};

        (void)fprintf(out, "driver state=%s version=%s", states[v->state], v->version);
        figure(out, "cuda", v->cuda);
        text(out, "message", v->message);
        (void)fputc('\n', out);
        for (size_t k = 0; k < v->n; k++)
                print_gpu(out, v, k);
        for (size_t i = 0; i < v->n_events; i++) {
                (void)fprintf(out, "event type=%s uuid=%s", types[v->events[i].type],
                              v->events[i].uuid);
                figure(out, "data", v->events[i].data);
                (void)fputc('\n', out);
        }
        if (v->n_events_lost > 0)
                (void)fprintf(out, "events lost=%" PRIu64 "\n", v->n_events_lost);
}

int sg_gpu_print_once(FILE *out, const struct sg_gpu_driver_kind *kind,
                      const struct sg_gpu_order *order)
{
        _cleanup_free_ struct sg_gpu *gpus = calloc(SG_GPUS_MAX, sizeof(*gpus));
        struct sg_gpu_inventory v = {.gpus = gpus};
        struct sg_gpu_driver *driver;
        int r;

        if (!gpus)
                return -ENOMEM;
        sg_gpu_begin(&v);
        r = kind->open(&driver, order, &v);
        if (r < 0)
                return r;
        if (driver)
                r = kind->look(driver, &v);
        kind->close(driver);
        if (r < 0)
                return r;
        sg_gpu_tidy(&v);
        print(out, &v);
        return 0;
}
