/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every boundary of the table of well-formed sequences in RFC 3629. */

#include "tests/unit/test.h"

#include "base/utf8.h"

static void test_size(void **state)
{
        static const struct {
                const char *s;
                size_t n, size;
        } cases[] = {
                {"", 0, 0},
                {"", 1, 1}, /* NUL is a character as well */
                {"\x7f", 1, 1},
                {"\x80", 1, 0},
                {"\xc1\xbf", 2, 0}, /* overlong */
                {"\xc2\x80", 2, 2},
                {"\xdf\xbf", 2, 2},
                {"\xdf\x7f", 2, 0},
                {"\xdf\xc0", 2, 0},
                {"\xe0\x9f\xbf", 3, 0}, /* overlong */
                {"\xe0\xa0\x80", 3, 3},
                {"\xed\x9f\xbf", 3, 3},
                {"\xed\xa0\x80", 3, 0}, /* a surrogate */
                {"\xee\x80\x80", 3, 3},
                {"\xef\xbf\xbf", 3, 3},
                {"\xef\xbf\x7f", 3, 0},
                {"\xf0\x8f\xbf\xbf", 4, 0}, /* overlong */
                {"\xf0\x90\x80\x80", 4, 4},
                {"\xf4\x8f\xbf\xbf", 4, 4},
                {"\xf4\x90\x80\x80", 4, 0}, /* beyond U+10FFFF */
                {"\xf5\x80\x80\x80", 4, 0},
                {"\xf0\x90\x80\x41", 4, 0},
                {"\xf0\x90\x80", 3, 0}, /* cut off */
                {"\xe2\x82", 2, 0},
                {"\xc3", 1, 0},
                {"ä and more", 11, 2},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++)
                if (sg_utf8_size(cases[i].s, cases[i].n) != cases[i].size)
                        fail_msg("case %zu: %zu, not %zu", i, sg_utf8_size(cases[i].s, cases[i].n),
                                 cases[i].size);
}

static void test_is_valid(void **state)
{
        static const char text[] = "ä€\xf0\x9f\x98\x80.";

        (void)state;
        assert_true(sg_utf8_is_valid("", 0));
        assert_true(sg_utf8_is_valid(text, sizeof(text)));
        assert_false(sg_utf8_is_valid(text, 1));
        assert_false(sg_utf8_is_valid(text, 4));
        assert_false(sg_utf8_is_valid(text + 1, sizeof(text) - 1));
}

static void test_fit(void **state)
{
        static const char text[] = "aä€\xff.";
        static const size_t fits[] = {0, 1, 1, 3, 3, 3, 6, 7, 8, 8};

        (void)state;
        for (size_t max = 0; max < SG_ELEMENTSOF(fits); max++)
                assert_int_equal(sg_utf8_fit(text, strlen(text), max), fits[max]);
}

static void test_clean(void **state)
{
        char text[] = "a\tä\x7f€\xc2\x85\xc2\xa0\xff\xf0\x9f\x98\x80\xe2\x82";

        (void)state;
        sg_utf8_clean(text, strlen(text));
        assert_string_equal(text, "a?ä?€??\xc2\xa0?\xf0\x9f\x98\x80??");
        sg_utf8_clean(text, 0);
}

static void nothing_reaches_the_terminal_unescaped(void **state)
{
        static const char *const table[][2] = {
                {"plain", "plain"},
                {"prüfung ✓ 𝄞", "prüfung ✓ 𝄞"},
                {"a\nb\tc", "a\\nb\\tc"},
                {"\x1b[31mred", "\\x1b[31mred"},
                {"\x7f", "\\x7f"},
                {"\xc2\x9b"
                 "31m",
                 "\\xc2\\x9b31m"},                       /* C1: CSI */
                {"a\xe2\x80\xae.", "a\\xe2\\x80\\xae."}, /* right-to-left override */
                {"a\xd8\x9c.", "a\\xd8\\x9c."},          /* Arabic letter mark */
                {"a\xffz", "a\\xffz"},
                {"\xc0\xaf", "\\xc0\\xaf"},          /* overlong */
                {"\xed\xa0\x80", "\\xed\\xa0\\x80"}, /* surrogate */
                {"\xe2\x82", "\\xe2\\x82"},          /* cut short */
        };
        char buf[64], small[6];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(table); i++)
                assert_string_equal(sg_utf8_escape(table[i][0], buf, sizeof(buf)), table[i][1]);
        assert_string_equal(sg_utf8_escape("ab\ncd", small, sizeof(small)), "ab\\nc");
        assert_string_equal(sg_utf8_escape("abcd\nx", small, sizeof(small)), "abcd");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_size),
                cmocka_unit_test(test_is_valid),
                cmocka_unit_test(test_fit),
                cmocka_unit_test(test_clean),
                cmocka_unit_test(nothing_reaches_the_terminal_unescaped),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
