/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as a trace. What is accepted must be written so that it reads the same, have finite
 * curves, and, if it isn't large, come to an end when it is simulated.
 */
#include "core/sim/sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 512
#define SIMULATED_MAX 8
#define SECONDS_MAX 1e5 /* what takes years there takes minutes here */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
        if (!condition)
                abort();
}

static void check_curve(const struct sg_trace_job *j)
{
        for (unsigned i = 0; i <= 4; i++) {
                double left = sg_trace_left(j, i / 4.), x = sg_trace_left_at(j, i / 4.);

                must(left >= 0 && left <= 1 + 1e-9 && x >= 0 && x <= 1);
                must(isfinite(sg_trace_loss(j, i / 4.)));
        }
}

static void check_text(const struct sg_trace_job *j)
{
        struct sg_trace again = {0};
        struct sg_trace_error e;
        char text[sizeof(SG_TRACE_HEADER) + LINE] = SG_TRACE_HEADER "\n";
        char *line = text + strlen(text);

        (void)sg_trace_format(j, line, LINE);
        must(sg_trace_parse(&again, text, strlen(text), &e) == 0 && again.n == 1);
        must(strcmp(sg_trace_format(&again.jobs[0], (char[LINE]){0}, LINE), line) == 0);
        sg_trace_deinit(&again);
}

static void check_run(const struct sg_trace_job *jobs, size_t n)
{
        struct sg_sim_job got[SIMULATED_MAX];
        struct sg_sim_result result = {.jobs = got};
        struct sg_sim_options o;

        for (size_t i = 0; i < n; i++)
                if (jobs[i].reports > 100 || jobs[i].work / jobs[i].width > SECONDS_MAX ||
                    jobs[i].arrival > SECONDS_MAX)
                        return;
        sg_sim_options_init(&o);
        o.reference = SG_SIM_SHORTEST;
        must(sg_sim_run(jobs, n, &o, &result) == 0);
        for (size_t i = 0; i < n; i++) {
                double least = jobs[i].arrival + jobs[i].work / jobs[i].width;

                must(got[i].finish >= least * (1 - 1e-6));
                must(got[i].reached[SG_SIM_90] <= got[i].reached[SG_SIM_99]);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sg_trace t = {0};
        struct sg_trace_error e = {0};
        int r = sg_trace_parse(&t, (const char *)data, size, &e);

        must(r == 0 ? t.n > 0 : t.n == 0 && e.what && e.line <= size + 1);
        for (size_t i = 0; i < t.n; i++) {
                check_curve(&t.jobs[i]);
                check_text(&t.jobs[i]);
        }
        for (size_t begin = 0, end; begin < t.n; begin = end) {
                end = sg_trace_instance_end(&t, begin);
                if (end - begin <= SIMULATED_MAX)
                        check_run(&t.jobs[begin], end - begin);
        }
        sg_trace_deinit(&t);
        return 0;
}
