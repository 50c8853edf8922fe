/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/hesrpt.h"

#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

double sg_hesrpt_share(size_t rank, size_t n, double exponent)
{
        double power;

        if (exponent >= 1)
                return rank == n ? 1 : 0;
        power = 1 / (1 - exponent);
        return pow((double)rank / (double)n, power) - pow((double)(rank - 1) / (double)n, power);
}

struct ranked {
        double remaining;
        size_t place;
};

static int compare_largest_first(const void *a, const void *b)
{
        const struct ranked *x = a, *y = b;

        if (x->remaining != y->remaining)
                return x->remaining > y->remaining ? -1 : 1;
        return x->place > y->place ? -1 : 1;
}

int sg_hesrpt_shares(const double *remaining, size_t n, double exponent, double *shares)
{
        _cleanup_free_ struct ranked *ranked = NULL;

        if (n == 0)
                return 0;
        ranked = calloc(n, sizeof(*ranked));
        if (!ranked)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                ranked[i] = (struct ranked){remaining[i], i};
        qsort(ranked, n, sizeof(*ranked), compare_largest_first);
        for (size_t i = 0; i < n; i++)
                shares[ranked[i].place] = sg_hesrpt_share(i + 1, n, exponent);
        return 0;
}
