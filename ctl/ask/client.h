/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The connection to the governor and calls on it (org.schedgov1(5)). Failures are described in the
 * `struct sg_error`; a lost connection is -ECONNRESET, so that a verb which can go on after a
 * restart of the governor can tell.
 */

#include "base/cleanup.h"
#include "ctl/line/error.h"
#include "proto/names.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#define SG_CALL_USEC (60ULL * 1000000)

struct sg_client {
        sd_bus *bus;
        const char *path; /* borrowed, or own */
        char *own;        /* socket of the user's own governor */
        bool unnamed;     /* nobody said which governor */
};

/* path NULL: $SCHEDGOV_SOCKET, else the host's governor if there is one, else the user's own. */
int sg_client_open(struct sg_client *c, const char *path, struct sg_error *e);
/* After a loss: waits up to patience_usec for a governor to answer on the socket again. */
int sg_client_reopen(struct sg_client *c, uint64_t patience_usec, struct sg_error *e);
void sg_client_close(struct sg_client *c);

/* A call of org.schedgov1.Manager, to be filled. */
int sg_client_manager(struct sg_client *c, const char *member, sd_bus_message **ret,
                      struct sg_error *e);
/* A call of org.schedgov1.Job on a job's object. */
int sg_client_job(struct sg_client *c, const char *id, const char *member, sd_bus_message **ret,
                  struct sg_error *e);

/* Sends m and waits. object (may be NULL) is what the call is about, for the error. */
int sg_client_call(struct sg_client *c, sd_bus_message *m, const char *object, sd_bus_message **ret,
                   struct sg_error *e);

/* Manager calls with at most one string in and one string (a copy) or list of strings out. */
int sg_client_get_string(struct sg_client *c, const char *member, const char *argument, char **ret,
                         struct sg_error *e);
/* Fails unless there is this job: a log of it may be empty. */
int sg_client_check_job(struct sg_client *c, const char *id, struct sg_error *e);
int sg_client_get_strv(struct sg_client *c, const char *member, char ***ret, struct sg_error *e);

/* DescribeJob, as text and as a tree. */
int sg_client_get_job(struct sg_client *c, const char *id, char **ret_text, json_t **ret,
                      struct sg_error *e);

/* Handles what has arrived, or waits up to timeout_usec (UINT64_MAX: forever) for something. 0, or
 * -ECONNRESET. */
int sg_client_process(struct sg_client *c, uint64_t timeout_usec, struct sg_error *e);

/* Describes an answer that is an error. */
int sg_error_from_reply(struct sg_error *e, const sd_bus_error *error, const char *object);
/* Describes what sd_bus_call() failed with. */
int sg_client_failure(struct sg_client *c, int r, const sd_bus_error *error, const char *object,
                      struct sg_error *e);
static inline void sg_client_closep(struct sg_client *c)
{
        sg_client_close(c);
}

#define _cleanup_client_ _cleanup_(sg_client_closep)
#define _cleanup_message_ _cleanup_(sd_bus_message_unrefp)
