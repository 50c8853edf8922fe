/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room share. */

#include "core/gpu/keep.h"
#include "core/gpu/nodes.h"
#include "edge/gpu/gpu.h"
#include "gpus/gpus.h"
#include "manager.h"

struct sg_gpu_drain;

struct sg_gpu_mapping { /* what JobMapping= holds, as it was written last */
        struct sg_gpu_mapped *files;
        size_t n;
        bool looked; /* what was left there has been removed */
        bool failed;
};

struct sg_gpus {
        struct sg_manager *manager;
        bool user; /* a user's own governor: what it gives out isn't closed to others */

        /* keeper.c: the worker */
        struct sg_gpu_client *client;
        struct sg_gpu_keep keep;
        sd_event_source *timer;
        uint64_t every_usec;      /* as it was told last; 0 = it wasn't */
        uint64_t heard_usec;      /* the driver answered last; 0 = it never did */
        uint64_t found_usec;      /* whether there is one was looked at last */
        uint64_t hurry_usec;      /* until then it looks often */
        bool managed;             /* there is a driver, or was one */
        bool complained;          /* the log says that the driver is out of order */
        char **exclude, **ignore; /* as in the settings, word by word */

        /* look.c: what is known */
        struct sg_gpu_account *account;
        struct sg_gpu_inventory last; /* its gpus are ours */
        uint64_t since_usec;          /* realtime: since when the driver is as it is */
        bool looked;
        struct sg_gpu_devices devices;
        struct sg_device_guard *guard;
        struct sg_gpus_process *processes; /* by pid */
        size_t n_processes;

        struct sg_list users; /* users.c */
        size_t n_users;
        struct sg_gpu_drain *drain;
        struct sg_gpu_mapping mapping;
};

/* keeper.c */
int sg_gpus_keep(struct sg_gpus *g, const struct sg_manager_options *o);
void sg_gpus_let_go(struct sg_gpus *g);
/* Does what is due, and sets the timer. */
void sg_gpus_attend(struct sg_gpus *g);
/* Looks whether there is a driver. */
void sg_gpus_find_driver(struct sg_gpus *g);

/* look.c: takes an inventory in, and does what comes of it. Its gpus are ours from now on. */
void sg_gpus_take_look(struct sg_gpus *g, struct sg_gpu_inventory *inventory);
/* No worker says anything: the driver is in this state, for this reason. */
void sg_gpus_take_silence(struct sg_gpus *g, enum sg_gpu_driver_state state, const char *message);

/* What jobs are kept from follows what the kernel says of device nodes. */
void sg_gpus_guard(struct sg_gpus *g);

/* users.c: a process of that user is on a GPU. */
void sg_gpus_meet_user(struct sg_gpus *g, uid_t uid);
void sg_gpus_forget_users(struct sg_gpus *g);

/* decide.c */
void sg_gpus_carry_out(struct sg_gpus *g);

/* drain.c */
int sg_gpu_drain_new(struct sg_gpu_drain **ret, struct sg_gpus *g);
struct sg_gpu_drain *sg_gpu_drain_free(struct sg_gpu_drain *d);
/* A GPU's state is another one: what was found out about it is kept until a reboot. */
void sg_gpu_drain_note(struct sg_gpu_drain *d);

/* mapping.c: JobMapping= follows who holds what. */
void sg_gpus_map(struct sg_gpus *g);
void sg_gpu_mapping_deinit(struct sg_gpu_mapping *m);

/* count.c: a look has been fed to the account, and is about to take the place of the last. */
void sg_gpus_count(struct sg_gpus *g, const struct sg_gpu_inventory *now);
