/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/child/journal.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>
#include <systemd/sd-journal.h>

#define LOOK_MAX 20000U /* entries; of more only the newest are read */
#define NEWEST 1000U
#define MESSAGE_MAX (64U << 10)

struct sg_journal {
        char *dir;
        sd_journal *handle;
        struct sg_list units;
        char *cursor; /* of the last entry that was seen */
        bool changed; /* the units have, since the matches were set */
};

int sg_journal_new(struct sg_journal **ret, const char *dir)
{
        struct sg_journal *j = calloc(1, sizeof(*j));

        if (!j)
                return -ENOMEM;
        sg_list_init(&j->units);
        j->dir = dir ? strdup(dir) : NULL;
        if (dir && !j->dir)
                return sg_journal_free(j), -ENOMEM;
        *ret = j;
        return 0;
}

static void journal_close(struct sg_journal *j)
{
        sd_journal_close(TAKE_PTR(j->handle));
        free(TAKE_PTR(j->cursor));
}

struct sg_journal *sg_journal_free(struct sg_journal *j)
{
        if (!j)
                return NULL;
        journal_close(j);
        free(j->dir);
        free(j);
        return NULL;
}

void sg_journal_add(struct sg_journal *j, struct sg_journal_unit *u)
{
        u->caught_up = false;
        u->last_usec = 0;
        sg_list_append(&j->units, &u->link);
        j->changed = true;
}

void sg_journal_remove(struct sg_journal *j, struct sg_journal_unit *u)
{
        sg_list_remove(&u->link);
        j->changed = true;
        if (sg_list_empty(&j->units))
                journal_close(j);
}

static int remember(struct sg_journal *j)
{
        char *cursor;
        int r = sd_journal_get_cursor(j->handle, &cursor);

        if (r == -EADDRNOTAVAIL) /* there was no entry yet */
                return 0;
        if (r < 0)
                return r;
        free(j->cursor);
        j->cursor = cursor;
        return 0;
}

/* The present end is where all that is new begins, whatever the clocks say. */
static int find_end(struct sg_journal *j)
{
        int r = sd_journal_seek_tail(j->handle);

        if (r >= 0)
                r = sd_journal_previous(j->handle);
        return r > 0 ? remember(j) : r;
}

static int journal_open(struct sg_journal *j)
{
        int r;

        if (j->handle)
                return 0;
        r = j->dir ? sd_journal_open_directory(&j->handle, j->dir, 0)
                   : sd_journal_open(&j->handle, SD_JOURNAL_LOCAL_ONLY);
        if (r < 0) {
                j->handle = NULL;
                return r;
        }
        (void)sd_journal_set_data_threshold(j->handle, MESSAGE_MAX);
        /* With this the handle learns of files that come and go. */
        r = sd_journal_get_fd(j->handle);
        if (r >= 0)
                r = find_end(j);
        if (r < 0)
                journal_close(j);
        return r;
}

/* --- which entries */

/* The invocation's ID is unique: it also finds what a user's own manager started. */
static int add_match(struct sg_journal *j, const struct sg_journal_unit *u)
{
        char match[512];
        int n = u->invocation[0]
                        ? snprintf(match, sizeof(match), "_SYSTEMD_INVOCATION_ID=%s", u->invocation)
                        : snprintf(match, sizeof(match), "_SYSTEMD_UNIT=%s", u->unit);

        if (n < 0 || (size_t)n >= sizeof(match))
                return -ENAMETOOLONG;
        return sd_journal_add_match(j->handle, match, (size_t)n);
}

/* Matches of one field are alternatives, those of different ones are not, unless said. */
static int set_matches(struct sg_journal *j)
{
        const struct sg_journal_unit *u;
        int r = 0;

        sd_journal_flush_matches(j->handle);
        for (int by_invocation = 0; by_invocation <= 1 && r >= 0; by_invocation++) {
                sg_list_foreach (u, &j->units, link)
                        if (r >= 0 && (u->invocation[0] != 0) == by_invocation)
                                r = add_match(j, u);
                if (r >= 0)
                        r = sd_journal_add_disjunction(j->handle);
        }
        return r;
}

static bool field_is(sd_journal *handle, const char *field, const char *value)
{
        size_t prefix = strlen(field) + 1, size, n = strlen(value);
        const void *data;

        if (sd_journal_get_data(handle, field, &data, &size) < 0)
                return false;
        return size == prefix + n && memcmp((const char *)data + prefix, value, n) == 0;
}

