/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * When a worker that talks to a driver is started, and when it is given up.
 *
 *    off ── wanted ──► START ──► it talks ◄──┐
 *     ▲                  ▲          │ └ heard ┘
 *     │                  │ 1, 2, 4 … 300 s later
 *     └── LET_GO ◄───────┴──────────┤
 *                                   ├─ it has ended, or makes no sense
 *                                   └─ it is silent for too long: LET_GO, GIVEN UP
 *
 * Nobody waits for who is let go: a process that hangs in a driver may stay for as long as the node
 * runs. Of those that haven't gone there are two at most, then none is started until one has gone.
 * One that ends in good order is gone within milliseconds and counts until then.
 *
 * Pure: the caller says what time it is, starts and lets go.
 */

#include <stdbool.h>
#include <stdint.h>

#define SG_GPU_LEAVING_MAX 2U
#define SG_GPU_DELAY_USEC (1ULL * 1000000)
#define SG_GPU_DELAY_MAX_USEC (300ULL * 1000000)

enum sg_gpu_keep_do { SG_GPU_KEEP_WAIT, SG_GPU_KEEP_START, SG_GPU_KEEP_LET_GO };

struct sg_gpu_keep {
        bool wanted, runs;
        uint64_t started_usec; /* the one that runs */
        uint64_t answer_usec;  /* it says something by then, or is given up */
        uint64_t start_usec;   /* no other one before that */
        uint64_t delay_usec;   /* after the next failure; 0 = the last one did well */
        uint64_t silent_usec;  /* since when none answers as it should; 0 = one does */
        unsigned leaving;      /* let go, and not gone */
};

/* What to do now; the caller does it, says so by one of the functions below, and asks again.
 * WAIT: until *ret_usec, if nothing happens before; 0 = for good. */
enum sg_gpu_keep_do sg_gpu_keep_next(const struct sg_gpu_keep *k, uint64_t now_usec,
                                     uint64_t *ret_usec);

/* Whether there is a driver to be talked to. A driver that comes is talked to at once. */
void sg_gpu_keep_want(struct sg_gpu_keep *k, bool wanted);
/* One was started, and says something within so long. */
void sg_gpu_keep_started(struct sg_gpu_keep *k, uint64_t now_usec, uint64_t timeout_usec);
/* It said something, and does so again within so long. `well`: what it said is what it is for. */
void sg_gpu_keep_heard(struct sg_gpu_keep *k, uint64_t now_usec, uint64_t timeout_usec, bool well);
/* The one that runs has ended, or couldn't be started. */
void sg_gpu_keep_ended(struct sg_gpu_keep *k, uint64_t now_usec);
/* The one that runs was let go, as next() said, or because it makes no sense. */
void sg_gpu_keep_let_go(struct sg_gpu_keep *k, uint64_t now_usec);
/* One that was let go has ended. */
void sg_gpu_keep_gone(struct sg_gpu_keep *k);
