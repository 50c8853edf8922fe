/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room share. */

#include "api/api.h"
#include "api/documents.h"
#include "api/submission.h"

extern const sd_bus_vtable sg_manager_vtable[];
extern const sd_bus_vtable sg_job_vtable[];
/* Finds the object behind /org/schedgov1/job/ID, and lists those that live. */
int sg_api_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata,
                    void **ret_found, sd_bus_error *error);
int sg_api_list_job_paths(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
                          sd_bus_error *error);

void sg_api_emit(struct sg_manager *m, const struct sg_job *job);
void sg_callers_disconnect(struct sg_manager *m, struct sg_client *c);
/* The job is of `run`, and of this connection; and that asks to be handed it: false, it isn't its.
 */
int sg_runner_set(struct sg_live *l, struct sg_client *c);
bool sg_runner_attach(struct sg_live *l, const struct sg_client *c, sd_bus_message *call);

void sg_authorizer_forget(struct sg_authorizer *a, const struct sg_client *c); /* it has gone */

/* Who asks */

/* Who sent a message, on a connection of their own or on a message bus. */
struct sg_client *sg_api_client(struct sg_manager *m, sd_bus_message *call);
bool sg_caller_is_admin(const struct sg_manager *m, const struct sg_caller *c);
bool sg_caller_owns(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid);
/* Whether a job of uid may be listed for this caller. */
bool sg_caller_may_see(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid);
bool sg_caller_sees_all(const struct sg_manager *m, const struct sg_caller *c);

/* authorize.c: may the caller? 1: yes. 0: polkit is being asked, and the call will be handled again
 * from its start. Negative: no, with *error set. `verb` is for messages: "cancel". */
int sg_authorize_submit(struct sg_manager *m, sd_bus_message *call, const char *verb,
                        sd_bus_error *error);
int sg_authorize_job(struct sg_manager *m, sd_bus_message *call, const struct sg_job *job,
                     const char *verb, sd_bus_error *error);
int sg_authorize_node(struct sg_manager *m, sd_bus_message *call, const char *verb,
                      sd_bus_error *error);
/* What a handler returns for the two latter: sd-bus takes 0 for "not handled". */
static inline int sg_unauthorized(int r)
{
        return r < 0 ? r : 1;
}

/* sg_adopted_check(), whose refusal becomes *error. */
int sg_api_check_adopted(const struct sg_live *l, enum sg_adoption needed, const char *verb,
                         sd_bus_error *error);

int sg_api_reply_document(struct sg_manager *m, sd_bus_message *call, const char *doc);

/* Calls back for each entry of an a{sv}, with the message at its value, until one fails. */
typedef int (*sg_entry_cb)(const char *key, sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_read_dict(sd_bus_message *m, sg_entry_cb cb, void *userdata, sd_bus_error *error);

/* Refuses: there is no such class, but these. */
int sg_api_no_class(const struct sg_manager *m, const char *name, sd_bus_error *error);

int sg_api_submit(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_dry_run(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_run(sd_bus_message *m, void *userdata, sd_bus_error *error);
/* set.c: of a job whose owner asks. 1, or negative with *error set. */
int sg_api_set(sd_bus_message *call, struct sg_live *l, sd_bus_error *error);
int sg_api_busy(const struct sg_live *l, sd_bus_error *error); /* another change is under way */
int sg_api_attach(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* --- queries */

int sg_api_list_jobs(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_describe_jobs(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_describe_job(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_describe_series(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_wait_job(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_list_events(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_open_log(sd_bus_message *m, void *userdata, sd_bus_error *error);

/* Adds a call to those answered later. */
int sg_waiter_add(struct sg_live *l, struct sg_client *c, sd_bus_message *call, bool acknowledge);

int sg_api_list_policies(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_explain(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_open_decisions(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_set_policy(sd_bus_message *m, void *userdata, sd_bus_error *error);
