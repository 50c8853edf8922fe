/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* One method of org.schedgov1.Job on each of a set of jobs, and the report on how that went: what
 * cancel, hold, signal, set … have in common. */

#include "ctl/ask/client.h"
#include "ctl/line/ids.h"
#include "ctl/line/options.h"

struct sg_jobset {
        const struct sg_invocation *inv;
        const char *member;
        const struct sg_ids *ids;
        /* Appends the arguments; NULL = none. */
        int (*append)(sd_bus_message *m, void *userdata);
        void *userdata;
        bool reports_limits; /* answers what is not enforced */
        bool any_left;       /* a job that has ended meanwhile is no error */
};

/* Goes on over errors, which it prints; returns the exit status. */
int sg_jobset_call(const struct sg_jobset *set, struct sg_client *c, struct sg_error *e);
