/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A server of the test's own on the loop of the test, and what both sides need. */
#include "base/time-util.h"
#include "edge/bus/server.h"
#include "edge/common/log.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <grp.h>
#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>

#define PATH "/test"
#define INTERFACE "org.example.Test"
#define PER_USER 128
#define TRY_MORE 20
#define MIB (1024U * 1024)

struct fixture {
        char dir[32], path[64];
        sd_event *event;
        struct sg_ledger *ledger;
        struct sg_bus_server *server;
        unsigned connected, disconnected, calls, busy, replies;
        bool refuse;
        char reply[32];
};

/* The server's side: Echo(s) → s; Page(u) → s of that size, by sg_client_reply(). */
extern const struct sg_bus_server_ops ops;

int setup(void **state);
int teardown(void **state);
unsigned n_clients(struct fixture *f);
int new_server(struct fixture *f, const char *path, struct sg_bus_server **ret);
struct sg_client *last_client(struct fixture *f);

#define wait_until(f, condition)                                                                   \
        do {                                                                                       \
                uint64_t _end = sg_now_monotonic_usec() + 20000000;                                \
                while (!(condition)) {                                                             \
                        assert_true(sg_now_monotonic_usec() < _end);                               \
                        assert_true(sd_event_run((f)->event, 1000000) >= 0);                       \
                }                                                                                  \
        } while (0)

void drain(struct fixture *f);

/* Clients that behave. */
sd_bus *open_client(struct fixture *f);
void close_client(sd_bus *bus);
int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error); /* of Echo and Page */
void echo(struct fixture *f, sd_bus *bus, const char *text);
/* Whatever somebody else does: a new client gets its answer. */
void assert_others_are_served(struct fixture *f);
