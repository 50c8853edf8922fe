/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The foreground shim: where it is and how it is called. */

#include "ctl/line/error.h"
#include "ctl/line/options.h"

/* Finds the shim beside this very program, else where it is installed. */
int sg_shim_find(char **ret, struct sg_error *e);

/* What the governor hands over. */
struct sg_attached {
        int fds[3];                /* gate, lock file, exit file */
        char **env, **env_default; /* to be set, and where there is no such variable; or NULL */
};

/* Runs argv. Returns only on failure. */
int sg_shim_exec(const char *shim, const struct sg_invocation *inv, char *const *argv,
                 const struct sg_attached *a, struct sg_error *e);
