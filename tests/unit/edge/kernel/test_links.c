/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Interfaces of a network namespace of this test's, made and changed by ip(8). */

#include "base/parse.h"
#include "base/time-util.h"
#include "edge/kernel/links.h"
#include "tests/unit/test.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define WAIT_USEC (60 * SG_USEC_PER_SEC)
#define MANY 300

struct fixture {
        sd_event *event;
        struct sg_links *links;
        unsigned n_told, n_gone;
        struct sg_link last;
};

/* As much of the event loop as it takes. */
#define RUN_UNTIL(condition)                                                                       \
        do {                                                                                       \
                uint64_t _end = sg_now_monotonic_usec() + WAIT_USEC;                               \
                while (!(condition)) {                                                             \
                        assert_true(sd_event_run(f->event, SG_USEC_PER_SEC) >= 0);                 \
                        if (sg_now_monotonic_usec() > _end)                                        \
                                fail_msg("waited in vain for " #condition);                        \
                }                                                                                  \
        } while (0)

static void shell(const char *command)
{
        char *const argv[] = {(char *)"sh", (char *)"-ec", (char *)command, NULL};
        int status;
        pid_t pid;

        assert_int_equal(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (status != 0)
                fail_msg("%s: status %#x", command, status);
}

static void on_changed(const struct sg_link *now, bool gone, void *userdata)
{
        struct fixture *f = userdata;

        f->n_told++;
        f->n_gone += gone;
        f->last = *now;
}

/* Each test has a namespace of its own, which ends with the next one's. */
static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        const char *why = NULL;
        int r;

        assert_int_equal(unshare(CLONE_NEWNET), 0);
        assert_true(sd_event_new(&f->event) >= 0);
        r = sg_links_new(&f->links, f->event, on_changed, f, &why);
        if (r != 0)
                fail_msg("no links: %d %s", r, why ? why : "?");
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_links_free(f->links);
        sd_event_unref(f->event);
        free(f);
        return 0;
}

static const struct sg_link *get(const struct fixture *f, const char *name)
{
        const struct sg_link *link = sg_links_find(f->links, name);

        if (!link)
                fail_msg("no %s", name);
        return link;
}

static size_t count(const struct fixture *f)
{
        size_t n;

        (void)sg_links_get(f->links, &n);
        return n;
}

static void test_state(void **state)
{
        struct fixture *f = *state;
        const struct sg_link *lo = get(f, "lo");

        assert_true(lo->loopback);
        assert_false(lo->up);
        assert_string_equal(lo->kind, "");
        assert_int_equal(lo->rx_bytes, SG_UNLIMITED);
        assert_int_equal(f->n_told, 0);
        shell("ip link set lo up");
        RUN_UNTIL(get(f, "lo")->up);
        assert_true(get(f, "lo")->carrier);
        assert_string_equal(f->last.name, "lo");
        assert_true(f->n_told > 0);
}

static void test_carrier(void **state)
{
        struct fixture *f = *state;
        unsigned told;

        shell("ip link add va type veth peer name vb");
        RUN_UNTIL(sg_links_find(f->links, "va") && sg_links_find(f->links, "vb"));
        assert_string_equal(get(f, "va")->kind, "veth");
        assert_false(get(f, "va")->up);
        assert_false(get(f, "va")->loopback);
        assert_int_equal(get(f, "va")->speed_mbit, SG_UNLIMITED);
        shell("ip link set va up");
        RUN_UNTIL(get(f, "va")->up);
        assert_false(get(f, "va")->carrier);
        shell("ip link set vb up");
        RUN_UNTIL(get(f, "va")->carrier && get(f, "vb")->carrier);
        assert_int_equal(get(f, "va")->speed_mbit, 10000);
        told = f->n_told;
        shell("ip link set vb down");
        RUN_UNTIL(!get(f, "va")->carrier && !get(f, "vb")->up);
        assert_true(get(f, "va")->up);
        assert_int_equal(get(f, "va")->speed_mbit, SG_UNLIMITED);
        assert_true(f->n_told >= told + 2);
}

static void test_coming_and_going(void **state)
{
        struct fixture *f = *state;
        const struct sg_link *all;
        int index;
        size_t n;

        shell("ip link add d0 type bridge; ip link add d1 type bridge");
        RUN_UNTIL(count(f) == 3);
        index = get(f, "d1")->index;
        assert_int_equal(index, if_nametoindex("d1"));
        shell("ip link set d1 name renamed");
        RUN_UNTIL(sg_links_find(f->links, "renamed"));
        assert_int_equal(get(f, "renamed")->index, index);
        assert_null(sg_links_find(f->links, "d1"));
        shell("ip link del d0");
        RUN_UNTIL(f->n_gone == 1);
        assert_string_equal(f->last.name, "d0");
        all = sg_links_get(f->links, &n);
        assert_int_equal(n, 2);
        assert_string_equal(all[0].name, "lo");
        assert_string_equal(all[1].name, "renamed");
}

/* What changes in other ways, or in a bridge's view of its port, is not told. */
static void test_bridge_port(void **state)
{
        struct fixture *f = *state;
        unsigned told;

        shell("ip link add sw type bridge; ip link add va type veth peer name vb;"
              "ip link set va master sw");
        RUN_UNTIL(count(f) == 4);
        assert_string_equal(get(f, "sw")->kind, "bridge");
        told = f->n_told;
        shell("ip link set va nomaster; ip link set va mtu 1400; ip link set sw txqueuelen 5");
        shell("ip link set vb name last");
        RUN_UNTIL(sg_links_find(f->links, "last"));
        assert_string_equal(get(f, "va")->kind, "veth");
        assert_int_equal(f->n_gone, 0);
        assert_int_equal(f->n_told, told + 1);
}

/* To an address behind the veth pair, whose other end takes all of it in. */
static void send_over_veth(unsigned n, size_t size)
{
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char data[2000] = "";

        assert_int_equal(inet_pton(AF_INET, "10.77.1.2", &to.sin_addr), 1);
        for (unsigned i = 0; i < n; i++)
                assert_int_equal(sendto(fd, data, size, 0, (void *)&to, sizeof(to)), size);
}

static void test_counters(void **state)
{
        const uint64_t sent = 100 * (1000 + 28 + 14); /* with headers of UDP, IP and Ethernet */
        struct fixture *f = *state;
        uint64_t base;

        shell("echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6;" /* which speaks by itself */
              "ip link add va type veth peer name vb; ip addr add 10.77.1.1/24 dev va;"
              "ip link set va up; ip link set vb up;"
              "ip neigh add 10.77.1.2 lladdr 02:00:00:00:00:99 dev va");
        RUN_UNTIL(sg_links_find(f->links, "vb") && get(f, "va")->carrier && get(f, "vb")->carrier);
        assert_int_equal(get(f, "va")->tx_bytes, SG_UNLIMITED);
        assert_int_equal(sg_links_read_counters(f->links), 0);
        base = get(f, "va")->tx_bytes;
        assert_true(base < 10000);
        send_over_veth(100, 1000);
        assert_int_equal(sg_links_read_counters(f->links), 0);
        assert_true(get(f, "va")->tx_bytes >= base + sent);
        assert_true(get(f, "va")->tx_bytes < base + sent + 1000);
        assert_true(get(f, "vb")->rx_bytes >= sent);
        assert_in_range(get(f, "vb")->rx_packets, 100, 119);
        assert_int_equal(get(f, "va")->rx_errors, 0);
        assert_int_equal(get(f, "lo")->rx_bytes, 0);
}

static void many(const char *format)
{
        char *command = NULL;

        assert_true(asprintf(&command, "for i in $(seq %d); do echo %s; done | ip -batch -", MANY,
                             format) > 0);
        shell(command);
        free(command);
}

/* More than the event socket takes, and more than the kernel answers at once. */
static void test_lost_events(void **state)
{
        struct fixture *f = *state;
        const struct sg_link *all;
        uint64_t begin;
        size_t n;

        many("link add m$i type bridge");
        RUN_UNTIL(count(f) == MANY + 1);
        begin = sg_now_monotonic_usec();
        assert_int_equal(sg_links_read_counters(f->links), 0);
        print_message("counters of %d links in %d us\n", MANY,
                      (int)(sg_now_monotonic_usec() - begin));
        all = sg_links_get(f->links, &n);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(all[i].tx_errors, 0);
        for (int i = 0; i < 10; i++) /* churn that nobody listens to */
                shell("ip link set m1 up; ip link set m1 down");
        many("link set m$i name n$i");
        many("link set n$i up");
        many("link del n$i");
        RUN_UNTIL(count(f) == 1);
        assert_int_equal(f->n_gone, MANY);
}

static void test_not_available(void **state)
{
        struct rlimit none = {3, 3};
        const char *why = NULL;
        sd_event *event = NULL;
        int status;
        pid_t pid;

        (void)state;
        pid = fork();
        if (pid == 0) {
                struct sg_links *l = (void *)1;
                bool ok = sd_event_new(&event) >= 0 && setrlimit(RLIMIT_NOFILE, &none) == 0 &&
                          sg_links_new(&l, event, NULL, NULL, &why) > 0 && !l && why;
                size_t n = 1;

                ok = ok && !sg_links_get(l, &n) && n == 0 && !sg_links_find(l, "lo") &&
                     sg_links_read_counters(l) == 0;
                sd_event_unref(event);
                _exit(!ok);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
                TEST(test_state),         TEST(test_carrier),  TEST(test_coming_and_going),
                TEST(test_bridge_port),   TEST(test_counters), TEST(test_lost_events),
                TEST(test_not_available),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
