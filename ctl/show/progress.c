/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See progress.h. */

#include "ctl/show/progress.h"
#include "ctl/show/fields.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

void sg_job_progress_read(const json_t *job, struct sg_job_progress *ret)
{
        const json_t *p = json_object_get(job, "progress");

        *ret = (struct sg_job_progress){
                .eval = sg_document_number(p, "eval"),
                .best = sg_document_number(p, "best"),
                .diverged = json_is_true(json_object_get(p, "diverged")),
                .step = sg_document_number(p, "step"),
                .total = sg_document_number(p, "total"),
                .epoch = sg_document_number(p, "epoch"),
                .fraction = sg_document_number(p, "fraction"),
                .eta_sec = sg_document_number(p, "eta_sec"),
                .eta_low_sec = sg_document_number(p, "eta_low_sec"),
                .eta_high_sec = sg_document_number(p, "eta_high_sec"),
                .source = sg_document_string(p, "source"),
                .status = sg_document_string(p, "status"),
        };
}

/* Nobody needs the seconds of an hour: the unit is one in which two digits say it. */
static const struct unit {
        double below, sec;
        const char *name;
} units[] = {{90, 1, "s"}, {90 * 60, 60, "min"}, {36 * 3600, 3600, "h"}, {INFINITY, 86400, "d"}};

static const struct unit *unit_of(double sec)
{
        const struct unit *u = units;

        while (sec >= u->below)
                u++;
        return u;
}

static const char *count(double sec, const struct unit *u, char *buf, size_t size)
{
        double n = sec > 0 ? sec / u->sec : 0;

        (void)snprintf(buf, size, "%.*f", u->sec > 1 && n < 9.95 ? 1 : 0, n);
        return buf;
}

const char *sg_eta_text(const struct sg_job_progress *p, char *buf, size_t size)
{
        const struct unit *u;
        char n[32];

        *buf = '\0';
        if (!isfinite(p->eta_sec))
                return buf;
        u = unit_of(p->eta_sec);
        (void)snprintf(buf, size, "%s%s %s", p->epoch > 0 ? ">" : "",
                       count(p->eta_sec, u, n, sizeof(n)), u->name);
        return buf;
}

const char *sg_eta_text_long(const struct sg_job_progress *p, char *buf, size_t size)
{
        char at[32], lo[32], hi[32];
        const struct unit *u;
        size_t used;

        *buf = '\0';
        if (!isfinite(p->eta_sec))
                return buf;
        u = unit_of(p->eta_sec);
        used = (size_t)snprintf(buf, size, "%s %s", count(p->eta_sec, u, at, sizeof(at)), u->name);
        if (!isfinite(p->eta_low_sec) || !isfinite(p->eta_high_sec) || used >= size)
                return buf;
        (void)count(p->eta_low_sec, u, lo, sizeof(lo));
        (void)count(p->eta_high_sec, u, hi, sizeof(hi));
        if (strcmp(lo, hi) != 0)
                (void)snprintf(buf + used, size - used, " (%s-%s %s)", lo, hi, u->name);
        return buf;
}

const char *sg_eta_warning(const struct sg_job_progress *p, double ahead_sec)
{
        if (ahead_sec < 0)
                return " (it is past)";
        if (p->eta_low_sec > ahead_sec)
                return " (will be late)";
        if (p->eta_sec > ahead_sec || p->eta_high_sec > ahead_sec)
                return " (may be late)";
        return "";
}

const char *sg_fraction_text(double fraction, char *buf, size_t size)
{
        *buf = '\0';
        if (isfinite(fraction)) /* rounded down: 100% is when it is there */
                (void)snprintf(buf, size, "%.0f%%", floor(fraction * 100 + 1e-9));
        return buf;
}

const char *sg_share_text(double share, char *buf, size_t size)
{
        *buf = '\0';
        if (isfinite(share))
                (void)snprintf(buf, size, "%.3g%%", share * 100);
        return buf;
}

const char *sg_eval_text(double eval, char *buf, size_t size)
{
        *buf = '\0';
        if (isfinite(eval))
                (void)snprintf(buf, size, "%.4g", eval);
        return buf;
}

const char *sg_last_eval_text(const struct sg_job_progress *p, char *buf, size_t size)
{
        if (!p->diverged)
                return sg_eval_text(p->eval, buf, size);
        (void)snprintf(buf, size, "diverged");
        return buf;
}

const char *sg_step_text(const struct sg_job_progress *p, char *buf, size_t size)
{
        *buf = '\0';
        if (isfinite(p->step) && isfinite(p->total) && p->epoch > 0)
                (void)snprintf(buf, size, "%.0f of %.0f (epoch %.0f)", p->step, p->total, p->epoch);
        else if (isfinite(p->step) && isfinite(p->total))
                (void)snprintf(buf, size, "%.0f of %.0f", p->step, p->total);
        else if (isfinite(p->step))
                (void)snprintf(buf, size, "%.0f", p->step);
        return buf;
}
