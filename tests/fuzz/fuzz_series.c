/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as the file of a series. What is accepted must be in order, need no second repair, and
 * take any number of further points. The header's checksum would keep a fuzzer out: each input is
 * also tried behind a header that is right.
 */
#include "base/parse.h"
#include "edge/history/series-file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 64
/* One that a job's first rounds have made; see tests/fuzz/corpus/series/short. */
static const unsigned char header[24] = "sgseries\1\0\0\0\50\0\0\0\376\1\0\0\361\2\0\214";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct sg_series *s)
{
        if (s->n > SG_SERIES_MAX)
                abort();
        for (uint64_t i = 0; i < s->n; i++) {
                const struct sg_point *p = &s->points[i];

                if (p->time_usec == 0 || (i > 0 && p->time_usec <= p[-1].time_usec) || p->cpu < 0 ||
                    p->share < 0 || isinf(p->cpu) || isinf(p->share))
                        abort();
        }
}

static void use(struct sg_series *s)
{
        uint64_t last = s->n > 0 ? s->points[s->n - 1].time_usec : 0;

        check(s);
        if (sg_series_repair(s) != 0)
                abort();
        for (uint64_t i = 0; i < 2 * SG_SERIES_MAX; i++) {
                struct sg_point p = {
                        .time_usec = last + 1 + i * 1000000, .eval = 1, .cpu = 1, .share = NAN};

                if (p.time_usec < last)
                        break;
                sg_series_add(s, &p);
        }
        check(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct sg_series s;
        uint8_t *whole = malloc(HEADER_SIZE + size);

        if (!whole)
                return 0;
        if (sg_series_parse(data, size, &s) == 0)
                use(&s);
        memset(whole, 0, HEADER_SIZE);
        memcpy(whole, header, sizeof(header));
        if (size > 0)
                memcpy(whole + HEADER_SIZE, data, size);
        if (sg_series_parse(whole, HEADER_SIZE + size, &s) == 0)
                use(&s);
        else if (size >= 16)
                abort(); /* the header above is out of date */
        free(whole);
        return 0;
}
