/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Regions of the same work for so many seconds, as a training loop has them. Says each region that
 * had another number of threads than the one before, by the clock of files' times, and how many
 * there were: "BEGIN THREADS" …, then "regions N from BEGIN to END".
 */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORK 300000
#define LOOPS 4 /* each with a barrier at its end */

static double now(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_REALTIME, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double region(uint64_t seed, int *ret_threads)
{
        double sum = 0;
        int threads = 1;

#pragma omp parallel reduction(+ : sum)
        {
#pragma omp single
                threads = omp_get_num_threads();
                for (int loop = 0; loop < LOOPS; loop++) {
#pragma omp for schedule(static)
                        for (int i = 0; i < WORK / LOOPS; i++)
                                sum += (double)(i ^ (int)seed) * 1e-9;
                }
        }
        *ret_threads = threads;
        return sum;
}

int main(int argc, char **argv)
{
        double begin = now(), end = begin + (argc > 1 ? atof(argv[1]) : 1), sum = 0, at;
        int threads = 0, before = 0;
        uint64_t n = 0;

        while ((at = now()) < end) {
                sum += region(n++, &threads);
                if (threads != before)
                        (void)printf("%.6f %d\n", at, threads);
                before = threads;
        }
        (void)printf("regions %ju from %.6f to %.6f\n", (uintmax_t)n, begin, now());
        return sum < 0;
}
