/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libschedgov, from a job's side: each job is a process of its own, this one plays the governor
 * with its real socket and files.
 */
#include "base/file.h"
#include "base/time-util.h"
#include "client/allocation-text.h"
#include "client/follow.h"
#include "client/schedgov.h"
#include "edge/allocation.h"
#include "edge/log.h"
#include "edge/notify-socket.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define PATIENCE_USEC (60 * SG_USEC_PER_SEC)

#ifdef __SANITIZE_THREAD__
/* A child of a process of several threads ends without having joined its parent's. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
        return "report_thread_leaks=0";
}
#endif

static const struct sg_job_key key = {.origin = "host", .n = 3, .attempt = 1};

struct fixture {
        char dir[32], path[48], root[48], allocation[256];
        sd_event *event;
        struct sg_notify_socket *socket;
        struct sg_allocations *allocations;
        struct sg_allocation now;
        unsigned messages;
        struct sg_report report;
        char status[SG_NOTIFY_STATUS_MAX];
        bool checkpointed;
};

static enum sg_notify_who lookup(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                                 void *userdata)
{
        (void)sender;
        (void)userdata;
        *ret = key;
        return SG_NOTIFY_JOB;
}

static void on_message(const struct sg_job_key *k, const struct sg_notify *message, void *userdata)
{
        struct fixture *f = userdata;

        (void)k;
        f->messages++;
        sg_report_merge(&f->report, &message->report);
        if (message->has_status)
                strcpy(f->status, message->status);
        f->checkpointed = f->checkpointed || message->checkpointed;
        assert_int_equal(message->n_bad, 0);
}

static void publish(struct fixture *f, uint64_t quota_pm, const char *cpus)
{
        struct sg_cpuset set;

        assert_int_equal(sg_parse_cpuset(cpus, &set), 0);
        sg_allocation_decide(&f->now, &(struct sg_allocation_input){.node = &set,
                                                                    .quota_pm = quota_pm,
                                                                    .gpus = "GPU-1",
                                                                    .deadline_usec = 1234567890});
        assert_int_equal(sg_allocations_publish(f->allocations, &key, &f->now), 1);
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct sg_notify_socket_options o = {.lookup = lookup, .on_message = on_message};

        assert_non_null(f);
        *state = f;
        sg_log_set_level(LOG_EMERG);
        strcpy(f->dir, "/tmp/sg-client-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(sg_path_join(f->path, sizeof(f->path), f->dir, "notify"), 0);
        assert_int_equal(sg_path_join(f->root, sizeof(f->root), f->dir, "a"), 0);
        o.path = f->path;
        o.userdata = f;
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_notify_socket_new(&f->socket, f->event, &o), 0);
        assert_int_equal(sg_allocations_open(&f->allocations, f->root), 0);
        assert_int_equal(
                sg_allocations_path(f->allocations, &key, f->allocation, sizeof(f->allocation)), 0);
        publish(f, 15000, "0-3");
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        f->socket = sg_notify_socket_free(f->socket);
        f->allocations = sg_allocations_close(f->allocations);
        sd_event_unref(f->event);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

/* --- jobs --- */

/* In a job a failed expectation ends it with the line's number, which fits into a status. */
#define expect(x)                                                                                  \
        do {                                                                                       \
                if (!(x)) {                                                                        \
                        (void)fprintf(stderr, "job: line %d: %s\n", __LINE__, #x);                 \
                        _exit(1);                                                                  \
                }                                                                                  \
        } while (0)

struct job {
        pid_t pid;
        int go; /* a byte lets it go on */
        int says;
};

static int job_go, job_says;

static void wait_for_go(void)
{
        char c = 'x';

        expect(write(job_says, &c, 1) == 1);
        expect(read(job_go, &c, 1) == 1);
}

static struct job start(struct fixture *f, void (*body)(void))
{
        int go[2], says[2];
        struct job j;

        assert_return_code(pipe2(go, O_CLOEXEC), errno);
        assert_return_code(pipe2(says, O_CLOEXEC), errno);
        j.pid = fork();
        if (j.pid == 0) {
                (void)setenv("NOTIFY_SOCKET", f->path, 1);
                (void)setenv("SCHEDGOV_ALLOCATION", f->allocation, 1);
                job_go = go[0];
                job_says = says[1];
                (void)close(go[1]);
                body();
                exit(0);
        }
        assert_return_code(j.pid, errno);
        (void)close(go[0]);
        (void)close(says[1]);
        j.go = go[1];
        j.says = says[0];
        return j;
}

static bool step(struct fixture *f, uint64_t end)
{
        assert_true(sg_now_monotonic_usec() < end);
        assert_return_code(sd_event_run(f->event, 5 * SG_USEC_PER_MSEC), 0);
        return true;
}

/* Until it waits for us. */
static void await(struct fixture *f, struct job *j)
{
        struct pollfd p = {.fd = j->says, .events = POLLIN};
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        char c;

        while (poll(&p, 1, 0) == 0)
                (void)step(f, end);
        assert_int_equal(read(j->says, &c, 1), 1);
}

static void let_go(struct job *j)
{
        assert_int_equal(write(j->go, "x", 1), 1);
}

static void finish(struct fixture *f, struct job *j)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        int status;

        while (waitpid(j->pid, &status, WNOHANG) == 0)
                (void)step(f, end);
        (void)close(j->go);
        (void)close(j->says);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}

static void run(struct fixture *f, void (*body)(void))
{
        struct job j = start(f, body);

        finish(f, &j);
}

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
        if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
                (void)fprintf(stderr, "no locale with a comma here: not shown with one\n");
        expect(schedgov_progress(-1.5e-7, 3, 0) == 1);
        expect(schedgov_progress(-1.5e-7, SCHEDGOV_UNKNOWN, SCHEDGOV_UNKNOWN) == 1);
}

