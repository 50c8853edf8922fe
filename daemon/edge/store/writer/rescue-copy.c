/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables, row by row, around what can't be read. A damaged page takes all rows on it; where the
 * next readable one is isn't known, so it is looked for by its key.
 */

#include "edge/store/writer/rescue-internal.h"
#include <errno.h>
#include <inttypes.h>

#define COMMIT_ROWS 512U
#define LARGE_ROW (64 * 1024) /* bytes: each of these is committed alone */
/* Keys are given one after the other: one so far from the last has been read from a damaged page.
 */
#define GAP_MAX (1LL << 40)
/* A damaged page has fewer rows than that; one of the level above has hundreds of pages below it.
 * So behind this many keys the steps get longer. */
#define TRIES_AT_ONCE 4096U

/* Their key is the first column. */
static const char *const numbered[][2] = {{"specs", "id"}, {"jobs", "handle"}, {"events", "seq"}};
/* Tables without numbers are read from the front and from the back, up to what is damaged. */
static const char *const ordered[][2] = {
        {"attempts", "origin DESC, n DESC, attempt DESC"},
        {"counters", "origin DESC"},
};

struct copying {
        struct sg_rescue *rescue;
        const char *table;
        sqlite3_stmt *from, *into;
};

static int prepare(struct sg_db *db, sqlite3_str *text, sqlite3_stmt **ret)
{
        char *sql = sqlite3_str_finish(text);
        int r = sql ? sg_rescue_prepare(db, sql, ret) : -ENOMEM;

        sqlite3_free(sql);
        return r;
}

static int prepare_insert(struct copying *c)
{
        sqlite3_str *text = sqlite3_str_new(NULL);
        int n = sqlite3_column_count(c->from);

        sqlite3_str_appendf(text, "INSERT OR IGNORE INTO %s VALUES (", c->table);
        for (int i = 1; i <= n; i++)
                sqlite3_str_appendf(text, "%s?%d", i > 1 ? "," : "", i);
        sqlite3_str_appendall(text, ")");
        return prepare(&c->rescue->new, text, &c->into);
}

/* `rest`: what follows the name of the table. */
static int copying_begin(struct copying *c, const char *rest)
{
        sqlite3_str *text = sqlite3_str_new(NULL);
        int r;

        sqlite3_str_appendf(text, "SELECT * FROM %s%s", c->table, rest);
        r = prepare(c->rescue->old, text, &c->from);
        return r < 0 ? r : prepare_insert(c);
}

static void copying_end(struct copying *c)
{
        (void)sqlite3_finalize(c->from);
        (void)sqlite3_finalize(c->into);
        c->from = c->into = NULL;
}

static int commit_some(struct sg_rescue *s, int bytes)
{
        int r;

        if (++s->uncommitted < COMMIT_ROWS && bytes < LARGE_ROW)
                return 0;
        s->uncommitted = 0;
        r = sg_db_commit(&s->new);
        if (r < 0)
                return r;
        sg_db_checkpoint(&s->new);
        return sg_db_begin(&s->new);
}

static int copy_row(struct copying *c)
{
        int n = sqlite3_column_count(c->from), bytes = 0, r;

        for (int i = 0; i < n; i++) {
                int type = sqlite3_column_type(c->from, i);

                if (type == SQLITE_BLOB || type == SQLITE_TEXT)
                        bytes += sqlite3_column_bytes(c->from, i);
                (void)sqlite3_bind_value(c->into, i + 1, sqlite3_column_value(c->from, i));
        }
        r = sg_db_run(&c->rescue->new, c->into);
        (void)sqlite3_clear_bindings(c->into);
        return r < 0 ? r : commit_some(c->rescue, bytes);
}

/* The row that is next after `*at`, whose key it is then: 1, 0, or -EBADMSG. */
static int step(struct copying *c, int64_t *at)
{
        int64_t key;
        int r;

        r = sg_db_step(c->rescue->old, c->from);
        if (r <= 0)
                return r;
        key = sqlite3_column_int64(c->from, 0);
        if (key < *at || key - *at > GAP_MAX)
                return -EBADMSG;
        *at = key;
        return 1;
}

static void seek(struct copying *c, int64_t at)
{
        (void)sqlite3_reset(c->from);
        (void)sqlite3_bind_int64(c->from, 1, at);
}

/* From this key on, and then from behind the last row that could be read. 0: to the end. */
static int copy_from(struct copying *c, int64_t *at)
{
        int r, copied;

        seek(c, *at);
        while ((r = step(c, at)) > 0) {
                copied = copy_row(c);
                if (copied < 0)
                        return copied;
                (*at)++;
        }
        return r;
}

/* INT64_MAX: nothing behind it can be read. */
static int64_t next_readable(struct copying *c, int64_t at)
{
        int64_t by = 1;

        for (unsigned tries = 0; at < INT64_MAX - by; tries++) {
                int64_t key;

                at += by;
                key = at;
                seek(c, at);
                if (step(c, &key) >= 0)
                        return at;
                if (tries >= TRIES_AT_ONCE && by < INT64_MAX / 4)
                        by *= 2;
        }
        return INT64_MAX;
}

static int copy_numbered(struct copying *c)
{
        int64_t at = 1;
        int r;

        while ((r = copy_from(c, &at)) == -EBADMSG && !sg_db_failed(&c->rescue->new)) {
                int64_t next = next_readable(c, at);

                if (next == INT64_MAX) {
                        (void)fprintf(c->rescue->report,
                                      "%s: from number %" PRIi64 " on nothing can be read\n",
                                      c->table, at);
                        return 0;
                }
                (void)fprintf(c->rescue->report,
                              "%s: numbers %" PRIi64 " to %" PRIi64 " can't be read\n", c->table,
                              at, next - 1);
                at = next;
        }
        return r;
}

static int copy_all(struct copying *c)
{
        int r;

        while ((r = sg_db_step(c->rescue->old, c->from)) > 0) {
                r = copy_row(c);
                if (r < 0)
                        break;
        }
        return r;
}

static int copy_ordered(struct sg_rescue *s, const char *table, const char *order)
{
        struct copying c = {.rescue = s, .table = table};
        char backwards[128];
        int r;

        r = copying_begin(&c, "");
        if (r >= 0)
                r = copy_all(&c);
        copying_end(&c);
        if (r != -EBADMSG || sg_db_failed(&s->new))
                return r;
        (void)fprintf(s->report, "%s: a part of it can't be read\n", table);
        (void)snprintf(backwards, sizeof(backwards), " ORDER BY %s", order);
        r = copying_begin(&c, backwards);
        if (r >= 0)
                r = copy_all(&c);
        copying_end(&c);
        return r == -EBADMSG && !sg_db_failed(&s->new) ? 0 : r;
}

int sg_rescue_copy(struct sg_rescue *s)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < SG_ELEMENTSOF(numbered); i++) {
                struct copying c = {.rescue = s, .table = numbered[i][0]};
                char rest[64];

                (void)snprintf(rest, sizeof(rest), " WHERE %s >= ?1 ORDER BY %s", numbered[i][1],
                               numbered[i][1]);
                r = copying_begin(&c, rest);
                if (r >= 0)
                        r = copy_numbered(&c);
                copying_end(&c);
        }
        for (size_t i = 0; r >= 0 && i < SG_ELEMENTSOF(ordered); i++)
                r = copy_ordered(s, ordered[i][0], ordered[i][1]);
        return r;
}
