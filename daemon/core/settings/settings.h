/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Settings: what the files say, as one value that is never changed once it is made: whoever has
 * them has them as const, and other settings replace them whole. While the daemon runs they are
 * those of the files with overrides (overrides.h). This module is the table of sections and keys
 * (table.h), their parsers and defaults; it reads no file (edge/config/config.c does) and gets one
 * (section, key, value) at a time.
 *
 *   node    schedgov.conf, schedgov.conf.d/NAME.conf:  [Node] [Queue] [Gpu] [Logs] [History]
 *                                                      [Metrics] …
 *   classes policy.d/NAME.policy, one class each:      [Match] [Class] [Limits] [Policy] [Growth]
 *                                                      [FlowCon] [Progress] [Adopt]
 */

#include "base/address.h"
#include "core/job/job.h"
#include "core/reports/preset.h"
#include "core/reports/progress-source.h"
#include "core/settings/gpu.h"
#include "core/settings/share.h"
#include <stdbool.h>
#include <stdint.h>

/* Every order of those that wait: its kind, and the name of its sg_order_policy and in policy
 * files. */
#define SG_ORDERS(X)                                                                               \
        X(FIFO, fifo)                                                                              \
        X(PRIORITY, priority)                                                                      \
        X(SJF, sjf)                                                                                \
        X(SRTF, srtf)                                                                              \
        X(EDF, edf)                                                                                \
        X(LAS, las)

#define SG_ORDER_KIND(kind, name) SG_ORDER_##kind,
enum sg_order { SG_ORDERS(SG_ORDER_KIND) _SG_ORDER_MAX };
#undef SG_ORDER_KIND
int sg_order_from_string(const char *name); /* enum sg_order; -EINVAL */

enum sg_visibility {
        SG_SHOW_NONE,
        SG_SHOW_LIST
}; /* of other users' jobs: nothing, or list and status without command */

struct sg_device_allow {
        char *path;     /* "/dev/nvidia0", "char-pts" is not supported */
        char access[4]; /* "rwm" */
};

struct sg_class {
        char name[SG_CLASS_NAME_MAX];
        char *file;        /* where it comes from, NULL = built in */
        uint64_t weight;   /* 1 … SG_WEIGHT_MAX of the class against other classes */
        uint64_t max_jobs; /* running at once, SG_UNLIMITED */
        uint64_t max_jobs_per_user;
        enum sg_order order;
        bool backfill;   /* others may start before a first one that waits for memory */
        bool unbuffered; /* its jobs' Python writes at once, unless they say otherwise */
        struct sg_share_settings share; /* by which its jobs' shares are decided */
        struct sg_limits limits;        /* what a job gets when it asks for nothing */
        struct sg_limits limits_max;    /* what it may ask for; SG_UNLIMITED = anything */
        struct sg_class_gpus gpus;
        bool device_closed;
        struct sg_device_allow *devices;
        size_t n_devices;
        /* Glob patterns, NULL-terminated; NULL = not asked about. With none of the three, and
         * no Gpu=, the class is for those who ask for it by name. */
        char **match_user, **match_group, **match_command;
        /* What others start that is of this class: names of units, paths of groups. */
        char **adopt_units, **adopt_cgroups;
        bool adopt_limits; /* such units outside of our slices get limits, too */
        /* [Progress]: of jobs that say nothing themselves. The first that is set counts. */
        char progress_pattern[SG_PROGRESS_SOURCE_MAX], progress_file[SG_PROGRESS_SOURCE_MAX];
        char progress_preset[SG_PRESET_NAME_MAX]; /* "auto" unless said */
        bool progress_journal;                    /* of adopted units */
        enum sg_goal goal;
};

#define SG_METRICS_DIR_MAX 256

