/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What is known of a job's way: the learner's (learner.h) word to the policies (share.h). Sizes are
 * CPU-seconds ÷ the node's CPUs, that is seconds alone on the node.
 */

#include "core/job/speedup.h"
#include <stdbool.h>
#include <stdint.h>

enum sg_resource {
        SG_RESOURCE_CPU,
        SG_RESOURCE_MEMORY,
        SG_RESOURCE_IO,
        SG_RESOURCE_NET,
        SG_N_RESOURCES
};

/* Of its way to its last evaluation, a job has 90, 95 and 99 hundredths behind it; and is done. */
enum { SG_MILESTONE_90, SG_MILESTONE_95, SG_MILESTONE_99, SG_MILESTONE_DONE, SG_N_MILESTONES };

enum sg_size_source {
        SG_SIZE_UNKNOWN,  /* no report yet, nothing in its class's history */
        SG_SIZE_HISTORY,  /* no usable report: what jobs of its class took */
        SG_SIZE_REPORTS,  /* its reports */
        SG_SIZE_DISTRUST, /* its reports aren't believed */
};

/* Of exponents: who scales so well, what it has used tells how far it is. */
#define SG_EXPONENT_LINEAR .95

/* What is known of a job's way, as learner.h gives it. */
struct sg_estimate {
        double remaining;           /* seconds alone on the node, > 0; not CPU-bound: at its rate */
        double total;               /* what it has used included */
        double to[SG_N_MILESTONES]; /* seconds alone to each; NaN = passed, or not known */
        double exponent;            /* its speed grows as share^exponent; 1 = linearly */
        struct sg_speedup speedup;  /* … where shares come in whole CPUs */
        bool whole;                 /* they do */
        uint32_t known;             /* bit o: its speed on about 2^o CPUs has been seen */
        double every;               /* s between its reports, lately; 0 = not known */
        double efficiency;          /* G of the driving resource (eq. 4.2); NaN = none yet */
        double loss_rate;   /* |dE| per second alone, of E's range, by its last reports; NaN */
        uint64_t n_reports; /* that count, in this attempt */
        enum sg_size_source source;
        bool wants_probe; /* has no report, and hasn't used up its probe */
        bool measured;    /* efficiency is from after the policy's last step */
};
