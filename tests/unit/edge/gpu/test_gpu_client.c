/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's end of the worker. The worker is this program, once more: with WORKER in its
 * environment it does what that says.
 */

#include "base/time-util.h"
#include "edge/common/frames.h"
#include "edge/gpu/gpu.h"
#include "edge/gpu/spawn.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_USEC (20 * SG_USEC_PER_SEC)

/* --- the worker */

static volatile sig_atomic_t told_to_end;

static void on_term(int sig)
{
        (void)sig;
        told_to_end = 1;
}

static void say(int fd, uint64_t cuda)
{
        struct sg_gpu gpu = {.uuid = "GPU-1", .name = "T4", .vendor = "nvidia"};
        struct sg_gpu_inventory inventory = {
                .state = SG_GPU_DRIVER_OK, .version = "1", .cuda = cuda, .n = 1, .gpus = &gpu};
        struct sg_record out = {0};

        gpu.memory_total = 1 << 30;
        gpu.memory_used = gpu.memory_reserved = SG_GPU_UNKNOWN;
        sg_gpu_put_inventory(&out, &inventory);
        if (sg_frame_send(fd, out.data, out.size, SG_GPU_FRAME_MAX) < 0)
                _exit(1);
        sg_record_deinit(&out);
}

/* Answers each order with how often it was to look, in place of a version. */
static int work(int fd, const char *how)
{
        struct sg_inbox in = {.max = SG_GPU_FRAME_MAX};
        struct sg_gpu_order order;
        const uint8_t *data;
        size_t size;

        if (strcmp(how, "nonsense") == 0)
                return sg_frame_send(fd, "nonsense", 8, SG_GPU_FRAME_MAX);
        if (strcmp(how, "flood") == 0)
                for (;;)
                        say(fd, 1);
        while (sg_inbox_receive(&in, fd, 0) > 0)
                while (sg_inbox_take(&in, &data, &size) > 0) {
                        if (sg_gpu_take_order(data, size, &order) < 0)
                                return 1;
                        if (strcmp(how, "end") == 0)
                                return 0;
                        while (strcmp(how, "hang") == 0 && !told_to_end)
                                (void)poll(NULL, 0, 10);
                        say(fd, order.every_usec);
                }
        return 0;
}

/* --- the daemon */

struct world {
        sd_event *event;
        struct sg_gpu_client *client;
        unsigned looks, failures, gone;
        uint64_t cuda;
        int error;
        bool stop_at_look;
};

static void on_looked(struct sg_gpu_inventory *inventory, void *userdata)
{
        struct world *w = userdata;

        assert_int_equal(inventory->n, 1);
        assert_string_equal(inventory->gpus[0].uuid, "GPU-1");
        w->cuda = inventory->cuda;
        free(inventory->gpus);
        if (w->looks++ == 0 && w->stop_at_look)
                sg_gpu_client_let_go(w->client);
}

static void on_failed(int error, void *userdata)
{
        struct world *w = userdata;

        w->failures++;
        w->error = error;
}

static void on_gone(void *userdata)
{
        ((struct world *)userdata)->gone++;
}

static const struct sg_gpu_client_ops ops = {on_looked, on_failed, on_gone};

static void make(struct world *w, const char *program, const char *socket)
{
        *w = (struct world){0};
        assert_int_equal(sd_event_new(&w->event), 0);
        assert_int_equal(
                sg_gpu_client_new(&w->client, &(struct sg_gpu_client_options){.event = w->event,
                                                                              .program = program,
                                                                              .socket = socket,
                                                                              .ops = &ops,
                                                                              .userdata = w}),
                0);
}

static void unmake(struct world *w)
{
        w->client = sg_gpu_client_free(w->client);
        w->event = sd_event_unref(w->event);
}

static struct sg_gpu_order order(uint64_t every_usec)
{
        return (struct sg_gpu_order){.every_usec = every_usec, .root = "/"};
}

static int start(struct world *w, const char *how)
{
        const struct sg_gpu_order first = order(2000000);

        (void)setenv("WORKER", how, 1);
        return sg_gpu_client_start(w->client, &first);
}

static void await(struct world *w, const unsigned *count, unsigned n)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;

        while (*count < n) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_true(sd_event_run(w->event, 100000) >= 0);
        }
}

/* --- what is to be seen */

static void test_looks_when_told(void **state)
{
        const struct sg_gpu_order more = order(250000);
        struct world w;

        (void)state;
        make(&w, "/proc/self/exe", NULL);
        assert_int_equal(sg_gpu_client_order(w.client, &more), -ENOTCONN);
        assert_int_equal(start(&w, "answer"), 0);
        assert_int_equal(start(&w, "answer"), -EBUSY);
        await(&w, &w.looks, 1);
        assert_int_equal(w.cuda, 2000000);
        assert_int_equal(sg_gpu_client_order(w.client, &more), 0);
        await(&w, &w.looks, 2);
        assert_int_equal(w.cuda, 250000);
        sg_gpu_client_let_go(w.client);
        assert_false(sg_gpu_client_runs(w.client));
        await(&w, &w.gone, 1);
        assert_int_equal(w.failures, 0);
        unmake(&w);
}

