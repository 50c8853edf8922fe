/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The foreground shim: where it is and how it is called. */

#include "ctl/error.h"
#include "ctl/options.h"

/* Beside this very program, else where it is installed. */
int sg_shim_find(char **ret, struct sg_error *e);

/* fds: gate, lock file, exit file. Returns only on failure. */
int sg_shim_exec(const char *shim, const struct sg_invocation *inv, const char *id,
                 const int fds[3], struct sg_error *e);
