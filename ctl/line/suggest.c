/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See suggest.h. A mistake is a character too many, too few or wrong, or two that are swapped. */

#include "ctl/line/suggest.h"
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 24 /* longer words are nobody's slip */
#define PREFIX_MIN 3

static size_t min(size_t a, size_t b)
{
        return a < b ? a : b;
}

/* Optimal string alignment. d[i][j] is between the first i of a and the first j of b. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
        size_t d[LENGTH_MAX + 1][LENGTH_MAX + 1];

        for (size_t i = 0; i <= n_a; i++)
                d[i][0] = i;
        for (size_t j = 0; j <= n_b; j++)
                d[0][j] = j;
        for (size_t i = 1; i <= n_a; i++)
                for (size_t j = 1; j <= n_b; j++) {
                        d[i][j] = min(min(d[i - 1][j], d[i][j - 1]) + 1,
                                      d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
                        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
                }
        return d[n_a][n_b];
}

void sg_suggest(struct sg_suggestion *s, const char *name)
{
        size_t n_typed = strlen(s->typed), n_name = strlen(name), mistakes;

        if (n_typed > LENGTH_MAX || n_name > LENGTH_MAX || s->typed[0] != name[0])
                return; /* --xpus isn't a slip of --cpus */
        mistakes = n_typed >= PREFIX_MIN && strncmp(s->typed, name, n_typed) == 0
                           ? 1
                           : distance(s->typed, n_typed, name, n_name);
        if (mistakes * 2 >= n_typed || (s->best && mistakes >= s->best_distance))
                return;
        s->best = name;
        s->best_distance = mistakes;
}

const char *sg_suggest_hint(const struct sg_suggestion *s, const char *prefix,
                            const char *otherwise, char *buf, size_t size)
{
        if (!s->best)
                return otherwise;
        (void)snprintf(buf, size, "did you mean %s%s? %s", prefix, s->best, otherwise);
        return buf;
}
