/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worker's loop, in a process of its own as it is: what it tells a daemon, when, and how it
 * ends. */

#include "base/time-util.h"
#include "edge/common/frames.h"
#include "edge/gpu/worker/serve.h"
#include "tests/unit/edge/gpu/worker/fixture.h"
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PATIENCE_MSEC 60000

static pid_t worker;
static int fd = -1, send_buffer; /* of the worker's; 0 = as usual */
static struct sg_inbox inbox;

static int serve(int socket)
{
        sigset_t set;

        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGTERM);
        (void)sigprocmask(SIG_BLOCK, &set, NULL);
        return sg_gpu_serve(socket, signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
                            &sg_nvml_driver);
}

static void start(void)
{
        int pair[2];

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        if (send_buffer > 0)
                assert_int_equal(setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &send_buffer,
                                            sizeof(send_buffer)),
                                 0);
        worker = fork();
        if (worker == 0) {
                (void)close(pair[0]);
                _exit(-serve(pair[1]));
        }
        assert_true(worker > 0);
        (void)close(pair[1]);
        fd = pair[0];
        sg_inbox_deinit(&inbox);
        inbox.max = SG_GPU_FRAME_MAX;
}

static void order(const char *variant, uint64_t every_usec)
{
        _cleanup_(sg_record_deinitp) struct sg_record out = {0};
        struct sg_gpu_order o = {.every_usec = every_usec, .root = "/"};

        (void)snprintf(o.library, sizeof(o.library), "%s", variant ? library(variant) : "/none");
        sg_gpu_put_order(&out, &o);
        assert_int_equal(sg_frame_send(fd, out.data, out.size, SG_GPU_FRAME_MAX), 0);
}

/* The next inventory; false: it has closed its end. */
static bool hear(void)
{
        const uint8_t *data;
        size_t size;
        int r;

        while ((r = sg_inbox_take(&inbox, &data, &size)) == 0) {
                struct pollfd p = {.fd = fd, .events = POLLIN};

                if (poll(&p, 1, PATIENCE_MSEC) != 1)
                        fail_msg("it says nothing");
                if (sg_inbox_receive(&inbox, fd, 0) <= 0)
                        return false;
        }
        assert_int_equal(r, 1);
        free(seen.gpus);
        seen.gpus = NULL;
        assert_int_equal(sg_gpu_take_inventory(data, size, &seen), 0);
        return true;
}

static void wait_for_log(const char *line)
{
        uint64_t until = sg_now_monotonic_usec() + PATIENCE_MSEC * SG_USEC_PER_MSEC;

        while (logged(line) == 0) {
                if (sg_now_monotonic_usec() > until)
                        fail_msg("there is no line %s", line);
                (void)poll(NULL, 0, 5);
        }
}

