/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the reader looks besides logs: named values, progress files, event files. */

#include "tests/unit/edge/reader/fixture.h"

/* --- named values */

static int json(struct sg_values *v, const char *text, struct sg_report *ret)
{
        *ret = (struct sg_report){0};
        return sg_values_json(v, SG_GOAL_MIN, text, strlen(text), ret);
}

static void test_json(void **state)
{
        struct sg_values v = {0};
        struct sg_report r;

        (void)state;
        assert_int_equal(json(&v,
                              "{\"val_loss\": 0.9, \"loss\": 0.5, \"step\": 7, \"total_steps\": "
                              "100, \"epoch\": 2, \"num_epochs\": 5, \"lr\": 1e-3, \"ok\": true}",
                              &r),
                         1);
        assert_int_equal(r.has, 31);
        assert_near(r.eval, 0.5, 0);
        assert_int_equal(r.step, 7);
        assert_int_equal(r.total, 100);
        assert_int_equal(r.epoch, 2);
        assert_int_equal(r.epochs, 5);
        assert_int_equal(json(&v, " {\"val_loss\": 0.8}", &r), 0); /* another metric */
        assert_int_equal(json(&v, "{\"train\": {\"loss\": \"0.25\"}}\n", &r), 1);
        assert_near(r.eval, 0.25, 0);
        assert_int_equal(r.has, SG_REPORT_EVAL);
        assert_int_equal(json(&v, "{\"loss\": NaN, \"note\": \"NaN \\\" Infinity\"}", &r), 1);
        assert_true(isnan(r.eval));
        assert_int_equal(json(&v, "{\"loss\": -Infinity}", &r), 1);
        assert_true(isinf(r.eval));
        assert_true(r.eval < 0);
        assert_int_equal(json(&v, "{\"eval\": 3, \"loss\": 1}", &r), 1); /* by its own name */
        assert_true(r.eval == 3);
}

static void test_no_json(void **state)
{
        static const char *const texts[] = {
                "",
                "{",
                "{\"loss\": 1",
                "{\"loss\": 1} x",
                "[1, 2]",
                "null",
                "{\"a\": 1}",
                "{\"loss\": null}",
                "{\"step\": -1}",
                "{'loss': 1}",
                "{}",
                "{\"step\": []}",
                "{\"loss\": 1e999}",
                "{\"loss\": \"x\"}",
                "loss=1",
        };
        struct sg_values v = {0};
        struct sg_report r;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(texts); i++)
                if (json(&v, texts[i], &r) != 0)
                        fail_msg("%s", texts[i]);
}

/* A step is one of the epoch beside it, unless it goes on from one epoch to the next. */
static void test_steps_of_the_run(void **state)
{
        struct sg_values v = {0}, of_epoch = {0}, zero = {0};
        struct sg_report r;

        (void)state;
        assert_int_equal(json(&v, "{\"epoch\": 1, \"step\": 90}", &r), 1);
        assert_int_equal(r.has, SG_REPORT_EPOCH | SG_REPORT_STEP);
        assert_int_equal(json(&v, "{\"epoch\": 2, \"step\": 110}", &r), 1);
        assert_int_equal(r.has, SG_REPORT_STEP);
        assert_int_equal(json(&of_epoch, "{\"epoch\": 1, \"step\": 90}", &r), 1);
        assert_int_equal(json(&of_epoch, "{\"epoch\": 2, \"step\": 10}", &r), 1);
        assert_int_equal(r.has, SG_REPORT_EPOCH | SG_REPORT_STEP);
        assert_int_equal(json(&zero, "{\"epoch\": 0, \"global_step\": 90}", &r), 1);
        assert_int_equal(r.has, SG_REPORT_STEP);
        assert_int_equal(json(&zero, "{\"epoch\": 0, \"loss\": 90}", &r), 1);
        assert_int_equal(r.epoch, 1);
        assert_int_equal(json(&zero, "{\"epoch\": 1.5}", &r), 1);
        assert_int_equal(r.epoch, 3);
}

