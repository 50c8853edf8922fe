/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Keras, by its Progbar:
 *
 *   Epoch 3/10
 *    12/100 [==>...........................] - ETA: 3s - loss: 0.43 - accuracy: 0.90
 *   100/100 [==============================] - 4s 25ms/step - loss: 0.40 - val_loss: 0.50
 *   100/100 - 3s - loss: 0.40 - val_loss: 0.50 - 3s/epoch - 30ms/step         verbose=2
 *    12/100 ━━━━━━━━━━━━━━━━━━━━ 3s 25ms/step - accuracy: 0.90 - loss: 0.43   Keras 3
 *
 * evaluate() and predict() draw the same bars: those of another size than the epoch's are theirs.
 */

#include "core/reports/preset-internal.h"

#include <string.h>

/* The bar behind the ratio; NULL: no bar. */
static const char *skip_bar(const char *s, const char *end)
{
        static const char heavy[] = "\xe2\x94\x81"; /* ━ */

        if (end - s > 4 && s[0] == ' ' && s[1] == '[' && strchr("=>.", s[2])) {
                for (s += 2; s < end && strchr("=>.", *s);)
                        s++;
                return s < end && *s == ']' ? s + 1 : NULL;
        }
        if (end - s >= 4 && memcmp(s + 1, heavy, 3) == 0) {
                for (s++; end - s >= 3 && memcmp(s, heavy, 3) == 0;)
                        s += 3;
                return s;
        }
        /* verbose=2 has none, but a time */
        if (end - s < 6 || memcmp(s, " - ", 3) != 0 || !sg_text_is_digit(s[3]))
                return NULL;
        for (s += 3; s < end && (sg_text_is_digit(*s) || *s == 'm' || *s == 'u');)
                s++;
        return s < end && *s == 's' ? s + 1 : NULL;
}

/* "12/100" or "12/Unknown". */
static const char *scan_ratio(const char *s, const char *end, uint64_t *ret_n, uint64_t *ret_total)
{
        static const char unknown[] = "/Unknown";
        const char *p = sg_text_ratio(s, end, ret_n, ret_total);

        if (p)
                return p;
        p = sg_text_count(s, end, ret_n);
        if (!p || (size_t)(end - p) < strlen(unknown) || memcmp(p, unknown, strlen(unknown)) != 0)
                return NULL;
        *ret_total = 0;
        return p + strlen(unknown);
}

static enum sg_match epoch_line(struct sg_preset_memory *m, const char *s, const char *end,
                                struct sg_report *ret)
{
        uint64_t epoch, epochs;

        s = sg_text_ratio(s, end, &epoch, &epochs);
        if (!s || sg_text_skip_blanks(s, end) != end)
                return SG_MATCH_NONE;
        m->epochs = epochs;
        m->bar_total = 0;
        ret->has = SG_REPORT_EPOCH | SG_REPORT_EPOCHS | SG_REPORT_STEP;
        ret->epoch = epoch;
        ret->epochs = epochs;
        ret->step = 0;
        return SG_MATCH_WEAK;
}

/* Whether a bar of this size is the epoch's. */
static bool is_epochs(struct sg_preset_memory *m, uint64_t step, uint64_t total)
{
        if (m->bar_total != 0 && total != m->bar_total && total != 0 &&
            (m->epochs > 0 || m->bar_step < m->bar_total))
                return false;
        if (total > 0)
                m->bar_total = total;
        m->bar_step = step;
        return true;
}

enum sg_match sg_preset_keras(struct sg_preset_memory *m, struct sg_text line,
                              struct sg_report *ret)
{
        const char *s = sg_text_skip_blanks(line.s, line.end), *p;
        uint64_t step, total;

        if (s >= line.end)
                return SG_MATCH_NONE;
        if (!sg_text_is_digit(*s))
                return sg_text_after_word((struct sg_text){s, line.end}, "epoch ", &p)
                               ? epoch_line(m, p, line.end, ret)
                               : SG_MATCH_NONE;
        s = scan_ratio(s, line.end, &step, &total);
        if (!s)
                return SG_MATCH_NONE;
        p = skip_bar(s, line.end);
        if (!p && total > 0)
                return SG_MATCH_NONE;
        if (is_epochs(m, step, total)) {
                sg_report_put(ret, step, total);
                sg_preset_metrics(m, (struct sg_text){p ? p : s, line.end}, ret);
        }
        return SG_MATCH_STRONG;
}
