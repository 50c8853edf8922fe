/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The numbers behind the last decision on a job, as sentences.
 */

#include "base/format.h"
#include "core/govern/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES 512U
#define UNMEASURED_SEC 3 /* usually its use is known by then */
#define HARDLY_ANY .003  /* of a CPU: less than floors leave a job */

struct text {
        char *s;
        int error;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
        char *line = NULL, *all = NULL;
        va_list ap;
        int r;

        if (t->error < 0)
                return;
        va_start(ap, format);
        r = vasprintf(&line, format, ap);
        va_end(ap);
        if (r < 0 || asprintf(&all, "%s%s", t->s ? t->s : "", line) < 0)
                t->error = -ENOMEM;
        else {
                free(t->s);
                t->s = all;
        }
        if (r >= 0)
                free(line);
}

/* "1h 30min"; simulated and learnt times may be anything. */
static const char *span(char buf[SG_FORMAT_MAX], double sec)
{
        double usec = fabs(sec) * 1e6;

        return sg_format_usec(buf, usec < (double)UINT64_MAX ? (uint64_t)usec : SG_UNLIMITED);
}

static void say_policy(struct text *t, const struct sg_governor *g, const struct sg_governed *j)
{
        static const char *const objectives[] = {"jct", "balanced", "quality"};
        const struct sg_domain *d = j->domain;

        say(t, "Policy: %s", d->policy->name);
        if (d->settings.share == SG_SHARE_GROWTH)
                say(t, ", objective %s", objectives[d->settings.objective]);
        say(t, ", class %s", g->classes[j->class].name);
        if (d->capacity < 1)
                say(t, ", whose policy divides %.1f %% of the node", d->capacity * 100);
        say(t, "\n");
}

/* Inside, sizes are seconds alone on the node. */
static const char *cpu_span(char buf[SG_FORMAT_MAX], const struct sg_governor *g, double sec)
{
        return span(buf, sec * g->cpus);
}

static void say_size(struct text *t, const struct sg_governor *g, const struct sg_governed *j)
{
        const struct sg_estimate *e = &j->decision.estimate;
        char line[LINE_MAX_BYTES] = "", total[SG_FORMAT_MAX], left[SG_FORMAT_MAX];

        sg_learner_explain(j->learner, line, sizeof(line));
        if (line[0])
                say(t, "Size: %s\n", line);
        say(t, "Work: %s%s of CPU time, %s of it left; can use %.1f %% of the node\n",
            e->source == SG_SIZE_UNKNOWN ? "unknown; assumed " : "", cpu_span(total, g, e->total),
            cpu_span(left, g, e->remaining), j->decision.width * 100);
        if (e->whole && e->exponent < 1)
                say(t, "Speed: %.2f times as fast on %g CPUs as on one\n",
                    sg_speedup_at(&e->speedup, j->decision.width * g->cpus),
                    j->decision.width * g->cpus);
        else if (e->exponent < 1)
                say(t, "Speed: grows as share^%.2f\n", e->exponent);
        if (!isnan(e->efficiency))
                say(t, "Growth efficiency: %.4g\n", e->efficiency);
}

static void say_deadline(struct text *t, const struct sg_governor *g, const struct sg_governed *j)
{
        double left = j->deadline - g->now;
        char buf[SG_FORMAT_MAX];

        if (isfinite(left))
                say(t, left < 0 ? "Deadline: %s ago\n" : "Deadline: in %s\n", span(buf, left));
}

/* For a job that has said nothing, milestones are those of an average one. */
static void say_milestones(struct text *t, const struct sg_governor *g, const struct sg_estimate *e)
{
        static const char *const names[] = {"90 %", "95 %", "99 %"};
        char buf[SG_FORMAT_MAX];
        bool any = false;

        for (size_t i = 0; i < SG_MILESTONE_DONE; i++) {
                if (e->n_reports == 0 || isnan(e->to[i]))
                        continue;
                say(t, "%s %s after %s", any ? "," : "Quality:", names[i],
                    cpu_span(buf, g, e->to[i]));
                any = true;
        }
        if (any)
                say(t, " of CPU time\n");
}

/* Says by how much a promise is later than NoHarm= has it: growth promises less while it plans
 * (share/policy-growth.c). */
static void say_harm(struct text *t, const struct sg_governed *j, const struct sg_share_why *why)
{
        double fair = why->virtual_finish - j->domain_arrival;
        double harm = (why->due - j->domain_arrival) / fair - 1;

        if (j->domain->settings.share == SG_SHARE_GROWTH && fair > 0 &&
            harm > j->domain->settings.no_harm + .005)
                say(t, ", %.0f %% later instead of NoHarm=, as not all jobs speed up in proportion",
                    harm * 100);
}

