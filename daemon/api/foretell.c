/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The new job is judged together with all that have a deadline, those that run by what the loop
 * knows of them, those that wait by what their class's jobs took. Of jobs of which nothing is known
 * nothing is foretold; a time limit says only what they may take.
 */

#include "api/foretell.h"
#include "base/format.h"
#include "base/time-util.h"
#include "core/share/deadline.h"
#include "govern/loop.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SEC 1e6

/* Of the node, as asked for. */
static double width_of(const struct sg_manager *m, const struct sg_job *j)
{
        return fmin((double)(j->limits.cpus ?: 1) / sg_loop_cpus_of_node(m), 1);
}

/* Seconds alone on the node; 0 = nothing is known. */
static double size_of(const struct sg_manager *m, const struct sg_job *j)
{
        const struct sg_class_history *h = sg_loop_history(m, j);
        double size = h ? sg_history_size(h, 0) : NAN;

        return size > 0 ? size / sg_loop_cpus_of_node(m) : 0;
}

static bool describe(struct sg_manager *m, const struct sg_job *j, const struct sg_decision *known,
                     struct sg_deadline_job *ret)
{
        *ret = (struct sg_deadline_job){
                .key = j->key.n,
                .remaining = known ? known->estimate.remaining : size_of(m, j),
                .width = known ? known->width : width_of(m, j),
                .due = (double)j->deadline_usec / SEC,
        };
        return j->deadline_usec > 0 && ret->remaining > 0;
}

static size_t describe_others(struct sg_manager *m, const struct sg_job *j,
                              struct sg_deadline_job *jobs)
{
        const struct sg_live *l;
        size_t n = 0;

        sg_list_foreach (l, &m->jobs->all, link)
                if (l->job.key.n != j->key.n && !sg_job_state_is_final(l->job.state))
                        n += describe(m, &l->job, sg_loop_decision(l), &jobs[n]);
        return n;
}

static int put(const struct sg_deadline_judgement *judged, char *buf, size_t size)
{
        char when[SG_FORMAT_MAX];

        if (!judged->met)
                (void)snprintf(buf, size, "its deadline can't be met: it would end at about %s",
                               sg_format_local(when, (uint64_t)(judged->finish * SEC)));
        else if (judged->n_harmed > 0)
                (void)snprintf(buf, size, "it would make %zu %s late whose deadline could be met",
                               judged->n_harmed, judged->n_harmed == 1 ? "job" : "jobs");
        return !judged->met || judged->n_harmed > 0;
}

int sg_foretell_deadline(struct sg_manager *m, const struct sg_job *j, char *buf, size_t size)
{
        _cleanup_free_ struct sg_deadline_job *jobs = NULL;
        struct sg_deadline_judgement judged;
        const struct sg_live *l;
        size_t n = 1;
        int r;

        if (j->deadline_usec == 0)
                return 0;
        sg_list_foreach (l, &m->jobs->all, link)
                n++;
        jobs = calloc(n, sizeof(*jobs));
        if (!jobs)
                return -ENOMEM;
        n = describe_others(m, j, jobs);
        if (!describe(m, j, NULL, &jobs[n]))
                return 0;
        jobs[n].key = UINT64_MAX; /* it has no number yet */
        r = sg_deadline_judge(jobs, n + 1, (double)sg_now_realtime_usec() / SEC, &judged);
        return r < 0 ? r : put(&judged, buf, size);
}
