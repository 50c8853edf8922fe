/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What people print themselves.
 *
 *   step 3/10 loss=0.5                          epoch: 2 loss: 1e-3
 *   iter 100: loss 0.5, time 20ms               step 250: train loss 2.4, val loss 2.5
 *   Epoch [1/5], Step [100/600], Loss: 0.1234   Iteration 1, loss = 0.50
 *   Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.3  loss: 2.30  [   64/60000]
 *   Epoch: [0][  10/5005]\tTime 0.3 ( 0.5)\tLoss 6.9e+00 (6.9e+00)
 *
 * One pass over the words. A metric together with a step or an epoch is unmistakable; one of them
 * alone could be anything ("Step 3/10 : RUN apt-get", "packet loss 1").
 */

#include "core/reports/preset-internal.h"

#include "base/cleanup.h"
#include <string.h>

struct scan {
        struct sg_preset_memory *m;
        const char *end;
        struct sg_report *ret;
        uint8_t rank;
        bool ratio; /* in brackets, without a word: its step if nothing else is */
        uint64_t n, total;
};

enum key { KEY_OTHER, KEY_STEP, KEY_EPOCH };

static bool is_word(struct sg_text t, const char *word)
{
        const char *p;

        return sg_text_after_word(t, word, &p) && p == t.end;
}

static const struct {
        const char *word;
        size_t n;
        enum key key;
} keys[] = {
        {"step", 4, KEY_STEP},         {"epoch", 5, KEY_EPOCH}, {"iter", 4, KEY_STEP},
        {"iteration", 9, KEY_STEP},    {"batch", 5, KEY_STEP},  {"ep", 2, KEY_EPOCH},
        {"global_step", 11, KEY_STEP}, {"steps", 5, KEY_STEP},  {"iters", 5, KEY_STEP},
        {"it", 2, KEY_STEP},           {"update", 6, KEY_STEP}, {"train_step", 10, KEY_STEP},
        {"num_updates", 11, KEY_STEP},
};

static enum key key_of(struct sg_text t)
{
        size_t n = sg_text_size(t);

        for (size_t i = 0; i < SG_ELEMENTSOF(keys); i++)
                if (keys[i].n == n && keys[i].word[0] == (*t.s | 0x20) && is_word(t, keys[i].word))
                        return keys[i].key;
        return KEY_OTHER;
}

/* Between a word and its value: quotes, blanks, and at most one ':' or '='. */
static const char *skip_separator(const char *s, const char *end, bool *ret_explicit)
{
        *ret_explicit = false;
        if (s < end && (*s == '"' || *s == '\''))
                s++;
        s = sg_text_skip_blanks(s, end);
        if (s < end && (*s == ':' || *s == '=')) {
                *ret_explicit = true;
                s = sg_text_skip_blanks(s + 1, end);
        }
        return s < end && (*s == '"' || *s == '\'') ? s + 1 : s;
}

/* "3", "3/10", "[3/10]", "[3]": behind it, or NULL; total 0 = none. */
static const char *scan_place(const char *s, const char *end, uint64_t *ret_n, uint64_t *ret_total)
{
        bool bracket = s < end && (*s == '[' || *s == '(');
        const char *p;

        if (bracket)
                s = sg_text_skip_blanks(s + 1, end);
        p = sg_text_ratio(s, end, ret_n, ret_total);
        if (!p) {
                *ret_total = 0;
                p = sg_text_count(s, end, ret_n);
                /* "3/0", "11/18/2026": no place */
                if (!p || (p < end && *p == '/'))
                        return NULL;
        }
        if (bracket && p < end && (*p == ']' || *p == ')'))
                p++;
        return p;
}

static const char *take_place(struct scan *c, enum key key, const char *s)
{
        uint64_t n, total;

        s = scan_place(s, c->end, &n, &total);
        if (!s)
                return NULL;
        if (key == KEY_STEP) {
                if (!(c->ret->has & SG_REPORT_STEP))
                        sg_report_put(c->ret, n, total);
                return s;
        }
        if (c->ret->has & SG_REPORT_EPOCH)
                return s;
        sg_preset_epoch(c->m, n, c->ret);
        if (total > 0) {
                c->ret->has |= SG_REPORT_EPOCHS;
                c->ret->epochs = total;
        }
        return s;
}

/* "[  640/60000 (1%)]", "[10/100]" */
static const char *take_brackets(struct scan *c, const char *s)
{
        const char *p = sg_text_skip_blanks(s + 1, c->end);

        if (p >= c->end || !sg_text_is_digit(*p))
                return s + 1;
        p = sg_text_ratio(p, c->end, &c->n, &c->total);
        if (!p || p >= c->end || (*p != ']' && *p != ' '))
                return s + 1;
        c->ratio = true;
        return p;
}

