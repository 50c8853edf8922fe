/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bars of tqdm's, and the presets that are made of them.
 *
 *   Epoch 3:  45%|████▌     | 45/100 [00:10<00:12,  4.40it/s, v_num=0, train_loss=0.123]
 *   45it [00:10,  4.40it/s, loss=0.5]                     without a total
 *
 * Several bars can be on the screen at once. The one that began first, and so has the longest time
 * elapsed, is that of the run: Hugging Face's of an evaluation, a bar per batch … come and go
 * beside it. Only a bar that has been there for more than twice its time replaces it unfinished.
 */

#include "base/number.h"
#include "core/reports/preset-internal.h"

#include <string.h>

#define REPLACES_AFTER_SEC 60

/* "1:02:03", "02:03" → seconds; NULL: no time. */
static const char *scan_clock(const char *s, const char *end, uint64_t *ret)
{
        uint64_t sec = 0, part;
        int n = 0;

        for (;; s++, n++) {
                s = sg_count_scan(s, end, &part);
                if (!s || part > 1U << 30 || n > 2)
                        return NULL;
                sec = sec * 60 + part;
                if (s >= end || *s != ':')
                        break;
        }
        *ret = sec;
        return n > 0 ? s : NULL;
}

/* "45", or "1.23k" with unit_scale. */
static const char *scan_scaled(const char *s, const char *end, uint64_t *ret)
{
        double v, unit = 1;

        if (s >= end || !sg_text_is_digit(*s))
                return NULL;
        s = sg_number_scan(s, end, &v);
        if (!s)
                return NULL;
        if (s < end && strchr("kMGT", *s)) {
                unit = *s == 'k' ? 1e3 : *s == 'M' ? 1e6 : *s == 'G' ? 1e9 : 1e12;
                s++;
        }
        if (!(v * unit < 1e18))
                return NULL;
        *ret = (uint64_t)(v * unit + 0.5);
        return s;
}

/* The run of characters of counts that ends at `end`. */
static const char *count_begins(const char *begin, const char *end)
{
        while (end > begin && (sg_text_is_digit(end[-1]) || strchr("./kMGT", end[-1])))
                end--;
        return end;
}

/* What stands before " [elapsed": the count, and before that the bar, the percentage,
 * and its name. */
static bool parse_head(struct sg_text head, struct sg_bar *b)
{
        const char *count, *p, *bar;

        while (head.end > head.s && head.end[-1] == ' ')
                head.end--;
        if (sg_text_size(head) > 2 && memcmp(head.end - 2, "it", 2) == 0)
                head.end -= 2;
        count = count_begins(head.s, head.end);
        p = scan_scaled(count, head.end, &b->step);
        if (!p)
                return false;
        b->total = 0;
        if (p < head.end && *p == '/')
                p = scan_scaled(p + 1, head.end, &b->total);
        if (p != head.end)
                return false;
        bar = memchr(head.s, '|', (size_t)(count - head.s));
        p = bar ? bar : count;
        if (bar && p > head.s && p[-1] == '%')
                for (p--; p > head.s && sg_text_is_digit(p[-1]);)
                        p--;
        while (p > head.s && (p[-1] == ' ' || p[-1] == ':'))
                p--;
        b->description = (struct sg_text){sg_text_skip_blanks(head.s, p), p};
        return true;
}

/* ", 4.40it/s, loss=0.5]" behind the times. */
static void parse_rate(struct sg_text t, struct sg_bar *b)
{
        const char *behind;

        if (t.s < t.end && *t.s == ',')
                t.s = sg_text_skip_blanks(t.s + 1, t.end);
        behind = memchr(t.s, ',', sg_text_size(t));
        if (!behind)
                behind = t.end;
        b->bytes = sg_text_find((struct sg_text){t.s, behind}, "B/s") ||
                   sg_text_find((struct sg_text){t.s, behind}, "s/B");
        b->postfix = (struct sg_text){behind, t.end};
}

