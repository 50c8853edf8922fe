/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See curves.h. */

#include "ctl/show/curves.h"
#include "base/format.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const char *const column_names[_SG_CURVE_MAX] = {"time", "eval",  "step",
                                                        "cpu",  "share", "memory_bytes"};

/* Measured figures aren't better than that; reported ones are passed on as they are. */
static const int digits[_SG_CURVE_MAX] = {15, 15, 15, 6, 6, 15};

static int read_column(const json_t *list, size_t n, double scale, double **ret)
{
        double *v;
        json_t *item;
        size_t i;

        if (!json_is_array(list) || json_array_size(list) != n)
                return -EBADMSG;
        v = calloc(n + 1, sizeof(*v));
        if (!v)
                return -ENOMEM;
        json_array_foreach (list, i, item)
                v[i] = json_is_number(item) ? json_number_value(item) * scale : NAN;
        *ret = v;
        return 0;
}

static int check_time(const struct sg_curves *c)
{
        const double *t = c->v[SG_CURVE_TIME];

        for (size_t i = 0; i < c->n; i++)
                if (!isfinite(t[i]) || (i > 0 && t[i] < t[i - 1]))
                        return -EBADMSG;
        return 0;
}

int sg_curves_init(struct sg_curves *c, const json_t *series)
{
        const json_t *columns = json_object_get(series, "columns");
        struct sg_curves new = {.n = json_array_size(json_object_get(columns, "time"))};
        int r = 0;

        for (int i = 0; r >= 0 && i < _SG_CURVE_MAX; i++)
                r = read_column(json_object_get(columns, column_names[i]), new.n,
                                i == SG_CURVE_TIME ? 1e-6 : 1, &new.v[i]);
        if (r >= 0)
                r = check_time(&new);
        if (r < 0)
                sg_curves_deinit(&new);
        else
                *c = new;
        return r;
}

void sg_curves_deinit(struct sg_curves *c)
{
        for (int i = 0; i < _SG_CURVE_MAX; i++)
                free(c->v[i]);
        *c = (struct sg_curves){0};
}

void sg_curves_print_csv(const struct sg_curves *c, FILE *f)
{
        char at[SG_FORMAT_MAX];

        for (int k = 0; k < _SG_CURVE_MAX; k++)
                (void)fprintf(f, "%s%s", k > 0 ? "," : "", column_names[k]);
        (void)fputc('\n', f);
        for (size_t i = 0; i < c->n; i++) {
                (void)fputs(sg_format_rfc3339(at, (uint64_t)llround(c->v[SG_CURVE_TIME][i] * 1e6)),
                            f);
                for (int k = SG_CURVE_TIME + 1; k < _SG_CURVE_MAX; k++)
                        if (isnan(c->v[k][i]))
                                (void)fputc(',', f);
                        else
                                (void)fprintf(f, ",%.*g", digits[k], c->v[k][i]);
                (void)fputc('\n', f);
        }
}
