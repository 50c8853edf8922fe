/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/number.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 300000

static size_t scanned(const char *s, double *ret)
{
        const char *p = sg_number_scan(s, s + strlen(s), ret);

        return p ? (size_t)(p - s) : 0;
}

static void test_forms(void **state)
{
        static const struct {
                const char *text;
                size_t n; /* that belong to it */
                double want;
        } cases[] = {
                {"12", 2, 12},
                {"-0.5", 4, -0.5},
                {"+1e-3", 5, 0.001},
                {".5", 2, 0.5},
                {"1.", 2, 1},
                {"1e5x", 3, 1e5},
                {"5e", 1, 5},
                {"5e-", 1, 5},
                {"0.25, acc", 4, 0.25},
                {"1.2.3", 3, 1.2},
                {"2.3026e+00", 10, 2.3026},
                {"1e400", 5, (double)INFINITY},
                {"1e-400", 6, 0},
                {"0e999999999999", 14, 0},
                {"-0", 2, -0.0},
                {"inf", 3, (double)INFINITY},
                {"-Infinity", 9, -(double)INFINITY},
                {"123456789012345678901234567890", 30, 123456789012345678901234567890.0},
                {"0.000000000000000000000000000001", 32, 1e-30},
                {"4.9e-324", 8, 4.9e-324},
                {"1.7976931348623157e308", 22, 1.7976931348623157e308},
        };
        static const char *const none[] = {"",    "-",  ".",  "e5",   "x",
                                           "--1", "-.", "in", "loss", " 1"};
        double v;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                assert_int_equal(scanned(cases[i].text, &v), cases[i].n);
                if (memcmp(&v, &cases[i].want, sizeof(v)) != 0)
                        fail_msg("%s is %.17g", cases[i].text, v);
        }
        assert_int_equal(scanned("NaN", &v), 3);
        assert_true(isnan(v));
        v = 7;
        for (size_t i = 0; i < SG_ELEMENTSOF(none); i++)
                assert_int_equal(scanned(none[i], &v), 0);
        assert_true(v == 7);
}

/* Units of the last place between two numbers of the same sign. */
static uint64_t apart(double a, double b)
{
        int64_t x, y;

        memcpy(&x, &a, sizeof(x));
        memcpy(&y, &b, sizeof(y));
        return x > y ? (uint64_t)(x - y) : (uint64_t)(y - x);
}

/* As strtod() in the C locale: exactly what programs print, within one unit all else. */
static void test_exact(void **state)
{
        char text[64];

        (void)state;
        srand48(4);
        for (int i = 0; i < ROUNDS; i++) {
                uint64_t bits = (uint64_t)mrand48() << 32 ^ (uint32_t)mrand48();
                double any, got = 0, printed = drand48() * exp(40 * drand48() - 20);

                memcpy(&any, &bits, sizeof(any));
                if (isfinite(any)) {
                        (void)snprintf(text, sizeof(text), "%.17g", any);
                        assert_int_equal(scanned(text, &got), strlen(text));
                        assert_true(apart(got, strtod(text, NULL)) <= 1);
                }
                (void)snprintf(text, sizeof(text), i & 1 ? "%.6g" : "%.4e", printed);
                assert_int_equal(scanned(text, &got), strlen(text));
                assert_true(got == strtod(text, NULL));
        }
}

static void test_count(void **state)
{
        static const char max[] = "18446744073709551615", more[] = "18446744073709551616";
        uint64_t v = 7;

        (void)state;
        assert_null(sg_count_scan("x", "x" + 1, &v));
        assert_null(sg_count_scan(more, more + 20, &v));
        assert_null(sg_count_scan(max, max, &v));
        assert_true(v == 7);
        assert_ptr_equal(sg_count_scan(max, max + 20, &v), max + 20);
        assert_true(v == UINT64_MAX);
        assert_ptr_equal(sg_count_scan(max, max + 2, &v), max + 2);
        assert_true(v == 18);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_forms),
                cmocka_unit_test(test_exact),
                cmocka_unit_test(test_count),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
