/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Finds loss, step and epoch in what training programs print. A preset knows the lines of one
 * framework:
 *
 *   keras        "Epoch 3/10", "12/100 [==>...] - ETA: 3s - loss: 0.4", Keras 3's "12/100 ━━━━ …"
 *   lightning    "Epoch 3:  45%|████▌     | 45/100 [00:10<00:12, 4.4it/s, v_num=0, loss=0.1]", and
 *                the bar of rich
 *   huggingface  "{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 1.0, 'step': 300}", with or
 * without a step, and the bar beside it tqdm         any bar of tqdm's but of bytes (downloads); of
 * nested ones the outermost, or both if that counts epochs; a metric from lines between the bars if
 * those have none xgboost      "[12]\ttrain-rmse:0.123\tvalid-rmse:0.2", with the deviation of cv
 *   lightgbm     "[12]\tvalid_0's l2: 0.123", and its command line's "Iteration:12, …"
 *   plain        "step 3/10 loss=0.5", "epoch: 2 loss: 1e-3", "iter 100: loss 0.5, time 20ms" …
 *   json, pattern  what the caller's function finds
 *   auto         settles on the one that matches, json included. It takes the more specific one
 *                and needs an unmistakable line: a metric and a step or epoch, or a framework's own
 *                form. It moves on once another has matched three times and the own one hasn't.
 *
 * Of several metrics on a line it is the one of the goal: for SG_GOAL_MIN "loss", else something
 * like a loss; for SG_GOAL_MAX "accuracy" or the like. Values of the training set come before those
 * of a held-out one ("val_loss"), so that the series is dense. Once it has found a better kind of
 * metric, lesser ones are ignored: values of different metrics never mix, but where a better one
 * takes over.
 */

#include "core/reports/lines.h"
#include "core/reports/metric.h"
#include "core/reports/report.h"

/* 1: matched, *ret filled in; 0: not one of its lines. */
typedef int sg_line_fn(const char *line, size_t n, enum sg_goal goal, void *state,
                       struct sg_report *ret);

/* Whether there is a preset of this name, "auto" included. */
bool sg_preset_valid(const char *name);
/* "auto", "keras" …, NULL behind the last. */
extern const char *const sg_preset_names[];

/* What the presets remember from line to line. */
struct sg_preset_memory {
        enum sg_goal goal;
        struct sg_metric_cache *cache; /* the parser's; set for each feed, as that may be moved */
        uint8_t metric_rank;           /* of the best kind of metric so far */
        uint8_t metric_missed;         /* lines since, that had lesser ones only */
        bool tentative;                /* another preset's line, as far as is known */
        bool epoch_zero, step_zero;    /* counted from 0, as that was seen */
        bool whole_run;                /* steps go on through an epoch's end */
        bool bar_epochs, bar_inner;   /* the bar that is followed counts epochs; others lie in it */
        bool bar_again;               /* it comes back, once per epoch */
        bool bar_seen, bar_metric;    /* any; one that had a metric itself */
        uint64_t epoch, epochs, step; /* of the last line that had them */
        uint64_t step_epoch;          /* that this step was of */
        uint64_t epoch_steps;         /* as many had the last epoch */
        uint64_t bar_total, bar_step; /* the bar that is followed; total 0 = none */
        uint64_t bar_elapsed_sec;     /* as it says */
        uint64_t bar_before;          /* total of the one that was followed before */
};

struct sg_log_parser {
        /* read by the caller: */
        struct sg_report report; /* newest of each field */
        uint64_t n_reports;      /* lines that had something, so far */
        const char *matched;     /* the preset that it is, or has settled on; NULL = not yet */
        /* its own: */
        struct sg_lines lines;
        struct sg_preset_memory memory;
        struct sg_metric_cache cache;
        struct sg_report pending; /* said by lines that alone prove nothing */
        sg_line_fn *custom;
        void *custom_state;
        int8_t fixed, settled, rival; /* places in the table, −1 = none */
        uint8_t rival_hits, weak_hits, pending_age;
};

/* custom may be NULL but for "json" and "pattern". -EINVAL: no such preset. */
int sg_log_parser_init(struct sg_log_parser *p, const char *preset, enum sg_goal goal,
                       sg_line_fn *custom, void *custom_state);
void sg_log_parser_feed(struct sg_log_parser *p, const char *data, size_t n);
/* Nothing more came for a while: takes the unended last line for a whole one, so that a bar is
 * known before the next one overwrites it. No harm if it goes on after all. */
void sg_log_parser_settle(struct sg_log_parser *p);
void sg_log_parser_deinit(struct sg_log_parser *p);
