/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See nn.h. Plain loops: these programs are here to use a CPU. */

#include "nn.h"

#define DECAY_1 0.9
#define DECAY_2 0.999
#define TINY 1e-8

void nn_init(const struct nn_layer *l, double *w, struct sg_rng *rng)
{
        double bound = sqrt(6.0 / (double)(l->rows + l->cols));

        for (size_t i = 0; i < l->rows * l->cols; i++)
                w[l->at + i] = sg_rng_between(rng, -bound, bound);
        for (size_t i = 0; i < l->rows; i++)
                w[l->at + l->rows * l->cols + i] = 0;
}

void nn_forward(const struct nn_pass *p, const struct nn_layer *l, const double *x, double *y)
{
        const double *w = p->w + l->at, *b = w + l->rows * l->cols;

        for (size_t i = 0; i < l->rows; i++, w += l->cols) {
                double sum = b[i];

                for (size_t j = 0; j < l->cols; j++)
                        sum += w[j] * x[j];
                y[i] = sum;
        }
}

void nn_back(const struct nn_pass *p, const struct nn_layer *l, const double *x, const double *dy,
             double *dx)
{
        const double *w = p->w + l->at;
        double *g = p->g + l->at, *gb = g + l->rows * l->cols;

        for (size_t i = 0; i < l->rows; i++, w += l->cols, g += l->cols) {
                for (size_t j = 0; j < l->cols; j++)
                        g[j] += dy[i] * x[j];
                for (size_t j = 0; dx && j < l->cols; j++)
                        dx[j] += dy[i] * w[j];
                gb[i] += dy[i];
        }
}

void nn_forward_symbol(const struct nn_pass *p, const struct nn_layer *l, size_t one, double *y)
{
        const double *w = p->w + l->at, *b = w + l->rows * l->cols;

        for (size_t i = 0; i < l->rows; i++)
                y[i] = b[i] + w[i * l->cols + one];
}

void nn_back_symbol(const struct nn_pass *p, const struct nn_layer *l, size_t one, const double *dy)
{
        double *g = p->g + l->at, *gb = g + l->rows * l->cols;

        for (size_t i = 0; i < l->rows; i++) {
                g[i * l->cols + one] += dy[i];
                gb[i] += dy[i];
        }
}

void nn_tanh(double *v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                v[i] = tanh(v[i]);
}

void nn_sigmoid(double *v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                v[i] = 1 / (1 + exp(-v[i]));
}

double nn_cross_entropy(double *logits, size_t n, size_t truth, double *ret_hit)
{
        double max = logits[0], sum = 0, loss;
        size_t best = 0;

        for (size_t i = 1; i < n; i++)
                if (logits[i] > max) {
                        max = logits[i];
                        best = i;
                }
        for (size_t i = 0; i < n; i++)
                sum += exp(logits[i] - max);
        loss = log(sum) + max - logits[truth];
        for (size_t i = 0; i < n; i++)
                logits[i] = exp(logits[i] - max) / sum - (i == truth);
        *ret_hit = best == truth;
        return loss;
}

void nn_adam_step(struct nn_adam *a, double *w, const double *g, double rate)
{
        double scale;

        a->b1t *= DECAY_1;
        a->b2t *= DECAY_2;
        scale = rate * sqrt(1 - a->b2t) / (1 - a->b1t);
        for (size_t i = 0; i < a->n; i++) {
                a->m[i] = DECAY_1 * a->m[i] + (1 - DECAY_1) * g[i];
                a->v[i] = DECAY_2 * a->v[i] + (1 - DECAY_2) * g[i] * g[i];
                w[i] -= scale * a->m[i] / (sqrt(a->v[i]) + TINY);
        }
}
