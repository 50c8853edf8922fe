/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which digit is it? A perceptron with one hidden layer. */

#include "image.h"
#include "model.h"

enum { PIXELS = IMAGE_SIZE, HIDDEN = 48, CLASSES = 10 };
enum {
        AT_IN = 0,
        AT_OUT = AT_IN + NN_SIZE(HIDDEN, PIXELS),
        N_WEIGHTS = AT_OUT + NN_SIZE(CLASSES, HIDDEN)
};

static const struct nn_layer in = {AT_IN, HIDDEN, PIXELS}, out = {AT_OUT, CLASSES, HIDDEN};

struct scratch {
        double x[PIXELS], h[HIDDEN], dh[HIDDEN], y[CLASSES];
};

static void init(double *w, struct sg_rng *rng)
{
        nn_init(&in, w, rng);
        nn_init(&out, w, rng);
}

static double sample(struct nn_pass *p)
{
        struct scratch *s = (struct scratch *)p->scratch;
        size_t digit = image_draw(&p->rng, s->x);
        double loss;

        nn_forward(p, &in, s->x, s->h);
        nn_tanh(s->h, HIDDEN);
        nn_forward(p, &out, s->h, s->y);
        loss = nn_cross_entropy(s->y, CLASSES, digit, &p->hits);
        for (size_t i = 0; i < HIDDEN; i++)
                s->dh[i] = 0;
        nn_back(p, &out, s->h, s->y, s->dh);
        for (size_t i = 0; i < HIDDEN; i++)
                s->dh[i] *= 1 - s->h[i] * s->h[i];
        nn_back(p, &in, s->x, s->dh, NULL);
        return loss;
}

const struct model model_mlp = {
        .name = "mlp",
        .summary = "perceptron that tells digit-like pictures apart",
        .n_weights = N_WEIGHTS,
        .n_scratch = sizeof(struct scratch) / sizeof(double),
        .rate = 2e-3,
        .per_second = 23000,
        .init = init,
        .sample = sample,
};