/* How long it may go without the CPU: its slack, of which nothing is left either once its own work
 * fills the time until it is due. */
static double patience(const struct sg_governed *j, const struct sg_share_why *why)
{
        const struct sg_domain *d = j->domain;
        double width = fmin(j->decision.width / d->capacity, 1);
        double own = why->due - d->clock - j->decision.estimate.remaining / width;

        return fmin(why->slack, own) / d->capacity;
}

static void say_promise(struct text *t, const struct sg_governed *j, const struct sg_share_why *why)
{
        const struct sg_domain *d = j->domain;
        double fair = (why->virtual_finish - d->clock) / d->capacity;
        double due = (why->due - d->clock) / d->capacity;
        char buf[SG_FORMAT_MAX];

        if (!isfinite(why->due) || !isfinite(why->virtual_finish))
                return;
        say(t,
            fair < 0 ? "Promise: Fair sharing would have finished it %s ago"
                     : "Promise: Fair sharing would finish it in %s",
            span(buf, fair));
        say(t, due < 0 ? "; promised for %s ago" : "; promised within %s", span(buf, due));
        say_harm(t, j, why);
        if (isfinite(why->slack) && patience(j, why) > 0)
                say(t, "; it can still wait %s", span(buf, patience(j, why)));
        say(t, ".\n");
}

/* What follows from the reason alone. */
static const char *text_of(enum sg_share_reason r)
{
        static const char *const texts[] = {
                [SG_REASON_NONE] = "no reason was given",
                [SG_REASON_FAIR] = "equal parts, by weight",
                [SG_REASON_ALONE] = "no other job wants the CPU",
                [SG_REASON_PROBE] = "no progress yet; being measured",
                [SG_REASON_INDEX] = "gains most per CPU-second, and no promise is at stake",
                [SG_REASON_OWN_SLACK] = "must run now to keep its promise",
                [SG_REASON_SLACK] = "must run now to keep its promise",
                [SG_REASON_RANK] = "others gain more per CPU-second",
                [SG_REASON_GROWTH] = "its part of the sum of growth efficiencies",
                [SG_REASON_BOUND] = "has nearly converged: gets the lower bound",
                [SG_REASON_CONVERGED] = "all jobs have converged: no limits",
                [SG_REASON_UNMEASURED] = "new: no limit yet",
                [SG_REASON_STALE] = "being watched: its limit stays",
                [SG_REASON_SHORTEST] = "the least work left goes first",
                [SG_REASON_LEAST_USED] = "the least CPU time used goes first",
                [SG_REASON_GAIN] = "the largest gain goes first",
                [SG_REASON_PLAN] = "by plan: not all jobs speed up in proportion to their CPUs",
                [SG_REASON_TRIAL] = "being timed on this many CPUs",
                [SG_REASON_DEADLINE] = "enough to meet its deadline",
                [SG_REASON_DROPPED] = "can't meet its deadline any more: gets what is left",
                [SG_REASON_SPARE] = "gets what deadlines leave",
                [SG_REASON_ASIDE] = "interactive or a service: keeps its fair share",
                [SG_REASON_UNBOUND] = "waits for something other than the CPU",
        };

        return (size_t)r < sizeof(texts) / sizeof(texts[0]) && texts[r] ? texts[r] : texts[0];
}

/* "after job 7 and 2 others", of those that go first. */
static void after_whom(const struct sg_share_why *why, char *buf, size_t size)
{
        size_t n = (size_t)snprintf(buf, size, "after job %" PRIu64, why->other);

        if (why->rank > 2 && n < size)
                (void)snprintf(buf + n, size - n, " and %u other%s", why->rank - 2,
                               why->rank > 3 ? "s" : "");
}

/* Where waits aren't counted and no CPU is idle, a job that sleeps looks like one that is kept
 * waiting; but none is kept from the CPU as strictly as that. */
static bool hardly_uses(const struct sg_governor *g, const struct sg_governed *j)
{
        double age = g->now - j->arrival;

        return isnan(sg_learner_width(j->learner)) && !sg_learner_waits_known(j->learner) &&
               age > UNMEASURED_SEC && j->cpu < HARDLY_ANY * age;
}

/* A job that somebody waits for keeps its share, whatever it waits for itself. Of all others
 * what is learnt of their use says more than why the policy has put them where they are. */
static enum sg_share_reason spoken_reason(const struct sg_governor *g, const struct sg_governed *j)
{
        enum sg_share_reason r = j->decision.out.why.reason;

        if (r == SG_REASON_ASIDE)
                return r;
        return sg_learner_seems_idle(j->learner) || hardly_uses(g, j) ? SG_REASON_UNBOUND : r;
}

