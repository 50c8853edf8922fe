/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays as people write them. */
#include "tests/unit/test.h"

#include "proto/array.h"
#include <errno.h>
#include <string.h>

/* The indexes of a text, between blanks. */
static const char *indexes(const char *s)
{
        static char buf[256];
        struct sg_array_walk w = sg_array_walk(s);
        uint64_t index;

        buf[0] = 0;
        while (sg_array_next(&w, &index))
                (void)snprintf(buf + strlen(buf), sizeof(buf) - strlen(buf), "%s%u",
                               buf[0] ? " " : "", (unsigned)index);
        return buf;
}

static void test_good(void **state)
{
        static const struct {
                const char *text, *indexes;
                unsigned n, max;
        } cases[] = {
                {"0", "0", 1, 0},
                {"7", "7", 1, 0},
                {"0-3", "0 1 2 3", 4, 0},
                {"5-5", "5", 1, 0},
                {"1,3,5", "1 3 5", 3, 0},
                {"1-2,9,11-12", "1 2 9 11 12", 5, 0},
                {"1-3%2", "1 2 3", 3, 2},
                {"4%1", "4", 1, 1},
                {"2147483647", "2147483647", 1, 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                struct sg_array a;

                assert_int_equal(sg_array_parse(cases[i].text, &a), 0);
                assert_string_equal(indexes(cases[i].text), cases[i].indexes);
                assert_int_equal(a.n, cases[i].n);
                assert_int_equal(a.max, cases[i].max);
                assert_int_equal(a.first, strtoull(cases[i].indexes, NULL, 10));
        }
}

static void test_bad(void **state)
{
        static const char *const bad[] = {"",    "-",     "a",     "1-",   "-1",  "3-1",   "1,1",
                                          "3,1", "1-3,2", "1,",    ",1",   "1 2", "1%",    "1%0",
                                          "1%a", "%3",    "1%2%3", "1,%2", "0x1", "1-2-3", "1:2"};
        static const char *const large[] = {
                "0-10000",     "1,5-10004", "2147483648", "1-2147483647", "99999999999999999999999",
                "1%9999999999"};
        struct sg_array a = {.n = 77};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                if (sg_array_parse(bad[i], &a) != -EINVAL)
                        fail_msg("'%s' isn't refused", bad[i]);
        for (size_t i = 0; i < SG_ELEMENTSOF(large); i++)
                if (sg_array_parse(large[i], &a) != -ERANGE)
                        fail_msg("'%s' isn't too much", large[i]);
        assert_int_equal(a.n, 77);
}

/* The longest text that is needed for as many tasks as there may be fits where texts are bounded.
 */
static void test_largest(void **state)
{
        static char text[SG_ARRAY_TEXT_MAX + 1];
        struct sg_array a;
        size_t size = 0;

        (void)state;
        for (unsigned i = 0; i < SG_ARRAY_MAX; i++)
                size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%u", i ? "," : "",
                                         2147000000U + 2 * i);
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%%10000");
        assert_int_equal(size, strlen(text));
        assert_int_equal(sg_array_parse(text, &a), 0);
        assert_int_equal(a.n, SG_ARRAY_MAX);
        assert_int_equal(a.max, SG_ARRAY_MAX);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_good),
                cmocka_unit_test(test_bad),
                cmocka_unit_test(test_largest),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
