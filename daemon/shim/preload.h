/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What makes a program's threads follow is preloaded (SCHEDGOV_PRELOAD= says which library), if
 * it is sure that it does no harm: that the program's dynamic loader is this system's, finds the
 * library, and has nothing to say on the program's stderr. Whoever can't be told about runs
 * without, and hears nothing of it.
 */

/* Into LD_PRELOAD of an array that is the caller's to free(); the string is for exec. In the
 * process, or another one of the same user in the same directory, that is about to run argv, or the
 * script in that descriptor, if it isn't −1. */
void sg_preload_add(char ***env, char *const *argv, int script);
