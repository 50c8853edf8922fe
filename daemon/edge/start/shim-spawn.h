/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Starting the keeper of one attempt. */

#include <sys/types.h>

/* gate becomes SG_GATE_FD; scope: the job's directory in the v2 tree, in whose `keeper` the shim is
 * born, or NULL. */
int sg_shim_spawn(const char *program, const char *attempt_dir, int gate, const char *scope,
                  pid_t *ret);
