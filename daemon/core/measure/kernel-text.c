/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line at a time, with a bound on either side: a text that was cut has no last newline and is
 * refused, as the number before it may have lost digits. Results are collected apart and handed out
 * together, so that half a file never sets anything.
 */

#include "core/measure/kernel-text.h"
#include "base/cleanup.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define KEYS_MAX 32 /* bits of a word say which were seen */

/* What is left of a line, or of the lines of a file. */
struct span {
        const char *p, *end;
};

/* 1: *ret is the next line without its end, 0: that was all. */
static int next_line(struct span *text, struct span *ret)
{
        const char *end;

        if (text->p == text->end)
                return 0;
        end = memchr(text->p, '\n', (size_t)(text->end - text->p));
        if (!end)
                return -EBADMSG;
        *ret = (struct span){text->p, end};
        text->p = end + 1;
        return 1;
}

static bool take(struct span *s, const char *word)
{
        const char *p = s->p;

        for (; *word; word++, p++)
                if (p == s->end || *p != *word)
                        return false;
        s->p = p;
        return true;
}

static void take_blanks(struct span *s)
{
        while (s->p < s->end && *s->p == ' ')
                s->p++;
}

static bool is_digit(const struct span *s)
{
        return s->p < s->end && *s->p >= '0' && *s->p <= '9';
}

/* SG_UNLIMITED is no number here: it says that there is none. */
static bool take_number(struct span *s, uint64_t *ret)
{
        uint64_t v = 0;

        if (!is_digit(s))
                return false;
        for (; is_digit(s); s->p++)
                if (__builtin_mul_overflow(v, 10, &v) ||
                    __builtin_add_overflow(v, (uint64_t)(*s->p - '0'), &v))
                        return false;
        *ret = v;
        return v != SG_UNLIMITED;
}

/* "12.34", as the kernel prints loads and shares. */
static bool take_hundredths(struct span *s, uint64_t *ret)
{
        const char *point;
        uint64_t whole, part;

        if (!take_number(s, &whole) || !take(s, "."))
                return false;
        point = s->p;
        if (!take_number(s, &part) || s->p - point != 2 || whole > UINT32_MAX)
                return false;
        *ret = whole * 100 + part;
        return true;
}

/* At the end of the line, or before a field more. */
static bool at_field_end(const struct span *s)
{
        return s->p == s->end || *s->p == ' ';
}

int sg_kernel_number(const char *text, size_t n, uint64_t *ret)
{
        struct span s = {text, text + n};
        uint64_t v;

        if (!take_number(&s, &v) || !take(&s, "\n") || s.p != s.end)
                return -EBADMSG;
        *ret = v;
        return 0;
}

/* --- lines of a key and a value */

typedef bool (*value_fn)(struct span *line, uint64_t *ret);

static bool plain_value(struct span *line, uint64_t *ret)
{
        return take(line, " ") && take_number(line, ret);
}

/* Some lines of meminfo are counts, without a unit. */
static bool meminfo_value(struct span *line, uint64_t *ret)
{
        uint64_t v;

        if (!take(line, ":"))
                return false;
        take_blanks(line);
        if (!take_number(line, &v) ||
            (take(line, " kB") && __builtin_mul_overflow(v, UINT64_C(1024), &v)))
                return false;
        *ret = v;
        return true;
}

/* Which key this line has; n_keys: none of them. Leaves the rest of the line. */
static size_t key_of(struct span *line, const struct sg_kernel_key *keys, size_t n_keys)
{
        for (size_t i = 0; i < n_keys; i++) {
                struct span rest = *line;

                if (take(&rest, keys[i].key) && rest.p < rest.end &&
                    (*rest.p == ' ' || *rest.p == ':')) {
                        *line = rest;
                        return i;
                }
        }
        return n_keys;
}

