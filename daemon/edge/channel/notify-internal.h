/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Between the parts of the notify socket: who sent a datagram, and who wants to be signalled. */

#include "edge/channel/notify-socket.h"
#include <stdbool.h>

/* --- notify-sender.c: processes, and the jobs they belong to --- */

/* Looking one up costs a read of /proc; a program that reports often is looked up once a second.
 * Direct-mapped: two that share a place push each other out, and cost what they cost without. */
#define SG_SENDERS_KEPT 64

struct sg_notify_kept {
        pid_t pid; /* 0 = empty */
        uid_t uid;
        uint64_t until_usec;
        enum sg_notify_who who;
        struct sg_job_key key;
};

struct sg_notify_senders {
        struct sg_notify_kept kept[SG_SENDERS_KEPT];
        const struct sg_notify_socket_options *options;
};

enum sg_notify_who sg_notify_senders_find(struct sg_notify_senders *s, pid_t pid, uid_t uid,
                                          uint64_t now_usec, struct sg_job_key *ret);
/* As above, by what is the case at this moment, and not by what is remembered. */
enum sg_notify_who sg_notify_senders_ask(const struct sg_notify_senders *s, pid_t pid, uid_t uid,
                                         struct sg_job_key *ret);
void sg_notify_senders_forget(struct sg_notify_senders *s, const struct sg_job_key *key);

bool sg_notify_same_job(const struct sg_job_key *a, const struct sg_job_key *b);

/* --- notify-signal.c: processes that asked to be signalled --- */

#define SG_SIGNALLED_PER_JOB 16
#define SG_SIGNALLED_MAX 512 /* each holds a pidfd */

struct sg_notify_wish {
        struct sg_job_key key;
        pid_t pid;
        int pidfd;
        int signal;
};

struct sg_notify_wishes {
        struct sg_notify_wish *wishes;
        size_t n, allocated;
};

void sg_notify_wishes_deinit(struct sg_notify_wishes *w);
/* pidfd is taken over, whatever the result; signal 0 takes an earlier wish back. -ENOSPC where a
 * job, or all of them, have too many. */
int sg_notify_wishes_set(struct sg_notify_wishes *w, const struct sg_job_key *key, pid_t pid,
                         int pidfd, int signal);
unsigned sg_notify_wishes_fulfil(struct sg_notify_wishes *w, const struct sg_job_key *key);
void sg_notify_wishes_forget(struct sg_notify_wishes *w, const struct sg_job_key *key);
