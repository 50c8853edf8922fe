/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How a job of a trace learns: see trace.h. Each curve falls from 1 at x = 0; what is left of it at
 * x = 1 is where the job ends. */

#include "core/sim/trace.h"
#include <math.h>

#define FLAT 1e-9 /* a curve that doesn't fall is taken for a line */

static double phi(const struct sg_trace_job *job, double x)
{
        switch (job->curve) {
        case SG_CURVE_POW:
                return pow(1 + job->a * x, -job->b);
        case SG_CURVE_WEIBULL:
                return exp(-pow(x / job->a, job->b));
        case SG_CURVE_EXP:
        default:
                return exp(-job->a * x);
        }
}

static double inverse(const struct sg_trace_job *job, double value)
{
        switch (job->curve) {
        case SG_CURVE_POW:
                return (pow(value, -1 / job->b) - 1) / job->a;
        case SG_CURVE_WEIBULL:
                return job->a * pow(-log(value), 1 / job->b);
        case SG_CURVE_EXP:
        default:
                return -log(value) / job->a;
        }
}

double sg_trace_left(const struct sg_trace_job *job, double x)
{
        double end = phi(job, 1);

        return 1 - end < FLAT ? 1 - x : fmax((phi(job, x) - end) / (1 - end), 0);
}

double sg_trace_left_at(const struct sg_trace_job *job, double left)
{
        double end = phi(job, 1);
        double x = 1 - end < FLAT ? 1 - left : inverse(job, end + left * (1 - end));

        return fmin(fmax(x, 0), 1);
}

double sg_trace_loss(const struct sg_trace_job *job, double x)
{
        return job->last + (job->first - job->last) * sg_trace_left(job, x);
}
