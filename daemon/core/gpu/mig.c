/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of MIG profiles: so many slices, so much memory, and what it has besides. */
#include "core/gpu/internal.h"
#include <string.h>

/* "3g." of "3g.40gb": moves *s behind it. */
static bool take_number(const char **s, const char *unit, uint64_t *ret)
{
        const char *at = *s;
        uint64_t n = 0;

        while (*at >= '0' && *at <= '9' && n < 10000)
                n = n * 10 + (uint64_t)(*at++ - '0');
        if (at == *s || strncmp(at, unit, strlen(unit)) != 0)
                return false;
        *s = at + strlen(unit);
        *ret = n;
        return true;
}

bool sg_gpu_profile_parse(const char *s, struct sg_gpu_profile *ret)
{
        struct sg_gpu_profile p = {0};
        uint64_t whole;
        bool part = take_number(&s, "c.", &p.slices);

        if (!take_number(&s, "g.", &whole) || !take_number(&s, "gb", &p.gb) ||
            (*s != '\0' && *s != '+' && *s != '-'))
                return false;
        if (!part)
                p.slices = whole;
        p.extra = s;
        *ret = p;
        return true;
}

bool sg_gpu_profile_fits(const char *have, const char *want)
{
        struct sg_gpu_profile h, w;

        if (strcmp(have, want) == 0)
                return true;
        return sg_gpu_profile_parse(have, &h) && sg_gpu_profile_parse(want, &w) &&
               h.slices >= w.slices && h.gb >= w.gb &&
               (w.extra[0] == '\0' || strcmp(h.extra, w.extra) == 0);
}
