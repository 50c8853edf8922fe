/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/cgroup/kills.h"
#include "edge/cgroup/group.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

#define EVENTS "memory.events"

static int read_above(const char *group, uint64_t *ret)
{
        char above[PATH_MAX], *slash;
        size_t n = strlen(group);

        if (n >= sizeof(above))
                return -ENAMETOOLONG;
        memcpy(above, group, n + 1);
        slash = strrchr(above, '/');
        if (!slash)
                return -ENOENT;
        *slash = '\0';
        return sg_group_read_key(above, EVENTS, "oom_kill", ret);
}

/* First what is above: a kill between the two readings is then told apart by the next look. */
static bool read_both(struct sg_kills *k, const char *group, uint64_t *ret_own)
{
        uint64_t above, hits = 0;
        bool have_above = read_above(group, &above) >= 0;

        if (sg_group_read_key(group, EVENTS, "oom_kill", ret_own) < 0)
                return false;
        (void)sg_group_read_key(group, EVENTS, "max", &hits);
        k->hinted = hits > 0;
        k->others_known = have_above;
        k->others = have_above ? above - *ret_own : 0;
        return true;
}

uint64_t sg_kills_read(struct sg_kills *k, const char *group)
{
        uint64_t own, before = k->own;

        if (!read_both(k, group, &own))
                return 0;
        k->own = own;
        return own > before ? own - before : 0;
}

void sg_kills_set_apart(struct sg_kills *k, const char *group, uint64_t n)
{
        uint64_t own;

        if (!read_both(k, group, &own))
                k->others += n;
}

uint64_t sg_kills_conclude(struct sg_kills *k, const char *group)
{
        uint64_t above, more;

        if (!k->hinted || !k->others_known || read_above(group, &above) < 0)
                return 0;
        k->hinted = false;
        more = above - k->others - k->own;
        if ((int64_t)more <= 0)
                return 0;
        k->own += more;
        return more;
}
