/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/job.h"
#include "tests/unit/test.h"
#include <errno.h>

/* Files hold these numbers: a test that has to be changed is a schema that has to be. */
static void test_names(void **state)
{
        static const char *const kept[] = {"follow", "start", "leave"};

        (void)state;
        assert_int_equal(_SG_THREADS_MAX, SG_ELEMENTSOF(kept));
        for (int i = 0; i < _SG_THREADS_MAX; i++) {
                assert_string_equal(sg_threads_to_string((uint64_t)i), kept[i]);
                assert_int_equal(sg_threads_from_string(kept[i]), i);
        }
        assert_string_equal(sg_threads_to_string(_SG_THREADS_MAX), "unknown");
        assert_int_equal(sg_threads_from_string(""), -EINVAL);
        assert_int_equal(sg_threads_from_string("Follow"), -EINVAL);
}

static void test_range(void **state)
{
        static const struct {
                const char *what;
                enum sg_threads threads;
                uint64_t cpus, cpus_max, quota_pm, usable, least, most;
        } cases[] = {
                {"follows", SG_THREADS_FOLLOW, 0, 0, SG_UNLIMITED, 8, 1, 8},
                {"on one CPU", SG_THREADS_FOLLOW, 0, 0, SG_UNLIMITED, 1, 1, 1},
                {"has a quota", SG_THREADS_FOLLOW, 0, 0, 25000, 8, 1, 3},
                {"has a larger one", SG_THREADS_FOLLOW, 0, 0, 90000, 8, 1, 8},
                {"has hardly any", SG_THREADS_FOLLOW, 0, 0, 100, 8, 1, 1},
                {"has none", SG_THREADS_FOLLOW, 0, 0, 0, 8, 1, 1},
                {"--cpus 4", SG_THREADS_FOLLOW, 4, 4, SG_UNLIMITED, 8, 4, 4},
                {"--cpus 2-6", SG_THREADS_FOLLOW, 2, 6, SG_UNLIMITED, 8, 2, 6},
                {"--cpus 2-6 and a quota", SG_THREADS_FOLLOW, 2, 6, 10000, 8, 2, 6},
                {"start", SG_THREADS_START, 0, 0, SG_UNLIMITED, 8, 1, 8},
                {"start, --cpus 4", SG_THREADS_START, 4, 4, SG_UNLIMITED, 8, 4, 4},
                {"leave", SG_THREADS_LEAVE, 0, 0, SG_UNLIMITED, 8, 0, 0},
                {"leave, --cpus 2-6", SG_THREADS_LEAVE, 2, 6, SG_UNLIMITED, 8, 2, 6},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                const struct sg_limits l = {.threads = cases[i].threads,
                                            .cpus = cases[i].cpus,
                                            .cpus_max = cases[i].cpus_max,
                                            .cpu_quota_pm = cases[i].quota_pm};
                struct sg_thread_range r = sg_limits_threads(&l, cases[i].usable);

                if (r.least != cases[i].least || r.most != cases[i].most)
                        fail_msg("%s: %u to %u", cases[i].what, (unsigned)r.least,
                                 (unsigned)r.most);
                assert_int_equal(sg_thread_range_is_elastic(r), cases[i].most > cases[i].least);
        }
}

static struct sg_thread_range now(const struct sg_job *j)
{
        return sg_job_threads(j, 8);
}

static void expect(struct sg_thread_range r, uint64_t least, uint64_t most)
{
        assert_int_equal(r.least, least);
        assert_int_equal(r.most, most);
}

/* A program of one thread doesn't look as wide as the node. */
static void test_follows(void **state)
{
        struct sg_job j;

        (void)state;
        sg_job_init(&j);
        j.state = SG_JOB_RUNNING;
        expect(now(&j), 0, 0);
        j.follows = 4; /* its own limit: it keeps that itself, and may have several processes */
        expect(now(&j), 1, 8);
        j.limits.cpus = 2;
        j.limits.cpus_max = 6;
        expect(now(&j), 2, 6);
        j.follows = 0;
        expect(now(&j), 2, 6);
}

static void test_started(void **state)
{
        struct sg_job j;

        (void)state;
        sg_job_init(&j);
        j.limits.threads = SG_THREADS_START;
        j.state = SG_JOB_STARTING;
        expect(now(&j), 1, 8);
        j.threads_given = 3;
        j.state = SG_JOB_RUNNING;
        expect(now(&j), 3, 3);
        j.limits.threads = SG_THREADS_LEAVE;
        expect(now(&j), 0, 0);
}

static void test_adopted(void **state)
{
        struct sg_job j;

        (void)state;
        sg_job_init(&j);
        j.adopted = SG_ADOPTED_GOVERNED;
        j.follows = 2;
        expect(now(&j), 0, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_names),   cmocka_unit_test(test_range),
                cmocka_unit_test(test_follows), cmocka_unit_test(test_started),
                cmocka_unit_test(test_adopted),
        };

        return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
