/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of presets, and `auto`, which finds the one that a program's output follows.
 *
 * Until it has settled, the first unmistakable line decides. After that, a line is first shown to
 * those above the settled one that also accept its lines and see more in them ("covers"), then to
 * the settled one itself, and if that has no use for it to all others.
 */

#include "core/reports/preset-internal.h"

#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

#define RIVAL_HITS 3 /* strong lines of another's without one of our own in between */
/* Bars within a log of lines that tell all by themselves are of something else: validation, say. */
#define BAR_HITS 255
#define PENDING_LINES 8 /* "Epoch 1/10" belongs to what comes soon after it */
#define WEAK_HITS 3     /* fractions called "loss", without any step */

enum {
        PRESET_JSON,
        PRESET_PATTERN,
        PRESET_HUGGINGFACE,
        PRESET_LIGHTNING,
        PRESET_KERAS,
        PRESET_XGBOOST,
        PRESET_LIGHTGBM,
        PRESET_TQDM,
        PRESET_PLAIN,
        N_PRESETS,
        NONE = -1,
};

static const struct preset {
        const char *name;
        sg_preset_fn *fn; /* NULL: the caller's */
        uint32_t covered; /* bits of those that see more in the same lines */
        bool announces;   /* epochs come on lines of their own, before the steps */
} presets[N_PRESETS] = {
        [PRESET_JSON] = {"json", NULL, 0, false},
        [PRESET_PATTERN] = {"pattern", NULL, 0, false},
        [PRESET_HUGGINGFACE] = {"huggingface", sg_preset_huggingface, 0, false},
        [PRESET_LIGHTNING] = {"lightning", sg_preset_lightning, 0, false},
        [PRESET_KERAS] = {"keras", sg_preset_keras, 0, true},
        [PRESET_XGBOOST] = {"xgboost", sg_preset_xgboost, 0, false},
        [PRESET_LIGHTGBM] = {"lightgbm", sg_preset_lightgbm, 0, false},
        [PRESET_TQDM] = {"tqdm", sg_preset_tqdm, 1U << PRESET_HUGGINGFACE | 1U << PRESET_LIGHTNING,
                         true},
        [PRESET_PLAIN] = {"plain", sg_preset_plain,
                          1U << PRESET_JSON | 1U << PRESET_HUGGINGFACE | 1U << PRESET_LIGHTNING |
                                  1U << PRESET_KERAS | 1U << PRESET_XGBOOST | 1U << PRESET_LIGHTGBM,
                          true},
};

const char *const sg_preset_names[] = {"auto", "keras",   "lightning", "huggingface",
                                       "tqdm", "xgboost", "lightgbm",  "plain",
                                       "json", "pattern", NULL};

bool sg_preset_valid(const char *name)
{
        for (const char *const *p = sg_preset_names; *p; p++)
                if (strcmp(*p, name) == 0)
                        return true;
        return false;
}

int sg_log_parser_init(struct sg_log_parser *p, const char *preset, enum sg_goal goal,
                       sg_line_fn *custom, void *custom_state)
{
        int8_t fixed = NONE;

        if (!sg_preset_valid(preset))
                return -EINVAL;
        for (int8_t i = 0; i < N_PRESETS; i++)
                if (strcmp(presets[i].name, preset) == 0)
                        fixed = i;
        if (fixed >= 0 && !presets[fixed].fn && !custom)
                return -EINVAL;
        *p = (struct sg_log_parser){
                .matched = fixed >= 0 ? presets[fixed].name : NULL,
                .memory.goal = goal,
                .custom = custom,
                .custom_state = custom_state,
                .fixed = fixed,
                .settled = fixed,
                .rival = NONE,
        };
        return 0;
}

static enum sg_match try(const struct sg_log_parser *p, int which, struct sg_preset_memory *m,
                         struct sg_text line, struct sg_report *ret)
{
        *ret = (struct sg_report){0};
        if (presets[which].fn)
                return presets[which].fn(m, line, ret);
        if (!p->custom || (which == PRESET_PATTERN && p->fixed != PRESET_PATTERN))
                return SG_MATCH_NONE;
        return p->custom(line.s, sg_text_size(line), m->goal, p->custom_state, ret) > 0
                       ? SG_MATCH_STRONG
                       : SG_MATCH_NONE;
}

