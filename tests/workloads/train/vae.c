/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A variational autoencoder of pictures (Kingma and Welling, 2014): what it can't reconstruct, in
 * nats, and how far its code is from a normal distribution.
 */

#include "image.h"
#include "model.h"

enum { PIXELS = IMAGE_SIZE, HIDDEN = 48, CODE = 8 };
enum {
        AT_IN = 0,
        AT_MEAN = AT_IN + NN_SIZE(HIDDEN, PIXELS),
        AT_SPREAD = AT_MEAN + NN_SIZE(CODE, HIDDEN),
        AT_OUT = AT_SPREAD + NN_SIZE(CODE, HIDDEN),
        AT_PIXELS = AT_OUT + NN_SIZE(HIDDEN, CODE),
        N_WEIGHTS = AT_PIXELS + NN_SIZE(PIXELS, HIDDEN),
};

static const struct nn_layer in = {AT_IN, HIDDEN, PIXELS}, mean = {AT_MEAN, CODE, HIDDEN};
static const struct nn_layer spread = {AT_SPREAD, CODE, HIDDEN}, out = {AT_OUT, HIDDEN, CODE};
static const struct nn_layer pixels = {AT_PIXELS, PIXELS, HIDDEN};

struct scratch {
        double x[PIXELS], y[PIXELS], h[HIDDEN], d[HIDDEN], dh[HIDDEN], dd[HIDDEN];
        double mu[CODE], lv[CODE], eps[CODE], z[CODE], dz[CODE], dlv[CODE];
};

static void init(double *w, struct sg_rng *rng)
{
        nn_init(&in, w, rng);
        nn_init(&mean, w, rng);
        nn_init(&spread, w, rng);
        nn_init(&out, w, rng);
        nn_init(&pixels, w, rng);
}

static void encode(struct nn_pass *p, struct scratch *s)
{
        nn_forward(p, &in, s->x, s->h);
        nn_tanh(s->h, HIDDEN);
        nn_forward(p, &mean, s->h, s->mu);
        nn_forward(p, &spread, s->h, s->lv);
        for (size_t i = 0; i < CODE; i++) {
                s->eps[i] = sg_rng_normal(&p->rng);
                s->z[i] = s->mu[i] + exp(s->lv[i] / 2) * s->eps[i];
        }
}

/* y becomes its own gradient. */
static double decode(struct nn_pass *p, struct scratch *s)
{
        double loss = 0;

        nn_forward(p, &out, s->z, s->d);
        nn_tanh(s->d, HIDDEN);
        nn_forward(p, &pixels, s->d, s->y);
        for (size_t i = 0; i < PIXELS; i++) {
                double a = s->y[i];

                loss += fmax(a, 0) - a * s->x[i] + log1p(exp(-fabs(a)));
                s->y[i] = 1 / (1 + exp(-a)) - s->x[i];
        }
        return loss;
}

static void decode_back(struct nn_pass *p, struct scratch *s)
{
        for (size_t i = 0; i < HIDDEN; i++)
                s->dd[i] = 0;
        for (size_t i = 0; i < CODE; i++)
                s->dz[i] = 0;
        nn_back(p, &pixels, s->d, s->y, s->dd);
        for (size_t i = 0; i < HIDDEN; i++)
                s->dd[i] *= 1 - s->d[i] * s->d[i];
        nn_back(p, &out, s->z, s->dd, s->dz);
}

static double encode_back(struct nn_pass *p, struct scratch *s)
{
        double distance = 0;

        for (size_t i = 0; i < CODE; i++) {
                double variance = exp(s->lv[i]);

                distance += (variance + s->mu[i] * s->mu[i] - 1 - s->lv[i]) / 2;
                s->dlv[i] = s->dz[i] * s->eps[i] * exp(s->lv[i] / 2) / 2 + (variance - 1) / 2;
                s->dz[i] += s->mu[i];
        }
        for (size_t i = 0; i < HIDDEN; i++)
                s->dh[i] = 0;
        nn_back(p, &mean, s->h, s->dz, s->dh);
        nn_back(p, &spread, s->h, s->dlv, s->dh);
        for (size_t i = 0; i < HIDDEN; i++)
                s->dh[i] *= 1 - s->h[i] * s->h[i];
        nn_back(p, &in, s->x, s->dh, NULL);
        return distance;
}

static double sample(struct nn_pass *p)
{
        struct scratch *s = (struct scratch *)p->scratch;
        double loss;

        (void)image_draw(&p->rng, s->x);
        encode(p, s);
        loss = decode(p, s);
        decode_back(p, s);
        p->hits = NAN;
        return loss + encode_back(p, s);
}

const struct model model_vae = {
        .name = "vae",
        .summary = "variational autoencoder of digit-like pictures",
        .n_weights = N_WEIGHTS,
        .n_scratch = sizeof(struct scratch) / sizeof(double),
        .rate = 1e-3,
        .per_second = 12500,
        .init = init,
        .sample = sample,
};
