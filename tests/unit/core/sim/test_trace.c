/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Traces: read strictly, written exactly, curves and their inverses, workloads that are made up. */
#include "base/rng.h"
#include "core/sim/generate.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>

#define COLUMNS "instance,job,arrival,work,width,curve,a,b,first,last,reports,noise,deadline"
#define HEADER COLUMNS "\n"
#define ALL SG_TRACE_HEADER "\n"
#define LINE "1,a,0,10,1,exp,5,0,2,1,20,0.02,\n"

static void expect_error(const char *text, size_t line, const char *column)
{
        struct sg_trace t = {0};
        struct sg_trace_error e = {0};

        assert_int_equal(sg_trace_parse(&t, text, strlen(text), &e), -EBADMSG);
        assert_int_equal(e.line, line);
        assert_non_null(e.what);
        if (column)
                assert_string_equal(e.column, column);
        else
                assert_null(e.column);
        assert_int_equal(t.n, 0);
        sg_trace_deinit(&t);
}

static void test_errors_name_their_place(void **state)
{
        (void)state;
        expect_error("", 0, NULL);
        expect_error("instance,job\n", 1, "arrival");
        expect_error("instance,job,colour\n", 1, NULL);
        expect_error("job,job\n", 1, "job");
        expect_error(HEADER, 1, NULL);
        expect_error(HEADER "1,a,0,10,1,exp,5,0,2,1,20,0.02\n", 2, "deadline");
        expect_error(HEADER LINE "1,a,0,10,1,exp,5,0,2,1,20,0.02,,\n", 3, NULL);
        expect_error(HEADER LINE "1,,0,10,1,exp,5,0,2,1,20,0.02,\n", 3, "job");
        expect_error(HEADER "1,a,-1,10,1,exp,5,0,2,1,20,0.02,\n", 2, "arrival");
        expect_error(HEADER "1,a,0,0,1,exp,5,0,2,1,20,0.02,\n", 2, "work");
        expect_error(HEADER "1,a,0,nan,1,exp,5,0,2,1,20,0.02,\n", 2, "work");
        expect_error(HEADER "1,a,0,10,1.5,exp,5,0,2,1,20,0.02,\n", 2, "width");
        expect_error(HEADER "1,a,0,10,1,log,5,0,2,1,20,0.02,\n", 2, "curve");
        expect_error(HEADER "1,a,0,10,1,exp,0,0,2,1,20,0.02,\n", 2, "a");
        expect_error(HEADER "1,a,0,10,1,pow,5,0,2,1,20,0.02,\n", 2, "b");
        expect_error(HEADER "1,a,0,10,1,exp,5,0,inf,1,20,0.02,\n", 2, "first");
        expect_error(HEADER "1,a,0,10,1,exp,5,0,2,1,2.5,0.02,\n", 2, "reports");
        expect_error(HEADER "1,a,0,10,1,exp,5,0,2,1,20,0.02,soon\n", 2, "deadline");
        expect_error(ALL LINE, 2, "exponent");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,2,,\n", 2, "exponent");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,,\"1:1\",\n", 2, "speedup");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,,\"1:1,2:2.1\",\n", 2, "speedup");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,,\"1:1,2:1.1,4:2\",\n", 2, "speedup");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,,\"1:1,2:.9\",\n", 2, "speedup");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,,\"1:1,2:1.4\n", 2, "speedup");
        expect_error(ALL "1,a,0,10,1,exp,5,0,2,1,20,0.02,,,,0\n", 2, "threads");
        expect_error(HEADER "1,a,0 ,10,1,exp,5,0,2,1,20,0.02,\n", 2, "arrival");
}

