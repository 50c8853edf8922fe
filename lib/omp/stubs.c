/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The functions that we stand in front of. Some take any number of arguments, and none of their
 * types matter: a stub keeps all registers that may hold arguments, asks sgo_hook() and jumps to
 * where that says, so the real function returns to the caller itself.
 */
#include "omp/omp-internal.h"

#ifdef __x86_64__

/* 200 bytes: struct sgo_registers and 8, which the return address makes a multiple of 16. */
__asm__(".text\n"
        ".hidden sgo_enter\n"
        ".type sgo_enter, @function\n"
        "sgo_enter:\n"
        "        .cfi_startproc\n"
        "        subq $200, %rsp\n"
        "        .cfi_adjust_cfa_offset 200\n"
        "        movaps %xmm0, (%rsp)\n"
        "        movaps %xmm1, 16(%rsp)\n"
        "        movaps %xmm2, 32(%rsp)\n"
        "        movaps %xmm3, 48(%rsp)\n"
        "        movaps %xmm4, 64(%rsp)\n"
        "        movaps %xmm5, 80(%rsp)\n"
        "        movaps %xmm6, 96(%rsp)\n"
        "        movaps %xmm7, 112(%rsp)\n"
        "        movq %rdi, 128(%rsp)\n"
        "        movq %rsi, 136(%rsp)\n"
        "        movq %rdx, 144(%rsp)\n"
        "        movq %rcx, 152(%rsp)\n"
        "        movq %r8, 160(%rsp)\n"
        "        movq %r9, 168(%rsp)\n"
        "        movq %rax, 176(%rsp)\n"
        "        movq %r10, 184(%rsp)\n"
        "        movq %r11, %rdi\n"
        "        movq %rsp, %rsi\n"
        "        movq 200(%rsp), %rdx\n"
        "        call sgo_hook\n"
        "        movq %rax, %r11\n"
        "        movaps (%rsp), %xmm0\n"
        "        movaps 16(%rsp), %xmm1\n"
        "        movaps 32(%rsp), %xmm2\n"
        "        movaps 48(%rsp), %xmm3\n"
        "        movaps 64(%rsp), %xmm4\n"
        "        movaps 80(%rsp), %xmm5\n"
        "        movaps 96(%rsp), %xmm6\n"
        "        movaps 112(%rsp), %xmm7\n"
        "        movq 128(%rsp), %rdi\n"
        "        movq 136(%rsp), %rsi\n"
        "        movq 144(%rsp), %rdx\n"
        "        movq 152(%rsp), %rcx\n"
        "        movq 160(%rsp), %r8\n"
        "        movq 168(%rsp), %r9\n"
        "        movq 176(%rsp), %rax\n"
        "        movq 184(%rsp), %r10\n"
        "        addq $200, %rsp\n"
        "        .cfi_adjust_cfa_offset -200\n"
        "        jmp *%r11\n"
        "        .cfi_endproc\n"
        "        .size sgo_enter, .-sgo_enter\n");

_Static_assert(offsetof(struct sgo_registers, rdi) == 128, "as the stub saves them");
_Static_assert(offsetof(struct sgo_registers, rdx) == 144, "as the stub saves them");
_Static_assert(sizeof(struct sgo_registers) == 192, "as the stub saves them");

