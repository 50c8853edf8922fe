/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The bus API's own room: org.schedgov1(5) describes it. Handlers find out who asks and what for,
 * and call the manager; an answer that has to wait for the disk is sent from a callback that holds
 * the message.
 */

#include "manager.h"
#include <jansson.h>

extern const sd_bus_vtable sg_manager_vtable[];
extern const sd_bus_vtable sg_job_vtable[];
/* Finds the object behind /org/schedgov1/job/ID, and lists those that live. */
int sg_api_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata,
                    void **ret_found, sd_bus_error *error);
int sg_api_list_job_paths(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
                          sd_bus_error *error);

/* api.c: what the bus calls */

int sg_api_publish(struct sg_manager *m, sd_bus *bus); /* adds the objects to a connection */
void sg_api_disconnect(struct sg_manager *m, struct sg_client *c);
void sg_api_emit(struct sg_manager *m, const struct sg_job *job);
/* callers.c: what jobs tell */
extern const struct sg_live_calls sg_api_live_calls;
void sg_callers_disconnect(struct sg_manager *m, struct sg_client *c);
/* The job is of `run`, and of this connection; and that asks to be handed it: false, it isn't its.
 */
int sg_runner_set(struct sg_live *l, struct sg_client *c);
bool sg_runner_attach(struct sg_live *l, const struct sg_client *c, sd_bus_message *call);

/* authorize.c: calls whose right is being asked about */

int sg_authorizer_new(struct sg_authorizer **ret);
struct sg_authorizer *sg_authorizer_free(struct sg_authorizer *a);
void sg_authorizer_forget(struct sg_authorizer *a, const struct sg_client *c); /* it has gone */

/* Who asks */

/* Who sent a message, on a connection of their own or on a message bus. */
struct sg_client *sg_api_client(struct sg_manager *m, sd_bus_message *call);
bool sg_caller_is_admin(const struct sg_manager *m, const struct sg_caller *c);
bool sg_caller_owns(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid);
/* Whether a job of uid may be listed for this caller. */
bool sg_caller_may_see(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid);

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

/* Calls back for each entry of an a{sv}, with the message at its value, until one fails. */
typedef int (*sg_entry_cb)(const char *key, sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_read_dict(sd_bus_message *m, sg_entry_cb cb, void *userdata, sd_bus_error *error);

/* Refuses: there is no such class, but these. */
int sg_api_no_class(const struct sg_manager *m, const char *name, sd_bus_error *error);

/* What is asked */

/* A request to run something, as far as the message says; then made complete by class and user. */
struct sg_submission {
        struct sg_manager *manager;
        sd_bus_message *call;
        struct sg_job job;
        uint64_t asked;                   /* bits of enum sg_ask: what the request sets itself */
        uint64_t array_first, array_last; /* SG_UNLIMITED = no array */
        uint64_t count;
        char *workdir, *on_end;
        char *command; /* as policies compare it; what lists show of it is the job's */
        char token[SG_TOKEN_MAX];
        char eval_goal[32]; /* "min", "max" */
        uint64_t umask;
        uint64_t no_wait;
        struct sg_record spec;
        bool dry_run;
};

enum sg_ask {
        SG_ASK_CPU_WEIGHT = 1 << 0,
        SG_ASK_CPU_QUOTA = 1 << 1,
        SG_ASK_CPUS = 1 << 2,
        SG_ASK_MEMORY_HIGH = 1 << 3,
        SG_ASK_MEMORY_MAX = 1 << 4,
        SG_ASK_TASKS = 1 << 5,
        SG_ASK_IO_WEIGHT = 1 << 6,
        SG_ASK_TIME_LIMIT = 1 << 7,
        SG_ASK_SWAP_MAX = 1 << 8,
        SG_ASK_IO_READ = 1 << 9,
        SG_ASK_IO_WRITE = 1 << 10,
};

int sg_submission_new(struct sg_submission **ret, struct sg_manager *m, sd_bus_message *call);
struct sg_submission *sg_submission_free(struct sg_submission *s);
SG_DEFINE_CLEANUP(struct sg_submission *, sg_submission_free)
/* Reads the a{sv}; -EINVAL with *error set for anything that isn't understood or out of range. */
int sg_submission_read_options(struct sg_submission *s, sd_bus_message *m, sd_bus_error *error);
/* Where its progress is read from; a path becomes absolute. -EINVAL with *error set. */
int sg_submission_check_progress(struct sg_submission *s, sd_bus_error *error);
/* argv, script and environment, into the spec. */
int sg_submission_read_command(struct sg_submission *s, sd_bus_message *m, sd_bus_error *error);
/* What lists show of it, and the name that a job has without --name; size 0: it is a script. */
int sg_submission_show_command(struct sg_submission *s, const char *argv, size_t size);
/* A block is strings, each with its NUL, as in /proc/PID/cmdline:
 * they may hold any byte but that. */
bool sg_block_is_whole(const char *block, size_t size);
/* sg_entry_cb of a submission: the value of one key, into its field and `asked`; and of what may
 * change later. */
int sg_option_read(const char *key, sd_bus_message *m, void *submission, sd_bus_error *error);
int sg_option_read_live(const char *key, sd_bus_message *m, void *submission, sd_bus_error *error);
/* Class defaults where nothing was asked. */
void sg_limits_complete(struct sg_limits *l, uint64_t asked, const struct sg_class *class);
int sg_limits_check_cpus(const struct sg_limits *l, sd_bus_error *error); /* of themselves */
/* -EINVAL with *error for what the class doesn't allow or this node never has. */
int sg_limits_check(struct sg_limits *l, uint64_t asked, const struct sg_class *class,
                    const struct sg_settings *settings, const struct sg_node *node,
                    sd_bus_error *error);

/* What was read is completed and stored, and its call answered, when the user's name is known,
 * which is nearly always at once. Owns s from here on. 1, or negative and the call is to be
 * refused. */
int sg_submission_go_on(struct sg_submission *s);

int sg_api_submit(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_dry_run(sd_bus_message *m, void *userdata, sd_bus_error *error);
int sg_api_run(sd_bus_message *m, void *userdata, sd_bus_error *error);
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

/* --- documents */

/* A job's document (schedgov.job/1), a heap string; live: NULL for one that has ended. `full`: its
 * owner asks. */
int sg_job_document(struct sg_manager *m, const struct sg_job *j, struct sg_live *live, bool full,
                    char **ret);
/* Why it has what it has (schedgov.explanation/1). */
int sg_explain_document(struct sg_manager *m, const struct sg_job *j, struct sg_live *live,
                        char **ret);
int sg_status_document(struct sg_manager *m, char **ret);
/* What a job did over time (schedgov.series/1). */
int sg_series_document(struct sg_manager *m, const struct sg_job_key *key, char **ret);
/* Drops o. NULL, which is what jansson makes of too little memory: -ENOMEM. */
int sg_json_dump(json_t *o, char **ret);
/* Parts of these: what was measured. */
json_t *sg_json_number(uint64_t v); /* SG_UNLIMITED is null */
json_t *sg_json_usage(const struct sg_job *j, const struct sg_live *live);
json_t *sg_json_progress(const struct sg_job *j, const struct sg_live *live, bool full);
json_t *sg_json_share(const struct sg_live *live);
json_t *sg_json_load(const struct sg_manager *m);
json_t *sg_json_links(const struct sg_manager *m);
/* The reason as it is shown: a waiting job's is found out now. */
const char *sg_job_reason_now(const struct sg_job *j, struct sg_live *live, char *buf, size_t size);
