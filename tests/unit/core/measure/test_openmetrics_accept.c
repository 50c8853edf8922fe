/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/measure/openmetrics-accept.h"
#include "tests/unit/test.h"

static const char *const openmetrics[] = {
        "application/openmetrics-text",
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        "Application/OpenMetrics-Text ;Version=1.0.0",
        " text/plain;q=0.999 , application/openmetrics-text ",
        "application/openmetrics-text;q=0.001",
        "application/openmetrics-text;q=0.5,*/*;q=0.5",
        "application/openmetrics-text;version=0.0.1,application/openmetrics-text;version=1.0.0",
        ",,;;q=,application/openmetrics-text,",
        /* Prometheus 2.42 */
        "application/openmetrics-text;version=1.0.0,application/"
        "openmetrics-text;version=0.0.1;q=0.75,"
        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        /* Prometheus 3 */
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;"
        "escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
};

static const char *const text[] = {
        NULL,
        "",
        "*/*",
        "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=0.000",
        "application/openmetrics-text;version=2.0.0",
        "application/openmetrics-text;version=0.0.1",
        "application/openmetrics-textual",
        "application/openmetrics",
        "application/*",
        "application/openmetrics-text;q=0.4,text/plain;version=0.0.4;q=0.5",
        "application/openmetrics-text;q=0.4,text/*;q=0.5",
        "application/openmetrics-text;q=1.5",
        "application/openmetrics-text;q=x",
        "application/openmetrics-text;q=0.1234",
        "application/openmetrics-text;q=-1",
        "application/openmetrics-text;q=",
        "\"application/openmetrics-text\"",
};

static void test_choice(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(openmetrics); i++)
                if (sg_openmetrics_choose(openmetrics[i]) != SG_METRICS_OPENMETRICS)
                        fail_msg("'%s' gets text", openmetrics[i]);
        for (size_t i = 0; i < SG_ELEMENTSOF(text); i++)
                if (sg_openmetrics_choose(text[i]) != SG_METRICS_TEXT)
                        fail_msg("'%s' gets OpenMetrics", text[i] ?: "(none)");
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice)};

        return cmocka_run_group_tests(tests, NULL, NULL);
}
