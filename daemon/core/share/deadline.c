/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/deadline.h"
#include "base/cleanup.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOTHING 1e-9 /* s */

static int compare_due(const void *a, const void *b)
{
        const struct sg_deadline_job *x = a, *y = b;

        if (x->due < y->due || x->due > y->due)
                return x->due < y->due ? -1 : 1;
        return x->key < y->key ? -1 : x->key > y->key;
}

/* Kept ones by due, dropped ones by size. */
static int compare_turn(const void *a, const void *b)
{
        const struct sg_deadline_job *x = a, *y = b;

        if (x->dropped != y->dropped)
                return x->dropped ? 1 : -1;
        if (x->dropped && (x->remaining < y->remaining || x->remaining > y->remaining))
                return x->remaining < y->remaining ? -1 : 1;
        return compare_due(a, b);
}

double sg_deadline_own_slack(const struct sg_deadline_job *j, double now)
{
        return j->due - now - j->remaining / j->width;
}

/* How much of a job has to be done by t: all of it, if t is its own deadline or later. */
static double owed_by(const struct sg_deadline_job *j, double t)
{
        return t >= j->due ? j->remaining : fmax(0, j->remaining - j->width * (j->due - t));
}

/* The jobs by deadline. The first `n` of them have been looked at. */
struct plan {
        struct sg_deadline_job *jobs;
        size_t n;
        double now, patience;
        double work; /* of those that are kept */
};

/* Adds a job's work to all that has to be done by each deadline, or takes it away. Returns the
 * first deadline to which it matters: before its latest start a job owes nothing. */
static size_t count(struct plan *p, const struct sg_deadline_job *j, double sign)
{
        size_t i = p->n;

        p->work += sign * j->remaining;
        while (i > 0) {
                double owed = owed_by(j, p->jobs[i - 1].due);

                if (!(owed > 0))
                        break;
                p->jobs[--i].slack -= sign * owed;
        }
        return i;
}

/* The first kept job from `first` on at whose deadline there is too much to be done; n = none. */
static size_t overdue(const struct plan *p, size_t first)
{
        size_t i;

        for (i = first; i < p->n; i++) {
                const struct sg_deadline_job *j = &p->jobs[i];
                double owed = j->due - p->now - j->slack;

                if (!j->dropped && j->slack < -NOTHING - p->patience * owed)
                        break;
        }
        return i;
}

static void drop_largest(struct plan *p, double owing_by)
{
        struct sg_deadline_job *largest = NULL;

        for (size_t i = 0; i < p->n; i++)
                if (!p->jobs[i].dropped && owed_by(&p->jobs[i], owing_by) > 0 &&
                    (!largest || p->jobs[i].remaining > largest->remaining))
                        largest = &p->jobs[i];
        if (!largest) /* impossible: the work that is too much is somebody's */
                return;
        largest->dropped = true;
        (void)count(p, largest, -1);
}

/* Takes the next job into the plan, and drops jobs that no longer fit. */
static void take_in(struct plan *p)
{
        struct sg_deadline_job *j = &p->jobs[p->n++];
        double alone = j->remaining / j->width;
        size_t first, late;

        j->slack = j->due - p->now - p->work;
        j->dropped = sg_deadline_own_slack(j, p->now) < -NOTHING - p->patience * alone;
        if (j->dropped || isinf(j->due))
                return;
        first = count(p, j, 1);
        while ((late = overdue(p, first)) < p->n)
                drop_largest(p, p->jobs[late].due);
}

size_t sg_deadline_plan(struct sg_deadline_job *jobs, size_t n, double now, double patience)
{
        struct plan p = {.jobs = jobs, .now = now, .patience = patience};
        size_t kept = 0;

        if (n == 0)
                return 0;
        qsort(jobs, n, sizeof(*jobs), compare_due);
        while (p.n < n)
                take_in(&p);
        for (size_t k = 0; k < n; k++)
                kept += !jobs[k].dropped;
        qsort(jobs, n, sizeof(*jobs), compare_turn);
        return kept;
}

double sg_deadline_rate(const struct sg_deadline_job *jobs, size_t n, double now)
{
        double rate = 0;

        for (size_t i = 0; i < n; i++) {
                double time = jobs[i].due - now;

                if (isinf(time))
                        continue;
                if (!(time > 0))
                        return 1;
                rate = fmax(rate, (time - jobs[i].slack) / time);
        }
        return fmin(rate, 1);
}

/* When the job of that key ends if the jobs go on in this order, each as wide as it is and as the
 * ones before it leave. left: of each job. */
static double finish_of(const struct sg_deadline_job *jobs, size_t n, double now, uint64_t key,
                        double *left)
{
        for (;;) {
                double room = 1, step = INFINITY, share;

                for (size_t i = 0; i < n && room > 0; i++) {
                        share = fmin(left[i] > 0 ? jobs[i].width : 0, room);
                        room -= share;
                        if (share > 0)
                                step = fmin(step, left[i] / share);
                }
                if (isinf(step))
                        return now;
                now += step;
                room = 1;
                for (size_t i = 0; i < n && room > 0; i++) {
                        share = fmin(left[i] > 0 ? jobs[i].width : 0, room);
                        room -= share;
                        left[i] -= share * step;
                        if (share > 0 && left[i] <= NOTHING) {
                                left[i] = 0;
                                if (jobs[i].key == key)
                                        return now;
                        }
                }
        }
}

static void remember_kept(const struct sg_deadline_job *jobs, size_t n, uint64_t *keys)
{
        for (size_t i = 0; i < n; i++)
                keys[i] = jobs[i].key;
}

static bool among(const uint64_t *keys, size_t n, uint64_t key)
{
        for (size_t i = 0; i < n; i++)
                if (keys[i] == key)
                        return true;
        return false;
}

int sg_deadline_judge(struct sg_deadline_job *jobs, size_t n, double now,
                      struct sg_deadline_judgement *ret)
{
        _cleanup_free_ uint64_t *kept = calloc(n, sizeof(*kept));
        _cleanup_free_ double *left = calloc(n, sizeof(*left));
        struct sg_deadline_judgement j = {0};
        struct sg_deadline_job new;
        size_t n_before, n_kept;

        if (n == 0)
                return -EINVAL;
        if (!kept || !left)
                return -ENOMEM;
        new = jobs[n - 1];
        n_before = sg_deadline_plan(jobs, n - 1, now, 0);
        remember_kept(jobs, n_before, kept);
        n_kept = sg_deadline_plan(jobs, n, now, 0);
        for (size_t i = 0; i < n; i++) {
                left[i] = jobs[i].remaining;
                if (jobs[i].key == new.key)
                        j.met = i < n_kept;
                else if (i >= n_kept)
                        j.n_harmed += among(kept, n_before, jobs[i].key);
        }
        j.finish = finish_of(jobs, n, now, new.key, left);
        *ret = j;
        return 0;
}
