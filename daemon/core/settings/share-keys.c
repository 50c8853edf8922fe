/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of [Policy] Share= and Objective=, of [Growth] and of [FlowCon]: from text, and back
 * to text that gives the same value again. Spans of time are kept as seconds, percentages as parts
 * of one.
 */

#include "base/number.h"
#include "core/settings/table.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME(kind, name) [SG_SHARE_##kind] = #name,
static const char *const shares[] = {SG_SHARE_POLICIES(NAME)};
static const char *const objectives[] = {
        [SG_OBJECTIVE_JCT] = "jct",
        [SG_OBJECTIVE_BALANCED] = "balanced",
        [SG_OBJECTIVE_QUALITY] = "quality",
};
static const char *const modes[] = {
        [SG_FLOWCON_SOFT] = "soft", [SG_FLOWCON_HARD] = "hard", [SG_FLOWCON_WEIGHT] = "weight"};
static const char *const resources[] = {"cpu", "memory", "io", "net"};

static int find(const char *const *names, size_t n, const char *value)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(names[i], value) == 0)
                        return (int)i;
        return -EINVAL;
}

/* Into an enum, whichever it is. */
static int choose(const char *const *names, size_t n, const char *value, void *field)
{
        int r = find(names, n, value);

        if (r >= 0)
                memcpy(field, &r, sizeof(r));
        return r < 0 ? r : 0;
}
_Static_assert(sizeof(enum sg_share_kind) == sizeof(int) &&
                       sizeof(enum sg_objective) == sizeof(int) &&
                       sizeof(enum sg_resource) == sizeof(int) &&
                       sizeof(enum sg_flowcon_mode) == sizeof(int),
               "an enum is an int");

int sg_settings_parse_share(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        return choose(shares, SG_ELEMENTSOF(shares), value, field);
}

int sg_settings_parse_objective(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        return choose(objectives, SG_ELEMENTSOF(objectives), value, field);
}

int sg_settings_parse_mode(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        return choose(modes, SG_ELEMENTSOF(modes), value, field);
}

int sg_settings_parse_resource(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        return choose(resources, SG_ELEMENTSOF(resources), value, field);
}

int sg_settings_parse_seconds(const struct sg_settings_key *k, const char *value, void *field)
{
        uint64_t v;

        if (sg_parse_usec(value, &v) < 0 || v < k->min || v > k->max)
                return -EINVAL;
        *(double *)field = (double)v / 1e6;
        return 0;
}

int sg_settings_parse_part(const struct sg_settings_key *k, const char *value, void *field)
{
        uint64_t v;

        if (strcmp(value, "infinity") == 0 && k->max == SG_UNLIMITED) {
                *(double *)field = INFINITY;
                return 0;
        }
        if (sg_parse_percent(value, &v) < 0 || v < k->min || v > k->max)
                return -EINVAL;
        *(double *)field = (double)v / 1e4;
        return 0;
}

/* The row's bounds are millionths. */
int sg_settings_parse_number(const struct sg_settings_key *k, const char *value, void *field)
{
        const char *end = value + strlen(value);
        double v;

        if (sg_number_scan(value, end, &v) != end || !(v >= (double)k->min / 1e6) ||
            !(v <= (double)k->max / 1e6))
                return -EINVAL;
        *(double *)field = v;
        return 0;
}

int sg_settings_parse_exponent(const struct sg_settings_key *k, const char *value, void *field)
{
        if (strcmp(value, "auto") == 0) {
                *(double *)field = NAN;
                return 0;
        }
        return sg_settings_parse_number(k, value, field);
}

static void format_part(double part, char buf[SG_FORMAT_MAX])
{
        (void)sg_format_percent(buf, isinf(part) ? SG_UNLIMITED : (uint64_t)(part * 1e4 + .5));
}

/* By what the row parses with, so that no row says its kind twice. */
bool sg_settings_key_format(const struct sg_settings_key *k, const struct sg_class *c,
                            char buf[SG_FORMAT_MAX])
{
        const void *field = (const char *)c + k->offset;
        const char *word = NULL;

        if (k->parse == sg_settings_parse_share)
                word = shares[*(const enum sg_share_kind *)field];
        else if (k->parse == sg_settings_parse_objective)
                word = objectives[*(const enum sg_objective *)field];
        else if (k->parse == sg_settings_parse_mode)
                word = modes[*(const enum sg_flowcon_mode *)field];
        else if (k->parse == sg_settings_parse_resource)
                word = resources[*(const enum sg_resource *)field];
        else if (k->offset == offsetof(struct sg_class, share.literal))
                word = *(const bool *)field ? "yes" : "no";
        else if (k->parse == sg_settings_parse_seconds)
                (void)sg_format_usec(buf, (uint64_t)(*(const double *)field * 1e6 + .5));
        else if (k->parse == sg_settings_parse_part)
                format_part(*(const double *)field, buf);
        else if (k->parse == sg_settings_parse_exponent && isnan(*(const double *)field))
                word = "auto";
        else if (k->parse == sg_settings_parse_number || k->parse == sg_settings_parse_exponent)
                (void)snprintf(buf, SG_FORMAT_MAX, "%.6g", *(const double *)field);
        else
                return false;
        if (word)
                (void)snprintf(buf, SG_FORMAT_MAX, "%s", word);
        return true;
}

bool sg_settings_key_is_share(const struct sg_settings_key *k)
{
        return strcmp(k->file, "policy") == 0 && k->offset >= offsetof(struct sg_class, share) &&
               k->offset < offsetof(struct sg_class, share) + sizeof(struct sg_share_settings);
}
