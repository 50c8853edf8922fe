/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "omp/omp-internal.h"

/* The next region of this thread has a num_threads clause. */
static _Thread_local SGO_TLS bool clause;
static _Thread_local SGO_TLS int answer;
/* The number that oneDNN was told last, 0 = the ceiling; and whether this thread has run a region
 * outside of oneDNN since. oneDNN makes something for the number that it is told, and asks anew
 * when it runs that: both answers have to be the same. All of its own regions have clauses. */
static _Thread_local SGO_TLS unsigned told;
static _Thread_local SGO_TLS bool been_out;

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

static void parallel(const struct sgo_library *l, struct sgo_registers *r, const void *caller)
{
        uint32_t n = (uint32_t)r->rdx; /* the rest of it may be anything */

        if (n == 0) {
                r->rdx = sgo_choose(l);
                been_out = true;
        } else if (n > 1 && sgo_resolve_clause(caller) == SGO_NARROWED) {
                r->rdx = sgo_narrow(l, n);
        }
}

/* A caller that asks is told the runtime's own choice, unless it asks because it is about to begin
 * a region. */
static void *max_threads(const struct sgo_real *real)
{
        unsigned n = 0;

        sgo_raise_ceiling(real->library);
        if (real->caller == SGO_ONEDNN && been_out) {
                told = sgo_choose(real->library);
                been_out = false;
        }
        if (real->caller == SGO_ONEDNN)
                n = told;
        else if (real->caller == SGO_OPENMP_BLAS)
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
                parallel(real.library, r, caller);
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
