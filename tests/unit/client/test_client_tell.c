/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What jobs tell by libschedgov, and that nothing happens outside of them. */
#include "tests/unit/client/fixture.h"

#include <locale.h>
#include <math.h>
#include <signal.h>

/* --- outside of a job --- */

static void outside(void)
{
        struct schedgov_allocation a;
        char buf[8] = "x";

        expect(schedgov_governed() == 0);
        expect(schedgov_progress(0.5, 1, 2) == 0);
        expect(schedgov_step(1, 2) == 0);
        expect(schedgov_epoch(0.5, 1, 2, 3, 4) == 0);
        expect(schedgov_status("x") == 0);
        expect(schedgov_checkpointed() == 0);
        expect(schedgov_flush(1000) == 0);
        expect(schedgov_dropped() == 0);
        expect(schedgov_allocation(&a) == 0);
        expect(a.threads == 0 && a.seq == 0);
        expect(schedgov_threads(7) == 7);
        expect(schedgov_cpu_list(buf, sizeof(buf)) == 0 && buf[0] == '\0');
        expect(schedgov_gpus(buf, 0) == 0);
        schedgov_on_allocation(NULL, NULL);
        schedgov_on_checkpoint(NULL, NULL);
        expect(schedgov_dispatch() == 0);
        expect(schedgov_fd() == -ENOENT);
        expect(schedgov_allocation_signal(SIGUSR1) == 0);
}

/* A service of systemd's has a NOTIFY_SOCKET, too, which is none of ours. */
static void outside_service(void)
{
        (void)unsetenv("SCHEDGOV_ALLOCATION");
        outside();
}

static void outside_all(void)
{
        (void)unsetenv("NOTIFY_SOCKET");
        outside_service();
}

static void test_outside(void **state)
{
        struct fixture *f = *state;

        run(f, outside_service);
        run(f, outside_all);
        assert_int_equal(f->messages, 0);
}

/* --- telling --- */

static void tell_all(void)
{
        expect(schedgov_governed() == 1);
        expect(schedgov_epoch(0.1, 2, 5, 30, 100) == 1);
        expect(schedgov_status("half\nway") == 1);
        expect(schedgov_checkpointed() == 1);
        expect(schedgov_flush(30000) == 1);
        wait_for_go();
        expect(schedgov_progress(NAN, 31, 100) == 1);
}

static void test_telling(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, tell_all);

        await(f, &j);
        assert_true(f->report.eval == 0.1);
        assert_int_equal(f->report.epoch, 2);
        assert_int_equal(f->report.epochs, 5);
        assert_int_equal(f->report.step, 30);
        assert_int_equal(f->report.total, 100);
        assert_string_equal(f->status, "half way");
        assert_true(f->checkpointed);
        let_go(&j);
        finish(f, &j);
        assert_true(isnan(f->report.eval));
        assert_int_equal(f->report.step, 31);
}

#define STEPS 200000

/* Many more than are sent; the last one arrives all the same, at exit. */
static void tell_often(void)
{
        for (uint64_t i = 1; i <= STEPS; i++)
                expect(schedgov_progress(1.0 / (double)i, i, STEPS) == 1);
        expect(schedgov_dropped() > STEPS / 2);
}

static void test_often(void **state)
{
        struct fixture *f = *state;
        uint64_t begin = sg_now_monotonic_usec();

        run(f, tell_often);
        assert_int_equal(f->report.step, STEPS);
        assert_true(f->report.eval == 1.0 / STEPS);
        uint64_t seconds = (sg_now_monotonic_usec() - begin) / SG_USEC_PER_SEC + 2;
        assert_in_range(f->messages, 2, 20 * seconds + 20);
}

static void tell_in_german(void)
{
        expect(setlocale(LC_ALL, "de_DE.UTF-8") != NULL);
        expect(schedgov_progress(-1.5e-7, 3, 0) == 1);
        expect(schedgov_progress(-1.5e-7, SCHEDGOV_UNKNOWN, SCHEDGOV_UNKNOWN) == 1);
}

static void test_locale(void **state)
{
        char dir[] = "/tmp/sg-locale-XXXXXX", command[128];
        struct fixture *f = *state;

        assert_non_null(mkdtemp(dir));
        snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8", dir);
        assert_int_equal(system(command), 0);
        assert_int_equal(setenv("LOCPATH", dir, 1), 0);
        run(f, tell_in_german);
        assert_int_equal(unsetenv("LOCPATH"), 0);
        assert_int_equal(sg_remove_tree(AT_FDCWD, dir), 0);
        assert_true(f->report.eval == -1.5e-7);
        assert_int_equal(f->report.total, 0);
}

/* Nobody listens, or nobody reads: nothing waits. The governor of this one doesn't run. */
static void tell_nobody(void)
{
        uint64_t begin = sg_now_monotonic_usec();

        for (unsigned i = 0; i < 100; i++)
                (void)schedgov_status("all along");
        expect(schedgov_progress(0.5, 1, 2) == 1);
        expect(sg_now_monotonic_usec() - begin < 5 * SG_USEC_PER_SEC);
        expect(schedgov_flush(10) == 0);
        expect(sg_now_monotonic_usec() - begin < 10 * SG_USEC_PER_SEC);
}

static void test_no_reader(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, tell_nobody);
        int status;

        assert_return_code(waitpid(j.pid, &status, 0), errno);
        assert_int_equal(status, 0);
        (void)close(j.go);
        (void)close(j.says);
}

/* A governor that restarts; descriptors that the program closes or uses for its own. */
static void tell_twice(void)
{
        expect(schedgov_progress(0.5, 1, 9) == 1);
        wait_for_go();
        expect(schedgov_progress(0.25, 2, 9) == 1);
        expect(schedgov_flush(30000) == 1);
        for (int fd = 3; fd < 256; fd++)
                if (fd != job_go && fd != job_says)
                        (void)close(fd);
        for (int fd = 190; fd < 256; fd++)
                expect(dup2(STDERR_FILENO, fd) == fd);
        expect(schedgov_progress(0.125, 3, 9) == 1);
        expect(schedgov_flush(30000) == 1);
        expect(schedgov_threads(99) == 2);
        for (int fd = 190; fd < 256; fd++)
                expect(fcntl(fd, F_GETFD) >= 0);
        wait_for_go();
}

static void test_restart(void **state)
{
        struct fixture *f = *state;
        struct sg_notify_socket_options o = {
                .path = f->path, .lookup = lookup, .on_message = on_message, .userdata = f};
        struct job j = start(f, tell_twice);

        await(f, &j);
        f->socket = sg_notify_socket_free(f->socket);
        assert_int_equal(sg_notify_socket_new(&f->socket, f->event, &o), 0);
        let_go(&j);
        await(f, &j);
        assert_int_equal(f->report.step, 3);
        let_go(&j);
        finish(f, &j);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_outside, setup, teardown),
                cmocka_unit_test_setup_teardown(test_telling, setup, teardown),
                cmocka_unit_test_setup_teardown(test_often, setup, teardown),
                cmocka_unit_test_setup_teardown(test_locale, setup, teardown),
                cmocka_unit_test_setup_teardown(test_no_reader, setup, teardown),
                cmocka_unit_test_setup_teardown(test_restart, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
