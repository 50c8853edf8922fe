/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who belongs to a scope: by the group that a process says it is in, and by the kernel's lists. */

#include "edge/cgroup/cgroup.h"
#include "edge/cgroup/group.h"
#include <string.h>

bool sg_group_is_in(const char *group, const char *scope, const char *sub, bool below_too)
{
        size_t n = strlen(scope), m = strlen(sub);

        if (strncmp(group, scope, n) != 0 || group[n] != '/' || strncmp(group + n + 1, sub, m) != 0)
                return false;
        return !group[n + 1 + m] || (below_too && group[n + 1 + m] == '/');
}

enum sg_membership sg_scope_membership(const struct sg_scope *s, enum sg_hier hier,
                                       const char *group)
{
        for (size_t i = 0; i < s->n_dirs; i++) {
                if (s->dirs[i].hier != hier || !s->cg[i])
                        continue;
                if (sg_group_is_in(group, s->cg[i], "job", true))
                        return SG_MEMBER_JOB;
                if (sg_group_is_in(group, s->cg[i], "keeper", false))
                        return SG_MEMBER_KEEPER;
        }
        return SG_MEMBER_NOT;
}

struct collecting {
        pid_t *pids;
        size_t n, room;
};

static int collect(pid_t pid, void *userdata)
{
        struct collecting *c = userdata;

        c->pids[c->n++] = pid;
        return c->n == c->room;
}

size_t sg_scope_pids(const struct sg_scope *s, pid_t *pids, size_t room)
{
        struct collecting c = {.pids = pids, .room = room};
        char group[PATH_MAX];

        if (s->n_dirs == 0 || room == 0)
                return 0;
        /* of those that others made, all is the job */
        if (sg_group_join(group, s->dirs[0].path, s->cg[0] ? "job" : ".") == 0)
                (void)sg_group_foreach_pid(group, collect, &c);
        return c.n;
}
