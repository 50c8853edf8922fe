/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Which of the known words was meant by one that isn't: "sumbit" is near "submit". */

#include <stddef.h>

struct sg_suggestion {
        const char *typed;
        const char *best; /* borrowed from the caller; NULL = none is near */
        size_t best_distance;
};

void sg_suggest(struct sg_suggestion *s, const char *name);

/* The hint of an error: "did you mean PREFIXbest? otherwise", or only otherwise. */
const char *sg_suggest_hint(const struct sg_suggestion *s, const char *prefix,
                            const char *otherwise, char *buf, size_t size);
