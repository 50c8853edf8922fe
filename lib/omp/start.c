/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs before main() of nearly every program of a job, most of which have no use for us: what costs
 * more than a look at the environment waits for the first region.
 */
#include "omp/omp-internal.h"

#include <stdlib.h>

__attribute__((constructor)) static void begin(void)
{
        const char *path = getenv("SCHEDGOV_ALLOCATION");

        if (!path || path[0] != '/')
                return;
        sgo_allocation_begin(path);
        sgo_tell_begin();
        sgo_exec_begin();
}
