/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of decisions as schedctl reads it: the last rows of one job or of all, whatever the file
 * holds. The sources come in as text, see test_ctl_options.c. */

#include "tests/unit/test.h"

#include "base/parse.h"

#include "ctl/line/error.c"
#include "ctl/line/ids.c"
#include "ctl/show/decisions.c"
#include "ctl/show/fields.c"
#include "ctl/show/output.c"
#include "ctl/show/progress.c"
#include "ctl/show/table.c"

#define STEP(time, causes, jobs, gone)                                                             \
        "{\"schema\":\"schedgov.decision/1\",\"time\":\"2026-11-18T" time                          \
        "Z\",\"causes\":[" causes "],\"classes\":{},\"jobs\":[" jobs "],\"gone\":[" gone "]}\n"
#define JOB(id, share, list)                                                                       \
        "{\"id\":\"" id "\",\"class\":\"train\",\"in\":{\"width\":1.0,\"remaining\":12.34,"        \
        "\"total\":20.0,\"growth_efficiency\":null},\"out\":{\"share\":" share                     \
        ",\"weight\":1000,\"cap\":null,\"list\":\"" list                                           \
        "\",\"reason\":\"rank\",\"rank\":2,\"other\":\"3\",\"index\":0.5,\"slack\":-1.5}}"

static const char whole[] = STEP("10:00:00.000000", "\"begin\",\"time\"",
                                 JOB("7", "0.25", "last") "," JOB("8", "1", "run"), "")
        STEP("10:00:01.000000", "\"report\"", JOB("7", "0.5", "run"), "")
                STEP("10:00:02.000000", "\"end\"", "", "\"7\",\"8\"");

static void read_text(struct sg_decision_rows *rows, const char *text, size_t room, const char *id)
{
        FILE *f = fmemopen((char *)(uintptr_t)text, strlen(text), "r");

        assert_non_null(f);
        assert_int_equal(sg_decision_rows_init(rows, room), 0);
        assert_int_equal(sg_decision_rows_read(rows, f, id), 0);
        assert_int_equal(fclose(f), 0);
}

static void expect(const struct sg_decision_rows *rows, size_t i, enum sg_decision_column column,
                   const char *wanted)
{
        char buf[256];

        assert_string_equal(
                sg_decision_cell(sg_decision_rows_get(rows, i), column, buf, sizeof(buf)), wanted);
}

static void cells(void **state)
{
        static const char *const wanted[_SG_DECISION_MAX] = {
                "2026-11-18 10:00:00",
                "7",
                "begin,time",
                "25%",
                "1000",
                "-",
                "last",
                "rank, number 2, because of 3, index 0.5, slack -1.5s",
                "12.3s",
                "20.0s",
                "-",
        };
        struct sg_decision_rows rows;

        (void)state;
        read_text(&rows, whole, 10, "");
        assert_int_equal(sg_decision_rows_count(&rows), 5);
        for (int c = 0; c < _SG_DECISION_MAX; c++)
                expect(&rows, 0, (enum sg_decision_column)c, wanted[c]);
        expect(&rows, 3, SG_DECISION_ID, "7");
        expect(&rows, 3, SG_DECISION_LIST, "gone");
        expect(&rows, 3, SG_DECISION_SHARE, "-");
        assert_true(sg_decision_same_step(sg_decision_rows_get(&rows, 0),
                                          sg_decision_rows_get(&rows, 1)));
        assert_false(sg_decision_same_step(sg_decision_rows_get(&rows, 1),
                                           sg_decision_rows_get(&rows, 2)));
        sg_decision_rows_deinit(&rows);
}

static void of_one_job(void **state)
{
        struct sg_decision_rows rows;

        (void)state;
        read_text(&rows, whole, 10, "8");
        assert_int_equal(sg_decision_rows_count(&rows), 2);
        expect(&rows, 0, SG_DECISION_LIST, "run");
        expect(&rows, 1, SG_DECISION_LIST, "gone");
        sg_decision_rows_deinit(&rows);
}

static void the_last_ones(void **state)
{
        static const char *const wanted[] = {"7", "7", "8"};
        struct sg_decision_rows rows;

        (void)state;
        read_text(&rows, whole, 3, "");
        assert_int_equal(sg_decision_rows_count(&rows), 3);
        for (size_t i = 0; i < 3; i++)
                expect(&rows, i, SG_DECISION_ID, wanted[i]);
        expect(&rows, 0, SG_DECISION_CAUSE, "report");
        sg_decision_rows_deinit(&rows);
        read_text(&rows, whole, 0, "");
        assert_int_equal(sg_decision_rows_count(&rows), 0);
        sg_decision_rows_deinit(&rows);
}

/* Half a line after a full disk, another program's, fields of other types. */
static void what_is_none(void **state)
{
        static const char text[] =
                "{\"schema\":\"schedgov.decision/1\",\"time\":\"20\n\n[1,2]\n7\nnull\n"
                "{\"schema\":\"other/1\",\"jobs\":[{\"id\":\"7\"}]}\n"
                "{\"schema\":\"schedgov.decision/1\",\"jobs\":{\"id\":\"7\"},\"gone\":7}\n"
                "{\"schema\":\"schedgov.decision/1\",\"time\":5,\"causes\":\"x\",\"jobs\":[{\"id\":"
                "\"9\\u001b[1m\",\"out\":[],\"in\":{\"remaining\":\"x\"}},17]}\n"
                "{\"schema\":\"schedgov.decision/1\",\"jobs\":[{\"id\":\"1";
        struct sg_decision_rows rows;

        (void)state;
        read_text(&rows, text, 10, "");
        assert_int_equal(sg_decision_rows_count(&rows), 2);
        expect(&rows, 0, SG_DECISION_TIME, "-");
        expect(&rows, 0, SG_DECISION_ID, "9\\x1b[1m");
        expect(&rows, 0, SG_DECISION_LEFT, "-");
        for (int c = 0; c < _SG_DECISION_MAX; c++) {
                char buf[256];

                assert_non_null(sg_decision_cell(sg_decision_rows_get(&rows, 1),
                                                 (enum sg_decision_column)c, buf, sizeof(buf)));
        }
        sg_decision_rows_deinit(&rows);
}

static int zone(void **state)
{
        (void)state;
        return setenv("TZ", "UTC", 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(cells),
                cmocka_unit_test(of_one_job),
                cmocka_unit_test(the_last_ones),
                cmocka_unit_test(what_is_none),
        };

        return cmocka_run_group_tests(tests, zone, NULL);
}
