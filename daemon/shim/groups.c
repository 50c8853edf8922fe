/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Joining the groups that the daemon made. Each process moves itself ("0"): no pid can be stale. */

#include "shim/groups.h"
#include "base/file.h"
#include <fcntl.h>
#include <limits.h>

int sg_groups_join(const struct sg_spec *s, const char *name)
{
        char group[PATH_MAX], procs[PATH_MAX];
        int r;

        for (size_t i = 0; i < s->n_dirs; i++) {
                r = sg_path_join(group, sizeof(group), s->dirs[i].path, name);
                if (r < 0)
                        return r;
                r = sg_path_join(procs, sizeof(procs), group, "cgroup.procs");
                if (r < 0)
                        return r;
                r = sg_write_file(AT_FDCWD, procs, "0");
                if (r < 0)
                        return r;
        }
        return 0;
}
