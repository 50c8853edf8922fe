/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/format.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <time.h>

#define SEC 1000000ULL

struct format_case {
        uint64_t v;
        const char *want;
};

static void check(char *(*format)(char *, uint64_t), const struct format_case *cases, size_t n)
{
        char buf[SG_FORMAT_MAX];

        for (size_t i = 0; i < n; i++) {
                assert_ptr_equal(format(buf, cases[i].v), buf);
                assert_string_equal(buf, cases[i].want);
        }
}
#define CHECK(format, cases) check(format, cases, SG_ELEMENTSOF(cases))

static void test_bytes(void **state)
{
        static const struct format_case cases[] = {
                {0, "0B"},
                {1023, "1023B"},
                {1024, "1K"},
                {1536, "1.5K"},
                {512ULL << 20, "512M"},
                {3ULL << 29, "1.5G"},
                {(1ULL << 20) - 1, "1M"}, /* rounded into the next unit */
                {(1ULL << 30) - (40ULL << 10), "1G"},
                {(1ULL << 30) - (60ULL << 10), "1023.9M"},
                {1ULL << 50, "1P"},
                {UINT64_MAX - 1, "16384P"}, /* no further unit */
                {SG_UNLIMITED, "infinity"},
        };

        (void)state;
        CHECK(sg_format_bytes, cases);
}

static void test_usec(void **state)
{
        static const struct format_case cases[] = {
                {0, "0s"},
                {1, "1us"},
                {999, "999us"},
                {1180, "1.1ms"},
                {85000, "85ms"},
                {999999, "999.9ms"}, /* cut, never rounded up */
                {SEC, "1s"},
                {4200000, "4.2s"},
                {59999999, "59.9s"},
                {60 * SEC, "1min"},
                {303 * SEC, "5min 3s"},
                {3600 * SEC, "1h"},
                {5400 * SEC, "1h 30min"},
                {5459 * SEC, "1h 30min"},
                {86400 * SEC, "1d"},
                {90000 * SEC, "1d 1h"},
                {UINT64_MAX - 1, "213503982d 8h"},
                {SG_UNLIMITED, "infinity"},
        };

        (void)state;
        CHECK(sg_format_usec, cases);
}

static void test_percent(void **state)
{
        static const struct format_case cases[] = {
                {0, "0%"},
                {1, "0.01%"},
                {5, "0.05%"},
                {10, "0.1%"},
                {1250, "12.5%"},
                {1234, "12.34%"},
                {2000, "20%"},
                {15000, "150%"},
                {UINT64_MAX - 1, "184467440737095516.14%"},
                {SG_UNLIMITED, "infinity"},
        };

        (void)state;
        CHECK(sg_format_percent, cases);
}

static void test_rfc3339(void **state)
{
        static const struct format_case cases[] = {
                {0, "1970-01-01T00:00:00.000000Z"},
                {1795000000 * SEC + 1, "2026-11-18T11:06:40.000001Z"},
                {951868799 * SEC, "2000-02-29T23:59:59.000000Z"},
                {4107542400 * SEC, "2100-03-01T00:00:00.000000Z"}, /* 2100 is no leap year */
                {253402300799 * SEC + 999999, "9999-12-31T23:59:59.999999Z"},
        };
        char buf[SG_FORMAT_MAX];

        (void)state;
        CHECK(sg_format_rfc3339, cases);
        assert_non_null(strchr(sg_format_rfc3339(buf, UINT64_MAX), 'T'));
}

static void test_rfc3339_agrees_with_libc(void **state)
{
        (void)state;
        /* A step that is prime to days and years visits every kind of date. */
        for (uint64_t sec = 0; sec < 8000000000; sec += 1000003) {
                char want[SG_FORMAT_MAX], buf[SG_FORMAT_MAX];
                time_t t = (time_t)sec;
                struct tm tm;

                assert_non_null(gmtime_r(&t, &tm));
                assert_true(strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.000000Z", &tm) > 0);
                assert_string_equal(sg_format_rfc3339(buf, sec * SEC), want);
        }
}

static void test_local(void **state)
{
        static const struct format_case cases[] = {
                {1795000000 * SEC, "2026-11-18 12:06:40"},
                {1782864000 * SEC, "2026-07-01 02:00:00"},
        };

        (void)state;
        assert_int_equal(setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1), 0);
        CHECK(sg_format_local, cases);
}

static void test_cpuset_without_room(void **state)
{
        struct sg_cpuset set = {{0}};
        char buf[8] = "x";

        (void)state;
        assert_int_equal(sg_parse_cpuset("0-3,6,100", &set), 0); /* 9 characters */
        assert_int_equal(sg_format_cpuset(buf, 0, &set), -ENOSPC);
        assert_string_equal(buf, "x");
        assert_int_equal(sg_format_cpuset(buf, sizeof(buf), &set), -ENOSPC);
        assert_string_equal(buf, "0-3,6"); /* whole spans, terminated */
        assert_int_equal(sg_format_cpuset(buf, 1, &set), -ENOSPC);
        assert_string_equal(buf, "");
        assert_int_equal(sg_parse_cpuset("0-3,6-7", &set), 0);
        assert_int_equal(sg_format_cpuset(buf, sizeof(buf), &set), 0); /* 7 and the NUL */
        assert_string_equal(buf, "0-3,6-7");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_bytes),
                cmocka_unit_test(test_usec),
                cmocka_unit_test(test_percent),
                cmocka_unit_test(test_rfc3339),
                cmocka_unit_test(test_rfc3339_agrees_with_libc),
                cmocka_unit_test(test_local),
                cmocka_unit_test(test_cpuset_without_room),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
