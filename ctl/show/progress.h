/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job's document says of its progress, and how that is said to people. Pure. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct sg_job_progress { /* NaN, or NULL, where it isn't known; strings are the document's */
        double eval, best, step, total, fraction;
        double epoch;  /* of which step, total, fraction and the times are; NaN = of the run */
        bool diverged; /* it said that its evaluation is no number, or infinite */
        double eta_sec, eta_low_sec, eta_high_sec;
        const char *source, *status;
};

/* job: a schedgov.job/1. */
void sg_job_progress_read(const json_t *job, struct sg_job_progress *ret);

/* Each returns buf, which holds "" where the figure isn't known. */

/* "12 min"; ">12 min" where only an epoch's end is known */
const char *sg_eta_text(const struct sg_job_progress *p, char *buf, size_t size);
/* "12 min (10-15 min)", of the run's or the epoch's end */
const char *sg_eta_text_long(const struct sg_job_progress *p, char *buf, size_t size);
/* Warns of a deadline that is so many seconds ahead: " (may be late)", or ""; no buf. */
const char *sg_eta_warning(const struct sg_job_progress *p, double ahead_sec);
/* "52%" */
const char *sg_fraction_text(double fraction, char *buf, size_t size);
/* "12.5%" */
const char *sg_share_text(double share, char *buf, size_t size);
/* Four digits, such as 0.4123 or 1.2e-05. */
const char *sg_eval_text(double eval, char *buf, size_t size);
/* The same of what it said last, or "diverged". */
const char *sg_last_eval_text(const struct sg_job_progress *p, char *buf, size_t size);
/* "3200 of 6150", "20 of 60 (epoch 3)", "3200" */
const char *sg_step_text(const struct sg_job_progress *p, char *buf, size_t size);
