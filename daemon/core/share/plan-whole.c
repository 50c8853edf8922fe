/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A walk's parts as whole CPUs. As speed-ups are concave, giving them out one by one to whoever
 * gains most is the best for the worths that jobs have. Those don't change on the way: when a job
 * has ended, only its CPUs are given out again.
 */
#include "core/share/plan-walk.h"
#include <math.h>

#define SLIGHT .05 /* so little more than a number of CPUs is no reason for another */

/* heSRPT's shares are what comes out of this for jobs of one exponent: there the worth of the i-th
 * from the end is i^exponent, however many have ended before. */
void sg_walk_prefer_whole(struct sg_walk *w, const uint32_t *order, double eagerness)
{
        for (size_t p = 0; p < w->n; p++)
                w->worth[order[p]] = pow((double)(w->n - p) / (double)w->n, eagerness);
}

/* How many times as fast as on one CPU the job is, with no more CPUs than it can use. */
static double speed_on(const struct sg_walk *w, uint32_t i, uint32_t cpus)
{
        const struct sg_search_job *j = &w->jobs[i];

        return sg_speedup_at(j->speedup, fmin(cpus, j->width * w->cpus));
}

/* What the job gains by one more CPU; -1: it can't use it, or would be slower. */
static double gain_of(const struct sg_walk *w, uint32_t i)
{
        double gain = speed_on(w, i, w->own[i] + 1) - speed_on(w, i, w->own[i]);

        if (w->own[i] >= w->jobs[i].width * w->cpus - SLIGHT || gain < 0)
                return -1;
        return w->worth[i] * gain;
}

/* The job that gets the next CPU; -1: none can use it. Of the jobs without a CPU it can only be the
 * first. */
static int64_t best_for(const struct sg_walk *w)
{
        int64_t best = -1;
        double most = -1;

        if (w->next < w->n) {
                best = w->order[w->next];
                most = gain_of(w, (uint32_t)best);
        }
        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];

                if (w->gain[i] > most) {
                        best = i;
                        most = w->gain[i];
                }
        }
        return best;
}

void sg_walk_give(struct sg_walk *w)
{
        /* All that there is may be a part of one CPU. */
        double part = fmin(w->capacity * w->cpus, 1);

        while (w->free > 0) {
                int64_t best = best_for(w);
                uint32_t i = (uint32_t)best;

                if (best < 0)
                        return;
                if (w->own[i]++ == 0) {
                        w->alive[w->n_alive++] = i;
                        w->next++;
                }
                w->free--;
                w->gain[i] = gain_of(w, i);
                w->share[i] = w->own[i] / w->cpus;
                w->rate[i] = part * speed_on(w, i, w->own[i]) / w->cpus;
        }
}
