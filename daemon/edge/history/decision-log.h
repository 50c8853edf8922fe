/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The log of decisions: one line of JSON for each step of the governor that changed anything, with
 * what was known of the jobs concerned and what they got (schedgov.decision/1, org.schedgov1(5)). A
 * job that isn't in a line got what the last line with it says. The first line after a start has
 * all.
 *
 *   STATE/decisions.jsonl     what is written now
 *   STATE/decisions.jsonl.1   what was before that, once it had its size
 *
 * It is for people: nothing is synced, and what can't be written is left out.
 */

#include "base/cleanup.h"
#include "core/govern/governor.h"

struct sg_decision_log;

/* Why a step was made, as bits. */
enum sg_decision_cause {
        SG_CAUSE_BEGIN = 1 << 0,  /* a job has begun */
        SG_CAUSE_END = 1 << 1,    /* … has ended */
        SG_CAUSE_REPORT = 1 << 2, /* … has reported */
        SG_CAUSE_HOLD = 1 << 3,   /* … was suspended or resumed */
        SG_CAUSE_CHANGE = 1 << 4, /* … was given other limits; or the settings changed */
        SG_CAUSE_TIME = 1 << 5,   /* the last step had asked for it */
};

/* The id of a job as people know it ("7"), into buf. */
#define SG_DECISION_ID_MAX 128
typedef void (*sg_decision_id_fn)(uint64_t key, char buf[SG_DECISION_ID_MAX], void *userdata);

/* max_bytes: of each of the two files; 0 = 8 MiB. */
int sg_decision_log_open(struct sg_decision_log **ret, const char *state_dir, uint64_t max_bytes,
                         sg_decision_id_fn id, void *userdata);
struct sg_decision_log *sg_decision_log_close(struct sg_decision_log *log);
SG_DEFINE_CLEANUP(struct sg_decision_log *, sg_decision_log_close)

/* 1: something was written; 0: nothing had changed, or no job runs; negative: it couldn't be
 * written, and the log goes on with the next. */
int sg_decision_log_put(struct sg_decision_log *log, uint64_t realtime_usec, unsigned causes,
                        const struct sg_governor_plan *plan);

/* Both files for reading, the older first; -1 = there is none. */
int sg_decision_log_files(const char *state_dir, int ret_fds[2]);
