/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The store: what must survive. A child process (forked at start, before anything else is open)
 * owns the SQLite database and the attempt directories; the daemon talks to it over a socketpair
 * and never waits for a sync, so that a slow disk can't stop the governor. Requests are
 * carried out in order; all that are waiting when the writer is free share one COMMIT (group
 * commit). A callback runs only after its request is durable.
 *
 * The child exits when the daemon's end closes, after committing what it has received. An flock on
 * STATE/lock is held by both through one open file description: a second daemon is refused, and a
 * restarted one waits until the old writer is gone.
 *
 * While the database can't be written, calls fail with a negative errno and the daemon goes on with
 * what runs; sg_store_error() says what is wrong in one line. If the child dies, nobody knows what
 * of the pending requests was committed: see sg_store_on_death().
 */

#include "core/job/job.h"
#include "core/life/fate.h"
#include "proto/attempt.h"
#include <systemd/sd-event.h>

struct sg_store;

/*
 * result: 0, or a negative errno. `job` is borrowed for the call; NULL where a call gives none.
 * Every callback may be NULL; else it runs exactly once, in the order of the requests, from the
 * event loop, sg_store_flush() or sg_store_close() (only -ENOMEM is told from within the request).
 * Callbacks may make requests, but neither flush nor close.
 */
typedef void (*sg_store_cb)(int result, const struct sg_job *job, void *userdata);

/*
 * Locks the directory (waiting at most 10 s for a dying writer), forks the writer, opens or creates
 * the database and migrates it. Creates STATE/{jobs,logs,fate.run,fate.void}. On failure *ret_why
 * is a heap string with one line that says what to do: -EBUSY another daemon, -EROFS, -ENOSPC,
 * -EBADMSG a database of which nothing can be read, ….
 */
int sg_store_open(struct sg_store **ret, const char *state_dir, char **ret_why);
int sg_store_attach(struct sg_store *s, sd_event *event);
/* `dead` runs once, from the event loop, when the writer has gone. From then on no callback runs:
 * to call a request failed that may have been committed would be a lie. Only opening the store anew
 * tells. Without it, or while closing, all requests fail. */
void sg_store_on_death(struct sg_store *s, void (*dead)(void *userdata), void *userdata);
/* Sends what is queued and waits for its replies. The store's error, or 0. */
int sg_store_flush(struct sg_store *s);
/* Flushes, waits for the writer to exit. NULL is fine. Returns NULL. */
struct sg_store *sg_store_close(struct sg_store *s);
SG_DEFINE_CLEANUP(struct sg_store *, sg_store_close)
const char *sg_store_error(struct sg_store *s); /* NULL while all is well */
/* What was wrong with the database when it was opened, in a line: it was damaged, all that could be
 * read is there, and the rest is in STATE/quarantine. NULL = nothing. */
const char *sg_store_notice(struct sg_store *s);
pid_t sg_store_pid(struct sg_store *s);
const char *sg_store_dir(struct sg_store *s); /* absolute */
/* The size of the disk that it is on; SG_UNLIMITED: it has none. */
uint64_t sg_store_disk_bytes(struct sg_store *s);
/* Bytes of the requests that aren't answered yet: refuse new work beyond some MB. */
size_t sg_store_backlog(struct sg_store *s);

/* Synchronous, before the event loop runs: every job that isn't in a final state, in order of n,
 * with the size of what was submitted;
 * and the largest n ever used, of whatever origin: a node that gets another name goes on counting,
 * so that what lives differs in n. */
int sg_store_load(struct sg_store *s, uint64_t *ret_last_n, sg_store_cb each, void *userdata);

/*
 * Stores a job, or with `tasks` (as of proto/array.h; else NULL) the tasks of an array, whose
 * numbers begin with template's: each is what sg_job_become_task() makes of it. They share the
 * submitted spec. With a token that this uid has used before, nothing is stored and the callback
 * gets result = 1 and the job first stored under it.
 */
void sg_store_submit(struct sg_store *s, const struct sg_job *template, const char *tasks,
                     const char *token, const void *spec, size_t spec_size, sg_store_cb cb,
                     void *userdata);

