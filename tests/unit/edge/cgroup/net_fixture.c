/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See net_fixture.h. */
#include "tests/unit/edge/cgroup/net_fixture.h"

void join(char path[PATH_MAX], const char *dir, const char *name)
{
        assert_int_equal(sg_path_join(path, PATH_MAX, dir, name), 0);
}

void make(char path[PATH_MAX], const char *dir, const char *name)
{
        join(path, dir, name);
        if (mkdir(path, 0755) < 0)
                fail_msg("%s: %s", path, strerror(errno));
}

int open_group(const char *path)
{
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        assert_true(fd >= 0);
        return fd;
}

pid_t start_in(const char *group, int (*body)(void *arg), void *arg)
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

void finish(pid_t pid)
{
        int status;

        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                fail_msg("a process failed: status %#x", status);
}

void run_in(const char *group, int (*body)(void *arg), void *arg)
{
        finish(start_in(group, body, arg));
}

struct sg_net_count count(struct net *t, const char *group)
{
        struct sg_net_count c;
        uint64_t id;

        assert_int_equal(sg_net_bpf_id(group, &id), 0);
        assert_int_equal(sg_net_bpf_read(t->bpf, id, &c), 0);
        return c;
}

size_t attached(const char *group, enum bpf_attach_type type)
{
        _cleanup_close_ int fd = open_group(group);
        uint32_t ids[SG_BPF_ATTACHED_MAX];
        size_t n;

        assert_int_equal(sg_bpf_query(fd, type, ids, &n), 0);
        return n;
}

void open_bpf(struct net *t)
{
        char *why = NULL;
        int r = sg_net_bpf_open(&t->bpf, t->base, 1, &why);

        if (r != 0)
                fail_msg("no counting: %d %s", r, why ? why : "?");
}

int setup(void **state)
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

int remove_group(const char *path)
{
        uint64_t end = sg_now_monotonic_usec() + WAIT_USEC;
        int r;

        while ((r = rmdir(path)) < 0 && errno == EBUSY && sg_now_monotonic_usec() < end)
                (void)usleep(2000);
        return r < 0 && errno != ENOENT ? -errno : 0;
}

int teardown(void **state)
{
        struct net *t = *state;
        int r;

        sg_net_bpf_free(t->bpf);
        r = remove_group(t->a) | remove_group(t->b) | remove_group(t->base);
        r |= fixture_teardown((void **)&t->f);
        free(t);
        return r;
}

void loopback_up(void)
{
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq req = {.ifr_name = "lo", .ifr_flags = IFF_UP};

        if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &req) < 0)
                fail_msg("lo: %s", strerror(errno));
}

int send_datagrams(void *arg)
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

int run_net_tests(int (*run)(void))
{
        if (unshare(CLONE_NEWNET) < 0) {
                print_error("no network namespace: %s\n", strerror(errno));
                return 1;
        }
        loopback_up();
        return run();
}
