/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * An array as people write it: the indexes of its tasks, each above the one before, and how many of
 * these may run at once.
 *
 *     0-9    1,3,5    1-4,9    1-100%4
 *
 * It is kept and sent as this text, which is as short as it was typed, and walked over.
 */

#include "proto/names.h"
#include <stdbool.h>
#include <stdint.h>

/* Every index by itself, a comma behind each, and a bound. */
#define SG_ARRAY_TEXT_MAX (SG_ARRAY_MAX * 11U + 16)
#define SG_ARRAY_INDEX_MAX ((uint64_t)INT32_MAX)

struct sg_array {
        uint64_t n; /* tasks: 1 … SG_ARRAY_MAX */
        uint64_t first, last;
        uint64_t max; /* that run at once; 0 = no bound */
};

/* -EINVAL: it isn't of this form; -ERANGE: too many tasks, or too large a number. */
int sg_array_parse(const char *s, struct sg_array *ret);

/* A walk over the indexes of a text that could be parsed, which it borrows. */
struct sg_array_walk {
        const char *rest;
        uint64_t next, last; /* of the range that it is in; next > last: of none */
};

struct sg_array_walk sg_array_walk(const char *s);
bool sg_array_next(struct sg_array_walk *w, uint64_t *ret_index);
