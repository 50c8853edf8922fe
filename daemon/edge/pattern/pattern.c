/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns, matched by libtre: by its parallel matcher, as neither back-references nor approximate
 * matching come out of our syntax.
 */

#include "edge/pattern/pattern.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "edge/pattern/syntax.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <tre/tre.h>

struct sg_pattern {
        struct sg_pattern_syntax syntax;
        regex_t compiled;
        bool is_compiled;
};

static int explain(int error, char **ret_why)
{
        char what[128];

        if (error == REG_ESPACE)
                return -ENOMEM;
        (void)tre_regerror(error, NULL, what, sizeof(what));
        if (ret_why && asprintf(ret_why, "pattern: %s", what) < 0) {
                *ret_why = NULL;
                return -ENOMEM;
        }
        return -EINVAL;
}

static int compile(struct sg_pattern *p, char **ret_why)
{
        int e = tre_regncomp(&p->compiled, p->syntax.text, p->syntax.size, REG_EXTENDED);

        if (e != REG_OK)
                return explain(e, ret_why);
        p->is_compiled = true;
        if (tre_have_backrefs(&p->compiled) || tre_have_approx(&p->compiled))
                return explain(REG_BADPAT, ret_why);
        return 0;
}

SG_DEFINE_CLEANUP(struct sg_pattern *, sg_pattern_free)

int sg_pattern_new(struct sg_pattern **ret, const char *pattern, char **ret_why)
{
        _cleanup_(sg_pattern_freep) struct sg_pattern *p = calloc(1, sizeof(*p));
        int r;

        if (!p)
                return -ENOMEM;
        r = sg_pattern_syntax_parse(&p->syntax, pattern, ret_why);
        if (r >= 0)
                r = compile(p, ret_why);
        if (r >= 0)
                *ret = TAKE_PTR(p);
        return r;
}

struct sg_pattern *sg_pattern_free(struct sg_pattern *p)
{
        if (!p)
                return NULL;
        if (p->is_compiled)
                tre_regfree(&p->compiled);
        sg_pattern_syntax_deinit(&p->syntax);
        free(p);
        return NULL;
}

int sg_pattern_check(const char *pattern, char **ret_why)
{
        struct sg_pattern *p;
        int r = sg_pattern_new(&p, pattern, ret_why);

        if (r >= 0)
                sg_pattern_free(p);
        return r;
}

/* "12", and "12.0" or "1e3" as some print them. */
static bool read_count(const char *s, const char *end, uint64_t *ret)
{
        const char *p = sg_count_scan(s, end, ret), *q;
        double d = NAN;

        if (p && (p == end || (*p != '.' && *p != 'e' && *p != 'E')))
                return true;
        q = sg_number_scan(s, end, &d);
        if (!q || !(d >= 0) || d >= 0x1p63)
                return false;
        *ret = (uint64_t)d;
        return true;
}

/* The number is what the group begins with: a greedy \S+ takes a comma with it. */
static void take_field(struct sg_report *r, uint32_t field, const char *s, const char *end)
{
        uint64_t *counts[] = {&r->step, &r->total, &r->epoch, &r->epochs};
        static const uint32_t fields[] = {SG_REPORT_STEP, SG_REPORT_TOTAL, SG_REPORT_EPOCH,
                                          SG_REPORT_EPOCHS};

        while (s < end && (*s == ' ' || *s == '\t'))
                s++;
        if (r->has & field)
                return;
        if (field == SG_REPORT_EVAL && sg_number_scan(s, end, &r->eval))
                r->has |= field;
        for (size_t i = 0; i < SG_ELEMENTSOF(fields); i++)
                if (field == fields[i] && read_count(s, end, counts[i]))
                        r->has |= field;
}

int sg_pattern_match(const struct sg_pattern *p, const char *line, size_t n, struct sg_report *ret)
{
        const struct sg_pattern_syntax *s = &p->syntax;
        regmatch_t m[SG_PATTERN_GROUPS_MAX + 1];
        struct sg_report report = {.has = 0};
        int e;

        if (s->literal_size > 0 && !memmem(line, n, s->literal, s->literal_size))
                return 0;
        e = tre_regnexec(&p->compiled, line, n, s->n_groups + 1, m, 0);
        if (e != REG_OK)
                return e == REG_ESPACE ? -ENOMEM : 0;
        for (unsigned i = 1; i <= s->n_groups; i++)
                if (s->fields[i] && m[i].rm_so >= 0)
                        take_field(&report, s->fields[i], line + m[i].rm_so, line + m[i].rm_eo);
        if (report.has == 0)
                return 0;
        *ret = report;
        return 1;
}
