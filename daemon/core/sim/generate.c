/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See generate.h. */

#include "core/sim/generate.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/rng.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define JOBS_MAX 10000
#define WITHIN 200.0 /* seconds in which all come */
#define NOISE .02
#define REPORTS_LEAST 20
#define REPORTS_MOST 100

/* Seconds alone on a node of the papers' size; loss from … to. */
static const struct sg_trace_job models[] = {
        {.job = "VAE-P", .work = 259.6, .width = 1, .a = 5.2, .first = 550, .last = 105},
        {.job = "VAE-T", .work = 150, .width = 1, .a = 5.2, .first = 550, .last = 105},
        {.job = "MNIST-P",
         .work = 106.1,
         .width = 1,
         .curve = SG_CURVE_POW,
         .a = 60,
         .b = 1,
         .first = 2.3,
         .last = .03},
        {.job = "MNIST-T",
         .work = 28.2,
         .width = 1,
         .curve = SG_CURVE_POW,
         .a = 60,
         .b = 1,
         .first = 2.3,
         .last = .05},
        {.job = "LSTM-CFC", .work = 120, .width = .2, .a = 8, .first = 4.6, .last = 1},
        {.job = "LSTM-CRF",
         .work = 90,
         .width = .6,
         .curve = SG_CURVE_POW,
         .a = 20,
         .b = 1,
         .first = .9,
         .last = .05},
        {.job = "Bi-RNN", .work = 120, .width = 1, .a = 19.6, .first = 2.3, .last = .08},
        {.job = "GRU",
         .work = 180,
         .width = 1,
         .curve = SG_CURVE_WEIBULL,
         .a = .1394,
         .b = 2.31,
         .first = .0102,
         .last = .0002},
        {.job = "RNN",
         .work = 110,
         .width = 1,
         .curve = SG_CURVE_POW,
         .a = 30,
         .b = 1,
         .first = 2.3,
         .last = .1},
        {.job = "DynRNN", .work = 150, .width = .7, .a = 10, .first = .69, .last = .05},
};
enum { VAE_P = 0, MNIST_P = 2, MNIST_T = 3 };

static uint32_t draw_reports(struct sg_rng *rng)
{
        return REPORTS_LEAST + sg_rng_below(rng, REPORTS_MOST - REPORTS_LEAST + 1);
}

static int add(struct sg_trace *t, const struct sg_trace_job *model, uint32_t instance,
               double arrival, double scale, struct sg_rng *rng)
{
        struct sg_trace_job job = *model;

        (void)snprintf(job.instance, sizeof(job.instance), "%u", instance);
        job.arrival = arrival;
        job.work *= scale;
        job.reports = draw_reports(rng);
        job.noise = NOISE;
        job.deadline = (double)INFINITY;
        job.speedup = sg_speedup_of(1);
        return sg_trace_add(t, &job);
}

static int fixed(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        static const size_t order[] = {VAE_P, MNIST_P, MNIST_T};
        int r = 0;

        (void)n_jobs;
        for (size_t i = 0; r == 0 && i < SG_ELEMENTSOF(order); i++)
                r = add(t, &models[order[i]], instance, 40 * (double)i, 1, rng);
        return r;
}

/* wide: 1 only those that can use the whole node, 0 only others, -1 any. */
static const struct sg_trace_job *draw_model(struct sg_rng *rng, int wide)
{
        const struct sg_trace_job *m;

        do
                m = &models[sg_rng_below(rng, SG_ELEMENTSOF(models))];
        while (wide >= 0 && (m->width >= 1) != (wide == 1));
        return m;
}

static int add_drawn(struct sg_trace *t, struct sg_rng *rng, uint32_t instance, uint32_t i,
                     int wide)
{
        const struct sg_trace_job *m = draw_model(rng, wide);
        double scale = sg_rng_between(rng, .7, 1.3);

        return add(t, m, instance, i == 0 ? 0 : sg_rng_between(rng, 0, WITHIN), scale, rng);
}

/* By turns of these kinds: see draw_model(). */
static int draw(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance,
                const int kinds[2])
{
        int r = 0;

        for (uint32_t i = 0; r == 0 && i < n_jobs; i++)
                r = add_drawn(t, rng, instance, i, kinds[i % 2]);
        return r;
}

static int any(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        return draw(t, rng, n_jobs, instance, (const int[]){-1, -1});
}

static int wide(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        return draw(t, rng, n_jobs, instance, (const int[]){1, 1});
}

static int narrow(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        return draw(t, rng, n_jobs, instance, (const int[]){1, 0});
}

/* Published speed-ups from one to eight threads have exponents from .29 to .87, half of them up to
 * .57. */
