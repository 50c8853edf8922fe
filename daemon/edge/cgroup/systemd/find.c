/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which systemd there is to talk to, where its units are, and what it can enforce. */

#include "base/cleanup.h"
#include "base/file.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/knob.h"
#include "edge/cgroup/layout.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/cgroup/v2.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define BASE_SLICE "schedgov.slice"

/* The manager itself listens there: the kernel says who that is. */
static int manager_pid(bool user, pid_t *ret)
{
        const char *runtime = getenv("XDG_RUNTIME_DIR");
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        _cleanup_close_ int fd = -1;
        socklen_t size = sizeof(struct ucred);
        struct ucred cred;

        if (!user) {
                *ret = 1;
                return 0;
        }
        if (!runtime || (size_t)snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/systemd/private",
                                         runtime) >= sizeof(sa.sun_path))
                return -ENXIO;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
            getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
                return -errno;
        *ret = cred.pid;
        return 0;
}

/* The group above all slices: the manager's own less "init.scope". */
static int find_root(struct sg_hierarchy *x, bool user)
{
        char group[PATH_MAX], *leaf;
        pid_t pid = 0;
        int r;

        r = manager_pid(user, &pid);
        if (r >= 0)
                r = sg_group_of_process(pid, group);
        if (r < 0)
                return r;
        leaf = strrchr(group, '/');
        if (!leaf || strcmp(leaf, "/init.scope") != 0)
                return -ENXIO;
        *leaf = 0;
        free(x->base);
        return asprintf(&x->base, "%s%s/" BASE_SLICE, x->mount, group) < 0
                       ? (x->base = NULL, -ENOMEM)
                       : 0;
}

int sg_systemd_look_around(struct sg_backend *b, bool user, char **why)
{
        struct sg_hierarchy *x = &b->hier[SG_HIER_UNIFIED];
        int r;

        if (access("/run/systemd/system", F_OK) < 0) {
                sg_why(why, "systemd is not running here; use --standalone");
                return -ENOSYS;
        }
        r = sg_layout_discover(b->hier, b->instance);
        if (r < 0)
                return r;
        if (!x->mount || !sg_group_has(x->mount, "cgroup.controllers") ||
            sg_fs_usable(b, SG_HIER_CPU)) {
                sg_why(why, "systemd governs control groups of version 1 here; start the kernel "
                            "with systemd.unified_cgroup_hierarchy=1");
                return -ENXIO;
        }
        if (!user && geteuid() != 0) {
                sg_why(why, "only root can ask the system's manager for units; use --user");
                return -EPERM;
        }
        r = find_root(x, user);
        if (r < 0)
                sg_why(why,
                       user ? "cannot reach your systemd (%s): is XDG_RUNTIME_DIR set, as in "
                              "a login session?"
                            : "systemd is not where it should be: %s",
                       strerror(-r));
        return r;
}

/* Controllers that scopes of this manager can have. */
void sg_systemd_find_unenforced(struct sg_backend *b, bool user)
{
        char root[PATH_MAX];

        (void)snprintf(root, sizeof(root), "%s", b->hier[SG_HIER_UNIFIED].base);
        *strrchr(root, '/') = 0;
        b->v2_controllers = sg_v2_available(root);
        b->io_weight_file = sg_fs_find_io_weight(b, b->v2_controllers & sg_bit(SG_CONTROLLER_IO));
        for (size_t i = 0; i < sg_n_knobs; i++)
                if (!(b->v2_controllers & sg_bit(sg_knobs[i].controller)))
                        b->unenforced |= sg_bit(sg_knobs[i].kind);
        if (!(b->v2_controllers & sg_bit(SG_CONTROLLER_CPUSET)))
                b->unenforced |= sg_bit(SG_LIMIT_CPUSET);
        if (!b->io_weight_file)
                b->unenforced |= sg_bit(SG_LIMIT_IO_WEIGHT);
        if (user)
                b->unenforced |= sg_bit(SG_LIMIT_DEVICES);
}

int sg_systemd_describe(struct sg_backend *b, bool user)
{
        char text[256] = "";

        for (unsigned c = 0; c < _SG_CONTROLLER_MAX; c++)
                if (b->v2_controllers & sg_bit(c))
                        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s",
                                       sg_controller_names[c]);
        if (asprintf(&b->describe, "systemd (%s manager; v2%s)", user ? "the user's" : "the system",
                     text) < 0) {
                b->describe = NULL;
                return -ENOMEM;
        }
        return 0;
}

/* All CPUs, as an explicit value for scopes that have no set of their own. */
void sg_systemd_find_cpus(struct sg_systemd *sd)
{
        char text[4096];

        if (sg_read_line_file(AT_FDCWD, "/sys/devices/system/cpu/possible", text, sizeof(text)) <
                    0 ||
            sg_parse_cpuset(text, &sd->cpus) < 0)
                for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++)
                        sg_cpuset_add(&sd->cpus, cpu);
}
