/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader as a whole: what jobs say comes out, and what they say can't harm anybody. */

#include "tests/unit/edge/reader/fixture.h"
#include <sys/resource.h>
#include <sys/wait.h>

/* --- what comes out */

static void test_log(void **state)
{
        (void)state;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        follow_log(1, "log"); /* it isn't there yet */
        put("log", "step 1/10 loss=0.5\n");
        wait_until(heard[1].report.step == 1);
        assert_near(heard[1].report.eval, 0.5, 0);
        assert_int_equal(heard[1].report.total, 10);
        assert_string_equal(heard[1].source, "plain");
        add("log", "step 2/10 lo");
        add("log", "ss=0.25\n");
        wait_until(heard[1].report.eval == 0.25);
        assert_int_equal(heard[1].report.step, 2);
        assert_string_equal(heard[1].trouble, "");
}

/* The interval is 0: it looks when the job is followed and when it ends,
 * and in between it sleeps. */
static void test_finish(void **state)
{
        (void)state;
        start_reader(NULL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        follow_log(2, "log");
        wait_until(heard[1].n_reports == 1 && heard[2].n_reports == 1);
        add("log", "step 9/10 loss=0.125"); /* the last words have no newline */
        assert_int_equal(finish(1), 0);
        assert_int_equal(finish(1), -ENOENT);
        wait_until(heard[1].n_finished == 1);
        assert_int_equal(heard[1].report.step, 9);
        assert_true(heard[1].report.eval == 0.125);
        assert_int_equal(heard[2].report.step, 1);
        follow_log(1, "log"); /* the name is free again */
        assert_int_equal(finish(7), -ENOENT);
}

/* A round that found something is over when all of that was told. */
static void test_rounds(void **state)
{
        (void)state;
        start_reader(NULL);
        for (uint64_t n = 1; n <= 3; n++) {
                put(n == 1 ? "log1" : n == 2 ? "log2" : "log3", "step 1/10 loss=0.5\n");
                follow_log(n, n == 1 ? "log1" : n == 2 ? "log2" : "log3");
        }
        wait_until(heard[1].calls == 1 && heard[2].calls == 1 && heard[3].calls == 1);
        assert_int_equal(n_rounds, 0);
        add("log3", "step 2/10 loss=0.4\n");
        add("log1", "step 2/10 loss=0.4\n");
        sg_job_reader_set_interval(reader, INTERVAL);
        wait_until(n_rounds == 1);
        assert_int_equal(heard[1].report.step, 2);
        assert_int_equal(heard[2].report.step, 1);
        assert_int_equal(heard[3].report.step, 2);
        add("log2", "step 3/10 loss=0.3\n");
        wait_until(n_rounds == 2);
        assert_int_equal(heard[2].report.step, 3);
        assert_int_equal(heard[1].calls + heard[2].calls + heard[3].calls, 6);
}

static void test_forget(void **state)
{
        struct sg_job_key key = key_of(1);

        (void)state;
        start_reader(NULL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        sg_job_reader_forget(reader, &key);
        sg_job_reader_forget(reader, &key);
        follow_log(2, "log");
        wait_until(heard[2].calls == 1);
        assert_int_equal(heard[1].calls, 0);
        assert_int_equal(finish(1), -ENOENT);
        assert_int_equal(finish(2), 0); /* who has no patience for the last words */
        key = key_of(2);
        sg_job_reader_forget(reader, &key);
        follow_log(3, "log");
        wait_until(heard[3].calls == 1);
        assert_int_equal(heard[2].n_finished, 0);
}

static void test_presets(void **state)
{
        const char *keras = "Epoch 2/5\n 12/100 [==>...........] - ETA: 3s - loss: 0.43\r"
                            " 13/100 [==>...........] - ETA: 3s - loss: 0.42";

        (void)state;
        start_reader(NULL);
        put("keras", keras);
        put("json", "{\"loss\": NaN, \"step\": 3}\n{\"loss\": 0.5, \"step\": 4}\n");
        put("own", "lr 0.1 at 17 of 20, L 0.75\nnoise\n");
        follow(1, (struct sg_follow){.output = in("keras"), .preset = "auto"});
        follow(2, (struct sg_follow){.log = in("json"), .preset = "json"});
        follow(3, (struct sg_follow){
                          .log = in("own"),
                          .pattern = "at (?<step>\\d+) of (?<total>\\d+), L (?<loss>\\S+)"});
        follow(4, (struct sg_follow){.log = in("keras"), .preset = "none"});
        sg_job_reader_set_interval(reader, INTERVAL);
        /* The bar that is drawn now counts, as nothing overwrites it. */
        wait_until(heard[1].report.step == 13 && heard[2].calls && heard[3].calls);
        assert_near(heard[1].report.eval, 0.42, 0);
        assert_int_equal(heard[1].report.epoch, 2);
        assert_string_equal(heard[1].source, "keras");
        assert_near(heard[2].report.eval, 0.5, 0);
        assert_int_equal(heard[2].report.step, 4);
        assert_int_equal(heard[2].n_reports, 2);
        assert_string_equal(heard[2].source, "json");
        assert_near(heard[3].report.eval, 0.75, 0);
        assert_int_equal(heard[3].report.total, 20);
        assert_string_equal(heard[3].source, "pattern");
        assert_int_equal(heard[4].calls, 0);
}

static void test_files(void **state)
{
        (void)state;
        start_reader(NULL);
        follow(1, (struct sg_follow){.file = in("progress")});
        follow(2, (struct sg_follow){.events = "tests/data/tensorboard", .uid = geteuid()});
        sg_job_reader_set_interval(reader, INTERVAL);
        put("progress", "step=3\ntotal=10\nloss=0.5\n");
        wait_until(heard[1].report.step == 3 && heard[2].calls > 0);
        assert_string_equal(heard[1].source, "file");
        assert_near(heard[1].report.eval, 0.5, 0);
        assert_int_equal(heard[1].report.total, 10);
        assert_string_equal(heard[2].source, "tensorboard");
        put("progress", "{\"step\": 4, \"eval\": 0.25}");
        wait_until(heard[1].report.step == 4);
        assert_true(heard[1].report.eval == 0.25);
}

static void test_refused(void **state)
{
        struct sg_follow f = {.log = in("log"), .key = key_of(1)};
        _cleanup_free_ char *longer = malloc(SG_READER_STRING_MAX + 1);

        (void)state;
        start_reader(NULL);
        f.pattern = "(a)\\1";
        assert_int_equal(sg_job_reader_follow(reader, &f), -EINVAL);
        f.pattern = NULL;
        f.preset = "nonsense";
        assert_int_equal(sg_job_reader_follow(reader, &f), -EINVAL);
        f.preset = "pattern";
        assert_int_equal(sg_job_reader_follow(reader, &f), -EINVAL);
        f.preset = "auto";
        assert_non_null(longer);
        memset(longer, 'x', SG_READER_STRING_MAX);
        longer[SG_READER_STRING_MAX] = 0;
        f.file = longer;
        assert_int_equal(sg_job_reader_follow(reader, &f), -EINVAL);
        f.file = NULL;
        assert_int_equal(sg_job_reader_follow(reader, &f), 0);
        assert_int_equal(sg_job_reader_follow(reader, &f), -EEXIST);
}

/* Each trouble is told once, however often it is met. */
static void test_trouble(void **state)
{
        (void)state;
        start_reader(NULL);
        assert_int_equal(mkdir(in("dir"), 0700), 0);
        assert_int_equal(mkfifo(in("fifo"), 0600), 0);
        put("theirs", "step 1/2 loss=3\n");
        put("log", "");
        put("odd", "no progress at all\n");
        assert_int_equal(symlink(in("theirs"), in("link")), 0);
        assert_int_equal(utimensat(AT_FDCWD, in("odd"),
                                   (struct timespec[]){{.tv_sec = 1000}, {.tv_sec = 1000}}, 0),
                         0);
        follow(1, (struct sg_follow){.output = in("dir")});
        follow(2, (struct sg_follow){.output = in("fifo")});
        follow(3, (struct sg_follow){.output = in("link")});
        follow(4, (struct sg_follow){.output = in("theirs"), .uid = geteuid() + 1});
        follow(5, (struct sg_follow){.file = in("odd")});
        follow_log(6, "log");
        sg_job_reader_set_interval(reader, INTERVAL);
        wait_until(heard[1].n_trouble && heard[2].n_trouble && heard[3].n_trouble &&
                   heard[4].n_trouble && heard[5].n_trouble);
        for (unsigned i = 1; i <= 3; i++) {
                add("log", "step 1/2 loss=3\n");
                wait_until(heard[6].n_reports == i);
        }
        assert_non_null(strstr(heard[1].trouble, "no regular file"));
        assert_non_null(strstr(heard[4].trouble, "doesn't belong"));
        assert_non_null(strstr(heard[5].trouble, "neither"));
        for (unsigned n = 1; n <= 5; n++) {
                assert_int_equal(heard[n].n_trouble, 1);
                assert_int_equal(heard[n].calls, 0);
        }
}

/* A pattern that is slow on some text costs this job lines, and the others nothing. */
static void test_slow_pattern(void **state)
{
        _cleanup_free_ char *text = malloc(2U << 20);

        (void)state;
        assert_non_null(text);
        memset(text, 'a', 2U << 20);
        for (size_t i = 0; i < 2U << 20; i += 4000)
                text[i] = '\n';
        start_reader(NULL);
        put("log", "step 1/2 loss=3\n");
        follow(1, (struct sg_follow){.log = in("slow"),
                                     .pattern = "(?:a?){60}a{60}(?<loss>\\d)|x(?<step>\\d)"});
        follow_log(2, "log");
        sg_job_reader_set_interval(reader, INTERVAL);
        write_to("slow", O_TRUNC, text, 2U << 20);
        wait_until(heard[1].n_trouble == 1 && heard[2].calls == 1);
        assert_non_null(strstr(heard[1].trouble, "too long"));
        add("slow", "\nx5\n"); /* the next look has its own time */
        wait_until(heard[1].report.step == 5);
        assert_int_equal(sg_job_reader_restarts(reader), 0);
}

/* Where a reader that hangs is waited for. Others have the usual time,
 * on a machine under load too. */
#define SHORT_CHECK (300 * SG_USEC_PER_MSEC)

/* --- what can't harm */

static bool is_bad(const struct sg_reading *j)
{
        return j->log.path && strstr(j->log.path, "/bad") && access(j->log.path, F_OK) == 0;
}

static void crash(const struct sg_reading *j)
{
        const struct rlimit none = {0};

        if (is_bad(j)) {
                (void)setrlimit(RLIMIT_CORE, &none);
                (void)raise(SIGKILL);
        }
}

static void hang(const struct sg_reading *j)
{
        while (is_bad(j))
                (void)pause();
}

static void expect_bad_job_is_dropped(void)
{
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "bad");
        follow_log(2, "log");
        wait_until(heard[2].report.step == 1);
        put("bad", "text\n");
        wait_until(heard[1].n_trouble == 1);
        assert_non_null(strstr(heard[1].trouble, "three times"));
        assert_int_equal(finish(1), -ENOENT); /* nobody follows it any more */
        add("log", "step 2/10 loss=0.25\n");
        wait_until(heard[2].report.step == 2);
        assert_true(sg_job_reader_restarts(reader) >= 3);
        assert_int_equal(heard[2].n_trouble, 0);
}

static void test_crash(void **state)
{
        (void)state;
        sg_reader_test_hook = crash;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        expect_bad_job_is_dropped();
}

static void test_hang(void **state)
{
        (void)state;
        sg_reader_check_usec = SHORT_CHECK;
        sg_reader_test_hook = hang;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        expect_bad_job_is_dropped();
}

/* Whoever waits for the last words of a job doesn't wait forever. */
static void test_hang_at_the_end(void **state)
{
        (void)state;
        sg_reader_check_usec = SHORT_CHECK;
        sg_reader_test_hook = hang;
        start_reader(NULL);
        follow_log(1, "bad");
        put("bad", "text\n");
        assert_int_equal(finish(1), 0);
        wait_until(heard[1].n_finished == 1);
        wait_until(sg_job_reader_restarts(reader) == 1);
        assert_int_equal(heard[1].n_trouble, 0);
}

static void hang_at_file(const struct sg_reading *j)
{
        while (j->place == SG_READER_AT_FILE && j->file.path && strstr(j->file.path, "/bad"))
                (void)pause();
}

/* What else is known of the job is read as before. */
static void test_hung_file(void **state)
{
        (void)state;
        sg_reader_check_usec = SHORT_CHECK;
        sg_reader_test_hook = hang_at_file;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        put("log", "step 1/10 loss=0.5\n");
        follow(1, (struct sg_follow){.log = in("log"), .file = in("bad")});
        follow(2, (struct sg_follow){.file = in("good")});
        wait_until(heard[1].n_trouble == 1);
        assert_non_null(strstr(heard[1].trouble, "its disk hangs"));
        assert_non_null(strstr(heard[1].trouble, "/bad"));
        add("log", "step 2/10 loss=0.25\n");
        put("good", "step=3\n");
        wait_until(heard[1].report.step == 2 && heard[2].report.step == 3);
        assert_int_equal(sg_job_reader_restarts(reader), 1);
        assert_int_equal(heard[1].n_trouble, 1);
        assert_int_equal(heard[2].n_trouble, 0);
}

/* Killed while it sleeps: nobody is to blame, and all is followed again. */
static void test_killed(void **state)
{
        pid_t pid;

        (void)state;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        wait_until(heard[1].calls == 1);
        pid = sg_job_reader_pid(reader);
        assert_int_equal(kill(pid, SIGKILL), 0);
        wait_until(sg_job_reader_restarts(reader) == 1);
        assert_int_not_equal(sg_job_reader_pid(reader), pid);
        add("log", "step 2/10 loss=0.25\n");
        wait_until(heard[1].report.step == 2);
        wait_until(kill(pid, 0) < 0); /* no zombie */
        assert_int_equal(heard[1].n_trouble, 0);
}

static void test_stopped(void **state)
{
        (void)state;
        sg_reader_check_usec = SHORT_CHECK;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        wait_until(heard[1].calls == 1);
        assert_int_equal(kill(sg_job_reader_pid(reader), SIGSTOP), 0);
        wait_until(sg_job_reader_restarts(reader) == 1);
        add("log", "step 2/10 loss=0.25\n");
        wait_until(heard[1].report.step == 2);
}

/* Its rounds are far apart: nobody wakes up in between to see whether it lives. */
static void test_rounds_far_apart(void **state)
{
        unsigned n = 0;

        (void)state;
        sg_reader_check_usec = SHORT_CHECK;
        start_reader(NULL);
        sg_job_reader_set_interval(reader, INTERVAL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        wait_until(heard[1].calls == 1);
        sg_job_reader_set_interval(reader, 100 * SHORT_CHECK);
        for (uint64_t now = sg_now_monotonic_usec(), end = now + 4 * SHORT_CHECK; now < end;
             now = sg_now_monotonic_usec())
                n += sd_event_run(event, end - now) > 0;
        assert_in_range(n, 0, 2); /* a round that was under way, and the check that was due */
        assert_int_equal(kill(sg_job_reader_pid(reader), SIGSTOP), 0);
        sg_job_reader_set_interval(reader, INTERVAL);
        wait_until(sg_job_reader_restarts(reader) == 1);
}

/* --- what it costs, and what it may */

static void read_status(char *buf, size_t size)
{
        char path[64];
        _cleanup_free_ char *text = NULL;
        size_t n;

        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)sg_job_reader_pid(reader));
        assert_int_equal(sg_read_file(AT_FDCWD, path, 64 * 1024, &text, &n), 0);
        (void)snprintf(buf, size, "%s", text);
}

