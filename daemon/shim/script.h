/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A script that `schedctl submit` has read from stdin. Its text lies in a file of the attempt's own
 * directory (SG_SPEC_SCRIPT_FILE) that its user can read by that name for as long as the job lives,
 * as Python's multiprocessing does in each process that it spawns. The file is root's, so that
 * nobody makes it larger, and goes with the directory.
 *
 * Its interpreter is run with the name, instead of the file: /run mostly is a place where nothing
 * may be executed. What is no text, or can't have its file, is memory without a name.
 */

#include "proto/spec.h"
#include <limits.h>
#include <stdbool.h>

#define SG_SCRIPT_LINE_MAX 256 /* of the kernel, too */

struct sg_script {
        char path[PATH_MAX]; /* "" = there is none */
        /* What its #! line says; "" = of a file: the shell, of memory: the kernel looks. */
        char interpreter[SG_SCRIPT_LINE_MAX], argument[SG_SCRIPT_LINE_MAX];
        bool is_file, is_python;
};

/* Makes the file; before privileges are dropped. */
int sg_script_make(struct sg_script *ret, const struct sg_spec *s);

/* A Python program finds modules beside itself, and this one was written where it is to run: its
 * working directory comes first in PYTHONPATH of an array that is the caller's to free(). The
 * string is for exec. */
void sg_script_env(const struct sg_script *s, const char *workdir, char ***env);

/* args are the script's own arguments, may be NULL. Only returns on failure: -errno. */
int sg_script_exec(const struct sg_script *s, char *const *args, char *const *env);
