/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What jobs are told by libschedgov, and several threads of theirs at once. */
#include "tests/unit/client/fixture.h"

#include <pthread.h>
#include <signal.h>

static void read_allocation(void)
{
        struct schedgov_allocation a;
        struct {
                struct schedgov_allocation a;
                uint64_t newer;
        } larger = {.newer = 5};
        uint64_t seq;
        char buf[32];

        expect(schedgov_allocation(&a) == 1);
        expect(a.seq == 1 && a.threads == 2 && a.cpus == 1.5 && a.deadline_usec == 1234567890);
        expect(schedgov_cpu_list(buf, sizeof(buf)) == 3 && strcmp(buf, "0-3") == 0);
        expect(schedgov_gpus(buf, sizeof(buf)) == 5 && strcmp(buf, "GPU-1") == 0);
        expect(schedgov_gpus(buf, 3) == 5 && strcmp(buf, "GP") == 0);
        expect(schedgov_threads(9) == 2);
        expect(schedgov_allocation_get(&larger.a, sizeof(larger)) == 1);
        expect(larger.a.threads == 2 && larger.newer == 0);
        expect(schedgov_allocation_get((void *)&seq, sizeof(seq)) == 1 && seq == 1);
        for (unsigned i = 0; i < 20; i++) {
                wait_for_go();
                expect(schedgov_threads(9) == 1 + i % 4);
                expect(schedgov_allocation(&a) == 1 && a.seq == 2 + i && a.threads == 1 + i % 4);
        }
        wait_for_go();
        expect(schedgov_threads(9) == 4); /* it was taken away */
}

static void test_allocation(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, read_allocation);

        for (unsigned i = 0; i < 20; i++) {
                await(f, &j);
                publish(f, 10000 * (1 + i % 4), "0-3");
                let_go(&j);
        }
        await(f, &j);
        assert_int_equal(sg_allocations_remove(f->allocations, &key), 0);
        let_go(&j);
        finish(f, &j);
}

static unsigned told_allocations, told_checkpoints;
static uint64_t told_threads, told_id;
static char told_why[64];

static void on_allocation(const struct schedgov_allocation *a, void *userdata)
{
        expect(userdata == &told_threads);
        told_allocations++;
        told_threads = a->threads;
        expect(schedgov_threads(0) == a->threads); /* we may be called from here */
}

static void on_checkpoint(uint64_t id, const char *why, void *userdata)
{
        expect(userdata == NULL);
        told_checkpoints++;
        told_id = id;
        (void)snprintf(told_why, sizeof(told_why), "%s", why);
        expect(schedgov_checkpointed() == 1);
}

static void poll_and_dispatch(unsigned callbacks)
{
        struct pollfd p = {.fd = schedgov_fd(), .events = POLLIN};

        expect(p.fd >= 0);
        while (callbacks > 0) {
                expect(poll(&p, 1, 30000) == 1);
                callbacks -= (unsigned)schedgov_dispatch();
        }
        expect(schedgov_dispatch() == 0);
        expect(poll(&p, 1, 0) == 0);
}

static void be_called_back(void)
{
        schedgov_on_allocation(on_allocation, &told_threads);
        schedgov_on_checkpoint(on_checkpoint, NULL);
        expect(schedgov_fd() >= 0);
        expect(schedgov_dispatch() == 1);
        expect(told_allocations == 1 && told_threads == 2);
        expect(schedgov_dispatch() == 0);
        wait_for_go();
        poll_and_dispatch(1);
        expect(told_allocations == 2 && told_threads == 3);
        wait_for_go();
        poll_and_dispatch(1);
        expect(told_checkpoints == 1 && told_id == 77 && strcmp(told_why, "drain") == 0);
        expect(schedgov_flush(30000) == 1);

        pid_t child = fork();
        if (child == 0) {
                int fd = schedgov_fd();

                expect(fd >= 0);
                expect(schedgov_dispatch() == 0);
                expect(schedgov_progress(0.5, 5, 6) == 1);
                expect(schedgov_flush(30000) == 1);
                _exit(0);
        }
        int status;
        expect(waitpid(child, &status, 0) == child && status == 0);
        wait_for_go();
        poll_and_dispatch(2);
        expect(told_checkpoints == 2 && told_id == 78 && told_allocations == 3);
}

