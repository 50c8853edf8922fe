/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/gpu/spawn.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

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

static int set_signals(posix_spawnattr_t *attr)
{
        sigset_t set;
        int r;

        (void)sigemptyset(&set);
        r = posix_spawnattr_setsigmask(attr, &set);
        (void)sigfillset(&set);
        if (r == 0)
                r = posix_spawnattr_setsigdefault(attr, &set);
        if (r == 0)
                r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                           POSIX_SPAWN_SETSID);
        return -r;
}

static int set_files(posix_spawn_file_actions_t *files, int fd)
{
        int r = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);

        if (r == 0)
                r = posix_spawn_file_actions_adddup2(files, 0, 1);
        if (r == 0)
                r = posix_spawn_file_actions_adddup2(files, fd, SG_GPU_FD);
        return -r;
}

static int spawn(const char *program, int fd, pid_t *ret)
{
        /* (the number is SG_GPU_FD) */
        char *const argv[] = {(char *)"schedgov-gpu", (char *)"--fd", (char *)"3", NULL};
        posix_spawn_file_actions_t files;
        posix_spawnattr_t attr;
        int r;

        r = -posix_spawn_file_actions_init(&files);
        if (r < 0)
                return r;
        r = -posix_spawnattr_init(&attr);
        if (r < 0) {
                (void)posix_spawn_file_actions_destroy(&files);
                return r;
        }
        r = set_files(&files, fd);
        if (r == 0)
                r = set_signals(&attr);
        if (r == 0)
                r = -posix_spawn(ret, program, &files, &attr, argv, environ);
        (void)posix_spawnattr_destroy(&attr);
        (void)posix_spawn_file_actions_destroy(&files);
        return r;
}

int sg_gpu_spawn(const char *program, int *ret_fd, pid_t *ret_pid, int *ret_pidfd)
{
        _cleanup_close_ int ours = -1, theirs = -1;
        int pair[2], pidfd, r;
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        theirs = pair[1];
        if (fcntl(ours, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
                return -errno;
        r = spawn(program, theirs, &pid);
        if (r < 0)
                return r;
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0) { /* it ends by itself, as our end is closed */
                r = -errno;
                return r;
        }
        *ret_fd = TAKE_FD(ours);
        *ret_pid = pid;
        *ret_pidfd = pidfd;
        return 0;
}
