/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pieces of lines: counts, ratios, named values. What is said about boundaries here keeps dates,
 * versions, addresses and sizes from being taken for progress.
 */

#include "base/number.h"
#include "core/reports/preset-internal.h"

#include "base/cleanup.h"
#include <string.h>

#define METRIC_PATIENCE 64 /* lines without the best metric before a lesser one will do */

const char *sg_text_find(struct sg_text t, const char *needle)
{
        size_t n = strlen(needle);

        while (sg_text_size(t) >= n) {
                t.s = memchr(t.s, needle[0], sg_text_size(t) - n + 1);
                if (!t.s)
                        return NULL;
                if (memcmp(t.s, needle, n) == 0)
                        return t.s;
                t.s++;
        }
        return NULL;
}

/* Whether a number that ends before s is one of its own. */
static bool is_boundary(const char *s, const char *end, const char *joins)
{
        if (s >= end)
                return true;
        if (sg_text_is_digit(*s) || sg_text_is_alpha(*s) || *s == '_')
                return false;
        return !(strchr(joins, *s) && s + 1 < end && sg_text_is_digit(s[1]));
}

const char *sg_text_count(const char *s, const char *end, uint64_t *ret)
{
        uint64_t v;
        const char *p = sg_count_scan(s, end, &v);

        if (!p || !is_boundary(p, end, ".,:-"))
                return NULL;
        *ret = v;
        return p;
}

const char *sg_text_ratio(const char *s, const char *end, uint64_t *ret_n, uint64_t *ret_total)
{
        uint64_t n, total;

        s = sg_count_scan(s, end, &n);
        if (!s)
                return NULL;
        s = sg_text_skip_blanks(s, end);
        if (s < end && *s == '/')
                s++;
        else if (end - s > 3 && memcmp(s, "of ", 3) == 0)
                s += 3;
        else
                return NULL;
        s = sg_text_count(sg_text_skip_blanks(s, end), end, &total);
        if (!s || total == 0 || n > total || (s < end && *s == '/'))
                return NULL;
        *ret_n = n;
        *ret_total = total;
        return s;
}

const char *sg_text_value(const char *s, const char *end, double *ret)
{
        static const char *const wrappers[] = {"tensor(", "np.float64(", "np.float32("};
        double v;
        const char *p;

        if (s < end && (*s == 't' || *s == 'n'))
                for (size_t i = 0; i < SG_ELEMENTSOF(wrappers); i++) {
                        size_t n = strlen(wrappers[i]);

                        if ((size_t)(end - s) > n && memcmp(s, wrappers[i], n) == 0)
                                s += n;
                }
        p = sg_number_scan(s, end, &v);
        if (!p || !is_boundary(p, end, ".:-/"))
                return NULL;
        *ret = v;
        return p;
}

void sg_preset_offer(struct sg_preset_memory *m, uint8_t *rank, uint8_t offered, double value,
                     struct sg_report *ret)
{
        if (offered <= *rank)
                return;
        *rank = offered;
        if (offered < m->metric_rank && m->metric_missed < METRIC_PATIENCE)
                return;
        ret->has |= SG_REPORT_EVAL;
        ret->eval = value;
}

void sg_preset_offered(struct sg_preset_memory *m, uint8_t rank, struct sg_report *ret)
{
        if (ret->has & SG_REPORT_EVAL) {
                m->metric_rank = rank;
                m->metric_missed = 0;
        } else if (rank > 0) {
                m->metric_missed++;
        }
}

const bool sg_text_in_name[256] = {
        ['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true,
        ['/'] = true,         ['.'] = true,         ['@'] = true,         ['-'] = true,
};

/* What separates a name from its value; NULL: none. */
static const char *skip_separator(const char *s, const char *end)
{
        if (s < end && (*s == '\'' || *s == '"'))
                s++;
        while (s < end && *s == ' ')
                s++;
        if (s >= end || (*s != ':' && *s != '='))
                return NULL;
        s++;
        while (s < end && *s == ' ')
                s++;
        return s < end && (*s == '\'' || *s == '"') ? s + 1 : s;
}

void sg_preset_metrics(struct sg_preset_memory *m, struct sg_text t, struct sg_report *ret)
{
        uint8_t rank = 0;

        for (const char *s = t.s; s < t.end;) {
                struct sg_text name = {s, s};
                struct sg_metric metric;
                const char *value, *behind;
                double v;

                while (name.end < t.end && sg_text_in_name[(unsigned char)*name.end])
                        name.end++;
                s = name.end + (name.end == name.s);
                if (sg_text_size(name) < 2)
                        continue;
                value = skip_separator(name.end, t.end);
                if (!value || value >= t.end || !sg_text_begins_value(value, t.end))
                        continue;
                s = value;
                metric = sg_metric_look_up(m->cache, name.s, sg_text_size(name));
                if (sg_metric_rank(&metric, m->goal) <= rank)
                        continue;
                behind = sg_text_value(value, t.end, &v);
                if (!behind)
                        continue;
                sg_preset_offer(m, &rank, sg_metric_rank(&metric, m->goal), v, ret);
                s = behind;
        }
        sg_preset_offered(m, rank, ret);
}

void sg_preset_epoch(struct sg_preset_memory *m, uint64_t epoch, struct sg_report *ret)
{
        if (epoch == 0)
                m->epoch_zero = true;
        if (m->epoch_zero && epoch < UINT64_MAX)
                epoch++;
        ret->has |= SG_REPORT_EPOCH;
        ret->epoch = epoch;
}

void sg_preset_step_done(struct sg_preset_memory *m, uint64_t step, struct sg_report *ret)
{
        if (step == 0)
                m->step_zero = true;
        if (m->step_zero && step < UINT64_MAX)
                step++;
        ret->has |= SG_REPORT_STEP;
        ret->step = step;
}

void sg_report_put(struct sg_report *r, uint64_t step, uint64_t total)
{
        r->has |= SG_REPORT_STEP;
        r->step = step;
        if (total > 0) {
                r->has |= SG_REPORT_TOTAL;
                r->total = total;
        }
}