static void test_speedups(void **state)
{
        static const char text[] = ALL "1,a,0,10,1,exp,5,0,2,1,20,0,,,\"1:1,2:1.4,4:2.1\",8\n"
                                       "1,b,0,10,1,exp,5,0,2,1,20,0,,.57,,\n"
                                       "1,c,0,10,1,exp,5,0,2,1,20,0,,,,\n";
        char line[SG_TRACE_LINE_MAX], again[sizeof(ALL) + SG_TRACE_LINE_MAX];
        struct sg_trace_error e;
        struct sg_trace t = {0};

        (void)state;
        assert_int_equal(sg_trace_parse(&t, text, strlen(text), &e), 0);
        assert_near(sg_speedup_at(&t.jobs[0].speedup, 2), 1.4, 1e-12);
        assert_near(sg_speedup_at(&t.jobs[0].speedup, 4), 2.1, 1e-12);
        assert_near(sg_speedup_at(&t.jobs[0].speedup, 8), 3.15, 1e-12);
        assert_int_equal(t.jobs[0].threads, 8);
        assert_true(t.jobs[1].speedup.exponent[3] == .57);
        assert_near(sg_speedup_at(&t.jobs[2].speedup, 7), 7, 0);
        assert_int_equal(t.jobs[2].threads, 0);
        for (size_t i = 0; i < 3; i++) {
                struct sg_trace copy = {0};

                (void)snprintf(again, sizeof(again), ALL "%s",
                               sg_trace_format(&t.jobs[i], line, sizeof(line)));
                assert_int_equal(sg_trace_parse(&copy, again, strlen(again), &e), 0);
                for (int cpus = 1; cpus <= 1024; cpus *= 2)
                        assert_near(sg_speedup_at(&copy.jobs[0].speedup, cpus) /
                                            sg_speedup_at(&t.jobs[i].speedup, cpus),
                                    1, 1e-9);
                sg_trace_deinit(&copy);
        }
        sg_trace_deinit(&t);
}

static void test_columns_in_any_order_and_sorted(void **state)
{
        static const char text[] =
                "job,instance,curve,arrival,work,width,a,b,first,last,reports,noise\r\n"
                "late,10,exp,7,1,1,5,0,2,1,20,0\r\n"
                "early,10,exp,3,1,1,5,0,2,1,20,0\r\n"
                "\r\n"
                "other,9,weibull,5,1,.5,.1,2,2,1,0,.5";
        struct sg_trace t = {0};
        struct sg_trace_error e;

        (void)state;
        assert_int_equal(sg_trace_parse(&t, text, sizeof(text) - 1, &e), 0);
        assert_int_equal(t.n, 3);
        assert_string_equal(t.jobs[0].job, "other");
        assert_string_equal(t.jobs[1].job, "early");
        assert_string_equal(t.jobs[2].job, "late");
        assert_int_equal(t.jobs[0].curve, SG_CURVE_WEIBULL);
        assert_near(t.jobs[0].width, .5, 0);
        assert_true(isinf(t.jobs[0].deadline));
        assert_int_equal(sg_trace_instance_end(&t, 0), 1);
        assert_int_equal(sg_trace_instance_end(&t, 1), 3);
        sg_trace_deinit(&t);
}

