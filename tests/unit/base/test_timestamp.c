/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/parse.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <time.h>

#define MARK 77 /* what a failure must leave in the result */
#define SEC 1000000ULL

struct u64_case {
        const char *s;
        int r;
        uint64_t v;
};

/* 2026-11-18T11:06:40Z, which is 12:06:40 in Berlin. */
#define NOW 1795000000ULL

typedef int (*parse_fn)(const char *s, uint64_t now_usec, uint64_t *ret_usec);

static void check_by(parse_fn parse, const struct u64_case *cases, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                uint64_t v = MARK;
                int r = parse(cases[i].s, NOW * SEC, &v);

                if (r != cases[i].r || v != (r < 0 ? MARK : cases[i].v))
                        fail_msg("'%s': %d, %llu; expected %d, %llu", cases[i].s, r,
                                 (unsigned long long)v, cases[i].r, (unsigned long long)cases[i].v);
        }
}

static void check(const struct u64_case *cases, size_t n)
{
        check_by(sg_parse_timestamp, cases, n);
}

static void test_timestamp_universal(void **state)
{
        static const struct u64_case cases[] = {
                {"now", 0, NOW * SEC},
                {"+10min", 0, (NOW + 600) * SEC},
                {"10min", 0, (NOW + 600) * SEC},
                {"1h 30min", 0, (NOW + 5400) * SEC},
                {"+90", 0, (NOW + 90) * SEC},
                {"90", -EINVAL, 0}, /* of what? */
                {"90 parsecs", -EINVAL, 0},
                {"18446744073709551614us", -ERANGE, 0},
                {"+infinity", -EINVAL, 0},
                {"+", -EINVAL, 0},
                {"+18446744073709551614us", -ERANGE, 0},
                {"+18446744073709500000us", -ERANGE, 0},
                {"2026-11-18T11:06:40Z", 0, NOW * SEC},
                {"2026-11-18T11:06:40.5Z", 0, NOW * SEC + 500000},
                {"2026-11-18T11:06:40.000001Z", 0, NOW * SEC + 1},
                {"2026-11-18T11:06:40.123456789Z", 0, NOW * SEC + 123456},
                {"2026-11-18T12:06:40+01:00", 0, NOW * SEC},
                {"2026-11-18T05:36:40-05:30", 0, NOW * SEC},
                {"1970-01-01T00:00:00Z", 0, 0},
                {"1970-01-01T01:00:00+01:00", 0, 0},
                {"2000-02-29T00:00:00Z", 0, 951782400 * SEC},
                {"9999-12-31T23:59:59.999999Z", 0, 253402300799 * SEC + 999999},
                {"9999-12-31T23:59:59-00:01", -ERANGE, 0},
                {"1969-12-31T23:59:59Z", -ERANGE, 0},
                {"1970-01-01T00:00:00+00:01", -ERANGE, 0},
                {"2026-11-18T11:06:40", -EINVAL, 0}, /* no zone */
                {"2026-11-18T11:06Z", -EINVAL, 0},
                {"2026-11-18T11:06:40.Z", -EINVAL, 0},
                {"2026-11-18T11:06:40.1234567890Z", -EINVAL, 0},
                {"2026-11-18T11:06:40z", -EINVAL, 0},
                {"2026-11-18T11:06:40+1:00", -EINVAL, 0},
                {"2026-11-18T11:06:40+0100", -EINVAL, 0},
                {"2026-11-18T11:06:40+24:00", -EINVAL, 0},
                {"2026-11-18T11:06:40Zx", -EINVAL, 0},
                {"2026-11-18T24:00:00Z", -EINVAL, 0},
                {"2026-11-18T11:60:00Z", -EINVAL, 0},
                {"2026-11-18T11:06:60Z", -EINVAL, 0},
                {"2026-02-29T00:00:00Z", -EINVAL, 0},
                {"1900-02-29T00:00:00Z", -EINVAL, 0},
                {"2026-13-01T00:00:00Z", -EINVAL, 0},
                {"2026-00-01T00:00:00Z", -EINVAL, 0},
                {"2026-04-31T00:00:00Z", -EINVAL, 0},
                {"2026-04-00T00:00:00Z", -EINVAL, 0},
                {"26-04-01T00:00:00Z", -EINVAL, 0},
                {"2026-11-18", -EINVAL, 0},
                {"tomorrow", -EINVAL, 0},
                {" now", -EINVAL, 0},
                {"", -EINVAL, 0},
        };

        (void)state;
        check(cases, SG_ELEMENTSOF(cases));
}

