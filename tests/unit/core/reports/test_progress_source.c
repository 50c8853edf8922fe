/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/progress-source.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <string.h>

static void check(const char *s, enum sg_progress_kind kind, const char *text, const char *tag)
{
        struct sg_progress_source source;

        assert_int_equal(sg_progress_source_parse(s, &source), 0);
        assert_int_equal(source.kind, kind);
        assert_int_equal(source.size, strlen(text));
        assert_memory_equal(source.text, text, source.size);
        if (tag)
                assert_string_equal(source.tag, tag);
        else
                assert_null(source.tag);
}

static void test_kinds(void **state)
{
        (void)state;
        check("auto", SG_PROGRESS_AUTO, "auto", NULL);
        check("none", SG_PROGRESS_NONE, "none", NULL);
        check("keras", SG_PROGRESS_PRESET, "keras", NULL);
        check("json", SG_PROGRESS_PRESET, "json", NULL);
        check("file:p.json", SG_PROGRESS_FILE, "p.json", NULL);
        check("file:/a?tag=b", SG_PROGRESS_FILE, "/a?tag=b", NULL);
        check("tensorboard:runs/%j", SG_PROGRESS_EVENTS, "runs/%j", NULL);
        check("tensorboard:/r?tag=loss/train", SG_PROGRESS_EVENTS, "/r", "loss/train");
        check("err (?<loss>\\S+)", SG_PROGRESS_PATTERN, "err (?<loss>\\S+)", NULL);
}

static void test_wrong(void **state)
{
        static const char *const wrong[] = {
                "",      "Auto",         "kears",  "pattern",           "file:",
                "file",  "tensorboard:", "loss=.", "tensorboard:?tag=", "tensorboard:/r?tag=",
                "auto ", "tensorboard",
        };
        struct sg_progress_source source = {.text = "untouched"};
        char buf[SG_PROGRESS_SOURCE_MAX + 1];

        (void)state;
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
                assert_int_equal(sg_progress_source_parse(wrong[i], &source), -EINVAL);
                assert_string_equal(source.text, "untouched");
        }
        memset(buf, 'x', sizeof(buf));
        memcpy(buf, "file:", 5);
        buf[SG_PROGRESS_SOURCE_MAX] = '\0';
        assert_int_equal(sg_progress_source_parse(buf, &source), -EINVAL);
        buf[SG_PROGRESS_SOURCE_MAX - 1] = '\0';
        assert_int_equal(sg_progress_source_parse(buf, &source), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_kinds),
                cmocka_unit_test(test_wrong),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
