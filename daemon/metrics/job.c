/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series of single jobs: those that run, where users may see each other's. */
#include "govern/loop.h"
#include "metrics/internal.h"
#include <errno.h>
#include <math.h>

/* Collecting */

static bool runs(const struct sg_live *l)
{
        return l->job.state == SG_JOB_RUNNING || l->job.state == SG_JOB_SUSPENDED;
}

static int make_room(struct sg_metrics *x, size_t n)
{
        struct sg_metrics_job *grown;

        if (n <= x->n_room)
                return 0;
        grown = reallocarray(x->jobs, n, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        x->jobs = grown;
        x->n_room = n;
        return 0;
}

static void collect(struct sg_metrics_job *j, const struct sg_live *l)
{
        j->live = l;
        sg_job_id_format(j->id, &l->job.key, l->manager->node.name);
        sg_monitor_view(l, &j->progress);
        sg_progress_view_run(&j->progress);
        j->has_gpus = sg_gpu_account_use(sg_gpus_account(l->manager), l->job.key.n, &j->gpus);
}

int sg_metrics_collect_jobs(struct sg_metrics *x)
{
        struct sg_manager *m = x->manager;
        bool shown = m->settings->show_others == SG_SHOW_LIST;
        struct sg_live *l;
        size_t n = 0, k = 0;

        sg_list_foreach (l, &m->jobs->all, link)
                n += runs(l);
        x->n_jobs = !shown ? 0 : n < SG_METRICS_JOBS_MAX ? n : SG_METRICS_JOBS_MAX;
        x->n_omitted = n - x->n_jobs;
        if (make_room(x, x->n_jobs) < 0) {
                x->n_jobs = 0;
                return -ENOMEM;
        }
        sg_list_foreach (l, &m->jobs->all, link) {
                if (k == x->n_jobs)
                        break;
                if (runs(l))
                        collect(&x->jobs[k++], l);
        }
        return 0;
}

/* Writing */

typedef void (*put_job)(struct sg_openmetrics *w, const struct sg_label *labels,
                        const struct sg_metrics_job *j, const void *arg);

/* One family, a sample per job. */
static void put_family(struct sg_metrics *x, struct sg_openmetrics *w, enum sg_metric_id id,
                       put_job put, const void *arg)
{
        sg_openmetrics_family(w, &sg_metrics[id]);
        for (size_t i = 0; i < x->n_jobs; i++) {
                const struct sg_metrics_job *j = &x->jobs[i];
                const struct sg_label labels[] = {
                        {"job_id", j->id}, {"class", j->live->class->name}, {0}};

                put(w, labels, j, arg);
        }
}

static void put_info(struct sg_openmetrics *w, const struct sg_label *labels,
                     const struct sg_metrics_job *j, const void *arg)
{
        const struct sg_job *job = &j->live->job;
        const struct sg_measured *measured = j->live->measured;
        const struct sg_label all[] = {labels[0],
                                       labels[1],
                                       {"user", job->user},
                                       {"name", job->name},
                                       {"adopted", job->adopted ? "yes" : "no"},
                                       {"source", measured ? measured->source : ""},
                                       {0}};

        (void)arg;
        sg_openmetrics_info(w, all);
}

static void put_start(struct sg_openmetrics *w, const struct sg_label *labels,
                      const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->live->job.started_usec > 0)
                sg_openmetrics_usec(w, labels, j->live->job.started_usec);
}

static void put_suspended(struct sg_openmetrics *w, const struct sg_label *labels,
                          const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        sg_openmetrics_u64(w, labels, j->live->job.state == SG_JOB_SUSPENDED);
}

static void put_share(struct sg_openmetrics *w, const struct sg_label *labels,
                      const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        sg_openmetrics_double(w, labels, sg_loop_share(j->live, NULL, 0));
}

static void put_limit(struct sg_openmetrics *w, const struct sg_label *labels,
                      const struct sg_metrics_job *j, const void *arg)
{
        sg_openmetrics_u64(
                w, labels,
                *(const uint64_t *)((const char *)&j->live->job.limits + *(const size_t *)arg));
}

typedef void (*put_number)(struct sg_openmetrics *w, const struct sg_label *labels, uint64_t value);

