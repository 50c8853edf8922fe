/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * BLAS libraries with threads of their own. Their number of threads is set in the thread that calls
 * them, right before its call, as a program would do itself. A number found there that is neither
 * the library's own nor ours is the program's wish, and a ceiling from then on.
 */
#include "omp/omp-internal.h"

#include <dlfcn.h>
#include <stdlib.h>

#define OPENBLAS_OPENMP 2 /* of openblas_get_parallel() */

/* As distributions, and the wheels of NumPy and SciPy, call them. */
static const struct {
        const char *set, *get, *parallel;
} setters[] = {
        {"openblas_set_num_threads", "openblas_get_num_threads", "openblas_get_parallel"},
        {"openblas_set_num_threads64_", "openblas_get_num_threads64_", "openblas_get_parallel64_"},
        {"scipy_openblas_set_num_threads", "scipy_openblas_get_num_threads",
         "scipy_openblas_get_parallel"},
        {"scipy_openblas_set_num_threads64_", "scipy_openblas_get_num_threads64_",
         "scipy_openblas_get_parallel64_"},
        {"MKL_Set_Num_Threads", "MKL_Get_Max_Threads", NULL},
        {"bli_thread_set_num_threads", "bli_thread_get_num_threads", NULL},
};

#define N_SETTERS (sizeof(setters) / sizeof(setters[0]))

/* A BLAS on OpenMP's threads asks omp_get_max_threads() at each call. Its own function for setting
 * a number would set OpenMP's, and so the whole program's. */
static bool asks_openmp(void *handle, const char *name)
{
        int (*parallel)(void) = name ? (int (*)(void))sgo_symbol(handle, name) : NULL;

        return parallel && parallel() == OPENBLAS_OPENMP;
}

static bool has_own(void *handle, const void *base, const char *name)
{
        void *p = sgo_symbol(handle, name);
        Dl_info info;

        return p && dladdr(p, &info) && info.dli_fbase == base;
}

/* Debian has the interface in a library of its own, libblas.so.3, and it is that library which
 * asks. */
bool sgo_blas_is_openmp(void *handle, const void *base)
{
        static const char *const names[] = {"dgemm_", "dgemm_64_", "scipy_dgemm_",
                                            "scipy_dgemm_64_"};
        bool is_blas = false, by_openmp = false;

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !is_blas; i++)
                is_blas = has_own(handle, base, names[i]);
        for (size_t i = 0; i < N_SETTERS && is_blas && !by_openmp; i++)
                by_openmp = asks_openmp(handle, setters[i].parallel);
        return by_openmp;
}

void sgo_blas_find(struct sgo_library *l, void *handle)
{
        for (size_t i = 0; i < N_SETTERS; i++) {
                void *set = sgo_symbol(handle, setters[i].set);
                void *get = sgo_symbol(handle, setters[i].get);

                if (!set || !get || asks_openmp(handle, setters[i].parallel))
                        continue;
                l->blas_set = (void (*)(int))set;
                l->blas_get = (int (*)(void))get;
                return;
        }
}

static int raised(int ceiling)
{
        static const char *const variables[] = {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
                                                "OMP_NUM_THREADS"};
        unsigned given, max = sgo_allocation_ceiling(&given);

        if (max <= given || (unsigned)ceiling != given)
                return ceiling;
        for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
                const char *s = getenv(variables[i]);

                if (s && strtoul(s, NULL, 10) == given)
                        return (int)max;
        }
        return ceiling;
}

void sgo_blas_follow(struct sgo_library *l)
{
        int n = (int)sgo_allocation_threads(), now, ours, ceiling;

        if (n == 0 || !l->blas_set)
                return;
        now = l->blas_get();
        ours = atomic_load_explicit(&l->blas_ours, memory_order_relaxed);
        ceiling = atomic_load_explicit(&l->blas_ceiling, memory_order_relaxed);
        if (now != ours) {
                ceiling = ours == 0 ? raised(now) : now;
                atomic_store_explicit(&l->blas_ceiling, ceiling, memory_order_relaxed);
        }
        sgo_tell((unsigned)ceiling);
        if (n > ceiling)
                n = ceiling;
        if (n != now)
                l->blas_set(n);
        if (n != ours)
                atomic_store_explicit(&l->blas_ours, n, memory_order_relaxed);
}
