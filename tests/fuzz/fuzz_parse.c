/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any text through every parser: nothing but 0, -EINVAL and -ERANGE comes back, a failure leaves
 * the result untouched, and what a formatter makes of a value parses again to nearly the same one.
 */
#include "base/format.h"
#include "base/parse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1795000000000000ULL
#define MARK 0x5a5a5a5a5a5a5a5aULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int (*parser)(const char *, uint64_t *);
typedef char *(*formatter)(char *, uint64_t);

static bool took(int r, bool untouched)
{
        if (r == 0)
                return true;
        if ((r != -EINVAL && r != -ERANGE) || !untouched)
                abort();
        return false;
}

/* `part`: a value may lose one part in so many on its way through text; 0 = none. */
static void try_u64(const char *s, parser parse, formatter format, uint64_t part)
{
        char buf[SG_FORMAT_MAX];
        uint64_t v = MARK, again, off;
        int r = parse(s, &v);

        if (!took(r, v == MARK) || !format)
                return;
        r = parse(format(buf, v), &again);
        if (r == -ERANGE && v > UINT64_MAX / 2)
                return; /* rounded up beyond the end */
        if (r < 0)
                abort();
        off = again > v ? again - v : v - again;
        if (off > (part ? v / part + 1 : 0))
                abort();
}

static int parse_timestamp(const char *s, uint64_t *ret)
{
        return sg_parse_timestamp(s, NOW, ret);
}

static int parse_past(const char *s, uint64_t *ret)
{
        return sg_parse_past(s, NOW, ret);
}

static void try_range(const char *s)
{
        uint32_t lo = 7, hi = 7;

        if (took(sg_parse_range(s, &lo, &hi), lo == 7 && hi == 7) && (lo < 1 || hi < lo))
                abort();
}

static void try_cpuset(const char *s)
{
        struct sg_cpuset set = {{MARK}}, again;
        char buf[8192];

        if (!took(sg_parse_cpuset(s, &set), set.bits[0] == MARK))
                return;
        if (sg_format_cpuset(buf, sizeof(buf), &set) < 0 || sg_parse_cpuset(buf, &again) < 0 ||
            memcmp(&set, &again, sizeof(set)) != 0)
                abort();
}

static void try_signal(const char *s)
{
        int sig = -7, again;

        if (took(sg_parse_signal(s, &sig), sig == -7) &&
            (sg_parse_signal(sg_signal_name(sig), &again) < 0 || again != sig))
                abort();
}

static void try_small(const char *s)
{
        uint32_t u = 7;
        int32_t i = 7;
        bool b = true;

        (void)took(sg_parse_u32(s, &u), u == 7);
        (void)took(sg_parse_i32(s, &i), i == 7);
        (void)took(sg_parse_bool(s, &b), b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *s = malloc(size + 1);

        if (!s)
                return 0;
        if (size > 0)
                memcpy(s, data, size);
        s[size] = 0;

        try_small(s);
        try_u64(s, sg_parse_u64, NULL, 0);
        try_u64(s, sg_parse_bytes, sg_format_bytes, 10);
        try_u64(s, sg_parse_usec, sg_format_usec, 10);
        try_u64(s, sg_parse_percent, sg_format_percent, 0);
        try_u64(s, parse_timestamp, sg_format_rfc3339, 0);
        try_u64(s, parse_past, sg_format_rfc3339, 0);
        try_range(s);
        try_cpuset(s);
        try_signal(s);
        free(s);
        return 0;
}
