/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a look at the GPUs brings: whose the processes are, what the kernel says of device nodes,
 * and then what the account makes of it.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/common/process.h"
#include "edge/gpu/devices.h"
#include "gpus/internal.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

/* Processes that are looked at in one look; others are nobody's. Reading what /proc has of one
 * takes about 30 µs. */
#define LOOKS_MAX 512U

/* --- processes */

static int compare_pids(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return x < y ? -1 : x > y;
}

/* All that the driver lists, each once, in order; they are the caller's. */
static int list_pids(const struct sg_gpu_inventory *inventory, uint64_t **ret, size_t *ret_n)
{
        uint64_t *pids;
        size_t n = 0, unique = 0;

        for (size_t i = 0; i < inventory->n; i++)
                n += inventory->gpus[i].n_processes;
        pids = calloc(n + 1, sizeof(*pids));
        if (!pids)
                return -ENOMEM;
        n = 0;
        for (size_t i = 0; i < inventory->n; i++)
                for (size_t k = 0; k < inventory->gpus[i].n_processes; k++)
                        pids[n++] = inventory->gpus[i].processes[k].pid;
        qsort(pids, n, sizeof(*pids), compare_pids);
        for (size_t i = 0; i < n; i++)
                if (unique == 0 || pids[i] != pids[unique - 1])
                        pids[unique++] = pids[i];
        *ret = pids;
        *ret_n = unique;
        return 0;
}

/* Those whose processes there may be: with groups of ours, or adopted. */
struct candidates {
        const struct sg_live **jobs;
        size_t n;
};

static int find_candidates(const struct sg_manager *m, struct candidates *ret)
{
        const struct sg_live *l;
        size_t n = 0;

        sg_list_foreach (l, &m->jobs->all, link)
                n += l->groups.scope || l->job.adopted;
        ret->jobs = calloc(n + 1, sizeof(*ret->jobs));
        if (!ret->jobs)
                return -ENOMEM;
        sg_list_foreach (l, &m->jobs->all, link)
                if (l->groups.scope || l->job.adopted)
                        ret->jobs[ret->n++] = l;
        return 0;
}

static bool is_of(const struct sg_live *l, pid_t pid, const struct sg_process_look *look)
{
        size_t n;

        if (sg_live_membership(l, look->group, look->group_v1) == SG_MEMBER_JOB)
                return true;
        if (l->job.adopted)
                return false;
        (void)sg_scope_dirs(l->groups.scope, &n);
        /* `observe` has no groups, and asks for the process's ancestors. */
        return n == 0 && sg_scope_holds(l->groups.scope, pid, true) > 0;
}

/* False: it has gone. A pid that the kernel can't have is another namespace's. */
static bool look_at(const struct candidates *c, uint64_t pid, struct sg_gpus_process *ret)
{
        struct sg_process_look look;

        if (pid > INT32_MAX || sg_process_look(&look, (pid_t)pid, "memory") < 0)
                return false;
        *ret = (struct sg_gpus_process){.pid = pid, .uid = look.uid};
        memcpy(ret->command, look.name, sizeof(look.name));
        for (size_t i = 0; i < c->n && ret->job == 0; i++) {
                if (!is_of(c->jobs[i], (pid_t)pid, &look))
                        continue;
                ret->job = c->jobs[i]->job.key.n;
                ret->attempt = c->jobs[i]->job.key.attempt;
        }
        sg_process_look_deinit(&look);
        return true;
}

static int look_at_all(struct sg_gpus *g, const uint64_t *pids, size_t n)
{
        struct sg_gpus_process *found = calloc(n + 1, sizeof(*found));
        struct candidates c = {0};
        size_t n_found = 0;

        if (!found || (n > 0 && find_candidates(g->manager, &c) < 0)) {
                free(found);
                return -ENOMEM;
        }
        for (size_t i = 0; i < n; i++) {
                if (!look_at(&c, pids[i], &found[n_found]))
                        continue;
                sg_gpus_meet_user(g, found[n_found++].uid);
        }
        free(c.jobs);
        free(g->processes);
        g->processes = found;
        g->n_processes = n_found;
        return 0;
}

static int find_processes(struct sg_gpus *g, const struct sg_gpu_inventory *inventory)
{
        _cleanup_free_ uint64_t *pids = NULL;
        size_t n;
        int r = list_pids(inventory, &pids, &n);

        return r < 0 ? r : look_at_all(g, pids, n < LOOKS_MAX ? n : LOOKS_MAX);
}

