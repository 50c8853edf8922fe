/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/writer/rescue.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/store/writer/rescue-internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK "schedgov.db-damaged"
#define QUARANTINE "quarantine"
#define COPY_SUFFIX ".rescue"

/* --- finding it ------------------------------------------------------------------------------- */

bool sg_rescue_row_is_sound(sqlite3_stmt *row)
{
        _cleanup_(sg_record_deinitp) struct sg_record record = {0};
        _cleanup_(sg_job_deinit) struct sg_job job;

        sg_job_init(&job);
        sg_sql_encode_job(row, &record);
        return record.error < 0 || (sg_job_decode(&job, record.data, record.size) != -EBADMSG &&
                                    job.key.n > 0 && job.key.origin[0] != '\0');
}

static int check_row(sqlite3_stmt *row, void *userdata)
{
        (void)userdata;
        return sg_rescue_row_is_sound(row) ? 0 : -EBADMSG;
}

int sg_db_check(struct sg_db *db, int state_fd)
{
        uint64_t last;
        int r;

        if (faccessat(state_fd, MARK, F_OK, 0) == 0)
                return -EBADMSG;
        r = sg_db_live_jobs(db, check_row, NULL);
        return r < 0 ? r : sg_db_last_n(db, &last);
}

void sg_db_mark_damaged(const struct sg_db *db, int state_fd)
{
        if (db->damaged)
                (void)sg_close(openat(state_fd, MARK, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

int sg_rescue_prepare(struct sg_db *db, const char *sql, sqlite3_stmt **ret)
{
        int rc = sqlite3_prepare_v2(db->handle, sql, -1, ret, NULL);

        return rc == SQLITE_OK ? 0 : rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
}

int64_t sg_rescue_last_handle(const struct sg_rescue *s)
{
        static const char sql[] = "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'";
        sqlite3 *const from[] = {s->old->handle, s->new.handle};
        int64_t last = 0;

        for (size_t i = 0; i < SG_ELEMENTSOF(from); i++) {
                sqlite3_stmt *stmt = NULL;

                if (sqlite3_prepare_v2(from[i], sql, -1, &stmt, NULL) == SQLITE_OK &&
                    sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int64(stmt, 0) > last)
                        last = sqlite3_column_int64(stmt, 0);
                (void)sqlite3_finalize(stmt);
        }
        return last;
}

/* --- the copy, and what is told of it --------------------------------------------------------- */

static int make_copy(struct sg_rescue *s)
{
        int r;

        r = sg_db_begin(&s->new);
        if (r >= 0)
                r = sg_rescue_copy(s);
        if (r >= 0)
                r = sg_rescue_jobs(s);
        return r < 0 ? r : sg_db_commit(&s->new);
}

static int open_report(struct sg_rescue *s, int state_fd, const char *name)
{
        char path[NAME_MAX];
        int fd;

        if (mkdirat(state_fd, QUARANTINE, 0700) < 0 && errno != EEXIST)
                return -errno;
        (void)snprintf(path, sizeof(path), QUARANTINE "/%s.txt", name);
        fd = openat(state_fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        s->report = fdopen(fd, "w");
        if (!s->report) {
                (void)sg_close(fd);
                return -ENOMEM;
        }
        (void)fprintf(
                s->report,
                "What isn't in %s any more since it was found damaged. As it was, it is beside "
                "this file; `.recover` of sqlite3(1) may find more.\n",
                s->old->path);
        return 0;
}

static int close_report(struct sg_rescue *s)
{
        bool whole = fflush(s->report) == 0 && fsync(fileno(s->report)) == 0;

        return fclose(s->report) == 0 && whole ? 0 : -EIO;
}

static void tell(const struct sg_rescue *s, const char *dir, const char *name,
                 char what[SG_RESCUE_TEXT_MAX])
{
        bool one = s->n_aside == 1;
        char jobs[320] = "all jobs are there", more[32] = "";

        if (s->n_aside > SG_RESCUE_NAMED_MAX)
                (void)snprintf(more, sizeof(more), " and %u more",
                               s->n_aside - SG_RESCUE_NAMED_MAX);
        if (s->n_aside > 0)
                (void)snprintf(jobs, sizeof(jobs), "job%s %s%s can't be read and %s set aside",
                               one ? "" : "s", s->aside, more, one ? "is" : "are");
        (void)snprintf(what, SG_RESCUE_TEXT_MAX,
                       "%s was damaged: %s. As it was, and what is missing: %s/" QUARANTINE
                       "/%s, %s.txt. %sook after the disk",
                       s->old->path, jobs, dir, name, name,
                       s->n_aside == 0 ? "L"
                       : one           ? "Submit it again, and l"
                                       : "Submit them again, and l");
}

/* --- in its place ----------------------------------------------------------------------------- */

/* A log beside it would be taken for the new one's. */
static int close_damaged(struct sg_db *db, int state_fd)
{
        struct stat st;

        sg_db_close(db, true);
        return fstatat(state_fd, "schedgov.db-wal", &st, 0) == 0 && st.st_size > 0 ? -EIO : 0;
}

static int put_in_place(int state_fd, const char *copy, const char *path, const char *name)
{
        char kept[NAME_MAX];
        int r;

        (void)snprintf(kept, sizeof(kept), QUARANTINE "/%s", name);
        if (linkat(AT_FDCWD, path, state_fd, kept, 0) < 0 && errno != EEXIST)
                return -errno;
        r = sg_fsync_dir(state_fd, QUARANTINE);
        if (r < 0)
                return r;
        sg_fault("store-rescue-before-rename", state_fd, "fault", 0);
        if (rename(copy, path) < 0)
                return -errno;
        sg_fault("store-rescue-after-rename", state_fd, "fault", 0);
        return sg_fsync_dir(state_fd, ".");
}

static int fail(int error, const char *path, const char *copy, char what[SG_RESCUE_TEXT_MAX])
{
        (void)unlink(copy);
        (void)snprintf(what, SG_RESCUE_TEXT_MAX,
                       "%s is damaged, and what can be read of it can't be copied to %s: %s; %s",
                       path, copy, strerror(-error),
                       error == -ENOSPC ? "make room for as much again"
                                        : "move it away to start afresh");
        return error;
}

/* The database that is to take its place, closed. */
static int rescue_to(struct sg_db *old, const char *copy, int state_fd, const char *name,
                     const char *dir, char what[SG_RESCUE_TEXT_MAX])
{
        struct sg_rescue s = {.old = old};
        int r, reported;

        r = open_report(&s, state_fd, name);
        if (r < 0)
                return r;
        r = sg_db_open(&s.new, copy, NULL, NULL);
        if (r >= 0)
                r = make_copy(&s);
        sg_db_close(&s.new, true);
        reported = close_report(&s);
        if (r < 0 || reported < 0)
                return r < 0 ? r : reported;
        tell(&s, dir, name, what);
        return 0;
}

int sg_db_rescue(struct sg_db *db, int state_fd, char what[SG_RESCUE_TEXT_MAX])
{
        _cleanup_free_ char *path = strdup(db->path), *copy = NULL, *dir = NULL;
        char name[64];
        int r;

        if (!path || asprintf(&copy, "%s" COPY_SUFFIX, path) < 0 ||
            !(dir = strndup(path, (size_t)(strrchr(path, '/') - path))))
                return -ENOMEM;
        (void)snprintf(name, sizeof(name), "schedgov.db-%" PRIu64, sg_now_realtime_usec());
        /* of one who was killed at it */
        (void)unlinkat(state_fd, "schedgov.db" COPY_SUFFIX, 0);
        (void)unlinkat(state_fd, "schedgov.db" COPY_SUFFIX "-wal", 0);

        r = rescue_to(db, copy, state_fd, name, dir, what);
        if (r >= 0)
                r = close_damaged(db, state_fd);
        if (r >= 0)
                r = put_in_place(state_fd, copy, path, name);
        if (r < 0)
                return fail(r, path, copy, what);
        (void)unlinkat(state_fd, MARK, 0);
        r = sg_db_open(db, path, NULL, NULL);
        if (r < 0)
                (void)snprintf(what, SG_RESCUE_TEXT_MAX, "%s", sg_db_why(db));
        return r;
}