/* '[' is at `open`; whether times and a rate are behind it. */
static bool parse_tail(const char *open, const char *end, struct sg_bar *b)
{
        const char *p = scan_clock(open + 1, end, &b->elapsed_sec);

        if (!p || p >= end)
                return false;
        if (*p == '<') {
                while (++p < end && (sg_text_is_digit(*p) || *p == ':' || *p == '?'))
                        ;
                /* "<1 day, 2:03:04": a datetime.timedelta, by tqdm-like programs */
                if (p >= end || (*p != ',' && *p != ']'))
                        return false;
        } else if (*p != ',') {
                return false;
        }
        parse_rate((struct sg_text){p, end}, b);
        return true;
}

bool sg_bar_parse(struct sg_text line, struct sg_bar *ret)
{
        const char *open = line.s;

        while ((open = memchr(open, '[', (size_t)(line.end - open)))) {
                if (line.end - open > 4 && sg_text_is_digit(open[1]) && open > line.s &&
                    open[-1] == ' ' && parse_tail(open, line.end, ret) &&
                    parse_head((struct sg_text){line.s, open}, ret))
                        return true;
                open++;
        }
        return false;
}

int sg_bar_epoch(const struct sg_bar *b, uint64_t *ret_epoch, uint64_t *ret_epochs)
{
        struct sg_text t = b->description;
        const char *p, *behind;

        while (t.s < t.end && (*t.s == '[' || *t.s == '('))
                t.s++;
        if (!sg_text_after_word(t, "epoch", &p))
                return 0;
        if (p < t.end && *p == 's')
                p++;
        while (p < t.end && strchr(" :#=[(", *p))
                p++;
        if (p == t.end)
                return 2;
        behind = sg_text_ratio(p, t.end, ret_epoch, ret_epochs);
        if (behind)
                return 1;
        *ret_epochs = 0;
        return sg_text_count(p, t.end, ret_epoch) ? 1 : 0;
}

static bool bar_finished(const struct sg_preset_memory *m)
{
        return m->bar_step >= m->bar_total;
}

/* Whether it is the bar of the run, which is remembered then. */
static bool follow(struct sg_preset_memory *m, const struct sg_bar *b)
{
        bool same = b->total == m->bar_total;

        if (!same && (m->bar_again || !bar_finished(m)) &&
            b->elapsed_sec <= 2 * m->bar_elapsed_sec + REPLACES_AFTER_SEC)
                return false;
        if (!same) {
                m->bar_before = m->bar_total;
                m->bar_again = false;
        }
        m->bar_total = b->total;
        m->bar_step = b->step;
        m->bar_elapsed_sec = b->elapsed_sec;
        return true;
}

static void put_numbered(struct sg_preset_memory *m, const struct sg_bar *b, uint64_t epoch,
                         uint64_t epochs, struct sg_report *ret)
{
        sg_preset_epoch(m, epoch, ret);
        if (epochs > 0) {
                ret->has |= SG_REPORT_EPOCHS;
                ret->epochs = epochs;
        }
        sg_report_put(ret, b->step, b->total);
}

/* --- lightning ------------------------------------------------------------------------------- */

/* Rich's: "Epoch 3/9  ━━━━━━━━╸━━━━ 45/100 0:00:10 • 0:00:12 4.40it/s v_num: 0 train_loss: 0.123".
 * Counts from 0, and says the last one. */
static bool rich_bar(struct sg_preset_memory *m, struct sg_text line, struct sg_report *ret)
{
        uint64_t epoch, last, step, total;
        const char *p;

        if (!sg_text_after_word(line, "epoch ", &p))
                return false;
        p = sg_text_ratio(p, line.end, &epoch, &last);
        if (!p)
                return false;
        p = sg_text_skip_blanks(p, line.end);
        if (p >= line.end || (unsigned char)*p < 0x80)
                return false;
        while (p < line.end && ((unsigned char)*p >= 0x80 || *p == ' '))
                p++;
        p = sg_text_ratio(p, line.end, &step, &total);
        if (!p)
                return false;
        m->epoch_zero = true;
        sg_preset_epoch(m, epoch, ret);
        ret->has |= SG_REPORT_EPOCHS;
        ret->epochs = last + (last < UINT64_MAX);
        sg_report_put(ret, step, total);
        sg_preset_metrics(m, (struct sg_text){p, line.end}, ret);
        return true;
}

