/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "omp/omp-internal.h"

#include <stdlib.h>

/* This thread's number isn't to be raised (any more): the program has set it, or we have raised
 * it. */
static _Thread_local SGO_TLS bool settled;

void sgo_asked(void)
{
        settled = true;
}

/* Only what the governor itself put there: a number that the user chose stays. */
static bool is_given(const char *variable, unsigned given)
{
        const char *s = getenv(variable);

        return s && given > 0 && strtoul(s, NULL, 10) == given;
}

void sgo_raise_ceiling(const struct sgo_library *l)
{
        unsigned given, ceiling = sgo_allocation_ceiling(&given);

        if (settled)
                return;
        settled = true;
        if (ceiling > given && l->set_num_threads && is_given("OMP_NUM_THREADS", given))
                l->set_num_threads((int)ceiling);
}

/* Threads of the regions that we are in, each of which may begin one of its own. */
static unsigned threads_around(const struct sgo_library *l)
{
        unsigned product = 1;

        for (int level = 1, n = l->get_level(); level <= n; level++) {
                int size = l->get_team_size(level);

                if (size > 1)
                        product *= (unsigned)size;
        }
        return product;
}

/* What a region that begins here is worth; 0 = nobody says. */
static unsigned worth(const struct sgo_library *l)
{
        unsigned n = sgo_allocation_threads();

        if (n == 0)
                return 0;
        if (l->get_active_level && l->get_level && l->get_team_size && l->get_active_level() > 0)
                n /= threads_around(l);
        return n > 0 ? n : 1;
}

unsigned sgo_narrow(const struct sgo_library *l, unsigned clause)
{
        unsigned n = worth(l);

        if (n > 0)
                sgo_tell(clause);
        return n > 0 && n < clause ? n : clause;
}

unsigned sgo_choose(const struct sgo_library *l)
{
        unsigned n = worth(l), max;

        if (n == 0 || !l->get_max_threads)
                return 0;
        sgo_raise_ceiling(l);
        max = (unsigned)l->get_max_threads();
        sgo_tell(max);
        return n < max ? n : 0;
}
