/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/place/changes.h"
#include <math.h>
#include <string.h>

/* With one change behind the one that it works on, PID 1 is never idle, and an urgent change waits
 * for two at most. */
#define IN_FLIGHT_MAX 2
#define ONE_CPU_PM 1e4

void sg_changes_init(struct sg_changes *q)
{
        *q = (struct sg_changes){0};
        sg_list_init(&q->scopes);
}

void sg_changing_init(struct sg_changing *s, const struct sg_limits *limits,
                      const struct sg_cpuset *cpus)
{
        *s = (struct sg_changing){.limits = limits, .cpus = cpus};
        sg_list_init(&s->link);
        sg_list_init(&s->changes);
}

static bool in_force(const struct sg_changing *s, const struct sg_limits *l,
                     const struct sg_cpuset *cpus)
{
        struct sg_limits ours = *s->limits;

        ours.time_limit_usec = l->time_limit_usec; /* not systemd's business */
        return memcmp(&ours, l, sizeof(ours)) == 0 &&
               (!l->pin || (cpus && memcmp(s->cpus, cpus, sizeof(*cpus)) == 0));
}

bool sg_changing_wants(const struct sg_changing *s, const struct sg_limits *l,
                       const struct sg_cpuset *cpus)
{
        return !sg_list_empty(&s->changes) || !in_force(s, l, cpus);
}

/* Whether a change may be dropped for a later one, which says all that it says. */
static bool gives_way(const struct sg_change *c)
{
        return !c->in_flight && !c->awaited && !c->prepared;
}

void sg_changes_add(struct sg_changes *q, struct sg_changing *s, struct sg_change *c,
                    struct sg_list *replaced)
{
        struct sg_change *before, *next;

        sg_list_foreach_safe (before, next, &s->changes, link) {
                if (!gives_way(before))
                        continue;
                c->all = c->all || before->all;
                sg_list_remove(&before->link);
                sg_list_append(replaced, &before->link);
        }
        c->scope = s;
        sg_list_append(&s->changes, &c->link);
        if (sg_list_empty(&s->link))
                sg_list_append(&q->scopes, &s->link);
}

static void land(struct sg_changes *q, struct sg_change *c)
{
        q->n_in_flight -= c->in_flight;
        c->in_flight = false;
}

void sg_changes_remove(struct sg_changes *q, struct sg_change *c)
{
        land(q, c);
        sg_list_remove(&c->link);
        if (sg_list_empty(&c->scope->changes))
                sg_list_remove(&c->scope->link);
}

/* How much a change moves. More for a job counts double, as jobs from which it is taken have less
 * already. */
static double moves(uint64_t have, uint64_t want)
{
        return want > have ? 2 * (double)(want - have) : (double)(have - want);
}

/* Other CPUs are whole ones, whatever their number. */
static double moves_cpus(const struct sg_change *c)
{
        bool same = c->scope->limits->pin == c->limits.pin &&
                    (!c->limits.pin || memcmp(c->scope->cpus, &c->cpus, sizeof(c->cpus)) == 0);

        return same ? 0 : ONE_CPU_PM;
}

static double urgency(const struct sg_change *c)
{
        const struct sg_limits *have = c->scope->limits, *want = &c->limits;

        if (c->awaited || c->all)
                return INFINITY;
        return fmax(moves_cpus(c), fmax(moves(have->cpu_weight, want->cpu_weight),
                                        moves(have->cpu_quota_pm, want->cpu_quota_pm)));
}

struct sg_change *sg_changes_next(const struct sg_changes *q)
{
        struct sg_change *found = NULL;
        struct sg_changing *s;

        if (q->n_in_flight >= IN_FLIGHT_MAX)
                return NULL;
        sg_list_foreach (s, &q->scopes, link) {
                struct sg_change *c = sg_list_entry(s->changes.next, struct sg_change, link);

                if (!c->in_flight && (!found || urgency(c) > urgency(found)))
                        found = c;
        }
        return found;
}

bool sg_change_is_void(const struct sg_change *c)
{
        return !c->awaited && !c->all && in_force(c->scope, &c->limits, &c->cpus);
}

void sg_changes_sent(struct sg_changes *q, struct sg_change *c)
{
        c->in_flight = true;
        q->n_in_flight++;
}

void sg_changes_back(struct sg_changes *q, struct sg_change *c)
{
        land(q, c);
}
