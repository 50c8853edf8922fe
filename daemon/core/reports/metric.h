/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a metric is by its name: something like a loss (smaller is better) or like an accuracy, and
 * of the training set or a held-out one. Prefixes and suffixes that say where or how it was taken
 * ("train_", "avg_", "_step") don't matter but for that.
 */

#include "core/reports/report.h"
#include <stdbool.h>
#include <stddef.h>

enum {
        SG_METRIC_EVERYDAY = 1, /* a word that needn't be a metric: "error", "score", "cost" */
        SG_METRIC_KNOWN,        /* "perplexity", "rmse"; "auc" */
        SG_METRIC_LIKE,         /* "logloss", "ctc_loss"; "top1_accuracy" */
        SG_METRIC_ITSELF,       /* "loss"; "accuracy" */
};

struct sg_metric {
        enum sg_goal goal;
        uint8_t kind; /* 0: no metric */
        bool held_out;
};

/* Case doesn't matter, and '/', '-', '.' and '@' are as good as '_'. */
struct sg_metric sg_metric_of(const char *name, size_t n);

/* The same, faster: a program prints few names, again and again. Zero-initialise. */
struct sg_metric_cache {
        struct {
                uint64_t hash;
                struct sg_metric metric;
        } entries[16];
};

struct sg_metric sg_metric_look_up(struct sg_metric_cache *c, const char *name, size_t n);

/* Larger is better, 0 = not for this goal: the training set's first, then by kind. */
static inline uint8_t sg_metric_rank(const struct sg_metric *m, enum sg_goal goal)
{
        if (m->kind == 0 || m->goal != goal)
                return 0;
        return (uint8_t)(m->kind + (m->held_out ? 0 : SG_METRIC_ITSELF));
}

#define SG_METRIC_NAME_MAX 48 /* longer is no metric */
