/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The syntax of patterns (edge/pattern/pattern.h): what is understood is written anew in the few
 * forms that libtre takes the same way in every version, and measured on the way; all else is
 * refused. So libtre never sees a user's own text, its extensions (approximate matching, \Q, inline
 * flags) can't be reached, and it compiles nothing that is large.
 */

#include "edge/pattern/pattern.h"
#include <stdbool.h>
#include <stdio.h>

#define SG_PATTERN_LITERAL_MAX 64U

struct sg_pattern_syntax {
        char *text; /* for tre_regncomp() */
        size_t size;
        uint32_t fields[SG_PATTERN_GROUPS_MAX + 1]; /* SG_REPORT_… of each group, 0 = none */
        unsigned n_groups;
        /* Bytes that every match contains: a line without them needs no matcher. */
        char literal[SG_PATTERN_LITERAL_MAX];
        size_t literal_size;
};

/* 0, -EINVAL with *ret_why, -ENOMEM. */
int sg_pattern_syntax_parse(struct sg_pattern_syntax *ret, const char *pattern, char **ret_why);
void sg_pattern_syntax_deinit(struct sg_pattern_syntax *s);

/* A set of bytes, as a bracket expression is read and written. */
struct sg_byte_set {
        uint64_t bits[4];
};

void sg_byte_set_add(struct sg_byte_set *set, unsigned from, unsigned to);
void sg_byte_set_invert(struct sg_byte_set *set);
void sg_byte_set_fold(struct sg_byte_set *set); /* letters in both cases */
/* As a bracket expression, or as the one character that it is; the number of its parts, which is
 * what libtre makes states of. 0 = it is empty, or memory is short: what is written is of no use.
 */
unsigned sg_byte_set_write(const struct sg_byte_set *set, FILE *out);
void sg_pattern_write_byte(unsigned byte, FILE *out); /* as itself, whatever it means */
/* 'd', 'w', 's' or, for the others, 'D', 'W', 'S'. False: no such class. */
bool sg_byte_set_add_escape(struct sg_byte_set *set, char letter);
/* "alpha" … of [:alpha:]. */
bool sg_byte_set_add_class(struct sg_byte_set *set, const char *name, size_t n);
