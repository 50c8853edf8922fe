/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Tables that are printed while they arrive: the widths are those of the first rows, a later cell
 * that is longer is cut on a terminal and pushes its row aside otherwise. Pure but for the FILE.
 */

#include "ctl/line/error.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SG_TABLE_MAX 24
#define SG_TABLE_GAP 2U /* between two columns */

struct sg_column {
        const char *name; /* as in -o; headings are the same in capitals */
        bool right;
        unsigned least; /* may be narrowed to this; 0 = never */
};

struct sg_table {
        const struct sg_column *all;
        size_t shown[SG_TABLE_MAX]; /* indices into all */
        size_t n;
        unsigned width[SG_TABLE_MAX];
        unsigned terminal; /* 0 = no limit */
        const char *drop;  /* "class,mem": columns that go, in this order, before others are cut to
                              less than can be read; NULL = none */
};

/* list: "id,state,cpu". */
int sg_table_init(struct sg_table *t, const struct sg_column *all, size_t n_all, const char *list,
                  unsigned terminal, struct sg_error *e);

/* Widens column i of those shown. */
void sg_table_measure(struct sg_table *t, size_t i, const char *cell);
/* After measuring, to fit the terminal: drops what may go as long as a column that may be narrowed
 * would have to be to less than READABLE of its least, then narrows, the last columns first. */
void sg_table_fit(struct sg_table *t);

void sg_table_print_heading(const struct sg_table *t, FILE *f);
/* One cell; i from 0 to n − 1, the last ends the line. colour: a sequence, or "". */
void sg_table_print_cell(const struct sg_table *t, size_t i, const char *cell, const char *colour,
                         const char *plain, FILE *f);

/* Characters that s takes on a terminal. */
unsigned sg_text_width(const char *s);
/* Bytes of its first n characters. */
size_t sg_text_prefix(const char *s, unsigned n);

/* "85ms", "4.2s", "2:03", "1:02:03", "3-04:05:06" */
const char *sg_table_duration(char *buf, size_t size, uint64_t usec);
