/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/job-env.h"
#include "tests/unit/test.h"

static void test_of_a_job(void **state)
{
        const char *env[] = {"OMP_NUM_THREADS=4",  "A=1",
                             "SCHEDGOV_JOB_ID=7",  "SCHEDGOV_THREADS=4",
                             "MKL_NUM_THREADS=2",  "SCHEDGOV_EXIT_SIGNAL=9",
                             "SCHEDGOV_SOCKET=/x", "SCHEDGOV_THREADS_MAX=8",
                             "no assignment",      NULL};

        (void)state;
        assert_int_equal(sg_job_env_drop(env), 4);
        assert_string_equal(env[0], "A=1");
        assert_string_equal(env[1], "MKL_NUM_THREADS=2");
        assert_string_equal(env[2], "SCHEDGOV_SOCKET=/x");
        assert_string_equal(env[3], "no assignment");
        assert_null(env[4]);
}

/* --env is asked for: schedctl puts it where there is no job any more. */
static void test_of_nobody(void **state)
{
        const char *env[] = {"SCHEDGOV_ARRAY_INDEX=3", "SCHEDGOV_THREADS=1", "OMP_NUM_THREADS=1",
                             NULL};
        const char *none[] = {NULL};

        (void)state;
        assert_int_equal(sg_job_env_drop(env), 3);
        assert_int_equal(sg_job_env_drop(none), 0);
}

static void test_without_threads(void **state)
{
        const char *env[] = {"SCHEDGOV_JOB_ID=7", "OMP_NUM_THREADS=1", NULL};

        (void)state;
        assert_int_equal(sg_job_env_drop(env), 1);
        assert_string_equal(env[0], "OMP_NUM_THREADS=1");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_of_a_job),
                cmocka_unit_test(test_of_nobody),
                cmocka_unit_test(test_without_threads),
        };

        return cmocka_run_group_tests_name("job env", tests, NULL, NULL);
}
