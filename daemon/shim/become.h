/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* From a child of the keeper to the user's program, in two steps. */

#include "proto/attempt.h"
#include "proto/spec.h"
#include "shim/script.h"

struct sg_become {
        const struct sg_spec *spec;
        int output; /* the pipe to the managed log, or −1 */
        enum sg_stage stage;
        struct sg_script script;
};

/* Takes the user's identity, limits and working directory: nothing that anybody could notice. On
 * -errno the stage says what failed. */
int sg_become_user(struct sg_become *b);
/* Opens the output and runs the program: returns on failure only. */
int sg_become_job(struct sg_become *b);