static int keyed(struct span text, const struct sg_kernel_key *keys, size_t n_keys, value_fn value)
{
        uint64_t found[KEYS_MAX];
        uint32_t seen = 0;
        struct span line;
        int r, n = 0;

        assert(n_keys <= KEYS_MAX);
        while ((r = next_line(&text, &line)) > 0) {
                size_t i = key_of(&line, keys, n_keys);

                if (i == n_keys)
                        continue;
                if (seen & UINT32_C(1) << i || !value(&line, &found[i]) || line.p != line.end)
                        return -EBADMSG;
                seen |= UINT32_C(1) << i;
        }
        if (r < 0)
                return r;
        for (size_t i = 0; i < n_keys; i++)
                if (seen & UINT32_C(1) << i) {
                        *keys[i].value = found[i];
                        n++;
                }
        return n;
}

int sg_kernel_keyed(const char *text, size_t n, const struct sg_kernel_key *keys, size_t n_keys)
{
        return keyed((struct span){text, text + n}, keys, n_keys, plain_value);
}

int sg_kernel_meminfo(const char *text, size_t n, const struct sg_kernel_key *keys, size_t n_keys)
{
        return keyed((struct span){text, text + n}, keys, n_keys, meminfo_value);
}

/* --- pressure */

static bool psi_line(struct span *s, uint64_t *ret_avg10, uint64_t *ret_total)
{
        uint64_t passed_over;

        return take(s, " avg10=") && take_hundredths(s, ret_avg10) && take(s, " avg60=") &&
               take_hundredths(s, &passed_over) && take(s, " avg300=") &&
               take_hundredths(s, &passed_over) && take(s, " total=") &&
               take_number(s, ret_total) && at_field_end(s);
}

int sg_kernel_psi(const char *text, size_t n, struct sg_kernel_psi *ret)
{
        struct sg_kernel_psi psi = {SG_UNLIMITED, SG_UNLIMITED, SG_UNLIMITED, SG_UNLIMITED};
        struct span rest = {text, text + n}, line;
        int r;

        while ((r = next_line(&rest, &line)) > 0)
                if (take(&line, "some")) {
                        if (psi.some_usec != SG_UNLIMITED ||
                            !psi_line(&line, &psi.some_avg10_pm, &psi.some_usec))
                                return -EBADMSG;
                } else if (take(&line, "full")) {
                        if (psi.full_usec != SG_UNLIMITED ||
                            !psi_line(&line, &psi.full_avg10_pm, &psi.full_usec))
                                return -EBADMSG;
                }
        if (r < 0 || (psi.some_usec == SG_UNLIMITED && psi.full_usec == SG_UNLIMITED))
                return -EBADMSG;
        *ret = psi;
        return 0;
}

/* --- block devices */

/* "8:0" */
static bool take_device(struct span *s)
{
        uint64_t number;

        return take_number(s, &number) && take(s, ":") && take_number(s, &number) &&
               at_field_end(s);
}

static bool add_number(struct span *s, uint64_t *sum)
{
        uint64_t v;

        return take_number(s, &v) && at_field_end(s) && !__builtin_add_overflow(*sum, v, sum) &&
               *sum != SG_UNLIMITED;
}

/* What others count, such as "depth=max" of io.latency, is passed over. */
static bool io_field(struct span *s, struct sg_kernel_io *io)
{
        const char *equals;

        if (take(s, "rbytes="))
                return add_number(s, &io->read_bytes);
        if (take(s, "wbytes="))
                return add_number(s, &io->write_bytes);
        if (take(s, "rios="))
                return add_number(s, &io->read_ops);
        if (take(s, "wios="))
                return add_number(s, &io->write_ops);
        equals = s->p;
        while (!at_field_end(s))
                s->p++;
        return memchr(equals, '=', (size_t)(s->p - equals));
}

/* A disk without a name, such as one path of several to an NVMe disk: its bytes were counted with
 * the disk that has one. */
static bool is_nameless(struct span s)
{
        return take(&s, "(unknown)") && at_field_end(&s);
}

/* Some kernels print devices that did nothing yet in front of the next one, on its line. */
static bool io_line(struct span s, struct sg_kernel_io *io)
{
        struct span field;

        if (is_nameless(s))
                return true;
        if (!take_device(&s))
                return false;
        for (take_blanks(&s); s.p < s.end; take_blanks(&s)) {
                field = s;
                if (take_device(&field))
                        s = field;
                else if (!io_field(&s, io))
                        return false;
        }
        return true;
}

