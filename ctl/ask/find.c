/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See find.h. */

#include "ctl/ask/find.h"
#include "base/utf8.h"
#include "ctl/ask/pages.h"
#include "proto/job-key.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So many are named where a name stands for several. */
#define SHOWN 6

/* A job, or tasks of an array. */
struct submission {
        char id[SG_JOB_ID_MAX]; /* of the first that was seen */
        char name[SG_JOB_NAME_MAX];
        uint64_t array, first, last; /* numbers */
};

struct submissions {
        struct submission v[SHOWN]; /* the first n of them */
        size_t n;
        uint64_t array; /* of the last row */
};

static uint64_t number_of(const char *id)
{
        return strtoull(id, NULL, 10);
}

static void begin(struct submission *s, const struct sg_row *row)
{
        *s = (struct submission){.array = row->array, .first = number_of(row->id)};
        s->last = s->first;
        (void)snprintf(s->id, sizeof(s->id), "%s", row->id);
        (void)snprintf(s->name, sizeof(s->name), "%s", row->name);
}

/* Rows of one array come one after the other. */
static int note(const struct sg_row *row, void *userdata)
{
        struct submissions *s = userdata;
        uint64_t n = number_of(row->id);

        if (row->array > 0 && row->array == s->array) {
                if (s->n <= SHOWN && n > s->v[s->n - 1].last)
                        s->v[s->n - 1].last = n;
                return 0;
        }
        s->array = row->array;
        if (s->n++ < SHOWN)
                begin(&s->v[s->n - 1], row);
        return 0;
}

static int list(struct sg_client *c, const char *flag, struct sg_selection selection,
                uint64_t limit, sg_row_fn *each, void *userdata, struct sg_error *e)
{
        struct sg_pages pages = {.client = c, .flag = flag, .selection = selection, .left = limit};

        return sg_pages_each_row(&pages, each, userdata, e);
}

/* "12", "12-15", "12-15@node" */
static const char *span(const struct submission *s, char *buf, size_t size)
{
        const char *node = strchr(s->id, '@');

        if (s->first == s->last)
                (void)snprintf(buf, size, "%s", s->id);
        else
                (void)snprintf(buf, size, "%" PRIu64 "-%" PRIu64 "%s", s->first, s->last,
                               node ? node : "");
        return buf;
}

/* The tasks of an array */

struct task {
        char id[SG_JOB_ID_MAX];
        uint64_t n, index; /* both rise along an array */
};

struct tasks {
        struct task *v; /* owned */
        size_t n;
};

static void drop_tasks(struct tasks *t)
{
        free(t->v);
}

static int add_task(const struct sg_row *row, void *userdata)
{
        struct tasks *t = userdata;
        struct task *grown = reallocarray(t->v, t->n + 1, sizeof(*grown)), *at;

        if (!grown)
                return -ENOMEM;
        t->v = grown;
        at = &t->v[t->n++];
        *at = (struct task){.n = number_of(row->id), .index = row->index};
        (void)snprintf(at->id, sizeof(at->id), "%s", row->id);
        return 0;
}

static int by_number(const void *a, const void *b)
{
        const struct task *x = a, *y = b;

        return x->n < y->n ? -1 : x->n > y->n;
}

/* In order of their numbers: the live ones come first, the others the newest first. */
static int list_tasks(struct sg_client *c, const char *flag, struct sg_selection selection,
                      struct tasks *t, struct sg_error *e)
{
        int r = list(c, flag, selection, SG_UNLIMITED, add_task, t, e);

        if (r >= 0 && t->n > 0)
                qsort(t->v, t->n, sizeof(*t->v), by_number);
        return r;
}

static int refuse_several(const struct sg_wanted *w, const char *which, const struct submission *s,
                          struct sg_error *e)
{
        char jobs[SG_JOB_ID_MAX + 24], hint[128];

        (void)snprintf(hint, sizeof(hint), "say which, such as schedctl %s %" PRIu64,
                       sg_verbs[w->inv->verb].name, s->last);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, hint, "%s is an array, %s", which,
                            span(s, jobs, sizeof(jobs)));
}

/* The submission as a whole: of an array all tasks that live, or that there are; name NULL: also
 * those of other names. */
static int append_submission(const struct sg_wanted *w, struct sg_client *c, const char *name,
                             struct submission *s, struct sg_ids *ids, struct sg_error *e)
{
        struct sg_selection selection = {.own = true, .array = s->array, .name = name};
        _cleanup_(drop_tasks) struct tasks t = {0};
        int r;

