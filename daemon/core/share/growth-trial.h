/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How fast a job is with another number of CPUs is known only when it has had that number. As a
 * rule that comes by itself. Where it doesn't, one job at a time is tried with another number
 * for some reports, if that is worth it and all promises can bear it.
 */

#include "base/record.h"
#include "core/share/growth.h"

struct sg_growth_trial { /* zero-initialise */
        uint64_t key;    /* of the job on trial; 0 = none is under way */
        uint32_t cpus;
        double until;    /* at the latest */
        double next;     /* none before */
        double patience; /* of its length, from one to the next; grows with those that told nothing
                          */
};

/* Goes on with it, ends it, or begins another. Whose it is; NULL = nobody's. */
struct sg_growth_job *sg_growth_try(struct sg_growth_trial *t, const struct sg_growth_line *l,
                                    double cpus);
void sg_growth_trial_save(const struct sg_growth_trial *t, struct sg_record *r, uint16_t tag);
int sg_growth_trial_load(struct sg_growth_trial *t, const struct sg_field *f); /* -EBADMSG */
