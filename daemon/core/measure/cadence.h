/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How long to wait until the next look: the base interval while anything changes, twice as long
 * after each look by which nothing had, up to a maximum. For rounds of samples, and for what isn't
 * there and is tried again.
 */

#include <stdbool.h>
#include <stdint.h>

struct sg_cadence {
        uint64_t base_usec, max_usec;
        uint64_t interval_usec; /* the present one */
};

/* max below base is base: a fixed interval. */
void sg_cadence_init(struct sg_cadence *c, uint64_t base_usec, uint64_t max_usec);

/* After a round: the time until the next one. active: something changed since the last. */
uint64_t sg_cadence_next(struct sg_cadence *c, bool active);

/* A job started, ended or was changed: the next round is a base interval from now. Returns whether
 * it was further away, so that a timer has to be set anew. */
bool sg_cadence_reset(struct sg_cadence *c);
