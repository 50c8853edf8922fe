/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The manager owns every object of the daemon. Events (a call on the bus, a reply of the store, a
 * shim's word, a timer) come in through its functions; it changes state, asks core what to do, and
 * tells the edges to do it.
 *
 * Rules that hold everywhere in it: a decision is durable before it is acted on or answered; a job
 * that isn't final stays in `jobs`; a job leaves `jobs` only after its end is durable and its shim
 * is gone.
 */

#include "core/account/ledger.h"
#include "core/settings/settings.h"
#include "edge/bus/names.h"
#include "edge/bus/server.h"
#include "edge/bus/service.h"
#include "edge/bus/users.h"
#include "edge/cgroup/cgroup.h"
#include "edge/config/configuration.h"
#include "edge/kernel/node.h"
#include "edge/reader/readers.h"
#include "edge/store/store.h"
#include "jobs/live.h"
#include <systemd/sd-event.h>

/* Has to outlive the manager. */
struct sg_manager_options {
        const char *state_dir, *socket, *backend, *node_name;
        struct sg_config_place config;
        bool user;              /* below the user's own service manager, for that user */
        bool message_bus;       /* serve the API on the system's (user: the user's) bus, too */
        const char *launcher;   /* schedgov-launch's socket; NULL: shims are forked by us */
        const char *gpu_worker; /* the socket that starts schedgov-gpu; NULL: it is a child */
        bool shared; /* other daemons may use the same service manager: unit names differ */
};

struct sg_manager {
        sd_event *event;
        struct sg_ledger *ledger; /* what each user makes us hold */
        struct sg_node node;
        struct sg_store *store;
        struct sg_backend *backend;
        struct sg_config_place config_place;
        struct sg_configuration *configuration;
        const struct sg_settings *settings; /* in force: sg_configuration_settings() */
        struct sg_jobs *jobs;
        struct sg_users *users;
        struct sg_names *names;
        struct sg_readers *readers;
        struct sg_monitor *monitor;
        struct sg_loop *loop;
        struct sg_metrics *metrics;
        struct sg_gpus *gpus;
        char *gpu_program;          /* schedgov-gpu; NULL: it isn't installed */
        char *preload;              /* what makes threads follow; NULL: it isn't installed */
        struct sg_adopter *adopter; /* NULL: no cgroup tree to be seen */
        struct sg_bus_server *server;
        struct sg_authorizer *authorizer;
        struct sg_bus_service *service; /* NULL: no message bus is asked for */
        gid_t admin_gid;                /* group schedgov, or (gid_t)−1 */
        uint64_t started_usec;          /* monotonic */
        bool stopping;                  /* what was committed last is for the next daemon */
};

/* What the event loop ends with when the daemon is to start over in place. */
#define SG_START_OVER 1

/* Errors that another start doesn't mend. No call of the system fails with it. */
#define SG_BAD_CONFIG (-EDOM)

/* manager.c: life of the object */

/* Opens all, recovers; on failure *ret_why says in one line what to do. SG_BAD_CONFIG: the errors
 * have been logged. */
int sg_manager_new(struct sg_manager **ret, sd_event *event, const struct sg_manager_options *o,
                   char **ret_why);
struct sg_manager *sg_manager_free(struct sg_manager *m);
/* Each replaces the settings whole and tells all parts of the daemon that have to do with them, or
 * fails as sg_configuration_reload() and sg_configuration_change() do. */
int sg_manager_reload(struct sg_manager *m, struct sg_config_errors *errors);
int sg_manager_set_policy(struct sg_manager *m, const char *class, char *const *assignments,
                          char **ret_why);

/* A named point at which tests kill us (or the store); see base/fault.h. */
void sg_manager_fault(struct sg_manager *m, const char *point);
