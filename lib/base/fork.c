/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/fork.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLONE_INTO_CGROUP
#define CLONE_INTO_CGROUP 0x200000000ULL
#endif

/* The sanitizers keep books on the stacks that they know. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SHARED_MEMORY 1
#else
#define SHARED_MEMORY 0
#endif

/* The kernel's struct clone_args of Linux 5.7; not every C library's headers come with it. */
struct clone3_args {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid,
                set_tid_size, cgroup;
};

static pid_t fork_into(int group, uint64_t flags)
{
        const struct clone3_args args = {
                .flags = CLONE_INTO_CGROUP | flags,
                .exit_signal = SIGCHLD,
                .cgroup = (uint64_t)group,
        };
        long pid = syscall(SYS_clone3, &args, sizeof(args));

        return pid < 0 ? -errno : (pid_t)pid;
}

pid_t sg_fork_into(int group)
{
        return fork_into(group, 0);
}

#if SHARED_MEMORY
/* No C library has clone3(2) with a stack, and syscall(2) can't return on another one. */
pid_t sg_spawn_into(int group, void (*child)(void *arg), void *arg)
{
        static _Alignas(16) char stack[64 * 1024];
        const struct clone3_args args = {
                .flags = CLONE_INTO_CGROUP | CLONE_VM | CLONE_VFORK,
                .exit_signal = SIGCHLD,
                .stack = (uint64_t)(uintptr_t)stack,
                .stack_size = sizeof(stack),
                .cgroup = (uint64_t)group,
        };
        register void (*run)(void *) __asm__("r12") = child;
        register void *with __asm__("r13") = arg;
        long pid;

        __asm__ volatile("syscall\n\t"
                         "testq %%rax, %%rax\n\t"
                         "jnz 1f\n\t"
                         "xorl %%ebp, %%ebp\n\t"
                         "movq %%r13, %%rdi\n\t"
                         "callq *%%r12\n\t"
                         "hlt\n"
                         "1:"
                         : "=a"(pid)
                         : "0"((long)SYS_clone3), "D"(&args), "S"(sizeof(args)), "r"(run), "r"(with)
                         : "rcx", "r11", "memory");
        return (pid_t)pid;
}
#else
pid_t sg_spawn_into(int group, void (*child)(void *arg), void *arg)
{
        pid_t pid = fork_into(group, CLONE_VFORK);

        if (pid == 0) {
                child(arg);
                _exit(127);
        }
        return pid;
}
#endif

static int set_bare_files(posix_spawn_file_actions_t *files, int fd, int as, unsigned more)
{
        int r, last = more & SG_SPAWN_STDERR ? 1 : 2;

        r = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
        for (int to = 1; r == 0 && to <= last; to++)
                r = posix_spawn_file_actions_adddup2(files, 0, to);
        if (r == 0)
                r = posix_spawn_file_actions_adddup2(files, fd, as);
        return -r;
}

static int set_bare_signals(posix_spawnattr_t *attr, unsigned more)
{
        int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                    (more & SG_SPAWN_SESSION ? POSIX_SPAWN_SETSID : 0);
        sigset_t set;
        int r;

        (void)sigemptyset(&set);
        r = posix_spawnattr_setsigmask(attr, &set);
        (void)sigfillset(&set);
        if (r == 0)
                r = posix_spawnattr_setsigdefault(attr, &set);
        if (r == 0)
                r = posix_spawnattr_setflags(attr, (short)flags);
        return -r;
}

int sg_spawn_bare(const char *program, char *const argv[], int fd, int as, unsigned more,
                  pid_t *ret)
{
        static char *const none[] = {NULL};
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
        r = set_bare_files(&files, fd, as, more);
        if (r == 0)
                r = set_bare_signals(&attr, more);
        if (r == 0)
                r = -posix_spawn(ret, program, &files, &attr, argv,
                                 more & SG_SPAWN_ENVIRONMENT ? environ : none);
        (void)posix_spawnattr_destroy(&attr);
        (void)posix_spawn_file_actions_destroy(&files);
        return r;
}
