/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/address.h"
#include "tests/unit/test.h"

static void test_right(void **state)
{
        static const struct {
                const char *text, *again;
                bool loopback;
        } cases[] = {
                {"9750", "127.0.0.1:9750", true},
                {"127.0.0.1:1", "127.0.0.1:1", true},
                {"127.9.9.9:65535", "127.9.9.9:65535", true},
                {"0.0.0.0:80", "0.0.0.0:80", false},
                {"192.0.2.7:80", "192.0.2.7:80", false},
                {"[::1]:80", "[::1]:80", true},
                {"[::]:80", "[::]:80", false},
                {"[2001:DB8::0:1]:80", "[2001:db8::1]:80", false},
                {"[::ffff:127.0.0.1]:80", "[::ffff:127.0.0.1]:80", false},
        };
        struct sg_address a, b;
        char buf[SG_ADDRESS_MAX];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                memset(&a, 0xaa, sizeof(a));
                memset(&b, 0x55, sizeof(b));
                assert_int_equal(sg_parse_address(cases[i].text, &a), 0);
                assert_string_equal(sg_format_address(buf, &a), cases[i].again);
                assert_int_equal(sg_address_is_loopback(&a), cases[i].loopback);
                assert_int_equal(sg_parse_address(buf, &b), 0);
                assert_memory_equal(&a, &b, sizeof(a));
        }
}

static void test_wrong(void **state)
{
        static const char *const cases[] = {
                "",
                "0",
                "65536",
                ":80",
                "*:80",
                "localhost:80",
                "127.0.0.1",
                "127.1:80",
                "::1:80",
                "[::1]",
                "[::1:80",
                "[]:80",
                "[::1]x:80",
                "1.2.3.4:",
                "1.2.3.4:0",
                "1.2.3.4:+80",
                " 80",
                "1.2.3.4:80 ",
                "[fe80::1%lo]:80",
                "[1.2.3.4]:80",
                "1.2.3.4.5:80",
                "[:80",
                "[",
                "]:80",
        };
        struct sg_address a = {.port = 7}, before = a;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                if (sg_parse_address(cases[i], &a) != -EINVAL)
                        fail_msg("'%s' is accepted", cases[i]);
                assert_memory_equal(&a, &before, sizeof(a));
        }
}

static void test_none(void **state)
{
        const struct sg_address none = {0};
        char buf[SG_ADDRESS_MAX] = "x";

        (void)state;
        assert_string_equal(sg_format_address(buf, &none), "");
        assert_false(sg_address_is_loopback(&none));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_right),
                cmocka_unit_test(test_wrong),
                cmocka_unit_test(test_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
