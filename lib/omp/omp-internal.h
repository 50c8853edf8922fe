/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * libschedgov-omp.so, a preload: it stands in front of the functions by which programs begin
 * parallel regions and call BLAS, and goes on to the real ones with the number of threads that the
 * job's allocation is worth to this process. How many that is:
 *
 *   - a num_threads clause is obeyed: the program has made that many parts of its work (but for few
 * who are known not to: callers.c);
 *   - else the least of the allocation and what the runtime would have chosen
 * (omp_set_num_threads(), OMP_NUM_THREADS, the CPUs): programs have sized their arrays by
 * omp_get_max_threads(), so it stays what it was, and there are never more;
 *   - inside of a region what is left of the allocation is shared between its threads;
 *   - where OMP_NUM_THREADS is what the governor put there (SCHEDGOV_THREADS), and the job may grow
 * to SCHEDGOV_THREADS_MAX, that is the runtime's choice from the beginning.
 *
 * Without an allocation nothing is changed.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a stub stands for. */
enum sgo_kind {
        SGO_PARALLEL, /* GOMP_parallel…(fn, data, num_threads, …): 0 = not said */
        SGO_FORK,     /* __kmpc_fork_call(loc, argc, fn, …) */
        SGO_PUSH,     /* __kmpc_push_num_threads(loc, thread, n): the clause of what follows */
        SGO_SERIAL,   /* __kmpc_serialized_parallel(…): … which then isn't a region */
        SGO_SET,      /* omp_set_num_threads(…) */
        SGO_MAX,      /* omp_get_max_threads(…) */
        SGO_BLAS,
};

/* One library that has real functions: an OpenMP runtime, or a BLAS. NULL where it has none. */
struct sgo_library {
        const void *base;
        int (*get_max_threads)(void);
        int (*get_active_level)(void);
        int (*get_level)(void);
        int (*get_team_size)(int level);
        void (*set_num_threads)(int n);
        void (*push_num_threads)(void *loc, int32_t thread, int32_t n);
        int32_t (*global_thread_num)(void *loc);
        void (*blas_set)(int n);
        int (*blas_get)(void);
        _Atomic int blas_ours;    /* what we set last, 0 = nothing yet */
        _Atomic int blas_ceiling; /* what it was before, or what the program has set since */
};

struct sgo_entry {
        const char *name;
        enum sgo_kind kind;
};

/* As the stub saves them (stubs.c). */
struct sgo_registers {
        double vector[8][2];
        uint64_t rdi, rsi, rdx, rcx, r8, r9, rax, r10;
};

/* What kind of caller it is, as far as SGO_MAX and the clause of SGO_PARALLEL depend on that. */
enum sgo_caller {
        SGO_ANYBODY,
        SGO_OPENMP_BLAS, /* computes by OpenMP's threads, and asks right before it does */
        SGO_ONEDNN,      /* asks right before it does, but more than once */
        SGO_NARROWED,    /* does all of its work with fewer threads than its clause says */
};

struct sgo_real {
        void *function;
        struct sgo_library *library;
        enum sgo_caller caller;
};

/* A preload is there from the start: its variables of threads need no call to be found. */
#define SGO_TLS __attribute__((tls_model("initial-exec")))

/* Marks the wrappers: nothing else is exported. */
#define SGO_API __attribute__((visibility("default")))

/* Each is called once, before main(), and only in a job. */
void sgo_allocation_begin(const char *path);
void sgo_tell_begin(void);
void sgo_exec_begin(void);
void sgo_team_begin(const char *allocation);

/* allocation.c: how many threads the job's allocation is worth to this process now; 0 = there is
 * none. Looks at the file at most every 50 µs. */
unsigned sgo_allocation_threads(void);
/* The job may grow to that many, and *ret is what the governor put into OMP_NUM_THREADS and others;
 * 0 = nothing was said. */
unsigned sgo_allocation_ceiling(unsigned *ret);

/* team.c: notes that this process computes; its part of so many threads. */
void sgo_team_beat(uint64_t now_nsec);
unsigned sgo_team_share(unsigned threads);
void sgo_team_forked(void);

/* tell.c: tells the governor that this process follows, with up to so many threads. */
void sgo_tell(unsigned ceiling);
void sgo_tell_forked(void);

/* resolve.c: what the caller would have called without us. */
struct sgo_real sgo_resolve(const struct sgo_entry *e, const void *caller);
/* Not our own. */
void *sgo_symbol(void *handle, const char *name);

/* What kind of caller begins a region with a clause at this address. */
enum sgo_caller sgo_resolve_clause(const void *caller);

/* callers.c: by the library that an address is in. */
bool sgo_may_be_narrowed(const void *caller);
bool sgo_is_onednn(const void *caller);

/* choose.c: 0 = as the runtime thinks best. */
unsigned sgo_choose(const struct sgo_library *l);
/* Instead of a clause's number. */
unsigned sgo_narrow(const struct sgo_library *l, unsigned clause);
void sgo_raise_ceiling(const struct sgo_library *l);
void sgo_asked(void); /* this thread has called omp_set_num_threads() */

/* blas.c: has a BLAS use as many threads as it should. */
void sgo_blas_follow(struct sgo_library *l);
void sgo_blas_find(struct sgo_library *l, void *handle);
/* Whether the library at `base`, and not just one that it depends on, is a BLAS which asks OpenMP
 * for threads. */
bool sgo_blas_is_openmp(void *handle, const void *base);

/* hook.c, called by each stub: where to go on. */
void *sgo_hook(const struct sgo_entry *e, struct sgo_registers *r, const void *caller);
