/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pattern (first line of the input) and a line of output (the rest): nothing that is accepted
 * leaves the line, or takes long to compile or to match, and whoever is refused is told why.
 */
#include "base/cleanup.h"
#include "edge/pattern/pattern.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECONDS_MAX 2.0 /* with sanitizers, on a loaded machine */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

SG_DEFINE_CLEANUP(struct sg_pattern *, sg_pattern_free)

static double cpu_now(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void try_line(const struct sg_pattern *p, const char *line, size_t n)
{
        struct sg_report r = {.has = UINT32_MAX};
        int m = sg_pattern_match(p, line, n, &r);

        if (m > 0 && (r.has == 0 || r.has > 31))
                abort();
        if (m == 0 && r.has != UINT32_MAX)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const uint8_t *end = size > 0 ? memchr(data, '\n', size) : NULL;
        size_t n = end ? (size_t)(end - data) : size;
        _cleanup_free_ char *pattern = strndup((const char *)data, n), *why = NULL;
        _cleanup_(sg_pattern_freep) struct sg_pattern *p = NULL;
        double begin = cpu_now();

        if (!pattern)
                return 0;
        if (sg_pattern_new(&p, pattern, &why) < 0) {
                if (!why || p)
                        abort();
                return 0;
        }
        if (end)
                try_line(p, (const char *)end + 1, size - n - 1);
        if (cpu_now() - begin > SECONDS_MAX)
                abort();
        return 0;
}
