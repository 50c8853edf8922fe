/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The #SBATCH lines of what a job is to run. */

#include "ctl/ask/command.h"
#include "ctl/line/sbatch.h"

/* Of a script from stdin, or a file that the command names: with --sbatch their options become
 * those of *io, which is good until `lines` goes; without it, says that they aren't read. */
int sg_script_lines(struct sg_sbatch *lines, const struct sg_command *cmd, struct sg_invocation *io,
                    struct sg_error *e);
