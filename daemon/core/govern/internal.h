/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the governor's files share.
 *
 * A domain is the classes that one policy with one set of parameters governs. It has a clock of its
 * own that runs at the rate of the part of the node that it has: in it, a second is a second alone
 * on the domain, whoever else is on the node. So a policy always governs a whole node, and nothing
 * that it has promised or counted has to be rescaled when other domains come and go. With one
 * domain only, its clock is the governor's.
 */

#include "core/govern/governor.h"
#include "core/learn/programs.h"
#include "proto/names.h"

struct sg_domain {
        struct sg_share_settings settings;
        const struct sg_share_policy *policy;
        void *state;
        double clock, capacity; /* its time at governor.now; its part of the node since then */
        double interval;        /* back-off */
        double next;            /* when its policy asked to be called again, in its clock */
        uint32_t n_classes;
        const struct sg_domain *heir_of; /* while the configuration changes */
};

struct sg_governed_class {
        char name[SG_CLASS_NAME_MAX];
        double weight;
        struct sg_domain *domain;
        struct sg_class_history history;
        struct sg_past past; /* how its jobs have scaled */
        /* of the step under way */
        uint32_t index; /* among its domain's classes */
        size_t n_active;
        double share;
        uint32_t granted; /* its weight, as decided last */
};

struct sg_governed {
        uint64_t key, attempt;
        char class_name[SG_CLASS_NAME_MAX];
        uint32_t class;
        struct sg_domain *domain;
        uint32_t uid;
        double cpus, cpus_max, weight, deadline;
        double arrival, domain_arrival; /* in the governor's clock, in its domain's */
        double cpu;                     /* CPU-seconds, as last heard */
        enum sg_goal goal;
        uint64_t program, steps; /* as declared; 0 = not */
        bool aside, restarted, elastic, follows, held;
        bool stood;                   /* was held at some time since its use was last told */
        const struct sg_usual *usual; /* how it is thought to scale; shared.h */
        struct sg_learner *learner;
        struct sg_decision decision; /* of the last step; key 0 = none yet */
};

/* What was known of a job before a restart, until it is added again. */
struct sg_remembered {
        uint64_t key, attempt;
        double domain_arrival;
        void *learner;
        size_t size;
};

struct sg_governor {
        double cpus, now;
        bool whole; /* shares may be planned in whole CPUs */
        struct sg_governed_class *classes;
        size_t n_classes;
        struct sg_programs programs;
        struct sg_domain **domains;
        size_t n_domains;
        struct sg_governed **jobs; /* by key */
        size_t n_jobs, jobs_room;
        struct sg_remembered *remembered;
        size_t n_remembered;
        double forget_at; /* when `remembered` jobs that haven't come back are dropped; 0 = not set
                           */
        struct sg_share_job *seen; /* during a step, as the next */
        struct sg_share_out *outs;
        /* reused from step to step */
        const struct sg_decision **decisions;
        struct sg_class_decision *class_decisions;
        struct sg_share_class *share_classes;
        size_t room;
};

struct sg_governed *sg_governor_find(const struct sg_governor *g, uint64_t key);
struct sg_domain *sg_domain_free(struct sg_domain *d);
/* Whether the domain's jobs get whole CPUs; then the way in which they scale is a curve, else an
 * exponent. */
bool sg_governor_is_whole(const struct sg_governor *g, const struct sg_domain *d);
/* What was known of jobs that haven't been added again. */
void sg_governor_forget(struct sg_governor *g);
/* All clocks go on to now. */
void sg_governor_advance(struct sg_governor *g, double now);
/* Something happened: domains look again soon. */
void sg_governor_stir(struct sg_governor *g);
/* Puts a job into the domain of its class, unless it is there already. -ENOMEM: how it is thought
 * to scale stays as it was, or isn't known. */
int sg_governor_enter(struct sg_governor *g, struct sg_governed *j);
