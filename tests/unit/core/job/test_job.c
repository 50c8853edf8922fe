/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/job.h"
#include "tests/unit/test.h"

static void test_table(void **state)
{
        (void)state;
        assert_true(sg_job_n_fields > 40);
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];

                assert_int_equal(f->tag, i + 1); /* decoding is an index */
                assert_true(f->offset + f->size <=
                            (f->gpu ? sizeof(struct sg_gpu_request) : sizeof(struct sg_job)));
                if (f->type != SG_TYPE_CHARS)
                        assert_int_equal(f->size, 8);
                for (size_t k = 0; k < i; k++) {
                        assert_string_not_equal(f->column, sg_job_fields[k].column);
                        if (f->gpu == sg_job_fields[k].gpu)
                                assert_int_not_equal(f->offset, sg_job_fields[k].offset);
                }
        }
}

/* A distinct value in every field, so that two that are mixed up show. */
static void fill(struct sg_job *job)
{
        job->gpu = sg_gpu_request_new();
        assert_non_null(job->gpu);
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];
                char *p = sg_job_field_at(job, f), *s = NULL;

                switch (f->type) {
                case SG_TYPE_U64:
                        *(uint64_t *)p = 1000 + i;
                        break;
                case SG_TYPE_I64:
                        *(int64_t *)p = -1000 - (int64_t)i;
                        break;
                case SG_TYPE_CHARS:
                        (void)snprintf(p, f->size, "chars%zu", i);
                        break;
                case SG_TYPE_STR:
                        assert_true(asprintf(&s, "string %zu", i) > 0);
                        *(char **)p = s;
                        break;
                }
        }
        job->state = SG_JOB_LOST;
        job->intent = SG_INTENT_REQUEUE;
        job->adopted = SG_ADOPTED_GOVERNED;
        job->limits.threads = SG_THREADS_LEAVE;
        job->gpu->min = 1;
        job->gpu->max = 2;
        job->gpu->share = 50;
}

static void expect_same(const struct sg_job *a, const struct sg_job *b)
{
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];
                const char *p = sg_job_field_at(a, f), *q = sg_job_field_at(b, f);

                assert_int_equal(!p, !q);
                if (!p)
                        continue;
                if (f->type == SG_TYPE_CHARS)
                        assert_string_equal(p, q);
                else if (f->type != SG_TYPE_STR)
                        assert_memory_equal(p, q, f->size);
                else if (*(char *const *)p && *(char *const *)q)
                        assert_string_equal(*(char *const *)p, *(char *const *)q);
                else
                        assert_true(*(char *const *)p == *(char *const *)q);
        }
}

static void test_codec(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        _cleanup_(sg_job_deinit) struct sg_job a, b, c;

        (void)state;
        sg_job_init(&a);
        sg_job_init(&b);
        sg_job_init(&c);
        fill(&a);
        sg_record_put_str(&r, 60000, "a field of the future");
        sg_job_encode(&a, &r);
        assert_int_equal(r.error, 0);
        assert_int_equal(sg_job_decode(&b, r.data, r.size), 0);
        expect_same(&a, &b);
        assert_int_equal(sg_job_copy(&c, &b), 0);
        expect_same(&a, &c);
        assert_ptr_not_equal(b.reason, c.reason);
        assert_ptr_not_equal(b.gpu->type, c.gpu->type);
        sg_job_deinit(&b);
        assert_null(b.reason);
        assert_null(b.gpu);
        assert_int_equal(sg_job_copy(&c, &b), 0);
        expect_same(&b, &c);
}

static void test_decode_refuses(void **state)
{
        (void)state;
        struct {
                uint16_t tag;
                const char *data;
                size_t size;
        } bad[] = {
                {2, "1234567", 7},                             /* n: not 8 bytes */
                {6, "0123456789012345678901234567890123", 34}, /* user: too long */
                {18, "a\0b", 3},                               /* reason: a NUL in it */
                {9, "\xff\0\0\0\0\0\0\0", 8},                  /* no such state */
                {9, "\x04\0\0\0\0\0\0\0", 8},                  /* nor this one, yet */
                {10, "\x7f\0\0\0\0\0\0\0", 8},                 /* no such intent */
                {62, "\x03\0\0\0\0\0\0\0", 8},                 /* no such way with threads */
                {69, "\0\0\0\0\0\0\0\0", 8},                   /* no GPU at all */
                {69, "\x02\0\0\0\0\0\0\0", 8},                 /* at least more than at most */
                {71, "\x65\0\0\0\0\0\0\0", 8},                 /* more than all of one */
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                _cleanup_(sg_record_deinitp) struct sg_record r = {0};
                _cleanup_(sg_job_deinit) struct sg_job job;

                sg_job_init(&job);
                sg_record_put(&r, bad[i].tag, bad[i].data, bad[i].size);
                assert_int_equal(sg_job_decode(&job, r.data, r.size), -EBADMSG);
        }
}

