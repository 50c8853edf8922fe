/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What one step of the governor costs, of each policy, with jobs that report: at 50 and at 1,000.
 * The peer: sorting as many numbers, which is the least that any order takes.
 */

#include "base/cleanup.h"
#include "base/rng.h"
#include "core/govern/governor.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEPS 200
#define GOAL_MSEC 5.0

static double now_msec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
        const double *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t n)
{
        qsort(values, n, sizeof(*values), ascending);
        return values[n / 2];
}

static double sorting(size_t n)
{
        _cleanup_free_ double *numbers = calloc(n, sizeof(*numbers));
        double msec[STEPS];
        struct sg_rng rng;

        if (!numbers)
                exit(1);
        sg_rng_init(&rng, 1, 1);
        for (size_t k = 0; k < STEPS; k++) {
                double begin;

                for (size_t i = 0; i < n; i++)
                        numbers[i] = sg_rng_double(&rng);
                begin = now_msec();
                qsort(numbers, n, sizeof(*numbers), ascending);
                msec[k] = now_msec() - begin;
        }
        return median(msec, STEPS);
}

static void add_jobs(struct sg_governor *g, size_t n, size_t users)
{
        for (uint64_t key = 1; key <= n; key++) {
                const struct sg_governor_job j = {.key = key,
                                                  .class = key % 3 ? "train" : "default",
                                                  .uid = (uint32_t)(1000 + key % users),
                                                  .now = (double)key / 100,
                                                  .arrival = (double)key / 100,
                                                  .cpus_max = INFINITY,
                                                  .weight = 100,
                                                  .deadline = 1e5 + (double)key};

                if (sg_governor_add(g, &j) < 0)
                        exit(1);
        }
}

/* A tenth of them in each step. */
static void report(struct sg_governor *g, size_t n, size_t step, double now)
{
        for (uint64_t key = 1 + step % 10; key <= n; key += 10) {
                double x = fmin(.99, now / (300 + (double)(key * 37 % 1000)));
                const struct sg_learner_report r = {
                        .now = now, .cpu = now / 2, .fraction = x, .eval = 2 / (1 + 9 * x)};

                if (sg_governor_report(g, key, &r) < 0)
                        exit(1);
        }
}

static double stepping(enum sg_share_kind share, size_t n, size_t users, double *ret_worst)
{
        struct sg_governor_class classes[2] = {{.name = "default", .weight = 100},
                                               {.name = "train", .weight = 300}};
        struct sg_governor_plan plan;
        struct sg_governor *g;
        double msec[STEPS];

        for (size_t c = 0; c < SG_ELEMENTSOF(classes); c++) {
                sg_share_settings_init(&classes[c].settings);
                classes[c].settings.share = share;
        }
        if (sg_governor_new(&g, 2) < 0 ||
            sg_governor_configure(g, 2, classes, SG_ELEMENTSOF(classes)) < 0)
                exit(1);
        add_jobs(g, n, users);
        for (size_t k = 0; k < STEPS; k++) {
                double now = 20 + (double)k, begin;

                report(g, n, k, now);
                begin = now_msec();
                if (sg_governor_step(g, now, &plan) < 0)
                        exit(1);
                msec[k] = now_msec() - begin;
        }
        sg_governor_free(g);
        *ret_worst = 0;
        for (size_t k = 1; k < STEPS; k++)
                *ret_worst = fmax(*ret_worst, msec[k]);
        return median(msec, STEPS);
}

int main(void)
{
        static const struct {
                size_t jobs, users;
        } sizes[] = {{50, 7}, {1000, 7}, {1000, 1000}};
        bool met = true;

        for (size_t i = 0; i < SG_ELEMENTSOF(sizes); i++) {
                double peer = sorting(sizes[i].jobs);

                for (int share = 0; share < _SG_SHARE_MAX; share++) {
                        double worst, usual = stepping((enum sg_share_kind)share, sizes[i].jobs,
                                                       sizes[i].users, &worst);

                        printf("%4zu jobs of %4zu users  %-9s step %7.3f ms, at most %7.3f ms; "
                               "sorting %.3f ms, "
                               "ratio %.1f\n",
                               sizes[i].jobs, sizes[i].users, sg_share_policies[share]->name, usual,
                               worst, peer, usual / peer);
                        met = met && usual <= GOAL_MSEC;
                }
        }
        printf("goal: a step of 1000 jobs takes at most %.0f ms: %s\n", GOAL_MSEC,
               met ? "ok" : "missed");
        return met ? 0 : 1;
}
