/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command of a job in words. */
#include "base/cleanup.h"
#include "core/job/command.h"
#include "tests/unit/test.h"
#include <stdlib.h>

#define SHOWN 160

static void assert_joined(const char *argv, size_t size, const char *expected)
{
        _cleanup_free_ char *line = sg_command_join(argv, size);

        assert_non_null(line);
        assert_string_equal(line, expected);
}
#define ASSERT_JOINED(argv, expected) assert_joined(argv, sizeof(argv) - 1, expected)

static void assert_shown(const char *line, const char *expected)
{
        _cleanup_free_ char *shown = sg_command_show(line);

        assert_non_null(shown);
        assert_string_equal(shown, expected);
}

static void test_words(void **state)
{
        (void)state;
        ASSERT_JOINED("train\0--epochs\0"
                      "10\0",
                      "train --epochs 10");
        ASSERT_JOINED("train", "train"); /* whose last NUL was cut off */
        ASSERT_JOINED("a b\0c\0", "a b c");
        ASSERT_JOINED("a\0\0c\0", "a  c"); /* with an empty one */
        ASSERT_JOINED("a\0\0\0", "a");
        ASSERT_JOINED("\0\0", "");
        ASSERT_JOINED("", "");
}

/* Policies needn't look further. */
static void test_long_line(void **state)
{
        char argv[2 * SG_COMMAND_COMPARED];
        _cleanup_free_ char *line = NULL, *cut = NULL;

        (void)state;
        memset(argv, 'x', sizeof(argv));
        line = sg_command_join(argv, sizeof(argv));
        assert_non_null(line);
        assert_int_equal(strlen(line), SG_COMMAND_COMPARED);
        memset(argv + SG_COMMAND_COMPARED - 3, 0, 3);
        cut = sg_command_join(argv, sizeof(argv));
        assert_non_null(cut);
        assert_int_equal(strlen(cut), SG_COMMAND_COMPARED - 3);
}

static void test_shown(void **state)
{
        (void)state;
        assert_shown("", "");
        assert_shown("   ", "");
        assert_shown("train --fast ", "train --fast");
        assert_shown("a\nb\tc\x7f", "a?b?c?");
        assert_shown("\xff\xc3", "??");
        assert_shown("Größe", "Größe");
}

/* It ends with a whole character, and not with a blank. */
static void test_shown_is_short(void **state)
{
        char line[SHOWN + 8], expected[SHOWN + 1];

        (void)state;
        memset(line, 'x', sizeof(line));
        line[sizeof(line) - 1] = 0;
        memset(expected, 'x', SHOWN);
        expected[SHOWN] = 0;
        assert_shown(line, expected);
        memcpy(line + SHOWN - 1, "ß", 2); /* half of it would be in */
        expected[SHOWN - 1] = 0;
        assert_shown(line, expected);
        memcpy(line + SHOWN - 2, "ß", 2);
        memcpy(expected + SHOWN - 2, "ß", 3);
        assert_shown(line, expected);
        memcpy(line + SHOWN - 2, "  ", 2);
        expected[SHOWN - 2] = 0;
        assert_shown(line, expected);
}

static void test_both(void **state)
{
        _cleanup_free_ char *shown = sg_command_shown("sh\0-c\0a\nb\0", 10);

        (void)state;
        assert_non_null(shown);
        assert_string_equal(shown, "sh -c a?b");
}

static void same(const char *a, const char *b, bool same)
{
        if ((sg_command_program(a) == sg_command_program(b)) != same)
                fail_msg("\"%s\" and \"%s\"", a, b);
}

/* Options may differ, scripts and modules may not. */
static void test_program(void **state)
{
        (void)state;
        same("python train.py --lr .1 data/a", "python train.py --lr .2 data/b", true);
        same("python -u train.py", "python train.py", true);
        same("python train.py", "python test.py", false);
        same("python -m a.b --x", "python -m a.c --x", false);
        same("python -m train 1", "python -m train 2", true);
        same("python -m train", "python -m test", false);
        same("./train --lr 0.1", "./train --lr 0.25", true);
        same("./train a/b", "./train a/c", false);
        same("train", "trai n", false);
        same("python a.py", "pythona.py", false);
        assert_true(sg_command_program("") != 0);
        assert_true(sg_command_program(" ") != 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_words), cmocka_unit_test(test_long_line),
                cmocka_unit_test(test_shown), cmocka_unit_test(test_shown_is_short),
                cmocka_unit_test(test_both),  cmocka_unit_test(test_program),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
