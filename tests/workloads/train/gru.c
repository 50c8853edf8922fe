/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What comes next in a sum of two waves? A gated recurrent unit (Cho, 2014), and half the square of
 * what it is off by.
 */

#include "model.h"

enum { HIDDEN = 20, STEPS = 24, INPUT = HIDDEN + 1 };
enum {
        AT_UPDATE = 0,
        AT_RESET = AT_UPDATE + NN_SIZE(HIDDEN, INPUT),
        AT_NEW = AT_RESET + NN_SIZE(HIDDEN, INPUT),
        AT_OUT = AT_NEW + NN_SIZE(HIDDEN, INPUT),
        N_WEIGHTS = AT_OUT + NN_SIZE(1, HIDDEN),
};

static const struct nn_layer update = {AT_UPDATE, HIDDEN, INPUT}, reset = {AT_RESET, HIDDEN, INPUT};
static const struct nn_layer new = {AT_NEW, HIDDEN, INPUT}, out = {AT_OUT, 1, HIDDEN};

/* h[t] is what it knows before step t. in: (the wave, h); gated: (the wave, r·h). */
struct scratch {
        double wave[STEPS + 1], error[STEPS], h[STEPS + 1][HIDDEN];
        double in[STEPS][INPUT], gated[STEPS][INPUT];
        double z[STEPS][HIDDEN], r[STEPS][HIDDEN], n[STEPS][HIDDEN];
        double dh[HIDDEN], before[HIDDEN], dz[HIDDEN], dr[HIDDEN], dn[HIDDEN];
        double din[INPUT], dgated[INPUT];
};

static void init(double *w, struct sg_rng *rng)
{
        nn_init(&update, w, rng);
        nn_init(&reset, w, rng);
        nn_init(&new, w, rng);
        nn_init(&out, w, rng);
}

static void draw(struct sg_rng *rng, double *wave)
{
        double f1 = sg_rng_between(rng, .2, .5), f2 = sg_rng_between(rng, .6, 1.1);
        double p1 = sg_rng_between(rng, 0, 2 * M_PI), p2 = sg_rng_between(rng, 0, 2 * M_PI);

        for (size_t t = 0; t <= STEPS; t++)
                wave[t] = .6 * sin(f1 * (double)t + p1) + .4 * sin(f2 * (double)t + p2);
}

static void forward(struct nn_pass *p, struct scratch *s, size_t t)
{
        const double *h = s->h[t];

        s->in[t][0] = s->gated[t][0] = s->wave[t];
        for (size_t i = 0; i < HIDDEN; i++)
                s->in[t][1 + i] = h[i];
        nn_forward(p, &update, s->in[t], s->z[t]);
        nn_sigmoid(s->z[t], HIDDEN);
        nn_forward(p, &reset, s->in[t], s->r[t]);
        nn_sigmoid(s->r[t], HIDDEN);
        for (size_t i = 0; i < HIDDEN; i++)
                s->gated[t][1 + i] = s->r[t][i] * h[i];
        nn_forward(p, &new, s->gated[t], s->n[t]);
        nn_tanh(s->n[t], HIDDEN);
        for (size_t i = 0; i < HIDDEN; i++)
                s->h[t + 1][i] = (1 - s->z[t][i]) * s->n[t][i] + s->z[t][i] * h[i];
}

/* dh: by h[t + 1] → by h[t]. */
static void back(struct nn_pass *p, struct scratch *s, size_t t)
{
        const double *h = s->h[t], *z = s->z[t], *r = s->r[t], *n = s->n[t];

        for (size_t i = 0; i < INPUT; i++)
                s->din[i] = s->dgated[i] = 0;
        for (size_t i = 0; i < HIDDEN; i++) {
                s->dn[i] = s->dh[i] * (1 - z[i]) * (1 - n[i] * n[i]);
                s->dz[i] = s->dh[i] * (h[i] - n[i]) * z[i] * (1 - z[i]);
        }
        nn_back(p, &new, s->gated[t], s->dn, s->dgated);
        for (size_t i = 0; i < HIDDEN; i++)
                s->dr[i] = s->dgated[1 + i] * h[i] * r[i] * (1 - r[i]);
        nn_back(p, &update, s->in[t], s->dz, s->din);
        nn_back(p, &reset, s->in[t], s->dr, s->din);
        for (size_t i = 0; i < HIDDEN; i++)
                s->dh[i] = s->dh[i] * z[i] + s->dgated[1 + i] * r[i] + s->din[1 + i];
}

static double sample(struct nn_pass *p)
{
        struct scratch *s = (struct scratch *)p->scratch;
        double loss = 0, y;

        draw(&p->rng, s->wave);
        for (size_t i = 0; i < HIDDEN; i++)
                s->h[0][i] = s->dh[i] = 0;
        for (size_t t = 0; t < STEPS; t++) {
                forward(p, s, t);
                nn_forward(p, &out, s->h[t + 1], &y);
                s->error[t] = (y - s->wave[t + 1]) / STEPS;
                loss += (y - s->wave[t + 1]) * s->error[t] / 2;
        }
        for (size_t t = STEPS; t-- > 0;) {
                nn_back(p, &out, s->h[t + 1], &s->error[t], s->dh);
                back(p, s, t);
        }
        p->hits = NAN;
        return loss;
}

const struct model model_gru = {
        .name = "gru",
        .summary = "gated recurrent unit that goes on with a wave",
        .n_weights = N_WEIGHTS,
        .n_scratch = sizeof(struct scratch) / sizeof(double),
        .rate = 2e-3,
        .per_second = 15000,
        .init = init,
        .sample = sample,
};
