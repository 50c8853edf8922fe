/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How `top` gets what it shows, without ever waiting for it: a round is the node's document, those
 * of its jobs, and, of jobs that are new, their series.
 */

#include "ctl/ask/pages.h"
#include "ctl/top/model.h"

#define SG_ROUNDS_SERIES 16 /* asked for at a time */

struct sg_rounds {
        struct sg_client *client;
        const struct sg_invocation *inv;
        bool with_series;

        /* private */
        struct sg_pages pages; /* .reply is set when one has come */
        bool paging;
        sd_bus_slot *slot;
        sd_bus_message *status;
        json_t *jobs;
        struct sg_rounds_series {
                char id[128];
                sd_bus_slot *slot;
                sd_bus_message *reply;
        } series[SG_ROUNDS_SERIES];
        size_t n_series;
        bool updated;
};

/* Asks; the answers come while the connection is processed. */
int sg_rounds_start(struct sg_rounds *r, struct sg_error *e);
/* Takes what has come. 1: the round is over, and the model up to date; 0: not yet. */
int sg_rounds_advance(struct sg_rounds *r, struct sg_top *model, struct sg_error *e);
/* Forgets what is under way. */
void sg_rounds_stop(struct sg_rounds *r);
