/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Requests and refusals, without any protocol: the tables, and what a Set makes of a job. */
#include "tests/unit/test.h"

#include "core/ask/request.h"

static void test_refuse(void **state)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};

        (void)state;
        assert_int_equal(sg_refuse(&a, SG_ANSWER_INVALID, "cpus", "at most %d\nuse less", 3),
                         -EINVAL);
        assert_int_equal(a.kind, SG_ANSWER_INVALID);
        assert_string_equal(a.object, "cpus");
        assert_string_equal(a.line, "at most 3");
        assert_string_equal(a.hint, "use less");
        assert_int_equal(sg_refuse(&a, SG_ANSWER_BUSY, NULL, "later"), -EINVAL); /* in its place */
        assert_int_equal(a.kind, SG_ANSWER_BUSY);
        assert_null(a.object);
        assert_string_equal(a.line, "later");
        assert_null(a.hint);
        assert_int_equal(sg_refuse(&a, SG_ANSWER_BUSY, NULL, "a\nb\nc"), -EINVAL);
        assert_string_equal(a.hint, "b\nc");
}

static void test_verbs(void **state)
{
        (void)state;
        for (int verb = 0; verb < _SG_REQUEST_VERB_MAX; verb++) {
                assert_non_null(sg_request_verbs[verb].name);
                assert_int_equal(sg_request_verb_from_string(sg_request_verbs[verb].name), verb);
                assert_null(sg_request_verbs[verb].params[SG_REQUEST_PARAMS_MAX]);
        }
        assert_int_equal(sg_request_verb_from_string("submit"), -ENOENT);
        assert_false(sg_request_is_of_job(SG_REQUEST_CONFIG_VERIFY));
        assert_true(sg_request_is_of_job(SG_REQUEST_CANCEL));
        assert_true(sg_request_is_of_job(SG_REQUEST_SET));
}

static const struct sg_param *find(const struct sg_request *q, const char *name)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        const struct sg_param *p = NULL;

        if (sg_request_find(q, name, &p, &a) < 0)
                fail_msg("%s: %s", name, a.line);
        return p;
}

/* Whoever takes options finds each of theirs by its name, and no other of that name. */
static void test_options(void **state)
{
        (void)state;
        for (size_t i = 0; i < sg_n_request_options; i++) {
                const struct sg_param *p = &sg_request_options[i];

                assert_int_not_equal(p->verbs, 0);
                for (int verb = 0; verb < _SG_REQUEST_VERB_MAX; verb++) {
                        _cleanup_(sg_request_deinit) struct sg_request q;

                        sg_request_init(&q, (enum sg_request_verb)verb);
                        if (!(p->verbs & (1ULL << verb)))
                                continue;
                        assert_non_null(sg_request_verbs[verb].options);
                        assert_ptr_equal(find(&q, p->name), p);
                }
        }
}

static void put_number(struct sg_request *q, const char *name, uint64_t v)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        const struct sg_param *p = find(q, name);
        const struct sg_value value = {.type = p->type, .number = v};

        assert_int_equal(sg_request_put(q, p, &value, &a), 0);
}

static void put_text(struct sg_request *q, const char *name, const char *text)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        const struct sg_value value = {.type = SG_VALUE_TEXT, .text = text};

        assert_int_equal(sg_request_put(q, find(q, name), &value, &a), 0);
}

/* What a Set says, and nothing else. */
static void test_apply(void **state)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        struct sg_job job;

        (void)state;
        sg_job_init(&job);
        strcpy(job.name, "before");
        job.limits.cpus = 3;
        job.priority = 4;
        job.deadline_usec = 5;
        sg_request_init(&q, SG_REQUEST_SET);
        sg_request_apply(&q, &job);
        assert_string_equal(job.name, "before");
        assert_int_equal(job.limits.cpus, 3);
        put_number(&q, "mem", 1 << 21);
        put_number(&q, "deadline", SG_UNLIMITED);
        put_text(&q, "name", "after");
        put_text(&q, "threads", "leave");
        assert_int_equal(q.asked, SG_ASK(SG_LIMIT_MEMORY_MAX) | SG_ASK_THREADS);
        sg_request_apply(&q, &job);
        assert_string_equal(job.name, "after");
        assert_int_equal(job.limits.memory_max, 1 << 21);
        assert_int_equal(job.deadline_usec, 0);
        assert_int_equal(job.limits.cpus, 3);
        assert_int_equal(job.priority, 4);
        sg_job_deinit(&job);
}

/* Nothing is changed by what is refused. */
static void test_bounds(void **state)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_request_deinit) struct sg_request q;
        const struct sg_value low = {.type = SG_VALUE_U64, .number = 1};

        (void)state;
        sg_request_init(&q, SG_REQUEST_SUBMIT);
        assert_int_equal(sg_request_put(&q, find(&q, "mem"), &low, &a), -EINVAL);
        assert_string_equal(a.line, "mem: at least 1M, not 1B");
        assert_int_equal(q.asked, 0);
        assert_true(q.job.limits.memory_max == SG_UNLIMITED);
        put_number(&q, "mem", 1 << 20);
        assert_int_equal(q.job.limits.memory_max, 1 << 20);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_refuse),  cmocka_unit_test(test_verbs),
                cmocka_unit_test(test_options), cmocka_unit_test(test_apply),
                cmocka_unit_test(test_bounds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
