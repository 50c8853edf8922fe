/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schedctl's tables and what it lets through to a terminal. The sources come in as text, see
 * test_ctl_options.c. */

#include "tests/unit/test.h"

#include "ctl/show/fields.c"
#include "ctl/show/gpu-text.c"
#include "ctl/show/output.c"
#include "ctl/show/progress.c"
#include "ctl/show/row.c"
#include "ctl/show/table.c"

#include "ctl/line/error.c"

static const struct sg_column columns[] = {
        {"id", true, 0}, {"name", false, 4}, {"state", false, 0}, {"reason", false, 6}};

static void make(struct sg_table *t, const char *list, unsigned terminal)
{
        struct sg_error e = {0};

        assert_int_equal(sg_table_init(t, columns, SG_ELEMENTSOF(columns), list, terminal, &e), 0);
}

/* Measures, fits and prints one row of cells; the result is the caller's. */
static char *print(struct sg_table *t, const char *const *cells)
{
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        assert_non_null(f);
        for (size_t i = 0; i < t->n; i++)
                sg_table_measure(t, i, cells[i]);
        sg_table_fit(t);
        sg_table_print_heading(t, f);
        for (size_t i = 0; i < t->n; i++)
                sg_table_print_cell(t, i, cells[i], "", "", f);
        assert_int_equal(fclose(f), 0);
        return text;
}

static void columns_are_aligned(void **state)
{
        const char *const cells[] = {"123", "train", "running", "why"};
        _cleanup_free_ char *text = NULL;
        struct sg_table t;

        (void)state;
        make(&t, "id,name,state,reason", 0);
        text = print(&t, cells);
        assert_string_equal(text, " ID  NAME   STATE    REASON\n"
                                  "123  train  running  why\n");
}

static void columns_can_be_chosen(void **state)
{
        static const char *const bad[] = {"", "foo", "id,", ",id", "id,,name", "ID"};
        const char *const cells[] = {"running", "7"};
        _cleanup_free_ char *text = NULL;
        struct sg_error e = {0};
        struct sg_table t;

        (void)state;
        make(&t, "state,id", 0);
        text = print(&t, cells);
        assert_string_equal(text, "STATE    ID\n"
                                  "running   7\n");
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                sg_error_clear(&e);
                assert_int_equal(sg_table_init(&t, columns, 4, bad[i], 0, &e), -ECANCELED);
                assert_int_equal(e.status, SG_EXIT_OWN_FAILURE);
        }
        sg_error_clear(&e);
        assert_int_equal(sg_table_init(&t, columns, 4, "id,x", 0, &e), -ECANCELED);
        assert_string_equal(e.what, "-o knows id,name,state,reason, not 'x'");
}

static void a_terminal_is_not_overrun(void **state)
{
        const char *const cells[] = {"1", "a-long-name", "running", "a long reason"};
        struct sg_table t;
        char *text;

        (void)state;
        /* 2+2+11+2+7+2+13 = 39 wanted: the reason gives first, then the name */
        make(&t, "id,name,state,reason", 34);
        text = print(&t, cells);
        assert_string_equal(text, "ID  NAME         STATE    REASON\n"
                                  " 1  a-long-name  running  a long …\n");
        free(text);
        make(&t, "id,name,state,reason", 28);
        text = print(&t, cells);
        assert_string_equal(text, "ID  NAME     STATE    REASON\n"
                                  " 1  a-long…  running  a lon…\n");
        free(text);
        /* nothing is narrowed below its least */
        make(&t, "id,name,state,reason", 5);
        text = print(&t, cells);
        assert_string_equal(text, "ID  NAME  STATE    REASON\n"
                                  " 1  a-l…  running  a lon…\n");
        free(text);
}

/* What was named goes before another column is cut to nothing. */
static void columns_make_way(void **state)
{
        const char *const cells[] = {"1", "train", "running", "cancelled by root"};
        struct sg_table t;

        (void)state;
        for (unsigned width = 20; width < 50; width++) {
                _cleanup_free_ char *text = NULL;
                const char *shown[4];

                make(&t, "id,name,state,reason", width);
                t.drop = "state,gpu,id";
                for (size_t i = 0; i < 4; i++)
                        sg_table_measure(&t, i, cells[i]);
                sg_table_fit(&t);
                for (size_t i = 0; i < t.n; i++)
                        shown[i] = cells[t.shown[i]];
                /* 2+2+5+2+7+2+17 = 37 are enough to read it all, 28 without the state */
                assert_int_equal(t.n, width >= 37 ? 4 : width >= 28 ? 3 : 2);
                assert_string_equal(shown[t.n - 1], "cancelled by root");
                assert_true(t.width[t.n - 1] >= (width < 24 ? 13 : 17));
        }
}

static void later_rows_may_be_wider(void **state)
{
        const char *const cells[] = {"1", "ab"};
        char *text = NULL;
        struct sg_table t;
        size_t size;
        FILE *f;

        (void)state;
        make(&t, "id,name,state", 0);
        sg_table_measure(&t, 1, cells[1]);
        sg_table_fit(&t);
        f = open_memstream(&text, &size);
        assert_non_null(f);
        sg_table_print_cell(&t, 0, "12345", "", "", f);
        sg_table_print_cell(&t, 1, "longer", "<", ">", f);
        sg_table_print_cell(&t, 2, "x", "", "", f);
        assert_int_equal(fclose(f), 0);
        assert_string_equal(text, "12345  <longer>  x\n");
        free(text);
}