/* How it ended: the errno that it returned. */
static int ended(void)
{
        uint64_t until = sg_now_monotonic_usec() + PATIENCE_MSEC * SG_USEC_PER_MSEC;
        int status;

        while (waitpid(worker, &status, WNOHANG) == 0) {
                if (sg_now_monotonic_usec() > until)
                        fail_msg("it doesn't end");
                (void)poll(NULL, 0, 5);
        }
        worker = 0;
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static int stop(void **state)
{
        fd = sg_close(fd);
        if (worker > 0) {
                (void)kill(worker, SIGKILL);
                (void)waitpid(worker, NULL, 0);
        }
        worker = 0;
        send_buffer = 0;
        sg_inbox_deinit(&inbox);
        return tear_down(state);
}

#define ONE "[driver]\nVersion=1\n[gpu 0]\nUuid=GPU-a\nMemory=80G\n"
#define RARELY (600 * SG_USEC_PER_SEC)

static void begin_with(const char *script, uint64_t every_usec)
{
        play(script);
        start();
        order("current", every_usec);
        assert_true(hear());
}

/* --- */

static void test_looks_when_told(void **state)
{
        uint64_t first;

        (void)state;
        begin_with(ONE, RARELY);
        assert_int_equal(seen.state, SG_GPU_DRIVER_OK);
        assert_int_equal(seen.n, 1);
        first = seen.looked_usec;
        assert_in_range(first, 1, sg_now_monotonic_usec());
        play(ONE "Process=9 1G\n");
        order("current", RARELY); /* each asks for a look at once */
        assert_true(hear());
        assert_int_equal(seen.gpus[0].n_processes, 1);
        order("current", SG_GPU_EVERY_MIN_USEC);
        for (int i = 0; i < 5; i++) {
                assert_true(hear());
                assert_true(seen.looked_usec > first);
                first = seen.looked_usec;
        }
}

static void test_cadence(void **state)
{
        uint64_t last;

        (void)state;
        begin_with(ONE, 300 * SG_USEC_PER_MSEC);
        last = seen.looked_usec;
        for (int i = 0; i < 4; i++) {
                assert_true(hear());
                assert_in_range(seen.looked_usec - last, 299 * SG_USEC_PER_MSEC,
                                PATIENCE_MSEC * SG_USEC_PER_MSEC);
                last = seen.looked_usec;
        }
}

static void test_event(void **state)
{
        (void)state;
        begin_with(ONE, RARELY);
        play(ONE "Event=xid:79\n");
        assert_true(hear());
        assert_int_equal(seen.n_events, 1);
        assert_int_equal(seen.events[0].data, 79);
}

/* Thousands of errors aren't thousands of looks. */
static void test_many_events(void **state)
{
        uint64_t begun, n = 0;
        unsigned looks = 0;

        (void)state;
        begin_with(ONE, RARELY);
        begun = sg_now_monotonic_usec();
        play(ONE "Event=xid:31*4000\n");
        for (; n < 4000; looks++) {
                assert_true(hear());
                n += seen.n_events + seen.n_events_lost;
        }
        assert_int_equal(n, 4000);
        assert_in_range(looks, 1, 2 + (sg_now_monotonic_usec() - begun) / (200 * SG_USEC_PER_MSEC));
}

static void test_absent(void **state)
{
        (void)state;
        start();
        order(NULL, RARELY);
        assert_true(hear());
        assert_int_equal(seen.state, SG_GPU_DRIVER_ABSENT);
        assert_string_equal(seen.message, "there is no library /none");
        assert_false(hear());
        assert_int_equal(ended(), 0);
}

/* A driver that fails as a whole: it's told, and closed. */
static void test_fails(void **state)
{
        (void)state;
        play("[driver]\nInit=MISMATCH\n");
        start();
        order("current", RARELY);
        assert_true(hear());
        assert_int_equal(seen.state, SG_GPU_DRIVER_MISMATCH);
        assert_false(hear());
        assert_int_equal(ended(), 0);
}

/* Also one that has worked. */
static void test_fails_later(void **state)
{
        (void)state;
        begin_with(ONE, SG_GPU_EVERY_MIN_USEC);
        play("[driver]\nFail=999@nvmlDeviceGetCount\n[gpu 0]\nUuid=GPU-a\n");
        while (seen.state == SG_GPU_DRIVER_OK)
                assert_true(hear());
        assert_int_equal(seen.state, SG_GPU_DRIVER_ERROR);
        assert_string_equal(seen.message, "Unknown Error (999)");
        assert_int_equal(seen.n, 0);
        assert_false(hear());
        assert_int_equal(ended(), 0);
        assert_int_equal(logged("nvmlShutdown"), 1);
}

static void test_term(void **state)
{
        (void)state;
        begin_with(ONE, RARELY);
        assert_int_equal(kill(worker, SIGTERM), 0);
        assert_false(hear());
        assert_int_equal(ended(), 0);
        assert_int_equal(logged("nvmlShutdown"), 1);
}

/* In a call that hangs it ends when that returns: not before, as that has frozen GPUs. */
static void test_term_while_it_hangs(void **state)
{
        (void)state;
        begin_with(ONE, RARELY);
        play("[driver]\nVersion=1\nHang=1s@nvmlDeviceGetCount\n[gpu 0]\nUuid=GPU-a\n");
        order("current", RARELY);
        wait_for_log("nvmlDeviceGetCount_v2 hangs");
        assert_int_equal(kill(worker, SIGTERM), 0);
        assert_true(hear());
        assert_int_equal(seen.state, SG_GPU_DRIVER_OK);
        assert_false(hear());
        assert_int_equal(ended(), 0);
        assert_int_equal(logged("nvmlShutdown"), 1);
}

static void test_daemon_goes(void **state)
{
        (void)state;
        begin_with(ONE, RARELY);
        fd = sg_close(fd);
        assert_int_equal(ended(), 0);
        assert_int_equal(logged("nvmlShutdown"), 1);
        start(); /* also before it has said anything */
        fd = sg_close(fd);
        assert_int_equal(ended(), 0);
}

static void test_nonsense(void **state)
{
        static const uint8_t nonsense[] = {4, 0, 0, 0, 'h', 'e', 'l', 'p'};
        static const uint8_t long_one[] = {0xff, 0xff, 0xff, 0x7f};

        (void)state;
        start();
        assert_int_equal(write(fd, nonsense, sizeof(nonsense)), sizeof(nonsense));
        assert_int_equal(ended(), EBADMSG);
        fd = sg_close(fd);
        begin_with(ONE, RARELY);
        assert_int_equal(write(fd, long_one, sizeof(long_one)), sizeof(long_one));
        assert_int_equal(ended(), EBADMSG);
        assert_int_equal(logged("nvmlShutdown"), 1);
}

static void test_another_version(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record out = {0};
        struct sg_gpu_order o = {.every_usec = RARELY, .root = "/"};

        (void)state;
        start();
        sg_gpu_put_order(&out, &o);
        out.data[0]++;
        assert_int_equal(sg_frame_send(fd, out.data, out.size, SG_GPU_FRAME_MAX), 0);
        assert_int_equal(ended(), EPROTO);
}

/* A daemon that reads nothing has it wait with what it has to say, instead of saying more of the
 * same: what comes next was looked for after that was taken. */
static void test_daemon_that_hangs(void **state)
{
        static char text[30000];
        int n = snprintf(text, sizeof(text), ONE);
        uint64_t first;

        (void)state;
        for (unsigned i = 0; i < 250; i++) /* so that it doesn't fit into the socket */
                n += snprintf(text + n, sizeof(text) - (size_t)n, "Process=%u 1M\n", i + 1);
        play(text);
        send_buffer = 4096;
        start();
        order("current", SG_GPU_EVERY_MIN_USEC);
        (void)poll(NULL, 0, 1000); /* ten looks, if it went on */
        assert_true(hear());
        first = seen.looked_usec;
        assert_true(hear());
        assert_in_range(seen.looked_usec - first, 800 * SG_USEC_PER_MSEC, UINT64_MAX);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, stop)
        const struct CMUnitTest tests[] = {
                TEST(test_looks_when_told),   TEST(test_cadence),  TEST(test_event),
                TEST(test_many_events),       TEST(test_absent),   TEST(test_fails),
                TEST(test_fails_later),       TEST(test_term),     TEST(test_term_while_it_hangs),
                TEST(test_daemon_goes),       TEST(test_nonsense), TEST(test_another_version),
                TEST(test_daemon_that_hangs),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
