/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kill -9 of the daemon or of its writer at random moments under load. The daemon here keeps a
 * ledger: it writes down, in a pipe, every step that the store has acknowledged. After each crash
 * the store is opened again and everything in the ledger must be in it.
 *
 * SG_TEST_SEED repeats a run, SG_TEST_ROUNDS makes it longer.
 */

#include "tests/unit/edge/store/fixture.h"

#define ROUNDS 40
#define AT_ONCE 24
#define JOBS_MAX 200000

enum step { STEP_NONE, STEP_SUBMITTED, STEP_STARTED, STEP_FINISHED };

struct entry {
        uint64_t n;
        uint64_t step;
};

static uint8_t ledger[JOBS_MAX]; /* by n: the last step that was acknowledged */

/* --- the daemon */

struct slot {
        struct daemon *daemon;
        uint64_t n;
        enum step step;
};

struct daemon {
        struct sg_store *store;
        struct slot slots[AT_ONCE];
        uint64_t next_n;
        int pipe;
        bool over;
};

static void slot_next(struct slot *s);

static void on_step(int result, const struct sg_job *job, void *userdata)
{
        struct slot *s = userdata;
        struct entry e = {s->n, s->step};

        (void)job;
        if (result < 0) {
                s->daemon->over = true;
                return;
        }
        if (write(s->daemon->pipe, &e, sizeof(e)) != sizeof(e))
                _exit(2);
        slot_next(s);
}

static void slot_next(struct slot *s)
{
        struct sg_store *store = s->daemon->store;
        struct sg_job job;

        if (s->step == STEP_NONE || s->step == STEP_FINISHED) {
                s->n = s->daemon->next_n++;
                s->step = STEP_NONE;
        }
        make_job(&job, s->n);
        job.key.attempt = s->step == STEP_NONE ? 0 : 1;
        switch (s->step++) {
        case STEP_NONE:
                sg_store_submit(store, &job, NULL, NULL, "spec", 0, on_step, s);
                break;
        case STEP_SUBMITTED:
                job.state = SG_JOB_STARTING;
                sg_store_start(store, &job, NULL, 0, on_step, s);
                break;
        default:
                job.state = SG_JOB_EXITED;
                sg_store_finish(store, &job, on_step, s);
                break;
        }
}

/* Tells its writer's pid, then works until one of the two is killed. */
static void run_daemon(int out)
{
        struct daemon d = {.pipe = out};
        struct entry hello = {0};
        uint64_t last = 0;

        d.store = open_store();
        if (sg_store_load(d.store, &last, NULL, NULL) < 0)
                _exit(2);
        d.next_n = last + 1;
        hello.step = (uint64_t)sg_store_pid(d.store);
        if (write(out, &hello, sizeof(hello)) != sizeof(hello))
                _exit(2);
        for (size_t i = 0; i < AT_ONCE; i++) {
                d.slots[i].daemon = &d;
                slot_next(&d.slots[i]);
        }
        (void)sg_store_flush(d.store); /* each answer makes a request: only a crash ends it */
        _exit(d.over ? 0 : 3);
}

/* --- the observer */

static bool read_entry(int fd, struct entry *ret)
{
        return read(fd, ret, sizeof(*ret)) == sizeof(*ret);
}

/* Everything that is in the pipe until its other end is gone. */
static unsigned read_ledger(int fd)
{
        unsigned n = 0;
        struct entry e;

        for (; read_entry(fd, &e); n++) {
                assert_in_range(e.n, 1, JOBS_MAX - 1);
                ledger[e.n] = (uint8_t)e.step;
        }
        return n;
}

static void expect_ledger_in(struct sg_store *s, uint64_t from)
{
        struct answer a = {.calls = 0};
        char name[64];

        for (uint64_t n = from; n < JOBS_MAX && n < from + 10000; n++) {
                if (ledger[n] == STEP_NONE)
                        continue;
                get(s, n, &a);
                assert_int_equal(a.rows, 1);
                if (ledger[n] >= STEP_STARTED)
                        assert_true(a.job.state >= SG_JOB_STARTING);
                if (ledger[n] >= STEP_FINISHED)
                        assert_int_equal(a.job.state, SG_JOB_EXITED);
                (void)snprintf(name, sizeof(name), "jobs/%u-home-1", (unsigned)n);
                if (sg_job_state_is_final(a.job.state) || a.job.state == SG_JOB_QUEUED)
                        assert_false(exists(name));
                else if (ledger[n] == STEP_STARTED)
                        assert_true(exists(name));
        }
        answer_reset(&a);
}

static unsigned crash_once(unsigned *seed, bool whole_daemon)
{
        struct entry hello;
        unsigned n;
        int ends[2], delay_usec = (int)(rand_r(seed) % 20000);
        pid_t pid;

        assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void)close(ends[0]);
                run_daemon(ends[1]);
        }
        (void)close(ends[1]);
        assert_true(read_entry(ends[0], &hello));
        /* The moment is meant to be any: nothing is waited for. */
        (void)usleep((useconds_t)delay_usec);
        assert_int_equal(kill(whole_daemon ? pid : (pid_t)hello.step, SIGKILL), 0);
        n = read_ledger(ends[0]);
        (void)close(ends[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        return n;
}

static unsigned number_from(const char *name, unsigned fallback)
{
        const char *s = getenv(name);

        return s ? (unsigned)strtoul(s, NULL, 10) : fallback;
}

static void test_crashes(void **state)
{
        unsigned rounds = number_from("SG_TEST_ROUNDS", ROUNDS), acknowledged = 0;
        unsigned seed = number_from("SG_TEST_SEED", (unsigned)sg_now_realtime_usec());
        struct answer a = {.calls = 0};
        uint64_t last = 0, before;
        struct sg_store *s;

        (void)state;
        print_message("SG_TEST_SEED=%u\n", seed);
        for (unsigned i = 0; i < rounds; i++) {
                before = last;
                acknowledged += crash_once(&seed, i % 2 == 0);
                s = open_store();
                load(s, &a, &last);
                assert_true(last >= before);
                expect_ledger_in(s, before > AT_ONCE ? before - AT_ONCE : 1);
                sg_store_close(s);
        }
        s = open_store();
        for (uint64_t n = 1; n < last; n += 10000)
                expect_ledger_in(s, n);
        sg_store_close(s);
        print_message("%u crashes, %u jobs, %u acknowledged steps, none missing\n", rounds,
                      (unsigned)last, acknowledged);
        assert_true(acknowledged > rounds); /* it was under load */
        answer_reset(&a);
}

int main(void)
{
        static const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_crashes, set_up, tear_down),
        };

        return cmocka_run_group_tests_name("store crashes", tests, NULL, NULL);
}
