/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See growth.h: what promises can bear. Up to a time T, all work that is due by then has to be
 * done, and of a narrow job that is due later what it can't do after T: it goes no faster than its
 * width, so that from its start, D − remaining ÷ width, on it has to run without a pause. Slack is
 * what the node could do until T beyond that. As long as no slack is negative, at any D and of any
 * narrow job alone, all promises can be kept; and they stay so if whoever has none left, or works
 * for one that has none left, goes first.
 */

#include "core/share/growth.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NARROW (1 - 1e-9)

int sg_growth_line_init(struct sg_growth_line *l, size_t room)
{
        *l = (struct sg_growth_line){.capacity = 1};
        l->jobs = calloc(room + 1, sizeof(*l->jobs));
        l->order = calloc(3 * (room + 1), sizeof(struct sg_growth_job *));
        if (!l->jobs || !l->order)
                return -ENOMEM;
        l->by_due = l->order + room + 1;
        l->by_start = l->by_due + room + 1;
        return 0;
}

void sg_growth_line_deinit(struct sg_growth_line *l)
{
        free(l->jobs);
        free(l->order);
}

double sg_growth_due(double arrival, double virtual_finish, double no_harm)
{
        if (isinf(no_harm) || isinf(virtual_finish))
                return INFINITY;
        return arrival + (virtual_finish - arrival) * (1 + no_harm);
}

static int earlier(const struct sg_growth_job *a, const struct sg_growth_job *b)
{
        if (a->arrival < b->arrival || a->arrival > b->arrival)
                return a->arrival < b->arrival ? -1 : 1;
        return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_due(const void *left, const void *right)
{
        const struct sg_growth_job *a = *(struct sg_growth_job *const *)left,
                                   *b = *(struct sg_growth_job *const *)right;

        if (a->due < b->due || a->due > b->due)
                return a->due < b->due ? -1 : 1;
        return earlier(a, b);
}

static int compare_start(const void *left, const void *right)
{
        const struct sg_growth_job *a = *(struct sg_growth_job *const *)left,
                                   *b = *(struct sg_growth_job *const *)right;

        if (a->start < b->start || a->start > b->start)
                return a->start < b->start ? -1 : 1;
        return earlier(a, b);
}

static void look_at(struct sg_growth_line *l, struct sg_growth_job *j)
{
        double width = fmin(j->width, l->capacity);

        j->own_slack = j->due - l->now - j->remaining / width;
        /* A job that can fill the node can do all of its work just before it is due: until then it
         * is in nobody's way. */
        j->start = width < NARROW * l->capacity ? j->due - j->remaining / width : j->due;
}

/* Work that has to be done by some time: base, and rate for each second after now. */
struct demand {
        double base, rate;
};

static void starts(struct demand *d, const struct sg_growth_job *j, double now)
{
        d->base -= j->width * (j->start - now);
        d->rate += j->width;
}

static void is_due(struct demand *d, const struct sg_growth_job *j, double now)
{
        if (j->start < j->due) {
                d->base += j->width * (j->start - now);
                d->rate -= j->width;
        }
        d->base += j->remaining;
}

void sg_growth_guard(struct sg_growth_line *l)
{
        struct demand d = {};

        for (size_t i = 0; i < l->n; i++) {
                look_at(l, &l->jobs[i]);
                l->by_due[i] = l->by_start[i] = &l->jobs[i];
        }
        qsort(l->by_due, l->n, sizeof(*l->by_due), compare_due);
        qsort(l->by_start, l->n, sizeof(*l->by_start), compare_start);
        l->at_stake = l->n;
        for (size_t i = 0, k = 0; i < l->n; i++) {
                struct sg_growth_job *j = l->by_due[i];

                for (; k < l->n && l->by_start[k]->start < j->due; k++)
                        if (l->by_start[k]->start < l->by_start[k]->due)
                                starts(&d, l->by_start[k], l->now);
                is_due(&d, j, l->now);
                j->slack = isinf(j->due)
                                   ? INFINITY
                                   : j->due - l->now -
                                             (d.base + d.rate * (j->due - l->now)) / l->capacity;
                if (l->at_stake == l->n && j->slack <= l->tick)
                        l->at_stake = i;
        }
}
