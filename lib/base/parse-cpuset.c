/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "parse-internal.h"
#include "parse.h"

#include <errno.h>

void sg_cpuset_add(struct sg_cpuset *set, unsigned cpu)
{
        if (cpu < SG_CPUS_MAX)
                set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool sg_cpuset_has(const struct sg_cpuset *set, unsigned cpu)
{
        return cpu < SG_CPUS_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

unsigned sg_cpuset_count(const struct sg_cpuset *set)
{
        unsigned n = 0;

        for (unsigned i = 0; i < SG_CPUS_MAX / 64; i++)
                n += (unsigned)__builtin_popcountll(set->bits[i]);
        return n;
}

/* One "3" or "3-5". */
static int scan_span(const char **p, uint64_t *ret_first, uint64_t *ret_last)
{
        int r = sg_scan_u64(p, ret_first);

        if (r < 0)
                return r;
        *ret_last = *ret_first;
        if (**p == '-') {
                (*p)++;
                r = sg_scan_u64(p, ret_last);
                if (r < 0)
                        return r;
        }
        if (*ret_last < *ret_first)
                return -EINVAL;
        return *ret_last < SG_CPUS_MAX ? 0 : -ERANGE;
}

int sg_parse_cpuset(const char *s, struct sg_cpuset *ret)
{
        struct sg_cpuset set = {0};
        uint64_t first, last;

        while (*s) {
                int r = scan_span(&s, &first, &last);

                if (r < 0)
                        return r;
                for (uint64_t cpu = first; cpu <= last; cpu++)
                        sg_cpuset_add(&set, (unsigned)cpu);
                if (*s == ',' && s[1])
                        s++;
                else if (*s)
                        return -EINVAL;
        }
        *ret = set;
        return 0;
}
