/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the loop's files share. Times are seconds of CLOCK_MONOTONIC. */

#include "core/govern/pulse.h"
#include "core/govern/use.h"
#include "core/govern/want.h"
#include "edge/history/decision-log.h"
#include "edge/kernel/listeners.h"
#include "govern/loop.h"
#include "manager.h"

struct sg_looped {
        struct sg_list link; /* loop.jobs */
        struct sg_live *live;
        enum sg_share_list list;   /* as decided last */
        struct sg_applied applied; /* in force, or on its way */
        uint32_t own_weight;       /* what its user gave it */
        struct sg_changed changed;
        struct sg_use_last used;
        uint64_t group; /* the id of its group in the v2 tree; 0 = not looked up, or none */
        bool awaited;   /* somebody waits for it: from its start on … */
        bool reports;   /* it has */
        bool serves;    /* … or as it serves them */
        bool over;      /* nothing of it lives */
        bool expected;  /* nothing of it lives yet */
};

enum sg_loop_dirt { SG_LOOP_CLEAN, SG_LOOP_HEARD, SG_LOOP_CHANGED };

struct sg_loop {
        struct sg_manager *manager;
        struct sg_governor *governor;
        struct sg_list jobs; /* struct sg_looped */
        sd_event_source *timer;
        struct sg_use_node node; /* cpus: its quota's if that is less */
        double armed;            /* when it goes off; INFINITY = never */
        struct sg_pulse pulse;
        double stored;                  /* the last time that all was stored */
        struct sg_decision_log *log;    /* NULL: it couldn't be opened */
        unsigned causes;                /* enum sg_decision_cause, since the last step */
        enum sg_loop_dirt dirty;        /* what has happened since */
        struct sg_listeners *listeners; /* NULL: the kernel doesn't tell */
        double listened;                /* when it was asked last */
        uint32_t most;                  /* the largest weight of the last step */
        bool recalled;                  /* a former daemon's file was there */
        int log_error, store_error;     /* said already: a full disk is told of once */
        char *state_dir;
};

double sg_loop_now(void);
/* There will be a step at that time, or before. */
void sg_loop_look_by(struct sg_loop *loop, double at);
/* … from then on with a round. */
void sg_loop_look_with_round(struct sg_loop *loop, double at);

/* describe.c */
struct sg_governor_job sg_loop_describe(const struct sg_live *l);

/* apply.c */
void sg_loop_apply(struct sg_loop *loop, const struct sg_governor_plan *plan, double now);
/* What its groups are to be made with, by what is decided until now; see sg_loop_overlay(). */
void sg_loop_begin_with(struct sg_looped *p);
/* Applies what was decided before it started; false: nothing was. */
bool sg_loop_apply_begun(struct sg_looped *p, double now);
/* Takes back that its deadline can't be met, if that is its reason now. */
bool sg_loop_take_back_dropped(struct sg_live *l);

/* use.c */
void sg_loop_look_for_servers(struct sg_loop *loop, double now);

/* state.c */
void sg_loop_store(struct sg_loop *loop, double now); /* if it is time */
void sg_loop_store_now(struct sg_loop *loop, double now);
void sg_loop_recall(struct sg_loop *loop);
