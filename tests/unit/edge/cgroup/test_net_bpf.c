/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the programs count, on the real kernel: to the byte where that is possible. */

#include "tests/unit/edge/cgroup/net_fixture.h"
#include "tests/unit/test.h"

#define MANY 1000U

/* Bytes of IP that the interface has carried. */
static uint64_t loopback_bytes(void)
{
        _cleanup_free_ char *text = NULL;
        unsigned long long bytes;
        const char *lo;

        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/self/net/dev", 65536, &text, NULL), 0);
        lo = strstr(text, "lo:");
        assert_non_null(lo);
        assert_int_equal(sscanf(lo, "lo: %llu", &bytes), 1);
        return bytes;
}

struct stream {
        int ready[2];
        uint16_t port;
        uint64_t size;
};

static int receive_stream(void *arg)
{
        struct stream *s = arg;
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        _cleanup_close_ int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = -1;
        static char data[1 << 16];
        socklen_t size = sizeof(at);
        uint64_t got = 0;
        ssize_t n;

        if (listener < 0 || bind(listener, (void *)&at, size) < 0 || listen(listener, 1) < 0 ||
            getsockname(listener, (void *)&at, &size) < 0 ||
            sg_write_all(s->ready[1], &at.sin_port, sizeof(at.sin_port)) < 0)
                return 1;
        fd = accept(listener, NULL, NULL);
        while (fd >= 0 && (n = read(fd, data, sizeof(data))) > 0)
                got += (uint64_t)n;
        return got == s->size ? 0 : 2;
}

static int send_stream(void *arg)
{
        const struct stream *s = arg;
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = s->port,
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        static char data[1 << 16];

        if (fd < 0 || connect(fd, (void *)&to, sizeof(to)) < 0)
                return 1;
        for (uint64_t sent = 0; sent < s->size; sent += sizeof(data))
                if (sg_write_all(fd, data, sizeof(data)) < 0)
                        return 2;
        return 0;
}

static void stream_between(const char *from, const char *to, uint64_t size)
{
        struct stream s = {.size = size};
        pid_t receiver;

        assert_int_equal(pipe2(s.ready, O_CLOEXEC), 0);
        receiver = start_in(to, receive_stream, &s);
        assert_int_equal(read(s.ready[0], &s.port, sizeof(s.port)), sizeof(s.port));
        run_in(from, send_stream, &s);
        finish(receiver);
        (void)close(s.ready[0]);
        (void)close(s.ready[1]);
}

/* --- tests */

static void test_datagrams(void **state)
{
        struct datagrams four = {AF_INET, 100, 1000}, six = {AF_INET6, 10, 100};
        struct net *t = *state;
        struct sg_net_count c;

        c = count(t, t->a);
        assert_int_equal(c.rx_bytes + c.tx_bytes, 0);
        run_in(t->a, send_datagrams, &four);
        c = count(t, t->a);
        assert_int_equal(c.rx_bytes, 100 * (1000 + IP4));
        assert_int_equal(c.tx_bytes, 100 * (1000 + IP4));
        run_in(t->a, send_datagrams, &six);
        c = count(t, t->a);
        assert_int_equal(c.rx_bytes, 100 * (1000 + IP4) + 10 * (100 + IP6));
        assert_int_equal(c.tx_bytes, c.rx_bytes);
        c = count(t, t->b);
        assert_int_equal(c.rx_bytes + c.tx_bytes, 0);
}

static void test_stream_between_groups(void **state)
{
        const uint64_t size = 64 << 20;
        struct net *t = *state;
        uint64_t carried = loopback_bytes();
        struct sg_net_count a, b;

        stream_between(t->a, t->b, size);
        carried = loopback_bytes() - carried;
        a = count(t, t->a);
        b = count(t, t->b);
        assert_alike(a.tx_bytes, size, .02);
        assert_alike(b.rx_bytes, size, .02);
        assert_in_range(a.rx_bytes, 1, size / 50 - 1);
        /* But for the last answers, to sockets that are nobody's any more. */
        assert_alike(a.tx_bytes + b.tx_bytes, carried, .01);
        assert_alike(a.rx_bytes + b.rx_bytes, carried, .01);
}

