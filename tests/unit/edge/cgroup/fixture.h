/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the tests of the cgroup backends share. They run on the real kernel, in groups below our own
 * that the tear-down removes, also after a failure; every child dies with the test.
 */

#include "base/file.h"
#include "base/time-util.h"
#include "edge/cgroup/backend.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define SCOPES_MAX 8
#define PIDS_MAX 32
#define WAIT_USEC (60 * SG_USEC_PER_SEC) /* a bound for a hung test, never a measure */

struct fixture {
        struct sg_backend *backend;
        struct sg_scope *scopes[SCOPES_MAX];
        size_t n_scopes;
        pid_t pids[PIDS_MAX];
        size_t n_pids;
        char *why;
};

#define WAIT_FOR(condition)                                                                        \
        do {                                                                                       \
                uint64_t _end = sg_now_monotonic_usec() + WAIT_USEC;                               \
                while (!(condition)) {                                                             \
                        if (sg_now_monotonic_usec() > _end)                                        \
                                fail_msg("waited in vain for " #condition);                        \
                        (void)usleep(2000);                                                        \
                }                                                                                  \
        } while (0)

/* The time in which others could have run: by our own use of it, so that it isn't over sooner where
 * there is little for anybody. */
void burn_cpu(uint64_t usec);
void fixture_backend(struct fixture *f, const char *wanted);
int fixture_teardown(void **state);
int fixture_setup_as(void **state, const char *wanted);
struct sg_limits limits(void);

extern const struct sg_job_key key_of[4];
struct sg_scope_request request(const struct sg_limits *l, size_t n);
struct sg_scope *scope_with(struct fixture *f, const struct sg_scope_request *req);
struct sg_scope *scope(struct fixture *f, const struct sg_limits *l, size_t n);
struct sg_counters counters(struct sg_scope *s);
