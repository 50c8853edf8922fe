/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Running a program as execvpe() would, but with the PATH of the job's own environment. */

#include <limits.h>
#include <stddef.h>

#define SG_PROGRAM_SHELL "/bin/sh"

/*
 * A new environment: env, with each of `force` replacing and each of `defaults` only filling in.
 * The array is the caller's to free(), its strings are borrowed. Any of the three may be NULL.
 */
int sg_program_env(char *const *env, char *const *force, char *const *defaults, char ***ret);

/* The value in an environment, or NULL. */
const char *sg_program_getenv(char *const *env, const char *name);

/* Sets one variable of an array that is the caller's to free(), unless there is no memory. */
void sg_program_put_env(char ***env, char *assignment);

/* Looks for argv[0] as proto/search.h does. Only returns on failure: -errno. */
int sg_program_exec(char *const *argv, char *const *env);

/* A file, by that name; args are what comes behind it, may be NULL. Only returns on failure. */
int sg_program_exec_file(const char *path, char *const *args, char *const *env);
/* A script by its interpreter, with the one argument that its #! line may have, or "". Only returns
 * on failure. */
int sg_program_exec_with(const char *interpreter, const char *argument, const char *path,
                         char *const *args, char *const *env);
