/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launcher/start.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/fork.h"
#include "proto/attempt.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int get_option(int socket, int option)
{
        int value;
        socklen_t size = sizeof(value);

        return getsockopt(socket, SOL_SOCKET, option, &value, &size) < 0 ? -errno : value;
}

static int check_gate(int fd)
{
        if (get_option(fd, SO_DOMAIN) != AF_UNIX || get_option(fd, SO_TYPE) != SOCK_SEQPACKET ||
            get_option(fd, SO_ACCEPTCONN) != 0)
                return -EINVAL;
        return 0;
}

/* Opens a directory that only root can have put there or can change. */
static int open_private_dir(int at, const char *name)
{
        _cleanup_close_ int fd = -1;
        struct stat st;

        fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (st.st_uid != geteuid() || (st.st_mode & 07077) != 0)
                return -EPERM;
        return TAKE_FD(fd);
}

static int check_spec(int dir)
{
        struct stat st;

        if (fstatat(dir, "spec", &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 07777) != 0600 ||
            st.st_nlink != 1)
                return -EPERM;
        return st.st_size > 0 ? 0 : -ENODATA;
}

static int check_attempt(const char *state_dir, const char *attempt)
{
        _cleanup_close_ int jobs = -1, dir = -1;
        char path[PATH_MAX];
        int r;

        r = sg_path_join(path, sizeof(path), state_dir, "jobs");
        if (r < 0)
                return r;
        jobs = open_private_dir(AT_FDCWD, path);
        if (jobs < 0)
                return jobs;
        dir = open_private_dir(jobs, attempt);
        return dir < 0 ? dir : check_spec(dir);
}

int sg_starter_start(const struct sg_starter *s, const struct sg_job_key *key, int gate,
                     pid_t *ret_pid, int *ret_pidfd)
{
        char name[SG_ATTEMPT_NAME_MAX], in_jobs[SG_ATTEMPT_NAME_MAX + 5], path[PATH_MAX];
        char *argv[] = {(char *)"schedgov-shim", path, NULL};
        pid_t pid;
        int pidfd, r;

        r = check_gate(gate);
        if (r < 0)
                return r;
        sg_attempt_name_format(name, key);
        r = check_attempt(s->state_dir, name);
        if (r < 0)
                return r;
        (void)snprintf(in_jobs, sizeof(in_jobs), "jobs/%s", name);
        r = sg_path_join(path, sizeof(path), s->state_dir, in_jobs);
        if (r >= 0)
                r = sg_spawn_bare(s->shim, argv, gate, SG_GATE_FD, 0, &pid);
        if (r < 0)
                return r;
        /* The pid can't be another process's: we alone reap it, and not now. Without a pidfd nobody
         * would watch the shim, but a closed gate ends it. */
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0)
                return -errno;
        *ret_pid = pid;
        *ret_pidfd = pidfd;
        return 0;
}