struct figure {
        enum sg_metric_id id;
        size_t offset; /* in struct sg_sample */
        put_number put;
};

#define COUNT(id, field)                                                                           \
        {                                                                                          \
                SG_METRIC_JOB_##id, offsetof(struct sg_sample, field), sg_openmetrics_u64          \
        }
#define TIME(id, field)                                                                            \
        {                                                                                          \
                SG_METRIC_JOB_##id, offsetof(struct sg_sample, field), sg_openmetrics_usec         \
        }

static const struct figure figures[] = {
        TIME(CPU, cpu_usec),
        TIME(CPU_USER, user_usec),
        TIME(CPU_SYSTEM, system_usec),
        COUNT(PERIODS, n_periods),
        COUNT(THROTTLED_PERIODS, n_throttled),
        TIME(THROTTLED, throttled_usec),
        COUNT(MEMORY, memory_bytes),
        COUNT(MEMORY_PEAK, memory_peak_bytes),
        COUNT(WORKING_SET, working_set_bytes),
        COUNT(MEMORY_HIGH, memory_high_events),
        COUNT(MEMORY_MAX, memory_max_events),
        COUNT(OOM, oom_kills),
        COUNT(IO_READ, io_read_bytes),
        COUNT(IO_WRITE, io_write_bytes),
        COUNT(IO_READS, io_read_ops),
        COUNT(IO_WRITES, io_write_ops),
        COUNT(NET_RX, net_rx_bytes),
        COUNT(NET_TX, net_tx_bytes),
        COUNT(THREADS, pids),
        TIME(PSI_CPU, psi_cpu_some_usec),
        TIME(PSI_MEMORY, psi_memory_some_usec),
        TIME(PSI_MEMORY_FULL, psi_memory_full_usec),
        TIME(PSI_IO, psi_io_some_usec),
        TIME(PSI_IO_FULL, psi_io_full_usec),
};

static void put_figure(struct sg_openmetrics *w, const struct sg_label *labels,
                       const struct sg_metrics_job *j, const void *arg)
{
        const struct figure *f = arg;
        const struct sg_measured *measured = j->live->measured;

        if (measured)
                f->put(w, labels, *(const uint64_t *)((const char *)&measured->last + f->offset));
}

static void put_delay(struct sg_openmetrics *w, const struct sg_label *labels,
                      const struct sg_metrics_job *j, const void *arg)
{
        const struct sg_measured *measured = j->live->measured;
        struct sg_label all[] = {labels[0], labels[1], {"resource", "cpu"}, {0}};

        (void)arg;
        if (!measured)
                return;
        sg_openmetrics_usec(w, all, measured->delays.cpu_usec);
        all[2].value = "io";
        sg_openmetrics_usec(w, all, measured->delays.io_usec);
        all[2].value = "swap";
        sg_openmetrics_usec(w, all, measured->delays.swap_usec);
}

static void put_gpus(struct sg_openmetrics *w, const struct sg_label *labels,
                     const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->has_gpus)
                sg_openmetrics_double(w, labels, (double)j->gpus.hundredths / 100);
}

static void put_gpu_memory(struct sg_openmetrics *w, const struct sg_label *labels,
                           const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->has_gpus && j->gpus.memory_bytes != SG_GPU_UNKNOWN)
                sg_openmetrics_u64(w, labels, j->gpus.memory_bytes);
}

static void put_gpu_utilization(struct sg_openmetrics *w, const struct sg_label *labels,
                                const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->has_gpus && j->gpus.utilization != SG_GPU_UNKNOWN)
                sg_openmetrics_double(w, labels, (double)j->gpus.utilization / 100);
}

static void put_gpu_busy(struct sg_openmetrics *w, const struct sg_label *labels,
                         const struct sg_metrics_job *j, const void *arg)
{
        const struct sg_gpu_request *gpu = j->live->job.gpu;

        (void)arg;
        if (gpu && gpu->used.usec != SG_UNLIMITED)
                sg_openmetrics_usec(w, labels, gpu->used.usec);
}

static void put_gpu_energy(struct sg_openmetrics *w, const struct sg_label *labels,
                           const struct sg_metrics_job *j, const void *arg)
{
        const struct sg_gpu_request *gpu = j->live->job.gpu;

        (void)arg;
        if (gpu && gpu->used.energy_mj != SG_UNLIMITED)
                sg_openmetrics_double(w, labels, (double)gpu->used.energy_mj / 1e3);
}

