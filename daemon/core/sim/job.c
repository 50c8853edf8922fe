/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A job of the simulator, seen from inside: when it says something, and what. All that is random
 * about it comes from a stream of its own, drawn in the order of its reports, so that every policy
 * meets the same job.
 */

#include "core/sim/internal.h"
#include <math.h>
#include <string.h>

#define LIE 10.0      /* so many times as far as it is */
#define LIE_UP_TO .99 /* it never says that it is done */

/* Streams of a seed: by the instance's label and the job's place in it (FNV-1a). */
static uint64_t stream_of(const char *instance, size_t index)
{
        uint64_t h = UINT64_C(14695981039346656037);

        for (; *instance; instance++)
                h = (h ^ (unsigned char)*instance) * UINT64_C(1099511628211);
        return (h ^ index) * UINT64_C(1099511628211);
}

void sg_sim_run_init(struct sg_sim_run *run, const struct sg_trace_job *spec, size_t index,
                     const struct sg_sim_options *o)
{
        static const double left[SG_SIM_N_QUALITIES] = {.1, .05, .01};

        memset(run, 0, sizeof(*run));
        run->spec = spec;
        run->index = index;
        run->early = o->early;
        run->since = spec->arrival;
        sg_rng_init(&run->rng, o->seed, stream_of(spec->instance, index));
        run->claim = o->claims * sg_rng_normal(&run->rng);
        run->lies = sg_rng_double(&run->rng) < o->lies;
        for (size_t i = 0; i < SG_SIM_N_QUALITIES; i++)
                run->milestones[i] = spec->work * sg_trace_left_at(spec, left[i]);
}

double sg_sim_next(const struct sg_sim_run *run)
{
        const struct sg_trace_job *spec = run->spec;
        uint32_t regular = run->early > 0 ? run->said : run->said + 1;

        if (regular == 0)
                return spec->work * run->early;
        return regular < spec->reports ? spec->work * regular / spec->reports : spec->work;
}

/* Its size, as one would work it out from this, is the real one × e^(claim·(1 − x)). */
static double claimed_fraction(const struct sg_sim_run *run, double x)
{
        double said = x * exp(-run->claim * (1 - x));

        return fmin(run->lies ? fmin(LIE * said, fmax(LIE_UP_TO, x)) : said, 1);
}

struct sg_learner_report sg_sim_report(struct sg_sim_run *run, const struct sg_sim_options *o,
                                       double now)
{
        const struct sg_trace_job *spec = run->spec;
        double x = run->done / spec->work;
        double spread = spec->noise * fabs(spec->first - spec->last) * sg_trace_left(spec, x);

        run->said++;
        return (struct sg_learner_report){
                .now = now,
                .cpu = run->used * o->cpus,
                .fraction = claimed_fraction(run, x),
                .eval = sg_trace_loss(spec, x) + spread * sg_rng_normal(&run->rng),
        };
}
