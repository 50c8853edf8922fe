/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The database file: opening and migrating it, transactions, and what SQLite's failures mean to us.
 * Checkpoints are ours to time (sg_db_checkpoint): SQLite would do them inside a COMMIT that
 * somebody waits for. None is made when the writer ends because the daemon has died, so that the
 * next one needn't wait for it.
 */

#include "edge/store/writer/db.h"
#include "base/fault.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION_ID 0x73676f76 /* "sgov" */
#define CHECKPOINT_PAGES 1000     /* 4 MB, SQLite's own default: a few ms of copying */

static void db_explain(struct sg_db *db, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

static void db_explain(struct sg_db *db, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(db->why, sizeof(db->why), format, ap);
        va_end(ap);
}

/* The errno of a failure that isn't the request's own fault. */
static int db_errno(struct sg_db *db, int rc)
{
        int system = sqlite3_system_errno(db->handle);

        switch (rc & 0xff) {
        case SQLITE_FULL:
                return -ENOSPC;
        case SQLITE_READONLY:
                return -EROFS;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
                return -EBADMSG;
        case SQLITE_NOMEM:
                return -ENOMEM;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
                return -EBUSY;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
                return system > 0 ? -system : -EIO;
        default:
                return -EIO;
        }
}

void sg_db_explain(struct sg_db *db, int error)
{
        switch (error) {
        case -EBADMSG:
                db_explain(db, "%s is damaged (%s): %s; jobs that run are not touched", db->path,
                           sqlite3_errmsg(db->handle),
                           db->sound ? "restart schedgovd, which goes on with what can be read"
                                     : "move it away to start afresh");
                break;
        case -ENOSPC:
        case -EDQUOT:
                db_explain(db,
                           "no space left for %s: make some; jobs that run are not touched, and "
                           "cancel works",
                           db->path);
                break;
        case -EROFS:
                db_explain(db, "%s is read-only: make it writable; jobs that run are not touched",
                           db->path);
                break;
        case -EBUSY:
                db_explain(db, "%s is locked by another program: end that program", db->path);
                break;
        default:
                db_explain(db, "cannot use %s: %s (%s)", db->path, sqlite3_errmsg(db->handle),
                           strerror(-error));
        }
}

static int db_error(struct sg_db *db, int rc)
{
        int error;

        switch (rc & 0xff) {
        case SQLITE_CONSTRAINT:
                return -EEXIST;
        case SQLITE_TOOBIG:
                return -E2BIG;
        default:
                error = db_errno(db, rc);
                db->failed = true;
                db->damaged = db->damaged || error == -EBADMSG;
                sg_db_explain(db, error);
                return error;
        }
}

bool sg_db_failed(const struct sg_db *db)
{
        return db->failed;
}

const char *sg_db_why(const struct sg_db *db)
{
        return db->why;
}

static int db_exec(struct sg_db *db, const char *sql)
{
        int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

        return rc == SQLITE_OK ? 0 : db_error(db, rc);
}

static int db_pragma(struct sg_db *db, const char *sql, int64_t *ret)
{
        sqlite3_stmt *stmt = NULL;
        int rc, r;

        rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
        if (rc != SQLITE_OK)
                return db_error(db, rc);
        r = sg_db_step(db, stmt);
        if (r > 0)
                *ret = sqlite3_column_int64(stmt, 0);
        (void)sqlite3_finalize(stmt);
        return r < 0 ? r : 0;
}

static int on_wal(void *userdata, sqlite3 *handle, const char *name, int pages)
{
        struct sg_db *db = userdata;

        (void)handle;
        (void)name;
        db->wal_pages = pages;
        return SQLITE_OK;
}

/* Refuses what isn't ours before anything is written. */
static int db_check_schema(struct sg_db *db, int64_t *ret_version)
{
        int64_t version = 0, id = 0, tables = 0;
        int r;

        r = db_pragma(db, "PRAGMA user_version", &version);
        if (r >= 0)
                r = db_pragma(db, "PRAGMA application_id", &id);
        if (r >= 0)
                r = db_pragma(db, "SELECT count(*) FROM sqlite_schema", &tables);
        if (r < 0)
                return r;
        if (tables > 0 && id != APPLICATION_ID) {
                db_explain(db, "%s is not a database of schedgov: move it away", db->path);
                return -EBADMSG;
        }
        if (version < 0 || version > sg_sql_n_migrations) {
                db_explain(db,
                           "%s was written by a newer schedgov (schema %lld, this one knows %u): "
                           "install that version again",
                           db->path, (long long)version, sg_sql_n_migrations);
                return -EPROTONOSUPPORT;
        }
        *ret_version = version;
        return 0;
}

/* Where a test may kill us, or the daemon, which waits for the database. */
static void db_fault(struct sg_db *db, const char *point)
{
        char path[PATH_MAX];
        int dir = (int)(strrchr(db->path, '/') - db->path);

        (void)snprintf(path, sizeof(path), "%.*s/fault", dir, db->path);
        sg_fault(point, AT_FDCWD, path, getppid());
}

static int db_migrate_from(struct sg_db *db, int64_t version)
{
        char sql[64];
        int r = 0;

        for (int64_t i = version; r >= 0 && i < sg_sql_n_migrations; i++)
                r = db_exec(db, sg_sql_migrations[i]);
        (void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %u", sg_sql_n_migrations);
        if (r >= 0)
                r = db_exec(db, sql);
        (void)snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", APPLICATION_ID);
        return r < 0 ? r : db_exec(db, sql);
}

/* All steps are one transaction: whatever happens, the file is of the one version or of the
 * other. */
static int db_migrate(struct sg_db *db, int64_t version, sg_db_migrated_cb migrated, void *userdata)
{
        int r;

        if (version == sg_sql_n_migrations)
                return 0;
        r = sg_db_begin(db);
        if (r >= 0)
                r = db_migrate_from(db, version);
        if (r >= 0 && version > 0)
                r = migrated(db, userdata);
        if (r >= 0) {
                db_fault(db, "store-upgrade-before-commit");
                r = sg_db_commit(db);
        }
        if (r >= 0)
                db_fault(db, "store-upgrade-after-commit");
        else
                sg_db_rollback(db);
        if (r == -ENOSPC && version > 0)
                db_explain(db,
                           "no space left to upgrade %s: make room for twice its size, or install "
                           "the version before again; jobs that run are not touched",
                           db->path);
        /* A migration copies all that there is through the WAL, and a part of it through memory:
         * both are given back, also when there was too little. */
        sg_db_cut_log(db);
        (void)malloc_trim(0);
        return r;
}

static int db_configure(struct sg_db *db)
{
        /* Durable on COMMIT; 1 MB of pages is enough for one row at a time; what is deleted
         * (arguments, environment) is overwritten; a damaged page is better met when it is read
         * than later; a WAL that one large transaction has grown is cut down again. */
        return db_exec(db, "PRAGMA journal_mode = WAL;"
                           "PRAGMA synchronous = FULL;"
                           "PRAGMA cache_size = -1024;"
                           "PRAGMA temp_store = MEMORY;"
                           "PRAGMA secure_delete = ON;"
                           "PRAGMA trusted_schema = OFF;"
                           "PRAGMA cell_size_check = ON;"
                           "PRAGMA journal_size_limit = 8388608;");
}

int sg_db_open(struct sg_db *db, const char *path, sg_db_migrated_cb migrated, void *userdata)
{
        const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
                          SQLITE_OPEN_EXRESCODE;
        int64_t version = 0;
        int rc, r;

        *db = (struct sg_db){.finished = -1,
                             .max_jobs = SG_UNLIMITED,
                             .max_age_usec = SG_UNLIMITED,
                             .max_bytes = SG_UNLIMITED,
                             .keep_commands = true};
        db->path = strdup(path);
        if (!db->path)
                return -ENOMEM;
        rc = sqlite3_open_v2(path, &db->handle, flags, NULL);
        if (!db->handle)
                return -ENOMEM;
        if (rc != SQLITE_OK)
                return db_error(db, rc);
        (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        (void)sqlite3_wal_hook(db->handle, on_wal, db);

        r = db_exec(db, "PRAGMA locking_mode = EXCLUSIVE");
        if (r >= 0)
                r = db_check_schema(db, &version);
        if (r >= 0)
                r = db_configure(db);
        if (r >= 0)
                r = db_migrate(db, version, migrated, userdata);
        return r;
}

void sg_db_close(struct sg_db *db, bool checkpoint)
{
        for (int i = 0; i < _SG_SQL_MAX; i++)
                (void)sqlite3_finalize(db->statements[i]);
        if (db->handle && checkpoint)
                (void)sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        (void)sqlite3_close(db->handle);
        free(db->path);
        *db = (struct sg_db){0};
}

void sg_db_checkpoint(struct sg_db *db)
{
        if (db->wal_pages < CHECKPOINT_PAGES)
                return;
        /* One that fails (a full disk) is tried again after the next COMMIT. */
        (void)sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
        db->wal_pages = 0;
}

void sg_db_cut_log(struct sg_db *db)
{
        (void)sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        db->wal_pages = 0;
}

int sg_db_statement(struct sg_db *db, enum sg_sql id, sqlite3_stmt **ret)
{
        sqlite3_stmt *stmt = db->statements[id];
        char *sql;
        int rc;

        if (!stmt) {
                sql = sg_sql_text(id);
                if (!sql)
                        return -ENOMEM;
                rc = sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt,
                                        NULL);
                sqlite3_free(sql);
                if (rc != SQLITE_OK)
                        return db_error(db, rc);
                db->statements[id] = stmt;
        }
        (void)sqlite3_reset(stmt);
        (void)sqlite3_clear_bindings(stmt);
        *ret = stmt;
        return 0;
}

int sg_db_step(struct sg_db *db, sqlite3_stmt *stmt)
{
        int rc = sqlite3_step(stmt);

        if (rc == SQLITE_ROW)
                return 1;
        (void)sqlite3_reset(stmt);
        return rc == SQLITE_DONE ? 0 : db_error(db, rc);
}

int sg_db_run(struct sg_db *db, sqlite3_stmt *stmt)
{
        int r;

        do
                r = sg_db_step(db, stmt);
        while (r > 0);
        return r;
}

static int db_run_id(struct sg_db *db, enum sg_sql id)
{
        sqlite3_stmt *stmt;
        int r;

        r = sg_db_statement(db, id, &stmt);
        return r < 0 ? r : sg_db_run(db, stmt);
}

int sg_db_begin(struct sg_db *db)
{
        db->failed = false;
        db->why[0] = 0;
        db->finished_before = db->finished;
        return db_run_id(db, SG_SQL_BEGIN);
}

int sg_db_sync_later(struct sg_db *db, bool later)
{
        int r;

        if (db->syncs_later == later)
                return 0;
        r = db_exec(db, later ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
        if (r >= 0)
                db->syncs_later = later;
        return r;
}

int sg_db_sync(struct sg_db *db)
{
        sqlite3_file *wal = NULL;
        int rc;

        rc = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
        if (rc == SQLITE_OK && wal && wal->pMethods)
                rc = wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
        return rc == SQLITE_OK ? 0 : db_error(db, rc);
}

int sg_db_commit(struct sg_db *db)
{
        return db_run_id(db, SG_SQL_COMMIT);
}

void sg_db_rollback(struct sg_db *db)
{
        for (int i = 0; i < _SG_SQL_MAX; i++)
                (void)sqlite3_reset(db->statements[i]);
        /* After some failures SQLite has done it by itself. */
        if (!sqlite3_get_autocommit(db->handle))
                (void)sqlite3_exec(db->handle, "ROLLBACK", NULL, NULL, NULL);
        db->finished = db->finished_before;
}

int sg_db_savepoint(struct sg_db *db)
{
        return db_run_id(db, SG_SQL_SAVEPOINT);
}

int sg_db_release(struct sg_db *db, bool keep)
{
        int r = keep ? 0 : db_run_id(db, SG_SQL_ROLLBACK_TO);

        return r < 0 ? r : db_run_id(db, SG_SQL_RELEASE);
}
