/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where a program is found by its name: as execvp(3) does it, but by the PATH of the job's own
 * environment, a NULL-terminated array. */

#include <limits.h>

/* What PATH says, or what holds without it. */
const char *sg_search_dirs(char *const *env);

/* The program in the first of these directories, and behind it the rest of them; NULL: it was the
 * last. In `path` an empty string: that would be too long. */
const char *sg_search_next(const char *dirs, const char *name, char path[PATH_MAX]);

/* A name with a slash is a path already; -ENOENT, -ENAMETOOLONG. */
int sg_search_find(const char *name, char *const *env, char ret[PATH_MAX]);