static void characters_are_counted_not_bytes(void **state)
{
        const char *const cells[] = {"1", "prüfung", "x"};
        _cleanup_free_ char *text = NULL;
        struct sg_table t;

        (void)state;
        assert_int_equal(sg_text_width("prüfung"), 7);
        make(&t, "id,name,state", 0);
        text = print(&t, cells);
        assert_string_equal(text, "ID  NAME     STATE\n"
                                  " 1  prüfung  x\n");
}

static void durations_are_short(void **state)
{
        static const struct {
                uint64_t usec;
                const char *text;
        } table[] = {
                {0, "0ms"},
                {999999, "999ms"},
                {4250000, "4.2s"},
                {59999999, "59.9s"},
                {60000000, "1:00"},
                {3599000000, "59:59"},
                {3600000000, "1:00:00"},
                {86399000000, "23:59:59"},
                {273906000000, "3-04:05:06"},
        };
        char buf[64];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(table); i++)
                assert_string_equal(sg_table_duration(buf, sizeof(buf), table[i].usec),
                                    table[i].text);
}

static void cells_of_a_row(void **state)
{
        struct sg_row row = {.id = "7",
                             .name = "a\x1b",
                             .class = "default",
                             .user = "bob",
                             .state = "queued",
                             .reason = "",
                             .exit_code = -1,
                             .cpu_usec = SG_UNLIMITED,
                             .memory_bytes = SG_UNLIMITED,
                             .command = "true"};
        char buf[256];

        (void)state;
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_NAME, 0, buf, sizeof(buf)), "a\\x1b");
        for (int i = SG_COLUMN_TIME; i <= SG_COLUMN_ENDED; i++)
                assert_string_equal(sg_row_cell(&row, (enum sg_row_column)i, 5, buf, sizeof(buf)),
                                    "-");

        row.started_usec = 1000000;
        row.cpu_usec = 1500000;
        row.memory_bytes = 512ULL << 20;
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_TIME, 4000000, buf, sizeof(buf)), "3.0s");
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_TIME, 0, buf, sizeof(buf)), "0ms");
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_CPU, 0, buf, sizeof(buf)), "1.5s");
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_MEM, 0, buf, sizeof(buf)), "512M");
        row.ended_usec = 2000000;
        row.signal = 9;
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_TIME, 4000000, buf, sizeof(buf)), "1.0s");
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_SIGNAL, 0, buf, sizeof(buf)), "KILL");
        row.exit_code = 0;
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_EXIT, 0, buf, sizeof(buf)), "0");
}

static void rows_of_documents(void **state)
{
        json_t *job = json_pack(
                "{s:s,s:s,s:s,s:n,s:s,s:{s:s,s:s,s:n},s:{s:I,s:n,s:I},s:{s:f,s:i,s:s,s:f},"
                "s:{s:f,s:i,s:i,s:f,s:f}}",
                "id", "7", "name", "train", "state", "killed", "exit_code", "signal", "KILL",
                "times", "submitted", "2027-01-15T08:00:00.000000Z", "started",
                "2027-01-15T08:00:01.500000Z", "ended", "usage", "cpu_usec", (json_int_t)1500000,
                "memory_bytes", "memory_peak_bytes", (json_int_t)1 << 29, "share", "share", 0.25,
                "weight", 1000, "list", "last", "growth_efficiency", 0.0123, "progress", "eval",
                0.4123, "step", 520, "total", 1000, "fraction", 0.52, "eta_sec", 720.0);
        static const char *const wanted[] = {
                "7",    "train",  "-",   "-",      "killed", "1.0s",        "1.5s", "512M", "-",
                "-",    "KILL",   NULL,  NULL,     "-",      "-",           "-",    "25%",  "last",
                "1000", "0.0123", "52%", "12 min", "0.4123", "520 of 1000", "-",    "-",    "-",
        };
        char buf[64];
        struct sg_row row;

        _Static_assert(SG_ELEMENTSOF(wanted) == _SG_COLUMN_MAX, "one for each column");
        (void)state;
        sg_row_from_document(job, &row);
        assert_int_equal(row.started_usec - row.submitted_usec, 1500000);
        for (int i = 0; i < _SG_COLUMN_MAX; i++)
                if (wanted[i])
                        assert_string_equal(sg_row_cell(&row, (enum sg_row_column)i,
                                                        row.started_usec + 1000000, buf,
                                                        sizeof(buf)),
                                            wanted[i]);
        json_decref(job);
        job = json_object(); /* of another version, say */
        sg_row_from_document(job, &row);
        for (int i = 0; i < _SG_COLUMN_MAX; i++)
                assert_string_equal(sg_row_cell(&row, (enum sg_row_column)i, 5, buf, sizeof(buf)),
                                    "-");
        json_decref(job);
}

static void only_some_columns_need_documents(void **state)
{
        struct sg_error e = {0};
        struct sg_table t;

        (void)state;
        assert_int_equal(sg_table_init(&t, sg_row_columns, _SG_COLUMN_MAX, "id,command", 0, &e), 0);
        assert_false(sg_row_needs_document(&t));
        assert_int_equal(sg_table_init(&t, sg_row_columns, _SG_COLUMN_MAX, "id,eta", 0, &e), 0);
        assert_true(sg_row_needs_document(&t));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(columns_are_aligned),
                cmocka_unit_test(columns_can_be_chosen),
                cmocka_unit_test(a_terminal_is_not_overrun),
                cmocka_unit_test(columns_make_way),
                cmocka_unit_test(later_rows_may_be_wider),
                cmocka_unit_test(characters_are_counted_not_bytes),
                cmocka_unit_test(durations_are_short),
                cmocka_unit_test(cells_of_a_row),
                cmocka_unit_test(rows_of_documents),
                cmocka_unit_test(only_some_columns_need_documents),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
