/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A group that somebody else made, as a scope that is looked at and never written to; what its
 * processes tell of it; and what systemd can be asked for when it is a unit of a class of ours. */

#include "edge/cgroup/watch.h"

struct sg_unit_request {
        const char *unit;
        const char *class; /* whose slice it is in, NULL = none of ours */
        uint64_t class_weight;
};

/*
 * Its own group stands for both of a scope's: counters, populated and frozen work. With a unit, and
 * systemd as the backend, limits are the unit's properties, SIGTERM is StopUnit, SIGKILL goes to
 * all of its processes, and a thaw is asked for; all else that would write is -EOPNOTSUPP. The
 * counters that were read last stay after its end.
 */
int sg_scope_observe(struct sg_scope **ret, struct sg_backend *b, const struct sg_watched *g,
                     const struct sg_unit_request *unit);
/* What is in force, by the kernel's files. */
void sg_scope_read_limits(const struct sg_scope *s, struct sg_limits *ret);

/* The group of schedgov.slice, below the mount; NULL without systemd. */
const char *sg_backend_slice(const struct sg_backend *b);

/* FreezeUnit, ThawUnit, or KillUnit with a signal, of an observed unit: done() will be called, at
 * the latest by sg_scope_free(). */
int sg_unit_call(struct sg_scope *s, const char *method, int sig, sg_scope_done_cb done,
                 void *userdata);

/* Whether a process of that user could signal all of its processes by kill(2): systemd may. */
bool sg_unit_is_signalable(const struct sg_scope *s, uid_t uid);

/* What systemd knows of a unit. Asking loads it for a moment if it isn't there. */
struct sg_unit_facts {
        char invocation[SG_INVOCATION_ID_MAX]; /* "": it isn't loaded */
        char state[32];                        /* "active", "inactive", "failed" … */
        char result[32];                       /* "success", "exit-code", "oom-kill" … */
        int32_t main_code, main_status;        /* of a service: as of waitid(2) */
        char *group;                           /* heap: "/x.slice/y.scope", or NULL */
};
/* Facts are lent for the call; NULL: systemd has refused to say, and why, or (`why` is NULL, too)
 * its answer can't be read. */
typedef void (*sg_unit_facts_cb)(const struct sg_unit_facts *facts, const char *why,
                                 void *userdata);
/* Calls back once, from the loop, unless the question is freed before. -ENOTCONN: systemd can't be
 * asked at the moment; -EOPNOTSUPP: there is none. */
struct sg_unit_question;
int sg_unit_ask(struct sg_unit_question **ret, struct sg_backend *b, const char *unit,
                sg_unit_facts_cb answered, void *userdata);
struct sg_unit_question *sg_unit_question_free(struct sg_unit_question *q);

/* What tells this group from a later one of its name: systemd's InvocationID where the group bears
 * it, else its inode. systemd marks the group of a scope some time after its process came in, so
 * that group may be known by its inode at first. True: it is systemd's. */
bool sg_watched_identity(const struct sg_watched *g, char ret[SG_INVOCATION_ID_MAX]);
/* Whether that is its identity, or was at first. */
bool sg_watched_is(const struct sg_watched *g, const char *identity);

struct sg_member {
        pid_t pid;
        uid_t uid; /* real ids */
        gid_t gid;
        uint64_t started_usec; /* realtime */
        char command[512];     /* as /proc has it: words, each with its NUL */
        size_t command_size;
};
/* Its process with the smallest pid. -ESRCH: it has none. */
int sg_watched_member(const struct sg_watched *g, struct sg_member *ret);
