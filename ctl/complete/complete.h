/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a Tab may put in place of a word. The shells' files (ctl/complete/schedctl.bash, .zsh,
 * .fish) ask
 *
 *     schedctl __complete WORD… BEGUN
 *
 * with the words between `schedctl` and the cursor, the last of them begun ("" for a new one), and
 * get a line that says what is wanted there, one of
 *
 *     words        the lines that follow: a word, a tab, what it means; there are no others. One
 * that ends with = or : goes on without a blank files TEXT   TEXT, and the name of a file behind it
 *     command N    a word of a command, which begins behind N words; `schedctl` is the first
 *
 * Words aren't narrowed to what is begun: shells have ways of their own to match. All of them come
 * from the tables that the command line is parsed by, or from the governor; where that isn't there
 * or doesn't answer soon they are left out. Nothing is ever said on stderr.
 */

#include "ctl/line/options.h"

#define SG_COMPLETE "__complete"

/* argv[0] is SG_COMPLETE; returns the exit status. */
int sg_complete(int argc, char **argv);

/* A place on the command line, for its candidates. */
struct sg_place {
        const struct sg_invocation *inv; /* what is before it */
        int verb;                        /* −1 = none */
        const char *word;                /* begun there */
        size_t kept;                     /* bytes of it that each candidate begins with */
};

typedef void sg_candidates_fn(const struct sg_place *p);

/* The candidates for a value that --help calls so; NULL = nobody knows any. */
sg_candidates_fn *sg_candidates_of_value(const struct sg_option *o);
/* The candidates for the next argument of the verb. */
sg_candidates_fn *sg_candidates_of_argument(const struct sg_place *p);

/* Asked of the governor. */
sg_candidates_fn sg_candidates_jobs, sg_candidates_classes;
/* The alternatives in "cat|verify|reload": the first word of each. */
void sg_candidates_alternatives(const struct sg_place *p, const char *alternatives);

/* A line: what is kept, word, suffix, tab, meaning. */
void sg_candidate(const struct sg_place *p, const char *word, const char *suffix,
                  const char *meaning);
