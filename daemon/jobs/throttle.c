/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jobs/throttle.h"
#include "jobs/internal.h"
#include <errno.h>
#include <stdlib.h>

struct sg_throttle {
        unsigned refs;
        uint64_t max, inside;
        struct sg_list outside; /* sg_queued.throttle_link, by n */
};

int sg_throttle_new(struct sg_throttle **ret, uint64_t max)
{
        struct sg_throttle *t = malloc(sizeof(*t));

        if (!t)
                return -ENOMEM;
        *t = (struct sg_throttle){.refs = 1, .max = max};
        sg_list_init(&t->outside);
        *ret = t;
        return 0;
}

void sg_throttle_unref(struct sg_throttle *t)
{
        if (t && --t->refs == 0)
                free(t);
}

void sg_live_hold_throttle(struct sg_live *l, struct sg_throttle *t)
{
        t->refs++;
        l->queued.throttle = t;
}

int sg_live_find_throttle(struct sg_live *l)
{
        const struct sg_live *before = sg_live_task_before(l);

        if (l->job.array_max == 0)
                return 0;
        if (!before || !before->queued.throttle)
                return sg_throttle_new(&l->queued.throttle, l->job.array_max);
        sg_live_hold_throttle(l, before->queued.throttle);
        return 0;
}

/* Nobody gets in for it: this is the end of the job, which has left before, or of the daemon. */
void sg_live_release_throttle(struct sg_live *l)
{
        struct sg_queued *q = &l->queued;

        sg_list_remove(&q->throttle_link);
        if (q->inside)
                q->throttle->inside--;
        q->inside = false;
        sg_throttle_unref(q->throttle);
        q->throttle = NULL;
}

/* From the tail: they come in order. */
static void keep_out(struct sg_throttle *t, struct sg_live *l)
{
        struct sg_list *after = t->outside.prev;

        while (after != &t->outside &&
               sg_list_entry(after, struct sg_live, queued.throttle_link)->job.key.n > l->job.key.n)
                after = after->prev;
        sg_list_insert_before(after->next, &l->queued.throttle_link);
}

void sg_throttle_count(struct sg_live *l)
{
        struct sg_queued *q = &l->queued;

        if (!q->throttle || q->inside)
                return;
        q->inside = true;
        q->throttle->inside++;
}

bool sg_throttle_lets_in(struct sg_live *l)
{
        struct sg_throttle *t = l->queued.throttle;

        if (!t)
                return true;
        sg_list_remove(&l->queued.throttle_link);
        if (t->inside >= t->max) {
                keep_out(t, l);
                return false;
        }
        sg_throttle_count(l);
        return true;
}

void sg_throttle_leave(struct sg_live *l)
{
        struct sg_throttle *t = l->queued.throttle;

        sg_list_remove(&l->queued.throttle_link);
        if (!l->queued.inside)
                return;
        l->queued.inside = false;
        t->inside--;
        if (t->inside < t->max && !sg_list_empty(&t->outside))
                sg_live_enqueue(
                        sg_list_entry(t->outside.next, struct sg_live, queued.throttle_link));
}

bool sg_throttle_keeps_out(const struct sg_live *l)
{
        return !sg_list_empty(&l->queued.throttle_link);
}
