/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See decision-json.h. Jansson takes NULL for a value that couldn't be made, and passes the failure
 * on to the whole. */

#include "edge/history/decision-json.h"
#include "base/cleanup.h"
#include <math.h>

static const char *const reasons[] = {
        [SG_REASON_NONE] = "none",
        [SG_REASON_FAIR] = "fair",
        [SG_REASON_ALONE] = "alone",
        [SG_REASON_PROBE] = "probe",
        [SG_REASON_INDEX] = "index",
        [SG_REASON_OWN_SLACK] = "own-slack",
        [SG_REASON_SLACK] = "slack",
        [SG_REASON_RANK] = "rank",
        [SG_REASON_GROWTH] = "growth",
        [SG_REASON_BOUND] = "bound",
        [SG_REASON_CONVERGED] = "converged",
        [SG_REASON_UNMEASURED] = "unmeasured",
        [SG_REASON_STALE] = "stale",
        [SG_REASON_SHORTEST] = "shortest",
        [SG_REASON_LEAST_USED] = "least-used",
        [SG_REASON_GAIN] = "gain",
        [SG_REASON_PLAN] = "plan",
        [SG_REASON_TRIAL] = "trial",
        [SG_REASON_DEADLINE] = "deadline",
        [SG_REASON_DROPPED] = "dropped",
        [SG_REASON_SPARE] = "spare",
        [SG_REASON_ASIDE] = "aside",
        [SG_REASON_UNBOUND] = "unbound",
};

static const char *const sources[] = {
        [SG_SIZE_UNKNOWN] = "unknown",
        [SG_SIZE_HISTORY] = "history",
        [SG_SIZE_REPORTS] = "reports",
        [SG_SIZE_DISTRUST] = "distrust",
};

const char *sg_decision_reason(enum sg_share_reason reason)
{
        return (size_t)reason < SG_ELEMENTSOF(reasons) && reasons[reason] ? reasons[reason] : "?";
}

static json_t *real(double v)
{
        return isfinite(v) ? json_real(v) : json_null();
}

/* Times as fast as on one, on 1, 2, 4 … CPUs. */
static json_t *speedup_of(const struct sg_estimate *e)
{
        json_t *speeds = e->whole ? json_array() : json_null();

        for (int k = 1; e->whole && k <= 1 << SG_SPEEDUP_OCTAVES; k *= 2)
                (void)json_array_append_new(speeds, json_real(sg_speedup_at(&e->speedup, k)));
        return speeds;
}

static json_t *in_of(const struct sg_decision *d)
{
        const struct sg_estimate *e = &d->estimate;

        return json_pack("{s:o,s:o,s:o,s:o,s:s,s:I,s:o,s:o,s:o,s:[o,o,o,o]}", "width",
                         real(d->width), "used", real(d->used), "remaining", real(e->remaining),
                         "total", real(e->total), "size_from",
                         (size_t)e->source < SG_ELEMENTSOF(sources) ? sources[e->source] : "?",
                         "reports", (json_int_t)e->n_reports, "exponent", real(e->exponent),
                         "speedup", speedup_of(e), "growth_efficiency", real(e->efficiency), "to",
                         real(e->to[SG_MILESTONE_90]), real(e->to[SG_MILESTONE_95]),
                         real(e->to[SG_MILESTONE_99]), real(e->to[SG_MILESTONE_DONE]));
}

static json_t *out_of(const struct sg_share_out *out, const char *other)
{
        const struct sg_share_why *w = &out->why;

        return json_pack("{s:o,s:i,s:i,s:o,s:s,s:s,s:i,s:s?,s:o,s:o,s:o,s:o}", "share",
                         real(out->share), "cpus", (int)out->cpus, "weight", (int)out->weight,
                         "cap", real(out->cap), "list", sg_share_list_to_string(out->list),
                         "reason", sg_decision_reason(w->reason), "rank", (int)w->rank, "other",
                         other, "index", real(w->index), "virtual_finish", real(w->virtual_finish),
                         "due", real(w->due), "slack", real(w->slack));
}

json_t *sg_decision_json(const struct sg_decision *d, const char *class, const char *other)
{
        return json_pack("{s:s,s:o,s:o}", "class", class, "in", in_of(d), "out",
                         out_of(&d->out, other));
}
