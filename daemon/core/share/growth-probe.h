/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What each user's probes may take: a tenth of the node in the long run, and a minute of that at
 * once, so that nobody gets ahead by submitting many jobs that say nothing. It matters only while
 * other users are there.
 */

#include "base/record.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_probe_user {
        uint32_t uid;
        bool spent;  /* the budget was used up, and isn't half full again */
        double left; /* seconds alone on the node */
        double rate; /* what its probes get */
};

struct sg_probes {
        double now;
        struct sg_probe_user *users; /* those whose budget isn't whole */
        size_t n;
};

void sg_probes_deinit(struct sg_probes *p);
void sg_probes_advance(struct sg_probes *p, double now);
bool sg_probes_may(const struct sg_probes *p, uint32_t uid);
/* From now on one more of its probes runs and gets that much. -ENOMEM */
int sg_probes_run(struct sg_probes *p, uint32_t uid, double rate);
void sg_probes_stop(struct sg_probes *p);         /* nobody's runs */
double sg_probes_next(const struct sg_probes *p); /* when what a user may changes; INFINITY */
void sg_probes_save(const struct sg_probes *p, struct sg_record *r, uint16_t tag);
int sg_probes_load(struct sg_probes *p, const void *user, size_t size); /* -EBADMSG, -ENOMEM */
