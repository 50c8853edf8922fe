/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See stats.h. */

#include "core/sim/stats.h"
#include "base/cleanup.h"
#include <errno.h>
#include <math.h>

#define BETTER .995        /* of fair's: less is no news */
#define PROMISE_MARGIN .01 /* of fair's, for what a promise is reckoned with */
#define ON_TIME 1e-6

enum { RATIO, MAKESPAN, WORST, HONEST, SECONDS, QUALITY };

void sg_sim_stats_deinit(struct sg_sim_stats *s)
{
        free(s->completions);
        free(s->fair);
        *s = (struct sg_sim_stats){0};
}

static int make_room(struct sg_sim_stats *s, size_t more)
{
        size_t room = 2 * (s->n_jobs + more);
        double *grown;

        if (s->n_jobs + more <= s->allocated)
                return 0;
        grown = reallocarray(s->completions, room, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        s->completions = grown;
        grown = reallocarray(s->fair, room, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        s->fair = grown;
        s->allocated = room;
        return 0;
}

static void add_job(struct sg_sim_stats *s, const struct sg_trace_job *job,
                    const struct sg_share_settings *settings, const struct sg_sim_job *got,
                    const struct sg_sim_job *fair)
{
        double time = got->finish - job->arrival, fair_time = fair->finish - job->arrival;
        double promised = fair_time * (1 + settings->no_harm + PROMISE_MARGIN) + settings->tick;

        s->completions[s->n_jobs] = time;
        s->fair[s->n_jobs] = fair_time;
        s->n_jobs++;
        s->n_improved += time < BETTER * fair_time;
        s->slowdown_most = fmax(s->slowdown_most, time * job->width / job->work);
        s->broken_most = fmax(s->broken_most, time - promised);
        if (isfinite(job->deadline)) {
                s->n_deadlines++;
                s->n_met += got->finish <= job->deadline + ON_TIME;
        }
        if (got->lies) {
                s->n_liars++;
                s->lied += time / fair_time;
        }
}

/* The mean time until a quality is reached, over fair's. */
static double quality_ratio(const struct sg_trace_job *jobs, size_t n, const struct sg_sim_job *got,
                            const struct sg_sim_job *fair, size_t quality)
{
        double sum = 0, fair_sum = 0;

        for (size_t i = 0; i < n; i++) {
                sum += got[i].reached[quality] - jobs[i].arrival;
                fair_sum += fair[i].reached[quality] - jobs[i].arrival;
        }
        return sum / fair_sum;
}

int sg_sim_stats_add(struct sg_sim_stats *s, const struct sg_trace_job *jobs, size_t n,
                     const struct sg_share_settings *settings, const struct sg_sim_result *result,
                     const struct sg_sim_result *fair)
{
        double sum = 0, fair_sum = 0, end = 0, fair_end = 0, worst = 0, honest = 0;
        size_t first = s->n_jobs;
        int r = make_room(s, n);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                add_job(s, &jobs[i], settings, &result->jobs[i], &fair->jobs[i]);
                sum += s->completions[first + i];
                fair_sum += s->fair[first + i];
                worst = fmax(worst, s->completions[first + i] / s->fair[first + i]);
                if (!result->jobs[i].lies)
                        honest = fmax(honest, s->completions[first + i] / s->fair[first + i]);
                end = fmax(end, result->jobs[i].finish);
                fair_end = fmax(fair_end, fair->jobs[i].finish);
        }
        s->n_instances++;
        s->sums[RATIO] += sum / fair_sum;
        s->sums[MAKESPAN] += (end - jobs[0].arrival) / (fair_end - jobs[0].arrival);
        s->sums[SECONDS] += end - jobs[0].arrival;
        s->sums[WORST] += worst;
        s->sums[HONEST] += honest;
        s->worst_most = fmax(s->worst_most, worst);
        for (size_t q = 0; q < SG_SIM_N_QUALITIES; q++)
                s->sums[QUALITY + q] += quality_ratio(jobs, n, result->jobs, fair->jobs, q);
        s->switches += result->switches;
        s->steps += result->steps;
        return 0;
}

static int by_value(const void *a, const void *b)
{
        const double *p = a, *q = b;

        return (*p > *q) - (*p < *q);
}

/* Sorts v. */
static double percentile_95(double *v, size_t n)
{
        qsort(v, n, sizeof(*v), by_value);
        return v[(95 * n + 99) / 100 - 1];
}

static double mean(double sum, size_t n)
{
        return n > 0 ? sum / (double)n : (double)NAN;
}

void sg_sim_stats_summarize(struct sg_sim_stats *s, struct sg_sim_summary *ret)
{
        double sum = 0;

        for (size_t i = 0; i < s->n_jobs; i++)
                sum += s->completions[i];
        *ret = (struct sg_sim_summary){
                .mean_completion = mean(sum, s->n_jobs),
                .mean_makespan = mean(s->sums[SECONDS], s->n_instances),
                .ratio = mean(s->sums[RATIO], s->n_instances),
                .p95_ratio = s->n_jobs > 0 ? percentile_95(s->completions, s->n_jobs) /
                                                     percentile_95(s->fair, s->n_jobs)
                                           : (double)NAN,
                .makespan_ratio = mean(s->sums[MAKESPAN], s->n_instances),
                .worst_ratio = mean(s->sums[WORST], s->n_instances),
                .worst_ratio_most = s->worst_most,
                .honest_worst_ratio =
                        s->n_liars > 0 ? mean(s->sums[HONEST], s->n_instances) : (double)NAN,
                .improved = mean((double)s->n_improved, s->n_jobs),
                .slowdown_most = s->slowdown_most,
                .deadlines_met = mean((double)s->n_met, s->n_deadlines),
                .liars_ratio = mean(s->lied, s->n_liars),
                .broken_most = s->broken_most,
                .switches = mean((double)s->switches, s->n_instances),
                .steps = s->steps,
        };
        for (size_t q = 0; q < SG_SIM_N_QUALITIES; q++)
                ret->quality_ratio[q] = mean(s->sums[QUALITY + q], s->n_instances);
}
