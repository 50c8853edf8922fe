/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/measure/cadence.h"

void sg_cadence_init(struct sg_cadence *c, uint64_t base_usec, uint64_t max_usec)
{
        *c = (struct sg_cadence){
                .base_usec = base_usec,
                .max_usec = max_usec < base_usec ? base_usec : max_usec,
                .interval_usec = base_usec,
        };
}

uint64_t sg_cadence_next(struct sg_cadence *c, bool active)
{
        if (active)
                c->interval_usec = c->base_usec;
        else if (c->interval_usec > c->max_usec / 2)
                c->interval_usec = c->max_usec;
        else
                c->interval_usec *= 2;
        return c->interval_usec;
}

bool sg_cadence_reset(struct sg_cadence *c)
{
        bool further = c->interval_usec > c->base_usec;

        c->interval_usec = c->base_usec;
        return further;
}
