/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * fork() into a v2 group. A process that is moved by cgroup.procs takes a lock against every fork
 * and exit of the machine, for which an otherwise idle kernel waits out an RCU grace period: 10 to
 * 30 ms. One that is born in its group takes none.
 */

#include <stdbool.h>
#include <sys/types.h>

/*
 * As fork(2), in a program of one thread; `group` is an fd of the group's directory. `wait`: the
 * parent sleeps until the child has exec'ed or ended, as with vfork(2), but the child has memory of
 * its own. -errno: also where the kernel or the group can't do that, and then a plain fork may
 * still work.
 */
pid_t sg_fork_into(int group, bool wait);
