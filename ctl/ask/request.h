/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* From an invocation to the bodies of the bus calls that make, change and find jobs. */

#include "ctl/ask/kept.h"
#include "ctl/line/options.h"

/* Appends the a{sv} of a job: the options that were given, workdir, files, umask; and of what is
 * kept of another job what wasn't given. token NULL: it is only
 * asked what would become of it; kept may be NULL. */
int sg_request_append_job(sd_bus_message *m, const struct sg_invocation *inv,
                          const struct sg_kept *kept, const char *token, struct sg_error *e);

/* Appends the a{sv} of `set`: only what was given. */
int sg_request_append_changes(sd_bus_message *m, const struct sg_invocation *inv);

/* What narrows a list besides the options of the verb; false, NULL, 0: it doesn't. */
struct sg_selection {
        bool own, newest;
        const char *name;
        uint64_t array; /* number of its first task */
};

/* Appends the a{sv} of a filter. flag ("finished", "only_finished") may be NULL, limit is that of a
 * page. */
int sg_request_append_filter(sd_bus_message *m, const struct sg_invocation *inv, const char *flag,
                             const struct sg_selection *selection, uint64_t limit);

/* 128 random bits in hexadecimal. */
#define SG_REQUEST_TOKEN_SIZE 33
int sg_request_token(char buf[SG_REQUEST_TOKEN_SIZE]);
