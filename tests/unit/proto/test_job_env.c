/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/job-env.h"
#include "tests/unit/test.h"

static void test_of_a_job(void **state)
{
        const char *env[] = {"OMP_NUM_THREADS=8",  "A=1",
                             "SCHEDGOV_JOB_ID=7",  "SCHEDGOV_THREADS=4",
                             "MKL_NUM_THREADS=2",  "SCHEDGOV_EXIT_SIGNAL=9",
                             "SCHEDGOV_SOCKET=/x", "SCHEDGOV_THREADS_MAX=8",
                             "no assignment",      NULL};
        char *preload;

        (void)state;
        assert_int_equal(sg_job_env_drop(env, &preload), 4);
        assert_null(preload);
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
        char *preload;

        (void)state;
        assert_int_equal(sg_job_env_drop(env, &preload), 3);
        assert_int_equal(sg_job_env_drop(none, &preload), 0);
}

/* Set for a job that asks for nothing, and so for the next one. */
static void test_unbuffered(void **state)
{
        const char *env[] = {"SCHEDGOV_JOB_ID=7", "PYTHONUNBUFFERED=1", NULL};
        const char *other[] = {"SCHEDGOV_JOB_ID=7", "PYTHONUNBUFFERED=", NULL};
        const char *users[] = {"PYTHONUNBUFFERED=1", NULL};
        char *preload;

        (void)state;
        assert_int_equal(sg_job_env_drop(env, &preload), 0);
        assert_int_equal(sg_job_env_drop(other, &preload), 1);
        assert_string_equal(other[0], "PYTHONUNBUFFERED=");
        assert_int_equal(sg_job_env_drop(users, &preload), 1);
}

static void test_without_threads(void **state)
{
        const char *env[] = {"SCHEDGOV_JOB_ID=7", "OMP_NUM_THREADS=1", NULL};
        char *preload;

        (void)state;
        assert_int_equal(sg_job_env_drop(env, &preload), 1);
        assert_string_equal(env[0], "OMP_NUM_THREADS=1");
}

static void expect(const char *const *env, const char *joined)
{
        char text[1024] = "";

        for (; *env; env++)
                (void)strcat(strcat(text, *env), "|");
        assert_string_equal(text, joined);
}

/* What a user has said stays, also if it is the least that the job can be told to have. */
static void test_wishes(void **state)
{
        const char *env[] = {"SCHEDGOV_JOB_ID=7",          "SCHEDGOV_THREADS=1",
                             "SCHEDGOV_THREADS_MAX=8",     "OMP_NUM_THREADS=1",
                             "MKL_NUM_THREADS=8",          "OMP_WAIT_POLICY=passive",
                             "OPENBLAS_THREAD_TIMEOUT=20", NULL};
        const char *left_alone[] = {"SCHEDGOV_JOB_ID=7", "OMP_WAIT_POLICY=passive",
                                    "OMP_NUM_THREADS=8", NULL};
        char *preload;

        (void)state;
        assert_int_equal(sg_job_env_drop(env, &preload), 2);
        expect(env, "OMP_NUM_THREADS=1|OPENBLAS_THREAD_TIMEOUT=20|");
        assert_int_equal(sg_job_env_drop(left_alone, &preload), 2);
        expect(left_alone, "OMP_WAIT_POLICY=passive|OMP_NUM_THREADS=8|");
}

static void test_preload(void **state)
{
        static const struct {
                const char *preload, *left;
        } cases[] = {
                {"LD_PRELOAD=/lib/omp.so", "A=1|"},
                {"LD_PRELOAD=/lib/x.so", "LD_PRELOAD=/lib/x.so|A=1|"},
                {"LD_PRELOAD=/lib/x.so:/lib/omp.so", "LD_PRELOAD=/lib/x.so|A=1|"},
                {"LD_PRELOAD=/lib/omp.so /lib/x.so:y.so", "LD_PRELOAD=/lib/x.so:y.so|A=1|"},
                {"LD_PRELOAD=/lib/omp.so.1:/lib/om", "LD_PRELOAD=/lib/omp.so.1:/lib/om|A=1|"},
                {"LD_PRELOAD=", "LD_PRELOAD=|A=1|"},
                {"LD_PRELOAD= : /lib/omp.so:", "A=1|"},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                const char *env[] = {"SCHEDGOV_JOB_ID=7", cases[i].preload, "A=1",
                                     "SCHEDGOV_PRELOAD=/lib/omp.so", NULL};
                const char *alien[] = {cases[i].preload, "SCHEDGOV_PRELOAD=/lib/omp.so", NULL};
                _cleanup_free_ char *preload = NULL;
                char *other = NULL;

                (void)sg_job_env_drop(env, &preload);
                expect(env, cases[i].left);
                assert_int_equal(sg_job_env_drop(alien, &other), 2);
                assert_null(other);
        }
}

static void test_decided(void **state)
{
        char *const none[] = {(char *)"A=1", (char *)"OMP_NUM_THREADS=3", NULL};
        char *const spins[] = {(char *)"GOMP_SPINCOUNT=5", NULL};
        char *const blocks[] = {(char *)"A=1", (char *)"KMP_BLOCKTIME=infinite", NULL};

        (void)state;
        assert_false(sg_job_env_is_decided(none, "OMP_WAIT_POLICY=passive"));
        assert_false(sg_job_env_is_decided(NULL, "OMP_WAIT_POLICY=passive"));
        assert_true(sg_job_env_is_decided(spins, "OMP_WAIT_POLICY=passive"));
        assert_true(sg_job_env_is_decided(blocks, "OMP_WAIT_POLICY=passive"));
        assert_true(sg_job_env_is_decided(blocks, "GOMP_SPINCOUNT=1000"));
        assert_false(sg_job_env_is_decided(none, "GOMP_SPINCOUNT=1000"));
        assert_true(sg_job_env_is_decided(spins, "KMP_BLOCKTIME=1"));
        assert_false(sg_job_env_is_decided(blocks, "OPENBLAS_THREAD_TIMEOUT=4"));
        assert_false(sg_job_env_is_decided(blocks, "OMP_WAIT_POLICYX=passive"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_of_a_job),        cmocka_unit_test(test_of_nobody),
                cmocka_unit_test(test_unbuffered),      cmocka_unit_test(test_wishes),
                cmocka_unit_test(test_without_threads), cmocka_unit_test(test_wishes),
                cmocka_unit_test(test_preload),         cmocka_unit_test(test_decided),
        };

        return cmocka_run_group_tests_name("job env", tests, NULL, NULL);
}