static int feed(struct sg_gpus *g, const struct sg_gpu_inventory *inventory)
{
        _cleanup_free_ struct sg_gpu_owner *owners = calloc(g->n_processes + 1, sizeof(*owners));

        if (!owners)
                return -ENOMEM;
        for (size_t i = 0; i < g->n_processes; i++) {
                const struct sg_gpus_process *p = &g->processes[i];

                owners[i].pid = p->pid;
                owners[i].job = p->job;
                owners[i].attempt = p->attempt;
                memcpy(owners[i].command, p->command, sizeof(owners[i].command));
        }
        return sg_gpu_account_look(g->account, inventory, owners, g->n_processes,
                                   sg_now_monotonic_usec());
}

/* --- device nodes */

/* What all jobs are kept from, and what each of them has, may be another after a driver was loaded
 * anew. */
void sg_gpus_guard(struct sg_gpus *g)
{
        struct sg_device_guard *now;
        struct sg_live *l;
        int r;

        if (g->user || !g->managed)
                return;
        r = sg_gpu_guard(&now, &g->devices, &g->last, g->guard);
        if (r < 0) {
                sg_log(LOG_ERR, "cannot tell the device nodes of GPUs: %s", strerror(-r));
                return;
        }
        sg_device_guard_unref(g->guard);
        g->guard = now;
        /* A GPU may have another minor by now, though what all are kept from is the same. */
        sg_list_foreach (l, &g->manager->jobs->active, groups.active_link)
                if (r > 0 || (l->job.gpus && l->job.gpus[0]))
                        sg_live_apply_devices(l);
}

static void read_devices(struct sg_gpus *g)
{
        struct sg_gpu_devices now = {0};

        if (sg_gpu_devices_read(&now, g->manager->settings->gpu.driver_root) < 0)
                return;
        sg_gpu_devices_deinit(&g->devices);
        g->devices = now;
}

/* --- the look */

static void say_driver(struct sg_gpus *g)
{
        const struct sg_gpu_inventory *last = &g->last;
        bool well = last->state == SG_GPU_DRIVER_OK;

        if (well && g->complained)
                sg_log(LOG_NOTICE, "GPUs: the driver answers again");
        else if (!well && last->state != SG_GPU_DRIVER_ABSENT)
                sg_log(LOG_WARNING, "GPUs: %s; what they do isn't known, and none is given out",
                       last->message[0] ? last->message : "the driver doesn't answer");
        else if (well && !g->looked)
                sg_log(LOG_INFO, "GPUs: %zu, driver %s", last->n,
                       last->version[0] ? last->version : "of a version that isn't known");
        g->complained = !well && last->state != SG_GPU_DRIVER_ABSENT;
}

/* Of a driver that says nothing what it said last is kept: its version, and which GPUs it had. */
static void swap_in(struct sg_gpus *g, struct sg_gpu_inventory *now)
{
        struct sg_gpu_inventory before = g->last;
        bool silent = now->n == 0 && now->state != SG_GPU_DRIVER_OK;

        g->last = *now;
        if (!silent) {
                free(before.gpus);
                return;
        }
        free(g->last.gpus);
        g->last.n = before.n;
        g->last.gpus = before.gpus;
        if (!g->last.version[0]) {
                memcpy(g->last.version, before.version, sizeof(g->last.version));
                g->last.cuda = before.cuda;
        }
}

void sg_gpus_take_look(struct sg_gpus *g, struct sg_gpu_inventory *inventory)
{
        bool changed = !g->looked || inventory->state != g->last.state ||
                       (inventory->state != SG_GPU_DRIVER_OK &&
                        strcmp(inventory->message, g->last.message) != 0);
        int r;

        inventory->looked_usec = sg_now_monotonic_usec();
        r = find_processes(g, inventory);
        if (r >= 0)
                r = feed(g, inventory);
        if (r < 0)
                sg_log(LOG_ERR, "cannot take in what GPUs there are: %s", strerror(-r));
        sg_gpus_count(g, inventory);
        if (!g->looked || inventory->state != g->last.state)
                g->since_usec = inventory->state == SG_GPU_DRIVER_HUNG && g->heard_usec > 0
                                        ? sg_gpus_when(g->heard_usec)
                                        : sg_now_realtime_usec();
        swap_in(g, inventory);
        if (changed)
                say_driver(g);
        g->looked = true;
        read_devices(g);
        sg_gpus_guard(g);
        sg_gpus_carry_out(g);
        sg_gpus_map(g);
        sg_manager_schedule(g->manager);
}

void sg_gpus_take_silence(struct sg_gpus *g, enum sg_gpu_driver_state state, const char *message)
{
        struct sg_gpu_inventory none = {.state = state, .cuda = SG_GPU_UNKNOWN};

        (void)snprintf(none.message, sizeof(none.message), "%s", message);
        sg_gpus_take_look(g, &none);
}
