/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The log of decisions: what is written and what isn't, its bound, and that it never says less than
 * a reader needs. */

#include "base/file.h"
#include "edge/history/decision-json.h"
#include "edge/history/decision-log.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAX_JOBS 4

struct fixture {
        char dir[32];
        struct sg_decision_log *log;
        struct sg_decision jobs[MAX_JOBS];
        const struct sg_decision *order[MAX_JOBS];
        struct sg_class_decision classes[2];
        struct sg_governor_plan plan;
};

static void name_of(uint64_t key, char buf[SG_DECISION_ID_MAX], void *userdata)
{
        assert_non_null(userdata);
        (void)snprintf(buf, SG_DECISION_ID_MAX, "%" PRIu64, key);
}

static void open_log(struct fixture *f, uint64_t max)
{
        f->log = sg_decision_log_close(f->log);
        assert_int_equal(sg_decision_log_open(&f->log, f->dir, max, name_of, f), 0);
}

static struct sg_decision decision(uint64_t key)
{
        return (struct sg_decision){.key = key,
                                    .class = 1,
                                    .width = 1,
                                    .used = 2.5,
                                    .estimate = {.remaining = 100,
                                                 .total = 102.5,
                                                 .to = {NAN, 20, 50, 100},
                                                 .exponent = 1,
                                                 .efficiency = NAN,
                                                 .n_reports = 7,
                                                 .source = SG_SIZE_REPORTS},
                                    .out = {.share = .25,
                                            .weight = 1000,
                                            .cap = INFINITY,
                                            .list = SG_LIST_LAST,
                                            .why = {.reason = SG_REASON_RANK,
                                                    .rank = 2,
                                                    .other = 3,
                                                    .index = .125,
                                                    .virtual_finish = 200,
                                                    .due = 210,
                                                    .slack = NAN}}};
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->dir, "/tmp/sg-decisions-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        for (size_t i = 0; i < MAX_JOBS; i++)
                f->jobs[i] = decision(i + 1), f->order[i] = &f->jobs[i];
        f->classes[0] = (struct sg_class_decision){"default", 0};
        f->classes[1] = (struct sg_class_decision){"train", 100};
        f->plan = (struct sg_governor_plan){f->order, MAX_JOBS, f->classes, 2, INFINITY, false};
        open_log(f, 0);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_decision_log_close(f->log);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

static int put(struct fixture *f, unsigned causes)
{
        return sg_decision_log_put(f->log, 1700000000000000ULL, causes, &f->plan);
}

/* The lines of one of the files, 0 = the older; NULL where there is none. */
static json_t *read_lines(struct fixture *f, int which)
{
        int fds[2] = {-2, -2};
        json_t *all = NULL, *line;
        FILE *file;

        assert_int_equal(sg_decision_log_files(f->dir, fds), 0);
        (void)sg_close(fds[!which]);
        if (fds[which] < 0)
                return NULL;
        file = fdopen(fds[which], "r");
        assert_non_null(file);
        all = json_array();
        while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL)))
                assert_int_equal(json_array_append_new(all, line), 0);
        assert_int_equal(fclose(file), 0);
        return all;
}

static json_t *last_line(struct fixture *f, size_t n)
{
        json_t *all = read_lines(f, 1), *line;

        assert_int_equal(json_array_size(all), n);
        line = json_incref(json_array_get(all, n - 1));
        json_decref(all);
        return line;
}

static void expect_ids(const json_t *list, const char *expected)
{
        char ids[64] = "";
        const json_t *v;
        size_t i;

        json_array_foreach (list, i, v) {
                const char *id =
                        json_string_value(json_is_object(v) ? json_object_get(v, "id") : v);

                assert_non_null(id);
                strcat(strcat(ids, i > 0 ? " " : ""), id);
        }
        assert_string_equal(ids, expected);
}

static void expect_line(struct fixture *f, size_t n, const char *jobs, const char *gone)
{
        json_t *line = last_line(f, n);

        expect_ids(json_object_get(line, "jobs"), jobs);
        expect_ids(json_object_get(line, "gone"), gone);
        json_decref(line);
}

static void test_what_a_line_says(void **state)
{
        struct fixture *f = *state;
        json_t *line, *expected;

        f->plan.n_jobs = 1;
        assert_int_equal(put(f, SG_CAUSE_BEGIN | SG_CAUSE_TIME), 1);
        line = last_line(f, 1);
        expected = json_loads(
                "{\"schema\":\"schedgov.decision/1\",\"time\":\"2023-11-14T22:13:20.000000Z\","
                "\"causes\":[\"begin\",\"time\"],\"classes\":{\"train\":100},\"gone\":[],"
                "\"jobs\":[{\"id\":\"1\",\"class\":\"train\",\"in\":{\"width\":1.0,\"used\":2.5,"
                "\"remaining\":100.0,\"total\":102.5,\"size_from\":\"reports\",\"reports\":7,"
                "\"exponent\":1.0,\"speedup\":null,\"growth_efficiency\":null,\"to\":[null,20.0,50."
                "0,100.0]},"
                "\"out\":{\"share\":0.25,\"cpus\":0,\"weight\":1000,\"cap\":null,\"list\":\"last\","
                "\"reason\":\"rank\",\"rank\":2,\"other\":\"3\",\"index\":0.125,"
                "\"virtual_finish\":200.0,\"due\":210.0,\"slack\":null}}]}",
                0, NULL);
        assert_non_null(expected);
        assert_true(json_equal(line, expected));
        json_decref(line);
        json_decref(expected);
}

