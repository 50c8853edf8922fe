/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A walk's parts as shares of any size: heSRPT's, cut to what each can use. */
#include "core/share/plan-walk.h"
#include <math.h>

/* Shares in proportion to what is in share[], but nobody above its width; those in capped[] have
 * theirs. Whether more had to be capped, after which those before them may get more, too. The sums
 * are of what comes after, smallest first: shares are of very different magnitudes. */
static bool cut_to_widths(struct sg_walk *w)
{
        double *after = w->rate, sum = 0, before = 0, left = w->capacity;
        bool cut = false;

        for (size_t p = w->n_alive; p-- > 0;) {
                uint32_t i = w->alive[p];

                if (w->capped[i])
                        left -= w->jobs[i].width;
                else
                        sum += w->share[i];
                after[i] = sum;
        }
        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];

                if (w->capped[i])
                        continue;
                if (w->share[i] * left < w->jobs[i].width * (before + after[i])) {
                        before += w->share[i];
                        continue;
                }
                w->capped[i] = cut = true;
                left -= w->jobs[i].width;
        }
        w->scale = before > 0 ? fmax(left, 0) / before : 1;
        return cut;
}

static void set_shares(struct sg_walk *w)
{
        double scale = w->capacity / w->powers[w->n_alive];
        bool cut = false;

        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];
                size_t rank = w->n_alive - p;

                w->capped[i] = false;
                w->share[i] = scale * (w->powers[rank] - w->powers[rank - 1]);
                cut |= w->share[i] > w->jobs[i].width;
        }
        if (!cut)
                return;
        while (cut_to_widths(w))
                ;
        for (size_t p = 0; p < w->n_alive; p++) {
                uint32_t i = w->alive[p];

                w->share[i] = w->capped[i] ? w->jobs[i].width : w->share[i] * w->scale;
        }
}

/* k^c, of which the shares of any number of jobs are made (hesrpt.h). */
void sg_walk_prefer_shares(struct sg_walk *w, double exponent)
{
        for (size_t k = 0; k <= w->n; k++)
                w->powers[k] = pow((double)k, 1 / (1 - exponent));
}

static void set_rates(struct sg_walk *w)
{
        for (size_t p = 0; p < w->n_alive; p++) {
                const struct sg_search_job *j = &w->jobs[w->alive[p]];
                double share = w->share[w->alive[p]];

                w->rate[w->alive[p]] = j->exponent >= 1 || share >= j->width
                                               ? share
                                               : j->width * pow(share / j->width, j->exponent);
        }
}

void sg_walk_share(struct sg_walk *w)
{
        set_shares(w);
        set_rates(w);
}
