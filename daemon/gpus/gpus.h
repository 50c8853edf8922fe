/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The node's GPUs: looked at through schedgov-gpu (edge/gpu/gpu.h), given out to jobs, closed to
 * all others.
 *
 * What a job is given is chosen when its start is decided, is in its row before that is durable, so
 * that the next daemon reads it back before it gives out anything, and counts until its attempt is
 * over and its memory is back. Who holds and uses what, and what is to be done about it, is
 * core/gpu/account.h's; this room feeds it and carries out what it decides. A process in a driver's
 * list is whose its control group says. Nobody is signalled by its pid, but a job through its
 * group.
 *
 * Without a driver there is no process, no timer and no file; /proc/devices is looked at when
 * settings are read, when a job asks for GPUs and when somebody asks how they are.
 */

#include "core/gpu/account.h"
#include "core/gpu/nodes.h"
#include "core/place/device.h"
#include "jobs/live.h"

struct sg_gpus;
struct sg_manager_options;

/* Before any job is loaded; looks from the first reload on. */
int sg_gpus_new(struct sg_gpus **ret, struct sg_manager *m, const struct sg_manager_options *o);
struct sg_gpus *sg_gpus_free(struct sg_gpus *g);
void sg_gpus_reload(struct sg_manager *m); /* other settings are in force */
/* There is a driver, or was one, and Manage= says that GPUs are given out. Else jobs see those that
 * there are. */
bool sg_gpus_managed(const struct sg_manager *m);
/* Somebody wants GPUs, or wants to know of them: looks whether a driver has come. */
void sg_gpus_wake(struct sg_manager *m);

/* What is known */

/* The driver does, at the last look. */
bool sg_gpus_answer(const struct sg_manager *m);

struct sg_gpus_driver {
        enum sg_gpu_driver_state state;
        bool looked;         /* else nothing was heard of it yet */
        uint64_t since_usec; /* realtime; 0 = not known */
        const char *version; /* "" = not known */
        uint64_t cuda;       /* 12040; UNKNOWN */
        const char *message; /* what is wrong, one line; "" = nothing */
};
void sg_gpus_driver(const struct sg_manager *m, struct sg_gpus_driver *ret);
/* Times of the account, as the clock on the wall had them. */
uint64_t sg_gpus_when(uint64_t monotonic_usec);
/* Never NULL; what it says of states and amounts is true while nothing is managed, too. */
const struct sg_gpu_account *sg_gpus_account(const struct sg_manager *m);
/* What may be given out now; NULL: nothing is, here. */
const struct sg_gpu_pool *sg_gpus_pool(const struct sg_manager *m);

/* Of the last look. NULL: it wasn't there any more. */
struct sg_gpus_process {
        uint64_t pid;
        uid_t uid;
        char command[SG_GPU_COMMAND_MAX];
        uint64_t job, attempt; /* 0 = not ours */
};
const struct sg_gpus_process *sg_gpus_process(const struct sg_manager *m, uint64_t pid);

/* What that user is called; NULL: it isn't known, or never had a process on a GPU. */
const char *sg_gpus_user(const struct sg_manager *m, uid_t uid);
/* The device nodes of a GPU of the pool's inventory, as their paths; how many. */
size_t sg_gpus_nodes(const struct sg_manager *m, const struct sg_gpu *gpu,
                     struct sg_gpu_node ret[SG_GPU_NODES_MAX]);

/* drain: nobody gets it from now on; else it is given out again, also if it was unhealthy. done:
 * durable and in force, or why not. -ENOENT: there is none of that name; -EBUSY: another drain is
 * being stored. */
typedef void (*sg_gpus_done)(int result, void *userdata);
int sg_gpus_drain(struct sg_manager *m, const char *id, bool drain, sg_gpus_done done,
                  void *userdata);

/* Jobs */

/* The queue has just named it: says in its row which GPUs it has chosen, and counts them as its
 * own. 0, also if it wants none; -EAGAIN: there is no room for it, after all. */
int sg_gpus_grant(struct sg_live *l);
/* The attempt is over, or was taken back before anything of it ran. */
void sg_gpus_release(struct sg_live *l, bool ran);
/* After a restart: what its row says is its own. */
void sg_gpus_hold(struct sg_live *l);
/* How much it holds, in hundredths of GPUs, as its row says: for the queue's account. */
uint64_t sg_gpus_held(const struct sg_live *l);
/* Its device rules, of those of its class. 0; positive: some of its own can't be told, see
 * sg_gpu_job_devices(). -ENOMEM. */
int sg_gpus_devices(const struct sg_live *l, const struct sg_device_list *class,
                    struct sg_device_list *ret);
/* It runs, and started without any say of ours about GPUs: what it may open, it keeps. */
bool sg_gpus_keeps_devices(const struct sg_live *l);
/* CUDA_VISIBLE_DEVICES and what belongs to it. */
void sg_gpus_environment(const struct sg_live *l, const struct sg_live_env *out);
/* It has some, or asks for some, and nothing keeps others from them. beyond: the backend's bits, or
 * its scope's, of what they can't hold. */
bool sg_gpus_are_open(const struct sg_manager *m, const struct sg_job *j, uint32_t beyond);
/* As the job is told; NULL: none are given out here. */
const char *sg_gpus_visible(const struct sg_live *l);
/* Its attempt begins to start, or ends: looks soon. */
void sg_gpus_hurry(struct sg_manager *m);
