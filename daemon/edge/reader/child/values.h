/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Progress as named values: lines of JSON, and progress files (JSON, or lines key=value). Names:
 *
 *   eval, or a metric of the goal   loss, train_loss, …; of several the best known for one
 *   step    step, global_step, iteration, iter, batch    total   total, total_steps, max_steps, …
 *   epoch   epoch                                        epochs  epochs, num_epochs, …
 *
 * Objects within the object are looked into: {"train": {"loss": 0.5}} is train/loss. NaN and
 * infinities are taken as Python writes them, though they are no JSON.
 */

#include "core/reports/report.h"
#include <stdbool.h>
#include <stddef.h>

struct sg_values {       /* zero-initialise; what is remembered from one report to the next */
        uint8_t rank;    /* of the best metric so far: values of different ones never mix */
        bool epoch_zero; /* epochs are counted from 0 */
        bool whole_run;  /* steps go on through an epoch's end */
        uint64_t epoch, step;
};

/* One object and nothing else: 1, 0 = it is something else or says nothing of progress, -ENOMEM. */
int sg_values_json(struct sg_values *v, enum sg_goal goal, const char *text, size_t n,
                   struct sg_report *ret);
/* The same for a preset: state is a struct sg_values. */
int sg_values_json_line(const char *line, size_t n, enum sg_goal goal, void *state,
                        struct sg_report *ret);
/* key=value, or "key: value", one on a line. */
int sg_values_lines(struct sg_values *v, enum sg_goal goal, const char *text, size_t n,
                    struct sg_report *ret);
