/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/gpu/keep.h"

enum sg_gpu_keep_do sg_gpu_keep_next(const struct sg_gpu_keep *k, uint64_t now_usec,
                                     uint64_t *ret_usec)
{
        *ret_usec = 0;
        if (k->runs) {
                if (!k->wanted || now_usec >= k->answer_usec)
                        return SG_GPU_KEEP_LET_GO;
                *ret_usec = k->answer_usec;
                return SG_GPU_KEEP_WAIT;
        }
        if (!k->wanted || k->leaving >= SG_GPU_LEAVING_MAX)
                return SG_GPU_KEEP_WAIT;
        if (now_usec >= k->start_usec)
                return SG_GPU_KEEP_START;
        *ret_usec = k->start_usec;
        return SG_GPU_KEEP_WAIT;
}

void sg_gpu_keep_want(struct sg_gpu_keep *k, bool wanted)
{
        if (wanted && !k->wanted)
                k->start_usec = k->delay_usec = k->silent_usec = 0;
        k->wanted = wanted;
}

void sg_gpu_keep_started(struct sg_gpu_keep *k, uint64_t now_usec, uint64_t timeout_usec)
{
        k->runs = true;
        k->started_usec = now_usec;
        k->answer_usec = now_usec + timeout_usec;
}

void sg_gpu_keep_heard(struct sg_gpu_keep *k, uint64_t now_usec, uint64_t timeout_usec, bool well)
{
        k->answer_usec = now_usec + timeout_usec;
        if (well)
                k->silent_usec = 0;
}

/* One that hangs after its first look, each time, is started as seldom as one that never gets that
 * far: only a long life counts as a success. */
static void fail(struct sg_gpu_keep *k, uint64_t now_usec)
{
        uint64_t delay;

        if (now_usec - k->started_usec > SG_GPU_DELAY_MAX_USEC)
                k->delay_usec = 0;
        delay = k->delay_usec == 0 ? SG_GPU_DELAY_USEC : k->delay_usec;
        k->start_usec = now_usec + delay;
        k->delay_usec = delay < SG_GPU_DELAY_MAX_USEC / 2 ? 2 * delay : SG_GPU_DELAY_MAX_USEC;
        if (k->silent_usec == 0)
                k->silent_usec = now_usec;
        k->runs = false;
}

void sg_gpu_keep_ended(struct sg_gpu_keep *k, uint64_t now_usec)
{
        if (!k->runs) /* it couldn't be started: its life was short */
                k->started_usec = now_usec;
        fail(k, now_usec);
}

void sg_gpu_keep_let_go(struct sg_gpu_keep *k, uint64_t now_usec)
{
        k->leaving++;
        if (k->wanted)
                fail(k, now_usec);
        k->runs = false;
}

void sg_gpu_keep_gone(struct sg_gpu_keep *k)
{
        if (k->leaving > 0)
                k->leaving--;
}
