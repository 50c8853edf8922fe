/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job was to run, as the governor keeps it (DescribeCommand of org.schedgov1(5)). */

#include "ctl/ask/client.h"

struct sg_kept {
        sd_bus_message *reply; /* all of the following is in it */
        char **argv;           /* NULL-terminated; the list is ours */
        const char *script;
        size_t script_size; /* 0 = none */
        const char *workdir;
};

int sg_kept_get(struct sg_kept *ret, struct sg_client *c, const char *id, struct sg_error *e);
void sg_kept_deinit(struct sg_kept *k);

/* Enters the options, to be read pair by pair; anew with each call. */
int sg_kept_enter_options(const struct sg_kept *k);

/* As a schedgov.command/1; NULL: no memory. */
json_t *sg_kept_document(const struct sg_kept *k, const char *id);
