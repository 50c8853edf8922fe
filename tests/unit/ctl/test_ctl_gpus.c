/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `schedctl gpus`: the table, and its one line where there is none. */

#include "tests/unit/test.h"

#include "ctl/show/fields.c"
#include "ctl/show/gpus.c"
#include "ctl/show/table.c"

#include "ctl/line/error.c"

#include <stdlib.h>
#include <time.h>

#define G "1073741824"
#define NOW 1800000000000000ULL /* 2027-01-15 08:00 */

/* The documents are in ' for ". */
static const char *print(const char *quoted, unsigned terminal, bool legend)
{
        static char text[8192];
        char json[8192];
        FILE *f;
        json_t *doc;

        (void)snprintf(json, sizeof(json), "%s", quoted);
        for (char *p = json; *p; p++)
                if (*p == '\'')
                        *p = '"';
                else if (*p == '`')
                        *p = '\'';
        doc = json_loads(json, 0, NULL);
        assert_non_null(doc);
        memset(text, 0, sizeof(text));
        f = fmemopen(text, sizeof(text), "w");
        assert_non_null(f);
        assert_int_equal(sg_gpus_print(doc, NOW, terminal, legend, f), 0);
        (void)fclose(f);
        json_decref(doc);
        return text;
}

#define OK_DRIVER "'driver':{'state':'ok','version':'550.54.15'}"
#define GPU(index, state, used, free, util, temp, watts, mode, rest)                               \
        "{'index':" #index ",'name':'A100-SXM4-80GB','state':" state                               \
        ",'memory':{'total_bytes':85899345920,'used_bytes':" used ",'free_bytes':" free            \
        "},'utilization':" util ",'temperature_celsius':" temp ",'power':{'watts':" watts          \
        ",'limit_watts':400.0},'mode':'" mode "'" rest "}"

static const char four[] = "{'managed':true," OK_DRIVER ",'fragmentation':0.34,'gpus':[" GPU(
        0, "'ok'", "40802189312", "44023414784", "97", "61", "310.4", "whole",
        ",'jobs':[{'id':'7','user':'alice','share':1.0,'idle_sec':0.0}],'processes':[{'pid':1,'job'"
        ":'7'}]") "," GPU(1, "'ok'", "23622320128", "42734924595", "88", "58", "296.0", "shared",
                          ",'jobs':[{'id':'9','user':'bob','share':0.5,'idle_sec':0.0},{'id':'12','"
                          "user':'alice','share':0.25,'idle_sec':null}]"
                          ",'processes':[{'pid':4411,'user':'bob','command':'python','job':null,'"
                          "memory_bytes':4402341478}]") "," GPU(2, "'unknown'", "null", "null",
                                                                "null", "null", "null", "free",
                                                                ",'reason':'the driver hasn`t "
                                                                "answered','since':'2027-01-15T07:"
                                                                "03:12.000000Z','jobs':[],'"
                                                                "processes':null") "," GPU(3,
                                                                                           "'ok'",
                                                                                           "0",
                                                                                           "8418135"
                                                                                           "9001",
                                                                                           "0",
                                                                                           "31",
                                                                                           "52.0",
                                                                                           "free",
                                                                                           ",'jobs'"
                                                                                           ":[],'"
                                                                                           "process"
                                                                                           "es':[]") "]}";

static void test_table(void **state)
{
        (void)state;
        assert_string_equal(
                print(four, 0, true),
                "GPU  NAME            MEMORY   FREE  UTIL  TEMP      POWER  HELD BY\n"
                "  0  A100-SXM4-80GB  38/80G      -   97%   61C  310/400 W  7 alice\n"
                "  1  A100-SXM4-80GB  22/80G  39.8G   88%   58C  296/400 W  9 bob 50%, 12 alice "
                "25%, bob python(4411) 4.1G not ours\n"
                "  2  A100-SXM4-80GB       -      -     -     -          -  unknown: the driver "
                "hasn't answered since 07:03:12\n"
                "  3  A100-SXM4-80GB   0/80G  78.4G    0%   31C   52/400 W  -\n"
                "4 GPUs, 1 free; 34% of the free memory is on GPUs in use; driver 550.54.15\n");
}

static void test_without_legend(void **state)
{
        const char *text = print(four, 0, false);

        (void)state;
        assert_memory_equal(text, "0  A100", 7);
        assert_null(strstr(text, "GPUs,"));
}

