/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gpus and DrainGpu: how the node's GPUs are, as one caller may see them, and that nobody gets one
 * of them. */
#include "api/gpu-view.h"
#include "api/internal.h"
#include "gpus/gpus.h"
#include <errno.h>
#include <string.h>

/* What the view points to. */
struct room {
        struct sg_manager *manager;
        const struct sg_caller *caller;
        struct sg_gpu_view view;
        struct sg_gpu_view_gpu *gpus;
        struct sg_gpu_view_job *jobs;
        struct sg_gpu_view_process *processes;
        struct sg_gpu_node (*nodes)[SG_GPU_NODES_MAX];
        const char *(*paths)[SG_GPU_NODES_MAX];
        size_t n_jobs, n_processes;
};

static void room_deinit(struct room *room)
{
        free(room->gpus);
        free(room->jobs);
        free(room->processes);
        free(room->nodes);
        free(room->paths);
}

static int room_init(struct room *room, size_t n)
{
        const struct sg_gpu_pool *pool = sg_gpu_account_pool(sg_gpus_account(room->manager));
        size_t processes = 0;

        for (size_t i = 0; i < n; i++)
                processes += sg_gpu_account_at(sg_gpus_account(room->manager), i)->gpu->n_processes;
        room->gpus = calloc(n + 1, sizeof(*room->gpus));
        room->jobs = calloc(pool->n_holds + 1, sizeof(*room->jobs));
        room->processes = calloc(processes + 1, sizeof(*room->processes));
        room->nodes = calloc(n + 1, sizeof(*room->nodes));
        room->paths = calloc(n + 1, sizeof(*room->paths));
        return room->gpus && room->jobs && room->processes && room->nodes && room->paths ? 0
                                                                                         : -ENOMEM;
}

/* --- jobs */

static const struct sg_live *job_for(const struct room *room, uint64_t n)
{
        const struct sg_live *l = n > 0 ? sg_manager_find(room->manager, n) : NULL;

        return l && sg_caller_may_see(room->manager, room->caller, l->job.uid) ? l : NULL;
}

static void put_job(struct room *room, const struct sg_gpu_hold *h)
{
        const struct sg_live *l = job_for(room, h->job);
        struct sg_gpu_view_job *job = &room->jobs[room->n_jobs++];
        struct sg_gpu_use use;

        *job = (struct sg_gpu_view_job){
                .user = l ? l->job.user : NULL,
                .share = h->share,
                .memory_limit = h->declared > 0 ? h->declared : SG_GPU_UNKNOWN,
                .memory = h->used,
                .instance = h->instance == SG_GPU_NONE ? SG_GPU_NO_INSTANCE : h->instance,
        };
        if (l)
                sg_job_id_format(job->id, &l->job.key, room->manager->node.name);
        if (sg_gpu_account_use(sg_gpus_account(room->manager), h->job, &use))
                job->idle_usec = use.idle_usec == SG_GPU_UNKNOWN ? 0 : use.idle_usec;
}

static void put_jobs(struct room *room, struct sg_gpu_view_gpu *gpu, size_t place)
{
        const struct sg_gpu_pool *pool = sg_gpu_account_pool(sg_gpus_account(room->manager));

        gpu->jobs = &room->jobs[room->n_jobs];
        for (size_t i = 0; i < pool->n_holds; i++)
                if (pool->holds[i].gpu == place)
                        put_job(room, &pool->holds[i]);
        gpu->n_jobs = (size_t)(&room->jobs[room->n_jobs] - gpu->jobs);
}

/* --- processes */

/* The id of the first of its GPU's jobs that is this one. */
static const char *id_of(const struct sg_gpu_view_gpu *gpu, const struct room *room, uint64_t n)
{
        const struct sg_live *l = job_for(room, n);
        char id[SG_JOB_ID_MAX];

        if (!l)
                return NULL;
        sg_job_id_format(id, &l->job.key, room->manager->node.name);
        for (size_t i = 0; i < gpu->n_jobs; i++)
                if (strcmp(gpu->jobs[i].id, id) == 0)
                        return gpu->jobs[i].id;
        return NULL;
}

static void put_process(struct room *room, struct sg_gpu_view_gpu *gpu,
                        const struct sg_gpu_process *process)
{
        const struct sg_gpus_process *known = sg_gpus_process(room->manager, process->pid);
        struct sg_gpu_view_process *p = &room->processes[room->n_processes++];

        *p = (struct sg_gpu_view_process){.process = process};
        if (!known)
                return;
        p->user = sg_gpus_user(room->manager, known->uid);
        if (known->command[0] &&
            (room->caller->uid == known->uid || sg_caller_is_admin(room->manager, room->caller)))
                p->command = known->command;
        p->job = id_of(gpu, room, known->job);
}

