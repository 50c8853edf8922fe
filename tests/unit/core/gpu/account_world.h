/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* An account of the GPUs of a node, and what tests of it do and ask. */

#include "core/gpu/account.h"
#include "tests/unit/core/gpu/node.h"
#include "tests/unit/test.h"

#define SECOND UINT64_C(1000000)

static struct gpu_node node;
static struct sg_gpu_account *account;
static struct sg_gpu_owner owners[16];
static size_t n_owners;
static uint64_t now;

static inline int setup(void **state)
{
        (void)state;
        node_make(&node, 4);
        n_owners = 0;
        now = 1000 * SECOND;
        return sg_gpu_account_new(&account);
}

static inline int teardown(void **state)
{
        (void)state;
        account = sg_gpu_account_free(account);
        return 0;
}

/* Pids are added in order. */
static inline void own(uint64_t pid, uint64_t job, const char *command)
{
        owners[n_owners] = (struct sg_gpu_owner){.pid = pid, .job = job, .attempt = job ? 1 : 0};
        strcpy(owners[n_owners++].command, command);
}

static inline void look_after(uint64_t usec)
{
        now += usec;
        node.inventory.looked_usec = now;
        assert_int_equal(sg_gpu_account_look(account, &node.inventory, owners, n_owners, now), 0);
}

static inline void look(void)
{
        look_after(2 * SECOND);
}

static inline void claim(uint64_t job, uint64_t share, uint64_t memory, const char *gpus)
{
        const struct sg_gpu_claim c = {
                .job = job,
                .attempt = 1,
                .share = share,
                .memory_bytes = memory,
                .idle_limit_usec = 60 * SECOND,
                .idle_ends = job % 2 == 0,
                .gpus = gpus,
        };

        assert_int_equal(sg_gpu_account_claim(account, &c, now), 0);
}

static inline void release(uint64_t job)
{
        sg_gpu_account_release(account, job, 1, true, now);
}

static inline const struct sg_gpu_status *gpu(size_t i)
{
        return sg_gpu_account_at(account, i);
}

static inline const char *state_of(size_t i)
{
        return sg_gpu_state_to_string(gpu(i)->state);
}

/* Of all decisions of the last look: the lines, with what is done about jobs. */
static inline const char *told(void)
{
        static const char *const kinds[] = {
                [SG_GPU_TELL_STATE] = "",       [SG_GPU_TELL_LEAK] = "",
                [SG_GPU_TELL_CROWDED] = "",     [SG_GPU_TELL_ERROR] = "",
                [SG_GPU_TELL_LOST_EVENTS] = "", [SG_GPU_TELL_OVER] = "over: ",
                [SG_GPU_TELL_IDLE] = "idle: ",  [SG_GPU_TERM] = "TERM: ",
                [SG_GPU_KILL] = "KILL: ",       [SG_GPU_END_IDLE] = "end: ",
        };
        static char text[2048];
        size_t n, used = 0;
        const struct sg_gpu_decision *d = sg_gpu_account_decisions(account, &n);

        text[0] = '\0';
        for (size_t i = 0; i < n; i++) {
                if (d[i].job)
                        used += (size_t)snprintf(text + used, sizeof(text) - used, "%llu ",
                                                 (unsigned long long)d[i].job);
                used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s; ",
                                         kinds[d[i].kind], d[i].text);
        }
        return text;
}

static inline void clear_processes(void)
{
        for (size_t i = 0; i < node.inventory.n; i++) {
                node.gpus[i].n_processes = 0;
                node.gpus[i].memory_used = 0;
        }
}

static inline bool fits(struct sg_gpu_request r)
{
        return sg_gpu_fits(sg_gpu_account_pool(account), &r, NULL);
}