/* So the last of them may have no line's end. There are no numbers in it that could be cut. */
static bool only_devices(struct span s)
{
        while (s.p < s.end)
                if (!take_device(&s) || !take(&s, " "))
                        return false;
        return true;
}

int sg_kernel_io_stat(const char *text, size_t n, struct sg_kernel_io *ret)
{
        struct span rest = {text, text + n}, line;
        struct sg_kernel_io io = {0};
        int r;

        while ((r = next_line(&rest, &line)) > 0)
                if (!io_line(line, &io))
                        return -EBADMSG;
        if (r < 0 && !only_devices(rest))
                return r;
        *ret = io;
        return 0;
}

/* "8:0 Read 123", or the last line, "Total 123". */
static bool blkio_line(struct span s, uint64_t *read, uint64_t *write)
{
        uint64_t others = 0, *sum = &others;

        if (is_nameless(s))
                return true;
        if (take_device(&s)) {
                if (take(&s, " Read"))
                        sum = read;
                else if (take(&s, " Write"))
                        sum = write;
                else if (take(&s, " "))
                        while (!at_field_end(&s))
                                s.p++;
        } else if (!take(&s, "Total")) {
                return false;
        }
        return take(&s, " ") && add_number(&s, sum) && s.p == s.end;
}

int sg_kernel_blkio(const char *text, size_t n, uint64_t *ret_read, uint64_t *ret_write)
{
        struct span rest = {text, text + n}, line;
        uint64_t read = 0, write = 0;
        int r;

        while ((r = next_line(&rest, &line)) > 0)
                if (!blkio_line(line, &read, &write))
                        return -EBADMSG;
        if (r < 0)
                return r;
        *ret_read = read;
        *ret_write = write;
        return 0;
}

/* --- the whole machine */

/* user nice system idle iowait irq softirq steal; guests are counted in user and nice already. */
static bool cpu_line(struct span s, struct sg_kernel_stat *ret)
{
        uint64_t ticks[8], total = 0;

        if (!take(&s, "cpu "))
                return false;
        for (size_t i = 0; i < SG_ELEMENTSOF(ticks); i++) {
                take_blanks(&s);
                if (!take_number(&s, &ticks[i]) || !at_field_end(&s) ||
                    __builtin_add_overflow(total, ticks[i], &total))
                        return false;
        }
        ret->total = total;
        ret->idle = ticks[3];
        ret->iowait = ticks[4];
        ret->steal = ticks[7];
        return true;
}

int sg_kernel_stat(const char *text, size_t n, struct sg_kernel_stat *ret)
{
        struct span rest = {text, text + n}, line;
        struct sg_kernel_stat stat;
        const struct sg_kernel_key keys[] = {
                {"procs_running", &stat.procs_running},
                {"procs_blocked", &stat.procs_blocked},
        };

        if (next_line(&rest, &line) <= 0 || !cpu_line(line, &stat) ||
            keyed(rest, keys, SG_ELEMENTSOF(keys), plain_value) != SG_ELEMENTSOF(keys))
                return -EBADMSG;
        *ret = stat;
        return 0;
}

static bool take_load(struct span *s, uint64_t *ret_pm)
{
        uint64_t hundredths;

        if (!take_hundredths(s, &hundredths) || !take(s, " "))
                return false;
        *ret_pm = hundredths * 100;
        return true;
}

int sg_kernel_loadavg(const char *text, size_t n, struct sg_kernel_load *ret)
{
        struct span s = {text, text + n};
        struct sg_kernel_load load;
        uint64_t newest_pid;

        if (!take_load(&s, &load.load1_pm) || !take_load(&s, &load.load5_pm) ||
            !take_load(&s, &load.load15_pm) || !take_number(&s, &load.running) || !take(&s, "/") ||
            !take_number(&s, &load.tasks) || !take(&s, " ") || !take_number(&s, &newest_pid) ||
            !take(&s, "\n") || s.p != s.end)
                return -EBADMSG;
        *ret = load;
        return 0;
}
