/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The reader: a child process that follows what jobs say about their progress, in their output,
 * their files and the journal. It is a process of its own because what it parses is the jobs' text
 * and the disk that it reads may hang: neither may crash or stop the governor.
 *
 * It looks at what it follows on every interval (and once when it begins); with an interval of 0,
 * or nothing to follow, neither side wakes up. If it dies, or stays busy with one job for 10 s
 * (seen one interval later where that is longer), it is killed and started again, later each time
 * (up to a minute) if that goes on, and begins anew with everything that is followed. A job that it
 * was busy with when that happened for the third time isn't followed any more, which is a trouble
 * of that job; a file of a user's at which it hung isn't looked at again after the first time.
 */

#include "base/cleanup.h"
#include "core/reports/preset.h"
#include "core/reports/report.h"
#include "proto/job-key.h"
#include <systemd/sd-event.h>

struct sg_job_reader;

/* Where a job's progress is to be found: any number of these. Strings are borrowed for the call. */
struct sg_follow {
        struct sg_job_key key;
        uid_t uid; /* whose files `output`, `file` and `events` have to be */
        enum sg_goal goal;
        uint64_t since_usec;    /* when the attempt began (realtime): what is older isn't its own */
        uint64_t log_before;    /* bytes of the log that are of attempts before */
        const char *log;        /* the managed log, or NULL */
        const char *output;     /* the user's own file, or NULL */
        const char *preset;     /* for log, output and unit: "auto", "keras", …, or "none" */
        const char *pattern;    /* the same by a regular expression, or NULL */
        const char *file;       /* progress file (JSON, or key=value lines), or NULL */
        const char *events;     /* TensorBoard event file, or a directory of them, or NULL */
        const char *tag;        /* of the scalar in `events` that is the loss, or NULL */
        const char *unit;       /* whose journal is followed, or NULL */
        const char *invocation; /* of that unit; NULL or "": of whichever */
};

struct sg_job_reader_calls {
        /* The newest of n_reports (≥ 1) that were found since the last call, merged. `source` is a
         * preset's name, "json", "pattern", "journal", "file" or "tensorboard". */
        void (*report)(const struct sg_job_key *key, const struct sg_report *report,
                       uint64_t n_reports, const char *source, void *userdata);
        /* Follows sg_job_reader_finish(), once: all that there was has been reported. */
        void (*finished)(const struct sg_job_key *key, void *userdata);
        /* One line, once per job and kind of trouble. */
        void (*trouble)(const struct sg_job_key *key, const char *what, void *userdata);
        /* It has looked at everything, as it does on every interval, and all that it found has been
         * reported; not called if that was nothing. May be NULL. */
        void (*round)(void *userdata);
        void *userdata;
};

/* Forks: as early as can be, before anything else is open. journal_dir: read the journal files of
 * this directory (tests); NULL: the machine's. */
int sg_job_reader_start(struct sg_job_reader **ret, const char *journal_dir);
/* The same, at any time: for the files of a user. */
int sg_job_reader_start_files(struct sg_job_reader **ret);
/* `calls` is copied; callbacks run from the event loop and may call anything here but free. */
int sg_job_reader_attach(struct sg_job_reader *r, sd_event *event,
                         const struct sg_job_reader_calls *calls);
struct sg_job_reader *sg_job_reader_free(struct sg_job_reader *r);
SG_DEFINE_CLEANUP(struct sg_job_reader *, sg_job_reader_free)

/* -EEXIST if the key is followed already; -EINVAL for a pattern that sg_pattern_check() refuses. */
int sg_job_reader_follow(struct sg_job_reader *r, const struct sg_follow *f);
/* Takes one last look, which reports what has been written until now, and forgets the job. -ENOENT:
 * it isn't followed, or there is nobody to look just now; then `finished` isn't called. */
int sg_job_reader_finish(struct sg_job_reader *r, const struct sg_job_key *key);
/* At once, and silently: not even `finished` comes any more. */
void sg_job_reader_forget(struct sg_job_reader *r, const struct sg_job_key *key);
/* Ends the process if it has nothing to follow; the next job starts another one. */
void sg_job_reader_rest(struct sg_job_reader *r);
/* At first 0: nothing is looked at but what is new to be followed or to finish. */
void sg_job_reader_set_interval(struct sg_job_reader *r, uint64_t usec);

/* 0 while it isn't running, for a moment after it has died. */
pid_t sg_job_reader_pid(const struct sg_job_reader *r);
/* How often it was started again. */
uint64_t sg_job_reader_restarts(const struct sg_job_reader *r);
