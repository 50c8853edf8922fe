/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What others wrote, fit for a terminal. Text and colours come through; whatever else a terminal
 * obeys could fill the clipboard, rename the window or type in the user's place, and is spelt out
 * (\x1b …), as are marks that reorder text. Of a line that a progress bar writes again and again
 * (\r) the last state is shown. Pure: bytes in, bytes out, in pieces of any size.
 */

#include <stdbool.h>
#include <stddef.h>

typedef void (*sg_visible_put)(const char *s, size_t n, void *userdata);

/* Initialised with the first three. */
struct sg_visible {
        sg_visible_put put;
        void *userdata;
        bool live; /* lines are shown before they end, and overwritten where they stand */
        /* private */
        bool shown;    /* some of this line was put */
        bool returned; /* the last byte was a \r, which may belong to a \n */
        bool coloured;
        size_t size;
        char line[8192]; /* what has come of it since the last \r, or didn't fit any more */
};

void sg_visible_write(struct sg_visible *v, const char *s, size_t n);
/* Puts what has come of a line, but for what may be the beginning of a character or a colour. */
void sg_visible_show(struct sg_visible *v);
/* Nothing more comes: puts the rest, and takes colours back. */
void sg_visible_end(struct sg_visible *v);

/* A document in JSON, with the characters that reorder or control as \u escapes: it stays the same
 * document. */
void sg_visible_json(const char *json, sg_visible_put put, void *userdata);