static void test_groups_below(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        char below[PATH_MAX], deeper[PATH_MAX];
        struct net *t = *state;

        make(below, t->a, "x");
        make(deeper, below, "y");
        run_in(deeper, send_datagrams, &d);
        run_in(t->a, send_datagrams, &d);
        assert_int_equal(count(t, t->a).rx_bytes, 20 * (100 + IP4));
        assert_int_equal(count(t, deeper).rx_bytes, 0);
        assert_int_equal(remove_group(deeper) | remove_group(below), 0);
}

/* What is in the ancestor itself is no group's. */
static void test_ancestor_itself(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        const struct sg_net_count *counts;
        struct net *t = *state;
        const uint64_t *ids;
        size_t n;

        run_in(t->base, send_datagrams, &d);
        assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0);
        assert_int_equal(n, 0);
}

static double usec_each(uint64_t begin)
{
        return (double)(sg_now_monotonic_usec() - begin) / MANY;
}

/* One map and one pair of programs for all; reading all of them is cheap. */
static void test_many(void **state)
{
        struct datagrams d = {AF_INET, 1, 100};
        static uint64_t wanted[MANY];
        const struct sg_net_count *counts;
        struct net *t = *state;
        char path[PATH_MAX], name[16];
        struct sg_net_count c;
        const uint64_t *ids;
        uint64_t begin;
        double single;
        size_t n;

        for (unsigned i = 0; i < MANY; i++) {
                (void)snprintf(name, sizeof(name), "g%u", i);
                make(path, t->base, name);
                assert_int_equal(sg_net_bpf_id(path, &wanted[i]), 0);
                run_in(path, send_datagrams, &d);
        }
        assert_int_equal(attached(t->base, BPF_CGROUP_INET_INGRESS), 1);
        begin = sg_now_monotonic_usec();
        for (unsigned i = 0; i < MANY; i++) {
                assert_int_equal(sg_net_bpf_read(t->bpf, wanted[i], &c), 0);
                assert_int_equal(c.rx_bytes, 100 + IP4);
        }
        single = usec_each(begin);
        assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0); /* makes room */
        begin = sg_now_monotonic_usec();
        assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0);
        print_message("%u groups: one by one %.2f us each, all at once %.3f us each\n", MANY,
                      single, usec_each(begin));
        assert_int_equal(n, MANY);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(counts[i].tx_bytes, 100 + IP4);
        for (unsigned i = 0; i < MANY; i++) {
                (void)snprintf(name, sizeof(name), "g%u", i);
                join(path, t->base, name);
                assert_int_equal(remove_group(path), 0);
                sg_net_bpf_forget(t->bpf, wanted[i]);
        }
        assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0);
        assert_int_equal(n, 0);
}

/* --- behind cgroup.h */

static void test_scope(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        struct net *t = *state;
        struct sg_limits none = limits();
        struct sg_scope *one = scope(t->f, &none, 0), *other = scope(t->f, &none, 1);
        char job[PATH_MAX];
        uint64_t rx = 1, tx = 1;

        assert_int_equal(sg_scope_net(one, &rx, &tx), 0);
        assert_int_equal(rx + tx, 0);
        join(job, one->dirs[0].path, "job");
        run_in(job, send_datagrams, &d);
        assert_int_equal(sg_scope_net(one, &rx, &tx), 0);
        assert_int_equal(rx, 10 * (100 + IP4));
        assert_int_equal(tx, rx);
        assert_int_equal(sg_scope_net(other, &rx, &tx), 0);
        assert_int_equal(rx + tx, 0);
        assert_non_null(strstr(sg_backend_describe(t->f->backend), " net"));
}

static int run(void)
{
        const struct CMUnitTest tests[] = {
                NET_TEST(test_datagrams),    NET_TEST(test_stream_between_groups),
                NET_TEST(test_groups_below), NET_TEST(test_ancestor_itself),
                NET_TEST(test_many),         NET_TEST(test_scope),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
        return run_net_tests(run);
}
