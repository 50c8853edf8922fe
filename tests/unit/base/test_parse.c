/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/format.h"
#include "base/parse.h"
#include "tests/unit/test.h"

#include <signal.h>

#define MARK 77 /* what a failure must leave in the result */
#define SEC 1000000ULL

struct u64_case {
        const char *s;
        int r;
        uint64_t v;
};

static void check_u64(int (*parse)(const char *, uint64_t *), const struct u64_case *cases,
                      size_t n)
{
        for (size_t i = 0; i < n; i++) {
                uint64_t v = MARK;
                int r = parse(cases[i].s, &v);

                if (r != cases[i].r || v != (r < 0 ? MARK : cases[i].v))
                        fail_msg("'%s': %d, %llu; expected %d, %llu", cases[i].s, r,
                                 (unsigned long long)v, cases[i].r, (unsigned long long)cases[i].v);
        }
}
#define CHECK_U64(parse, cases) check_u64(parse, cases, SG_ELEMENTSOF(cases))

static void test_u64(void **state)
{
        static const struct u64_case cases[] = {
                {"0", 0, 0},
                {"007", 0, 7},
                {"18446744073709551615", 0, UINT64_MAX},
                {"18446744073709551616", -ERANGE, 0},
                {"99999999999999999999999", -ERANGE, 0},
                {"", -EINVAL, 0},
                {" 1", -EINVAL, 0},
                {"1 ", -EINVAL, 0},
                {"+1", -EINVAL, 0},
                {"-1", -EINVAL, 0},
                {"0x10", -EINVAL, 0},
                {"1.0", -EINVAL, 0},
                {"1\n", -EINVAL, 0},
                {"infinity", -EINVAL, 0},
        };

        (void)state;
        CHECK_U64(sg_parse_u64, cases);
}

static void test_u32(void **state)
{
        uint32_t v = MARK;

        (void)state;
        assert_int_equal(sg_parse_u32("4294967296", &v), -ERANGE);
        assert_int_equal(sg_parse_u32("99999999999999999999", &v), -ERANGE);
        assert_int_equal(sg_parse_u32("x", &v), -EINVAL);
        assert_int_equal(v, MARK);
        assert_int_equal(sg_parse_u32("4294967295", &v), 0);
        assert_int_equal(v, UINT32_MAX);
}

static void test_i32(void **state)
{
        static const struct {
                const char *s;
                int r;
                int32_t v;
        } cases[] = {
                {"0", 0, 0},
                {"-0", 0, 0},
                {"-5", 0, -5},
                {"2147483647", 0, INT32_MAX},
                {"2147483648", -ERANGE, 0},
                {"-2147483648", 0, INT32_MIN},
                {"-2147483649", -ERANGE, 0},
                {"--1", -EINVAL, 0},
                {"-", -EINVAL, 0},
                {"- 1", -EINVAL, 0},
                {"+1", -EINVAL, 0},
                {"", -EINVAL, 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                int32_t v = MARK;

                assert_int_equal(sg_parse_i32(cases[i].s, &v), cases[i].r);
                assert_int_equal(v, cases[i].r < 0 ? MARK : cases[i].v);
        }
}

static void test_bool(void **state)
{
        static const char *const yes[] = {"yes", "true", "on", "1"};
        static const char *const no[] = {"no", "false", "off", "0"};
        static const char *const neither[] = {"", "y", "Yes", "TRUE", "2", "on ", "infinity"};
        bool b;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(yes); i++) {
                b = false;
                assert_int_equal(sg_parse_bool(yes[i], &b), 0);
                assert_true(b);
                assert_int_equal(sg_parse_bool(no[i], &b), 0);
                assert_false(b);
        }
        for (size_t i = 0; i < SG_ELEMENTSOF(neither); i++) {
                b = true;
                assert_int_equal(sg_parse_bool(neither[i], &b), -EINVAL);
                assert_true(b);
        }
}

