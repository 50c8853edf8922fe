/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See array-row.h. */

#include "ctl/show/array-row.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands for several tasks is the first of these that one of them is in. */
static const char *const states[] = {
        "running", "starting", "suspended", "queued", "lost",
        "failed",  "oom",      "timeout",   "killed", "exited",
};
_Static_assert(SG_ELEMENTSOF(states) + 1 == SG_ARRAY_ROW_STATES, "one more, for unknown states");
#define QUEUED 3
#define FIRST_FINAL 4

static size_t index_of(const char *state)
{
        size_t i = 0;

        while (i < SG_ELEMENTSOF(states) && strcmp(states[i], state) != 0)
                i++;
        return i;
}

static bool is_final(const char *state)
{
        return index_of(state) >= FIRST_FINAL;
}

/* What was handed in as one belongs to a page that goes. */
#define KEEP(a, member, s)                                                                         \
        do {                                                                                       \
                (void)snprintf((a)->member, sizeof((a)->member), "%s", (s));                       \
                (a)->row.member = (a)->member;                                                     \
        } while (0)

static void begin(struct sg_array_row *a, const struct sg_row *row)
{
        *a = (struct sg_array_row){.row = *row, .least = UINT64_MAX};
        KEEP(a, id, row->id);
        KEEP(a, name, row->name);
        KEEP(a, class, row->class);
        KEEP(a, user, row->user);
        KEEP(a, state, row->state);
        KEEP(a, list, row->list ? row->list : "");
        KEEP(a, reason, row->reason);
        KEEP(a, command, row->command);
        a->row.gpu[0] = '\0';
        a->row.gpu_memory_bytes = SG_UNLIMITED;
        a->row.gpu_utilization = NAN;
        a->row.progress.source = a->row.progress.status = NULL;
        a->prefix = strlen(a->name);
}

static void add_index(struct sg_array_row *a, uint64_t index)
{
        size_t i = a->n_spans - 1;

        a->least = index < a->least ? index : a->least;
        a->most = index > a->most ? index : a->most;
        if (a->n_spans > SG_ARRAY_ROW_SPANS)
                return;
        if (a->n_spans > 0 && index == a->spans[i].last + 1)
                a->spans[i].last = index;
        else if (a->n_spans > 0 && index + 1 == a->spans[i].first)
                a->spans[i].first = index;
        else if (a->n_spans++ < SG_ARRAY_ROW_SPANS)
                a->spans[i + 1].first = a->spans[i + 1].last = index;
}

static void count_task(struct sg_array_row *a, const struct sg_row *row)
{
        a->counts[index_of(row->state)]++;
        add_index(a, row->index);
        a->n++;
}

static uint64_t sum(uint64_t x, uint64_t y)
{
        return x == SG_UNLIMITED ? y : y == SG_UNLIMITED ? x : x + y;
}

static uint64_t larger(uint64_t x, uint64_t y)
{
        return x == SG_UNLIMITED ? y : y == SG_UNLIMITED || x > y ? x : y;
}

static uint64_t earlier(uint64_t x, uint64_t y)
{
        return x == 0 ? y : y == 0 || x < y ? x : y;
}

/* Memory: what they have now, or the most that one of those that have ended had. */
static void add(struct sg_array_row *a, const struct sg_row *row)
{
        struct sg_row *all = &a->row;

        if (strcmp(row->state, "queued") == 0 && a->counts[QUEUED] == 0)
                KEEP(a, reason, row->reason);
        while (strncmp(a->name, row->name, a->prefix) != 0 || (a->name[a->prefix] & 0xc0) == 0x80)
                a->prefix--; /* nor within a character */
        all->memory_bytes = is_final(row->state) ? larger(all->memory_bytes, row->memory_bytes)
                                                 : sum(all->memory_bytes, row->memory_bytes);
        all->cpu_usec = sum(all->cpu_usec, row->cpu_usec);
        all->submitted_usec = earlier(all->submitted_usec, row->submitted_usec);
        all->started_usec = earlier(all->started_usec, row->started_usec);
        all->ended_usec = larger(all->ended_usec, row->ended_usec);
        all->exit_code = all->exit_code == row->exit_code ? row->exit_code : -1;
        all->signal = all->signal == row->signal ? row->signal : 0;
        all->share = isfinite(row->share) && isfinite(all->share) ? all->share + row->share
                     : isfinite(row->share)                       ? row->share
                                                                  : all->share;
        count_task(a, row);
}