struct sg_settings {
        char hostname[SG_NODE_NAME_MAX]; /* what Name= falls back to */
        /* [Node] */
        char name[SG_NODE_NAME_MAX]; /* default: the host name, given by the caller */
        enum sg_visibility show_others;
        /* [Queue] */
        uint64_t jobs_per_cpu;        /* 4 */
        uint64_t max_jobs;            /* slots of the node; SG_UNLIMITED = jobs_per_cpu × CPUs */
        uint64_t max_queued_per_user; /* 100000 */
        uint64_t max_stored_per_user; /* bytes, 256M */
        uint64_t memory_reserve_pm;   /* 1000 = a tenth stays free */
        uint64_t kill_grace_usec;     /* SIGTERM … SIGKILL, 10 s */
        struct sg_gpu_settings gpu;
        /* [Logs] */
        uint64_t log_max_bytes, log_keep; /* 256M, 1 */
        /* [History] */
        uint64_t history_jobs, history_usec; /* 100000, 365 d */
        /* [Store] */
        bool keep_commands; /* of jobs that have ended: yes */
        /* [Metrics] */
        char metrics_dir[SG_METRICS_DIR_MAX]; /* of the textfile; "" = none */
        struct sg_address metrics_listen;     /* none */
        uint64_t metrics_usec;                /* 15 s, between two textfiles */
        /* [Monitor] */
        uint64_t monitor_usec, monitor_max_usec; /* how often jobs are looked at: 1 s … 30 s */

        const struct sg_class *classes; /* [0] is "default", built in unless a file names it; then
                                           files in order of name */
        size_t n_classes;
};

/* To make settings. A value or key that isn't right gives -EINVAL and one line in *ret_why (heap),
 * without file and line. */
int sg_settings_new(struct sg_settings **ret, const char *hostname); /* the built-in defaults */
int sg_settings_copy(const struct sg_settings *s, struct sg_settings **ret);
struct sg_settings *sg_settings_free(const struct sg_settings *s);
/* Of settings that are being made as well as of those that are. */
static inline void sg_settings_freep(void *s)
{
        (void)sg_settings_free(*(const struct sg_settings **)s);
}

/* One assignment of a node file. An empty value resets to the default; -EINVAL changes nothing. */
int sg_settings_assign(struct sg_settings *s, const char *section, const char *key,
                       const char *value, char **ret_why);

/* A policy file: begin, assign…, end. The class is the caller's until end, which takes it in any
 * case and validates: Name= is there, no other file has that name, no default is above its maximum;
 * its line begins with the key at fault, "[Section] Key=". A class "default" replaces the built-in
 * one. */
int sg_settings_class_begin(struct sg_settings *s, const char *file, struct sg_class **ret);
int sg_settings_class_assign(struct sg_class *c, const char *section, const char *key,
                             const char *value, char **ret_why);
int sg_settings_class_end(struct sg_settings *s, struct sg_class *c, char **ret_why);
struct sg_class *sg_class_free(struct sg_class *c); /* one that was begun and is not wanted */
SG_DEFINE_CLEANUP(struct sg_class *, sg_class_free)

/* To look things up in them. */
const struct sg_class *sg_settings_class(const struct sg_settings *s,
                                         const char *name); /* NULL = none such */
const struct sg_class *sg_settings_default(const struct sg_settings *s);
/* The name of the class that was probably meant; NULL: none. */
const char *sg_settings_nearest_class(const struct sg_settings *s, const char *name);
/* The class by which a job of class `name` is governed: the default class if that one's file has
 * gone. The job keeps its name, its limits and its groups. */
const struct sg_class *sg_settings_class_or_default(const struct sg_settings *s, const char *name);
/* The first class, by name of file, whose [Match] fits (each key given must), else the default
 * class. groups: NULL-terminated names, or NULL. command: the words joined by single spaces. gpus:
 * the job asks for some. */
const struct sg_class *sg_settings_match(const struct sg_settings *s, const char *user,
                                         char *const *groups, const char *command, bool gpus);
/* Whether what their user is called may make a difference for jobs of this class, or for which
 * class is found ("": none is asked for). */
bool sg_settings_mind_names(const struct sg_settings *s, const char *class);
/* Whether this user may ask for the class by name: its User= and Group= fit, where it has them. */
bool sg_class_admits(const struct sg_class *c, const char *user, char *const *groups);
/* The rule by which they may not: "User=bob carol", cut where it is long. False: there is none. */
#define SG_CLASS_RULE_MAX 192
bool sg_class_rule(const struct sg_class *c, const char *user, char *const *groups,
                   char ret[SG_CLASS_RULE_MAX]);
