/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where the processes of a job live. */

#include "base/list.h"
#include "core/place/cpus.h"
#include "edge/cgroup/cgroup.h"
#include <systemd/sd-event.h>

struct sg_groups {
        struct sg_scope *scope;     /* NULL = none */
        struct sg_list active_link; /* sg_jobs.active while there is one */
        struct sg_own_cpus *own;    /* CPUs, as its user or a plan wants it; NULL = all */
        bool setting;               /* its limits are being changed */
        int events;                 /* cgroup.events in the v2 tree, while that is watched */
        sd_event_source *poll;      /* where it can't be: looks at what lives without a keeper */
};
