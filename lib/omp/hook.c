/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "omp/omp-internal.h"

/* The next region of this thread has a num_threads clause. */
static _Thread_local SGO_TLS bool clause;
static _Thread_local SGO_TLS int answer;

static int tell(void)
{
        return answer;
}

static void fork_call(const struct sgo_library *l, void *loc)
{
        unsigned n;

        if (clause) {
                clause = false;
                return;
        }
        if (!l->push_num_threads || !l->global_thread_num)
                return;
        n = sgo_choose(l);
        if (n > 0)
                l->push_num_threads(loc, l->global_thread_num(loc), (int32_t)n);
}

/* All who ask are told the runtime's own choice, but a BLAS that is about to use it. */
static void *max_threads(const struct sgo_real *real)
{
        unsigned n;

        sgo_raise_ceiling(real->library);
        if (!real->asked_by_blas)
                return real->function;
        n = sgo_choose(real->library);
        if (n == 0)
                return real->function;
        answer = (int)n;
        return (void *)tell;
}

void *sgo_hook(const struct sgo_entry *e, struct sgo_registers *r, const void *caller)
{
        struct sgo_real real = sgo_resolve(e, caller);

        switch (e->kind) {
        case SGO_PARALLEL:
                if ((uint32_t)r->rdx == 0) /* the rest of it may be anything */
                        r->rdx = sgo_choose(real.library);
                break;
        case SGO_FORK:
                fork_call(real.library, (void *)r->rdi);
                break;
        case SGO_PUSH:
                clause = true;
                break;
        case SGO_SERIAL:
                clause = false;
                break;
        case SGO_SET:
                sgo_asked();
                break;
        case SGO_MAX:
                return max_threads(&real);
        case SGO_BLAS:
                sgo_blas_follow(real.library);
                break;
        }
        return real.function;
}
