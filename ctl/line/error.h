/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What schedctl says when something fails: one line on stderr, or a schedgov.error/1 document.
 *
 * A function that takes a `struct sg_error *` describes its failure there and returns a negative
 * errno: -ECANCELED when nothing else fits, -ECONNRESET when the connection to the governor was
 * lost. The first description stays: what comes later is a consequence.
 */

#include <stdbool.h>

struct sg_error {
        int status; /* what schedctl exits with; 0 = nothing described yet */
        char what[512];
        char object[128]; /* a job or an option; may be empty */
        char hint[512];   /* may be empty */
};

/* Returns -ECANCELED. hint and object may be NULL. */
int sg_error_set(struct sg_error *e, int status, const char *object, const char *hint,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));

/* For a failed system call: "WHAT: strerror"; returns r. */
int sg_error_errno(struct sg_error *e, int r, const char *what);

/* Describes a message that does not have the form that org.schedgov1(5) says. */
int sg_error_garbled(struct sg_error *e, int r);

void sg_error_clear(struct sg_error *e);

/* Prints what is described, or strerror(-r), and returns the exit status. */
int sg_error_print(const struct sg_error *e, int r, bool json);

/* A warning: one line on stderr, the exit status stays. */
void sg_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