static int set_zone(const char *zone)
{
        int r = setenv("TZ", zone, 1);

        tzset();
        return r;
}

/* The zone is spelled out, so that no zone file is needed. */
static int berlin(void **state)
{
        (void)state;
        return set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
}

static int utc(void **state)
{
        (void)state;
        return set_zone("UTC0");
}

static void test_timestamp_local(void **state)
{
        static const struct u64_case cases[] = {
                {"2026-11-18 12:06:40", 0, NOW * SEC},
                {"2026-11-18 12:06", 0, (NOW - 40) * SEC},
                {"2026-07-01 02:00:00", 0, 1782864000 * SEC}, /* summer time */
                {"12:30", 0, (NOW + 23 * 60 + 20) * SEC},
                {"12:07", 0, (NOW + 20) * SEC},
                {"12:06", 0, (NOW + 86400 - 40) * SEC}, /* past, so tomorrow's */
                {"00:00", 0, (NOW + 11 * 3600 + 53 * 60 + 20) * SEC},
                {"1970-01-01 00:59", -ERANGE, 0},
                {"2026-11-18 12", -EINVAL, 0},
                {"2026-11-18 12:06:40.5", -EINVAL, 0},
                {"2026-11-18 12:06:40Z", -EINVAL, 0},
                {"2026-11-18  12:06", -EINVAL, 0},
                {"24:00", -EINVAL, 0},
                {"1:30", -EINVAL, 0},
                {"12:30:00", -EINVAL, 0},
                {"12:3", -EINVAL, 0},
        };

        (void)state;
        check(cases, SG_ELEMENTSOF(cases));
}

static void test_time_of_day_across_the_change_of_clocks(void **state)
{
        uint64_t now = 1792879200 * SEC; /* 2026-10-24 22:00 UTC, midnight in Berlin */
        uint64_t v;

        (void)state;
        assert_int_equal(sg_parse_timestamp("00:00", now, &v), 0);
        assert_int_equal(v - now, 25 * 3600 * SEC);
}

static void test_past(void **state)
{
        static const struct u64_case cases[] = {
                {"now", 0, NOW * SEC},
                {"-10min", 0, (NOW - 600) * SEC},
                {"10min", 0, (NOW - 600) * SEC},
                {"-30000d", 0, 0}, /* before there was a clock */
                {"+10min", -EINVAL, 0},
                {"--10min", -EINVAL, 0},
                {"-infinity", -EINVAL, 0},
                {"2026-11-18T11:06:40Z", 0, NOW * SEC},
                {"12:07", 0, (NOW + 20 - 24 * 3600) * SEC}, /* of yesterday */
                {"12:06", 0, (NOW - 40) * SEC},
                {"00:00", 0, (NOW - 12 * 3600 - 6 * 60 - 40) * SEC},
        };

        (void)state;
        check_by(sg_parse_past, cases, SG_ELEMENTSOF(cases));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_timestamp_universal),
                cmocka_unit_test_setup_teardown(test_timestamp_local, berlin, utc),
                cmocka_unit_test_setup_teardown(test_time_of_day_across_the_change_of_clocks,
                                                berlin, utc),
                cmocka_unit_test_setup_teardown(test_past, berlin, utc),
        };

        return cmocka_run_group_tests(tests, utc, NULL);
}
