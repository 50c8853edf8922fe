/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One line for each array. The sources come in as text, see test_ctl_options.c. */

#include "tests/unit/test.h"

#include "ctl/show/array-row.c"
#include "ctl/show/fields.c"
#include "ctl/show/gpu-text.c"
#include "ctl/show/output.c"
#include "ctl/show/progress.c"
#include "ctl/show/row.c"
#include "ctl/show/table.c"

#include "ctl/line/error.c"

/* What was put, a line each. */
static char shown[4096];

static void put(const struct sg_row *row, void *userdata)
{
        static const enum sg_row_column columns[] = {
                SG_COLUMN_ID,  SG_COLUMN_INDEX, SG_COLUMN_NAME, SG_COLUMN_STATE, SG_COLUMN_TIME,
                SG_COLUMN_CPU, SG_COLUMN_MEM,   SG_COLUMN_EXIT, SG_COLUMN_SHARE, SG_COLUMN_REASON};
        char cell[256];

        (void)userdata;
        for (size_t i = 0; i < SG_ELEMENTSOF(columns); i++)
                (void)snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s%s",
                               sg_row_cell(row, columns[i], 100000000, cell, sizeof(cell)),
                               i + 1 < SG_ELEMENTSOF(columns) ? "|" : "\n");
}

/* A row whose strings are gone as soon as the next one is made, as those of a page may be. */
static const struct sg_row *task(uint64_t array, uint64_t n, uint64_t index, const char *state,
                                 const char *name, const char *why)
{
        static char id[32], kept_name[64], kept_state[32], reason[64];
        static struct sg_row row;

        (void)snprintf(id, sizeof(id), "%u", (unsigned)n);
        (void)snprintf(kept_name, sizeof(kept_name), "%s", name);
        (void)snprintf(kept_state, sizeof(kept_state), "%s", state);
        (void)snprintf(reason, sizeof(reason), "%s", why);
        row = (struct sg_row){.id = id,
                              .name = kept_name,
                              .class = "default",
                              .user = "alice",
                              .state = kept_state,
                              .reason = reason,
                              .command = "",
                              .array = array,
                              .index = index,
                              .exit_code = -1,
                              .share = (double)NAN,
                              .cpu_usec = SG_UNLIMITED,
                              .memory_bytes = SG_UNLIMITED};
        if (strcmp(state, "queued") != 0) {
                row.started_usec = 90000000 + n;
                row.cpu_usec = 2000000;
                row.memory_bytes = 1 << 20;
                row.share = .25;
        }
        return &row;
}

static void expect(const char *text)
{
        assert_string_equal(shown, text);
        shown[0] = 0;
}

static void tasks_become_one(void **state)
{
        struct sg_array_row a = {0};

        (void)state;
        sg_array_row_take(&a, task(0, 4, 0, "running", "alone", ""), put, NULL);
        expect("4|-|alone|running|9.9s|2.0s|1M|-|25%|-\n");
        sg_array_row_take(&a, task(5, 5, 1, "running", "fit-1", "odd"), put, NULL);
        sg_array_row_take(&a, task(5, 7, 3, "running", "fit-3", ""), put, NULL);
        sg_array_row_take(&a, task(5, 8, 4, "queued", "fit-4", "first of them"), put, NULL);
        sg_array_row_take(&a, task(5, 9, 5, "queued", "fit-5", "second"), put, NULL);
        expect("");
        sg_array_row_take(&a, task(10, 10, 1, "queued", "fit", "why"), put, NULL);
        expect("5[1,3-5]|1,3-5|fit-…|running|9.9s|4.0s|2M|-|50%|2 running, 2 queued: first of "
               "them\n");
        sg_array_row_end(&a, put, NULL);
        expect("10|1|fit|queued|-|-|-|-|-|why\n");
        sg_array_row_end(&a, put, NULL);
        expect("");
}

static void the_ended_are_apart(void **state)
{
        struct sg_array_row a = {0};

        (void)state;
        sg_array_row_take(&a, task(5, 9, 5, "running", "x", ""), put, NULL);
        sg_array_row_take(&a, task(5, 8, 4, "exited", "x", ""), put, NULL);
        expect("9|5|x|running|9.9s|2.0s|1M|-|25%|-\n");
        sg_array_row_take(&a, task(5, 7, 3, "failed", "x", "why"), put, NULL);
        sg_array_row_take(&a, task(5, 5, 1, "exited", "x", ""), put, NULL);
        sg_array_row_end(&a, put, NULL);
        expect("5[1,3-4]|1,3-4|x|failed|9.9s|6.0s|1M|-|75%|1 failed, 2 exited\n");
}

static void many_indexes_are_cut(void **state)
{
        struct sg_array_row a = {0};

        (void)state;
        for (uint64_t i = 1; i <= 7; i += 2)
                sg_array_row_take(&a, task(5, 4 + i, i, "queued", "x", ""), put, NULL);
        sg_array_row_end(&a, put, NULL);
        expect("5[1,3,5,7]|1,3,5,7|x|queued|-|-|-|-|-|4 queued\n");
        for (uint64_t i = 1; i <= 19; i += 2)
                sg_array_row_take(&a, task(5, 4 + i, i, "unheard-of", "x", ""), put, NULL);
        sg_array_row_end(&a, put, NULL);
        assert_non_null(strstr(shown, "5[1…19]|1…19|x|unheard-of|"));
        assert_non_null(strstr(shown, "|10 in other states\n"));
        shown[0] = 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tasks_become_one),
                cmocka_unit_test(the_ended_are_apart),
                cmocka_unit_test(many_indexes_are_cut),
        };

        return cmocka_run_group_tests_name("array rows", tests, NULL, NULL);
}