enum sg_match sg_preset_lightning(struct sg_preset_memory *m, struct sg_text line,
                                  struct sg_report *ret)
{
        uint64_t epoch, epochs;
        struct sg_bar b;
        const char *p;

        line.s = sg_text_skip_blanks(line.s, line.end);
        if (!sg_text_after_word(line, "epoch", &p))
                return SG_MATCH_NONE;
        if (rich_bar(m, line, ret))
                return SG_MATCH_STRONG;
        if (!sg_bar_parse(line, &b) || sg_bar_epoch(&b, &epoch, &epochs) != 1)
                return SG_MATCH_NONE;
        /* Its own bar, told by the version, always counts from 0. */
        if (sg_text_find(b.postfix, "v_num="))
                m->epoch_zero = true;
        put_numbered(m, &b, epoch, epochs, ret);
        sg_preset_metrics(m, b.postfix, ret);
        return SG_MATCH_STRONG;
}

/* --- tqdm ------------------------------------------------------------------------------------ */

/* The outer bar counts epochs: what it says is of use as such once there is an inner one. */
static void put_epoch_bar(struct sg_preset_memory *m, const struct sg_bar *b, struct sg_report *ret)
{
        m->epochs = b->total;
        m->epoch = b->step < b->total ? b->step + 1 : b->total;
        if (!m->bar_inner) {
                sg_report_put(ret, b->step, b->total);
                return;
        }
        ret->has |= SG_REPORT_EPOCH | SG_REPORT_EPOCHS;
        ret->epoch = m->epoch;
        ret->epochs = m->epochs;
        if (b->step >= b->total)
                return;
        ret->has |= SG_REPORT_STEP;
        ret->step = 0;
}

static void put_inner_bar(struct sg_preset_memory *m, const struct sg_bar *b, struct sg_report *ret)
{
        m->bar_inner = true;
        ret->has |= SG_REPORT_EPOCH | SG_REPORT_EPOCHS;
        ret->epoch = m->epoch;
        ret->epochs = m->epochs;
        sg_report_put(ret, b->step, b->total);
}

static void put_bar(struct sg_preset_memory *m, const struct sg_bar *b, struct sg_report *ret)
{
        if (m->bar_again || m->epochs > 0) {
                ret->has |= SG_REPORT_EPOCH;
                ret->epoch = m->epoch > 0 ? m->epoch : 1;
        }
        if (m->epochs > 0) {
                ret->has |= SG_REPORT_EPOCHS;
                ret->epochs = m->epochs;
        }
        sg_report_put(ret, b->step, b->total);
}

/* A finished bar that begins once more is one per epoch, though their number isn't known; so it is
 * if another one, of validation, was in between. To be asked before it is followed. */
static bool begins_again(const struct sg_preset_memory *m, const struct sg_bar *b)
{
        return b->total > 0 && b->step < b->total && bar_finished(m) &&
               (b->total == m->bar_total || (b->total == m->bar_before && !m->bar_again));
}

static void count_again(struct sg_preset_memory *m)
{
        m->epoch = m->epoch > 0 ? m->epoch + 1 : 2;
        m->bar_again = true;
}

static void take_bar(struct sg_preset_memory *m, const struct sg_bar *b, struct sg_report *ret)
{
        uint64_t epoch, epochs;
        int kind = sg_bar_epoch(b, &epoch, &epochs);
        bool again = begins_again(m, b), ours = follow(m, b);

        if (again && ours && !m->bar_epochs)
                count_again(m);
        else if (ours)
                m->bar_epochs = kind == 2 && b->total > 0;
        if (kind == 1)
                put_numbered(m, b, epoch, epochs, ret);
        else if (ours && m->bar_epochs)
                put_epoch_bar(m, b, ret);
        else if (ours)
                put_bar(m, b, ret);
        else if (m->bar_epochs)
                put_inner_bar(m, b, ret);
}

