/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which GPUs a job has: chosen before its start is stored, in its row with that, told to it, and
 * its own until its attempt is over.
 *
 * In the row "" is a job that started with none, and closed to all; NULL one whose start GPUs had
 * no part in: it keeps what it can open for as long as it runs.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "gpus/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

static bool has_gpus(const struct sg_live *l)
{
        return l->job.gpus && l->job.gpus[0];
}

static struct sg_gpu_claim claim_of(const struct sg_live *l, const char *gpus)
{
        const struct sg_gpu_request *want = l->job.gpu;
        const struct sg_class_gpus *class = &l->class->gpus;

        return (struct sg_gpu_claim){
                .job = l->job.key.n,
                .attempt = l->job.key.attempt,
                .share = want ? want->share : SG_GPU_WHOLE,
                .memory_bytes = want ? want->memory_bytes : SG_UNLIMITED,
                .idle_limit_usec = class->idle_usec,
                .idle_ends = class->idle_ends,
                .gpus = gpus,
        };
}

static int claim(struct sg_live *l, const char *gpus)
{
        const struct sg_gpu_claim c = claim_of(l, gpus);

        return sg_gpu_account_claim(l->manager->gpus->account, &c, sg_now_monotonic_usec());
}

/* Those that the queue has chosen for it: others are kept for who is before it, or are more than
 * its class allows. It has only just named it, by this same pool. */
static int choose(struct sg_live *l, char **ret)
{
        const struct sg_gpu_choice *choice = sg_queue_choice(l->manager->jobs->queue);

        if (!l->job.gpu) {
                *ret = strdup("");
                return *ret ? 0 : -ENOMEM;
        }
        return choice->n > 0 ? sg_gpu_choice_uuids(sg_gpus_pool(l->manager), choice, ret) : -EAGAIN;
}

int sg_gpus_grant(struct sg_live *l)
{
        _cleanup_free_ char *gpus = NULL;
        int r = 0;

        free(TAKE_PTR(l->job.gpus));
        if (!sg_gpus_managed(l->manager))
                return l->job.gpu ? -EAGAIN : 0;
        r = choose(l, &gpus);
        if (r >= 0 && gpus[0])
                r = claim(l, gpus);
        if (r < 0)
                return r;
        l->job.gpus = TAKE_PTR(gpus);
        if (has_gpus(l))
                sg_gpus_hurry(l->manager);
        return 0;
}

void sg_gpus_release(struct sg_live *l, bool ran)
{
        struct sg_manager *m = l->manager;

        if (!has_gpus(l) || !m->gpus)
                return;
        sg_gpu_account_release(m->gpus->account, l->job.key.n, l->job.key.attempt, ran,
                               sg_now_monotonic_usec());
        if (l->job.state == SG_JOB_QUEUED) /* the next attempt gets others */
                free(TAKE_PTR(l->job.gpus));
        sg_gpus_hurry(m);
        sg_gpus_map(m->gpus);
        sg_manager_schedule(m);
}

void sg_gpus_hold(struct sg_live *l)
{
        int r;

        if (!has_gpus(l) || l->job.state == SG_JOB_QUEUED || sg_job_state_is_final(l->job.state))
                return;
        r = claim(l, l->job.gpus);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot count its GPUs as its own: %s",
                       l->job.key.n, strerror(-r));
}

uint64_t sg_gpus_held(const struct sg_live *l)
{
        uint64_t n = 1;

        if (!has_gpus(l))
                return 0;
        for (const char *p = l->job.gpus; *p; p++)
                n += *p == ',';
        return n * (l->job.gpu ? l->job.gpu->share : SG_GPU_WHOLE);
}

/* --- what it is told */

static void put_env(const struct sg_live_env *out, bool force, const char *name, const char *value)
{
        char line[SG_GPUS_MAX * (SG_GPU_TEXT_MAX + 1) + 64];

        (void)snprintf(line, sizeof(line), "%s=%s", name, value);
        out->put(line, force, out->userdata);
}

void sg_gpus_environment(const struct sg_live *l, const struct sg_live_env *out)
{
        const struct sg_gpu_request *want = l->job.gpu;

        if (!l->job.gpus)
                return;
        put_env(out, true, "CUDA_VISIBLE_DEVICES", l->job.gpus);
        put_env(out, true, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
        put_env(out, true, "SCHEDGOV_GPUS", l->job.gpus);
        if (!want || want->share == SG_GPU_WHOLE)
                return;
        /* JAX and TensorFlow take nearly all of a GPU at once, and would be ended for it. */
        put_env(out, false, "XLA_PYTHON_CLIENT_PREALLOCATE", "false");
        put_env(out, false, "TF_FORCE_GPU_ALLOW_GROWTH", "true");
}

const char *sg_gpus_visible(const struct sg_live *l)
{
        return l->job.gpus;
}

/* --- what it may open */

bool sg_gpus_keeps_devices(const struct sg_live *l)
{
        return sg_gpus_managed(l->manager) && !l->job.gpus;
}

bool sg_gpus_are_open(const struct sg_manager *m, const struct sg_job *j, uint32_t beyond)
{
        bool takes_part = j->gpus ? j->gpus[0] != '\0' : j->gpu != NULL;

        return sg_gpus_managed(m) && takes_part &&
               (m->gpus->user || beyond & (1U << SG_LIMIT_DEVICES));
}

int sg_gpus_devices(const struct sg_live *l, const struct sg_device_list *class,
                    struct sg_device_list *ret)
{
        const struct sg_gpus *g = l->manager->gpus;
        struct sg_device_list guarded = *class; /* lent */

        if (!g->managed || g->user || !l->job.gpus)
                return sg_device_list_copy(ret, class);
        if (!guarded.closed)
                guarded.guard = g->guard;
        return sg_gpu_job_devices(ret, &guarded, &g->devices, &g->last,
                                  has_gpus(l) ? l->job.gpus : NULL);
}
