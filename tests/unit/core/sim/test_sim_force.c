/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* When the simulator's governor steps, and what of its plans is put into force: as in the daemon.
 */
#include "core/sim/sim.h"
#include "tests/unit/test.h"

#include <math.h>

#define N 4
#define CPUS 4
#define ALLOCATION_SEC .25 /* core/govern/diff.c */

static struct sg_trace_job job_from(double arrival, uint32_t reports)
{
        return (struct sg_trace_job){.instance = "1",
                                     .job = "a",
                                     .arrival = arrival,
                                     .work = 50,
                                     .width = 1,
                                     .a = 5,
                                     .first = 2,
                                     .last = 1,
                                     .reports = reports,
                                     .deadline = INFINITY,
                                     .speedup = sg_speedup_of(.5)};
}

/* Two jobs that report 20 times a second are looked at once in a tick, and not at each report. */
static void test_reports_wait_for_a_tick(void **state)
{
        const struct sg_trace_job jobs[] = {job_from(0, 1000), job_from(0, 1000)};
        struct sg_sim_job got[2];
        struct sg_sim_result result = {.jobs = got};
        struct sg_sim_options o;

        (void)state;
        sg_sim_options_init(&o);
        assert_int_equal(sg_sim_run(jobs, 2, &o, &result), 0);
        assert_near(got[0].cpu + got[1].cpu, 100, 1e-6);
        assert_in_range(result.steps, 50, 150);
}

struct seen {
        uint32_t cpus[N];
        double changed[N];
        unsigned n_changes;
};

static void see(void *userdata, double from, double to, const struct sg_sim_share *shares, size_t n)
{
        struct seen *s = userdata;

        (void)to;
        for (size_t i = 0; i < n; i++) {
                size_t job = shares[i].job;

                if (shares[i].cpus == s->cpus[job])
                        continue;
                if (s->cpus[job] > 0)
                        assert_true(from - s->changed[job] >= ALLOCATION_SEC - 1e-9);
                s->cpus[job] = shares[i].cpus;
                s->changed[job] = from;
                s->n_changes++;
        }
}

/* Jobs that come one soon after the other take CPUs from the first, but not one at a time. */
static void test_cpus_stay_for_a_while(void **state)
{
        const struct sg_trace_job jobs[N] = {job_from(0, 30), job_from(10, 30), job_from(10.05, 30),
                                             job_from(10.1, 30)};
        struct sg_sim_job got[N];
        struct sg_sim_result result = {.jobs = got};
        struct seen seen = {.n_changes = 0};
        struct sg_sim_options o;

        (void)state;
        sg_sim_options_init(&o);
        o.cpus = CPUS;
        o.whole = true;
        o.watch = see;
        o.userdata = &seen;
        assert_int_equal(sg_sim_run(jobs, N, &o, &result), 0);
        assert_true(seen.n_changes > N);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_reports_wait_for_a_tick),
                cmocka_unit_test(test_cpus_stay_for_a_while),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
