/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/internal.h"
#include <math.h>
#include <stdio.h>

static const char *doubt_text(enum sg_doubt d)
{
        static const char *const texts[] = {
                [SG_DOUBT_NONE] = "",
                [SG_DOUBT_OVERDUE] = "it has used far more CPU time than it said was left",
                [SG_DOUBT_SPREAD] =
                        "the sizes that it claimed differ by more than a factor of three",
                [SG_DOUBT_JUMP] = "it claimed to be much further along than its pace allows",
        };

        return texts[d];
}

void sg_learner_explain(const struct sg_learner *l, char *buf, size_t size)
{
        const struct sg_claims *c = l->claims && !l->claims->by_steps ? l->claims : NULL;
        const struct sg_work_point *last = c ? sg_work_last(&c->work) : NULL;
        double cost = last ? sg_learner_cost(l, SG_WORK_CPU) : (double)NAN;
        enum sg_doubt doubt = c ? sg_trust_doubt(&c->trust, l->cpu) : SG_DOUBT_NONE;

        if (doubt != SG_DOUBT_NONE)
                (void)snprintf(buf, size, "judged by its class, as its reports aren't believed: %s",
                               doubt_text(doubt));
        else if (last && !isnan(cost))
                (void)snprintf(buf, size, "%.1f %% done by its reports; %.1f CPU-seconds in all",
                               last->x * 100, cost);
        else if (last && l->n_reports > 0)
                (void)snprintf(buf, size,
                               "judged by its class, as it has reported only once since it began, "
                               "at %.1f %%",
                               last->x * 100);
        else if (l->counters && sg_fraction_is_inner(l->counters))
                (void)snprintf(buf, size,
                               "judged by its class, as its steps begin again and again and it "
                               "doesn't say how often");
        else if (l->n_reports > 0)
                (void)snprintf(buf, size,
                               "judged by its class, as it doesn't say how much there is to do");
        else
                (void)snprintf(buf, size, "judged by its class, as it has reported nothing yet");
}
