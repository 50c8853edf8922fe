/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * XGBoost and LightGBM: a round in brackets, then fields between tabs.
 *
 *   [12]\ttrain-rmse:0.12345\tvalid-rmse:0.23456      cv: train-rmse:0.12345+0.00123
 *   [12]\ttraining's l2: 0.123\tvalid_0's auc: 0.9    cv: cv_agg's l2: 0.12 + 0.01
 *   [LightGBM] [Info] Iteration:12, training auc : 0.983531
 *
 * A logger may have put something before the bracket. XGBoost counts rounds from 0, LightGBM and R
 * from 1. Metrics that we don't know are as good as a loss or an accuracy here.
 */

#include "core/reports/preset-internal.h"

#include <string.h>

/* "[12]" or R's "[12]:" before a tab or blanks; NULL: none. *ret_field is what follows. */
static bool scan_round(struct sg_text line, uint64_t *ret_round, const char **ret_fields)
{
        const char *close = memchr(line.s, '\t', sg_text_size(line)), *open;

        if (!close) { /* R aligns by blanks */
                if (line.s >= line.end || *line.s != '[')
                        return false;
                close = memchr(line.s, ']', sg_text_size(line));
                close = close ? close + 1 : line.s;
                if (close < line.end && *close == ':')
                        close++;
        }
        *ret_fields = sg_text_skip_blanks(close, line.end);
        if (close > line.s && close[-1] == ':')
                close--;
        if (close - line.s < 3 || close[-1] != ']' || *ret_fields == close)
                return false;
        for (open = close - 1; open > line.s && sg_text_is_digit(open[-1]);)
                open--;
        return open > line.s && open[-1] == '[' &&
               sg_text_count(open, close, ret_round) == close - 1;
}

static bool is_training(struct sg_text set)
{
        const char *p;

        return sg_text_after_word(set, "train", &p) || sg_text_after_word(set, "dtrain", &p) ||
               sg_text_find(set, " train");
}

/* What a field says: whose metric, which, and how much. */
struct pair {
        struct sg_text set, name, number;
        double value;
};

struct round {
        struct sg_preset_memory *m;
        struct sg_report *ret;
        uint8_t rank;
};

/* A metric of the user's own is as good as a known one, but it must be seen to be measured:
 * "[17]\tserver-a:8080" is no round. */
static bool take_pair(struct round *r, const struct pair *f)
{
        struct sg_metric metric = sg_metric_look_up(r->m->cache, f->name.s, sg_text_size(f->name));

        if (metric.kind == 0) {
                uint64_t whole;

                if (sg_text_count(f->number.s, f->number.end, &whole) == f->number.end)
                        return false;
                metric = (struct sg_metric){.goal = r->m->goal, .kind = SG_METRIC_EVERYDAY};
        }
        metric.held_out = !is_training(f->set);
        sg_preset_offer(r->m, &r->rank, sg_metric_rank(&metric, r->m->goal), f->value, r->ret);
        return true;
}

/* The value, and of cross validation its deviation behind `plus`; NULL: not up to the end. */
static bool scan_value(struct sg_text t, const char *plus, struct pair *ret)
{
        size_t n = strlen(plus);
        double deviation;

        ret->number.s = sg_text_skip_blanks(t.s, t.end);
        ret->number.end = sg_text_value(ret->number.s, t.end, &ret->value);
        if (!ret->number.end)
                return false;
        t.s = ret->number.end;
        if (sg_text_size(t) > n && memcmp(t.s, plus, n) == 0)
                t.s = sg_text_value(t.s + n, t.end, &deviation);
        return t.s && sg_text_skip_blanks(t.s, t.end) == t.end;
}

/* "train-rmse:0.1+0.01": the set's name can have a '-' too, and "ndcg@10-" ends with one. */
static bool xgboost_field(struct sg_text f, struct pair *ret)
{
        const char *colon = memchr(f.s, ':', sg_text_size(f)), *dash;

        if (!colon || colon - f.s < 3)
                return false;
        for (dash = colon - 2; dash > f.s && *dash != '-';)
                dash--;
        if (dash == f.s || !sg_text_is_alpha(dash[1]))
                return false;
        ret->set = (struct sg_text){f.s, dash};
        ret->name = (struct sg_text){dash + 1, colon};
        return scan_value((struct sg_text){colon + 1, f.end}, "+", ret);
}

