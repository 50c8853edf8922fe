/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The directory of one attempt, STATE/jobs/N-ORIGIN-ATTEMPT/, is where the daemon and the shim
 * meet:
 *
 * - spec: what to run (spec.h); written by the store before the shim is forked
 *
 * - lock: held by the living shim with a POSIX lock over the whole file; F_GETLK tells its pid
 *
 * - fate: link()ed once, to STATE/fate.run or STATE/fate.void: whoever links first decides
 *
 * - exit.tmp: preallocated by the store; the shim writes, fsyncs and renames it to exit
 *
 * - exit: the exit record, read idempotently and removed with the directory after its COMMIT
 *
 * - frozen: why its processes are frozen (core/job/freeze.h), while they are; written by the store
 *   before they are
 *
 * The gate is a SOCK_SEQPACKET pair, the shim's end is fd SG_GATE_FD; enum sg_gate_kind has what is
 * said there, in its order. When the gate closes before GO the shim publishes `void`; when it finds
 * `run` there, it goes on.
 *
 * A shim of the foreground, `schedctl run`, is its user's: of the directory it has the lock alone,
 * and only to read it. So its lock is a read lock, and who asks for the holder asks who is in the
 * way of a write lock. Its record goes over the gate to the daemon, which has it written; until it
 * is on disk (SEEN) the shim keeps it, and comes back over the socket that PLACE has named when the
 * gate is closed.
 */

#include "base/record.h"
#include <stdint.h>
#include <sys/types.h>

#define SG_GATE_FD 3
#define SG_SHIM_IN_KEEPER "in-keeper" /* argument: it was born in its v2 group */
#define SG_FATE_RUN "run"
#define SG_FATE_VOID "void"

enum sg_gate_kind {
        SG_GATE_READY = 1, /* from the shim: the job's process waits; its pid */
        SG_GATE_GO,        /* to it: publish `run`, make it durable, let the process exec */
        SG_GATE_STARTED,   /* from it: exec succeeded (or the job is already past it) */
        SG_GATE_ENDED, /* from it: the exit record is durable; of the foreground: struct sg_gate_end
                        */
        SG_GATE_TIMEOUT, /* to it: the job is about to be ended because its time is over */
        /* To it: `keeper` of the scope whose path in the v2 tree is behind the struct is where it
         * is now, the job's process may be forked. To a background shim only if its spec says so;
         * to a foreground shim always, with the path of the socket at which it can come back. */
        SG_GATE_PLACE,
        /* To a foreground shim: its record is durable, and the counters of its scope, which goes
         * with it, are read. Behind the struct is how the job ended, in words for its terminal,
         * unless it was with an exit status; earlier shims don't look there. */
        SG_GATE_SEEN,
        SG_GATE_OVER, /* from a background shim: nothing of the job lives; ENDED takes a while */
};

struct sg_gate_message {
        uint32_t kind;
        int32_t pid;
};

/* Where a job that never ran its program failed. */
enum sg_stage {
        SG_STAGE_NONE,  /* it did run */
        SG_STAGE_SETUP, /* our own doing: groups, pipes, fork */
        SG_STAGE_CREDENTIALS,
        SG_STAGE_WORKDIR,
        SG_STAGE_OUTPUT,
        SG_STAGE_EXEC,
        _SG_STAGE_MAX,
};

const char *sg_stage_to_string(
        enum sg_stage stage); /* "enter the working directory" …: completes "cannot …" */

#define SG_EXIT_MAGIC "sgexit1" /* 8 bytes with the NUL */
#define SG_EXIT_SIZE 256

/* The exit record on disk: SG_EXIT_SIZE bytes of this, zero-padded; crc over all before it. Host
 * byte order: it never leaves the host. */
struct sg_exit {
        char magic[8];
        int32_t exit_code; /* −1 when killed by a signal or never run */
        int32_t signal;
        uint32_t stage;                    /* enum sg_stage */
        int32_t error;                     /* errno of that stage */
        uint64_t started_usec, ended_usec; /* realtime */
        uint64_t cpu_usec;
        uint64_t memory_peak_bytes;
        uint64_t oom_kills; /* processes of this job killed by the OOM killer for its own limit */
        uint64_t io_read_bytes, io_write_bytes;
        int32_t pid;
        uint32_t main_oom_killed; /* the main process died of SIGKILL while oom_kills rose */
};

void sg_exit_pack(const struct sg_exit *e, uint8_t buf[SG_EXIT_SIZE]); /* sets magic and crc */
/* -EBADMSG: damaged, or it says what no keeper can have seen. That of `schedctl run` is its user's.
 */
int sg_exit_unpack(struct sg_exit *ret, const void *data, size_t size);

/* ENDED, from a shim of the foreground. */
struct sg_gate_end {
        struct sg_gate_message head;
        uint8_t record[SG_EXIT_SIZE]; /* packed */
};