static bool is_held_out(struct sg_text before)
{
        static const char *const words[] = {"val", "valid", "validation", "test", "eval", "dev"};

        for (size_t i = 0; before.s && i < SG_ELEMENTSOF(words); i++)
                if (is_word(before, words[i]))
                        return true;
        return false;
}

/* "12%" is the share of packets that were lost. A word that is used otherwise too counts where it
 * is said to be a value, and is a fraction. */
static bool is_plausible(const struct scan *c, const struct sg_metric *metric, struct sg_text value,
                         bool stated)
{
        if (value.end < c->end && *value.end == '%' && metric->goal == SG_GOAL_MIN)
                return false;
        return metric->kind != SG_METRIC_EVERYDAY ||
               (stated && memchr(value.s, '.', sg_text_size(value)));
}

static const char *take_metric(struct scan *c, struct sg_text word, struct sg_text before,
                               struct sg_text value, bool stated)
{
        struct sg_metric metric = sg_metric_look_up(c->m->cache, word.s, sg_text_size(word));
        double v;

        metric.held_out = metric.held_out || is_held_out(before);
        if (sg_metric_rank(&metric, c->m->goal) <= c->rank)
                return NULL;
        value.end = sg_text_value(value.s, c->end, &v);
        if (!value.end || !is_plausible(c, &metric, value, stated))
                return NULL;
        sg_preset_offer(c->m, &c->rank, sg_metric_rank(&metric, c->m->goal), v, c->ret);
        return value.end;
}

static const char *take_word(struct scan *c, struct sg_text word, struct sg_text before)
{
        bool stated;
        const char *value = skip_separator(word.end, c->end, &stated), *behind;
        enum key key;

        if (value >= c->end || value == word.end)
                return word.end;
        if (!sg_text_begins_value(value, c->end) && *value != '[' && *value != '(')
                return word.end;
        key = key_of(word);
        behind = key == KEY_OTHER
                         ? take_metric(c, word, before, (struct sg_text){value, NULL}, stated)
                         : take_place(c, key, value);
        return behind ? behind : word.end;
}

static void scan_words(struct scan *c, const char *s)
{
        struct sg_text before = {0};

        while (s < c->end) {
                struct sg_text word = {s, s};

                while (word.end < c->end && sg_text_in_name[(unsigned char)*word.end])
                        word.end++;
                if (word.end == s) {
                        s = *s == '[' ? take_brackets(c, s) : s + 1;
                        continue;
                }
                s = word.end;
                if (sg_text_is_alpha(*word.s) || *word.s == '_') {
                        s = take_word(c, word, before);
                        before = word;
                }
        }
}

/* The first step of a later epoch: is it counted on, or from the beginning? */
static void place_step(struct sg_preset_memory *m, uint64_t step)
{
        if (m->step_epoch > 0 && m->epoch > m->step_epoch) {
                if (step > m->step && m->epoch == m->step_epoch + 1)
                        m->whole_run = true;
                else
                        m->epoch_steps = m->step;
        }
        m->step = step;
        m->step_epoch = m->epoch;
}

/* What the line means, seen together with those before it. */
static void conclude(struct sg_preset_memory *m, struct sg_report *ret)
{
        if (ret->has & SG_REPORT_EPOCH)
                m->epoch = ret->epoch;
        if (ret->has & SG_REPORT_STEP)
                place_step(m, ret->step);
        if (m->whole_run) {
                ret->has &= ~(uint32_t)(SG_REPORT_EPOCH | SG_REPORT_EPOCHS);
        } else if (!(ret->has & SG_REPORT_STEP)) {
                /* the epoch's steps are still to come */
                if (ret->has & SG_REPORT_EPOCH && m->step_epoch > 0 && m->epoch > m->step_epoch)
                        sg_report_put(ret, 0, 0);
        } else if (!(ret->has & SG_REPORT_TOTAL) && m->epoch > 0 && m->epoch_steps > 0) {
                sg_report_put(ret, ret->step,
                              ret->step < m->epoch_steps ? m->epoch_steps : ret->step);
        }
}

enum sg_match sg_preset_plain(struct sg_preset_memory *m, struct sg_text line,
                              struct sg_report *ret)
{
        struct scan c = {.m = m, .end = line.end, .ret = ret};

        scan_words(&c, line.s);
        sg_preset_offered(m, c.rank, ret);
        if (c.ratio && !(ret->has & SG_REPORT_STEP) && (c.rank > 0 || ret->has & SG_REPORT_EPOCH))
                sg_report_put(ret, c.n, c.total);
        if (ret->has == 0)
                return SG_MATCH_NONE;
        conclude(m, ret);
        return c.rank > 0 && ret->has & (SG_REPORT_STEP | SG_REPORT_EPOCH) ? SG_MATCH_STRONG
                                                                           : SG_MATCH_WEAK;
}
