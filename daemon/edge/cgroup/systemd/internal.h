/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Inside of the systemd backend. systemd owns the tree: a scope's limits are properties of its unit
 * and are read back from the kernel's files, never written there. Ours are the two groups below a
 * scope, which is delegated to us for that.
 */

#include "core/measure/net-count.h"
#include "core/place/changes.h"
#include "core/place/pace.h"
#include "edge/cgroup/backend.h"
#include "edge/common/bus-connection.h"
#include <limits.h>

struct sg_systemd {
        struct sg_backend *backend;
        sd_event *event;
        struct sg_bus_connection *connection;
        bool user;
        char suffix[40];       /* ".INSTANCE", or empty */
        char *own_unit;        /* the service that we are, or NULL */
        struct sg_cpuset cpus; /* all that there are */
        struct sg_list units;
        struct sg_list placing;  /* units, in the order they were asked for */
        struct sg_pace pace;     /* of them, those that systemd is busy with; monotonic clock */
        sd_bus_slot *jobs_match; /* while something is in flight: JobRemoved */
        sd_event_source *next_timer, *idle_timer;
        struct sg_changes changes; /* of limits */
        sd_event_source *changes_source;
        struct sg_list net_waiting; /* units, to be asked for their network bytes */
        struct sg_net_counts net_counts;
};

enum sg_unit_step {
        SG_UNIT_IDLE,
        SG_UNIT_WAITING,  /* for its turn, or for systemd */
        SG_UNIT_CALLED,   /* its turn has come: what is it to begin with? */
        SG_UNIT_STARTING, /* StartTransientUnit was sent: the reply, then the end of systemd's job
                           */
        SG_UNIT_LOOKING,  /* it isn't where it should be: where is it? */
        SG_UNIT_STOPPING, /* it doesn't hold its shim: once more from the beginning */
};

/* Network bytes: one question at a time, of two calls. */
struct sg_unit_net {
        struct sg_net_count count;
        struct sg_list waiting;          /* systemd.net_waiting */
        sd_bus_slot *slots[SG_NET_WAYS]; /* in flight */
        uint64_t answer[SG_NET_WAYS];
        bool failed, switched_on;
};

struct sg_unit {
        struct sg_list all;          /* systemd.units */
        struct sg_list link;         /* systemd.placing */
        struct sg_changing changing; /* its limits */
        struct sg_cpuset cpus;       /* scope.cpus */
        struct sg_list calls;        /* others, of a unit that was adopted */
        struct sg_scope *scope;
        struct sg_systemd *systemd;
        char name[SG_UNIT_NAME_MAX]; /* "schedgov-N-ORIGIN-ATTEMPT.INSTANCE.scope" */
        char *description;
        uint64_t stop_usec;

        enum sg_unit_step step;
        struct sg_pace_setbacks setbacks;
        bool stale; /* limits were changed while it was being placed */
        bool switched_on;
        bool devices_due, devices_refused;
        sd_bus_slot *devices_slot;
        struct sg_scope_placing placing; /* pidfd: ours, until it is placed */
        uint64_t asked_usec;
        sd_bus_slot *slot;
        sd_event_source *arrival; /* while it is made: of its slice, then its own group */
        void (*on_arrival)(struct sg_unit *u);
        struct sg_unit_net net;
};

/* systemd.c */
/* A unit for the scope, not placed, that counts for the class (which keeps its holder). */
int sg_unit_new(struct sg_scope *s, const char *class);
void sg_unit_free(struct sg_scope *s);

/* find.c */
/* Sets hier[UNIFIED].base to schedgov.slice; -errno with why if this is no place for
 * the backend. */
int sg_systemd_look_around(struct sg_backend *b, bool user, char **why);
void sg_systemd_find_unenforced(struct sg_backend *b, bool user);
void sg_systemd_find_cpus(struct sg_systemd *sd);
int sg_systemd_describe(struct sg_backend *b, bool user);

/* place.c */
int sg_unit_place(struct sg_scope *s, const struct sg_scope_placing *p);
int sg_unit_begin(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus);
void sg_unit_forget_place(struct sg_unit *u);
/* Soon, but not from within: what is due is sent, and whose turn it is is called. */
void sg_systemd_next(struct sg_systemd *sd);
void sg_systemd_later(struct sg_systemd *sd); /* … in a moment */
void sg_systemd_retry(struct sg_systemd *sd); /* the connection went away: all over again */
/* The controllers of its groups, which the kernel allows once nobody is left in the scope's own. */
void sg_unit_switch_on(struct sg_scope *s);
/* Takes the scope's directories from what systemd or the kernel calls its group. */
int sg_unit_set_group(struct sg_scope *s, const char *control_group);

/* arrival.c */
/* Where the class's slice has the scope. */
int sg_unit_expected_dir(const struct sg_unit *u, char dir[PATH_MAX]);
/* Calls back as often as something comes or goes in the scope, until it is forgotten; maybe never.
 * From within the unit may be freed. */
void sg_unit_await_arrival(struct sg_unit *u, void (*on_arrival)(struct sg_unit *));
void sg_unit_forget_arrival(struct sg_unit *u);

/* class.c */
void sg_class_slice_name(char buf[SG_UNIT_NAME_MAX], const char *class);
/* Back: -EINVAL for what is no slice of a class. */
int sg_class_of_slice(char buf[SG_CLASS_NAME_MAX], const char *slice);
void sg_class_holder_name(char buf[SG_UNIT_NAME_MAX], const struct sg_systemd *sd,
                          const char *class);
/* Its slice, with that weight, and in it the holder: asked for ahead of what needs them. */
void sg_class_group_hold(struct sg_systemd *sd, struct sg_class_group *c);
void sg_class_group_set_weight(struct sg_systemd *sd, struct sg_class_group *c, uint64_t weight);
/* Of the backend. */
int sg_class_group_change_weight(struct sg_backend *b, const char *class, uint64_t weight,
                                 char **ret_why);
void sg_class_group_release_idle(
        struct sg_systemd *sd); /* stops the holders of classes without jobs */

/* limits.c */
/* Of a unit that isn't there yet: what it is to begin with. */
void sg_unit_keep_limits(struct sg_scope *s, const struct sg_limits *l,
                         const struct sg_cpuset *cpus);
int sg_unit_ask_limits(struct sg_scope *s, const struct sg_limits *l, const struct sg_cpuset *cpus,
                       sg_scope_done_cb done, void *userdata, char **ret_why);
void sg_unit_forget_changes(struct sg_unit *u);
void sg_systemd_send_changes(struct sg_systemd *sd); /* those that may be sent now */
/* Sends all limits again, for nobody's answer. */
void sg_unit_reapply(struct sg_scope *s);

/* foreign-call.c */
void sg_unit_forget_calls(struct sg_unit *u);

/* device.c */
int sg_unit_set_devices(struct sg_scope *s, const struct sg_device_list *old, char **ret_why);
void sg_unit_adopt_devices(struct sg_scope *s);  /* of a scope that outlived the daemon */
void sg_systemd_send_due(struct sg_systemd *sd); /* what could not be sent, or got no answer */

/* net.c */
int sg_unit_net(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx); /* of the backend */
void sg_unit_forget_net(struct sg_unit *u);