static int threads(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        size_t begin = t->n;
        int r = wide(t, rng, n_jobs, instance);

        for (size_t i = begin; r == 0 && i < t->n; i++) {
                bool lower = sg_rng_below(rng, 2) == 0;

                t->jobs[i].speedup = sg_speedup_of(lower ? sg_rng_between(rng, .29, .57)
                                                         : sg_rng_between(rng, .57, .87));
        }
        return r;
}

static int by_deadline(const void *a, const void *b)
{
        const struct sg_trace_job *const *p = a, *const *q = b;

        if ((*p)->deadline != (*q)->deadline)
                return (*p)->deadline < (*q)->deadline ? -1 : 1;
        return *p < *q ? -1 : *p > *q;
}

/* By how many seconds the worst is late when the earliest deadline always goes first, which is the
 * best that can be done with jobs that can use the whole node. What is to be done by a deadline
 * and has come since s must fit between. */
static int lateness(const struct sg_trace_job *jobs, size_t n, double *ret)
{
        _cleanup_free_ const struct sg_trace_job **order = calloc(n, sizeof(*order));
        double worst = (double)-INFINITY;

        if (!order)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                order[i] = &jobs[i];
        qsort(order, n, sizeof(*order), by_deadline);
        for (size_t s = 0; s < n; s++) {
                double end = jobs[s].arrival;

                for (size_t i = 0; i < n; i++)
                        if (order[i]->arrival >= jobs[s].arrival) {
                                end += order[i]->work;
                                worst = fmax(worst, end - order[i]->deadline);
                        }
        }
        *ret = worst;
        return 0;
}

/* Each gets a few times what it needs alone, and then all as much more or less as leaves the worst
 * `late`, which is negative where they are to be met. */
static int set_deadlines(struct sg_trace *t, size_t begin, struct sg_rng *rng, double late)
{
        size_t n = t->n - begin;
        double by;
        int r;

        for (size_t i = begin; i < t->n; i++) {
                struct sg_trace_job *j = &t->jobs[i];

                j->deadline = j->arrival + j->work * sg_rng_between(rng, 1.5, 8);
        }
        r = lateness(&t->jobs[begin], n, &by);
        if (r < 0)
                return r;
        for (size_t i = begin; i < t->n; i++) {
                struct sg_trace_job *j = &t->jobs[i];

                j->deadline = fmax(j->deadline + by - late, j->arrival + 1.05 * j->work);
        }
        return 0;
}

static int feasible(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        size_t begin = t->n;
        int r = wide(t, rng, n_jobs, instance);

        return r < 0 ? r : set_deadlines(t, begin, rng, -10);
}

static int overload(struct sg_trace *t, struct sg_rng *rng, uint32_t n_jobs, uint32_t instance)
{
        size_t begin = t->n;
        int r = wide(t, rng, n_jobs, instance);

        return r < 0 ? r : set_deadlines(t, begin, rng, sg_rng_between(rng, 100, 600));
}

const struct sg_workload sg_workloads[] = {
        {"fixed3", "FlowCon's three jobs, 40 s apart", false, fixed},
        {"random", "N jobs of random models within 200 s", true, any},
        {"wide", "N jobs that can use the whole node", true, wide},
        {"narrow", "N jobs, every other of which can't use the whole node", true, narrow},
        {"threads", "N jobs of many threads that aren't twice as fast by twice the CPUs", true,
         threads},
        {"deadline", "N wide jobs with deadlines that can all be met", true, feasible},
        {"overload", "N wide jobs with deadlines that can't", true, overload},
};
const size_t sg_n_workloads = SG_ELEMENTSOF(sg_workloads);

static const struct sg_workload *find(const char *workload, uint32_t *ret_n_jobs)
{
        for (size_t i = 0; i < sg_n_workloads; i++) {
                const struct sg_workload *w = &sg_workloads[i];
                size_t size = strlen(w->name);
                const char *count = workload + size, *end = workload + strlen(workload);
                uint64_t n = 0;

                if (strncmp(workload, w->name, size) != 0)
                        continue;
                if (w->sized ? sg_count_scan(count, end, &n) == end && n >= 1 && n <= JOBS_MAX
                             : count == end) {
                        *ret_n_jobs = (uint32_t)n;
                        return w;
                }
        }
        return NULL;
}

int sg_generate(struct sg_trace *t, const char *workload, uint64_t seed, uint32_t n)
{
        uint32_t n_jobs;
        const struct sg_workload *w = find(workload, &n_jobs);

        if (!w)
                return -EINVAL;
        for (uint32_t i = 1; i <= n; i++) {
                struct sg_rng rng;
                int r;

                sg_rng_init(&rng, seed, i);
                r = w->generate(t, &rng, n_jobs, i);
                if (r < 0)
                        return r;
        }
        return sg_trace_sort(t);
}
