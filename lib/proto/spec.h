/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the shim is to run: the `spec` record. The submitted part (who, what, where) is stored with
 * the job; when the job ends, all of it is erased but what sg_spec_is_kept() names. The launch part
 * (groups, forced environment, log) is appended when an attempt starts. Both are fields of one
 * record, so the spec file of an attempt is simply the two behind each other.
 */

#include "base/record.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum sg_spec_tag {
        /* submitted part */
        SG_SPEC_UID = 1, /* u64 */
        SG_SPEC_GID,     /* u64 */
        SG_SPEC_GROUP,   /* u64, repeated: supplementary groups */
        SG_SPEC_UMASK,   /* u64 */
        SG_SPEC_RLIMIT,  /* 24 bytes: u64 resource, u64 soft, u64 hard; repeated */
        SG_SPEC_ARG,     /* str, repeated */
        SG_SPEC_ENV,     /* str "K=V", repeated */
        SG_SPEC_SCRIPT,  /* bytes: run this text; ARGs are its arguments */
        SG_SPEC_WORKDIR, /* str */
        SG_SPEC_OUTPUT, /* str: a path of the user's, %-codes already replaced; absent = the managed
                           log */
        SG_SPEC_ERROR,  /* str; absent = same as output */
        SG_SPEC_ON_END, /* str: for /bin/sh -c */
        SG_SPEC_OPTION, /* record of enum sg_spec_option: what else was asked for; repeated */
        /* launch part */
        SG_SPEC_GROUP_DIR =
                64, /* u8 enum sg_hier + path of the scope's group in that hierarchy; repeated */
        SG_SPEC_ENV_FORCE,    /* str "K=V": replaces the user's */
        SG_SPEC_ENV_DEFAULT,  /* str "K=V": only where the user has none */
        SG_SPEC_LOG,          /* str: absolute path of the managed log */
        SG_SPEC_LOG_MAX,      /* u64 bytes per file, 0 = no cap */
        SG_SPEC_LOG_KEEP,     /* u64 rotated files kept */
        SG_SPEC_CPU_AFFINITY, /* str cpu list: sched_setaffinity where no cpuset controller can do
                                 it */
        SG_SPEC_AWAITS_PLACE, /* u64 1: its groups come over the gate */
        SG_SPEC_SCRIPT_FILE,  /* str: absolute path at which a script is to have its file */
};

/* An option by its name on the bus, and its value: one of the two. */
enum sg_spec_option {
        SG_SPEC_OPTION_NAME = 1, /* str */
        SG_SPEC_OPTION_TEXT,     /* str */
        SG_SPEC_OPTION_NUMBER,   /* u64, of two's complement if it may be negative */
};

/* The cgroup hierarchies a job may have a group in. */
enum sg_hier {
        SG_HIER_UNIFIED, /* v2: alone, or bare beside v1 */
        SG_HIER_CPU,     /* v1 from here on; co-mounted controllers appear once */
        SG_HIER_CPUACCT,
        SG_HIER_CPUSET,
        SG_HIER_MEMORY,
        SG_HIER_PIDS,
        SG_HIER_DEVICES,
        SG_HIER_FREEZER,
        SG_HIER_BLKIO,
        SG_HIER_MAX,
};

struct sg_group_dir {
        enum sg_hier hier;
        char *path;
};

struct sg_rlimit {
        int resource;
        struct rlimit limit;
};

struct sg_spec {
        uid_t uid;
        gid_t gid;
        gid_t *groups;
        size_t n_groups;
        mode_t umask;
        struct sg_rlimit *rlimits;
        size_t n_rlimits;
        char **argv; /* NULL-terminated */
        char **env;
        char **env_force;
        char **env_default;
        void *script;
        size_t script_size;
        char *workdir, *output, *error, *on_end;
        struct sg_group_dir *dirs;
        size_t n_dirs;
        char *log;
        uint64_t log_max, log_keep;
        char *cpu_affinity, *script_file;
        bool awaits_place;
};

/* Whether a field outlives the job: what was to be run, where and with which options. The
 * environment never does. */
bool sg_spec_is_kept(uint16_t tag);
/* Fills a zeroed spec; -EBADMSG on anything malformed, -ENOMEM. */
int sg_spec_decode(struct sg_spec *ret, const void *data, size_t size);
/* One more directory, whose path is copied; -ENOMEM. */
int sg_spec_add_dir(struct sg_spec *s, enum sg_hier hier, const char *path);
void sg_spec_deinit(struct sg_spec *s);