        if (s->array == 0)
                return sg_ids_add(ids, s->id);
        r = list_tasks(c, w->live ? NULL : "finished", selection, &t, e);
        if (r < 0 || t.n == 0)
                return r;
        s->first = t.v[0].n;
        s->last = t.v[t.n - 1].n;
        for (size_t i = 0; r >= 0 && i < t.n; i++)
                r = sg_ids_add(ids, t.v[i].id);
        return r;
}

/* "7[3-5]" */

/* Nodes have had other names: such a one is in the ids of its jobs. */
static bool is_of_node(const struct task *t, const struct sg_ids_tasks *asked)
{
        const char *node = strchr(t->id, '@'), *at = strchr(asked->id, '@');

        return !node || (at && strcmp(node, at) == 0);
}

static int no_task(const struct sg_ids_tasks *asked, uint64_t index, const struct tasks *t,
                   struct sg_error *e)
{
        char hint[96];

        if (t->n == 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, asked->id,
                                    "an array has the number of its first task",
                                    "there is no array %s", asked->id);
        (void)snprintf(hint, sizeof(hint), "they go from %" PRIu64 " to %" PRIu64, t->v[0].index,
                       t->v[t->n - 1].index);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, asked->id, hint,
                            "array %s has no task with the index %" PRIu64, asked->id, index);
}

static int append_asked(const struct sg_ids_tasks *asked, const struct tasks *t, struct sg_ids *ids,
                        struct sg_error *e)
{
        struct sg_array_walk walk = sg_array_walk(asked->list);
        uint64_t index;
        size_t i = 0;
        int r = 0;

        while (r >= 0 && sg_array_next(&walk, &index)) {
                while (i < t->n && (t->v[i].index < index || !is_of_node(&t->v[i], asked)))
                        i++;
                if (i == t->n || t->v[i].index != index)
                        return no_task(asked, index, t, e);
                r = sg_ids_add(ids, t->v[i].id);
        }
        return r;
}

/* Whoever's it is, as with numbers. */
static int add_asked(struct sg_client *c, const struct sg_ids_tasks *asked, struct sg_ids *ids,
                     struct sg_error *e)
{
        _cleanup_(drop_tasks) struct tasks t = {0};
        int r = list_tasks(c, "finished", (struct sg_selection){.array = asked->n}, &t, e);

        return r < 0 ? r : append_asked(asked, &t, ids, e);
}

/* Names */

static int unknown_name(const struct sg_wanted *w, const char *name, struct sg_error *e)
{
        char hint[192];

        (void)snprintf(hint, sizeof(hint), "schedctl history --name '%s' shows ended ones", name);
        if (w->live)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, name, hint,
                                    "no live job of yours has the name '%s'", name);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, name,
                            "give its number, such as 7, 5-9, 7[3-5] or 7@host, or its name",
                            "'%s' is not a job of yours", name);
}

static int ambiguous(const struct sg_wanted *w, const char *name, const struct submissions *s,
                     struct sg_error *e)
{
        char jobs[256] = "", one[SG_JOB_ID_MAX + 24], hint[384];
        size_t shown = s->n < SHOWN ? s->n : SHOWN, at = 0;

        for (size_t i = 0; i < shown && at < sizeof(jobs); i++)
                at += (size_t)snprintf(jobs + at, sizeof(jobs) - at, "%s%s", i > 0 ? " " : "",
                                       span(&s->v[i], one, sizeof(one)));
        if (s->n > shown || w->one)
                (void)snprintf(hint, sizeof(hint),
                               "say which; schedctl list --name '%s' shows them", name);
        else
                (void)snprintf(hint, sizeof(hint), "say which, or all: schedctl %s %s",
                               sg_verbs[w->inv->verb].name, jobs);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, name, hint, "%zu jobs have the name '%s': %s%s",
                            s->n, name, jobs, s->n > shown ? " …" : "");
}

static int add_named(const struct sg_wanted *w, struct sg_client *c, const char *name,
                     struct sg_ids *ids, struct sg_error *e)
{
        struct submissions s = {0};
        size_t before = ids->n;
        char quoted[SG_JOB_NAME_MAX + 2];
        int r;