/* The daemon asks for none yet. */
static void ask_checkpoint(const struct fixture *f, const char *text)
{
        char path[sizeof(f->allocation)];

        strcpy(path, f->allocation);
        strcpy(strrchr(path, '/'), "/checkpoint");
        assert_int_equal(sg_replace_file(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void test_callbacks(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, be_called_back);

        await(f, &j);
        publish(f, 30000, "0-3");
        let_go(&j);
        await(f, &j);
        ask_checkpoint(f, "ID=77\nWHY=drain\n");
        let_go(&j);
        await(f, &j);
        assert_true(f->checkpointed);
        assert_int_equal(f->report.step, 5);
        ask_checkpoint(f, "ID=78\nWHY=again\n");
        publish(f, 40000, "0-3");
        let_go(&j);
        finish(f, &j);
}

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
        (void)signal;
        signals = signals + 1;
}

static void be_signalled(void)
{
        sigset_t blocked, none;

        (void)signal(SIGUSR2, on_signal);
        (void)sigemptyset(&none);
        (void)sigemptyset(&blocked);
        (void)sigaddset(&blocked, SIGUSR2);
        (void)sigprocmask(SIG_BLOCK, &blocked, NULL);
        expect(schedgov_allocation_signal(SIGUSR2) == 1);
        expect(schedgov_flush(30000) == 1);
        wait_for_go();
        while (signals == 0)
                (void)sigsuspend(&none);
        expect(schedgov_threads(0) == 4);
}

static void test_signal(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, be_signalled);

        await(f, &j);
        publish(f, SG_UNLIMITED, "0-3");
        assert_int_equal(sg_notify_socket_signal(f->socket, &key), 1);
        let_go(&j);
        finish(f, &j);
}

/* --- threads --- */

#define THREADS 4
#define CALLS 5000

static _Atomic unsigned counted;

static void count(const struct schedgov_allocation *a, void *userdata)
{
        expect(a->threads >= 1 && a->threads <= 4 && userdata == NULL);
        counted++;
}

static void *call_often(void *arg)
{
        (void)arg;
        for (unsigned i = 0; i < CALLS; i++) {
                struct schedgov_allocation a;

                (void)schedgov_progress(0.5, i, CALLS);
                expect(schedgov_allocation(&a) == 1 && a.threads >= 1 && a.threads <= 4);
                unsigned n = schedgov_threads(99);
                expect(n >= 1 && n <= 4);
                (void)schedgov_dispatch();
        }
        return NULL;
}

static void call_from_threads(void)
{
        pthread_t threads[THREADS];

        schedgov_on_allocation(count, NULL);
        for (unsigned i = 0; i < THREADS; i++)
                expect(pthread_create(&threads[i], NULL, call_often, NULL) == 0);
        for (unsigned i = 0; i < 50; i++) { /* while they hold locks */
                pid_t child = fork();

                if (child == 0) {
                        struct schedgov_allocation a;

                        expect(schedgov_allocation(&a) == 1);
                        expect(schedgov_progress(0.5, 1, 2) == 1);
                        _exit(0);
                }
                int status;
                expect(waitpid(child, &status, 0) == child && status == 0);
        }
        for (unsigned i = 0; i < THREADS; i++)
                expect(pthread_join(threads[i], NULL) == 0);
        expect(counted > 0);
}

static void test_threads(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, call_from_threads);
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        unsigned i = 0;
        int status;

        while (waitpid(j.pid, &status, WNOHANG) == 0) {
                i++;
                publish(f, 10000 * (i % 4) + i % 9 + 1, "0-3");
                (void)step(f, end);
        }
        assert_int_equal(status, 0);
        (void)close(j.go);
        (void)close(j.says);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_allocation, setup, teardown),
                cmocka_unit_test_setup_teardown(test_callbacks, setup, teardown),
                cmocka_unit_test_setup_teardown(test_signal, setup, teardown),
                cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
