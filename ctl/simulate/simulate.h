/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Policies next to each other on the same computed jobs. */

#include "core/sim/stats.h"
#include "ctl/line/options.h"

struct sg_simulated {
        char name[16];
        struct sg_sim_options options;
        struct sg_sim_stats stats;
        struct sg_sim_summary summary;
};

struct sg_simulation {
        struct sg_trace trace;
        size_t n_instances;
        struct sg_simulated *policies;
        size_t n_policies;
};

void sg_simulation_deinit(struct sg_simulation *s);
/* The trace that the invocation names or asks to make up, of the instances it wants. */
int sg_simulation_load(struct sg_simulation *s, const struct sg_invocation *inv,
                       struct sg_error *e);
/* The same from the jobs that have ended on the node; lines: at most so many of them. */
int sg_simulation_load_history(struct sg_simulation *s, const struct sg_invocation *inv,
                               struct sg_error *e);
/* What --policy knows, in order; NULL behind the last. */
const char *sg_simulation_policy(size_t i, const char **ret_summary);
int sg_simulation_set_policies(struct sg_simulation *s, const struct sg_invocation *inv,
                               struct sg_error *e);
/* Fills the summaries. */
int sg_simulation_run(struct sg_simulation *s, struct sg_error *e);

int sg_simulation_check_columns(const char *list, struct sg_error *e);
int sg_simulation_print_table(struct sg_simulation *s, const struct sg_invocation *inv,
                              struct sg_error *e);
/* Draws the first instance; "-" is stdout. */
int sg_simulation_write_svg(struct sg_simulation *s, const char *path, struct sg_error *e);
int sg_simulation_print_json(const struct sg_simulation *s);
/* Its jobs as a file that simulate reads. */
void sg_simulation_print_trace(const struct sg_simulation *s, bool legend);
