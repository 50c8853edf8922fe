/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options of a job that has ended, as `status` shows them. */

#include "tests/unit/test.h"

#include "base/cleanup.h"
#include "ctl/line/error.c"
#include "ctl/line/option_table.c"
#include "ctl/line/option_value.c"
#include "ctl/line/options.c"
#include "ctl/line/suggest.c"
#include "ctl/show/output.c"

#include "ctl/show/command.c"

static void shows(const char *options, const char *want)
{
        json_t *o = json_loads(options, 0, NULL);
        char buf[1024];

        assert_non_null(o);
        assert_string_equal(sg_options_text(o, buf, sizeof(buf)), want);
        json_decref(o);
}

static void test_values(void **state)
{
        (void)state;
        shows("{}", "");
        shows("{\"name\": \"train\", \"mem\": 4294967296}", "--name train --mem 4G");
        shows("{\"time_limit\": 5400000000, \"cpu_quota\": 15000, \"tasks\": 8}",
              "--cpu-quota 150% --tasks 8 --time-limit '1h 30min'");
        shows("{\"priority\": -5, \"retry\": 2}", "--priority -5 --retry 2");
        shows("{\"mem\": null, \"pin\": true, \"hold\": false}", "--pin --mem infinity");
        shows("{\"output\": \"/a/%j\", \"error\": \"/b\", \"workdir\": \"/c\"}",
              "--output /a/%j --error /b");
}

static void test_ranges(void **state)
{
        (void)state;
        shows("{\"cpus\": 2}", "--cpus 2");
        shows("{\"cpus\": 2, \"cpus_max\": 8}", "--cpus 2-8");
        shows("{\"array_first\": 3, \"array_last\": 3}", "--array 3");
        shows("{\"array_first\": 0, \"array_last\": 9}", "--array 0-9");
}

/* What a shell takes for one word, whatever is in it. */
static void test_quotes(void **state)
{
        (void)state;
        shows("{\"name\": \"a b\"}", "--name 'a b'");
        shows("{\"name\": \"\"}", "--name ''");
        shows("{\"on_end\": \"echo 'it is' $HOME; rm x\"}",
              "--on-end 'echo '\\''it is'\\'' $HOME; rm x'");
}

/* Cut where there is no more room, and never beyond. */
static void test_room(void **state)
{
        json_t *o = json_loads("{\"name\": \"train\", \"class\": \"batch\"}", 0, NULL);
        char buf[32];

        (void)state;
        for (size_t size = 1; size <= sizeof(buf); size++) {
                memset(buf, '#', sizeof(buf));
                (void)sg_options_text(o, buf, size);
                assert_true(strlen(buf) < size);
                assert_true(size == sizeof(buf) || buf[size] == '#');
                assert_memory_equal(buf, "--name train --class batch", strlen(buf));
        }
        json_decref(o);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_values),
                cmocka_unit_test(test_ranges),
                cmocka_unit_test(test_quotes),
                cmocka_unit_test(test_room),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
