/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs on the real kernel: groups below our own, and packets over the loopback of a network
 * namespace of this test's, so that what the interface counted is what we sent.
 */

#include "base/file.h"
#include "base/fork.h"
#include "base/parse.h"
#include "edge/bpf.h"
#include "edge/net-bpf.h"
#include "test_cgroup.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define IP4 28U /* headers of IP and UDP */
#define IP6 48U
#define MANY 1000U

struct net {
        struct fixture *f; /* its backend says where our own group is */
        char base[PATH_MAX], a[PATH_MAX], b[PATH_MAX];
        struct sg_net_bpf *bpf;
};

/* --- groups */

static void join(char path[PATH_MAX], const char *dir, const char *name)
{
        assert_int_equal(sg_path_join(path, PATH_MAX, dir, name), 0);
}

static void make(char path[PATH_MAX], const char *dir, const char *name)
{
        join(path, dir, name);
        if (mkdir(path, 0755) < 0)
                fail_msg("%s: %s", path, strerror(errno));
}

static int open_group(const char *path)
{
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        assert_true(fd >= 0);
        return fd;
}

/* Runs body(arg) in a process that was born in the group; its result is the process's. */
static pid_t start_in(const char *group, int (*body)(void *arg), void *arg)
{
        _cleanup_close_ int fd = open_group(group);
        pid_t pid = sg_fork_into(fd);

        if (pid < 0)
                fail_msg("no process in %s: %s", group, strerror(-pid));
        if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                _exit(body(arg));
        }
        return pid;
}

static void finish(pid_t pid)
{
        int status;

        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                fail_msg("a process failed: status %#x", status);
}

static void run_in(const char *group, int (*body)(void *arg), void *arg)
{
        finish(start_in(group, body, arg));
}

static struct sg_net_count count(struct net *t, const char *group)
{
        struct sg_net_count c;
        uint64_t id;

        assert_int_equal(sg_net_bpf_id(group, &id), 0);
        assert_int_equal(sg_net_bpf_read(t->bpf, id, &c), 0);
        return c;
}

static size_t attached(const char *group, enum bpf_attach_type type)
{
        _cleanup_close_ int fd = open_group(group);
        uint32_t ids[SG_BPF_ATTACHED_MAX];
        size_t n;

        assert_int_equal(sg_bpf_query(fd, type, ids, &n), 0);
        return n;
}

static void open_bpf(struct net *t)
{
        char *why = NULL;
        int r = sg_net_bpf_open(&t->bpf, t->base, 1, &why);

        if (r != 0)
                fail_msg("no counting: %d %s", r, why ? why : "?");
}

static int setup(void **state)
{
        struct net *t = calloc(1, sizeof(*t));
        char name[32];

        (void)fixture_setup_as((void **)&t->f, "cgroupfs");
        (void)snprintf(name, sizeof(name), "sg-test-net-%d", getpid());
        make(t->base, t->f->backend->hier[SG_HIER_UNIFIED].own, name);
        make(t->a, t->base, "a");
        make(t->b, t->base, "b");
        open_bpf(t);
        *state = t;
        return 0;
}

static int remove_group(const char *path)
{
        uint64_t end = sg_now_monotonic_usec() + WAIT_USEC;
        int r;

        while ((r = rmdir(path)) < 0 && errno == EBUSY && sg_now_monotonic_usec() < end)
                (void)usleep(2000);
        return r < 0 && errno != ENOENT ? -errno : 0;
}

static int teardown(void **state)
{
        struct net *t = *state;
        int r;

        sg_net_bpf_free(t->bpf);
        r = remove_group(t->a) | remove_group(t->b) | remove_group(t->base);
        r |= fixture_teardown((void **)&t->f);
        free(t);
        return r;
}

/* --- packets */

static void loopback_up(void)
{
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP};

        if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
                fail_msg("lo: %s", strerror(errno));
}

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

struct datagrams {
        int family;
        unsigned n;
        size_t size;
};

