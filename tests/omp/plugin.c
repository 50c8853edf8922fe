/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A library that an interpreter loads, with an OpenMP runtime that only it can see. With
 * WITH_CLAUSE its region is to have so many threads, with ASKS it only asks how many it would have.
 */
#include <omp.h>

int threads(void);
int threads(void)
{
        int n = 0;

#if defined(ASKS)
        n = omp_get_max_threads();
        __asm__ volatile("" : "+r"(n)); /* else it would be asked in our caller's name */
#elif defined(WITH_CLAUSE)
#pragma omp parallel num_threads(WITH_CLAUSE)
#pragma omp atomic
        n++;
#else
#pragma omp parallel
#pragma omp atomic
        n++;
#endif
        return n;
}
