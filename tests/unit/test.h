/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What cmocka.h wants to have been included before it, and what nearly every test needs. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* So much less of what is done again and again, with other numbers. */
#ifdef __SANITIZE_ADDRESS__
#define TEST_SLOW 10
#else
#define TEST_SLOW 1
#endif

/* Numbers with a fraction. What isn't so is printed with its value, and with the line of the test,
 * which a function would hide. */
#define assert_near(got, want, off)                                                                \
        test_near((double)(got), (double)(want), off, #got, __FILE__, __LINE__)
/* … by a part of the larger one; the least that is told apart is 1e-12. */
#define assert_alike(got, want, part)                                                              \
        test_alike((double)(got), (double)(want), part, #got, __FILE__, __LINE__)
/* Bounds included. */
#define assert_in_between(got, least, most)                                                        \
        test_in_between((double)(got), (double)(least), (double)(most), #got, __FILE__, __LINE__)

static inline void test_near(double got, double want, double off, const char *what,
                             const char *file, int line)
{
        if (got == want || fabs(got - want) <= off)
                return;
        print_error("%s is %.17g, not %.17g ± %g\n", what, got, want, off);
        _fail(file, line);
}

static inline void test_alike(double got, double want, double part, const char *what,
                              const char *file, int line)
{
        double larger = fabs(got) > fabs(want) ? fabs(got) : fabs(want);

        test_near(got, want, part * larger + 1e-12, what, file, line);
}

static inline void test_in_between(double got, double least, double most, const char *what,
                                   const char *file, int line)
{
        if (got >= least && got <= most)
                return;
        print_error("%s is %.17g, not in %.17g to %.17g\n", what, got, least, most);
        _fail(file, line);
}
