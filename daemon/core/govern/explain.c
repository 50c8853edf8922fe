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
        say(t, "Work: %s%s of CPU time, of which %s are left; it can use %.1f %% of the node\n",
            e->source == SG_SIZE_UNKNOWN ? "nobody knows; taken for " : "",
            cpu_span(total, g, e->total), cpu_span(left, g, e->remaining), j->decision.width * 100);
        if (e->whole && e->exponent < 1)
                say(t, "Speed: %.2f times that on one CPU on %g of them\n",
                    sg_speedup_at(&e->speedup, j->decision.width * g->cpus),
                    j->decision.width * g->cpus);
        else if (e->exponent < 1)
                say(t, "Speed: grows as share^%.2f\n", e->exponent);
        if (!isnan(e->efficiency))
                say(t, "Growth efficiency: %.4g\n", e->efficiency);
}

static void say_when(struct text *t, double sec)
{
        char buf[SG_FORMAT_MAX];

        say(t, sec < 0 ? "%s ago" : "in %s", span(buf, sec));
}

static void say_deadline(struct text *t, const struct sg_governor *g, const struct sg_governed *j)
{
        double left = j->deadline - g->now;

        if (!isfinite(left))
                return;
        say(t, "Deadline: ");
        say_when(t, left);
        say(t, "\n");
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
                say(t, "%s %s in %s", any ? "," : "Quality:", names[i], cpu_span(buf, g, e->to[i]));
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
                say(t, ", %.0f %% later and not by NoHarm=, as not all get faster in proportion",
                    harm * 100);
}

static void say_promise(struct text *t, const struct sg_governed *j, const struct sg_share_why *why)
{
        const struct sg_domain *d = j->domain;
        char buf[SG_FORMAT_MAX];

        if (!isfinite(why->due) || !isfinite(why->virtual_finish))
                return;
        say(t, "Promise: with fair shares its end would be ");
        say_when(t, (why->virtual_finish - d->clock) / d->capacity);
        say(t, "; it was promised ");
        say_when(t, (why->due - d->clock) / d->capacity);
        say_harm(t, j, why);
        if (isfinite(why->slack) && why->slack > 0)
                say(t, ", which can wait for %s", span(buf, why->slack / d->capacity));
        say(t, "\n");
}

const char *sg_governor_reason(enum sg_share_reason r)
{
        static const char *const texts[] = {
                [SG_REASON_NONE] = "no reason was given",
                [SG_REASON_FAIR] = "all get equal parts by their weights",
                [SG_REASON_ALONE] = "no other job wants the CPU",
                [SG_REASON_PROBE] = "it has said nothing yet: it gets a moment to show its size",
                [SG_REASON_INDEX] =
                        "it gains most per CPU-second, and nobody's promise is at stake",
                [SG_REASON_OWN_SLACK] =
                        "to keep its promise it has to go on now, as it couldn't catch up",
                [SG_REASON_SLACK] = "a promise is at stake, and it is the best of those that help",
                [SG_REASON_RANK] = "others gain more per CPU-second",
                [SG_REASON_GROWTH] = "its part of the sum of growth efficiencies",
                [SG_REASON_BOUND] = "it has nearly converged: the lower bound holds",
                [SG_REASON_CONVERGED] = "all have converged: no limits",
                [SG_REASON_UNMEASURED] = "it is new: no limit yet",
                [SG_REASON_STALE] = "it is watched: its limit stays",
                [SG_REASON_SHORTEST] = "by the work that is left",
                [SG_REASON_LEAST_USED] = "by what each has used",
                [SG_REASON_GAIN] = "by what each gains next",
                [SG_REASON_PLAN] = "by a plan for jobs that don't get faster in proportion",
                [SG_REASON_TRIAL] = "for some reports, to see how fast it is on so many CPUs",
                [SG_REASON_DEADLINE] = "what its deadline takes",
                [SG_REASON_DROPPED] = "its deadline can't be met any more: it gets what is left",
                [SG_REASON_SPARE] = "what deadlines leave",
                [SG_REASON_ASIDE] = "somebody waits for it: it keeps its fair share",
                [SG_REASON_UNBOUND] = "it mostly waits for something else than the CPU",
        };

        return (size_t)r < sizeof(texts) / sizeof(texts[0]) && texts[r] ? texts[r] : texts[0];
}

static void say_share(struct text *t, const struct sg_governed *j)
{
        const struct sg_share_out *out = &j->decision.out;

        if (j->held) {
                say(t, "Share: none, it is suspended\n");
                return;
        }
        say(t, "Share: %.1f %% of the node (weight %u", out->share * 100, out->weight);
        if (isfinite(out->cap))
                say(t, ", no more than %.1f %%", out->cap * 100);
        say(t, "), list %s: %s", sg_share_list_to_string(out->list),
            sg_governor_reason(out->why.reason));
        if (out->why.other)
                say(t, " (job %" PRIu64 ")", out->why.other);
        if (out->why.rank > 0)
                say(t, "; number %u in line", out->why.rank);
        if (isfinite(out->why.index) && out->why.index > 0)
                say(t, ", index %.4g", out->why.index);
        say(t, "\n");
}

int sg_governor_explain(const struct sg_governor *g, uint64_t key, char **ret)
{
        const struct sg_governed *j = sg_governor_find(g, key);
        struct text t = {0};

        if (!j || j->decision.key == 0)
                return -ENOENT;
        say_policy(&t, g, j);
        say_size(&t, g, j);
        say_milestones(&t, g, &j->decision.estimate);
        say_deadline(&t, g, j);
        say_promise(&t, j, &j->decision.out.why);
        say_share(&t, j);
        if (t.error < 0) {
                free(t.s);
                return t.error;
        }
        *ret = t.s;
        return 0;
}