/* In words */

/* "1,3-9", and of many "1…99" */
static void put_indexes(const struct sg_array_row *a, FILE *f)
{
        bool rises = a->spans[0].first == a->least;

        if (a->n_spans > SG_ARRAY_ROW_SPANS) {
                (void)fprintf(f, "%" PRIu64 "…%" PRIu64, a->least, a->most);
                return;
        }
        for (size_t i = 0; i < a->n_spans; i++) {
                size_t k = rises ? i : a->n_spans - 1 - i;

                (void)fprintf(f, "%s%" PRIu64, i > 0 ? "," : "", a->spans[k].first);
                if (a->spans[k].last > a->spans[k].first)
                        (void)fprintf(f, "-%" PRIu64, a->spans[k].last);
        }
}

/* "4 running, 90 queued: …", with why the first of these waits. */
static void put_counts(const struct sg_array_row *a, FILE *f)
{
        const char *comma = "";

        for (size_t i = 0; i < SG_ARRAY_ROW_STATES; i++) {
                if (a->counts[i] == 0)
                        continue;
                (void)fprintf(f, "%s%" PRIu64 " %s", comma, a->counts[i],
                              i < SG_ELEMENTSOF(states) ? states[i] : "in other states");
                comma = ", ";
        }
        if (a->counts[QUEUED] > 0 && a->reason[0])
                (void)fprintf(f, ": %s", a->reason);
}

static char *text_of(const struct sg_array_row *a,
                     void (*put)(const struct sg_array_row *a, FILE *f))
{
        char *s = NULL;
        size_t size;
        FILE *f = open_memstream(&s, &size);

        if (!f)
                return NULL;
        put(a, f);
        (void)fclose(f);
        return s;
}

static void put_several(struct sg_array_row *a, sg_row_cb *put, void *userdata)
{
        _cleanup_free_ char *indexes = text_of(a, put_indexes), *counts = text_of(a, put_counts);
        char id[SG_JOB_ID_MAX + 128], name[SG_JOB_NAME_MAX + 4];
        const char *node = strchr(a->id, '@');
        struct sg_row row = a->row;
        size_t i = 0;

        while (i < SG_ELEMENTSOF(states) && a->counts[i] == 0)
                i++;
        (void)snprintf(id, sizeof(id), "%" PRIu64 "%s[%s]", row.array, node ? node : "",
                       indexes ? indexes : "");
        (void)snprintf(name, sizeof(name), "%.*s…", (int)a->prefix, a->name);
        row.id = id;
        row.name = a->name[a->prefix] ? name : a->name;
        row.state = i < SG_ELEMENTSOF(states) ? states[i] : row.state;
        row.reason = counts ? counts : "";
        row.indexes = indexes;
        row.list = "";
        row.weight = row.growth = (double)NAN;
        sg_job_progress_read(NULL, &row.progress);
        put(&row, userdata);
}

void sg_array_row_end(struct sg_array_row *a, sg_row_cb *put, void *userdata)
{
        if (a->n == 1)
                put(&a->row, userdata);
        else if (a->n > 1)
                put_several(a, put, userdata);
        a->n = 0;
}

/* Those that live are apart from those that have ended. */
static bool is_of(const struct sg_array_row *a, const struct sg_row *row)
{
        const char *x = strchr(a->id, '@'), *y = strchr(row->id, '@');

        return a->n > 0 && a->row.array == row->array &&
               is_final(a->state) == is_final(row->state) && strcmp(x ? x : "", y ? y : "") == 0;
}

void sg_array_row_take(struct sg_array_row *a, const struct sg_row *row, sg_row_cb *put,
                       void *userdata)
{
        if (is_of(a, row)) {
                add(a, row);
                return;
        }
        sg_array_row_end(a, put, userdata);
        if (row->array == 0) {
                put(row, userdata);
                return;
        }
        begin(a, row);
        count_task(a, row);
}
