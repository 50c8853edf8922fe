/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The lines "#SBATCH --mem=4G" at the head of a script that was written for Slurm, as sbatch(1) has
 * them: up to the first line that is neither empty nor a comment. Pure.
 */

#include "ctl/line/options.h"

struct sg_sbatch {
        /* Told of each option that means nothing here, as it is written; it is left out. */
        void (*unknown)(unsigned line, const char *option);

        /* private: what the invocation points to, and which options it had before */
        char **values;
        size_t n_values;
        uint64_t given[2];
};

bool sg_sbatch_any(const char *text);

/* Takes the options that are known here, unless the invocation has them. It must not be used after
 * sg_sbatch_deinit(); its `after` is its own. */
int sg_sbatch_apply(struct sg_sbatch *s, const char *text, struct sg_invocation *inv,
                    struct sg_error *e);
void sg_sbatch_deinit(struct sg_sbatch *s);
