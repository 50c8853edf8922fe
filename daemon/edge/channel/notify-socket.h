/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * NOTIFY_SOCKET of jobs, one for each attempt, which only its user can reach, and one for all who
 * have none: datagrams as of sd_notify(3), in core/reports/notify-text.h's words. Who
 * sent one is the kernel's word (SCM_CREDENTIALS); which job that is, is told by the sender's
 * control group. A sender that has gone before its datagram is looked at can't be told any more:
 * systemd-notify waits (BARRIER=1), programs that stay needn't.
 *
 * Job-facing: work per wake-up and wake-ups per second are bounded, so a flood costs the daemon a
 * bounded part of a CPU. It takes the places of the kernel's queue (net.unix.max_dgram_qlen) from
 * those only who have the same socket; the sockets have their turns.
 */

#include "core/reports/notify-text.h"
#include "proto/job-key.h"
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct sg_notify_socket;

struct sg_notify_sender {
        pid_t pid; /* root's programs may name another process, as systemd-notify does: its parent
                    */
        uid_t uid;
        const char *group;    /* in the v2 tree, from its root; "" where there is none */
        const char *group_v1; /* in the v1 hierarchy that was chosen, "" likewise */
};

enum sg_notify_who {
        SG_NOTIFY_NOBODY, /* no job's process, or a user who has no say in that job: dropped */
        SG_NOTIFY_JOB,    /* a process of the job */
        SG_NOTIFY_KEEPER, /* its shim, the parent that a root's systemd-notify may name */
};

struct sg_notify_socket_options {
        const char *path;          /* that for all, replaced if it is there; mode 0666 */
        const char *v1_controller; /* whose v1 group to tell, e.g. "memory"; NULL: none */
        /* Finds the job by the group, or a group above it, and checks that the uid is the job's or
         * root. The answer is kept for a second. */
        enum sg_notify_who (*lookup)(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                                     void *userdata);
        /* The message is borrowed for the call. */
        void (*on_message)(const struct sg_job_key *key, const struct sg_notify *message,
                           void *userdata);
        void *userdata;
};

/* The strings of the options are copied. */
int sg_notify_socket_new(struct sg_notify_socket **ret, sd_event *event,
                         const struct sg_notify_socket_options *o);
struct sg_notify_socket *sg_notify_socket_free(struct sg_notify_socket *n); /* removes the path */

/* A socket for this job alone, at this path, if it hasn't one yet: only this user can reach it (by
 * an access control list, as we may not be allowed to give files away; where there are none, all
 * can), and only the job's processes are heard there. It goes when the job is forgotten. */
int sg_notify_socket_admit(struct sg_notify_socket *n, const struct sg_job_key *key,
                           const char *path, uid_t uid);
bool sg_notify_socket_has(const struct sg_notify_socket *n, const struct sg_job_key *key);

/* Signals the processes of that job which asked for it by SCHEDGOV_ALLOCATION_SIGNAL=; those that
 * have gone are forgotten. How many were signalled. */
unsigned sg_notify_socket_signal(struct sg_notify_socket *n, const struct sg_job_key *key);
/* At the end of an attempt. */
void sg_notify_socket_forget(struct sg_notify_socket *n, const struct sg_job_key *key);
