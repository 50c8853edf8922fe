/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/notify-text.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/parse.h"
#include "base/utf8.h"

#include <string.h>

#define VALUE_MAX 32 /* of what isn't text */

struct text {
        const char *s, *end;
};

static size_t size_of(struct text t)
{
        return (size_t)(t.end - t.s);
}

static bool equals(struct text t, const char *s)
{
        return size_of(t) == strlen(s) && memcmp(t.s, s, size_of(t)) == 0;
}

/* --- values ----------------------------------------------------------------------------------- */

static bool take_count(struct text v, uint32_t bit, uint64_t *ret, struct sg_notify *n)
{
        uint64_t count;

        if (sg_count_scan(v.s, v.end, &count) != v.end)
                return false;
        *ret = count;
        n->report.has |= bit;
        return true;
}

static bool take_eval(struct text v, struct sg_notify *n)
{
        double eval;

        if (v.s == v.end || sg_number_scan(v.s, v.end, &eval) != v.end)
                return false;
        n->report.eval = eval;
        n->report.has |= SG_REPORT_EVAL;
        return true;
}

static bool take_follows(struct text v, struct sg_notify *n)
{
        uint64_t threads;

        if (sg_count_scan(v.s, v.end, &threads) != v.end || threads < 1 || threads > SG_CPUS_MAX)
                return false;
        n->follows = threads;
        return true;
}

static bool take_signal(struct text v, struct sg_notify *n)
{
        char buf[VALUE_MAX];
        int sig = 0;

        if (size_of(v) >= sizeof(buf) || memchr(v.s, '\0', size_of(v)))
                return false;
        memcpy(buf, v.s, size_of(v));
        buf[size_of(v)] = '\0';
        if (strcmp(buf, "0") != 0 && sg_parse_signal(buf, &sig) < 0)
                return false;
        n->allocation_signal = sig;
        return true;
}

/* --- status ----------------------------------------------------------------------------------- */

/* The length of the character that the text begins with, 0 if it is none or a control character of
 * C1. */
static size_t length_of(struct text t)
{
        size_t n = sg_utf8_size(t.s, size_of(t));

        return n == 2 && t.s[0] == '\xc2' && (unsigned char)t.s[1] < 0xa0 ? 0 : n;
}

static void take_status(struct text v, struct sg_notify *n)
{
        size_t size = 0;

        while (v.s < v.end) {
                unsigned char c = (unsigned char)*v.s;
                size_t length = length_of(v);

                if (size + (length ? length : 1) >= sizeof(n->status))
                        break;
                if (length == 0)
                        n->status[size++] = '?';
                else if (c < 0x20 || c == 0x7f)
                        n->status[size++] = ' ';
                else
                        for (size_t i = 0; i < length; i++)
                                n->status[size++] = v.s[i];
                v.s += length ? length : 1;
        }
        n->status[size] = '\0';
        n->has_status = true;
}

/* --- lines ------------------------------------------------------------------------------------ */

enum key {
        KEY_EVAL,
        KEY_STEP,
        KEY_TOTAL,
        KEY_EPOCH,
        KEY_EPOCHS,
        KEY_CHECKPOINTED,
        KEY_SIGNAL,
        KEY_FOLLOWS
};

static const struct {
        const char *name;
        bool prefix_needed;
} keys[] = {
        [KEY_EVAL] = {"EVAL", true},
        [KEY_STEP] = {"STEP", false},
        [KEY_TOTAL] = {"TOTAL_STEPS", false},
        [KEY_EPOCH] = {"EPOCH", false},
        [KEY_EPOCHS] = {"EPOCHS", false},
        [KEY_CHECKPOINTED] = {"CHECKPOINTED", true},
        [KEY_SIGNAL] = {"ALLOCATION_SIGNAL", true},
        [KEY_FOLLOWS] = {"FOLLOWS", true},
};

static int find_key(struct text key)
{
        static const char prefix[] = "SCHEDGOV_";
        bool prefixed = size_of(key) > strlen(prefix) && memcmp(key.s, prefix, strlen(prefix)) == 0;

        if (prefixed)
                key.s += strlen(prefix);
        for (size_t i = 0; i < SG_ELEMENTSOF(keys); i++)
                if ((prefixed || !keys[i].prefix_needed) && equals(key, keys[i].name))
                        return (int)i;
        return -1;
}

static bool take_value(int key, struct text v, struct sg_notify *n)
{
        switch (key) {
        case KEY_EVAL:
                return take_eval(v, n);
        case KEY_STEP:
                return take_count(v, SG_REPORT_STEP, &n->report.step, n);
        case KEY_TOTAL:
                return take_count(v, SG_REPORT_TOTAL, &n->report.total, n);
        case KEY_EPOCH:
                return take_count(v, SG_REPORT_EPOCH, &n->report.epoch, n);
        case KEY_EPOCHS:
                return take_count(v, SG_REPORT_EPOCHS, &n->report.epochs, n);
        case KEY_CHECKPOINTED:
                n->checkpointed = equals(v, "1");
                return n->checkpointed || equals(v, "0");
        case KEY_SIGNAL:
                return take_signal(v, n);
        case KEY_FOLLOWS:
                return take_follows(v, n);
        default:
                return true;
        }
}

static void take_line(struct text line, struct sg_notify *n)
{
        const char *equal = memchr(line.s, '=', size_of(line));
        struct text key, value;

        if (!equal)
                return;
        key = (struct text){line.s, equal};
        value = (struct text){equal + 1, line.end};
        if (equals(key, "STATUS"))
                take_status(value, n);
        else if (!take_value(find_key(key), value, n))
                n->n_bad++;
}

void sg_notify_parse(const char *text, size_t n, struct sg_notify *ret)
{
        const char *end = text + n;

        *ret = (struct sg_notify){.allocation_signal = -1};
        while (text < end) {
                const char *stop = memchr(text, '\n', (size_t)(end - text));
                struct text line = {text, stop ? stop : end};

                if (line.s < line.end)
                        take_line(line, ret);
                text = stop ? stop + 1 : end;
        }
}
