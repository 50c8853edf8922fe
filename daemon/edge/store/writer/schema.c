/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The schema, as the steps that lead to it: PRAGMA user_version says how many of them a file has
 * behind it, and an empty one takes them all. Steps are never edited, they only get more: files
 * made by each of them exist. Whatever an older daemon would misunderstand is a step as well, if
 * need be an empty one (a new state of jobs), as it refuses files with more steps than it knows.
 */

#include "edge/store/writer/db.h"

/* Columns of the sixth step. */
#define ALL_BUT_STATE                                                                              \
        "origin, n, attempt, uid, gid, user, name, class, intent, foreground, hold, priority,"     \
        " retry, array_first, array_index, after_jobs, reason, output_path, error_path,"           \
        " begin_usec, submitted_usec, started_usec, ended_usec, boot_id, pid, exit_code, signal,"  \
        " cpu_weight, cpu_quota_pm, cpus, cpus_max, pin, memory_high, memory_max, tasks_max,"      \
        " io_weight, time_limit_usec, cpu_usec, memory_peak_bytes, oom_kills, io_read_bytes,"      \
        " io_write_bytes, command, adopted, unit, cgroup, invocation, memory_swap_max,"            \
        " io_read_max, io_write_max, net_rx_bytes, net_tx_bytes, progress, eval_goal, steps,"      \
        " eval, step, total, deadline_usec, spec, token"

/*
 * jobs_key is also the order of listings: n first. jobs_live is small, so that finding what to
 * recover doesn't read history; jobs_ended is for pruning. A client token lives as long as its job.
 * A spec belongs to one job, or to the tasks of an array; spec_shares counts those that still need
 * all of it. Who has ended names what is kept of it as `kept`, which has a time once all of them
 * have.
 */
