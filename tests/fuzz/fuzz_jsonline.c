/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any text as a line of JSON and as a progress file: whoever says that it is one has found
 * something, and it is the same for a second reader. */
#include "edge/reader/child/values.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int values_fn(struct sg_values *v, enum sg_goal goal, const char *text, size_t n,
                      struct sg_report *ret);

static void read_as(values_fn *fn, enum sg_goal goal, const char *text, size_t n)
{
        struct sg_report a = {.has = UINT32_MAX}, b = {.has = UINT32_MAX};
        struct sg_values first = {0}, second = {0};
        int r = fn(&first, goal, text, n, &a);

        if (r < 0 || r != fn(&second, goal, text, n, &b) ||
            memcmp(&first, &second, sizeof(first)) != 0)
                abort();
        if (r == 0 ? a.has != UINT32_MAX : a.has == 0 || a.has > 31)
                abort();
        if (r > 0 && (a.has != b.has || a.step != b.step || a.epoch != b.epoch))
                abort();
        /* What it remembers doesn't make it find less of the same metric. */
        if (r > 0 && fn(&first, goal, text, n, &b) != 1)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;

        for (int goal = SG_GOAL_MIN; goal <= SG_GOAL_MAX; goal++) {
                read_as(sg_values_json, (enum sg_goal)goal, text, size);
                read_as(sg_values_lines, (enum sg_goal)goal, text, size);
        }
        return 0;
}