static bool is_of(sd_journal *handle, const struct sg_journal_unit *u)
{
        return u->invocation[0] ? field_is(handle, "_SYSTEMD_INVOCATION_ID", u->invocation)
                                : field_is(handle, "_SYSTEMD_UNIT", u->unit);
}

/* --- entries */

static void hand_out(sd_journal *handle, struct sg_journal_unit *u)
{
        static const size_t prefix = sizeof("MESSAGE=") - 1;
        const void *data;
        size_t size;

        if (sd_journal_get_data(handle, "MESSAGE", &data, &size) >= 0 && size > prefix)
                u->message((const char *)data + prefix, size - prefix, u->userdata);
}

static void take_entry(struct sg_journal *j, struct sg_journal_unit *u, uint64_t when)
{
        if (when < u->since_usec)
                return;
        hand_out(j->handle, u);
        u->last_usec = when > u->last_usec ? when : u->last_usec;
}

static int take_current(struct sg_journal *j)
{
        struct sg_journal_unit *u;
        uint64_t when;
        int r;

        r = sd_journal_get_realtime_usec(j->handle, &when);
        if (r < 0)
                return r;
        sg_list_foreach (u, &j->units, link)
                if (is_of(j->handle, u)) {
                        if (!u->caught_up && when <= u->last_usec)
                                break; /* it was among those before it was followed with the others
                                        */
                        take_entry(j, u, when);
                        break;
                }
        return 0;
}

/* Reads what a new unit has written before, and nothing of other units. */
static int catch_up(struct sg_journal *j, struct sg_journal_unit *u)
{
        uint64_t when;
        int r;

        sd_journal_flush_matches(j->handle);
        r = add_match(j, u);
        if (r >= 0)
                r = sd_journal_seek_tail(j->handle);
        if (r >= 0)
                r = sd_journal_previous_skip(j->handle, SG_JOURNAL_CATCH_UP);
        if (r >= 0 && sd_journal_get_realtime_usec(j->handle, &when) >= 0 && when < u->since_usec) {
                r = sd_journal_seek_realtime_usec(j->handle, u->since_usec);
                if (r >= 0)
                        r = sd_journal_next(j->handle);
        }
        while (r > 0) {
                if (sd_journal_get_realtime_usec(j->handle, &when) >= 0)
                        take_entry(j, u, when);
                r = sd_journal_next(j->handle);
        }
        return r;
}

/* --- the common position */

/* Goes to the entry behind the last one that was seen; 1 = the current entry is one that wasn't. */
static int go_back(struct sg_journal *j)
{
        int r;

        /* It was empty. */
        if (!j->cursor) {
                r = sd_journal_seek_head(j->handle);
                return r < 0 ? r : sd_journal_next(j->handle);
        }
        r = sd_journal_seek_cursor(j->handle, j->cursor);
        if (r >= 0)
                r = sd_journal_next(j->handle);
        if (r > 0 && sd_journal_test_cursor(j->handle, j->cursor) > 0)
                r = sd_journal_next(j->handle);
        return r;
}

static int take_changes(struct sg_journal *j)
{
        struct sg_journal_unit *u;
        int r = 0;

        sg_list_foreach (u, &j->units, link)
                if (r >= 0 && !u->caught_up && u->last_usec == 0)
                        r = catch_up(j, u);
        if (r >= 0)
                r = set_matches(j);
        return r < 0 ? r : go_back(j);
}

static int skip_to_newest(struct sg_journal *j)
{
        int r = sd_journal_seek_tail(j->handle);

        return r < 0 ? r : sd_journal_previous_skip(j->handle, NEWEST);
}

/* From the current entry on, if there is one. */
static int read_entries(struct sg_journal *j, int current)
{
        int r = current;

        for (unsigned n = 0; r > 0; n++) {
                r = take_current(j);
                if (r >= 0)
                        r = n == LOOK_MAX ? skip_to_newest(j) : sd_journal_next(j->handle);
        }
        return r;
}

int sg_journal_look(struct sg_journal *j)
{
        struct sg_journal_unit *u;
        int r;

        if (sg_list_empty(&j->units))
                return 0;
        r = journal_open(j);
        if (r >= 0)
                r = sd_journal_process(j->handle);
        if (r >= 0)
                r = j->changed ? take_changes(j) : sd_journal_next(j->handle);
        if (r >= 0)
                r = read_entries(j, r);
        if (r >= 0)
                r = remember(j);
        if (r < 0)
                return r;
        j->changed = false;
        sg_list_foreach (u, &j->units, link)
                u->caught_up = true;
        return 0;
}