#define STUB(function, what)                                                                       \
        extern const struct sgo_entry sgo_entry_##function;                                        \
        const struct sgo_entry sgo_entry_##function = {#function, what};                           \
        __asm__(".text\n"                                                                          \
                ".p2align 4\n"                                                                     \
                ".globl " #function "\n"                                                           \
                ".type " #function ", @function\n" #function ":\n"                                 \
                "        .cfi_startproc\n"                                                         \
                "        endbr64\n"                                                                \
                "        leaq sgo_entry_" #function "(%rip), %r11\n"                               \
                "        jmp sgo_enter\n"                                                          \
                "        .cfi_endproc\n"                                                           \
                "        .size " #function ", .-" #function "\n");

/* gcc, and clang with -fopenmp=libgomp */
STUB(GOMP_parallel, SGO_PARALLEL)
STUB(GOMP_parallel_start, SGO_PARALLEL)
STUB(GOMP_parallel_reductions, SGO_PARALLEL)
STUB(GOMP_parallel_sections, SGO_PARALLEL)
STUB(GOMP_parallel_sections_start, SGO_PARALLEL)
STUB(GOMP_parallel_loop_static, SGO_PARALLEL)
STUB(GOMP_parallel_loop_dynamic, SGO_PARALLEL)
STUB(GOMP_parallel_loop_guided, SGO_PARALLEL)
STUB(GOMP_parallel_loop_runtime, SGO_PARALLEL)
STUB(GOMP_parallel_loop_nonmonotonic_dynamic, SGO_PARALLEL)
STUB(GOMP_parallel_loop_nonmonotonic_guided, SGO_PARALLEL)
STUB(GOMP_parallel_loop_nonmonotonic_runtime, SGO_PARALLEL)
STUB(GOMP_parallel_loop_maybe_nonmonotonic_runtime, SGO_PARALLEL)
STUB(GOMP_parallel_loop_static_start, SGO_PARALLEL)
STUB(GOMP_parallel_loop_dynamic_start, SGO_PARALLEL)
STUB(GOMP_parallel_loop_guided_start, SGO_PARALLEL)
STUB(GOMP_parallel_loop_runtime_start, SGO_PARALLEL)

/* clang, icx, ifort */
STUB(__kmpc_fork_call, SGO_FORK)
STUB(__kmpc_fork_call_if, SGO_FORK)
STUB(__kmpc_push_num_threads, SGO_PUSH)
STUB(__kmpc_serialized_parallel, SGO_SERIAL)

/* of both; Fortran's with underscores */
STUB(omp_set_num_threads, SGO_SET)
STUB(omp_set_num_threads_, SGO_SET)
STUB(omp_set_num_threads_8_, SGO_SET)
STUB(omp_get_max_threads, SGO_MAX)
STUB(omp_get_max_threads_, SGO_MAX)

/* Of the standard, by 64-bit integers, and as in the wheels of NumPy and SciPy. */
#define FORTRAN_1(function)                                                                        \
        STUB(function##_, SGO_BLAS)                                                                \
        STUB(function##_64_, SGO_BLAS)                                                             \
        STUB(scipy_##function##_, SGO_BLAS)                                                        \
        STUB(scipy_##function##_64_, SGO_BLAS)
#define CBLAS_1(function)                                                                          \
        STUB(cblas_##function, SGO_BLAS)                                                           \
        STUB(cblas_##function##64_, SGO_BLAS)                                                      \
        STUB(scipy_cblas_##function, SGO_BLAS)                                                     \
        STUB(scipy_cblas_##function##64_, SGO_BLAS)
#define REAL(one, name) one(s##name) one(d##name)
#define COMPLEX(one, name) one(c##name) one(z##name)
#define ALL(one, name) REAL(one, name) COMPLEX(one, name)
#define BLAS(one)                                                                                  \
        REAL(one, dot)                                                                             \
        ALL(one, axpy)                                                                             \
        ALL(one, gemv)                                                                             \
        REAL(one, ger)                                                                             \
        ALL(one, gemm)                                                                             \
        COMPLEX(one, gemm3m)                                                                       \
        ALL(one, symm)                                                                             \
        COMPLEX(one, hemm)                                                                         \
        ALL(one, syrk)                                                                             \
        COMPLEX(one, herk)                                                                         \
        ALL(one, syr2k)                                                                            \
        COMPLEX(one, her2k)                                                                        \
        ALL(one, trmm)                                                                             \
        ALL(one, trsm)

BLAS(CBLAS_1)
BLAS(FORTRAN_1)

/* Those of LAPACK that take long. */
ALL(FORTRAN_1, gesv)
ALL(FORTRAN_1, getrf)
ALL(FORTRAN_1, getrs)
ALL(FORTRAN_1, getri)
ALL(FORTRAN_1, posv)
ALL(FORTRAN_1, potrf)
ALL(FORTRAN_1, potri)
ALL(FORTRAN_1, geqrf)
REAL(FORTRAN_1, orgqr)
COMPLEX(FORTRAN_1, ungqr)
ALL(FORTRAN_1, gelsd)
ALL(FORTRAN_1, gesdd)
ALL(FORTRAN_1, gesvd)
ALL(FORTRAN_1, geev)
REAL(FORTRAN_1, syev)
REAL(FORTRAN_1, syevd)
REAL(FORTRAN_1, syevr)
COMPLEX(FORTRAN_1, heev)
COMPLEX(FORTRAN_1, heevd)

#endif
