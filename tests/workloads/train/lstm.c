/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which of a hundred symbols comes next? A long short-term memory (Hochreiter and Schmidhuber,
 * 1997). What may follow a symbol depends on whether the one before it was odd.
 */

#include "model.h"

#include <string.h>

enum { SYMBOLS = 100, HIDDEN = 28, STEPS = 16 };
enum { GATES = 4 * HIDDEN }; /* in, forget, out, new */
enum {
        AT_SYMBOL = 0,
        AT_HIDDEN = AT_SYMBOL + NN_SIZE(GATES, SYMBOLS),
        AT_OUT = AT_HIDDEN + NN_SIZE(GATES, HIDDEN),
        N_WEIGHTS = AT_OUT + NN_SIZE(SYMBOLS, HIDDEN),
};

static const struct nn_layer symbol = {AT_SYMBOL, GATES, SYMBOLS};
static const struct nn_layer hidden = {AT_HIDDEN, GATES, HIDDEN}, out = {AT_OUT, SYMBOLS, HIDDEN};

/* h[t] and c[t] are what it knows before step t. */
struct scratch {
        double h[STEPS + 1][HIDDEN], c[STEPS + 1][HIDDEN], gates[STEPS][GATES];
        double logits[STEPS][SYMBOLS], more[GATES], dgates[GATES], dh[HIDDEN], dc[HIDDEN];
};

static void init(double *w, struct sg_rng *rng)
{
        nn_init(&symbol, w, rng);
        nn_init(&hidden, w, rng);
        nn_init(&out, w, rng);
        /* To remember is what it begins with. */
        for (size_t i = HIDDEN; i < 2 * HIDDEN; i++)
                w[AT_SYMBOL + GATES * SYMBOLS + i] = 1;
}

/* One of four, the first of which is the most likely: it can't get below 1 nat. */
static size_t follows(struct sg_rng *rng, size_t last, size_t before)
{
        double u = sg_rng_double(rng);
        size_t which = u < .6 ? 0 : u < .85 ? 1 : u < .95 ? 2 : 3;

        return (last * 7 + 13 + which * 29 + before % 2 * 50) % SYMBOLS;
}

static void forward(struct nn_pass *p, struct scratch *s, size_t t, size_t now)
{
        double *g = s->gates[t];

        nn_forward_symbol(p, &symbol, now, g);
        nn_forward(p, &hidden, s->h[t], s->more);
        for (size_t i = 0; i < GATES; i++)
                g[i] += s->more[i];
        nn_sigmoid(g, 3 * HIDDEN);
        nn_tanh(g + 3 * HIDDEN, HIDDEN);
        for (size_t i = 0; i < HIDDEN; i++) {
                s->c[t + 1][i] = g[HIDDEN + i] * s->c[t][i] + g[i] * g[3 * HIDDEN + i];
                s->h[t + 1][i] = g[2 * HIDDEN + i] * tanh(s->c[t + 1][i]);
        }
}

/* dh and dc: by what is known after step t → before it. */
static void back(struct nn_pass *p, struct scratch *s, size_t t, size_t now)
{
        const double *in = s->gates[t], *forget = in + HIDDEN, *open = in + 2 * HIDDEN;
        const double *new = in + 3 * HIDDEN;
        double *d = s->dgates;

        for (size_t i = 0; i < HIDDEN; i++) {
                double c = tanh(s->c[t + 1][i]);
                double dc = s->dc[i] + s->dh[i] * open[i] * (1 - c * c);

                d[i] = dc * new[i] * in[i] * (1 - in[i]);
                d[HIDDEN + i] = dc * s->c[t][i] * forget[i] * (1 - forget[i]);
                d[2 * HIDDEN + i] = s->dh[i] * c * open[i] * (1 - open[i]);
                d[3 * HIDDEN + i] = dc * in[i] * (1 - new[i] * new[i]);
                s->dc[i] = dc * forget[i];
                s->dh[i] = 0;
        }
        nn_back_symbol(p, &symbol, now, d);
        nn_back(p, &hidden, s->h[t], d, s->dh);
}

static double sample(struct nn_pass *p)
{
        struct scratch *s = (struct scratch *)p->scratch;
        size_t text[STEPS + 1] = {sg_rng_below(&p->rng, SYMBOLS)}, before = 0;
        double loss = 0, hit;

        memset(s->h[0], 0, sizeof(s->h[0]));
        memset(s->c[0], 0, sizeof(s->c[0]));
        memset(s->dh, 0, sizeof(s->dh));
        memset(s->dc, 0, sizeof(s->dc));
        p->hits = 0;
        for (size_t t = 0; t < STEPS; before = text[t++]) {
                text[t + 1] = follows(&p->rng, text[t], before);
                forward(p, s, t, text[t]);
                nn_forward(p, &out, s->h[t + 1], s->logits[t]);
                loss += nn_cross_entropy(s->logits[t], SYMBOLS, text[t + 1], &hit) / STEPS;
                p->hits += hit / STEPS;
        }
        for (size_t t = STEPS; t-- > 0;) {
                for (size_t i = 0; i < SYMBOLS; i++)
                        s->logits[t][i] /= STEPS;
                nn_back(p, &out, s->h[t + 1], s->logits[t], s->dh);
                back(p, s, t, text[t]);
        }
        return loss;
}

const struct model model_lstm = {
        .name = "lstm",
        .summary = "long short-term memory that goes on with a text",
        .n_weights = N_WEIGHTS,
        .n_scratch = sizeof(struct scratch) / sizeof(double),
        .rate = 1e-2,
        .per_second = 4500,
        .init = init,
        .sample = sample,
};
