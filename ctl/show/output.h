/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What reaches a terminal: colours, width, and the pager. */

#include "ctl/line/error.h"
#include <stdbool.h>
#include <stddef.h>

enum sg_colour { SG_PLAIN, SG_BOLD, SG_DIM, SG_RED, SG_GREEN, SG_YELLOW };

/* The escape sequence, or "" when stdout takes no colours. */
const char *sg_colour(enum sg_colour colour);
/* The colour that a state is shown in. */
enum sg_colour sg_colour_of_state(const char *state);

/* Columns of the terminal on stdout ($COLUMNS first), 0 = as wide as it takes. */
unsigned sg_terminal_width(void);

/* Its lines ($LINES first), 0 = not known. */
unsigned sg_terminal_height(void);

/* Whether more than ASCII can be shown: the locale's word. Sets the locale's characters. */
bool sg_output_is_utf8(void);

/* Whether stdout is one, or a pager in front of one. */
bool sg_output_is_terminal(void);

/* Puts a pager behind stdout when that is a terminal. Closing flushes and waits for it. */
void sg_pager_open(void);
int sg_pager_close(struct sg_error *e);

/* Flushes stdout; a full disk or a closed pipe is a failure of ours. */
int sg_output_finish(struct sg_error *e);