static void test_bytes(void **state)
{
        static const struct u64_case cases[] = {
                {"0", 0, 0},
                {"123", 0, 123},
                {"123B", 0, 123},
                {"1K", 0, 1024},
                {"1k", 0, 1024},
                {"1KB", 0, 1024},
                {"1KiB", 0, 1024},
                {"512M", 0, 512ULL << 20},
                {"1.5G", 0, 3ULL << 29},
                {"1.5GiB", 0, 3ULL << 29},
                {"0.1K", 0, 102},
                {"2T", 0, 2ULL << 40},
                {"4P", 0, 4ULL << 50},
                {"16383P", 0, 16383ULL << 50},
                {"16383.999999999P", 0, UINT64_MAX - 1125899}, /* 2^50 / 10^9 below the end */
                {"18446744073709551614", 0, UINT64_MAX - 1},
                {"infinity", 0, SG_UNLIMITED},
                {"18446744073709551615", -ERANGE, 0}, /* would read as infinity */
                {"16384P", -ERANGE, 0},
                {"18446744073709551616", -ERANGE, 0},
                {"1.5", -EINVAL, 0}, /* half a byte */
                {"1.5B", -EINVAL, 0},
                {"1.", -EINVAL, 0},
                {".5G", -EINVAL, 0},
                {"1.0000000001G", -EINVAL, 0}, /* ten digits */
                {"1 G", -EINVAL, 0},
                {"1Gb", -EINVAL, 0},
                {"1GiBs", -EINVAL, 0},
                {"1Gi", -EINVAL, 0},
                {"1iB", -EINVAL, 0},
                {"1E", -EINVAL, 0},
                {"1e3", -EINVAL, 0},
                {"G", -EINVAL, 0},
                {"-1G", -EINVAL, 0},
                {"", -EINVAL, 0},
                {"Infinity", -EINVAL, 0},
                {"50%", -EINVAL, 0},
        };

        (void)state;
        CHECK_U64(sg_parse_bytes, cases);
}

static void test_usec(void **state)
{
        static const struct u64_case cases[] = {
                {"90", 0, 90 * SEC},
                {"0", 0, 0},
                {"0.5", 0, SEC / 2},
                {"2h", 0, 7200 * SEC},
                {"1h 30min", 0, 5400 * SEC},
                {"1h30min", 0, 5400 * SEC},
                {"1h 30m 15s", 0, 5415 * SEC},
                {"500ms", 0, 500000},
                {"250us", 0, 250},
                {"1.5s", 0, SEC * 3 / 2},
                {"1.5 hours", 0, 5400 * SEC},
                {"1d", 0, 86400 * SEC},
                {"2 weeks", 0, 14 * 86400 * SEC},
                {"1:30:00", 0, 5400 * SEC},
                {"100:00:01", 0, 360001 * SEC},
                {"infinity", 0, SG_UNLIMITED},
                {"18446744073709551614us", 0, UINT64_MAX - 1},
                {"18446744073709551615us", -ERANGE, 0},
                {"18446744073709s 551615us", -ERANGE, 0},
                {"18446744073709551614us 1us", -ERANGE, 0},
                {"99999999999999999999", -ERANGE, 0},
                {"213503982334602d", -ERANGE, 0},
                {"99999999999999999:00:00", -ERANGE, 0},
                {"5124095576:01:49", 0, 18446744073709000000ULL},
                {"5124095576:01:50", -ERANGE, 0},
                {"1:30", -EINVAL, 0}, /* hours and minutes, or minutes and seconds? */
                {"1:3:00", -EINVAL, 0},
                {"1:60:00", -EINVAL, 0},
                {"1:00:60", -EINVAL, 0},
                {"1:00:00:00", -EINVAL, 0},
                {"1.5:00:00", -EINVAL, 0},
                {"1h 1:00:00", -EINVAL, 0},
                {"1h 30", -EINVAL, 0},
                {"1h ", -EINVAL, 0},
                {" 1h", -EINVAL, 0},
                {"1 ", -EINVAL, 0},
                {"1H", -EINVAL, 0},
                {"1month", -EINVAL, 0},
                {"h", -EINVAL, 0},
                {"-1s", -EINVAL, 0},
                {"", -EINVAL, 0},
                {"1.0000000001s", -EINVAL, 0},
        };

        (void)state;
        CHECK_U64(sg_parse_usec, cases);
}

