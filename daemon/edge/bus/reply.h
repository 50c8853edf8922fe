/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Replies as D-Bus has them: what is put in becomes the message's values in that order; keys are
 * dropped, but for those of options. */

#include "core/ask/reply.h"
#include <systemd/sd-bus.h>

#define SG_BUS_ROW_MAX 32

struct sg_bus_reply {
        struct sg_reply reply; /* first, so that either is found from the other */
        sd_bus_message *message;
        char row[SG_BUS_ROW_MAX]; /* the types of a row of the list that is open */
        bool options;             /* an a{sv} is open */
};

/* Answers to that call. */
int sg_bus_reply_init(struct sg_bus_reply *r, sd_bus_message *call);
void sg_bus_reply_deinit(struct sg_bus_reply *r);
