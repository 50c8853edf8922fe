/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the backends behind cgroup.h share. `struct sg_backend` and `struct sg_scope` are owned by
 * cgroup.c; systemd/, fs.c and observe.c are the implementations, the other files are parts of
 * them: layout (where are we), v2 (controllers of the unified tree), group (one
 * directory), limits, signal.
 */

#include "edge/cgroup/cgroup.h"
#include <limits.h>

struct sg_hierarchy {
        bool usable;        /* groups can be made below `own` */
        bool base_made;     /* `base` exists and is ready for class groups */
        enum sg_hier here;  /* co-mounted controllers: the one that stands for the mount */
        char *mount;        /* mount point */
        char *own, *own_cg; /* our own group: its directory, and as /proc/PID/cgroup names it */
        char *base;         /* own/schedgov-INSTANCE */
};

/* Controllers of the unified tree that we look at. */
enum sg_controller {
        SG_CONTROLLER_CPU,
        SG_CONTROLLER_MEMORY,
        SG_CONTROLLER_PIDS,
        SG_CONTROLLER_CPUSET,
        SG_CONTROLLER_IO,
        _SG_CONTROLLER_MAX,
};
extern const char *const sg_controller_names[_SG_CONTROLLER_MAX];

/* The groups of a class. */
struct sg_class_group {
        struct sg_list list;
        char name[SG_CLASS_NAME_MAX + 1];
        uint64_t weight; /* in force */
        uint32_t made;   /* bits of enum sg_hier */
        /* systemd only */
        unsigned n_scopes;
        bool held; /* its slice and holder have been asked for */
        struct sg_systemd *systemd;
};

struct sg_leftover {
        char attempt[SG_ATTEMPT_NAME_MAX];
        char class[NAME_MAX + 1];
};

struct sg_backend {
        const struct sg_backend_ops *ops;
        char *instance, *describe;
        uint32_t unenforced;
        struct sg_hierarchy hier[SG_HIER_MAX];
        uint32_t v2_controllers;    /* bits of enum sg_controller that class groups can use */
        uint32_t v2_enabled;        /* those that we switched on in our own group */
        uint32_t default_hiers;     /* bits: where every scope has groups */
        enum sg_hier list_hier;     /* where processes are listed and counted as there or not */
        enum sg_hier freeze_hier;   /* SG_HIER_MAX: no freezer */
        bool device_programs;       /* else devices of v1, if usable */
        const char *io_weight_file; /* NULL: no block device here honours a weight */
        struct sg_list classes;
        struct sg_leftover *leftovers;
        size_t n_leftovers;
        struct sg_systemd *systemd;
        struct sg_net_bpf *net; /* cgroupfs only; NULL: network bytes aren't counted */
};

/* A process that may be gone: the start time tells a recycled pid. */
struct sg_process {
        pid_t pid;
        uint64_t start;
};

/* What observe knows of a scope. */
struct sg_observed {
        struct sg_process shim, main;
        bool stopped;
        uint64_t memory_peak;
};

struct sg_scope {
        struct sg_backend *backend;
        const struct sg_backend_ops *ops; /* the backend's, but for adopted units */
        struct sg_class_group *class;
        char *name;                /* cgroupfs only: of its groups */
        struct sg_group_dir *dirs; /* as many as there are: of thousands of jobs each byte counts */
        size_t n_dirs;
        char **cg; /* parallel to dirs: as /proc/PID/cgroup names it, or NULL; may be the end of
                      that path */
        struct sg_limits limits;
        const struct sg_cpuset *cpus; /* its own set; NULL: it has none */
        struct sg_device_list devices;
        bool devices_known; /* they are in force; else a former daemon's may be */
        uint32_t unenforced;
        struct sg_observed *observed; /* observe only */
        struct sg_unit *unit;         /* systemd only */
        uint64_t net_id;              /* cgroupfs only: 0 = not known yet */
};

struct sg_backend_ops {
        const char *name;
        int (*start)(struct sg_backend *b, const struct sg_backend_options *o, char **ret_why);
        void (*stop)(struct sg_backend *b);
        int (*scope_new)(struct sg_scope *s, const struct sg_scope_request *req, char **ret_why);
        int (*scope_adopt)(struct sg_scope *s, const struct sg_scope_request *req);
        void (*scope_free)(struct sg_scope *s); /* may be NULL, as the next */
        int (*scope_place)(struct sg_scope *s, const struct sg_scope_placing *p);
        int (*scope_begin)(struct sg_scope *s, const struct sg_limits *l,
                           const struct sg_cpuset *cpus); /* if there is that */
        int (*scope_remove)(struct sg_scope *s);
        int (*scope_move)(struct sg_scope *s, pid_t pid, bool into_job);
        int (*scope_holds)(const struct sg_scope *s, pid_t pid, bool in_job);
        int (*scope_set_limits)(struct sg_scope *s, const struct sg_limits *l,
                                const struct sg_cpuset *cpus, char **ret_why);
        /* In its place, where the answer comes later. */
        int (*scope_ask_limits)(struct sg_scope *s, const struct sg_limits *l,
                                const struct sg_cpuset *cpus, sg_scope_done_cb done, void *userdata,
                                char **ret_why);
        /* s->devices are to be in force in place of `old`, or of what is not known (NULL). This and
         * the next may be NULL. */
        int (*scope_set_devices)(struct sg_scope *s, const struct sg_device_list *old,
                                 char **ret_why);
        int (*class_set_weight)(struct sg_backend *b, const char *class, uint64_t weight,
                                char **ret_why);
        int (*scope_freeze)(struct sg_scope *s, bool frozen);
        int (*scope_frozen)(const struct sg_scope *s);
        int (*scope_signal)(struct sg_scope *s, int sig, const uid_t *as); /* NULL: to all */
        int (*scope_populated)(const struct sg_scope *s);
        void (*scope_counters)(struct sg_scope *s, struct sg_counters *ret);
        /* -ENODATA: not known (yet). May be NULL. */
        int (*scope_net)(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx);
        int (*sweep)(struct sg_backend *b, sg_owned_cb owned, void *userdata);
};
extern const struct sg_backend_ops sg_cgroupfs_ops, sg_observe_ops; /* and sg_systemd_ops */

/* cgroup.c */

/* Takes both strings, also on failure (-ENOMEM). cg is as /proc/PID/cgroup names the group; NULL:
 * not known. */
int sg_scope_put_dir(struct sg_scope *s, enum sg_hier h, char *path, char *cg);
void sg_scope_drop_dir(struct sg_scope *s, size_t i); /* frees them; n_dirs is the caller's */

/* The class of that name; NULL if it isn't there, or made. */
struct sg_class_group *sg_class_group_find(const struct sg_backend *b, const char *name);
int sg_class_group_get(struct sg_backend *b, const char *name, struct sg_class_group **ret);

static inline uint32_t sg_bit(unsigned n)
{
        return UINT32_C(1) << n;
}

/* The reason is best effort: without memory there is none. A reason that is there already stays. */
void sg_why(char **why, const char *format, ...) __attribute__((format(printf, 2, 3)));
