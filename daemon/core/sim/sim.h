/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A node that doesn't exist: jobs of a trace run on it, the governor that governs real ones governs
 * them, and time goes from event to event. Steps come when the daemon would make one, and that part
 * of a plan is put into force which the daemon would write. Jobs advance by what the kernel would
 * make of these weights and caps, and say how far they are as real ones do. The governor hears
 * nothing else: what a job's real size is, only the node knows.
 */

#include "core/govern/governor.h"
#include "core/sim/trace.h"

struct sg_sim_share {
        size_t job; /* of those given */
        double share, rate;
        uint32_t cpus; /* so many of its own are in force, 0 = it shares them */
};

/* What can be done by somebody who knows what nobody can know. */
enum sg_sim_reference {
        SG_SIM_GOVERNED, /* nothing of that: by the governor */
        SG_SIM_SHORTEST, /* shortest remaining time first, by real sizes */
        SG_SIM_FIRST,    /* one after the other, as they come */
        SG_SIM_EARLIEST, /* earliest deadline first, without those that can't all be met (Moore and
                            Hodgson's choice of them) */
        SG_SIM_PLANNED,  /* the plan with real sizes and speed-ups, of whole CPUs */
};

struct sg_sim_options {
        struct sg_share_settings settings;
        double cpus;   /* 1: of the node */
        bool whole;    /* they are things that jobs have whole, and go on as their speed-ups say */
        bool stubborn; /* jobs have their threads whatever they get: they wait for each other */
        bool one_thread; /* each has one thread, and never more */
        enum sg_sim_reference reference;
        double claims;  /* .1: of the spread of a job's size as it says, in logarithms; falls to
                           0 with what is left */
        double early;   /* 0: else each says so much more, when this part of its work is done */
        double lies;    /* this part of the jobs says to be ten times as far as it is */
        double speedup; /* 1: a job that gets a part s of its width goes s^this as fast */
        double prior;   /* 130 s: of a job of which nothing is known yet */
        uint64_t seed;  /* of what jobs say; the same for each policy */
        /* Shows each span of time in which nothing changed. NULL = don't. */
        void (*watch)(void *userdata, double from, double to, const struct sg_sim_share *shares,
                      size_t n);
        void *userdata;
};

enum { SG_SIM_90, SG_SIM_95, SG_SIM_99, SG_SIM_N_QUALITIES };

/* One for each job; times are those of the trace. */
struct sg_sim_job {
        double finish;
        double reached[SG_SIM_N_QUALITIES]; /* when 90, 95, 99 hundredths of its way were done */
        double cpu;                         /* seconds alone on the node that it has used */
        bool lies;
};

struct sg_sim_result {
        struct sg_sim_job *jobs; /* the caller's, one for each given */
        uint64_t steps;
        uint64_t switches; /* jobs that had more than half of what they can use, and then less */
};

void sg_sim_options_init(struct sg_sim_options *o); /* the defaults; growth without a floor */
/* jobs: one instance, by arrival. -ENOMEM; -EDEADLK: the policy lets nobody run. */
int sg_sim_run(const struct sg_trace_job *jobs, size_t n, const struct sg_sim_options *o,
               struct sg_sim_result *ret);
