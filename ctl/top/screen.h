/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The whole screen of a terminal, by ncurses. While it is open, the signals that end a program or
 * announce a new size are read from fd; whatever ends the program, the terminal is as it was. */

#include "ctl/top/view.h"

struct sg_screen; /* one at a time */

enum sg_screen_key {
        SG_SCREEN_NONE = 0, /* below 256: the character itself */
        SG_SCREEN_UP = 256,
        SG_SCREEN_DOWN,
        SG_SCREEN_PAGE_UP,
        SG_SCREEN_PAGE_DOWN,
        SG_SCREEN_HOME,
        SG_SCREEN_END,
};

/* -ENOTTY where stdin or stdout is no terminal, or one that can't do this. */
int sg_screen_open(struct sg_screen **ret);
/* Accepts NULL; returns NULL. */
struct sg_screen *sg_screen_close(struct sg_screen *s);

int sg_screen_fd(const struct sg_screen *s);
/* Handles what fd has: 0, or the signal that is to end the program. */
int sg_screen_signal(struct sg_screen *s);
/* The next key that was pressed, as enum sg_screen_key. */
int sg_screen_key(struct sg_screen *s);

void sg_screen_size(const struct sg_screen *s, unsigned *ret_width, unsigned *ret_height);
/* A drawing is put between these two, by sg_screen_put() with the screen as userdata. */
void sg_screen_begin(struct sg_screen *s);
void sg_screen_end(struct sg_screen *s);
sg_top_put sg_screen_put;
