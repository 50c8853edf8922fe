/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room share: what each verb does (verbs.c), and who may have it done. */

#include "api/api.h"
#include "api/call.h"
#include "api/documents.h"
#include "api/submission.h"

/* Answered, or to be answered later: not negative. Negative: the call is to be refused, with the
 * answer or, where that says nothing, the errno. l: of a verb that is of a live job. */
int sg_api_handle(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
/* The live job of that id, as far as this client (NULL: it has gone) may know of it. */
int sg_api_find_live(struct sg_manager *m, const struct sg_client *c, const char *id,
                     struct sg_live **ret, struct sg_answer *a);
bool sg_api_lists(const struct sg_manager *m, const struct sg_client *c, const struct sg_live *l);

void sg_api_emit(struct sg_manager *m, const struct sg_job *job); /* dbus-signals.c */
void sg_callers_disconnect(struct sg_manager *m, struct sg_client *c);
/* The job is of `run`, and of this connection; and that asks to be handed it: false, it isn't its.
 */
int sg_runner_set(struct sg_live *l, struct sg_client *c);
bool sg_runner_attach(struct sg_live *l, struct sg_call *call);

void sg_authorizer_forget(struct sg_authorizer *a, const struct sg_client *c); /* it has gone */

/* Who asks */

struct sg_who sg_call_who(const struct sg_call *call); /* for events */
bool sg_caller_is_admin(const struct sg_manager *m, const struct sg_caller *c);
bool sg_caller_owns(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid);
/* Whether a job of uid may be listed for this caller. */
bool sg_caller_may_see(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid);
bool sg_caller_sees_all(const struct sg_manager *m, const struct sg_caller *c);

/* authorize.c: may the caller? 1: yes. 0: polkit is being asked, and the call will be handled again
 * from its start. Negative: no, with a refusal. `verb` is for messages: "cancel". */
int sg_authorize_submit(struct sg_call *call, const char *verb, struct sg_answer *a);
int sg_authorize_job(struct sg_call *call, const struct sg_job *job, const char *verb,
                     struct sg_answer *a);
int sg_authorize_node(struct sg_call *call, const char *verb, struct sg_answer *a);

/* Refusals: there is no such class, but these; another change of the job is under way. */
int sg_api_no_class(const struct sg_manager *m, const char *name, struct sg_answer *a);
int sg_api_busy(const struct sg_live *l, struct sg_answer *a);

/* How it ended is what WaitJob is answered with. */
int sg_api_reply_end(struct sg_call *call, const struct sg_job *j);
/* Adds a call to those answered later: as soon as it is durable that the job is to end, or with its
 * end. 0, or negative with a refusal. */
int sg_waiter_add(struct sg_live *l, struct sg_call *call, bool acknowledge, struct sg_answer *a);

/* manager.c: ConfigVerify and Reload. */
int sg_api_reply_errors(struct sg_call *call, const struct sg_config_errors *errors);
/* names.c: answers with these, and with those users and groups of them that aren't there. Takes the
 * errors. */
int sg_api_verify_names(struct sg_call *call, const struct sg_settings *settings,
                        struct sg_config_errors *errors);

/* Verbs, as sg_api_handle() calls them. */

int sg_api_submit(struct sg_call *call, struct sg_answer *a); /* DryRun, too */
int sg_api_run(struct sg_call *call, struct sg_answer *a);
int sg_api_attach(struct sg_call *call, struct sg_answer *a);
int sg_api_list(struct sg_call *call, struct sg_answer *a); /* ListJobs, DescribeJobs */
int sg_api_describe_job(struct sg_call *call, struct sg_answer *a);
int sg_api_describe_command(struct sg_call *call, struct sg_answer *a);
int sg_api_describe_series(struct sg_call *call, struct sg_answer *a);
int sg_api_wait_job(struct sg_call *call, struct sg_answer *a);
int sg_api_open_log(struct sg_call *call, struct sg_answer *a);
int sg_api_list_events(struct sg_call *call, struct sg_answer *a);
int sg_api_explain(struct sg_call *call, struct sg_answer *a);
int sg_api_list_policies(struct sg_call *call, struct sg_answer *a);
int sg_api_describe_limits(struct sg_call *call, struct sg_answer *a);
int sg_api_set_policy(struct sg_call *call, struct sg_answer *a);
int sg_api_open_decisions(struct sg_call *call, struct sg_answer *a);
int sg_api_subscribe(struct sg_call *call, struct sg_answer *a);
int sg_api_describe(struct sg_call *call, struct sg_answer *a);
int sg_api_reload(struct sg_call *call, struct sg_answer *a);
int sg_api_config_cat(struct sg_call *call, struct sg_answer *a);
int sg_api_config_verify(struct sg_call *call, struct sg_answer *a);
int sg_api_gpus(struct sg_call *call, struct sg_answer *a);
int sg_api_drain_gpu(struct sg_call *call, struct sg_answer *a);
int sg_api_adopt(struct sg_call *call, struct sg_answer *a);

int sg_api_cancel(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_hold(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_release(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_suspend(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_resume(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_requeue(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_signal(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
int sg_api_set(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
