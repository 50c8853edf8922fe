/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the store takes: submissions one at a time and in bulk, a job's whole life, listings. */

#include "base/parse.h"
#include "base/time-util.h"
#include "edge/store/store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOBS 10000

static size_t answered, failed, rows;
static uint64_t latency[JOBS];

static void on_done(int result, const struct sg_job *job, void *userdata)
{
        (void)job;
        (void)userdata;
        answered++;
        failed += result < 0;
}

static void on_row(int result, const struct sg_job *job, void *userdata)
{
        (void)result;
        *(uint64_t *)userdata = job->key.n;
        rows++;
}

static void on_attempt(int result, const struct sg_attempt_info *info, void *userdata)
{
        (void)userdata;
        answered++;
        failed += result < 0 || info->fate != SG_ATTEMPT_RUN;
}

static void job_make(struct sg_job *job, uint64_t n, uint64_t state)
{
        sg_job_init(job);
        (void)snprintf(job->key.origin, sizeof(job->key.origin), "bench");
        (void)snprintf(job->name, sizeof(job->name), "job-%u", (unsigned)n);
        (void)snprintf(job->class, sizeof(job->class), "default");
        (void)snprintf(job->user, sizeof(job->user), "root");
        job->key.n = n;
        job->key.attempt = state == SG_JOB_QUEUED ? 0 : 1;
        job->state = state;
        job->submitted_usec = sg_now_realtime_usec();
}

static void submit(struct sg_store *s, uint64_t n, const void *spec, size_t size)
{
        struct sg_job job;
        char token[SG_TOKEN_MAX];

        job_make(&job, n, SG_JOB_QUEUED);
        (void)snprintf(token, sizeof(token), "%016llx%016llx",
                       (unsigned long long)(n * 0x9e3779b97f4a7c15), (unsigned long long)n);
        sg_store_submit(s, &job, NULL, token, spec, size, on_done, NULL);
}

static void report(const char *what, uint64_t started, size_t n)
{
        uint64_t usec = sg_now_monotonic_usec() - started;

        printf("%-44s %8.0f/s %10.1f µs each\n", what, (double)n * 1e6 / (double)usec,
               (double)usec / (double)n);
}

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

static void submit_one_by_one(struct sg_store *s, const void *spec, size_t size)
{
        uint64_t started = sg_now_monotonic_usec();

        for (size_t i = 0; i < JOBS; i++) {
                uint64_t t = sg_now_monotonic_usec();

                submit(s, 1 + i, spec, size);
                (void)sg_store_flush(s);
                latency[i] = sg_now_monotonic_usec() - t;
        }
        report("submit, one at a time", started, JOBS);
        qsort(latency, JOBS, sizeof(latency[0]), by_value);
        printf("  p50 %u µs, p99 %u µs, p99.9 %u µs, max %u µs\n", (unsigned)latency[JOBS / 2],
               (unsigned)latency[JOBS * 99 / 100], (unsigned)latency[JOBS * 999 / 1000],
               (unsigned)latency[JOBS - 1]);
}

static void live_start(struct sg_store *s, uint64_t n)
{
        struct sg_job job;

        job_make(&job, n, SG_JOB_STARTING);
        sg_store_start(s, &job, NULL, 0, on_done, NULL);
}

static void live_run(struct sg_store *s, uint64_t n)
{
        struct sg_job job;

        job_make(&job, n, SG_JOB_RUNNING);
        sg_store_inspect(s, &job.key, SG_PUBLISH_RUN, on_attempt, NULL);
        sg_store_update(s, &job, on_done, NULL);
}

static void live_finish(struct sg_store *s, uint64_t n)
{
        struct sg_job job;

        job_make(&job, n, SG_JOB_EXITED);
        job.exit_code = 0;
        job.ended_usec = job.submitted_usec;
        sg_store_finish(s, &job, on_done, NULL);
}

/* The life of `count` jobs from `first` on, `at_once` of them side by side. */
static void live(struct sg_store *s, uint64_t first, size_t count, size_t at_once)
{
        static void (*const steps[])(struct sg_store *, uint64_t) = {live_start, live_run,
                                                                     live_finish};
        uint64_t spent[SG_ELEMENTSOF(steps)] = {0}, t, total = 0;

        for (uint64_t n = first; n < first + count; n += at_once) {
                for (size_t k = 0; k < SG_ELEMENTSOF(steps); k++) {
                        t = sg_now_monotonic_usec();
                        for (size_t i = 0; i < at_once; i++)
                                steps[k](s, n + i);
                        (void)sg_store_flush(s);
                        spent[k] += sg_now_monotonic_usec() - t;
                }
        }
        for (size_t k = 0; k < SG_ELEMENTSOF(steps); k++)
                total += spent[k];
        printf("%3zu jobs at once: start %.0f + fate and running %.0f + finish %.0f µs; %.0f "
               "jobs/s\n",
               at_once, (double)spent[0] / (double)count, (double)spent[1] / (double)count,
               (double)spent[2] / (double)count, (double)count * 1e6 / (double)total);
}

static void list(struct sg_store *s)
{
        struct sg_store_query q = {
                .uid = SG_UNLIMITED, .finished_only = true, .limit = SG_PAGE_MAX};
        uint64_t started = sg_now_monotonic_usec();
        size_t before;

        do {
                before = rows;
                sg_store_list(s, &q, on_row, NULL, &q.before);
                (void)sg_store_flush(s);
        } while (rows > before);
        printf("%zu finished jobs listed by pages of %u: %.1f ms\n", rows, SG_PAGE_MAX,
               (double)(sg_now_monotonic_usec() - started) / 1e3);
}

static void show_memory(struct sg_store *s)
{
        char path[64], line[128];
        FILE *f;

        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)sg_store_pid(s));
        f = fopen(path, "re");
        while (f && fgets(line, sizeof(line), f))
                if (strncmp(line, "RssAnon", 7) == 0)
                        printf("writer %s", line);
        if (f)
                (void)fclose(f);
}

int main(int argc, char **argv)
{
        static char spec[4000];
        struct sg_store *s = NULL;
        char *why = NULL;
        uint64_t n, started;

        if (argc != 2 || sg_store_open(&s, argv[1], &why) < 0) {
                fprintf(stderr, "usage: bench_store EMPTY-DIRECTORY (%s)\n", why ? why : "-");
                return EXIT_FAILURE;
        }
        (void)sg_store_load(s, &n, NULL, NULL);
        {
                struct sg_record r = {0};

                memset(spec, 'x', sizeof(spec));
                sg_record_put(&r, 7, spec, sizeof(spec) - 8);
                memcpy(spec, r.data, r.size);
                submit_one_by_one(s, spec, r.size);
                sg_record_deinit(&r);
        }
        live(s, 1, JOBS / 5, 1);
        live(s, 1 + JOBS / 5, 2 * JOBS / 5, 10);
        live(s, 1 + 3 * JOBS / 5, 2 * JOBS / 5, 100);
        started = sg_now_monotonic_usec();
        for (n = JOBS + 1; n <= 2 * JOBS; n++)
                submit(s, n, spec, 1000);
        (void)sg_store_flush(s);
        report("submit, all at once", started, JOBS);
        list(s);
        show_memory(s);
        printf("%zu answered, %zu failed, %s\n", answered, failed,
               sg_store_error(s) ? sg_store_error(s) : "no error");
        sg_store_close(s);
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