const char *const sg_sql_migrations[] = {
        "CREATE TABLE jobs ("
        " origin TEXT NOT NULL, n INTEGER NOT NULL, attempt INTEGER NOT NULL,"
        " uid INTEGER NOT NULL, gid INTEGER NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL,"
        " class TEXT NOT NULL, state INTEGER NOT NULL, intent INTEGER NOT NULL,"
        " foreground INTEGER NOT NULL, hold INTEGER NOT NULL, priority INTEGER NOT NULL,"
        " retry INTEGER NOT NULL, array_first INTEGER NOT NULL, array_index INTEGER NOT NULL,"
        " after_jobs TEXT, reason TEXT, output_path TEXT, error_path TEXT,"
        " begin_usec INTEGER NOT NULL, submitted_usec INTEGER NOT NULL,"
        " started_usec INTEGER NOT NULL, ended_usec INTEGER NOT NULL, boot_id TEXT NOT NULL,"
        " pid INTEGER NOT NULL, exit_code INTEGER NOT NULL, signal INTEGER NOT NULL,"
        " cpu_weight INTEGER NOT NULL, cpu_quota_pm INTEGER NOT NULL, cpus INTEGER NOT NULL,"
        " cpus_max INTEGER NOT NULL, pin INTEGER NOT NULL, memory_high INTEGER NOT NULL,"
        " memory_max INTEGER NOT NULL, tasks_max INTEGER NOT NULL, io_weight INTEGER NOT NULL,"
        " time_limit_usec INTEGER NOT NULL, cpu_usec INTEGER NOT NULL,"
        " memory_peak_bytes INTEGER NOT NULL, oom_kills INTEGER NOT NULL,"
        " io_read_bytes INTEGER NOT NULL, io_write_bytes INTEGER NOT NULL, command TEXT,"
        " spec INTEGER, token TEXT);"
        "CREATE UNIQUE INDEX jobs_key ON jobs (n, origin);"
        "CREATE INDEX jobs_live ON jobs (n) WHERE state < 4;"
        "CREATE INDEX jobs_ended ON jobs (ended_usec) WHERE state >= 4;"
        "CREATE UNIQUE INDEX jobs_token ON jobs (uid, token) WHERE token IS NOT NULL;"
        "CREATE TABLE attempts ("
        " origin TEXT NOT NULL, n INTEGER NOT NULL, attempt INTEGER NOT NULL, boot_id TEXT,"
        " reason TEXT, started_usec INTEGER, ended_usec INTEGER, exit_code INTEGER,"
        " signal INTEGER, cpu_usec INTEGER, memory_peak_bytes INTEGER, oom_kills INTEGER,"
        " io_read_bytes INTEGER, io_write_bytes INTEGER,"
        " PRIMARY KEY (origin, n, attempt)) WITHOUT ROWID;"
        "CREATE TABLE specs (id INTEGER PRIMARY KEY, body BLOB NOT NULL);"
        "CREATE TABLE spec_shares (spec INTEGER PRIMARY KEY, users INTEGER NOT NULL);"
        "CREATE TABLE events (seq INTEGER PRIMARY KEY, time_usec INTEGER NOT NULL,"
        " origin TEXT NOT NULL, n INTEGER NOT NULL, attempt INTEGER NOT NULL,"
        " uid INTEGER NOT NULL, state INTEGER NOT NULL, reason TEXT);"
        /* what pruning would make us forget: numbers are never given twice */
        "CREATE TABLE counters (origin TEXT PRIMARY KEY, last_n INTEGER NOT NULL) WITHOUT ROWID;",
        /* Jobs that somebody else started. */
        "ALTER TABLE jobs ADD COLUMN adopted INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE jobs ADD COLUMN unit TEXT;"
        "ALTER TABLE jobs ADD COLUMN cgroup TEXT;"
        "ALTER TABLE jobs ADD COLUMN invocation TEXT NOT NULL DEFAULT '';",
        "ALTER TABLE jobs ADD COLUMN memory_swap_max INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE jobs ADD COLUMN io_read_max INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE jobs ADD COLUMN io_write_max INTEGER NOT NULL DEFAULT -1;",
        "ALTER TABLE jobs ADD COLUMN net_rx_bytes INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE jobs ADD COLUMN net_tx_bytes INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE jobs ADD COLUMN progress TEXT;"
        "ALTER TABLE jobs ADD COLUMN eval_goal INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE jobs ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE jobs ADD COLUMN eval TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE jobs ADD COLUMN step INTEGER NOT NULL DEFAULT -1;"
        "ALTER TABLE jobs ADD COLUMN total INTEGER NOT NULL DEFAULT -1;",
        "ALTER TABLE jobs ADD COLUMN deadline_usec INTEGER NOT NULL DEFAULT 0;",
        /* A number of its own for each job, whatever becomes of others, and room between the states
         * of jobs that live and of those that have ended: final ones begin at 32, no more at 4. */
        "DROP INDEX jobs_key; DROP INDEX jobs_live; DROP INDEX jobs_ended; DROP INDEX jobs_token;"
        "ALTER TABLE jobs RENAME TO jobs_before;"
        "CREATE TABLE jobs ("
        " handle INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL, n INTEGER NOT NULL,"
        " attempt INTEGER NOT NULL, uid INTEGER NOT NULL, gid INTEGER NOT NULL,"
        " user TEXT NOT NULL, name TEXT NOT NULL, class TEXT NOT NULL, state INTEGER NOT NULL,"
        " intent INTEGER NOT NULL, foreground INTEGER NOT NULL, hold INTEGER NOT NULL,"
        " priority INTEGER NOT NULL, retry INTEGER NOT NULL, array_first INTEGER NOT NULL,"
        " array_index INTEGER NOT NULL, after_jobs TEXT, reason TEXT, output_path TEXT,"
        " error_path TEXT, begin_usec INTEGER NOT NULL, submitted_usec INTEGER NOT NULL,"
        " started_usec INTEGER NOT NULL, ended_usec INTEGER NOT NULL, boot_id TEXT NOT NULL,"
        " pid INTEGER NOT NULL, exit_code INTEGER NOT NULL, signal INTEGER NOT NULL,"
        " cpu_weight INTEGER NOT NULL, cpu_quota_pm INTEGER NOT NULL, cpus INTEGER NOT NULL,"
        " cpus_max INTEGER NOT NULL, pin INTEGER NOT NULL, memory_high INTEGER NOT NULL,"
        " memory_max INTEGER NOT NULL, tasks_max INTEGER NOT NULL, io_weight INTEGER NOT NULL,"
        " time_limit_usec INTEGER NOT NULL, cpu_usec INTEGER NOT NULL,"
        " memory_peak_bytes INTEGER NOT NULL, oom_kills INTEGER NOT NULL,"
        " io_read_bytes INTEGER NOT NULL, io_write_bytes INTEGER NOT NULL, command TEXT,"
        " adopted INTEGER NOT NULL, unit TEXT, cgroup TEXT, invocation TEXT NOT NULL,"
        " memory_swap_max INTEGER NOT NULL, io_read_max INTEGER NOT NULL,"
        " io_write_max INTEGER NOT NULL, net_rx_bytes INTEGER NOT NULL,"
        " net_tx_bytes INTEGER NOT NULL, progress TEXT, eval_goal INTEGER NOT NULL,"
        " steps INTEGER NOT NULL, eval TEXT NOT NULL, step INTEGER NOT NULL,"
        " total INTEGER NOT NULL, deadline_usec INTEGER NOT NULL, spec INTEGER, token TEXT);"
        "INSERT INTO jobs (handle, state, " ALL_BUT_STATE ")"
        " SELECT rowid, iif(state < 4, state, state + 28), " ALL_BUT_STATE " FROM jobs_before;"
        "DROP TABLE jobs_before;"
        "CREATE UNIQUE INDEX jobs_key ON jobs (n, origin);"
        "CREATE INDEX jobs_live ON jobs (n) WHERE state < 32;"
        "CREATE INDEX jobs_ended ON jobs (ended_usec) WHERE state >= 32;"
        "CREATE UNIQUE INDEX jobs_token ON jobs (uid, token) WHERE token IS NOT NULL;"
        "UPDATE events SET state = state + 28 WHERE state >= 4;",
        /* Why an adopted job is frozen. Of one with an attempt that is in its directory, where the
         * writer puts it (take_over_reasons()): whom an older daemon suspended its user did. */
        ("ALTER TABLE jobs ADD COLUMN frozen INTEGER NOT NULL DEFAULT 0;"
         "UPDATE jobs SET frozen = 1 WHERE state = 3 AND adopted = 0;"),
        /* Who runs by now, or has, was given --cpus in its environment, and nothing follows. */
        ("ALTER TABLE jobs ADD COLUMN threads INTEGER NOT NULL DEFAULT 0;"
         "ALTER TABLE jobs ADD COLUMN threads_given INTEGER NOT NULL DEFAULT 0;"
         "ALTER TABLE jobs ADD COLUMN follows INTEGER NOT NULL DEFAULT 0;"
         "UPDATE jobs SET threads = 1, threads_given = cpus WHERE state > 0;"),
        ("ALTER TABLE jobs ADD COLUMN io_read_iops INTEGER NOT NULL DEFAULT -1;"
         "ALTER TABLE jobs ADD COLUMN io_write_iops INTEGER NOT NULL DEFAULT -1;"),
        "ALTER TABLE jobs ADD COLUMN array_max INTEGER NOT NULL DEFAULT 0;",
        ("ALTER TABLE events ADD COLUMN exit_code INTEGER NOT NULL DEFAULT -1;"
         "ALTER TABLE events ADD COLUMN signal INTEGER NOT NULL DEFAULT 0;"
         "ALTER TABLE events ADD COLUMN who TEXT;"),
        /* Commands of jobs that have ended. Of those before it, nothing is there. */
        ("ALTER TABLE specs ADD COLUMN uid INTEGER NOT NULL DEFAULT 0;"
         "ALTER TABLE specs ADD COLUMN ended_usec INTEGER NOT NULL DEFAULT 0;"
         "ALTER TABLE specs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;"
         "CREATE INDEX specs_kept ON specs (uid, ended_usec, bytes) WHERE ended_usec > 0;"
         "ALTER TABLE jobs ADD COLUMN kept INTEGER;"
         "CREATE INDEX jobs_kept ON jobs (kept) WHERE kept IS NOT NULL;"),
        /* GPUs: those that were given, and what is asked for, NULL of who asks for none. */
        ("ALTER TABLE jobs ADD COLUMN gpus TEXT;"
         "ALTER TABLE jobs ADD COLUMN gpu_min INTEGER; ALTER TABLE jobs ADD COLUMN gpu_max INTEGER;"
         "ALTER TABLE jobs ADD COLUMN gpu_share INTEGER;"
         "ALTER TABLE jobs ADD COLUMN gpu_memory_bytes INTEGER;"
         "ALTER TABLE jobs ADD COLUMN gpu_type TEXT; ALTER TABLE jobs ADD COLUMN gpu_mig TEXT;"
         "ALTER TABLE jobs ADD COLUMN gpu_ids TEXT;"
         "ALTER TABLE jobs ADD COLUMN gpu_memory_peak_bytes INTEGER;"
         "ALTER TABLE jobs ADD COLUMN gpu_usec INTEGER;"
         "ALTER TABLE jobs ADD COLUMN gpu_energy_mj INTEGER;"),
};

const unsigned sg_sql_n_migrations = SG_ELEMENTSOF(sg_sql_migrations);