static unsigned long long status_value(const char *name, int base)
{
        char status[8192];
        const char *at;

        read_status(status, sizeof(status));
        at = strstr(status, name);
        assert_non_null(at);
        return strtoull(at + strlen(name), NULL, base);
}

static void test_powers(void **state)
{
        char status[8192];

        (void)state;
        start_reader(NULL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        wait_until(heard[1].calls == 1);
        read_status(status, sizeof(status));
        assert_non_null(strstr(status, "Name:\tschedgov-reader\n"));
        assert_int_equal(status_value("NoNewPrivs:\t", 10), 1);
        assert_int_equal(status_value("CapPrm:\t", 16) & ~(1ULL << 2), 0);
        assert_int_equal(status_value("CapEff:\t", 16) & ~(1ULL << 2), 0);
}

/* Asleep: the kernel counts each time that it gives up the CPU. */
static void test_sleeps(void **state)
{
        unsigned long long before;

        (void)state;
        start_reader(NULL);
        put("log", "step 1/10 loss=0.5\n");
        follow_log(1, "log");
        sg_job_reader_set_interval(reader, INTERVAL);
        wait_until(heard[1].calls == 1);
        before = status_value("voluntary_ctxt_switches:\t", 10);
        wait_until(status_value("voluntary_ctxt_switches:\t", 10) > before);
        sg_job_reader_set_interval(reader, 0);
        follow_log(2, "log"); /* what was said before is done */
        wait_until(heard[2].calls == 1);
        before = status_value("voluntary_ctxt_switches:\t", 10);
        for (uint64_t end = sg_now_monotonic_usec() + 10 * INTERVAL; sg_now_monotonic_usec() < end;)
                assert_true(sd_event_run(event, INTERVAL) >= 0);
        assert_in_range(status_value("voluntary_ctxt_switches:\t", 10), before, before + 1);
}

/* More messages than fit into the socket, in both directions. */
static void test_many(void **state)
{
        enum { JOBS = 3000 };
        char name[SG_READER_STRING_MAX / 4];

        (void)state;
        start_reader(NULL);
        put("log", "step 1/10 loss=0.5\n");
        memset(name, 'x', sizeof(name));
        name[sizeof(name) - 1] = 0;
        for (uint64_t i = 0; i < JOBS; i++) {
                struct sg_follow f = {.log = in("log"), .uid = geteuid(), .file = name};

                f.key = (struct sg_job_key){.origin = "here", .n = 1, .attempt = i + 1};
                assert_int_equal(sg_job_reader_follow(reader, &f), 0);
        }
        wait_until(heard[1].n_reports == JOBS);
        for (uint64_t i = 0; i < JOBS; i++) {
                struct sg_job_key key = {.origin = "here", .n = 1, .attempt = i + 1};

                assert_int_equal(sg_job_reader_finish(reader, &key), 0);
        }
        wait_until(heard[1].n_finished == JOBS);
        assert_int_equal(sg_job_reader_restarts(reader), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_log, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_finish, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_rounds, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_forget, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_presets, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_trouble, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_slow_pattern, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_crash, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_hang, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_hang_at_the_end, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_hung_file, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_stopped, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_rounds_far_apart, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_powers, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_sleeps, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