/* The metric is the last word. */
static void split_name(struct sg_text t, struct pair *ret)
{
        const char *name = t.end;

        while (name > t.s && name[-1] != ' ')
                name--;
        ret->set = (struct sg_text){t.s, name};
        ret->name = (struct sg_text){name, t.end};
}

/* "valid_0's l2: 0.1 + 0.01", of cv "cv_agg's valid l2: …". */
static bool lightgbm_field(struct sg_text f, struct pair *ret)
{
        const char *quote = sg_text_find(f, "'s "), *colon;

        if (!quote || quote == f.s)
                return false;
        colon = memchr(quote, ':', (size_t)(f.end - quote));
        if (!colon)
                return false;
        split_name((struct sg_text){f.s, colon}, ret);
        return scan_value((struct sg_text){colon + 1, f.end}, " + ", ret);
}

typedef bool field_fn(struct sg_text f, struct pair *ret);

/* The next field: up to a tab, or to two blanks. */
static struct sg_text next_field(const char *s, const char *end)
{
        struct sg_text f = {s, s};

        while (f.end < end && *f.end != '\t' &&
               !(*f.end == ' ' && (f.end + 1 == end || f.end[1] == ' ')))
                f.end++;
        return f;
}

static enum sg_match boost(struct sg_preset_memory *m, struct sg_text line, field_fn *field,
                           struct sg_report *ret)
{
        struct sg_report found = {0};
        struct round r = {.m = m, .ret = &found};
        uint64_t number;
        const char *s;
        int n = 0;

        if (!scan_round(line, &number, &s))
                return SG_MATCH_NONE;
        for (; s < line.end; n++) {
                struct sg_text f = next_field(s, line.end);
                struct pair pair;

                if (!field(f, &pair) || !take_pair(&r, &pair))
                        return SG_MATCH_NONE;
                s = sg_text_skip_blanks(f.end, line.end);
        }
        if (n == 0)
                return SG_MATCH_NONE;
        sg_preset_offered(m, r.rank, &found);
        sg_preset_step_done(m, number, &found);
        *ret = found;
        return SG_MATCH_STRONG;
}

enum sg_match sg_preset_xgboost(struct sg_preset_memory *m, struct sg_text line,
                                struct sg_report *ret)
{
        return boost(m, line, xgboost_field, ret);
}

/* The command line's. */
static enum sg_match lightgbm_iteration(struct sg_preset_memory *m, struct sg_text line,
                                        struct sg_report *ret)
{
        static const char head[] = "[LightGBM] [Info] Iteration:";
        struct round r = {.m = m, .ret = ret};
        const char *p, *colon;
        struct pair pair;
        uint64_t number;

        if (sg_text_size(line) < sizeof(head) || memcmp(line.s, head, sizeof(head) - 1) != 0)
                return SG_MATCH_NONE;
        p = sg_text_count(line.s + sizeof(head) - 1, line.end, &number);
        colon = sg_text_find((struct sg_text){p ? p : line.end, line.end}, " : ");
        if (!colon || *p != ',' || p == colon)
                return SG_MATCH_NONE;
        split_name((struct sg_text){sg_text_skip_blanks(p + 1, colon), colon}, &pair);
        if (!scan_value((struct sg_text){colon + 3, line.end}, " + ", &pair) ||
            !take_pair(&r, &pair))
                return SG_MATCH_NONE;
        sg_preset_offered(m, r.rank, ret);
        ret->has |= SG_REPORT_STEP;
        ret->step = number;
        return SG_MATCH_STRONG;
}

enum sg_match sg_preset_lightgbm(struct sg_preset_memory *m, struct sg_text line,
                                 struct sg_report *ret)
{
        enum sg_match r = boost(m, line, lightgbm_field, ret);

        return r == SG_MATCH_NONE ? lightgbm_iteration(m, line, ret) : r;
}
