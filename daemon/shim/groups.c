/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joining the groups that the daemon made: the shim itself and its child, whose pid can't be stale
 * as long as nobody has waited for it. */

#include "shim/groups.h"
#include "base/file.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>

int sg_groups_join(const struct sg_spec *s, const char *name, pid_t pid)
{
        char group[PATH_MAX], procs[PATH_MAX];
        char digits[16];
        int r;

        (void)snprintf(digits, sizeof(digits), "%d", pid);
        for (size_t i = 0; i < s->n_dirs; i++) {
                r = sg_path_join(group, sizeof(group), s->dirs[i].path, name);
                if (r < 0)
                        return r;
                r = sg_path_join(procs, sizeof(procs), group, "cgroup.procs");
                if (r < 0)
                        return r;
                r = sg_write_file(AT_FDCWD, procs, digits);
                if (r < 0)
                        return r;
        }
        return 0;
}
