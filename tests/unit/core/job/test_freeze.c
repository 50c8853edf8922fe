/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a job is frozen, in words. */
#include "core/job/freeze.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <string.h>

static void test_words(void **state)
{
        char text[SG_FREEZE_TEXT_MAX];
        uint64_t set;

        (void)state;
        for (uint64_t each = 0; each <= SG_FREEZE_ALL; each++) {
                sg_freeze_format(text, each);
                assert_true(strlen(text) < sizeof(text) - 1); /* a newline fits, too */
                assert_int_equal(sg_freeze_parse(text, &set), 0);
                assert_int_equal(set, each);
        }
        sg_freeze_format(text, SG_FREEZE_USER | SG_FREEZE_GPU);
        assert_string_equal(text, "user gpu");
        sg_freeze_format(text, SG_FREEZE_MOVE | SG_FREEZE_MEMORY);
        assert_string_equal(text, "move memory");
}

static void test_nonsense(void **state)
{
        static const char *const wrong[] = {"User",  "users",     "use",
                                            " user", "user  gpu", "user,gpu"};
        uint64_t set = 77;

        (void)state;
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
                assert_int_equal(sg_freeze_parse(wrong[i], &set), -EINVAL);
        assert_int_equal(set, 77);
}

static void test_change(void **state)
{
        uint64_t both = SG_FREEZE_USER | SG_FREEZE_MEMORY;

        (void)state;
        assert_int_equal(sg_freeze_change(SG_FREEZE_USER, SG_FREEZE_MEMORY, true), both);
        assert_int_equal(sg_freeze_change(both, SG_FREEZE_USER, true), both);
        assert_int_equal(sg_freeze_change(both, SG_FREEZE_USER, false), SG_FREEZE_MEMORY);
        assert_int_equal(sg_freeze_change(SG_FREEZE_USER, SG_FREEZE_GPU, false), SG_FREEZE_USER);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_words),
                cmocka_unit_test(test_nonsense),
                cmocka_unit_test(test_change),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