static void test_curves_and_their_inverses(void **state)
{
        static const struct sg_trace_job jobs[] = {
                {.curve = SG_CURVE_EXP, .a = 5.2, .first = 550, .last = 105},
                {.curve = SG_CURVE_POW, .a = 60, .b = 1, .first = 2.3, .last = .03},
                {.curve = SG_CURVE_WEIBULL, .a = .1394, .b = 2.31, .first = .1, .last = .9},
                {.curve = SG_CURVE_EXP, .a = 1e-12, .first = 1, .last = 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(jobs); i++) {
                const struct sg_trace_job *j = &jobs[i];

                assert_near(sg_trace_loss(j, 0), j->first, 1e-9);
                assert_near(sg_trace_loss(j, 1), j->last, 1e-9);
                for (double left = .01; left < 1; left += .01)
                        assert_near(sg_trace_left(j, sg_trace_left_at(j, left)), left, 1e-9);
        }
        /* as worked out by hand: φ(1) = e^-5.2, and e^-5.2x = φ(1) + .1·(1 − φ(1)) */
        assert_near(sg_trace_left_at(&jobs[0], .1), .433486, 1e-5);
}

static void test_what_is_made_up_reads_the_same(void **state)
{
        _cleanup_free_ char *text = NULL;
        struct sg_trace made = {0}, read = {0};
        struct sg_trace_error e;
        size_t size;
        FILE *f = open_memstream(&text, &size);
        char line[512];

        (void)state;
        assert_non_null(f);
        assert_int_equal(sg_generate(&made, "deadline12", 7, 20), 0);
        assert_int_equal(made.n, 240);
        (void)fputs(ALL, f);
        for (size_t i = 0; i < made.n; i++)
                (void)fprintf(f, "%s\n", sg_trace_format(&made.jobs[i], line, sizeof(line)));
        assert_int_equal(fclose(f), 0);
        assert_int_equal(sg_trace_parse(&read, text, size, &e), 0);
        assert_int_equal(read.n, made.n);
        for (size_t i = 0; i < made.n; i++) {
                const struct sg_trace_job *a = &made.jobs[i], *b = &read.jobs[i];

                assert_string_equal(a->instance, b->instance);
                assert_string_equal(a->job, b->job);
                assert_near(a->arrival, b->arrival, 0);
                assert_near(a->work, b->work, 0);
                assert_near(a->width, b->width, 0);
                assert_int_equal(a->curve, b->curve);
                assert_near(a->a, b->a, 0);
                assert_near(a->b, b->b, 0);
                assert_near(a->first, b->first, 0);
                assert_near(a->last, b->last, 0);
                assert_int_equal(a->reports, b->reports);
                assert_near(a->noise, b->noise, 0);
                assert_near(a->deadline, b->deadline, 0);
        }
        sg_trace_deinit(&made);
        sg_trace_deinit(&read);
}

static void test_instances_dont_depend_on_how_many(void **state)
{
        struct sg_trace few = {0}, many = {0};
        char a[512], b[512];

        (void)state;
        assert_int_equal(sg_generate(&few, "random5", 3, 4), 0);
        assert_int_equal(sg_generate(&many, "random5", 3, 40), 0);
        for (size_t i = 0; i < few.n; i++)
                assert_string_equal(sg_trace_format(&few.jobs[i], a, sizeof(a)),
                                    sg_trace_format(&many.jobs[i], b, sizeof(b)));
        sg_trace_deinit(&few);
        sg_trace_deinit(&many);
}

static void test_workloads_are_what_they_are_called(void **state)
{
        static const char *const bad[] = {"",         "random",  "random0",
                                          "random-1", "fixed3x", "random5 "};
        struct sg_trace t = {0};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(sg_generate(&t, bad[i], 1, 1), -EINVAL);
        assert_int_equal(sg_generate(&t, "fixed3", 1, 1), 0);
        assert_int_equal(t.n, 3);
        assert_near(t.jobs[0].work, 259.6, 0);
        assert_near(t.jobs[1].arrival, 40, 0);
        assert_near(t.jobs[2].work, 28.2, 0);
        sg_trace_deinit(&t);
        assert_int_equal(sg_generate(&t, "wide50", 1, 10), 0);
        for (size_t i = 0; i < t.n; i++) {
                assert_near(t.jobs[i].width, 1, 0);
                assert_true(t.jobs[i].arrival <= 200);
                assert_in_range(t.jobs[i].reports, 20, 100);
        }
        assert_true(t.jobs[0].arrival == 0);
        sg_trace_deinit(&t);
}

/* The first numbers of O'Neill's own demonstration (pcg32-demo), seed 42, stream 54. */
static void test_generator_is_the_published_one(void **state)
{
        static const uint32_t expected[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                            0x83d2f293, 0xbfa4784b, 0xcbed606e};
        struct sg_rng rng;
        double sum = 0, squares = 0;

        (void)state;
        sg_rng_init(&rng, 42, 54);
        for (size_t i = 0; i < SG_ELEMENTSOF(expected); i++)
                assert_int_equal(sg_rng_u32(&rng), expected[i]);
        for (unsigned i = 0; i < 100000; i++) {
                double v = sg_rng_normal(&rng);

                sum += v;
                squares += v * v;
                assert_true(sg_rng_below(&rng, 7) < 7);
        }
        assert_near(sum / 1e5, 0, .02);
        assert_near(squares / 1e5, 1, .02);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_errors_name_their_place),
                cmocka_unit_test(test_speedups),
                cmocka_unit_test(test_columns_in_any_order_and_sorted),
                cmocka_unit_test(test_curves_and_their_inverses),
                cmocka_unit_test(test_what_is_made_up_reads_the_same),
                cmocka_unit_test(test_instances_dont_depend_on_how_many),
                cmocka_unit_test(test_workloads_are_what_they_are_called),
                cmocka_unit_test(test_generator_is_the_published_one),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
