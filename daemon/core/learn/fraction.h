/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * x: which part of its work a job says it has behind it. Other than progress.h, which shows people
 * what was said, this decides what others have to wait for, and so waits until it is sure.
 *
 * It is the outermost counter that counts: (epoch − 1 + step ÷ steps) ÷ epochs. Without epochs it
 * is the steps, unless they begin again a second time: then they count something within the run,
 * of which nobody says how often it will come. The first total is believed at once, since a job
 * that waits for its turn reports too seldom to be asked twice; another one when it was read three
 * times in a row. What is said of other totals within an epoch (validation) doesn't count. A number
 * of steps that was declared at submission goes before what the job says.
 */

#include "core/reports/report.h"
#include <stdbool.h>

struct sg_fraction {
        uint64_t declared;     /* 0 = unknown */
        uint64_t total;        /* of the outermost counter, as last read */
        uint64_t epoch, steps; /* under way; steps in it, 0 = it says nothing of them */
        uint64_t step;         /* last said of a run without epochs */
        double x;              /* last; NaN */
        double done;           /* last, in steps, or in epochs if there are any; NaN */
        uint32_t readings;     /* of total, in a row, as far as they matter */
        uint32_t restarts;     /* of a run's steps */
        bool by_epochs;
};

void sg_fraction_init(struct sg_fraction *f, uint64_t declared_steps /* 0 = unknown */);
/* x after this report; NaN: not known. */
double sg_fraction_feed(struct sg_fraction *f, const struct sg_report *r);
/* Whether its steps count something within the run, as far as is known. */
bool sg_fraction_is_inner(const struct sg_fraction *f);