static void test_percent(void **state)
{
        static const struct u64_case cases[] = {
                {"20%", 0, 2000},
                {"12.5%", 0, 1250},
                {"0.01%", 0, 1},
                {"150%", 0, 15000},
                {"0%", 0, 0},
                {"184467440737095516%", 0, 18446744073709551600ULL},
                {"184467440737095517%", -ERANGE, 0},
                {"0.001%", -EINVAL, 0},
                {"20", -EINVAL, 0},
                {"20 %", -EINVAL, 0},
                {"20%%", -EINVAL, 0},
                {"%", -EINVAL, 0},
                {"-20%", -EINVAL, 0},
                {"", -EINVAL, 0},
                {"infinity", -EINVAL, 0},
        };

        (void)state;
        CHECK_U64(sg_parse_percent, cases);
}

static void test_range(void **state)
{
        static const struct {
                const char *s;
                int r;
                uint32_t lo, hi;
        } cases[] = {
                {"4", 0, 4, 4},
                {"2-8", 0, 2, 8},
                {"1-1", 0, 1, 1},
                {"1-4294967295", 0, 1, UINT32_MAX},
                {"1-4294967296", -ERANGE, 0, 0},
                {"99999999999999999999", -ERANGE, 0, 0},
                {"1-99999999999999999999", -ERANGE, 0, 0},
                {"0", -EINVAL, 0, 0},
                {"0-3", -EINVAL, 0, 0},
                {"8-2", -EINVAL, 0, 0},
                {"2-", -EINVAL, 0, 0},
                {"-2", -EINVAL, 0, 0},
                {"2-3-4", -EINVAL, 0, 0},
                {"2 - 3", -EINVAL, 0, 0},
                {"", -EINVAL, 0, 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                uint32_t lo = MARK, hi = MARK;

                assert_int_equal(sg_parse_range(cases[i].s, &lo, &hi), cases[i].r);
                assert_int_equal(lo, cases[i].r < 0 ? MARK : cases[i].lo);
                assert_int_equal(hi, cases[i].r < 0 ? MARK : cases[i].hi);
        }
}

static void test_signal(void **state)
{
        const struct {
                const char *s;
                int r, v;
        } cases[] = {
                {"TERM", 0, SIGTERM},
                {"SIGTERM", 0, SIGTERM},
                {"15", 0, SIGTERM},
                {"USR1", 0, SIGUSR1},
                {"RTMIN", 0, SIGRTMIN},
                {"SIGRTMIN+3", 0, SIGRTMIN + 3},
                {"RTMIN+30", 0, SIGRTMAX},
                {"RTMAX", 0, SIGRTMAX},
                {"RTMAX-1", 0, SIGRTMAX - 1},
                {"64", 0, 64},
                {"RTMIN+31", -ERANGE, 0},
                {"RTMAX-31", -ERANGE, 0},
                {"RTMIN-1", -EINVAL, 0},
                {"RTMAX+1", -EINVAL, 0},
                {"RTMIN+", -EINVAL, 0},
                {"RTMIN+x", -EINVAL, 0},
                {"RTMIN3", -EINVAL, 0},
                {"0", -EINVAL, 0},
                {"32", -EINVAL, 0}, /* glibc's own */
                {"33", -EINVAL, 0},
                {"65", -EINVAL, 0},
                {"4294967295", -EINVAL, 0},
                {"4294967311", -ERANGE, 0}, /* 2^32 + 15 */
                {"15x", -EINVAL, 0},
                {"-9", -EINVAL, 0},
                {"term", -EINVAL, 0},
                {"SIG", -EINVAL, 0},
                {"SIGSIGTERM", -EINVAL, 0},
                {"SIG15", -EINVAL, 0},
                {"", -EINVAL, 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                int v = MARK, r = sg_parse_signal(cases[i].s, &v);

                if (r != cases[i].r || v != (r < 0 ? MARK : cases[i].v))
                        fail_msg("'%s': %d, %d", cases[i].s, r, v);
        }
}

static void test_signal_names_parse_back(void **state)
{
        char text[SG_SIGNAL_TEXT_MAX];
        int named = 0;

        (void)state;
        for (int sig = -1; sig <= SIGRTMAX + 1; sig++) {
                const char *name = sg_signal_name(sig);
                int back;

                if (!name)
                        continue;
                assert_int_equal(sg_parse_signal(name, &back), 0);
                assert_int_equal(back, sig);
                named++;
        }
        assert_int_equal(named, 62); /* 1 … 64 without 32 and 33 */
        assert_string_equal(sg_signal_name(SIGKILL), "KILL");
        assert_null(sg_signal_name(0));
        assert_null(sg_signal_name(65));
        assert_string_equal(sg_signal_text(text, SIGTERM), "SIGTERM");
        assert_string_equal(sg_signal_text(text, 33), "signal 33");
        assert_string_equal(sg_signal_text(text, 12345), "signal 12345");
}

static void test_cpuset(void **state)
{
        static const struct {
                const char *s;
                int r;
                const char *canonical;
                unsigned n;
        } cases[] = {
                {"", 0, "", 0},
                {"0", 0, "0", 1},
                {"0-3,6", 0, "0-3,6", 5},
                {"6,0-3,2,2", 0, "0-3,6", 5},
                {"3,4,5", 0, "3-5", 3},
                {"63-64", 0, "63-64", 2},
                {"1023", 0, "1023", 1},
                {"0-1023", 0, "0-1023", 1024},
                {"1024", -ERANGE, NULL, 0},
                {"0-1024", -ERANGE, NULL, 0},
                {"0-99999999999999999999", -ERANGE, NULL, 0},
                {"3-1", -EINVAL, NULL, 0},
                {"0,", -EINVAL, NULL, 0},
                {",0", -EINVAL, NULL, 0},
                {"0,,1", -EINVAL, NULL, 0},
                {"0-", -EINVAL, NULL, 0},
                {"-1", -EINVAL, NULL, 0},
                {"0 1", -EINVAL, NULL, 0},
                {"0-3\n", -EINVAL, NULL, 0},
                {"0-7:2/4", -EINVAL, NULL, 0},
                {"all", -EINVAL, NULL, 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                struct sg_cpuset set = {{MARK}};
                char buf[64];

                assert_int_equal(sg_parse_cpuset(cases[i].s, &set), cases[i].r);
                if (cases[i].r < 0) {
                        assert_int_equal(set.bits[0], MARK);
                        continue;
                }
                assert_int_equal(sg_cpuset_count(&set), cases[i].n);
                assert_int_equal(sg_format_cpuset(buf, sizeof(buf), &set), 0);
                assert_string_equal(buf, cases[i].canonical);
        }
}

static void test_cpuset_bounds(void **state)
{
        struct sg_cpuset set = {{0}};

        (void)state;
        sg_cpuset_add(&set, SG_CPUS_MAX);
        sg_cpuset_add(&set, UINT32_MAX);
        assert_int_equal(sg_cpuset_count(&set), 0);
        sg_cpuset_add(&set, SG_CPUS_MAX - 1);
        assert_true(sg_cpuset_has(&set, SG_CPUS_MAX - 1));
        assert_false(sg_cpuset_has(&set, SG_CPUS_MAX));
        assert_false(sg_cpuset_has(&set, 0));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_u64),     cmocka_unit_test(test_u32),
                cmocka_unit_test(test_i32),     cmocka_unit_test(test_bool),
                cmocka_unit_test(test_bytes),   cmocka_unit_test(test_usec),
                cmocka_unit_test(test_percent), cmocka_unit_test(test_range),
                cmocka_unit_test(test_signal),  cmocka_unit_test(test_signal_names_parse_back),
                cmocka_unit_test(test_cpuset),  cmocka_unit_test(test_cpuset_bounds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
