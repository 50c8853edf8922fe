/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job asks for and has of GPUs, in words and in columns. */

#include "tests/unit/test.h"

#include "ctl/show/fields.c"
#include "ctl/show/gpu-text.c"
#include "ctl/show/output.c"
#include "ctl/show/progress.c"
#include "ctl/show/row.c"
#include "ctl/show/table.c"

#include "ctl/line/error.c"

/* The documents are in ' for ". */
static json_t *parse(const char *quoted)
{
        char json[1024];
        json_t *doc;

        (void)snprintf(json, sizeof(json), "%s", quoted);
        for (char *p = json; *p; p++)
                *p = *p == '\'' ? '"' : *p;
        doc = json_loads(json, 0, NULL);
        if (!doc)
                fail_msg("no JSON: %s", json);
        return doc;
}

static void expect(const char *quoted, const char *count, const char *asked)
{
        _cleanup_json_ json_t *job = parse(quoted);
        char got[SG_GPU_COUNT_MAX], text[256];

        if (strcmp(sg_gpu_count_text(job, got), count) != 0)
                fail_msg("%s: %s, not %s", quoted, got, count);
        assert_string_equal(sg_gpu_asked_text(job, text, sizeof(text)), asked);
}

#define ASKS(min, max, share) "{'gpu':{'min':" #min ",'max':" #max ",'share':" #share

static void test_asked(void **state)
{
        (void)state;
        expect("{}", "", "");
        expect("{'gpu':null,'limits':{'gpus':[]}}", "", "");
        expect(ASKS(2, 2, 1.0) "}}", "2", "2");
        expect(ASKS(1, 4, 1.0) ",'type':'A100*','memory_bytes':21474836480}}", "1-4",
               "1-4 of type A100*, 20G each");
        expect(ASKS(1, 4, 1.0) "},'limits':{'gpus':['GPU-a','GPU-b','GPU-c']}}", "3", "1-4");
        expect(ASKS(1, 1, 0.5) ",'memory_bytes':1073741824},'limits':{'gpus':['GPU-a']}}", "0.5",
               "0.5, 1G of memory");
        expect(ASKS(2, 2, 1.0) ",'ids':'2,0'}}", "2", "2: 2,0");
        expect(ASKS(1, 1, 1.0) ",'mig':'1g.10gb'}}", "1g.10gb", "an instance 1g.10gb");
}

static void test_given_and_used(void **state)
{
        _cleanup_json_ json_t *job =
                parse("{'limits':{'gpus':['GPU-b','GPU-a']},'gpu':{'memory_used_bytes':1073741824,"
                      "'utilization':88,'memory_peak_bytes':2147483648,'gpu_usec':5400000000,"
                      "'energy_joules':12500.0}}");
        _cleanup_json_ json_t *none = parse("{'gpu':{'memory_used_bytes':null}}");
        char text[256], small[16];

        (void)state;
        assert_string_equal(sg_gpu_given_text(job, text, sizeof(text)), "GPU-b, GPU-a");
        assert_string_equal(sg_gpu_used_text(job, text, sizeof(text)),
                            "memory 1G, 88% busy, peak 2G, busy for 1h 30min, 12 kJ");
        assert_string_equal(sg_gpu_used_text(none, text, sizeof(text)), "");
        assert_string_equal(sg_gpu_used_text(job, small, sizeof(small)), "memory 1G, 88% ");
}

static void test_columns(void **state)
{
        _cleanup_json_ json_t *job =
                parse("{'gpu':{'min':1,'max':1,'share':0.25,'memory_used_bytes':null,"
                      "'memory_peak_bytes':2147483648,'utilization':7}}");
        _cleanup_json_ json_t *none = parse("{'gpu':null}");
        struct sg_row row;
        char buf[64];

        (void)state;
        sg_row_from_document(job, &row);
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_GPU, 0, buf, sizeof(buf)), "0.25");
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_GPU_MEM, 0, buf, sizeof(buf)), "2G");
        assert_string_equal(sg_row_cell(&row, SG_COLUMN_GPU_UTIL, 0, buf, sizeof(buf)), "7%");
        sg_row_from_document(none, &row);
        for (enum sg_row_column c = SG_COLUMN_GPU; c <= SG_COLUMN_GPU_UTIL; c++)
                assert_string_equal(sg_row_cell(&row, c, 0, buf, sizeof(buf)), "-");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_asked),
                cmocka_unit_test(test_given_and_used),
                cmocka_unit_test(test_columns),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
