/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Questions to polkit (org.freedesktop.PolicyKit1.Authority): may this client do that? Always
 * asynchronous. What follows from an answer, or from there being nobody to ask, is decided
 * elsewhere.
 */

#include "edge/bus/client.h"

struct sg_polkit_question;

enum sg_polkit_verdict {
        SG_POLKIT_NO,
        SG_POLKIT_YES,
        SG_POLKIT_ASK,    /* yes, if they authenticate; we may not ask them to */
        SG_POLKIT_ABSENT, /* nobody to ask, or who knows nothing of our actions */
        SG_POLKIT_SILENT, /* no answer in time, or an error */
};

struct sg_polkit_answer {
        enum sg_polkit_verdict verdict;
        bool lasting; /* as long as the rules stay: nobody had to authenticate for it */
};

/* For administrators' rules to look at: action.lookup("job"). Any may be NULL. */
struct sg_polkit_details {
        const char *verb, *job, *user;
};

struct sg_polkit_request {
        const struct sg_client *client;
        const char *action;
        struct sg_polkit_details details;
        bool interactive; /* the user may be asked to authenticate, which takes minutes */
};

typedef void (*sg_polkit_cb)(struct sg_polkit_answer answer, void *userdata);

/* Asks on this bus; a client of another connection is known to polkit by its process. The question
 * is freed before the one call of cb. -ESRCH if the process has gone. */
int sg_polkit_ask(struct sg_polkit_question **ret, sd_bus *bus, const struct sg_polkit_request *q,
                  sg_polkit_cb cb, void *userdata);
/* Forgets the question, and takes a dialogue away that may be open for it. */
struct sg_polkit_question *sg_polkit_cancel(struct sg_polkit_question *q);
