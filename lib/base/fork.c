/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/fork.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

/* The kernel's struct clone_args of Linux 5.7; not every C library's headers come with it. */
struct clone3_args {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
                set_tid_size, cgroup;
};

pid_t sg_fork_into(int group, bool wait)
{
        const struct clone3_args args = {
                .flags = CLONE_INTO_CGROUP | (wait ? CLONE_VFORK : 0),
                .exit_signal = SIGCHLD,
                .cgroup = (uint64_t)group,
        };
        long pid = syscall(SYS_clone3, &args, sizeof(args));

        return pid < 0 ? -errno : (pid_t)pid;
}