static void take(struct sg_log_parser *p, const struct sg_report *r)
{
        sg_report_merge(&p->report, r);
        if (p->memory.whole_run)
                p->report.has &= ~(uint32_t)(SG_REPORT_EPOCH | SG_REPORT_EPOCHS);
        p->n_reports += r->has != 0;
}

/* What an earlier preset made of the output isn't to be mixed with what this one says. An epoch
 * that was announced just before holds for those that print it on a line of its own. */
static void settle(struct sg_log_parser *p, int which, const struct sg_preset_memory *m)
{
        p->report = (struct sg_report){0};
        p->settled = (int8_t)which;
        p->matched = presets[which].name;
        p->memory = *m;
        p->memory.tentative = false;
        p->rival = NONE;
        p->rival_hits = p->weak_hits = 0;
        if (p->pending_age > PENDING_LINES || !presets[which].announces)
                p->pending = (struct sg_report){0};
        if (p->pending.has & SG_REPORT_EPOCHS && p->memory.epochs == 0)
                p->memory.epochs = p->pending.epochs;
        if (p->pending.has & SG_REPORT_EPOCH && p->memory.epoch == 0)
                p->memory.epoch = p->pending.epoch;
        take(p, &p->pending);
        p->pending = (struct sg_report){0};
}

static bool is_fraction(double v)
{
        return !(v > -1e15 && v < 1e15) || (double)(int64_t)v != v;
}

/* A line that could be anybody's. Its epoch is kept for the one that turns out to be right; three
 * losses without any step are a log of training too. */
static bool weigh_weak(struct sg_log_parser *p, const struct sg_report *r)
{
        if (p->pending_age > PENDING_LINES)
                p->pending = (struct sg_report){0};
        p->pending_age = 0;
        sg_report_merge(&p->pending, r);
        if (r->has & SG_REPORT_EVAL && is_fraction(r->eval))
                p->weak_hits++;
        return p->weak_hits >= WEAK_HITS;
}

/* Settled already: another one has to show more than one line. */
static bool weigh_rival(struct sg_log_parser *p, int which)
{
        if (p->settled < 0)
                return true;
        if (p->rival != which)
                p->rival_hits = 0;
        p->rival = (int8_t)which;
        p->rival_hits++;
        return p->rival_hits >=
               (p->settled == PRESET_PLAIN && which == PRESET_TQDM ? BAR_HITS : RIVAL_HITS);
}

/* `which` of a bit set; those in it are tried with a memory of their own. */
static bool try_others(struct sg_log_parser *p, uint32_t others, bool at_once, struct sg_text line)
{
        for (int i = 0; i < N_PRESETS; i++) {
                struct sg_preset_memory m = {
                        .goal = p->memory.goal, .cache = &p->cache, .tentative = true};
                struct sg_report r;
                enum sg_match match;

                if (!(others & 1U << i) || i == p->settled)
                        continue;
                match = try(p, i, &m, line, &r);
                if (match == SG_MATCH_STRONG) {
                        if (at_once || weigh_rival(p, i)) {
                                settle(p, i, &m);
                                take(p, &r);
                        }
                        return true;
                }
                if (match == SG_MATCH_WEAK && i == PRESET_PLAIN && p->settled < 0 &&
                    weigh_weak(p, &r))
                        settle(p, i, &m);
        }
        return false;
}

static void on_line(const char *s, size_t n, void *userdata)
{
        struct sg_log_parser *p = userdata;
        struct sg_text line = {s, s + n};
        struct sg_report r;

        if (p->fixed < 0 && p->settled >= 0 && presets[p->settled].covered &&
            try_others(p, presets[p->settled].covered, true, line))
                return;
        if (p->settled >= 0 && try(p, p->settled, &p->memory, line, &r) != SG_MATCH_NONE) {
                take(p, &r);
                p->rival_hits = 0;
        } else if (p->fixed < 0) {
                if (p->pending_age <= PENDING_LINES)
                        p->pending_age++;
                (void)try_others(p, (1U << N_PRESETS) - 1, false, line);
        }
}

void sg_log_parser_feed(struct sg_log_parser *p, const char *data, size_t n)
{
        p->memory.cache = &p->cache;
        sg_lines_feed(&p->lines, data, n, on_line, p);
}

void sg_log_parser_settle(struct sg_log_parser *p)
{
        p->memory.cache = &p->cache;
        sg_lines_peek(&p->lines, on_line, p);
}

void sg_log_parser_deinit(struct sg_log_parser *p)
{
        sg_lines_deinit(&p->lines);
}
