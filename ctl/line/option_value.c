/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See option_value.h. */

#include "ctl/line/option_value.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "ctl/line/ids.h"
#include "proto/gpus.h"
#include "proto/names.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sg_option_wants(enum sg_option_type type)
{
        static const char *const table[] = {
                [SG_OPTION_STRING] = "a value",
                [SG_OPTION_NAME] = "a name of 1 to 64 characters in one line",
                [SG_OPTION_COUNT] = "a number such as 3",
                [SG_OPTION_NUMBER] = "a number such as 100, or infinity",
                [SG_OPTION_STEPS] = "a number such as 1000",
                [SG_OPTION_WEIGHT] = "a weight from 1 to 10000",
                [SG_OPTION_PRIORITY] = "a number from -1000 to 1000",
                [SG_OPTION_BYTES] = "a size such as 512M or 4G",
                [SG_OPTION_USEC] = "a time such as 90s, 2h or 1:30:00",
                [SG_OPTION_PERCENT] = "a percentage of one CPU such as 20% or 150%, or infinity",
                [SG_OPTION_PART] = "a part such as 5% or 0.05, or infinity",
                [SG_OPTION_TIME] = "a point in time such as 22:00, 2h or 2026-11-18 12:00",
                [SG_OPTION_DUE] =
                        "a point in time such as 22:00, 2h or 2026-11-18 12:00, or infinity",
                [SG_OPTION_PAST] = "a point in time such as 09:00, -2h or 2026-11-18 12:00",
                [SG_OPTION_CPUS] = "a number of CPUs such as 4 or 2-8",
                [SG_OPTION_GPUS] = SG_GPUS_WANTS,
                [SG_OPTION_ARRAY] = "at most 10000 numbers that rise such as 0-9, 1,3,5 or 1-100%4",
                [SG_OPTION_AFTER] = "a job such as 7, 7:ok or 7:any",
                [SG_OPTION_ENV] = "a variable such as KEY=VALUE",
        };

        return table[type];
}

static bool is_infinity(const char *s, uint64_t *ret)
{
        if (strcmp(s, "infinity") != 0)
                return false;
        *ret = SG_UNLIMITED;
        return true;
}

static int parse_part(const char *s, double *ret)
{
        const char *end = s + strlen(s), *behind;
        double v;

        behind = sg_number_scan(s, end, &v);
        if (!behind || !(v >= 0))
                return -EINVAL;
        if (strcmp(behind, "%") == 0)
                v /= 100;
        else if (behind != end)
                return -EINVAL;
        *ret = v;
        return 0;
}

static int parse_bounded(const char *s, uint64_t lo, uint64_t hi, uint64_t *ret)
{
        uint64_t v;
        int r = sg_parse_u64(s, &v);

        if (r < 0)
                return r;
        if (v < lo || v > hi)
                return -ERANGE;
        *ret = v;
        return 0;
}

static int parse_priority(const char *s, int64_t *ret)
{
        int32_t v;
        int r = sg_parse_i32(s, &v);

        if (r < 0)
                return r;
        if (v < -SG_PRIORITY_MAX || v > SG_PRIORITY_MAX)
                return -ERANGE;
        *ret = v;
        return 0;
}

static int parse_number(const char *s, uint64_t *ret)
{
        return is_infinity(s, ret) ? 0 : parse_bounded(s, 1, SG_UNLIMITED - 1, ret);
}

static int parse_name(const char *s, const char **ret)
{
        size_t len = strlen(s);

        if (len == 0 || len >= SG_JOB_NAME_MAX || !sg_utf8_is_valid(s, len))
                return -EINVAL;
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
                        return -EINVAL;
        *ret = s;
        return 0;
}

static int parse_cpus(const char *s, uint64_t ret[2])
{
        uint32_t lo, hi;
        int r = sg_parse_range(s, &lo, &hi);

        if (r < 0)
                return r;
        if (hi > SG_CPUS_MAX)
                return -ERANGE;
        ret[0] = lo;
        ret[1] = hi;
        return 0;
}

