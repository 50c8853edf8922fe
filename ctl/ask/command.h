/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job is to run: words, environment, or a script from stdin; or what another job was to run.
 */

#include "ctl/ask/kept.h"
#include "ctl/line/options.h"

struct sg_command {
        char **argv;   /* NULL-terminated; the script's arguments if there is one. The strings
                          are borrowed, but for */
        char *program; /* its first, where that had to be found; or NULL */
        const char *script;
        char *own_script;           /* the same, if it is ours */
        size_t script_size;         /* 0 = none */
        const char **env;           /* NULL-terminated; the strings are borrowed */
        char *preload;              /* the entry of `env` that we own, or NULL; all others are the
                                       process's own */
        const struct sg_kept *kept; /* of the job that is run again; NULL: of none */
};

/* Looks at the invocation, stdin and the environment. */
int sg_command_init(struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e);
/* The command of another job, which has to stay, in the environment of this process. */
int sg_command_init_again(struct sg_command *cmd, const struct sg_invocation *inv,
                          const struct sg_kept *kept, struct sg_error *e);
void sg_command_deinit(struct sg_command *cmd);

/* Appends "ay ay ay": words, script, environment. */
int sg_command_append(const struct sg_command *cmd, sd_bus_message *m);

/* Appends one "ay": the strings, each with its NUL, as in /proc/PID/cmdline. */
int sg_command_append_block(sd_bus_message *m, const char *const *strings);
