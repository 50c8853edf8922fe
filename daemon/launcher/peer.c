/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launcher/peer.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

#define CGROUP_FILE_MAX 65536

static bool is_slice(const char *name, size_t length)
{
        static const char suffix[] = ".slice";
        const size_t n = sizeof(suffix) - 1;

        return length > n && memcmp(name + length - n, suffix, n) == 0;
}

/* Only below slices: whoever systemd has delegated a group to may make one of that name within it,
 * too. */
static bool path_is_unit(const char *path, size_t length, const char *unit)
{
        const char *end = path + length;

        while (path < end && *path == '/') {
                const char *name = path + 1, *slash = memchr(name, '/', (size_t)(end - name));
                size_t n = (size_t)((slash ? slash : end) - name);

                if (!slash)
                        return n == strlen(unit) && memcmp(name, unit, n) == 0;
                if (!is_slice(name, n))
                        return false;
                path = slash;
        }
        return false;
}

bool sg_peer_cgroup_is(const char *cgroup, const char *unit)
{
        for (const char *line = cgroup; line && *line; line = strchr(line, '\n')) {
                line += *line == '\n';
                if (strncmp(line, "0::", 3) == 0)
                        return path_is_unit(line + 3, strcspn(line + 3, "\n"), unit);
        }
        return false;
}

static bool is_alive(int pidfd)
{
        struct pollfd p = {.fd = pidfd, .events = POLLIN};

        return poll(&p, 1, 0) == 0;
}

/* Before 6.5 the pid may be another's by now; then it never sends what sg_peer_is() lets pass. */
static int open_pidfd(int socket, pid_t pid)
{
        socklen_t size = sizeof(int);
        int fd;

        if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0) {
                (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
                return fd;
        }
        fd = (int)syscall(SYS_pidfd_open, pid, 0);
        return fd < 0 ? -errno : fd;
}

static int check_unit(pid_t pid, const char *unit)
{
        _cleanup_free_ char *cgroup = NULL;
        char path[64];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
        r = sg_read_file(AT_FDCWD, path, CGROUP_FILE_MAX, &cgroup, NULL);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        return sg_peer_cgroup_is(cgroup, unit) ? 0 : -EPERM;
}

int sg_peer_init(struct sg_peer *ret, int socket, const char *unit)
{
        _cleanup_close_ int pidfd = -1;
        struct ucred cred;
        socklen_t size = sizeof(cred);
        int r;

        if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
                return -errno;
        if (cred.uid != geteuid())
                return -EPERM;
        pidfd = open_pidfd(socket, cred.pid);
        if (pidfd < 0)
                return pidfd;
        r = check_unit(cred.pid, unit);
        if (r < 0)
                return r;
        if (!is_alive(pidfd)) /* what was read may be of a later process */
                return -ESRCH;
        *ret = (struct sg_peer){.pid = cred.pid, .pidfd = TAKE_FD(pidfd)};
        return 0;
}

void sg_peer_deinit(struct sg_peer *p)
{
        p->pidfd = sg_close(p->pidfd);
}

bool sg_peer_is(const struct sg_peer *p, pid_t sender)
{
        return sender == p->pid && is_alive(p->pidfd);
}