static bool is_due(enum sg_share_reason r)
{
        return r == SG_REASON_SLACK || r == SG_REASON_OWN_SLACK;
}

static void write_why(const struct sg_governor *g, const struct sg_governed *j, char *buf,
                      size_t size)
{
        const struct sg_share_out *out = &j->decision.out;
        enum sg_share_reason reason = spoken_reason(g, j);
        char after[64];

        after_whom(&out->why, after, sizeof(after));
        if (reason == SG_REASON_PROBE && out->list == SG_LIST_WAIT)
                (void)snprintf(buf, size, "no progress yet; will be measured %s",
                               out->why.other ? after : "in its turn");
        else if (reason == SG_REASON_SLACK && out->why.other != 0 && out->why.other != j->key)
                (void)snprintf(buf, size, "%s to keep the promise of job %" PRIu64,
                               out->list == SG_LIST_WAIT ? "goes next" : "must run now",
                               out->why.other);
        else if (is_due(reason) && out->list == SG_LIST_WAIT)
                (void)snprintf(buf, size, "goes next to keep its promise");
        else if (reason == SG_REASON_RANK && out->why.other != 0)
                (void)snprintf(buf, size, "%s, which gain%s more per CPU-second", after,
                               out->why.rank > 2 ? "" : "s");
        else
                (void)snprintf(buf, size, "%s", text_of(reason));
}

/* What a job gets that the CPU isn't what it waits for is what it uses. */
static double spoken_share(const struct sg_governor *g, const struct sg_governed *j)
{
        double share = j->decision.out.share, width = sg_learner_width(j->learner);

        if (spoken_reason(g, j) != SG_REASON_UNBOUND)
                return share;
        if (isnan(width))
                width = j->cpu / (g->now - j->arrival) / g->cpus;
        return fmin(width, share);
}

double sg_governor_share(const struct sg_governor *g, uint64_t key, char *why, size_t size)
{
        const struct sg_governed *j = sg_governor_find(g, key);

        if (!j || j->decision.key == 0)
                return (double)NAN;
        if (size > 0)
                write_why(g, j, why, size);
        return spoken_share(g, j);
}

enum sg_share_list sg_governor_list(const struct sg_governor *g, uint64_t key)
{
        const struct sg_governed *j = sg_governor_find(g, key);
        enum sg_share_list list = j && j->decision.key ? j->decision.out.list : SG_LIST_NONE;
        bool turns = list == SG_LIST_PROBE || list == SG_LIST_RUN || list == SG_LIST_LAST ||
                     list == SG_LIST_WAIT;

        return turns && spoken_reason(g, j) == SG_REASON_UNBOUND ? SG_LIST_ASIDE : list;
}

static void say_share(struct text *t, const struct sg_governor *g, const struct sg_governed *j)
{
        const struct sg_share_out *out = &j->decision.out;
        bool idle = spoken_reason(g, j) == SG_REASON_UNBOUND;
        char why[LINE_MAX_BYTES];

        if (j->held) {
                say(t, "Share: none while it is suspended\n");
                return;
        }
        write_why(g, j, why, sizeof(why));
        say(t, "Share: %s%.1f %% of the node (weight %u", idle ? "what it uses, " : "",
            spoken_share(g, j) * 100, out->weight);
        if (isfinite(out->cap))
                say(t, ", no more than %.1f %%", out->cap * 100);
        if (!idle)
                say(t, ", list %s", sg_share_list_to_string(out->list));
        say(t, "): %s", why);
        if (out->why.rank > 0 && !idle)
                say(t, "; number %u in line", out->why.rank);
        if (isfinite(out->why.index) && out->why.index > 0 && !idle)
                say(t, ", index %.4g", out->why.index);
        say(t, "\n");
}

/* CPU time says nothing of work that waits for something other than the CPU. */
static void say_work(struct text *t, const struct sg_governor *g, const struct sg_governed *j)
{
        if (spoken_reason(g, j) == SG_REASON_UNBOUND)
                return;
        say_size(t, g, j);
        say_milestones(t, g, &j->decision.estimate);
        say_promise(t, j, &j->decision.out.why);
}

int sg_governor_explain(const struct sg_governor *g, uint64_t key, char **ret)
{
        const struct sg_governed *j = sg_governor_find(g, key);
        struct text t = {0};

        if (!j || j->decision.key == 0)
                return -ENOENT;
        say_policy(&t, g, j);
        say_work(&t, g, j);
        say_deadline(&t, g, j);
        say_share(&t, g, j);
        if (t.error < 0) {
                free(t.s);
                return t.error;
        }
        *ret = t.s;
        return 0;
}