/* What is left out is what matters least, and who holds it is cut last. */
static void test_narrow(void **state)
{
        const char *text = print(four, 60, true);

        (void)state;
        assert_null(strstr(text, "TEMP"));
        assert_non_null(strstr(text, "7 alice\n"));
        for (const char *p = text, *end; (end = strchr(p, '\n')) && *p != '4'; p = end + 1)
                if (sg_text_width(p) - sg_text_width(end) > 60)
                        fail_msg("too wide: %.*s", (int)(end - p), p);
}

static void expect_held(const char *gpu, const char *held)
{
        char doc[4096];
        const char *text;

        (void)snprintf(doc, sizeof(doc), "{'managed':true," OK_DRIVER ",'gpus':[%s]}", gpu);
        text = print(doc, 0, false);
        if (strcmp(text + strlen(text) - strlen(held) - 3, "  ") != 0 && !strstr(text, held))
                fail_msg("%s", text);
        assert_non_null(strstr(text, held));
}

static void test_held(void **state)
{
        (void)state;
        expect_held("{'index':0,'state':'drained','since':'2027-01-14T01:00:00Z','mode':'whole','"
                    "jobs':[{'id':'7','user':'a','share':1.0,'idle_sec':10800.0}]}",
                    "drained since 2027-01-14 01:00:00, 7 a idle 3h\n");
        expect_held("{'index':0,'state':'unhealthy','reason':'XID 79','mode':'free'}",
                    "unhealthy: XID 79\n");
        expect_held("{'index':0,'state':'ok','mode':'mig','jobs':[{'id':'7','user':'a','share':1.0}"
                    "],'mig':[{'profile':'1g.10gb','job':null},{'profile':'2g.20gb','job':'7'}]}",
                    "7 a 2g.20gb\n");
        expect_held("{'index':0,'state':'ok','mode':'whole','jobs':[{'id':null,'user':null,'share':"
                    "1.0}]}",
                    "somebody\n");
        expect_held("{'index':0,'state':'ok','mode':'free','jobs':[{'id':'3','user':'a','share':"
                    "null}]}",
                    "3 a not given\n");
        expect_held(
                "{'index':0,'state':'ok','mode':'free','processes':[{'pid':5,'user':'a','command':"
                "null,'job':null,'memory_bytes':null},{'pid':null,'user':null,'job':null}]}",
                "a process(5) not ours, process not ours\n");
        expect_held("{'index':0,'state':'ok','mode':'free','processes':[{'pid':1},{'pid':2},{'pid':"
                    "3},{'pid':4},{'pid':5},{'pid':6}]}",
                    "process(4) not ours and 2 more\n");
        expect_held("{'index':0,'name':'GB10','state':'ok','memory':{'total_bytes':null,'used_"
                    "bytes':null,'free_bytes':null},'mode':'free'}",
                    "GB10  -  -  -  -  -  -\n");
        expect_held("{'index':0,'name':'T','state':'ok','memory':{'total_bytes':2147483648,'used_"
                    "bytes':1048576,'free_bytes':1073741824},'power':{'watts':7,'limit_watts':null}"
                    ",'mode':'free'}",
                    "1/2048M  1G  -  -  7 W  -\n");
        expect_held("{'index':0,'state':'ok','mode':'free','processes':[{'pid':5,'user':'a','"
                    "command':'\\u001b[2J','job':null}]}",
                    "a \\x1b[2J(5) not ours\n");
}

static void test_none(void **state)
{
        static const char *const cases[][2] = {
                {"{'managed':false}", "GPUs aren't managed here ([Gpu] Manage=no)\n"},
                {"{'managed':true,'driver':{'state':'absent'},'gpus':[]}",
                 "no GPUs: no driver is loaded\n"},
                {"{'managed':true," OK_DRIVER ",'gpus':[]}", "no GPUs: driver 550.54.15\n"},
                {"{'managed':true,'driver':{'state':'mismatch','message':'library 1, module "
                 "2','since':'2027-01-15T07:03:12Z'},'gpus':[]}",
                 "no GPUs: library 1, module 2 since 07:03:12\n"},
                {"{'managed':true,'driver':{'state':'hung'},'gpus':[]}",
                 "no GPUs: the driver doesn't answer\n"},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++)
                assert_string_equal(print(cases[i][0], 0, true), cases[i][1]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_table),  cmocka_unit_test(test_without_legend),
                cmocka_unit_test(test_narrow), cmocka_unit_test(test_held),
                cmocka_unit_test(test_none),
        };

        (void)setenv("TZ", "UTC", 1);
        tzset();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
