/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What may be asked of the daemon: verbs (verbs.c), and for each its parameters and options
 * (options.c), with type and bounds. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Those from Cancel on are asked of one live job. */
enum sg_request_verb {
        SG_REQUEST_SUBMIT,
        SG_REQUEST_DRY_RUN,
        SG_REQUEST_RUN,
        SG_REQUEST_ATTACH,
        SG_REQUEST_LIST_JOBS,
        SG_REQUEST_DESCRIBE_JOBS,
        SG_REQUEST_DESCRIBE_JOB,
        SG_REQUEST_DESCRIBE_COMMAND,
        SG_REQUEST_WAIT_JOB,
        SG_REQUEST_DESCRIBE_SERIES,
        SG_REQUEST_OPEN_LOG,
        SG_REQUEST_LIST_EVENTS,
        SG_REQUEST_SUBSCRIBE,
        SG_REQUEST_ADOPT,
        SG_REQUEST_DESCRIBE,
        SG_REQUEST_EXPLAIN,
        SG_REQUEST_OPEN_DECISIONS,
        SG_REQUEST_LIST_POLICIES,
        SG_REQUEST_DESCRIBE_LIMITS,
        SG_REQUEST_SET_POLICY,
        SG_REQUEST_RELOAD,
        SG_REQUEST_CONFIG_CAT,
        SG_REQUEST_CONFIG_VERIFY,
        SG_REQUEST_GPUS,
        SG_REQUEST_DRAIN_GPU,
        SG_REQUEST_CANCEL,
        SG_REQUEST_HOLD,
        SG_REQUEST_RELEASE,
        SG_REQUEST_SUSPEND,
        SG_REQUEST_RESUME,
        SG_REQUEST_REQUEUE,
        SG_REQUEST_SIGNAL,
        SG_REQUEST_SET,
        _SG_REQUEST_VERB_MAX
};

enum sg_value_type {
        SG_VALUE_TEXT,
        SG_VALUE_U64,
        SG_VALUE_U32,
        SG_VALUE_I32,
        SG_VALUE_FLAG,
        SG_VALUE_FILE,  /* a descriptor */
        SG_VALUE_BLOCK, /* strings, each with its NUL, as in /proc/PID/cmdline */
        SG_VALUE_BYTES, /* any bytes */
        SG_VALUE_WORDS, /* strings */
};

struct sg_bytes {
        const char *data; /* lent by the reader's message */
        size_t size;
        char *owned; /* data, if it has to be freed; else NULL */
};

struct sg_value {
        enum sg_value_type type;
        union {
                const char *text;
                uint64_t number; /* U64, U32, FLAG */
                int64_t integer; /* I32, FILE */
                struct sg_bytes bytes;
                char *const *words;
        };
};

struct sg_param {
        const char *name;
        enum sg_value_type type;
        size_t offset, size; /* in struct sg_request; size: of a char array, 0: a heap string */
        int64_t min;
        uint64_t max; /* of heap strings: their length, 0: any text will do */
        uint64_t ask;
        uint64_t verbs; /* bits: who takes it as an option; 0: it has its place in the request */
};

#define SG_REQUEST_PARAMS_MAX 3

struct sg_request_verb_info {
        const char *name;
        const char *options; /* what they are called, NULL: it takes none; they come first */
        const struct sg_param *params[SG_REQUEST_PARAMS_MAX + 1];
};

extern const struct sg_request_verb_info sg_request_verbs[_SG_REQUEST_VERB_MAX];
extern const struct sg_param sg_request_options[];
extern const size_t sg_n_request_options;

int sg_request_verb_from_string(const char *name); /* "Submit"; -ENOENT */
static inline bool sg_request_is_of_job(enum sg_request_verb verb)
{
        return verb >= SG_REQUEST_CANCEL;
}
