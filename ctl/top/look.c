/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See look.h. */

#include "ctl/top/look.h"
#include <string.h>

/* Parts of the time, and of the memory. */
#define SHORT .1
#define VERY_SHORT .4
#define CPU_SHORT .5
#define MEMORY_LITTLE .85
#define MEMORY_NONE .95

enum sg_top_look sg_top_look_of_job(const struct sg_top_job *j)
{
        if (strcmp(j->state, "suspended") == 0)
                return SG_TOP_YELLOW;
        return strcmp(j->state, "queued") == 0 ? SG_TOP_DIM : SG_TOP_PLAIN;
}

enum sg_top_look sg_top_look_of_state(const char *state)
{
        bool goes_on = strcmp(state, "running") == 0 || strcmp(state, "starting") == 0;

        return goes_on ? SG_TOP_GREEN : SG_TOP_PLAIN;
}

static bool has_turn(const char *list)
{
        return strcmp(list, "run") == 0 || strcmp(list, "probe") == 0;
}

enum sg_top_look sg_top_look_of_turn(const char *list)
{
        return has_turn(list) ? SG_TOP_BOLD : SG_TOP_PLAIN;
}

enum sg_top_look sg_top_look_of_list(const char *list)
{
        if (has_turn(list))
                return SG_TOP_GREEN;
        if (strcmp(list, "dropped") == 0)
                return SG_TOP_RED;
        return strcmp(list, "wait") == 0 ? SG_TOP_DIM : SG_TOP_PLAIN;
}

enum sg_top_look sg_top_look_of_pressure(const double psi[_SG_PRESSURE_MAX])
{
        bool some = psi[SG_PRESSURE_CPU] >= CPU_SHORT, much = false;

        for (unsigned i = 0; i < _SG_PRESSURE_MAX; i++) {
                if (i == SG_PRESSURE_CPU)
                        continue;
                some |= psi[i] >= SHORT;
                much |= psi[i] >= VERY_SHORT;
        }
        return much ? SG_TOP_RED : some ? SG_TOP_YELLOW : SG_TOP_PLAIN;
}

enum sg_top_look sg_top_look_of_memory(double used)
{
        return used >= MEMORY_NONE     ? SG_TOP_RED
               : used >= MEMORY_LITTLE ? SG_TOP_YELLOW
                                       : SG_TOP_GREEN;
}