static void test_lines(void **state)
{
        const char *text = "# how far\r\n step = 12\r\ntotal: 1e2\nloss=0.5\nacc=1\nname=x\n=3\n";
        struct sg_values v = {0};
        struct sg_report r = {.has = 0};

        (void)state;
        assert_int_equal(sg_values_lines(&v, SG_GOAL_MIN, text, strlen(text), &r), 1);
        assert_int_equal(r.has, SG_REPORT_EVAL | SG_REPORT_STEP | SG_REPORT_TOTAL);
        assert_near(r.eval, 0.5, 0);
        assert_int_equal(r.step, 12);
        assert_int_equal(r.total, 100);
        v = (struct sg_values){0};
        assert_int_equal(sg_values_lines(&v, SG_GOAL_MAX, "acc=0.75\nloss=1", 15, &r), 1);
        assert_true(r.eval == 0.75);
}

/* --- a progress file */

static void set_times(const char *name, time_t sec)
{
        const struct timespec times[2] = {{.tv_sec = sec}, {.tv_sec = sec}};

        assert_int_equal(utimensat(AT_FDCWD, in(name), times, 0), 0);
}

static void test_progress_file(void **state)
{
        const uint64_t now = sg_now_realtime_usec(), later = now + 10 * SG_USEC_PER_SEC;
        struct sg_progress_file f;
        struct sg_report r = {.has = 0};

        (void)state;
        assert_int_equal(sg_progress_file_init(&f, in("p"), geteuid(), 0, SG_GOAL_MIN), 0);
        assert_int_equal(sg_progress_file_look(&f, now, &r), -ENOENT);
        put("p", "{\"step\": 1");
        assert_int_equal(sg_progress_file_look(&f, now, &r), 0);          /* half of it */
        assert_int_equal(sg_progress_file_look(&f, later, &r), -EBADMSG); /* and no more came */
        assert_int_equal(sg_progress_file_look(&f, later, &r), 0);
        put("p", "{\"step\": 1}");
        assert_int_equal(sg_progress_file_look(&f, now, &r), 1);
        assert_int_equal(r.step, 1);
        assert_int_equal(sg_progress_file_look(&f, now, &r), 0);
        /* Within one step of the clock a change doesn't show, but it may be read again. */
        set_times("p", 1000000000);
        assert_int_equal(sg_progress_file_look(&f, 1000000000 * SG_USEC_PER_SEC, &r), 0);
        put("p", "{\"step\": 2}");
        set_times("p", 1000000000);
        assert_int_equal(sg_progress_file_look(&f, later, &r), 1);
        assert_int_equal(r.step, 2);
        sg_progress_file_deinit(&f);
}

static void test_progress_file_limits(void **state)
{
        _cleanup_free_ char *text = malloc(SG_PROGRESS_FILE_MAX + 1);
        struct sg_progress_file f;
        struct sg_report r;

        (void)state;
        assert_non_null(text);
        memset(text, '\n', SG_PROGRESS_FILE_MAX + 1);
        write_to("p", O_TRUNC, text, SG_PROGRESS_FILE_MAX + 1);
        assert_int_equal(sg_progress_file_init(&f, in("p"), geteuid(), 0, SG_GOAL_MIN), 0);
        assert_int_equal(sg_progress_file_look(&f, 0, &r), -EFBIG);
        f.uid = geteuid() + 1;
        assert_int_equal(sg_progress_file_look(&f, 0, &r), -EPERM);
        put("p", "step=3");
        f.uid = geteuid();
        f.since_usec = sg_now_realtime_usec() + 10 * SG_USEC_PER_SEC;
        assert_int_equal(sg_progress_file_look(&f, 0, &r), 0); /* of an earlier program */
        f.since_usec = 0;
        assert_int_equal(sg_progress_file_look(&f, 0, &r), 1);
        sg_progress_file_deinit(&f);
}

/* --- event files */

#define EVENTS "tests/data/tensorboard/events.out.tfevents."

static void copy(const char *from, const char *to, size_t first, size_t last)
{
        _cleanup_free_ char *data = NULL;
        size_t size;

        assert_int_equal(sg_read_file(AT_FDCWD, from, 1 << 20, &data, &size), 0);
        last = last < size ? last : size;
        assert_true(first <= last);
        write_to(to, O_APPEND, data + first, last - first);
}

static void open_events(struct sg_events *e, const char *path, const char *tag)
{
        assert_int_equal(sg_events_init(e, path, tag, SG_GOAL_MIN), 0);
        e->uid = geteuid();
}

