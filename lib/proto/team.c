/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/team.h"

#include <inttypes.h>
#include <stdio.h>

/* FNV-1a. A path that was made to have the same name is in the same user's job, or not theirs to
 * open. */
void sg_team_name(char buf[SG_TEAM_NAME_MAX], const char *allocation)
{
        uint64_t h = 0xcbf29ce484222325ULL;

        for (const unsigned char *p = (const unsigned char *)allocation; *p; p++)
                h = (h ^ *p) * 0x100000001b3ULL;
        (void)snprintf(buf, SG_TEAM_NAME_MAX, "schedgov-%016" PRIx64, h);
}
