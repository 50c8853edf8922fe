/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A notify socket, a client of it, and what was heard. */

#include "edge/channel/notify-socket.h"
#include "tests/unit/test.h"

#define PATIENCE_USEC (60 * SG_USEC_PER_SEC)

struct fixture {
        char dir[32], path[48];
        sd_event *event;
        struct sg_notify_socket *socket;
        int client;
        enum sg_notify_who who;
        struct sg_job_key key;
        unsigned lookups, messages;
        bool count_fds;
        unsigned fds; /* open at the last message, if they are to be counted */
        struct sg_notify_sender sender;
        char group[4096], group_v1[4096];
        struct sg_job_key got_key;
        struct sg_notify got;
        struct sg_report report; /* all of them */
};

/* What its options name; userdata: the fixture. */
enum sg_notify_who lookup(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                          void *userdata);
void on_message(const struct sg_job_key *key, const struct sg_notify *message, void *userdata);

int setup(void **state);
int teardown(void **state);
void run_until(struct fixture *f, const uint64_t *counter, uint64_t wanted);
/* Until nothing of what the client has sent waits in the socket's queue. */
void run_until_received(struct fixture *f);
void send_text(struct fixture *f, const char *text);
unsigned open_fds(void);
/* A process that sends what it can, until it is killed. */
pid_t flood(const struct fixture *f);
