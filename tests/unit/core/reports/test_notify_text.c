/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/notify-text.h"
#include "tests/unit/test.h"

#include <math.h>
#include <signal.h>

static struct sg_notify parse(const char *text)
{
        struct sg_notify n;

        sg_notify_parse(text, strlen(text), &n);
        return n;
}

static void test_progress(void **state)
{
        struct sg_notify n = parse("SCHEDGOV_EVAL=-2.5e-3\nSTEP=10\nTOTAL_STEPS=500\n"
                                   "EPOCH=2\nSCHEDGOV_EPOCHS=5\nSTATUS=training");

        (void)state;
        assert_int_equal(n.report.has, SG_REPORT_EVAL | SG_REPORT_STEP | SG_REPORT_TOTAL |
                                               SG_REPORT_EPOCH | SG_REPORT_EPOCHS);
        assert_true(n.report.eval == -2.5e-3);
        assert_int_equal(n.report.step, 10);
        assert_int_equal(n.report.total, 500);
        assert_int_equal(n.report.epoch, 2);
        assert_int_equal(n.report.epochs, 5);
        assert_true(n.has_status);
        assert_string_equal(n.status, "training");
        assert_false(n.checkpointed);
        assert_int_equal(n.allocation_signal, -1);
        assert_int_equal(n.follows, 0);
        assert_int_equal(n.n_bad, 0);
        assert_true(isnan(parse("SCHEDGOV_EVAL=nan").report.eval));
}

static void test_follows(void **state)
{
        (void)state;
        assert_int_equal(parse("SCHEDGOV_FOLLOWS=1").follows, 1);
        assert_int_equal(parse("SCHEDGOV_FOLLOWS=1024").follows, 1024);
        assert_int_equal(parse("FOLLOWS=2").follows, 0); /* might be anybody's */
}

static void test_bad(void **state)
{
        static const char *const bad[] = {
                "SCHEDGOV_EVAL=",
                "SCHEDGOV_EVAL=1.5x",
                "SCHEDGOV_EVAL= 1",
                "STEP=-1",
                "STEP=1.5",
                "STEP=",
                "STEP=99999999999999999999",
                "EPOCH=two",
                "TOTAL_STEPS=10 ",
                "SCHEDGOV_CHECKPOINTED=yes",
                "SCHEDGOV_ALLOCATION_SIGNAL=NONSUCH",
                "SCHEDGOV_ALLOCATION_SIGNAL=999",
                "SCHEDGOV_FOLLOWS=0",
                "SCHEDGOV_FOLLOWS=1025",
                "SCHEDGOV_FOLLOWS=-1",
                "SCHEDGOV_FOLLOWS=2 ",
                "SCHEDGOV_FOLLOWS=",
        };
        struct sg_notify n;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                n = parse(bad[i]);
                if (n.n_bad != 1)
                        print_message("%s\n", bad[i]);
                assert_int_equal(n.n_bad, 1);
                assert_int_equal(n.report.has, 0);
                assert_false(n.checkpointed);
                assert_int_equal(n.allocation_signal, -1);
        }
        n = parse("STEP=x\nSTEP=7\nEPOCH=y");
        assert_int_equal(n.n_bad, 2);
        assert_int_equal(n.report.has, SG_REPORT_STEP);
        assert_int_equal(n.report.step, 7);
}

/* systemd's own, ours without the prefix where that is asked for, and no lines at all. */
static void test_ignored(void **state)
{
        static const char *const ignored[] = {"",        "\n\n",           "READY=1\nMAINPID=3",
                                              "EVAL=3",  "STEPS=3",        "CHECKPOINTED=1",
                                              "step=3",  "SCHEDGOV_=1",    "=",
                                              "no line", "WATCHDOG_USEC=1"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(ignored); i++) {
                struct sg_notify n = parse(ignored[i]);

                assert_int_equal(n.report.has, 0);
                assert_int_equal(n.n_bad, 0);
                assert_false(n.has_status);
                assert_false(n.checkpointed);
        }
}

static void test_signal(void **state)
{
        (void)state;
        assert_int_equal(parse("SCHEDGOV_ALLOCATION_SIGNAL=USR1").allocation_signal, SIGUSR1);
        assert_int_equal(parse("SCHEDGOV_ALLOCATION_SIGNAL=10").allocation_signal, 10);
        assert_int_equal(parse("SCHEDGOV_ALLOCATION_SIGNAL=0").allocation_signal, 0);
        assert_true(parse("SCHEDGOV_CHECKPOINTED=1").checkpointed);
        assert_false(parse("SCHEDGOV_CHECKPOINTED=1\nSCHEDGOV_CHECKPOINTED=0").checkpointed);
}

static void test_status(void **state)
{
        char text[512] = "STATUS=";
        struct sg_notify n;

        (void)state;
        assert_string_equal(parse("STATUS=").status, "");
        assert_true(parse("STATUS=").has_status);
        assert_string_equal(parse("STATUS=a=b\tc\x7f\033[1m").status, "a=b c  [1m");
        assert_string_equal(parse("STATUS=█ \xff\xc3(\xed\xa0\x80\xc0\xaf\xc2\x85").status,
                            "█ \x3f?(\x3f\x3f\x3f\x3f\x3f\x3f\x3f");
        assert_string_equal(parse("STATUS=\xf0\x9f\x98\x80\xf4\x90\x80\x80").status,
                            "\xf0\x9f\x98\x80????");
        /* Never half a character. */
        memset(text + 7, 'x', SG_NOTIFY_STATUS_MAX - 3);
        memcpy(text + 7 + SG_NOTIFY_STATUS_MAX - 3, "█y", 5);
        n = parse(text);
        assert_int_equal(strlen(n.status), SG_NOTIFY_STATUS_MAX - 3);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_progress), cmocka_unit_test(test_follows),
                cmocka_unit_test(test_bad),      cmocka_unit_test(test_ignored),
                cmocka_unit_test(test_signal),   cmocka_unit_test(test_status),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