static void test_its_end_is_told_once(void **state)
{
        struct world w;

        (void)state;
        make(&w, "/proc/self/exe", NULL);
        for (unsigned i = 1; i <= 3; i++) {
                assert_int_equal(start(&w, "end"), 0);
                await(&w, &w.gone, i);
                assert_int_equal(w.failures, i);
                assert_int_equal(w.error, -EPIPE);
                assert_false(sg_gpu_client_runs(w.client));
        }
        unmake(&w);
}

static void test_nonsense_ends_it(void **state)
{
        struct world w;

        (void)state;
        make(&w, "/proc/self/exe", NULL);
        assert_int_equal(start(&w, "nonsense"), 0);
        await(&w, &w.failures, 1);
        assert_true(w.error == -EBADMSG || w.error == -EPROTO);
        await(&w, &w.gone, 1);
        assert_int_equal(w.looks, 0);
        unmake(&w);
}

/* It is replaced at once: nobody waits for its end. */
static void test_one_that_hangs_is_let_go(void **state)
{
        struct world w;

        (void)state;
        make(&w, "/proc/self/exe", NULL);
        assert_int_equal(start(&w, "hang"), 0);
        sg_gpu_client_let_go(w.client);
        assert_int_equal(start(&w, "answer"), 0);
        await(&w, &w.looks, 1);
        await(&w, &w.gone, 1); /* SIGTERM has reached it */
        assert_true(sg_gpu_client_runs(w.client));
        unmake(&w);
}

static void test_one_that_does_not_listen_is_no_reason_to_wait(void **state)
{
        const struct sg_gpu_order more = order(250000);
        struct world w;
        int r = 0;

        (void)state;
        make(&w, "/proc/self/exe", NULL);
        assert_int_equal(start(&w, "hang"), 0);
        for (unsigned i = 0; r == 0 && i < 100000; i++)
                r = sg_gpu_client_order(w.client, &more);
        assert_int_equal(r, -EAGAIN);
        unmake(&w);
}

static void test_it_may_be_let_go_by_who_hears_it(void **state)
{
        struct world w;

        (void)state;
        make(&w, "/proc/self/exe", NULL);
        w.stop_at_look = true;
        assert_int_equal(start(&w, "flood"), 0);
        await(&w, &w.gone, 1);
        assert_int_equal(w.looks, 1);
        assert_int_equal(w.failures, 0);
        unmake(&w);
}

static void test_a_program_that_is_not_there(void **state)
{
        struct world w;

        (void)state;
        make(&w, "/nonexistent/schedgov-gpu", NULL);
        assert_int_equal(start(&w, "answer"), -ENOENT);
        assert_false(sg_gpu_client_runs(w.client));
        unmake(&w);
}

/* In systemd's place: whoever connects is served by a worker. */
static void test_over_a_socket(void **state)
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
        struct world w;

        (void)state;
        (void)snprintf(sa.sun_path, sizeof(sa.sun_path), "/tmp/test-gpu-client.%d", (int)getpid());
        assert_int_equal(bind(listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
        assert_int_equal(listen(listener, 8), 0);
        make(&w, NULL, sa.sun_path);
        assert_int_equal(start(&w, "unused"), geteuid() == 0 ? 0 : -EPERM);
        if (geteuid() == 0) {
                fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                say(fd, 12040);
                await(&w, &w.looks, 1);
                assert_int_equal(w.cuda, 12040);
                sg_gpu_client_let_go(w.client);
                say(fd, 12040); /* read by nobody, and in nobody's way */
                assert_true(sd_event_run(w.event, 0) >= 0);
                assert_int_equal(w.gone, 0); /* it hangs */
                (void)close(fd);
                await(&w, &w.gone, 1);
                assert_int_equal(w.looks, 1);
        }
        unmake(&w);
        (void)close(listener);
        (void)unlink(sa.sun_path);
        make(&w, NULL, sa.sun_path);
        assert_int_equal(start(&w, "unused"), -ENOENT);
        unmake(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_looks_when_told),
                cmocka_unit_test(test_its_end_is_told_once),
                cmocka_unit_test(test_nonsense_ends_it),
                cmocka_unit_test(test_one_that_hangs_is_let_go),
                cmocka_unit_test(test_one_that_does_not_listen_is_no_reason_to_wait),
                cmocka_unit_test(test_it_may_be_let_go_by_who_hears_it),
                cmocka_unit_test(test_a_program_that_is_not_there),
                cmocka_unit_test(test_over_a_socket),
        };
        const char *how = getenv("WORKER");

        if (how) {
                (void)signal(SIGTERM, on_term);
                return work(SG_GPU_FD, how) == 0 ? 0 : 1;
        }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