static void put_processes(struct room *room, struct sg_gpu_view_gpu *gpu, const struct sg_gpu *from)
{
        gpu->processes = &room->processes[room->n_processes];
        for (size_t i = 0; gpu->fresh && i < from->n_processes; i++)
                put_process(room, gpu, &from->processes[i]);
        gpu->n_processes = (size_t)(&room->processes[room->n_processes] - gpu->processes);
}

/* --- one GPU */

static void put_nodes(struct room *room, struct sg_gpu_view_gpu *gpu, size_t i)
{
        gpu->n_nodes = sg_gpus_nodes(room->manager, gpu->gpu, room->nodes[i]);
        for (size_t k = 0; k < gpu->n_nodes; k++)
                room->paths[i][k] = room->nodes[i][k].path;
        gpu->nodes = room->paths[i];
}

static void put_gpu(struct room *room, size_t i)
{
        const struct sg_gpu_status *s = sg_gpu_account_at(sg_gpus_account(room->manager), i);
        struct sg_gpu_view_gpu *gpu = &room->gpus[i];

        *gpu = (struct sg_gpu_view_gpu){
                .gpu = s->gpu,
                .fresh = s->fresh,
                .state = sg_gpu_state_to_string(s->state),
                .reason = s->reason[0] ? s->reason : NULL,
                .mode = sg_gpu_mode_to_string(s->mode),
                .since_usec = sg_gpus_when(s->since_usec),
                .promised = s->promised,
                .free = s->free,
                .foreign = s->foreign,
                .unattributed = s->unattributed,
        };
        put_nodes(room, gpu, i);
        put_jobs(room, gpu, s->place);
        put_processes(room, gpu, s->gpu);
}

static void put_driver(struct room *room)
{
        struct sg_gpu_view *v = &room->view;
        struct sg_gpus_driver d;

        sg_gpus_driver(room->manager, &d);
        v->managed = room->manager->settings->gpu.manage;
        v->driver = d.looked ? d.state : SG_GPU_DRIVER_ABSENT;
        v->version = d.version[0] ? d.version : NULL;
        v->message = d.message[0] ? d.message : NULL;
        v->cuda = d.cuda;
        v->since_usec = d.since_usec;
}

static int make(struct room *room)
{
        const struct sg_gpu_account *a = sg_gpus_account(room->manager);
        size_t n = sg_gpu_account_n(a);
        int r;

        put_driver(room);
        r = room_init(room, n);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                put_gpu(room, i);
        room->view.gpus = room->gpus;
        room->view.n = n;
        room->view.fragmentation_pm = sg_gpu_fragmentation_pm(sg_gpu_account_pool(a));
        room->view.inventory = sg_gpu_account_pool(a)->inventory;
        return 0;
}

static int document(struct sg_manager *m, const struct sg_caller *caller, char **ret)
{
        _cleanup_(room_deinit) struct room room = {.manager = m, .caller = caller};
        int r;

        sg_gpus_wake(m);
        r = make(&room);
        return r < 0 ? r : sg_json_dump(sg_json_gpus(&room.view), ret);
}

/* --- verbs */

void sg_gpu_now(const struct sg_live *live, struct sg_gpu_now *ret)
{
        struct sg_gpu_use use;

        *ret = (struct sg_gpu_now){SG_UNLIMITED, SG_UNLIMITED};
        if (!live || !sg_gpu_account_use(sg_gpus_account(live->manager), live->job.key.n, &use))
                return;
        ret->memory_bytes = use.memory_bytes;
        ret->utilization = use.utilization;
}

int sg_api_gpus(struct sg_call *call, struct sg_answer *a)
{
        const struct sg_client *client = sg_call_client(call);
        _cleanup_free_ char *doc = NULL;
        int r;

        if (!client)
                return -ENOTCONN;
        r = document(call->manager, &client->caller, &doc);
        (void)a;
        return r < 0 ? r : sg_call_send_document(call, doc);
}

static void on_drained(int result, void *userdata)
{
        _cleanup_(sg_call_unrefp) struct sg_call *call = userdata;

        if (result < 0)
                sg_call_fail(call, result);
        else
                sg_call_done(call);
}

int sg_api_drain_gpu(struct sg_call *call, struct sg_answer *a)
{
        _cleanup_(sg_request_deinit) struct sg_request q;
        int r;

        sg_request_init(&q, call->verb);
        r = sg_authorize_node(call, "drain GPUs", a);
        if (r <= 0)
                return r;
        r = sg_call_read(call, &q, a);
        if (r < 0)
                return r;
        r = sg_gpus_drain(call->manager, q.id ?: "", q.number, on_drained, sg_call_ref(call));
        if (r >= 0)
                return 0;
        sg_call_unref(call);
        if (r == -EBUSY)
                return sg_refuse(a, SG_ANSWER_BUSY, "gpu",
                                 "what was asked before is being stored; try again");
        if (r != -ENOENT)
                return r;
        return sg_refuse(a, SG_ANSWER_INVALID, "gpu",
                         "there is no GPU '%.100s'\n`schedctl gpus` shows those that there are",
                         q.id ?: "");
}
