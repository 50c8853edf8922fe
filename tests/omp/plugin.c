/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library that an interpreter loads, with an OpenMP runtime that only it can see. */

int threads(void);
int threads(void)
{
        int n = 0;

#pragma omp parallel
#pragma omp atomic
        n++;
        return n;
}
