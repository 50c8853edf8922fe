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

#include "core/preset-internal.h"

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

static void offer(struct sg_preset_memory *m, uint8_t *rank, struct sg_text set,
                  struct sg_text name, double value, struct sg_report *ret)
{
        struct sg_metric metric = sg_metric_of(name.s, sg_text_size(name));

        if (metric.kind == 0)
                metric = (struct sg_metric){.goal = m->goal, .kind = SG_METRIC_EVERYDAY};
        metric.held_out = !is_training(set);
        sg_preset_offer(m, rank, sg_metric_rank(&metric, m->goal), value, ret);
}

/* "train-rmse:0.1+0.01": the set's name can have a '-' too, and "ndcg@10-" ends with one. */
static bool xgboost_field(struct sg_preset_memory *m, struct sg_text f, uint8_t *rank,
                          struct sg_report *ret)
{
        const char *colon = memchr(f.s, ':', sg_text_size(f)), *dash, *p;
        double value, deviation;

        if (!colon || colon - f.s < 3)
                return false;
        for (dash = colon - 2; dash > f.s && *dash != '-';)
                dash--;
        if (dash == f.s || !sg_text_is_alpha(dash[1]))
                return false;
        p = sg_text_value(colon + 1, f.end, &value);
        if (p && p < f.end && *p == '+')
                p = sg_text_value(p + 1, f.end, &deviation);
        if (p != f.end)
                return false;
        offer(m, rank, (struct sg_text){f.s, dash}, (struct sg_text){dash + 1, colon}, value, ret);
        return true;
}

/* "valid_0's l2: 0.1 + 0.01", of cv "cv_agg's valid l2: …". */
static bool lightgbm_field(struct sg_preset_memory *m, struct sg_text f, uint8_t *rank,
                           struct sg_report *ret)
{
        const char *quote = sg_text_find(f, "'s "), *colon, *name, *p;
        double value, deviation;

        if (!quote || quote == f.s)
                return false;
        colon = memchr(quote, ':', (size_t)(f.end - quote));
        if (!colon)
                return false;
        for (name = colon; name[-1] != ' ';)
                name--;
        p = sg_text_value(sg_text_skip_blanks(colon + 1, f.end), f.end, &value);
        if (p && f.end - p > 3 && memcmp(p, " + ", 3) == 0)
                p = sg_text_value(p + 3, f.end, &deviation);
        if (!p || sg_text_skip_blanks(p, f.end) != f.end)
                return false;
        offer(m, rank, (struct sg_text){f.s, name}, (struct sg_text){name, colon}, value, ret);
        return true;
}

typedef bool field_fn(struct sg_preset_memory *m, struct sg_text f, uint8_t *rank,
                      struct sg_report *ret);

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
        uint8_t rank = 0;
        uint64_t round;
        const char *s;
        int n = 0;

        if (!scan_round(line, &round, &s))
                return SG_MATCH_NONE;
        for (; s < line.end; n++) {
                struct sg_text f = next_field(s, line.end);

                if (!field(m, f, &rank, &found))
                        break;
                s = sg_text_skip_blanks(f.end, line.end);
        }
        if (n == 0 || s < line.end)
                return SG_MATCH_NONE;
        sg_preset_offered(m, rank, &found);
        sg_preset_step_done(m, round, &found);
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
        const char *p, *name, *colon;
        uint8_t rank = 0;
        uint64_t round;
        double value;

        if (sg_text_size(line) < sizeof(head) || memcmp(line.s, head, sizeof(head) - 1) != 0)
                return SG_MATCH_NONE;
        p = sg_text_count(line.s + sizeof(head) - 1, line.end, &round);
        colon = sg_text_find((struct sg_text){p ? p : line.end, line.end}, " : ");
        if (!colon || *p != ',' || !sg_text_value(colon + 3, line.end, &value))
                return SG_MATCH_NONE;
        p = sg_text_skip_blanks(p + 1, colon);
        for (name = colon; name > p && name[-1] != ' ';)
                name--;
        offer(m, &rank, (struct sg_text){p, name}, (struct sg_text){name, colon}, value, ret);
        sg_preset_offered(m, rank, ret);
        ret->has |= SG_REPORT_STEP;
        ret->step = round;
        return SG_MATCH_STRONG;
}

enum sg_match sg_preset_lightgbm(struct sg_preset_memory *m, struct sg_text line,
                                 struct sg_report *ret)
{
        enum sg_match r = boost(m, line, lightgbm_field, ret);

        return r == SG_MATCH_NONE ? lightgbm_iteration(m, line, ret) : r;
}
