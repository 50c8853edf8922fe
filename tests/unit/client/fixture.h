/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Tests of libschedgov, from a job's side: each job is a process of its own, the test plays the
 * governor with its real socket and files.
 */
#include "base/file.h"
#include "base/time-util.h"
#include "client/schedgov.h"
#include "edge/channel/allocation.h"
#include "edge/channel/notify-socket.h"
#include "edge/common/log.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>

#define PATIENCE_USEC (60 * SG_USEC_PER_SEC)

extern const struct sg_job_key key;

struct fixture {
        char dir[32], path[48], root[48], allocation[256];
        sd_event *event;
        struct sg_notify_socket *socket;
        struct sg_allocations *allocations;
        struct sg_allocation now;
        unsigned messages;
        struct sg_report report;
        char status[SG_NOTIFY_STATUS_MAX];
        bool checkpointed;
};

/* The governor's side. */
enum sg_notify_who lookup(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                          void *userdata);
void on_message(const struct sg_job_key *k, const struct sg_notify *message, void *userdata);
void publish(struct fixture *f, uint64_t quota_pm, const char *cpus);
int setup(void **state);
int teardown(void **state);

/* --- jobs --- */

/* In a job, where cmocka isn't: what failed is said, and shows in its status. */
#define expect(x)                                                                                  \
        do {                                                                                       \
                if (!(x)) {                                                                        \
                        (void)fprintf(stderr, "job: line %d: %s\n", __LINE__, #x);                 \
                        _exit(1);                                                                  \
                }                                                                                  \
        } while (0)

struct job {
        pid_t pid;
        int go; /* a byte lets it go on */
        int says;
};

extern int job_go, job_says; /* in a job */
void wait_for_go(void);
struct job start(struct fixture *f, void (*body)(void));

/* Runs the loop for a moment, and fails from `end` on. */
bool step(struct fixture *f, uint64_t end);
/* Until it waits for us. */
void await(struct fixture *f, struct job *j);
void let_go(struct job *j);
void finish(struct fixture *f, struct job *j);
void run(struct fixture *f, void (*body)(void));