/* Writes the job's row, no callback needed for hints such as `running`: all fields but the key, and
 * but `hold` and `frozen`, which somebody is promised: only who asks for them writes them, so that
 * no other request that is under way can undo that, or do it although it failed. Also appends an
 * event row when state or reason changed. */
void sg_store_update(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata);

/* Writes job->hold, with an event row when it changed, and nothing else of the row. */
void sg_store_hold(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata);

/* These reasons (core/job/freeze.h) are added to those for which the job is frozen, or taken away.
 * They are kept in the file `frozen` of the attempt's directory, which goes with the last of them;
 * of an adopted job in its row. They end with the attempt. */
void sg_store_freeze(struct sg_store *s, const struct sg_job *job, uint64_t reasons, bool on,
                     sg_store_cb cb, void *userdata);

/* COMMITs the row (state starting, attempt, boot id), then makes the attempt's directory: spec (the
 * stored submitted part with this job's output and error, + `launch`), lock, exit.tmp preallocated.
 * When the directory can't be made (-ENOSPC, -EEXIST, …) the row stays; inspect says NO_DIR. */
void sg_store_start(struct sg_store *s, const struct sg_job *job, const void *launch,
                    size_t launch_size, sg_store_cb cb, void *userdata);

/* How an attempt of the foreground ended, as its shim says, becomes the file `exit` of its
 * directory; the first one counts. There is room for it, also on a full disk. -ENOENT: it has no
 * directory. */
void sg_store_record(struct sg_store *s, const struct sg_job_key *key, const struct sg_exit *e,
                     sg_store_cb cb, void *userdata);

/*
 * What the attempt's directory says, for recovery and after the shim has gone. Idempotent; changes
 * nothing but, with `publish`, the fate (link(), first come first served); what is told then is
 * durable.
 */
enum sg_publish { SG_PUBLISH_NONE, SG_PUBLISH_VOID, SG_PUBLISH_RUN };
typedef void (*sg_attempt_cb)(int result, const struct sg_attempt_info *info, void *userdata);
void sg_store_inspect(struct sg_store *s, const struct sg_job_key *key, enum sg_publish publish,
                      sg_attempt_cb cb, void *userdata);

/* The end of attempt key.attempt (0 = it never had one). COMMITs the row and, if it is final,
 * erases of the spec what isn't kept (sg_spec_is_kept(); not while other array tasks need it) and
 * prunes history; else (to be run again) keeps the figures of this attempt. After the COMMIT
 * removes the attempt's directory. */
void sg_store_finish(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata);

/* Queries: `each` per job, in the order asked for, then `done` once. */
struct sg_store_query {
        uint64_t n;                              /* exactly this job (latest attempt), 0 = any */
        const char *origin;                      /* with n */
        uint64_t uid;                            /* only this user's, SG_UNLIMITED = all */
        bool finished_only, submitted_only;      /* the latter: none that others started */
        uint64_t array;                          /* array_first, 0 = any */
        const char *user, *state, *name, *class; /* NULL = any */
        uint64_t since_usec, until_usec;         /* ended; 0 = any */
        uint64_t before; /* page cursor: only jobs with n < before; 0 = from the newest */
        uint64_t limit;  /* at most this many */
};
void sg_store_list(struct sg_store *s, const struct sg_store_query *q, sg_store_cb each,
                   sg_store_cb done, void *userdata);

/* How the attempt has ended, as far as it has (exit_code −1, signal 0), and who asked for the
 * change (NULL: nobody did, or an older daemon hasn't said). */
struct sg_event_row {
        uint64_t seq, time_usec, n, attempt, uid;
        int64_t exit_code, signal;
        const char *origin, *state, *reason, *who;
};
typedef void (*sg_event_cb)(const struct sg_event_row *row,
                            void *userdata); /* NULL row = the end */
/* Events after `seq` (0 = the last `limit` ones), oldest first; uid as above; of this job,
 * whatever the attempt, n 0 = of all. */
void sg_store_events(struct sg_store *s, uint64_t after_seq, uint64_t uid,
                     const struct sg_job_key *job, uint64_t limit, sg_event_cb cb, void *userdata);

/* How much history to keep, pruned in small steps as jobs finish; and whether of those that end
 * from now on the command is kept. */
void sg_store_set_retention(struct sg_store *s, uint64_t max_jobs, uint64_t max_age_usec,
                            bool keep_commands);
