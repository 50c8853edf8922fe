/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Programs, their map and its lines: what stays, what goes, and what outlives what. */

#include "tests/unit/edge/cgroup/net_fixture.h"
#include <sys/mount.h>

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

static int run(void)
{
        const struct CMUnitTest tests[] = {
                NET_TEST(test_forget),
                NET_TEST(test_socket_outlives_group),
                NET_TEST(test_goes_on),
                NET_TEST(test_lines_of_gone_groups),
                NET_TEST(test_removing_the_ancestor_ends_it),
                NET_TEST(test_cgroup_namespace),
                NET_TEST(test_refused),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
        return run_net_tests(run);
}