/* What is printed between bars: a loss, if they have none themselves, and "Epoch 1/10" before one
 * begins. Nothing that would make it a log of bars alone. */
static enum sg_match between_bars(struct sg_preset_memory *m, struct sg_text line,
                                  struct sg_report *ret)
{
        struct sg_preset_memory scratch = {
                .goal = m->goal,
                .cache = m->cache,
                .metric_rank = m->metric_rank,
                .metric_missed = m->metric_missed,
        };
        struct sg_report r = {0};

        if (m->tentative || sg_preset_plain(&scratch, line, &r) == SG_MATCH_NONE)
                return SG_MATCH_NONE;
        if (r.has & SG_REPORT_EPOCHS && bar_finished(m) && !m->bar_epochs)
                m->epochs = r.epochs;
        if (!m->bar_seen || m->bar_metric || !(r.has & SG_REPORT_EVAL))
                return SG_MATCH_NONE;
        m->metric_rank = scratch.metric_rank;
        m->metric_missed = scratch.metric_missed;
        ret->has = SG_REPORT_EVAL;
        ret->eval = r.eval;
        return SG_MATCH_WEAK;
}

enum sg_match sg_preset_tqdm(struct sg_preset_memory *m, struct sg_text line, struct sg_report *ret)
{
        struct sg_bar b;

        if (!sg_bar_parse(line, &b))
                return between_bars(m, line, ret);
        if (b.bytes)
                return SG_MATCH_NONE;
        take_bar(m, &b, ret);
        m->bar_seen = true;
        sg_preset_metrics(m, b.postfix, ret);
        m->bar_metric = m->bar_metric || ret->has & SG_REPORT_EVAL;
        return SG_MATCH_STRONG;
}

/* --- Hugging Face's trainer ------------------------------------------------------------------- */

/* "{'loss': 0.5, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 1.0}" anywhere on the line. */
static bool find_dict(struct sg_text line, struct sg_text *ret)
{
        const char *open = sg_text_find(line, "{'"), *close;
        struct sg_text t;

        if (!open)
                return false;
        close = memchr(open, '}', (size_t)(line.end - open));
        t = (struct sg_text){open, close ? close : line.end};
        if (!sg_text_find(t, "'epoch': "))
                return false;
        *ret = t;
        return true;
}

static void take_dict(struct sg_preset_memory *m, struct sg_text dict, struct sg_report *ret)
{
        static const char name[] = "'step': ";
        const char *found = sg_text_find(dict, name);
        uint64_t step;

        /* The last one's "train_loss" is the mean of the whole run. */
        if (!sg_text_find(dict, "'train_runtime'"))
                sg_preset_metrics(m, dict, ret);
        if (!found || !sg_text_count(found + sizeof(name) - 1, dict.end, &step))
                return;
        ret->has |= SG_REPORT_STEP;
        ret->step = step;
}

/* Releases before 4 have bars "Epoch" and "Iteration", which count epochs, and steps of one epoch.
 * Their dicts say the step of the run. */
static bool counts_epochs(const struct sg_bar *b)
{
        uint64_t epoch, epochs;
        const char *p;

        return sg_bar_epoch(b, &epoch, &epochs) != 0 ||
               sg_text_after_word(b->description, "iteration", &p);
}

/* Its steps are of the whole run, so that its epochs (which are fractions) aren't needed. */
enum sg_match sg_preset_huggingface(struct sg_preset_memory *m, struct sg_text line,
                                    struct sg_report *ret)
{
        struct sg_text dict;
        bool has_dict = find_dict(line, &dict), has_bar;
        struct sg_bar b;

        has_bar = sg_bar_parse(line, &b) && !b.bytes;
        if (has_bar && !counts_epochs(&b) && follow(m, &b))
                sg_report_put(ret, b.step, b.total);
        if (has_dict)
                take_dict(m, dict, ret);
        if (!has_dict && !has_bar)
                return SG_MATCH_NONE;
        return has_dict ? SG_MATCH_STRONG : SG_MATCH_WEAK;
}
