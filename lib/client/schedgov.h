/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef SCHEDGOV_H
#define SCHEDGOV_H
/*
 * libschedgov: what a job may tell its governor, and what it is told. See libschedgov(3).
 *
 * Outside of a governed job every function does nothing, and says so by returning 0. None prints,
 * none raises a signal, none but schedgov_flush() waits. All may be called from several threads.
 * Structures grow at their end only; the caller's size is passed along.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1 in a governed job, else 0. Async-signal-safe after the first call of any function. */
int schedgov_governed(void);

/* --- telling --- */

#define SCHEDGOV_UNKNOWN UINT64_MAX

/*
 * The evaluation function (a loss, an accuracy: NaN and infinities are news, too), the step that
 * has just been done, and how many there will be (0: not known). Cheap enough for every step: of
 * what comes faster than 20 times a second the newest is kept and sent later. 1: sent or kept.
 */
int schedgov_progress(double eval, uint64_t step, uint64_t total);
/* Without an evaluation. */
int schedgov_step(uint64_t step, uint64_t total);
/* Where steps are counted within epochs, which count from 1. step may be SCHEDGOV_UNKNOWN. */
int schedgov_epoch(double eval, uint64_t epoch, uint64_t epochs, uint64_t step, uint64_t total);
/* One line for people, shown by `schedctl status`; cut at 127 bytes. */
int schedgov_status(const char *text);
/* The checkpoint that was asked for is complete and durable. */
int schedgov_checkpointed(void);
/* Waits until the governor has seen everything, at most so long: 1 it has, 0 not. Done by exit(3),
 * for a fifth of a second at most. */
int schedgov_flush(unsigned timeout_msec);
/* Reports that were replaced by newer ones before they could be sent. */
uint64_t schedgov_dropped(void);

/* --- being told --- */

struct schedgov_allocation {
        uint64_t seq;           /* one more with each change */
        double cpus;            /* how many CPUs' worth of time, e.g. 1.5 */
        uint64_t threads;       /* how many threads make the best of it, at least 1 */
        uint64_t deadline_usec; /* since the epoch: when the job will be ended; 0 = never */
};

/* What holds now: 1, or 0 and all zeros where nothing is known. A call costs half a microsecond
 * while nothing has changed. */
int schedgov_allocation_get(struct schedgov_allocation *ret, size_t size);
#define schedgov_allocation(ret) schedgov_allocation_get((ret), sizeof(*(ret)))

/* Its threads, or `otherwise` where nothing is known. */
unsigned schedgov_threads(unsigned otherwise);

/* "0-3,6", and as CUDA_VISIBLE_DEVICES: the length without the NUL, as snprintf(3) returns it; 0
 * and "" where nothing is known. */
int schedgov_cpu_list(char *buf, size_t size);
int schedgov_gpus(char *buf, size_t size);

/*
 * Callbacks, which schedgov_dispatch() makes, in the thread that calls it. The allocation is told
 * once at first and then whenever it has changed. A checkpoint is asked for once; answer by
 * schedgov_checkpointed(). `why` and the allocation are borrowed for the call.
 */
typedef void (*schedgov_allocation_fn)(const struct schedgov_allocation *allocation,
                                       void *userdata);
typedef void (*schedgov_checkpoint_fn)(uint64_t id, const char *why, void *userdata);
void schedgov_on_allocation(schedgov_allocation_fn fn, void *userdata);
void schedgov_on_checkpoint(schedgov_checkpoint_fn fn, void *userdata);

/* Looks, and calls back: how many times it did. For a training loop, or when schedgov_fd() can be
 * read from. */
int schedgov_dispatch(void);
/* For poll(2), POLLIN; it stays the library's. After fork(2) the child asks for its own. Negative
 * errno where there is none. */
int schedgov_fd(void);

/* Has this process sent that signal whenever the allocation changes; 0 = no more. */
int schedgov_allocation_signal(int signal);

#ifdef __cplusplus
}
#endif
#endif