/* Every cut of a good record is refused or a shorter record; none reads beyond (asan). */
static void test_decode_cut(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        _cleanup_(sg_job_deinit) struct sg_job job, got;
        unsigned whole = 0;

        (void)state;
        sg_job_init(&job);
        fill(&job);
        sg_job_encode(&job, &r);
        for (size_t n = 0; n <= r.size; n++) {
                _cleanup_free_ uint8_t *copy = malloc(n + 1);

                assert_non_null(copy);
                memcpy(copy, r.data, n);
                sg_job_init(&got);
                whole += sg_job_decode(&got, copy, n) == 0;
                sg_job_deinit(&got);
        }
        sg_job_init(&got);
        assert_int_equal(whole, sg_job_n_fields + 1);
}

/* Files hold these numbers: a test that has to be changed is a schema that has to be. */
static void test_states(void **state)
{
        static const struct {
                uint64_t number;
                const char *name;
        } kept[] = {
                {0, "queued"},  {1, "starting"}, {2, "running"},  {3, "suspended"}, {32, "exited"},
                {33, "killed"}, {34, "oom"},     {35, "timeout"}, {36, "failed"},   {37, "lost"},
        };
        unsigned known = 0;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(kept); i++) {
                assert_string_equal(sg_job_state_to_string(kept[i].number), kept[i].name);
                assert_int_equal(sg_job_state_from_string(kept[i].name), kept[i].number);
                assert_int_equal(sg_job_state_is_final(kept[i].number), kept[i].number >= 32);
        }
        for (uint64_t i = 0; i < 100; i++)
                known += sg_job_state_is_known(i);
        assert_int_equal(known, SG_ELEMENTSOF(kept));
        assert_false(sg_job_state_is_known(_SG_JOB_LIVE_MAX));
        assert_false(sg_job_state_is_known(UINT64_MAX));
        assert_string_equal(sg_job_state_to_string(31), "unknown");
        assert_string_equal(sg_job_state_to_string(UINT64_MAX), "unknown");
        assert_int_equal(sg_job_state_from_string("Queued"), -EINVAL);
        assert_int_equal(sg_job_state_from_string(""), -EINVAL);
        assert_int_equal(sg_job_state_from_string("unknown"), -EINVAL);
        assert_false(sg_job_state_is_final(SG_JOB_SUSPENDED));
        assert_true(sg_job_state_is_final(SG_JOB_EXITED));
        assert_true(sg_job_state_is_final(SG_JOB_LOST));
}

static void test_exit_status(void **state)
{
        static const struct {
                uint64_t state;
                int64_t code, signal;
                int want;
        } cases[] = {
                {SG_JOB_EXITED, 0, 0, 0},     {SG_JOB_EXITED, 3, 0, 3},
                {SG_JOB_EXITED, 255, 0, 255}, {SG_JOB_KILLED, -1, 9, 137},
                {SG_JOB_KILLED, -1, 15, 143}, {SG_JOB_KILLED, -1, 0, 143},
                {SG_JOB_OOM, -1, 9, 137},     {SG_JOB_OOM, -1, 0, 137},
                {SG_JOB_TIMEOUT, -1, 9, 124}, {SG_JOB_FAILED, 127, 0, 127},
                {SG_JOB_FAILED, 126, 0, 126}, {SG_JOB_FAILED, -1, 0, 125},
                {SG_JOB_LOST, -1, 0, 125},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                struct sg_job job;

                sg_job_init(&job);
                job.state = cases[i].state;
                job.exit_code = cases[i].code;
                job.signal = cases[i].signal;
                assert_int_equal(sg_job_exit_status(&job), cases[i].want);
        }
}

static void test_reason(void **state)
{
        _cleanup_(sg_job_deinit) struct sg_job job;

        (void)state;
        sg_job_init(&job);
        assert_int_equal(sg_job_set_reason(&job, "cannot exec %s", "a\nb\tc\x7f"), 0);
        assert_string_equal(job.reason, "cannot exec a b c ");
        assert_int_equal(sg_job_set_reason(&job, "%s", ""), 0);
        assert_string_equal(job.reason, "");
}

static void test_expand_path(void **state)
{
        static const struct {
                const char *pattern, *want;
        } cases[] = {
                {"", ""},          {"out", "out"},   {"%j.log", "42.log"}, {"%n-%a", "train--3"},
                {"100%%", "100%"}, {"%j%j", "4242"}, {"%x%", "%x%"},       {"%%j", "%j"},
        };
        _cleanup_(sg_job_deinit) struct sg_job job;
        char *s = NULL;

        (void)state;
        sg_job_init(&job);
        job.key.n = 42;
        job.array_index = -3;
        (void)snprintf(job.name, sizeof(job.name), "train");
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                assert_int_equal(sg_job_expand_path(&job, cases[i].pattern, &s), 0);
                assert_string_equal(s, cases[i].want);
                free(s);
        }
        assert_int_equal(sg_job_expand_path(&job, NULL, &s), 0);
        assert_null(s);
}