/* To a socket of its own. */
static int send_datagrams(void *arg)
{
        const struct datagrams *d = arg;
        struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        struct sockaddr_in four = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        struct sockaddr *to = d->family == AF_INET ? (void *)&four : (void *)&six;
        socklen_t size = d->family == AF_INET ? sizeof(four) : sizeof(six);
        _cleanup_close_ int fd = socket(d->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char data[2000] = "";

        if (fd < 0 || bind(fd, to, size) < 0 || getsockname(fd, to, &size) < 0)
                return 1;
        for (unsigned i = 0; i < d->n; i++) {
                if (sendto(fd, data, d->size, 0, to, size) != (ssize_t)d->size ||
                    recv(fd, data, sizeof(data), 0) != (ssize_t)d->size)
                        return 2;
        }
        return 0;
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

static void assert_near(uint64_t value, uint64_t expected, unsigned percent)
{
        uint64_t by = expected * percent / 100;

        if (value + by < expected || value > expected + by)
                fail_msg("%llu is not %llu within %u %%", (unsigned long long)value,
                         (unsigned long long)expected, percent);
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
        assert_near(a.tx_bytes, size, 2);
        assert_near(b.rx_bytes, size, 2);
        assert_true(a.rx_bytes > 0 && a.rx_bytes < size / 50);
        /* But for the last answers, to sockets that are nobody's any more. */
        assert_near(a.tx_bytes + b.tx_bytes, carried, 1);
        assert_near(a.rx_bytes + b.rx_bytes, carried, 1);
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

static void test_forget(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        struct net *t = *state;
        uint64_t id;

        assert_int_equal(sg_net_bpf_id(t->a, &id), 0);
        run_in(t->a, send_datagrams, &d);
        run_in(t->b, send_datagrams, &d);
        sg_net_bpf_forget(t->bpf, id);
        assert_int_equal(count(t, t->a).rx_bytes, 0);
        assert_int_equal(count(t, t->b).rx_bytes, 10 * (100 + IP4));
        sg_net_bpf_forget(t->bpf, id); /* once more is fine */
}

struct survivor {
        char elsewhere[PATH_MAX];
        int moved[2], go[2];
};

/* Takes a socket along into another group, and uses it when its first group is gone. */
static int outlive(void *arg)
{
        struct survivor *s = arg;
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons(9),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char procs[PATH_MAX], byte = 0;

        if (sg_path_join(procs, sizeof(procs), s->elsewhere, "cgroup.procs") < 0 ||
            sg_write_file(AT_FDCWD, procs, "0") < 0 || sg_write_all(s->moved[1], &byte, 1) < 0 ||
            read(s->go[0], &byte, 1) != 1)
                return 1;
        return sendto(fd, "x", 1, 0, (void *)&to, sizeof(to)) == 1 ? 0 : 2;
}

static void test_socket_outlives_group(void **state)
{
        struct survivor s = {.moved = {-1, -1}};
        const struct sg_net_count *counts;
        struct net *t = *state;
        const uint64_t *ids;
        uint64_t id;
        size_t n;
        char byte;
        pid_t pid;

        assert_int_equal(pipe2(s.moved, O_CLOEXEC) | pipe2(s.go, O_CLOEXEC), 0);
        strcpy(s.elsewhere, t->b);
        assert_int_equal(sg_net_bpf_id(t->a, &id), 0);
        pid = start_in(t->a, outlive, &s);
        assert_int_equal(read(s.moved[0], &byte, 1), 1);
        assert_int_equal(remove_group(t->a), 0);
        sg_net_bpf_forget(t->bpf, id);
        assert_int_equal(sg_write_all(s.go[1], "x", 1), 0);
        finish(pid);
        assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(ids[0], id);
        /* It goes by itself as other jobs end. */
        for (unsigned i = 0; n > 0 && i < 1000; i++) {
                sg_net_bpf_forget(t->bpf, id + 1 + i);
                assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0);
        }
        assert_int_equal(n, 0);
        for (int i = 0; i < 2; i++)
                (void)close(s.moved[i]), (void)close(s.go[i]);
}

static void test_goes_on(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        struct net *t = *state;

        run_in(t->a, send_datagrams, &d);
        t->bpf = sg_net_bpf_free(t->bpf);
        assert_int_equal(attached(t->base, BPF_CGROUP_INET_INGRESS), 1);
        run_in(t->a, send_datagrams, &d); /* while nobody looks */
        open_bpf(t);
        assert_int_equal(count(t, t->a).rx_bytes, 20 * (100 + IP4));
        run_in(t->a, send_datagrams, &d);
        assert_int_equal(count(t, t->a).tx_bytes, 30 * (100 + IP4));
        assert_int_equal(attached(t->base, BPF_CGROUP_INET_INGRESS), 1);
        assert_int_equal(attached(t->base, BPF_CGROUP_INET_EGRESS), 1);
}

static void test_lines_of_gone_groups(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        const struct sg_net_count *counts;
        struct net *t = *state;
        const uint64_t *ids;
        uint64_t id;
        size_t n;

        run_in(t->a, send_datagrams, &d);
        run_in(t->b, send_datagrams, &d);
        assert_int_equal(sg_net_bpf_id(t->b, &id), 0);
        t->bpf = sg_net_bpf_free(t->bpf);
        assert_int_equal(remove_group(t->a), 0);
        open_bpf(t);
        assert_int_equal(sg_net_bpf_read_all(t->bpf, &ids, &counts, &n), 0);
        assert_int_equal(n, 1);
        assert_int_equal(ids[0], id);
        assert_int_equal(counts[0].rx_bytes, 10 * (100 + IP4));
}

static void test_detach(void **state)
{
        struct datagrams d = {AF_INET, 10, 100};
        struct net *t = *state;

        assert_int_equal(sg_net_bpf_detach(t->bpf), 0);
        assert_int_equal(attached(t->base, BPF_CGROUP_INET_INGRESS), 0);
        assert_int_equal(attached(t->base, BPF_CGROUP_INET_EGRESS), 0);
        run_in(t->a, send_datagrams, &d);
        assert_int_equal(count(t, t->a).rx_bytes, 0);
}

static bool program_there(uint32_t id)
{
        _cleanup_close_ int fd = sg_bpf_program_open(id);

        return fd >= 0;
}

static void test_removing_the_ancestor_ends_it(void **state)
{
        struct net *t = *state;
        uint32_t ids[SG_BPF_ATTACHED_MAX];
        int fd = open_group(t->base);
        size_t n;

        assert_int_equal(sg_bpf_query(fd, BPF_CGROUP_INET_EGRESS, ids, &n), 0);
        assert_int_equal(n, 1);
        (void)close(fd);
        assert_true(program_there(ids[0]));
        t->bpf = sg_net_bpf_free(t->bpf);
        assert_int_equal(remove_group(t->a) | remove_group(t->b) | remove_group(t->base), 0);
        WAIT_FOR(!program_there(ids[0]));
}

static int count_in_namespace(void *arg)
{
        struct net *t = arg, in = *t;
        struct datagrams d = {AF_INET, 10, 100};
        struct sg_net_count c = {};
        char top[] = "/tmp/sg-test-net-XXXXXX";
        uint64_t id;
        int r = 1;

        if (!mkdtemp(top) || unshare(CLONE_NEWCGROUP | CLONE_NEWNS) < 0 ||
            mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", top, "cgroup2", 0, NULL) < 0)
                return 1;
        join(in.base, top, "x");
        join(in.a, in.base, "y");
        in.bpf = NULL;
        if (mkdir(in.base, 0755) == 0 && mkdir(in.a, 0755) == 0 &&
            sg_net_bpf_open(&in.bpf, in.base, 1, NULL) == 0) {
                run_in(in.a, send_datagrams, &d);
                if (sg_net_bpf_id(in.a, &id) == 0 && sg_net_bpf_read(in.bpf, id, &c) == 0)
                        r = c.rx_bytes == 10 * (100 + IP4) ? 0 : 2;
        }
        sg_net_bpf_free(in.bpf);
        (void)rmdir(in.a);
        (void)rmdir(in.base);
        (void)umount2(top, MNT_DETACH);
        (void)rmdir(top);
        return r;
}

/* Who doesn't see how deep we are. */
static void test_cgroup_namespace(void **state)
{
        struct net *t = *state;

        run_in(t->a, count_in_namespace, t);
}

static void test_refused(void **state)
{
        struct net *t = *state;
        _cleanup_free_ char *why = NULL;
        struct sg_net_bpf *n = t->bpf;

        assert_true(sg_net_bpf_open(&n, "/proc", 1, &why) > 0);
        assert_null(n);
        assert_non_null(strstr(why, "/proc: this kernel has no"));
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

int main(void)
{
        const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
                TEST(test_datagrams),
                TEST(test_stream_between_groups),
                TEST(test_groups_below),
                TEST(test_ancestor_itself),
                TEST(test_forget),
                TEST(test_socket_outlives_group),
                TEST(test_goes_on),
                TEST(test_lines_of_gone_groups),
                TEST(test_detach),
                TEST(test_removing_the_ancestor_ends_it),
                TEST(test_cgroup_namespace),
                TEST(test_refused),
                TEST(test_many),
                TEST(test_scope),
        };

        if (unshare(CLONE_NEWNET) < 0) {
                print_error("no network namespace: %s\n", strerror(errno));
                return 1;
        }
        loopback_up();
        return cmocka_run_group_tests(tests, NULL, NULL);
}