static void test_only_changes(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        expect_line(f, 1, "1 2 3 4", "");
        f->jobs[1].estimate.remaining = 7; /* known better, but nothing follows from it */
        assert_int_equal(put(f, SG_CAUSE_REPORT), 0);
        f->jobs[1].out.weight = 1;
        f->jobs[3].out.cap = .5;
        assert_int_equal(put(f, SG_CAUSE_REPORT), 1);
        expect_line(f, 2, "2 4", "");
        assert_int_equal(put(f, SG_CAUSE_TIME), 0);
}

static void test_who_is_gone(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        f->plan.jobs = f->order + 1; /* the first … */
        f->plan.n_jobs = 2;          /* … and the last */
        assert_int_equal(put(f, SG_CAUSE_END), 1);
        expect_line(f, 2, "", "1 4");
        f->plan.n_jobs = 3;
        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        expect_line(f, 3, "4", "");
        f->plan.n_jobs = 0;
        assert_int_equal(put(f, SG_CAUSE_END), 1);
        expect_line(f, 4, "", "2 3 4");
        assert_int_equal(put(f, SG_CAUSE_TIME), 0);
}

/* As after a crash: all is said again. */
static void test_opened_again(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        open_log(f, 0);
        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        expect_line(f, 2, "1 2 3 4", "");
}

static void test_bound(void **state)
{
        struct fixture *f = *state;
        const json_t *line;
        json_t *lines;
        size_t i;

        open_log(f, 8192);
        lines = read_lines(f, 0);
        assert_null(lines);
        for (unsigned k = 0; k < 200; k++) {
                f->jobs[k % MAX_JOBS].out.weight = 2 + k;
                assert_int_equal(put(f, SG_CAUSE_TIME), 1);
        }
        for (int which = 0; which < 2; which++) {
                lines = read_lines(f, which);
                assert_non_null(lines);
                assert_in_range(json_array_size(lines), 1, 40);
                json_array_foreach (lines, i, line) {
                        assert_non_null(json_object_get(line, "jobs"));
                        if (i == 0)
                                expect_ids(json_object_get(line, "jobs"), "1 2 3 4");
                }
                json_decref(lines);
        }
}

/* What can't be written now is written when it can. */
static void test_trouble(void **state)
{
        struct fixture *f = *state;
        char path[64];

        open_log(f, 1);
        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        snprintf(path, sizeof(path), "%s/decisions.jsonl.1", f->dir);
        assert_int_equal(sg_mkdir_p(path, 0700), 0);
        f->jobs[0].out.weight = 5;
        assert_int_equal(put(f, SG_CAUSE_TIME), -EISDIR);
        assert_int_equal(sg_remove_tree(AT_FDCWD, path), 0);
        assert_int_equal(put(f, SG_CAUSE_TIME), 1);
        expect_line(f, 1, "1 2 3 4", "");
}

#define MANY 1000
#define PIECES_MAX 16384 /* bytes: of one job's part there are some four thousand */

static size_t held, most;

static void *take(size_t size)
{
        void *p = malloc(size);

        held += malloc_usable_size(p);
        most = held > most ? held : most;
        return p;
}

static void give_back(void *p)
{
        held -= malloc_usable_size(p);
        free(p);
}

/* Of many jobs that all change no more is in pieces at once than of a few: the heap would stay as
 * large as all of them together once were. */
static void test_memory_of_a_long_line(void **state)
{
        struct fixture *f = *state;
        struct sg_decision *jobs = calloc(MANY, sizeof(*jobs));
        const struct sg_decision **order = calloc(MANY, sizeof(struct sg_decision *));
        json_t *line;

        assert_non_null(jobs);
        assert_non_null(order);
        for (size_t i = 0; i < MANY; i++)
                jobs[i] = decision(i + 1), order[i] = &jobs[i];
        f->plan.jobs = order;
        f->plan.n_jobs = MANY;
        json_set_alloc_funcs(take, give_back);
        assert_int_equal(put(f, SG_CAUSE_BEGIN), 1);
        json_set_alloc_funcs(malloc, free);
        assert_int_equal(held, 0);
        assert_in_range(most, 1, PIECES_MAX);
        line = last_line(f, 1);
        assert_int_equal(json_array_size(json_object_get(line, "jobs")), MANY);
        json_decref(line);
        free(order);
        free(jobs);
}

static void test_every_reason_has_a_word(void **state)
{
        (void)state;
        for (unsigned r = SG_REASON_NONE; r < _SG_REASON_MAX; r++)
                assert_string_not_equal(sg_decision_reason(r), "?");
        assert_string_equal(sg_decision_reason(_SG_REASON_MAX), "?");
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_what_a_line_says),
                TEST(test_only_changes),
                TEST(test_who_is_gone),
                TEST(test_opened_again),
                TEST(test_bound),
                TEST(test_trouble),
                TEST(test_memory_of_a_long_line),
                cmocka_unit_test(test_every_reason_has_a_word),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
