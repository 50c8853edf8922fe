/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/share/flowcon.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_set(const struct sg_flowcon *f, const uint64_t *keys, size_t n)
{
        if (f->n != n)
                return false;
        for (size_t i = 0; i < n; i++)
                if (f->jobs[i].key != keys[i])
                        return false;
        return true;
}

/* As printed, the listener compares numbers of jobs that it never updates: it would not run at all,
 * and one that comes while another ends would go unseen. So it compares the sets. */
int sg_flowcon_listen(struct sg_flowcon *f, const uint64_t *keys, size_t n)
{
        struct sg_flowcon_job *jobs;
        size_t old = 0;

        if (same_set(f, keys, n))
                return 0;
        jobs = calloc(n + 1, sizeof(*jobs));
        if (!jobs)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                while (old < f->n && f->jobs[old].key < keys[i])
                        old++;
                if (old < f->n && f->jobs[old].key == keys[i])
                        jobs[i] = f->jobs[old];
                else
                        jobs[i] = (struct sg_flowcon_job){
                                .key = keys[i], .list = SG_LIST_NEW, .limit = 1, .growth = NAN};
        }
        free(f->jobs);
        f->jobs = jobs;
        f->n = n;
        f->interval = f->initial;
        return 1;
}

/* Lines 2 to 13. Below alpha a job goes one list down each time, so that one bad measurement takes
 * nothing from it. */
static bool move(struct sg_flowcon *f, double alpha)
{
        bool all_complete = true;

        for (size_t i = 0; i < f->n; i++) {
                struct sg_flowcon_job *j = &f->jobs[i];

                if (isnan(j->growth) || (j->measured && j->growth >= alpha))
                        j->list = SG_LIST_NEW;
                else if (j->measured && j->list == SG_LIST_NEW)
                        j->list = SG_LIST_WATCH;
                else if (j->measured && j->list == SG_LIST_WATCH)
                        j->list = SG_LIST_COMPLETE;
                all_complete &= j->list == SG_LIST_COMPLETE;
        }
        return all_complete;
}

/* A job of which nothing is known counts as much as the best one, so that the others make room for
 * it. */
static double sum_of_growth(const struct sg_flowcon *f, double alpha)
{
        double sum = 0, most = alpha;
        size_t unknown = 0;

        for (size_t i = 0; i < f->n; i++) {
                if (isnan(f->jobs[i].growth)) {
                        unknown++;
                        continue;
                }
                sum += f->jobs[i].growth;
                most = fmax(most, f->jobs[i].growth);
        }
        return sum + (double)unknown * most;
}

/* Lines 18 to 26 */
static void limit(struct sg_flowcon *f, double alpha, double beta)
{
        double sum = sum_of_growth(f, alpha), bound = 1 / (beta * (double)f->n);

        for (size_t i = 0; i < f->n; i++) {
                struct sg_flowcon_job *j = &f->jobs[i];
                double part = sum > 0 ? j->growth / sum : 1 / (double)f->n;

                j->bounded = false;
                if (isnan(j->growth)) {
                        j->limit = 1;
                } else if (j->list == SG_LIST_COMPLETE) {
                        j->bounded = part < bound;
                        j->limit = fmin(fmax(part, bound), 1);
                } else if (j->list == SG_LIST_NEW) {
                        j->limit = part;
                }
        }
}

bool sg_flowcon_run(struct sg_flowcon *f, double alpha, double beta, double now)
{
        bool all_complete = move(f, alpha);

        if (all_complete && f->n > 0) {
                for (size_t i = 0; i < f->n; i++) {
                        f->jobs[i].limit = 1;
                        f->jobs[i].bounded = false;
                }
                f->interval *= 2;
        } else {
                limit(f, alpha, beta);
        }
        f->next = now + f->interval;
        return all_complete;
}
