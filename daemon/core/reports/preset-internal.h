/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the presets share. A preset looks at one line and says what it is worth; it rejects those of
 * others by their first bytes, as most lines of most logs are no progress.
 */

#include "core/reports/preset.h"

enum sg_match {
        SG_MATCH_NONE,
        SG_MATCH_WEAK,   /* its form, but others' too: proves nothing alone */
        SG_MATCH_STRONG, /* unmistakable */
};

struct sg_text {
        const char *s, *end;
};

typedef enum sg_match sg_preset_fn(struct sg_preset_memory *m, struct sg_text line,
                                   struct sg_report *ret);

sg_preset_fn sg_preset_keras, sg_preset_lightning, sg_preset_huggingface, sg_preset_tqdm,
        sg_preset_xgboost, sg_preset_lightgbm, sg_preset_plain;

/* --- text ----------------------------------------------------------------------------------- */

static inline bool sg_text_is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static inline bool sg_text_is_alpha(char c)
{
        return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline const char *sg_text_skip_blanks(const char *s, const char *end)
{
        while (s < end && (*s == ' ' || *s == '\t'))
                s++;
        return s;
}

static inline size_t sg_text_size(struct sg_text t)
{
        return (size_t)(t.end - t.s);
}

/* Whether it begins with this word (of small letters), in any case; *ret is what follows. */
static inline bool sg_text_after_word(struct sg_text t, const char *word, const char **ret)
{
        for (; *word; t.s++, word++)
                if (t.s >= t.end || (*t.s | 0x20) != *word)
                        return false;
        *ret = t.s;
        return true;
}
/* Where `needle` begins, or NULL. */
const char *sg_text_find(struct sg_text t, const char *needle);

/* A whole number that isn't the beginning of something else: "12" of "12/100", but not of "12.5",
 * "12:30", "12k". NULL: none. */
const char *sg_text_count(const char *s, const char *end, uint64_t *ret);
/* "12/100", "12 / 100", "12 of 100"; a total of 0 is none. NULL: not so. */
const char *sg_text_ratio(const char *s, const char *end, uint64_t *ret_n, uint64_t *ret_total);
/* Whether a value could begin so: for words, which mostly don't. */
static inline bool sg_text_begins_value(const char *s, const char *end)
{
        char second = end - s > 1 ? (char)(s[1] | 0x20) : '\0';

        switch (*s | 0x20) {
        case 'n': /* nan, np.float64( */
                return second == 'a' || second == 'p';
        case 'i': /* inf */
                return second == 'n';
        case 't': /* tensor( */
                return second == 'e';
        default:
                return sg_text_is_digit(*s) || *s == '-' || *s == '.' || *s == '+';
        }
}

/* A metric's value, also inside of "tensor(0.5, …)"; what follows must not belong to it. */
const char *sg_text_value(const char *s, const char *end, double *ret);

/* What may be part of a metric's name. */
extern const bool sg_text_in_name[256];

/* --- what a line says ------------------------------------------------------------------------ */

/* The value becomes ret's eval unless something better was there, on this line or before. `rank`
 * holds the line's best so far, 0 at first. */
void sg_preset_offer(struct sg_preset_memory *m, uint8_t *rank, uint8_t offered, double value,
                     struct sg_report *ret);
/* Behind the last offer of a line. */
void sg_preset_offered(struct sg_preset_memory *m, uint8_t rank, struct sg_report *ret);
/* Offers all of "name: value", "name=value", "'name': value" within t. */
void sg_preset_metrics(struct sg_preset_memory *m, struct sg_text t, struct sg_report *ret);
/* As printed, from 0 or from 1. */
void sg_preset_epoch(struct sg_preset_memory *m, uint64_t epoch, struct sg_report *ret);
/* The step that was done, printed from 0 or from 1. */
void sg_preset_step_done(struct sg_preset_memory *m, uint64_t step, struct sg_report *ret);
void sg_report_put(struct sg_report *r, uint64_t step, uint64_t total);

/* --- tqdm's bar ------------------------------------------------------------------------------ */

struct sg_bar {
        struct sg_text description; /* before the percentage, without ": " */
        struct sg_text postfix;     /* behind the rate */
        uint64_t step, total;       /* total 0 = not known */
        uint64_t elapsed_sec;
        bool bytes; /* a transfer */
};

bool sg_bar_parse(struct sg_text line, struct sg_bar *ret);
/* "Epoch 3", "epoch [3/10]": 1; "Epochs" without a number: 2, it counts them; else 0. */
int sg_bar_epoch(const struct sg_bar *b, uint64_t *ret_epoch, uint64_t *ret_epochs);