static void test_name_of_task(void **state)
{
        static const struct {
                const char *pattern, *want;
        } cases[] = {
                {"train", "train"}, {"%a", "120"},    {"fit-%a", "fit-120"},
                {"%a%a", "120120"}, {"100%", "100%"}, {"%%a", "%120"},
                {"%j-%n", "%j-%n"}, {"%", "%"},       {"ü%aü", "ü120ü"},
        };
        char name[SG_JOB_NAME_MAX], longest[SG_JOB_NAME_MAX];
        _cleanup_(sg_job_deinit) struct sg_job job;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                assert_int_equal(sg_job_name_task(name, cases[i].pattern, 120), 0);
                assert_string_equal(name, cases[i].want);
        }
        memset(longest, 'x', sizeof(longest) - 1);
        longest[sizeof(longest) - 1] = 0;
        memcpy(longest + sizeof(longest) - 3, "%a", 2);
        assert_int_equal(sg_job_name_task(name, longest, 12), 0);
        assert_int_equal(strlen(name), SG_JOB_NAME_MAX - 1);
        assert_int_equal(sg_job_name_task(name, longest, 120), -ENAMETOOLONG);

        sg_job_init(&job);
        job.key.n = 40;
        job.array_first = 40;
        strcpy(job.name, "fit-%a");
        job.output = strdup("%n.%j");
        assert_non_null(job.output);
        assert_int_equal(sg_job_become_task(&job, 2, 7), 0);
        assert_int_equal(job.key.n, 42);
        assert_int_equal(job.array_index, 7);
        assert_string_equal(job.name, "fit-7");
        assert_string_equal(job.output, "fit-7.42");
}

static void test_id(void **state)
{
        static const char *const bad[] = {
                "",
                "0",
                "07",
                "+7",
                "-7",
                " 7",
                "7 ",
                "7@",
                "7@a b",
                "7@.x",
                "7@-x",
                "7@a/b",
                "7x",
                "@h",
                "7@h@i",
                "18446744073709551616",
                "7@0123456789012345678901234567890123456789012345678901234567890123456789",
        };
        struct sg_job_key key, other = {.origin = "far.example-1", .n = UINT64_MAX};
        char buf[SG_JOB_ID_MAX];

        (void)state;
        assert_int_equal(sg_job_id_parse("7", "home", &key), 0);
        assert_string_equal(key.origin, "home");
        assert_int_equal(key.n, 7);
        sg_job_id_format(buf, &key, "home");
        assert_string_equal(buf, "7");
        sg_job_id_format(buf, &other, "home");
        assert_string_equal(buf, "18446744073709551615@far.example-1");
        assert_int_equal(sg_job_id_parse(buf, "home", &key), 0);
        assert_int_equal(key.n, UINT64_MAX);
        assert_string_equal(key.origin, other.origin);
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(sg_job_id_parse(bad[i], "home", &key), -EINVAL);
        assert_true(key.n == UINT64_MAX); /* untouched */
}

static void test_attempt_name(void **state)
{
        static const char *const bad[] = {"",       "7",         "7-h",   "7-h-",
                                          "7--1",   "0-h-1",     "7-h-0", "7-h-01",
                                          "7-h-1x", "7-h-1.tmp", "x-h-1", "7-h/i-1"};
        struct sg_job_key key = {.origin = "gpu-box-2", .n = 19, .attempt = 3}, got;
        char buf[SG_ATTEMPT_NAME_MAX];

        (void)state;
        sg_attempt_name_format(buf, &key);
        assert_string_equal(buf, "19-gpu-box-2-3");
        assert_int_equal(sg_attempt_name_parse(buf, &got), 0);
        assert_string_equal(got.origin, key.origin);
        assert_int_equal(got.n, 19);
        assert_int_equal(got.attempt, 3);
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(sg_attempt_name_parse(bad[i], &got), -EINVAL);
}

/* Every text of it counts, whoever chose it. */
static void test_stored_bytes(void **state)
{
        struct sg_job job;
        uint64_t empty;

        (void)state;
        sg_job_init(&job);
        empty = sg_job_stored_bytes(&job);
        assert_in_range(empty, 512, 1024);
        (void)snprintf(job.name, sizeof(job.name), "name");
        job.after = strdup("1:ok");
        job.output = strdup("/a/path");
        job.command = strdup("true");
        assert_int_equal(sg_job_stored_bytes(&job), empty + 4 + 4 + 7 + 4);
        sg_job_deinit(&job);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_table),
                cmocka_unit_test(test_codec),
                cmocka_unit_test(test_decode_refuses),
                cmocka_unit_test(test_decode_cut),
                cmocka_unit_test(test_states),
                cmocka_unit_test(test_exit_status),
                cmocka_unit_test(test_reason),
                cmocka_unit_test(test_expand_path),
                cmocka_unit_test(test_name_of_task),
                cmocka_unit_test(test_stored_bytes),
                cmocka_unit_test(test_id),
                cmocka_unit_test(test_attempt_name),
        };

        return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
