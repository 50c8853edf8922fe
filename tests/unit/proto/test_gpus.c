/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What people want of GPUs, as they write it. */
#include "tests/unit/test.h"

#include "proto/gpus.h"
#include <errno.h>

static void test_counts(void **state)
{
        static const struct {
                const char *text, *again;
                unsigned min, max, share;
        } cases[] = {
                {"1", "1", 1, 1, 100},     {"64", "64", 64, 64, 100}, {"1-4", "1-4", 1, 4, 100},
                {"3-3", "3", 3, 3, 100},   {"0", "0", 0, 0, 100},     {"0.5", "0.5", 1, 1, 50},
                {"0.05", "0.05", 1, 1, 5}, {".25", "0.25", 1, 1, 25}, {"0.95", "0.95", 1, 1, 95},
                {"0.50", "0.5", 1, 1, 50},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                uint64_t min, max, share;
                char buf[SG_GPUS_TEXT_MAX];

                if (sg_gpus_parse(cases[i].text, &min, &max, &share) < 0)
                        fail_msg("'%s' is refused", cases[i].text);
                assert_int_equal(min, cases[i].min);
                assert_int_equal(max, cases[i].max);
                assert_int_equal(share, cases[i].share);
                assert_string_equal(sg_gpus_format(buf, min, max, share), cases[i].again);
        }
}

static void test_bad_counts(void **state)
{
        static const char *const bad[] = {
                "",    "-1", "65",  "1-65",  "4-1", "0-4", "0.04", "0.96", "0.333",
                "0.",  ".",  "1.0", "1.5",   "50%", "two", "2 ",   " 2",   "00.5",
                "0x1", "1-", "+1",  "0.5-1", "0,5", "1e1", "0.a",  "0.5x", "18446744073709551617"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                uint64_t min = 7, max = 8, share = 9;

                if (sg_gpus_parse(bad[i], &min, &max, &share) >= 0)
                        fail_msg("'%s' isn't refused", bad[i]);
                assert_int_equal(min, 7);
                assert_int_equal(max, 8);
                assert_int_equal(share, 9);
        }
}

static void test_ids(void **state)
{
        static const char *const bad[] = {"",    ",",           "1,",   ",1",    "1,,2",
                                          "1,1", "GPU-a,GPU-a", "1 ,2", "GPU_a", "2-3",
                                          "-1",  "*",           "1x"};
        char many[400] = "0";
        size_t n = 0;

        (void)state;
        assert_int_equal(sg_gpu_ids_count("2", &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(sg_gpu_ids_count("2,0,GPU-8f6e2a11-0000-ABCD,MIG-1,1,11", &n), 0);
        assert_int_equal(n, 6);
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                if (sg_gpu_ids_count(bad[i], &n) != -EINVAL)
                        fail_msg("'%s' isn't refused", bad[i]);
        for (unsigned i = 1; i <= SG_GPUS_ASKED_MAX; i++)
                (void)snprintf(many + strlen(many), sizeof(many) - strlen(many), ",%u", i);
        assert_int_equal(sg_gpu_ids_count(many, &n), -ERANGE);
        assert_int_equal(n, 6);
}

static void test_mig(void **state)
{
        static const char *const good[] = {"1g.10gb", "7g.80gb", "1g.10gb+me", "1c.3g.40gb"};
        static const char *const bad[] = {"",
                                          "1g",
                                          "10gb",
                                          "g.10gb",
                                          "1G.10GB",
                                          "1g.10gb ",
                                          "1g.10gb,1g.10gb",
                                          "1g.1111111111111111111111111111111gb"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(good); i++)
                if (sg_gpu_mig_check(good[i]) < 0)
                        fail_msg("'%s' is refused", good[i]);
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                if (sg_gpu_mig_check(bad[i]) >= 0)
                        fail_msg("'%s' isn't refused", bad[i]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_counts),
                cmocka_unit_test(test_bad_counts),
                cmocka_unit_test(test_ids),
                cmocka_unit_test(test_mig),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
