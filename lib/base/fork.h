/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Processes that are born in a v2 group. One that is moved by cgroup.procs takes a lock against
 * every fork and exit of the machine, for which an otherwise idle kernel waits out an RCU grace
 * period: 10 to 30 ms. One that is born in its group takes none.
 *
 * Both return -errno also where the kernel or the group can't do that, and then a plain fork may
 * still work. `group` is an fd of the group's directory. For programs of one thread.
 */

#include <sys/types.h>

/* As fork(2). */
pid_t sg_fork_into(int group);

/*
 * Runs child(arg), which ends in exec or _exit, while the caller sleeps, as with vfork(2): it
 * borrows the caller's memory, so it must change nothing there. Where we can't give it a stack of
 * its own it gets a copy of the memory, which costs a third of a millisecond in a daemon.
 */
pid_t sg_spawn_into(int group, void (*child)(void *arg), void *arg);

/* What a program is given besides: */
enum {
        SG_SPAWN_SESSION = 1 << 0,     /* a session of its own: no signal of ours reaches it */
        SG_SPAWN_ENVIRONMENT = 1 << 1, /* ours */
        SG_SPAWN_STDERR = 1 << 2,      /* ours */
};

/*
 * Starts a program with nothing of the caller's but one descriptor, which becomes number `as` (3 or
 * above), and what `more` says: no environment, /dev/null as standard streams, no signal blocked or
 * ignored. What else is open has to be CLOEXEC. -errno also when it can't be executed.
 */
int sg_spawn_bare(const char *program, char *const argv[], int fd, int as, unsigned more,
                  pid_t *ret);