        if (!sg_utf8_is_valid(name, strlen(name)))
                return unknown_name(w, name, e);
        r = list(c, NULL, (struct sg_selection){.own = true, .name = name}, SG_UNLIMITED, note, &s,
                 e);
        if (r >= 0 && s.n == 0 && !w->live)
                r = list(c, "only_finished", (struct sg_selection){.own = true, .name = name}, 1,
                         note, &s, e);
        if (r < 0)
                return r;
        if (s.n == 0)
                return unknown_name(w, name, e);
        if (s.n > 1)
                return ambiguous(w, name, &s, e);
        r = append_submission(w, c, name, &s.v[0], ids, e);
        if (r < 0 || !w->one || ids->n == before + 1)
                return r;
        (void)snprintf(quoted, sizeof(quoted), "'%s'", name);
        return refuse_several(w, quoted, &s.v[0], e);
}

/* The last one */

#define SG_FIND_NONE 1

static int find_last(const struct sg_wanted *w, struct sg_client *c, struct submission *ret,
                     bool *ret_ended, struct sg_error *e)
{
        struct submissions live = {0}, ended = {0};
        int r;

        r = list(c, NULL, (struct sg_selection){.own = true, .newest = true}, 1, note, &live, e);
        if (r >= 0)
                r = list(c, "only_finished", (struct sg_selection){.own = true}, 1, note, &ended,
                         e);
        if (r < 0)
                return r;
        if (live.n + ended.n == 0 && w->wordless == SG_WORDLESS_LAST_IF_ANY)
                return SG_FIND_NONE;
        if (live.n + ended.n == 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL,
                                    "give a number; schedctl list shows others' jobs",
                                    "you have submitted no job");
        *ret_ended = live.n == 0 || (ended.n > 0 && ended.v[0].last > live.v[0].last);
        *ret = *ret_ended ? ended.v[0] : live.v[0];
        return 0;
}

static int refuse_ended(const struct submission *s, struct sg_error *e)
{
        char jobs[SG_JOB_ID_MAX + 24];

        return sg_error_set(e, SG_EXIT_OWN_FAILURE, s->id,
                            "give the number or the name of the one that you mean",
                            "your last job, %s (%s), has ended", span(s, jobs, sizeof(jobs)),
                            s->name);
}

/* What changes something is told to scripts, too; documents name their jobs, and so does what the
 * other verbs print. */
static void tell_last(const struct sg_wanted *w, const struct submission *s)
{
        bool mute = w->inv->verb == SG_VERB_WAIT || w->inv->verb == SG_VERB_LOGS;
        char jobs[SG_JOB_ID_MAX + 24];

        if (w->inv->json || (!w->live && (!mute || isatty(STDERR_FILENO) <= 0)))
                return;
        sg_warn("taking your last job%s, %s (%s)", s->first == s->last ? "" : "s",
                span(s, jobs, sizeof(jobs)), s->name);
}

static int add_last(const struct sg_wanted *w, struct sg_client *c, struct sg_ids *ids,
                    struct sg_error *e)
{
        struct submission s;
        bool ended;
        int r;

        r = find_last(w, c, &s, &ended, e);
        if (r != 0)
                return r < 0 ? r : 0;
        if (w->live && ended && s.array == 0)
                return refuse_ended(&s, e);
        r = append_submission(w, c, NULL, &s, ids, e);
        if (r < 0)
                return r;
        if (ids->n == 0)
                return refuse_ended(&s, e);
        if (w->one && ids->n > 1)
                return refuse_several(w, "your last job", &s, e);
        tell_last(w, &s);
        return 0;
}

static int add_word(const struct sg_wanted *w, struct sg_client *c, const char *word,
                    struct sg_ids *ids, struct sg_error *e)
{
        _cleanup_(sg_ids_tasks_deinit) struct sg_ids_tasks asked = {0};
        int r = sg_ids_add(ids, word);

        if (r != -EINVAL)
                return r;
        r = sg_ids_parse_tasks(word, &asked);
        if (r == -EINVAL)
                return add_named(w, c, word, ids, e);
        return r < 0 ? r : add_asked(c, &asked, ids, e);
}

int sg_find_jobs(const struct sg_wanted *w, struct sg_client *c, struct sg_ids *ids,
                 struct sg_error *e)
{
        int r = w->n == 0 && w->wordless >= SG_WORDLESS_LAST ? add_last(w, c, ids, e) : 0;

        for (size_t i = 0; r >= 0 && i < w->n; i++)
                r = add_word(w, c, w->words[i], ids, e);
        return r;
}
