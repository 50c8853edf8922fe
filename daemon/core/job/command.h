/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The command of a job in words. A block is strings, each with its NUL, as in /proc/PID/cmdline.
 * All these are on the heap; NULL = no memory. */

#include <stddef.h>
#include <stdint.h>

/* fnmatch(3) may take quadratic time, and a user chooses the command: only so many bytes of it
 * count. */
#define SG_COMMAND_COMPARED 1023U

/* The words with single blanks between them, cut where policies stop looking. */
char *sg_command_join(const char *argv, size_t size);
/* A number for the program that such a line runs, whatever its options: its first word, and the
 * script or module that is named next; never 0. */
uint64_t sg_command_program(const char *line);
/* What lists show of such a line: printable, cut where it gets long. */
char *sg_command_show(const char *line);
char *sg_command_shown(const char *argv, size_t size); /* both */
