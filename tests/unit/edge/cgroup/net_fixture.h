/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Groups below our own with the counting programs on their ancestor, and datagrams over the
 * loopback of a network namespace of the test's, so that what the interface counted is what we
 * sent.
 */

#include "base/fork.h"
#include "base/parse.h"
#include "edge/cgroup/bpf/bpf.h"
#include "edge/cgroup/bpf/net.h"
#include "tests/unit/edge/cgroup/fixture.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define IP4 28U /* headers of IP and UDP */
#define IP6 48U

struct net {
        struct fixture *f; /* its backend says where our own group is */
        char base[PATH_MAX], a[PATH_MAX], b[PATH_MAX];
        struct sg_net_bpf *bpf;
};

/* --- groups */

void join(char path[PATH_MAX], const char *dir, const char *name);
void make(char path[PATH_MAX], const char *dir, const char *name);
int open_group(const char *path);
/* Runs body(arg) in a process that was born in the group; its result is the process's. */
pid_t start_in(const char *group, int (*body)(void *arg), void *arg);
void finish(pid_t pid);
void run_in(const char *group, int (*body)(void *arg), void *arg);
struct sg_net_count count(struct net *t, const char *group);
size_t attached(const char *group, enum bpf_attach_type type);
void open_bpf(struct net *t);
int setup(void **state);
int remove_group(const char *path);
int teardown(void **state);

/* --- packets */

void loopback_up(void);

struct datagrams {
        int family;
        unsigned n;
        size_t size;
};
/* To a socket of its own. */
int send_datagrams(void *arg);
int run_net_tests(int (*run)(void));

#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
