/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpus/gpus.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "gpus/internal.h"
#include <errno.h>
#include <string.h>

int sg_gpus_new(struct sg_gpus **ret, struct sg_manager *m, const struct sg_manager_options *o)
{
        struct sg_gpus *g = calloc(1, sizeof(*g));
        int r;

        if (!g)
                return -ENOMEM;
        g->manager = m;
        sg_list_init(&g->users);
        g->user = o->user;
        r = sg_gpu_account_new(&g->account);
        if (r >= 0)
                r = sg_gpus_keep(g, o);
        if (r >= 0)
                r = sg_gpu_drain_new(&g->drain, g);
        if (r < 0) {
                sg_gpus_free(g);
                return r;
        }
        *ret = g;
        return 0;
}

struct sg_gpus *sg_gpus_free(struct sg_gpus *g)
{
        if (!g)
                return NULL;
        sg_gpus_let_go(g);
        sg_gpus_forget_users(g);
        sg_gpu_drain_free(g->drain);
        sg_gpu_mapping_deinit(&g->mapping);
        sg_gpu_account_free(g->account);
        sg_gpu_devices_deinit(&g->devices);
        sg_device_guard_unref(g->guard);
        sg_strv_free(g->exclude);
        sg_strv_free(g->ignore);
        free(g->last.gpus);
        free(g->processes);
        free(g);
        return NULL;
}

/* NULL: there are none, or no memory for them. */
static char **words_of(const char *text)
{
        _cleanup_strv_ char **words = calloc(strlen(text) / 2 + 2, sizeof(*words));
        size_t n = 0;

        for (const char *p = text; words && *(p += strspn(p, " ")); p += strcspn(p, " ")) {
                words[n] = strndup(p, strcspn(p, " "));
                if (!words[n++])
                        return NULL;
        }
        return n > 0 ? TAKE_PTR(words) : NULL;
}

void sg_gpus_reload(struct sg_manager *m)
{
        const struct sg_gpu_settings *s = &m->settings->gpu;
        struct sg_gpus *g = m->gpus;
        char **exclude, **ignore;

        if (!g)
                return;
        exclude = words_of(s->exclude);
        ignore = words_of(s->ignore);
        sg_gpu_account_configure(g->account, exclude, ignore, sg_now_monotonic_usec());
        sg_strv_free(g->exclude);
        sg_strv_free(g->ignore);
        g->exclude = exclude;
        g->ignore = ignore;
        sg_gpus_find_driver(g);
}

bool sg_gpus_managed(const struct sg_manager *m)
{
        return m->gpus && m->gpus->managed;
}

bool sg_gpus_answer(const struct sg_manager *m)
{
        return m->gpus->looked && m->gpus->last.state == SG_GPU_DRIVER_OK;
}

uint64_t sg_gpus_when(uint64_t monotonic_usec)
{
        uint64_t now = sg_now_monotonic_usec();

        if (monotonic_usec == 0 || monotonic_usec > now)
                return 0;
        return sg_now_realtime_usec() - (now - monotonic_usec);
}

void sg_gpus_driver(const struct sg_manager *m, struct sg_gpus_driver *ret)
{
        const struct sg_gpus *g = m->gpus;

        *ret = (struct sg_gpus_driver){
                .state = g->last.state,
                .looked = g->looked,
                .since_usec = g->since_usec,
                .version = g->last.version,
                .cuda = g->looked ? g->last.cuda : SG_GPU_UNKNOWN,
                .message = g->last.message,
        };
}

const struct sg_gpu_account *sg_gpus_account(const struct sg_manager *m)
{
        return m->gpus->account;
}

const struct sg_gpu_pool *sg_gpus_pool(const struct sg_manager *m)
{
        return sg_gpus_managed(m) ? sg_gpu_account_pool(m->gpus->account) : NULL;
}

size_t sg_gpus_nodes(const struct sg_manager *m, const struct sg_gpu *gpu,
                     struct sg_gpu_node ret[SG_GPU_NODES_MAX])
{
        return sg_gpu_nodes_of(&m->gpus->devices, gpu, NULL, ret);
}

static int by_pid(const void *key, const void *item)
{
        const uint64_t *pid = key;
        const struct sg_gpus_process *p = item;

        return *pid < p->pid ? -1 : *pid > p->pid;
}

const struct sg_gpus_process *sg_gpus_process(const struct sg_manager *m, uint64_t pid)
{
        const struct sg_gpus *g = m->gpus;

        return g->n_processes == 0 ? NULL
                                   : bsearch(&pid, g->processes, g->n_processes,
                                             sizeof(g->processes[0]), by_pid);
}
