/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files behind adopt.h share: adopt.c takes in, settle.c follows what that becomes, end.c
 * lets go, control.c does what is asked for in between. */

#include "adopt/adopt.h"
#include "edge/cgroup/systemd/foreign.h"
#include "manager.h"

/* systemd-run has become the command by then, mostly, and a service's first process its program;
 * engines take longer. */
#define SETTLE_USEC (300ULL * 1000)

struct sg_adopter {
        struct sg_manager *manager;
        const char *slice; /* sg_adopt_rules.slice */
        struct sg_watch *watch;
        struct sg_list jobs;      /* struct sg_adopted, while its group lives */
        struct sg_list ending;    /* after that: its unit is asked about */
        struct sg_list newcomers; /* whose user's name is being looked up */
        struct sg_list searches;  /* units to be adopted by hand, whose group is asked for */
        size_t n_jobs, n_asking;
        sd_event_source *timer;
        bool complained;
        char misspelt[SG_CLASS_NAME_MAX]; /* the last slice's class that isn't there, in the log */
};

static inline struct sg_adopt_rules sg_adopter_rules(const struct sg_adopter *a)
{
        return (struct sg_adopt_rules){a->manager->settings, a->slice};
}

/* Of one job. */
struct sg_adopted {
        struct sg_list link;
        struct sg_live *live;
        struct sg_watched *watched; /* its group, while that is populated */
        bool settled;               /* its processes are what they are to be */
        bool limited;               /* its class's limits were asked for */
        bool thawed;                /* it should be frozen, and systemd couldn't be reached */
        bool away;                  /* it ended while we were not there */
        uint64_t oom_kills;         /* that were seen last */
        unsigned questions;         /* about its end, that systemd was asked */
        struct sg_unit_question *question; /* … the one under way */
        sd_event_source *timer;            /* until the next one */
};

/* Makes a job of it when its user's name is known; then the asker (or NULL) is told. -ESRCH: it
 * has no process; -ENOSPC: there are too many. */
int sg_adopter_welcome(struct sg_adopter *a, const struct sg_watched *g,
                       const struct sg_adoptee *as, const struct sg_adopt_asker *asker);
/* Tells whoever asked, once; nothing if nobody did. */
void sg_adopt_tell(struct sg_adopt_asker *asker, const struct sg_answer *refusal, uint64_t n);
void sg_adopter_forget_searches(struct sg_adopter *a);
/* Has the groups looked at within that time, again or for the first time. */
void sg_adopter_arm(struct sg_adopter *a, uint64_t delay_usec);
/* Takes over what its processes have become, for as long as that may change. */
void sg_adopted_settle(struct sg_live *l);
/* Its group has emptied or gone; `away`: while we were not there. */
void sg_adopted_end(struct sg_live *l, bool away);
/* Freezes again a job that should be frozen, which is shown, and whose group lives. */
void sg_adopted_freeze_again(struct sg_live *l);
/* Gives a job that may be limited what its class says, if systemd can be reached now. */
void sg_adopted_limit(struct sg_live *l);