static int parse_gpus(const char *s, const char **ret)
{
        uint64_t min, max, share;
        int r = sg_gpus_parse(s, &min, &max, &share);

        if (r >= 0)
                *ret = s;
        return r;
}

static int parse_array(const char *s, const char **ret)
{
        struct sg_array array;
        int r = sg_array_parse(s, &array);

        if (r >= 0)
                *ret = s;
        return r;
}

/* Joins "5", "6-8:any" to what is there already, as "5:ok,6:any,7:any,8:any". */
static int parse_after(const char *s, char **after)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_free_ char *job = strdup(s), *joined = NULL;
        const char *condition = "ok";
        size_t size = 0;
        FILE *f;
        char *colon;
        int r;

        if (!job)
                return -ENOMEM;
        colon = strchr(job, ':');
        if (colon) {
                *colon = '\0';
                condition = colon + 1;
        }
        if (strcmp(condition, "ok") != 0 && strcmp(condition, "any") != 0)
                return -EINVAL;
        r = sg_ids_add(&ids, job);
        if (r < 0)
                return r;
        f = open_memstream(&joined, &size);
        if (!f)
                return -ENOMEM;
        if (*after)
                (void)fputs(*after, f);
        for (size_t i = 0; i < ids.n; i++)
                (void)fprintf(f, "%s%s:%s", i > 0 || *after ? "," : "", ids.v[i], condition);
        if (fclose(f) != 0)
                return -ENOMEM;
        free(*after);
        *after = TAKE_PTR(joined);
        return 0;
}

static int parse_env(const char *s, struct sg_invocation *inv)
{
        const char *equals = strchr(s, '=');
        const char **grown;

        if (!equals || equals == s)
                return -EINVAL;
        grown = reallocarray(inv->env, inv->n_env + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        inv->env = grown;
        inv->env[inv->n_env++] = s;
        return 0;
}

int sg_option_parse_value(const struct sg_option *o, const char *s, uint64_t now_usec,
                          struct sg_invocation *inv)
{
        void *at = (char *)inv + o->offset;

        switch (o->type) {
        case SG_OPTION_FLAG:
                *(bool *)at = true;
                return 0;
        case SG_OPTION_STRING:
                *(const char **)at = s;
                return *s && sg_utf8_is_valid(s, strlen(s)) ? 0 : -EINVAL;
        case SG_OPTION_NAME:
                return parse_name(s, at);
        case SG_OPTION_COUNT:
                return parse_bounded(s, 0, UINT32_MAX, at);
        case SG_OPTION_NUMBER:
                return parse_number(s, at);
        case SG_OPTION_STEPS:
                return parse_bounded(s, 1, INT64_MAX, at);
        case SG_OPTION_WEIGHT:
                return parse_bounded(s, 1, SG_WEIGHT_MAX, at);
        case SG_OPTION_PRIORITY:
                return parse_priority(s, at);
        case SG_OPTION_BYTES:
                return sg_parse_bytes(s, at);
        case SG_OPTION_USEC:
                return sg_parse_usec(s, at);
        case SG_OPTION_PERCENT:
                return is_infinity(s, at) ? 0 : sg_parse_percent(s, at);
        case SG_OPTION_PART:
                return parse_part(s, at);
        case SG_OPTION_TIME:
                return sg_parse_timestamp(s, now_usec, at);
        case SG_OPTION_DUE:
                return is_infinity(s, at) ? 0 : sg_parse_timestamp(s, now_usec, at);
        case SG_OPTION_PAST:
                return sg_parse_past(s, now_usec, at);
        case SG_OPTION_CPUS:
                return parse_cpus(s, at);
        case SG_OPTION_GPUS:
                return parse_gpus(s, at);
        case SG_OPTION_ARRAY:
                return parse_array(s, at);
        case SG_OPTION_AFTER:
                return parse_after(s, at);
        case SG_OPTION_ENV:
                return parse_env(s, inv);
        }
        return -EINVAL;
}
