/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sockets of groups of our own, on the real kernel. */

#include "edge/kernel/listeners.h"
#include "tests/unit/edge/cgroup/fixture.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>

static bool has(struct sg_listeners *l, uint64_t id)
{
        const uint64_t *ids;
        int n = sg_listeners_read(l, &ids);

        assert_true(n >= 0);
        for (int i = 0; i < n; i++)
                if (ids[i] == id)
                        return true;
        return false;
}

static int listen_on(int family)
{
        struct sockaddr_in in4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

        assert_true(fd >= 0);
        if (family == AF_INET)
                assert_int_equal(bind(fd, (struct sockaddr *)&in4, sizeof(in4)), 0);
        else
                assert_int_equal(bind(fd, (struct sockaddr *)&in6, sizeof(in6)), 0);
        assert_int_equal(listen(fd, 1), 0);
        return fd;
}

/* The group that we are in, in the v2 tree. */
static uint64_t own_id(void)
{
        char line[PATH_MAX], path[2 * PATH_MAX];
        struct stat st;
        FILE *f = fopen("/proc/self/cgroup", "re");
        bool found = false;

        assert_non_null(f);
        while (!found && fgets(line, sizeof(line), f))
                found = strncmp(line, "0::", 3) == 0;
        (void)fclose(f);
        assert_true(found);
        line[strcspn(line, "\n")] = '\0';
        (void)snprintf(path, sizeof(path), "/sys/fs/cgroup/unified%s", line + 3);
        if (stat(path, &st) < 0) {
                (void)snprintf(path, sizeof(path), "/sys/fs/cgroup%s", line + 3);
                assert_int_equal(stat(path, &st), 0);
        }
        return st.st_ino;
}

static void test_listeners(void **state)
{
        static const int families[] = {AF_INET, AF_INET6};
        uint64_t id = own_id();
        struct sg_listeners *l;

        (void)state;
        assert_int_equal(sg_listeners_new(&l), 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(families); i++) {
                bool before = has(l, id);
                int fd = listen_on(families[i]);

                assert_true(has(l, id));
                (void)close(fd);
                assert_int_equal(has(l, id), before);
        }
        sg_listeners_free(l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_listeners)};

        return cmocka_run_group_tests(tests, NULL, NULL);
}