static void test_locale(void **state)
{
        struct fixture *f = *state;

        run(f, tell_in_german);
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

/* --- being told --- */

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

static void test_callbacks(void **state)
{
        struct fixture *f = *state;
        struct job j = start(f, be_called_back);

        await(f, &j);
        publish(f, 30000, "0-3");
        let_go(&j);
        await(f, &j);
        assert_int_equal(sg_allocations_ask_checkpoint(f->allocations, &key, 77, "drain"), 0);
        let_go(&j);
        await(f, &j);
        assert_true(f->checkpointed);
        assert_int_equal(f->report.step, 5);
        assert_int_equal(sg_allocations_ask_checkpoint(f->allocations, &key, 78, "again"), 0);
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

/* --- texts --- */

static int parse(const char *text, struct sgc_allocation *a)
{
        return sgc_allocation_parse(text, strlen(text), a);
}

static void test_texts(void **state)
{
        static const char *const bad[] = {
                "THREADS=0\n",
                "THREADS=\n",
                "THREADS=-1\n",
                "THREADS=2x\n",
                "THREADS=65537\n",
                "VERSION=2\n",
                "SEQ=1\nnothing\n",
                "CPUS=1.23456\n",
                "CPUS=.\n",
                "CPUS=1.\n",
                "CPUS=.5\n",
                "CPUS=1,5\n",
                "CPUS=9999999999999999999\n",
                "SEQ=99999999999999999999\n",
                "DEADLINE_USEC=x\n",
        };
        struct sgc_allocation a = {.seq = 99}, b;
        uint64_t threads = 0;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                if (parse(bad[i], &a) != -EBADMSG)
                        fail_msg("accepted: %s", bad[i]);
                assert_int_equal(a.seq, 99);
        }
        assert_int_equal(sgc_allocation_parse("SEQ=1\0\n", 7, &a), -EBADMSG);
        assert_int_equal(parse("VERSION=1\nLATER=x\nTHREADS=3\nCPUS=0.5", &a), 0);
        assert_int_equal(a.threads, 3);
        assert_int_equal(a.cpus_pm, 5000);
        assert_int_equal(parse("", &b), 0);
        assert_int_equal(b.threads, 0);
        assert_int_equal(sgc_threads_parse("", 0, &threads), -EBADMSG);
        assert_int_equal(sgc_threads_parse("VERSION=1\nTHREADS=5", 19, &threads), 0);
        assert_int_equal(threads, 5);
}

/* What the governor writes is what the job reads, whatever it is. */
static void test_round_trip(void **state)
{
        struct sg_allocation out = {.seq = UINT64_MAX,
                                    .cpus_pm = 10000ULL * 1024,
                                    .threads = 1024,
                                    .gpus_known = true,
                                    .deadline_usec = UINT64_MAX};
        static struct sgc_allocation in;
        char text[SG_ALLOCATION_TEXT_MAX];

        (void)state;
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu += 2)
                sg_cpuset_add(&out.cpus, cpu);
        memset(out.gpus, 'g', sizeof(out.gpus) - 1);
        int n = sg_allocation_format(&out, text, sizeof(text));
        assert_true(n > 0 && n < SGC_TEXT_MAX);
        assert_int_equal(sgc_allocation_parse(text, (size_t)n, &in), 0);
        assert_int_equal(in.seq, out.seq);
        assert_int_equal(in.cpus_pm, out.cpus_pm);
        assert_int_equal(in.threads, out.threads);
        assert_int_equal(in.deadline_usec, out.deadline_usec);
        assert_string_equal(in.gpus, out.gpus);
        struct sg_cpuset set;
        assert_int_equal(sg_parse_cpuset(in.cpu_list, &set), 0);
        assert_memory_equal(&set, &out.cpus, sizeof(set));
}

/* --- following a file, whatever becomes of it --- */

static void put(const char *path, const char *text)
{
        assert_int_equal(sg_replace_file(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void test_follow(void **state)
{
        struct fixture *f = *state;
        char path[64], buf[64];
        struct sgc_follow w = SGC_FOLLOW_INIT;

        assert_false(sgc_follow_changed(&w));
        assert_int_equal(sg_path_join(path, sizeof(path), f->dir, "followed"), 0);
        w.path = path;
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), -ENOENT);
        assert_false(sgc_follow_changed(&w)); /* not at once */
        put(path, "one");
        sgc_follow_hurry(&w);
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), 3);
        assert_false(sgc_follow_changed(&w));
        put(path, "one"); /* the same text, but another file */
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), 3);
        assert_int_equal(sgc_follow_read(&w, buf, 3), -EFBIG);
        assert_int_equal(sgc_follow_read(&w, buf, 4), 3);

        _cleanup_close_ int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        assert_int_equal(write(fd, "+", 1), 1); /* written to, not replaced */
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), 4);
        assert_return_code(unlink(path), errno);
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), -ENOENT);
        assert_return_code(mkfifo(path, 0600), errno);
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), -EBADF);
        sgc_follow_close(&w);
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
                cmocka_unit_test_setup_teardown(test_allocation, setup, teardown),
                cmocka_unit_test_setup_teardown(test_callbacks, setup, teardown),
                cmocka_unit_test_setup_teardown(test_signal, setup, teardown),
                cmocka_unit_test_setup_teardown(test_threads, setup, teardown),
                cmocka_unit_test(test_texts),
                cmocka_unit_test(test_round_trip),
                cmocka_unit_test_setup_teardown(test_follow, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
