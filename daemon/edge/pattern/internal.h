/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the two halves of the pattern parser share: syntax.c and chars.c. */

#include "edge/pattern/syntax.h"

/* What a part of a pattern costs: its states, those it can begin and end with, and the steps
 * between them. */
struct sg_pattern_span {
        uint64_t states, first, last, steps;
        bool nullable;
};

struct sg_pattern_parser {
        const char *start, *p;
        FILE *out;
        struct sg_pattern_syntax *s;
        unsigned depth;
        bool fold;                        /* letters match in both cases */
        bool named;                       /* some group is */
        bool branched;                    /* alternatives at the top: nothing is in every match */
        char run[SG_PATTERN_LITERAL_MAX]; /* of characters that must follow each other */
        size_t run_size;
        char *why;
};

/* -EINVAL with what is wrong at this place, or -ENOMEM. */
__attribute__((format(printf, 3, 4))) int sg_pattern_refuse(struct sg_pattern_parser *p,
                                                            const char *at, const char *format,
                                                            ...);

static inline struct sg_pattern_span sg_pattern_empty(void)
{
        return (struct sg_pattern_span){.nullable = true};
}

/* One of n characters, or ranges of them. */
static inline struct sg_pattern_span sg_pattern_parts(unsigned n)
{
        return (struct sg_pattern_span){.states = n, .first = n, .last = n};
}

static inline bool sg_pattern_is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* One behind the other. */
struct sg_pattern_span sg_pattern_join(struct sg_pattern_span a, struct sg_pattern_span b);

/* The run ends here; or before its last character, which may be missing. */
void sg_pattern_run_end(struct sg_pattern_parser *p);
void sg_pattern_run_end_before_last(struct sg_pattern_parser *p);

/* Each reads what begins at p->p and writes it. An assertion can't be repeated. */
int sg_pattern_parse_character(struct sg_pattern_parser *p, struct sg_pattern_span *ret);
int sg_pattern_parse_escape(struct sg_pattern_parser *p, struct sg_pattern_span *ret,
                            bool *ret_assertion);
int sg_pattern_parse_bracket(struct sg_pattern_parser *p, struct sg_pattern_span *ret);
