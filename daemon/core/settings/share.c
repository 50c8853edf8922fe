/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/share.h"
#include <errno.h>
#include <math.h>
#include <string.h>

void sg_share_settings_init(struct sg_share_settings *s)
{
        *s = (struct sg_share_settings){
                .share = SG_SHARE_GROWTH,
                .objective = SG_OBJECTIVE_BALANCED,
                .tick = 1,
                .max_interval = 60,
                .probe = 3,
                .no_harm = .05,
                .floor = .05,
                .exponent = NAN,
                .alpha = .05,
                .interval = 20,
                .beta = 2,
                .mode = SG_FLOWCON_SOFT,
                .literal = false,
                .resource = SG_RESOURCE_CPU,
        };
}

int sg_share_settings_check(const struct sg_share_settings *s, char **ret_why)
{
        char *why;

        if (s->max_interval >= s->tick)
                return 0;
        why = strdup("[Growth] MaxInterval= is below Tick=: the longest time between two looks "
                     "can't be the shorter one");
        if (!why)
                return -ENOMEM;
        *ret_why = why;
        return -EINVAL;
}

/* Unlike in C, NaN is the same as NaN here; so is an infinity as itself. */
static bool same(double a, double b)
{
        return a == b || (isnan(a) && isnan(b));
}

bool sg_share_settings_equal(const struct sg_share_settings *a, const struct sg_share_settings *b)
{
        return a->share == b->share && a->objective == b->objective && same(a->tick, b->tick) &&
               same(a->max_interval, b->max_interval) && same(a->probe, b->probe) &&
               same(a->no_harm, b->no_harm) && same(a->floor, b->floor) &&
               same(a->exponent, b->exponent) && same(a->alpha, b->alpha) &&
               same(a->interval, b->interval) && same(a->beta, b->beta) && a->mode == b->mode &&
               a->literal == b->literal && a->resource == b->resource;
}
