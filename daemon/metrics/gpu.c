/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The node's GPUs. Of a driver that doesn't answer only states are told: what it said last isn't
 * how things are. */
#include "gpus/gpus.h"
#include "metrics/internal.h"
#include <inttypes.h>

#define LABELS_MAX 4

static uint64_t used(const struct sg_gpu_status *s)
{
        return s->fresh ? s->used : SG_UNLIMITED;
}

static uint64_t total(const struct sg_gpu_status *s)
{
        return s->gpu->memory_total;
}

static uint64_t promised(const struct sg_gpu_status *s)
{
        return s->promised;
}

static uint64_t left(const struct sg_gpu_status *s)
{
        return s->fresh ? s->free : SG_UNLIMITED;
}

static uint64_t foreign(const struct sg_gpu_status *s)
{
        return s->fresh ? s->foreign : SG_UNLIMITED;
}

static uint64_t temperature(const struct sg_gpu_status *s)
{
        return s->fresh ? s->gpu->temperature : SG_UNLIMITED;
}

static uint64_t utilization(const struct sg_gpu_status *s)
{
        return s->fresh ? s->gpu->utilization : SG_UNLIMITED;
}

static uint64_t power(const struct sg_gpu_status *s)
{
        return s->fresh ? s->gpu->power_mw : SG_UNLIMITED;
}

static uint64_t energy(const struct sg_gpu_status *s)
{
        return s->fresh ? s->gpu->energy_mj : SG_UNLIMITED;
}

static const struct figure {
        enum sg_metric_id id;
        uint64_t (*get)(const struct sg_gpu_status *s); /* SG_UNLIMITED: not known */
        double parts;                                   /* of its unit; 0: a whole number */
} figures[] = {
        {SG_METRIC_GPU_MEMORY_TOTAL, total, 0},       {SG_METRIC_GPU_MEMORY_USED, used, 0},
        {SG_METRIC_GPU_MEMORY_PROMISED, promised, 0}, {SG_METRIC_GPU_MEMORY_FREE, left, 0},
        {SG_METRIC_GPU_MEMORY_FOREIGN, foreign, 0},   {SG_METRIC_GPU_UTILIZATION, utilization, 100},
        {SG_METRIC_GPU_TEMPERATURE, temperature, 0},  {SG_METRIC_GPU_POWER, power, 1000},
        {SG_METRIC_GPU_ENERGY, energy, 1000},
};

/* One family, a sample for each GPU; `more`: what else is a label. */
static void put_family(const struct sg_gpu_account *a, struct sg_openmetrics *w,
                       enum sg_metric_id id,
                       void (*put)(struct sg_openmetrics *w, struct sg_label labels[LABELS_MAX],
                                   const struct sg_gpu_status *s, const void *arg),
                       const void *arg)
{
        sg_openmetrics_family(w, &sg_metrics[id]);
        for (size_t i = 0; i < sg_gpu_account_n(a); i++) {
                const struct sg_gpu_status *s = sg_gpu_account_at(a, i);
                struct sg_label labels[LABELS_MAX] = {{"uuid", s->gpu->uuid}};

                put(w, labels, s, arg);
        }
}

static void put_info(struct sg_openmetrics *w, struct sg_label labels[LABELS_MAX],
                     const struct sg_gpu_status *s, const void *arg)
{
        char index[24] = "";

        (void)arg;
        if (s->gpu->index != SG_GPU_UNKNOWN)
                (void)snprintf(index, sizeof(index), "%" PRIu64, s->gpu->index);
        labels[1] = (struct sg_label){"gpu", index};
        labels[2] = (struct sg_label){"name", s->gpu->name};
        sg_openmetrics_info(w, labels);
}

static void put_state(struct sg_openmetrics *w, struct sg_label labels[LABELS_MAX],
                      const struct sg_gpu_status *s, const void *arg)
{
        (void)arg;
        labels[1] = (struct sg_label){"state", sg_gpu_state_to_string(s->state)};
        sg_openmetrics_u64(w, labels, 1);
}

static void put_figure(struct sg_openmetrics *w, struct sg_label labels[LABELS_MAX],
                       const struct sg_gpu_status *s, const void *arg)
{
        const struct figure *f = arg;
        uint64_t v = f->get(s);

        if (v == SG_UNLIMITED)
                return;
        if (f->parts > 0)
                sg_openmetrics_double(w, labels, (double)v / f->parts);
        else
                sg_openmetrics_u64(w, labels, v);
}

void sg_metrics_put_gpus(struct sg_metrics *x, struct sg_openmetrics *w)
{
        struct sg_manager *m = x->manager;
        const struct sg_gpu_account *a = sg_gpus_account(m);
        uint64_t fragmentation = sg_gpu_fragmentation_pm(sg_gpu_account_pool(a));

        sg_openmetrics_family(w, &sg_metrics[SG_METRIC_GPU_DRIVER_UP]);
        if (sg_gpus_managed(m))
                sg_openmetrics_u64(w, NULL, sg_gpus_answer(m));
        sg_openmetrics_family(w, &sg_metrics[SG_METRIC_GPU_FRAGMENTATION]);
        if (sg_gpus_managed(m) && fragmentation != SG_GPU_UNKNOWN)
                sg_openmetrics_double(w, NULL, (double)fragmentation / 1e4);
        put_family(a, w, SG_METRIC_GPU, put_info, NULL);
        put_family(a, w, SG_METRIC_GPU_STATE, put_state, NULL);
        for (size_t i = 0; i < SG_ELEMENTSOF(figures); i++)
                put_family(a, w, figures[i].id, put_figure, &figures[i]);
}
