/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The jobs that the words of a command line mean: numbers (ctl/line/ids.h), which nobody is asked
 * about, tasks of an array, or names; and if there are no words, what the caller submitted last.
 *
 * A name stands for one submission of the caller's own, a job or the tasks of an array that have
 * it: for the one that lives, else for the last that has ended. If several live, it is an error
 * that says which, as nobody can tell which of them is meant.
 */

#include "ctl/ask/client.h"
#include "ctl/line/ids.h"
#include "ctl/line/options.h"

/* What a verb without words is about. */
enum sg_wordless {
        SG_WORDLESS_WRONG,
        SG_WORDLESS_ALL, /* no particular job: no ids */
        SG_WORDLESS_LAST,
        SG_WORDLESS_LAST_IF_ANY, /* the caller may never have submitted one: no ids */
};

struct sg_wanted {
        const struct sg_invocation *inv; /* for what is said */
        char *const *words;
        size_t n;
        enum sg_wordless wordless;
        bool live;              /* by their names, and as the last: only jobs that haven't ended */
        bool one;               /* not several */
        uint64_t patience_usec; /* how long a governor that is being restarted is waited for */
};

/* Appends to *ids, of one submission in order of their numbers. Says on stderr what no words were
 * taken for, if that changes something or a person looks on. */
int sg_find_jobs(const struct sg_wanted *w, struct sg_client *c, struct sg_ids *ids,
                 struct sg_error *e);
