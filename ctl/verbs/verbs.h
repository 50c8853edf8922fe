/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The verbs. Each returns the exit status (0 … 255), or negative with the error described. */

#include "ctl/ask/client.h"
#include "ctl/ask/command.h"
#include "ctl/ask/find.h"
#include "ctl/line/options.h"

typedef int sg_verb_fn(const struct sg_invocation *inv, struct sg_error *e);

sg_verb_fn sg_verb_run, sg_verb_submit, sg_verb_list, sg_verb_status, sg_verb_plot, sg_verb_top,
        sg_verb_logs, sg_verb_wait, sg_verb_cancel, sg_verb_control, sg_verb_signal, sg_verb_set,
        sg_verb_history, sg_verb_simulate, sg_verb_events, sg_verb_explain, sg_verb_policy,
        sg_verb_limits, sg_verb_config, sg_verb_adopt, sg_verb_version, sg_verb_help, sg_verb_rerun,
        sg_verb_gpus;

/* Shared by several. */

/* How long a governor that is being restarted is waited for: by those who follow something, and by
 * those who have a command to hand over. */
#define SG_FOLLOW_PATIENCE_USEC (30ULL * 1000000)
#define SG_SUBMIT_PATIENCE_USEC (5ULL * 1000000)
#define SG_LINES_UNLESS_SAID 100 /* of events and decisions */

int sg_verb_dry_run(const struct sg_invocation *inv, struct sg_error *e);
/* Submits it, and prints the numbers of its jobs, or adds them to the list. */
int sg_verb_submit_command(struct sg_client *c, const struct sg_invocation *inv,
                           const struct sg_command *cmd, json_t *list, struct sg_error *e);
/* Such a list; NULL: there is none. */
int sg_verb_print_numbers(json_t *list);
int sg_verb_dry_run_command(struct sg_client *c, const struct sg_invocation *inv,
                            const struct sg_command *cmd, struct sg_error *e);
/* Says what can be foretold of a deadline and of limits; without it the job is submitted all the
 * same. */
void sg_verb_foretell(struct sg_client *c, const struct sg_invocation *inv,
                      const struct sg_command *cmd);
/* The table of jobs: flag as of sg_request_append_filter(). */
int sg_verb_print_table(struct sg_client *c, const struct sg_invocation *inv, const char *flag,
                        const char *columns, struct sg_error *e);
/* ConfigVerify or Reload, and the errors that it answers with. */
int sg_verb_config_check(struct sg_client *c, const struct sg_invocation *inv, const char *member,
                         struct sg_error *e);
void sg_verb_print_help(const struct sg_invocation *inv);
/* "VERB wants ARGUMENTS" */
int sg_verb_usage(const struct sg_invocation *inv, struct sg_error *e);
/* Connects, and finds the jobs that a verb is to work on. What is wrong with the words themselves
 * is said before anybody is asked. */
int sg_verb_find_jobs(const struct sg_wanted *w, struct sg_client *c, struct sg_ids *ids,
                      struct sg_error *e);
/* One of --svg, --csv and --json at most. */
int sg_verb_check_form(const struct sg_invocation *inv, struct sg_error *e);
