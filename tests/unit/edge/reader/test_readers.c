/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several readers: who is read by which, and that one which hangs is nobody else's business. */
#include "edge/reader/readers.h"
#include "tests/unit/edge/reader/fixture.h"

#define SHORT_CHECK (300 * SG_USEC_PER_MSEC)
#define NOBODY 65534

static struct sg_readers *readers;

static int start(void **state)
{
        int r = set_up(state);

        assert_int_equal(sg_readers_start(&readers), 0);
        assert_true(sd_event_new(&event) >= 0);
        assert_true(sg_readers_attach(readers, event, &calls) >= 0);
        sg_readers_set_interval(readers, INTERVAL);
        return r;
}

static int end(void **state)
{
        readers = sg_readers_free(readers);
        return tear_down(state);
}

static void read_for(uint64_t n, struct sg_follow f)
{
        f.key = key_of(n);
        assert_int_equal(sg_readers_follow(readers, &f), 0);
}

static void hang_at_file(const struct sg_reading *j)
{
        while (j->place == SG_READER_AT_FILE && j->file.path && strstr(j->file.path, "/bad"))
                (void)pause();
}

static void test_hang(void **state)
{
        pid_t pid = sg_readers_pid(readers);

        (void)state;
        sg_reader_test_hook = hang_at_file; /* in those that are started from here on */
        sg_reader_check_usec = SHORT_CHECK;
        put("log", "step 1/10 loss=0.5\n");
        put("good", "step=1\n");
        read_for(1, (struct sg_follow){.log = in("log"), .uid = geteuid()});
        read_for(2, (struct sg_follow){.file = in("bad"), .uid = NOBODY});
        read_for(3, (struct sg_follow){.file = in("good"), .uid = geteuid()});
        wait_until(heard[1].report.step == 1 && heard[3].report.step == 1);
        add("log", "step 2/10 loss=0.25\n");
        put("good", "step=2\n");
        wait_until(heard[1].report.step == 2 && heard[3].report.step == 2);
        wait_until(heard[2].n_trouble == 1 && sg_readers_restarts(readers) == 1);
        assert_int_equal(sg_readers_pid(readers), pid);
        assert_int_equal(heard[1].n_trouble + heard[3].n_trouble, 0);
}

/* The last words are asked for where the job is read. */
static void test_finish(void **state)
{
        const struct sg_job_key own = key_of(1), log = key_of(2), none = key_of(3);

        (void)state;
        put("own", "step 1/10 loss=0.5\n");
        put("log", "step 1/10 loss=0.5\n");
        read_for(1, (struct sg_follow){.output = in("own"), .uid = geteuid()});
        read_for(2, (struct sg_follow){.log = in("log"), .uid = geteuid()});
        wait_until(heard[1].report.step == 1 && heard[2].report.step == 1);
        add("own", "step 2/10 loss=0.5\n");
        add("log", "step 2/10 loss=0.5\n");
        assert_int_equal(sg_readers_finish(readers, &own), 0);
        assert_int_equal(sg_readers_finish(readers, &log), 0);
        assert_int_equal(sg_readers_finish(readers, &none), -ENOENT);
        wait_until(heard[1].n_finished == 1 && heard[2].n_finished == 1);
        assert_int_equal(heard[1].report.step, 2);
        assert_int_equal(heard[2].report.step, 2);
}

static unsigned children(void)
{
        char path[64];
        _cleanup_free_ char *text = NULL;
        unsigned n = 0;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
        assert_int_equal(sg_read_file(AT_FDCWD, path, 4096, &text, NULL), 0);
        for (const char *p = text; *p; p++)
                n += *p == ' ';
        return n;
}

/* One that has nothing to read isn't there. */
static void test_rest(void **state)
{
        const struct sg_job_key key = key_of(1);

        (void)state;
        assert_int_equal(children(), 1);
        for (unsigned i = 0; i < 3; i++) {
                put("own", "step 1/10 loss=0.5\n");
                read_for(1, (struct sg_follow){.output = in("own"), .uid = geteuid()});
                assert_int_equal(children(), 2);
                wait_until(heard[1].calls == i + 1);
                sg_readers_set_interval(readers, INTERVAL); /* it has work */
                assert_true(sd_event_run(event, 0) >= 0);
                assert_int_equal(children(), 2);
                sg_readers_forget(readers, &key);
                sg_readers_set_interval(readers, INTERVAL);
                wait_until(children() == 1);
        }
        assert_int_equal(sg_readers_restarts(readers), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_hang, start, end),
                cmocka_unit_test_setup_teardown(test_finish, start, end),
                cmocka_unit_test_setup_teardown(test_rest, start, end),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
