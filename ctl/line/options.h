/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The command line as data. One table says for each option what it takes, which verbs know it and
 * how the bus calls it: parsing, `set`, requests and --help all follow from that table. Pure: no
 * I/O, no clock.
 */

#include "ctl/line/error.h"
#include "ctl/line/verb_table.h"
#include "proto/limits.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_option_type {
        SG_OPTION_FLAG,
        SG_OPTION_STRING,
        SG_OPTION_NAME,
        SG_OPTION_COUNT,    /* 32 bits */
        SG_OPTION_NUMBER,   /* 64 bits, or infinity */
        SG_OPTION_STEPS,    /* 63 bits, not 0 */
        SG_OPTION_WEIGHT,   /* 1 … SG_WEIGHT_MAX */
        SG_OPTION_PRIORITY, /* int64_t */
        SG_OPTION_BYTES,
        SG_OPTION_USEC,
        SG_OPTION_PERCENT,
        SG_OPTION_PART, /* double: "5%", "0.05", "infinity" */
        SG_OPTION_TIME, /* to come: "22:00" is the next such time, "2h" from now */
        SG_OPTION_DUE,  /* the same, or "infinity" */
        SG_OPTION_PAST, /* "22:00" is the last such time, "2h" and "-2h" are ago */
        SG_OPTION_CPUS, /* two uint64_t */
        SG_OPTION_GPUS, /* "2", "1-4", "0.5": as it is written */
        SG_OPTION_ARRAY,
        SG_OPTION_AFTER,
        SG_OPTION_ENV,
};

struct sg_invocation {
        enum sg_verb_id verb;
        uint64_t given[2]; /* one bit for each row of sg_options */
        uint64_t now_usec; /* what "+10min" is counted from */

        const char *socket, *columns;
        bool own, json, no_legend, no_pager, help, version;

        /* job options */
        const char *name, *class, *workdir, *output, *error, *on_end, *progress, *eval_goal,
                *threads, *array, *sh, *gpus, *gpu_type, *gpu_ids, *mig;
        uint64_t gpu_mem;
        uint64_t cpus[2];
        uint64_t limits[_SG_LIMIT_ROW_MAX]; /* by enum sg_limit_kind */
        uint64_t begin, deadline, retry, steps;
        int64_t priority;
        bool pin, hold, no_wait, dry_run, sbatch;
        char *after;      /* "5:ok,6:any" */
        const char **env; /* n_env of "K=V" */
        size_t n_env;

        /* what the others take */
        const char *user, *state;
        uint64_t since, until;
        uint64_t lines, timeout; /* UINT64_MAX = not given */
        bool all, any, follow, stderr_file, raw, csv, log, tasks;
        const char *svg, *sort;
        uint64_t delay;

        /* simulate */
        const char *generate, *policy, *objective, *with;
        double no_harm, floor, speedup, lies;
        uint64_t seed, node_cpus;
        bool exact_sizes, from_history, stubborn;

        char **args; /* within argv; NULL-terminated */
        size_t n_args;
};

struct sg_option {
        const char *name;
        char letter;
        enum sg_option_type type;
        uint32_t verbs;  /* bit per enum sg_verb_id */
        size_t offset;   /* into struct sg_invocation */
        const char *key; /* on the bus; NULL = not sent */
        const char *metavar, *help;
};

extern const struct sg_option sg_options[];
extern const size_t sg_n_options;

/* Whether a verb knows it; verb −1: whether every verb does. */
static inline bool sg_option_applies(const struct sg_option *o, int verb)
{
        return verb < 0 ? o->verbs == (1U << _SG_VERB_MAX) - 1 : (o->verbs >> verb & 1) != 0;
}

/* Sorts argv out; args are moved to its front. Reads on after an error, so that a --json behind
 * it still counts. *ret is usable (and must be deinitialised) in every case. */
int sg_options_parse(int argc, char **argv, uint64_t now_usec, struct sg_invocation *ret,
                     struct sg_error *e);
void sg_invocation_deinit(struct sg_invocation *inv);

/* What a word would be that came behind all of argv. */
struct sg_next {
        int verb;                       /* −1: not seen yet, or there is no such verb */
        const struct sg_option *option; /* whose value it would be; NULL */
        bool verb_wanted, command;      /* the verb itself; a word of the job's command */
};

/* sg_options_parse() of a line that isn't complete yet; what is wrong in it doesn't matter. */
void sg_options_parse_begun(int argc, char **argv, struct sg_invocation *ret, struct sg_next *next);

/* The option that "--name" of this verb (−1: of every) means. */
const struct sg_option *sg_option_find(int verb, const char *name, size_t len);

/* "KEY=VALUE" of `set`, where KEY is an option's name. */
int sg_options_set(struct sg_invocation *inv, const char *assignment, struct sg_error *e);

/* An option of `submit` that isn't on the command line: it is taken unless `given` has it, which
 * has a bit for each row. The value must stay. */
int sg_options_default(struct sg_invocation *inv, const char *name, const char *value,
                       const char *spelled, const uint64_t given[2], struct sg_error *e);

/* Whether anything was given that goes over the bus. */
bool sg_options_any_key(const struct sg_invocation *inv);

static inline bool sg_option_given(const struct sg_invocation *inv, size_t i)
{
        return (inv->given[i / 64] >> i % 64 & 1) != 0;
}
