/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/gpu/spawn.h"
#include "base/cleanup.h"
#include "base/fork.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static int check_owner(int fd)
{
        struct ucred cred;
        socklen_t size = sizeof(cred);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
                return -errno;
        return cred.uid == 0 ? 0 : -EPERM;
}

int sg_gpu_connect(const char *path, int *ret_fd)
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        _cleanup_close_ int fd = -1;
        int r;

        if (strlen(path) >= sizeof(sa.sun_path))
                return -ENAMETOOLONG;
        strcpy(sa.sun_path, path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return -errno;
        r = check_owner(fd);
        if (r < 0)
                return r;
        *ret_fd = TAKE_FD(fd);
        return 0;
}

int sg_gpu_spawn(const char *program, int *ret_fd, pid_t *ret_pid, int *ret_pidfd)
{
        /* The number is SG_GPU_FD. */
        char *const argv[] = {(char *)"schedgov-gpu", (char *)"--fd", (char *)"3", NULL};
        _cleanup_close_ int ours = -1, theirs = -1;
        int pair[2], pidfd, r;
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        theirs = pair[1];
        if (fcntl(ours, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
                return -errno;
        r = sg_spawn_bare(program, argv, theirs, SG_GPU_FD,
                          SG_SPAWN_SESSION | SG_SPAWN_ENVIRONMENT | SG_SPAWN_STDERR, &pid);
        if (r < 0)
                return r;
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0) /* it ends by itself, as our end is closed */
                return -errno;
        *ret_fd = TAKE_FD(ours);
        *ret_pid = pid;
        *ret_pidfd = pidfd;
        return 0;
}