static void test_event_file(void **state)
{
        struct sg_report r = {.has = 0};
        struct sg_events e;
        int first, second;

        (void)state;
        open_events(&e, in("events.out.tfevents.1"), NULL);
        assert_int_equal(sg_events_look(&e, &r), -ENOENT);
        copy(EVENTS "1700000000.node.1.0", "events.out.tfevents.1", 0, 1001); /* within a record */
        first = sg_events_look(&e, &r);
        assert_true(first > 0);
        assert_true(r.step < 99);
        assert_int_equal(sg_events_look(&e, &r), 0);
        copy(EVENTS "1700000000.node.1.0", "events.out.tfevents.1", 1001, SIZE_MAX);
        second = sg_events_look(&e, &r);
        assert_int_equal(first + second, 100);
        assert_int_equal(r.step, 99);
        assert_near(r.eval, 2 / (1 + 99 / 10.0), 1e-6);
        assert_string_equal(e.chosen, "loss/train");
        sg_events_deinit(&e);
}

static void test_event_tag(void **state)
{
        struct sg_report r = {.has = 0};
        struct sg_events e;

        (void)state;
        copy(EVENTS "1700000000.node.1.0", "events.out.tfevents.1", 0, SIZE_MAX);
        open_events(&e, root, "loss/val");
        assert_int_equal(sg_events_look(&e, &r), 4);
        assert_int_equal(r.step, 75);
        sg_events_deinit(&e);
}

/* Directories come while it looks, and newer runs take over. */
static void test_event_directories(void **state)
{
        struct sg_report r = {.has = 0};
        struct sg_events e;
        int n = 0;

        (void)state;
        open_events(&e, root, NULL);
        assert_int_equal(sg_events_look(&e, &r), 0);
        assert_int_equal(sg_mkdir_p(in("run/validation"), 0700), 0);
        assert_int_equal(sg_mkdir_p(in("run/train"), 0700), 0);
        copy(EVENTS "1700000100.node.2.v2", "run/validation/events.out.tfevents.1", 0, SIZE_MAX);
        assert_int_equal(sg_events_look(&e, &r), 60); /* until there is anything better */
        assert_true(e.held_out);
        copy(EVENTS "1700000200.node.3.0", "run/train/events.out.tfevents.2", 0, SIZE_MAX);
        for (unsigned i = 0; n == 0 && i < 20; i++) /* it looks deep below now and then */
                n = sg_events_look(&e, &r);
        assert_int_equal(n, 3);
        assert_false(e.held_out);
        assert_near(r.eval, 0.125, 0);
        assert_int_equal(r.step, 3);
        sg_events_deinit(&e);
}

static void test_event_trouble(void **state)
{
        struct sg_report r;
        struct sg_events e;

        (void)state;
        put("a.tfevents.1", "this is no event file, but it is called so");
        open_events(&e, root, NULL);
        assert_int_equal(sg_events_look(&e, &r), -EBADMSG);
        assert_int_equal(sg_events_look(&e, &r), 0);
        copy(EVENTS "1700000200.node.3.0", "b.tfevents.2", 0, SIZE_MAX);
        assert_int_equal(sg_events_look(&e, &r), 3);
        sg_events_deinit(&e);
        open_events(&e, root, NULL);
        e.uid = geteuid() + 1;
        assert_int_equal(sg_events_look(&e, &r), -EPERM);
        sg_events_deinit(&e);
}

/* More files than are kept open: the newest are. */
static void test_event_many_files(void **state)
{
        struct sg_report r;
        struct sg_events e;

        (void)state;
        for (unsigned i = 0; i < 12; i++) {
                char name[64];

                (void)snprintf(name, sizeof(name), "events.out.tfevents.%u", i);
                copy(EVENTS "1700000200.node.3.0", name, 0, SIZE_MAX);
                set_times(name, 1700000000 + 7 * i % 12);
        }
        open_events(&e, root, NULL);
        assert_in_range(sg_events_look(&e, &r), 3 * SG_EVENTS_FILES_MAX, 36);
        for (unsigned i = 0; i < SG_EVENTS_FILES_MAX; i++)
                assert_true(e.files[i].modified_usec >= 1700000008 * SG_USEC_PER_SEC);
        sg_events_deinit(&e);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_json),
                cmocka_unit_test(test_no_json),
                cmocka_unit_test(test_steps_of_the_run),
                cmocka_unit_test(test_lines),
                cmocka_unit_test_setup_teardown(test_progress_file, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_progress_file_limits, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_event_file, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_event_tag, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_event_directories, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_event_trouble, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_event_many_files, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
