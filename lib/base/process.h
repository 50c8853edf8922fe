/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the kernel says of a process in /proc/PID/stat. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sg_process_stat {
        char state;
        bool exiting; /* it will not run its program any more */
        pid_t parent;
        int terminal;                /* its number, 0 = none */
        uint64_t start;              /* in ticks since boot; together with the pid it names the
                                        process */
        uint64_t ticks, child_ticks; /* CPU time: its own, and its dead children's */
        uint64_t threads, rss_pages;
};

/* -ESRCH if there is none; a zombie is one. */
int sg_process_stat(pid_t pid, struct sg_process_stat *ret);
/* Time since the process began, on a clock that can't be set. */
int sg_process_age_usec(pid_t pid, uint64_t *ret);
/* The users that a process runs as. -ESRCH if there is none. */
struct sg_process_owner {
        uid_t real, effective, saved;
};
int sg_process_owner(pid_t pid, struct sg_process_owner *ret);
/* Whether all of a process's users are uid, so that it can't take up another one's rights. */
bool sg_process_is_of(pid_t pid, uid_t uid);
/* Whether kill(2) would let a process of that user signal it. */
bool sg_process_may_be_signalled(pid_t pid, uid_t uid);

/* Whether the process is more than a zombie. */
static inline bool sg_process_is_alive(const struct sg_process_stat *p)
{
        return p->state != 'Z' && p->state != 'X';
}