static void put_job_gpus(struct sg_metrics *x, struct sg_openmetrics *w)
{
        put_family(x, w, SG_METRIC_JOB_GPUS, put_gpus, NULL);
        put_family(x, w, SG_METRIC_JOB_GPU_MEMORY, put_gpu_memory, NULL);
        put_family(x, w, SG_METRIC_JOB_GPU_UTILIZATION, put_gpu_utilization, NULL);
        put_family(x, w, SG_METRIC_JOB_GPU_BUSY, put_gpu_busy, NULL);
        put_family(x, w, SG_METRIC_JOB_GPU_ENERGY, put_gpu_energy, NULL);
}

/* An evaluation that is NaN is a value: something has gone wrong in there. */
static void put_eval(struct sg_openmetrics *w, const struct sg_label *labels,
                     const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->progress.has & SG_REPORT_EVAL)
                sg_openmetrics_double(w, labels, j->progress.eval);
}

static void put_step(struct sg_openmetrics *w, const struct sg_label *labels,
                     const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->progress.has & SG_REPORT_STEP)
                sg_openmetrics_u64(w, labels, j->progress.step);
}

static void put_total(struct sg_openmetrics *w, const struct sg_label *labels,
                      const struct sg_metrics_job *j, const void *arg)
{
        (void)arg;
        if (j->progress.has & SG_REPORT_TOTAL)
                sg_openmetrics_u64(w, labels, j->progress.total);
}

/* A double of the view, where NaN means that it isn't known. */
static void put_estimate(struct sg_openmetrics *w, const struct sg_label *labels,
                         const struct sg_metrics_job *j, const void *arg)
{
        const void *field = (const char *)&j->progress + *(const size_t *)arg;
        double value = *(const double *)field;

        if (!isnan(value))
                sg_openmetrics_double(w, labels, value);
}

static void put_progress(struct sg_metrics *x, struct sg_openmetrics *w)
{
        static const size_t best = offsetof(struct sg_progress_view, best),
                            fraction = offsetof(struct sg_progress_view, fraction),
                            eta = offsetof(struct sg_progress_view, eta_sec),
                            low = offsetof(struct sg_progress_view, eta_low_sec),
                            high = offsetof(struct sg_progress_view, eta_high_sec);

        put_family(x, w, SG_METRIC_JOB_EVAL, put_eval, NULL);
        put_family(x, w, SG_METRIC_JOB_BEST, put_estimate, &best);
        put_family(x, w, SG_METRIC_JOB_STEP, put_step, NULL);
        put_family(x, w, SG_METRIC_JOB_STEPS, put_total, NULL);
        put_family(x, w, SG_METRIC_JOB_PROGRESS, put_estimate, &fraction);
        put_family(x, w, SG_METRIC_JOB_ETA, put_estimate, &eta);
        put_family(x, w, SG_METRIC_JOB_ETA_LOW, put_estimate, &low);
        put_family(x, w, SG_METRIC_JOB_ETA_HIGH, put_estimate, &high);
}

void sg_metrics_put_jobs(struct sg_metrics *x, struct sg_openmetrics *w)
{
        static const size_t weight = offsetof(struct sg_limits, cpu_weight),
                            memory = offsetof(struct sg_limits, memory_max);

        put_family(x, w, SG_METRIC_JOB, put_info, NULL);
        put_family(x, w, SG_METRIC_JOB_START, put_start, NULL);
        put_family(x, w, SG_METRIC_JOB_SUSPENDED, put_suspended, NULL);
        put_family(x, w, SG_METRIC_JOB_SHARE, put_share, NULL);
        put_family(x, w, SG_METRIC_JOB_CPU_WEIGHT, put_limit, &weight);
        put_family(x, w, SG_METRIC_JOB_MEMORY_LIMIT, put_limit, &memory);
        for (size_t i = 0; i < SG_ELEMENTSOF(figures); i++)
                put_family(x, w, figures[i].id, put_figure, &figures[i]);
        put_family(x, w, SG_METRIC_JOB_DELAY, put_delay, NULL);
        put_job_gpus(x, w);
        put_progress(x, w);
}
