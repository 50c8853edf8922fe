/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The library that makes a program's threads follow (SCHEDGOV_PRELOAD= names it) is preloaded where
 * it is sure to do no harm: the program's dynamic loader is this system's, finds the library, and
 * has nothing to say on the program's stderr. A program of which that isn't known runs without it,
 * and hears nothing of it.
 */

/* Puts the library into LD_PRELOAD of an array that is the caller's to free(); the string is for
 * exec. To be called in the process that is about to run argv, or the script of that path if it
 * isn't NULL, or in another one of the same user in the same directory. */
void sg_preload_add(char ***env, char *const *argv, const char *script);
