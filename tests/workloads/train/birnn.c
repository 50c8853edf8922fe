/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A label for each symbol that depends on both of its neighbours: a recurrent network that reads
 * from the left, one that reads from the right (Schuster and Paliwal, 1997).
 */

#include "model.h"

#include <string.h>

enum { SYMBOLS = 10, LABELS = 10, HIDDEN = 20, STEPS = 12 };
enum {
        AT_SYMBOL_F = 0,
        AT_HIDDEN_F = AT_SYMBOL_F + NN_SIZE(HIDDEN, SYMBOLS),
        AT_SYMBOL_B = AT_HIDDEN_F + NN_SIZE(HIDDEN, HIDDEN),
        AT_HIDDEN_B = AT_SYMBOL_B + NN_SIZE(HIDDEN, SYMBOLS),
        AT_OUT = AT_HIDDEN_B + NN_SIZE(HIDDEN, HIDDEN),
        N_WEIGHTS = AT_OUT + NN_SIZE(LABELS, 2 * HIDDEN),
};

/* 0: from the left, 1: from the right. */
static const struct nn_layer symbol[2] = {{AT_SYMBOL_F, HIDDEN, SYMBOLS},
                                          {AT_SYMBOL_B, HIDDEN, SYMBOLS}};
static const struct nn_layer hidden[2] = {{AT_HIDDEN_F, HIDDEN, HIDDEN},
                                          {AT_HIDDEN_B, HIDDEN, HIDDEN}};
static const struct nn_layer out = {AT_OUT, LABELS, 2 * HIDDEN};

/* both[t + 1] is what they know at symbol t: the left one's half, then the right one's. The rows
 * before the first and behind the last are 0. */
struct scratch {
        double both[STEPS + 2][2 * HIDDEN], dboth[STEPS + 2][2 * HIDDEN];
        double logits[STEPS][LABELS], more[HIDDEN], d[HIDDEN];
};

static void init(double *w, struct sg_rng *rng)
{
        for (size_t k = 0; k < 2; k++) {
                nn_init(&symbol[k], w, rng);
                nn_init(&hidden[k], w, rng);
        }
        nn_init(&out, w, rng);
}

static void read_all(struct nn_pass *p, struct scratch *s, size_t k, const size_t *text)
{
        for (size_t n = 0; n < STEPS; n++) {
                size_t row = k == 0 ? n + 1 : STEPS - n, from = k == 0 ? row - 1 : row + 1;
                double *h = s->both[row] + k * HIDDEN;

                nn_forward_symbol(p, &symbol[k], text[row - 1], h);
                nn_forward(p, &hidden[k], s->both[from] + k * HIDDEN, s->more);
                for (size_t i = 0; i < HIDDEN; i++)
                        h[i] += s->more[i];
                nn_tanh(h, HIDDEN);
        }
}

static void back_all(struct nn_pass *p, struct scratch *s, size_t k, const size_t *text)
{
        for (size_t n = STEPS; n-- > 0;) {
                size_t row = k == 0 ? n + 1 : STEPS - n, from = k == 0 ? row - 1 : row + 1;
                const double *h = s->both[row] + k * HIDDEN, *dh = s->dboth[row] + k * HIDDEN;

                for (size_t i = 0; i < HIDDEN; i++)
                        s->d[i] = dh[i] * (1 - h[i] * h[i]);
                nn_back_symbol(p, &symbol[k], text[row - 1], s->d);
                nn_back(p, &hidden[k], s->both[from] + k * HIDDEN, s->d,
                        s->dboth[from] + k * HIDDEN);
        }
}

static size_t label(const size_t *text, size_t t)
{
        size_t left = t > 0 ? text[t - 1] : 0, right = t + 1 < STEPS ? text[t + 1] : 0;

        return left % 5 * 2 + right % 2;
}

static double sample(struct nn_pass *p)
{
        struct scratch *s = (struct scratch *)p->scratch;
        size_t text[STEPS];
        double loss = 0, hit;

        for (size_t t = 0; t < STEPS; t++)
                text[t] = sg_rng_below(&p->rng, SYMBOLS);
        memset(s->both, 0, sizeof(s->both));
        memset(s->dboth, 0, sizeof(s->dboth));
        read_all(p, s, 0, text);
        read_all(p, s, 1, text);
        p->hits = 0;
        for (size_t t = 0; t < STEPS; t++) {
                nn_forward(p, &out, s->both[t + 1], s->logits[t]);
                loss += nn_cross_entropy(s->logits[t], LABELS, label(text, t), &hit) / STEPS;
                p->hits += hit / STEPS;
                for (size_t i = 0; i < LABELS; i++)
                        s->logits[t][i] /= STEPS;
                nn_back(p, &out, s->both[t + 1], s->logits[t], s->dboth[t + 1]);
        }
        back_all(p, s, 0, text);
        back_all(p, s, 1, text);
        return loss;
}

const struct model model_birnn = {
        .name = "birnn",
        .summary = "bidirectional network that labels a text",
        .n_weights = N_WEIGHTS,
        .n_scratch = sizeof(struct scratch) / sizeof(double),
        .rate = 5e-3,
        .per_second = 30000,
        .init = init,
        .sample = sample,
};
