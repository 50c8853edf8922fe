/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the kernel says about one job at one time. A figure that nobody offers, or that could not be
 * read, is SG_UNLIMITED ("not known") and never a stale or half-read number. Those in _usec, _ops,
 * io_ and net_ bytes, and the events, only grow while a job runs.
 */

#include "base/parse.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_sample {
        uint64_t now_usec; /* CLOCK_MONOTONIC, just before the first file was read */
        uint64_t cpu_usec, user_usec, system_usec;
        uint64_t throttled_usec, n_throttled, n_periods;
        uint64_t memory_bytes, memory_peak_bytes;
        uint64_t working_set_bytes; /* memory without file pages that nobody used lately */
        uint64_t oom_kills, memory_high_events, memory_max_events;
        uint64_t io_read_bytes, io_write_bytes, io_read_ops, io_write_ops;
        uint64_t net_rx_bytes, net_tx_bytes; /* by others than the sampler */
        uint64_t pids;
        uint64_t psi_cpu_some_usec;
        uint64_t psi_memory_some_usec, psi_memory_full_usec;
        uint64_t psi_io_some_usec, psi_io_full_usec;
};

/*
 * What to read, by what it costs and how soon anybody needs it. Microseconds per job, on Linux 6.18
 * with v1 controllers, a bare v2 tree and 2 CPUs: CPU 1.3, memory 0.8, pids 0.7, IO 4.3 (two
 * files), pressure 5.4 (three), events 3.5 (four), working set 6.4 (all of memory.stat); twice that
 * when others used the caches meanwhile. All but 3 % of it is the kernel's.
 */
enum {
        SG_SAMPLE_CPU = 1,
        SG_SAMPLE_MEMORY = 2,
        SG_SAMPLE_IO = 4,
        SG_SAMPLE_PIDS = 8,
        SG_SAMPLE_PSI = 16,
        SG_SAMPLE_EVENTS = 32,      /* throttling, peak, OOM kills, high and max events */
        SG_SAMPLE_WORKING_SET = 64, /* needs memory_bytes: with SG_SAMPLE_MEMORY */
        SG_SAMPLE_ALL = 127,
};

void sg_sample_init(struct sg_sample *s); /* nothing is known */

#define SG_SAMPLE_FEW 16

/*
 * What to read of a job in this round, of n jobs. Of a few: everything. Of many: CPU always, memory
 * every eighth round, events and the working set every 32nd, the rest every sixteenth, in all one
 * and a half files; pressure when round + place is a multiple of 16, which is when the monitor asks
 * for delays: waits are judged by both. Jobs take turns by `place`, which is each one's own, so
 * that all rounds cost the same. What isn't due stays as it was: its growth is that of so many
 * rounds. The first sample of a job should be SG_SAMPLE_ALL, and so should all while the interval
 * is longer than the base one, and what a decision is made by.
 */
uint32_t sg_sample_due(uint64_t round, size_t place, size_t n);

/* Growth per second: false, and *ret untouched, if either is not known, no time passed, or the
 * counter went backwards. CPUs: sg_sample_rate(a->cpu_usec, …) / 1e6. */
bool sg_sample_rate(uint64_t before, uint64_t after, uint64_t usec, double *ret);

/* Whether the job did anything that a shorter interval would show better: used 1 % of a CPU, did
 * IO, or has another number of tasks or 1 % more or less memory. */
bool sg_sample_active(const struct sg_sample *before, const struct sg_sample *after);
