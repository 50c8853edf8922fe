/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the first word of a command can only have been meant for, before there is a job that fails
 * because of it. */

#include "ctl/line/error.h"
#include "ctl/line/options.h"

/* *ret: "./NAME" (heap) if it is no program of the PATH, but a file of the working directory; else
 * NULL, and the word stays as it is. -ECANCELED, described: the file isn't executable, or the one
 * word is a whole line for the shell. */
int sg_first_word(const struct sg_invocation *inv, char *const *argv, char *const *env, char **ret,
                  struct sg_error *e);
