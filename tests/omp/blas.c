/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Both a BLAS with threads of its own, as MKL has them, and a program that calls it. */
#include <stdio.h>
#include <string.h>

void MKL_Set_Num_Threads(int n);
int MKL_Get_Max_Threads(void);
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
int cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha,
                const double *a, int lda, const double *b, int ldb, double beta, double *c,
                int ldc);

#ifdef LIBRARY
static int threads = 8, sets;

void MKL_Set_Num_Threads(int n)
{
        threads = n;
        sets++;
}

int MKL_Get_Max_Threads(void)
{
        return threads;
}

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy)
{
        return *x * *y + *n + *incx + *incy;
}

/* Whether each argument is what it was, in whatever register or place. */
int cblas_dgemm(int order, int transa, int transb, int m, int n, int k, double alpha,
                const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc)
{
        int whole = order == 1 && transa == 2 && transb == 3 && m == 4 && n == 5 && k == 6 &&
                    alpha == 0.5 && *a == 7 && lda == 8 && *b == 9 && ldb == 10 && beta == 0.25 &&
                    *c == 11 && ldc == 12;

        return whole ? threads * 100 + sets : -1;
}
#else
int main(void)
{
        const double a = 7, b = 9;
        const int one = 1;
        double c = 11;
        char line[64];
        int n;

        while (fgets(line, sizeof(line), stdin)) {
                if (sscanf(line, "set %d", &n) == 1)
                        MKL_Set_Num_Threads(n);
                else if (strcmp(line, "dot\n") == 0)
                        (void)printf("%d\n", (int)ddot_(&one, &a, &one, &b, &one));
                else
                        (void)printf("%d\n", cblas_dgemm(1, 2, 3, 4, 5, 6, 0.5, &a, 8, &b, 10, 0.25,
                                                         &c, 12));
                (void)fflush(stdout);
        }
        return 0;
}
#endif
