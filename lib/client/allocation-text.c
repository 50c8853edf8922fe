/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/allocation-text.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct word {
        const char *s;
        size_t n;
};

/* KEY=VALUE up to the end of the line; the last line needs none. -EBADMSG for a line without '=',
 * or with a NUL. */
static int next_line(const char **p, const char *end, struct word *key, struct word *value)
{
        const char *start = *p, *stop, *equals;

        if (start == end)
                return 0;
        stop = memchr(start, '\n', (size_t)(end - start));
        *p = stop ? stop + 1 : end;
        if (!stop)
                stop = end;
        equals = memchr(start, '=', (size_t)(stop - start));
        if (!equals || memchr(start, '\0', (size_t)(stop - start)))
                return -EBADMSG;
        *key = (struct word){start, (size_t)(equals - start)};
        *value = (struct word){equals + 1, (size_t)(stop - equals - 1)};
        return 1;
}

static bool is(struct word w, const char *s)
{
        return strlen(s) == w.n && memcmp(w.s, s, w.n) == 0;
}

static int to_number(struct word w, uint64_t *ret)
{
        uint64_t v = 0;

        if (w.n == 0)
                return -EBADMSG;
        for (size_t i = 0; i < w.n; i++) {
                unsigned digit = (unsigned)(w.s[i] - '0');

                if (digit > 9 || __builtin_mul_overflow(v, 10, &v) ||
                    __builtin_add_overflow(v, digit, &v))
                        return -EBADMSG;
        }
        *ret = v;
        return 0;
}

/* "1.2345", "2": permyriad. */
static int to_permyriad(struct word w, uint64_t *ret)
{
        const char *point = memchr(w.s, '.', w.n);
        size_t whole = point ? (size_t)(point - w.s) : w.n;
        struct word fraction = {point ? point + 1 : NULL, point ? w.n - whole - 1 : 0};
        uint64_t a, b = 0;

        if (to_number((struct word){w.s, whole}, &a) < 0 || fraction.n > 4)
                return -EBADMSG;
        if (point && to_number(fraction, &b) < 0)
                return -EBADMSG;
        for (size_t i = fraction.n; i < 4; i++)
                b *= 10;
        if (__builtin_mul_overflow(a, 10000, &a) || __builtin_add_overflow(a, b, &a))
                return -EBADMSG;
        *ret = a;
        return 0;
}

static int to_threads(struct word w, uint64_t *ret)
{
        uint64_t v;

        if (to_number(w, &v) < 0 || v == 0 || v > SGC_THREADS_MAX)
                return -EBADMSG;
        *ret = v;
        return 0;
}

static int to_string(struct word w, char *buf, size_t size)
{
        if (w.n >= size)
                return -EBADMSG;
        memcpy(buf, w.s, w.n);
        buf[w.n] = '\0';
        return 0;
}

static int check_version(struct word w)
{
        return is(w, "1") ? 0 : -EBADMSG;
}

static int set_allocation(struct sgc_allocation *a, struct word key, struct word value)
{
        if (is(key, "VERSION"))
                return check_version(value);
        if (is(key, "SEQ"))
                return to_number(value, &a->seq);
        if (is(key, "CPUS"))
                return to_permyriad(value, &a->cpus_pm);
        if (is(key, "THREADS"))
                return to_threads(value, &a->threads);
        if (is(key, "DEADLINE_USEC"))
                return to_number(value, &a->deadline_usec);
        if (is(key, "CPU_LIST"))
                return to_string(value, a->cpu_list, sizeof(a->cpu_list));
        if (is(key, "GPUS"))
                return to_string(value, a->gpus, sizeof(a->gpus));
        return 0;
}

static void clear(struct sgc_allocation *a)
{
        a->seq = a->cpus_pm = a->threads = a->deadline_usec = 0;
        a->cpu_list[0] = a->gpus[0] = '\0';
}

int sgc_allocation_parse(const char *text, size_t n, struct sgc_allocation *ret)
{
        const char *p = text, *end = text + n;
        struct sgc_allocation a;
        struct word key, value;
        int r;

        clear(&a);
        while ((r = next_line(&p, end, &key, &value)) > 0) {
                r = set_allocation(&a, key, value);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        *ret = a;
        return 0;
}

int sgc_threads_parse(const char *text, size_t n, uint64_t *ret)
{
        const char *p = text, *end = text + n;
        struct word key, value;
        uint64_t threads = 0;
        int r;

        while ((r = next_line(&p, end, &key, &value)) > 0) {
                if (is(key, "VERSION"))
                        r = check_version(value);
                else if (is(key, "THREADS"))
                        r = to_threads(value, &threads);
                if (r < 0)
                        return r;
        }
        if (r < 0 || threads == 0)
                return -EBADMSG;
        *ret = threads;
        return 0;
}

int sgc_checkpoint_parse(const char *text, size_t n, struct sgc_checkpoint *ret)
{
        const char *p = text, *end = text + n;
        struct sgc_checkpoint c = {0};
        struct word key, value;
        int r;

        while ((r = next_line(&p, end, &key, &value)) > 0) {
                if (is(key, "ID"))
                        r = to_number(value, &c.id);
                else if (is(key, "WHY"))
                        (void)to_string((struct word){value.s, value.n < SGC_WHY_MAX
                                                                       ? value.n
                                                                       : SGC_WHY_MAX - 1},
                                        c.why, sizeof(c.why));
                if (r < 0)
                        return r;
        }
        if (r < 0 || c.id == 0)
                return -EBADMSG;
        *ret = c;
        return 0;
}
