/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the models are made of: layers y = W·x + b with their gradients, the usual non-linearities,
 * and Adam. A model's weights are one array; a layer is a place in it. Everything is `double`, so
 * that gradients can be checked against differences.
 */

#include "base/rng.h"
#include <math.h>
#include <stddef.h>

/* W (rows × cols, by rows), then b. */
struct nn_layer {
        size_t at;
        size_t rows, cols;
};

#define NN_SIZE(rows, cols) ((rows) * ((cols) + 1))

/* One sample on its way through a model, and its gradient on its way back. */
struct nn_pass {
        const double *w;
        double *g;       /* like w; the sample's gradient is added */
        double *scratch; /* the model's n_scratch */
        struct sg_rng rng;
        double hits; /* 0 … 1: the part of its answers that were right; NaN = gives none */
};

/* Small enough to begin with what the inputs say (Glorot's bounds), biases 0. */
void nn_init(const struct nn_layer *l, double *w, struct sg_rng *rng);
void nn_forward(const struct nn_pass *p, const struct nn_layer *l, const double *x, double *y);
/* dy: the loss by y. dx, which may be NULL, is added to. */
void nn_back(const struct nn_pass *p, const struct nn_layer *l, const double *x, const double *dy,
             double *dx);
/* The same for an x that is 1 at `one` and else 0, for which a column is all that it costs. */
void nn_forward_symbol(const struct nn_pass *p, const struct nn_layer *l, size_t one, double *y);
void nn_back_symbol(const struct nn_pass *p, const struct nn_layer *l, size_t one,
                    const double *dy);

void nn_tanh(double *v, size_t n);
void nn_sigmoid(double *v, size_t n);
/* Logits → their gradient, in place: softmax − truth. The cross entropy; *ret_hit as in a pass. */
double nn_cross_entropy(double *logits, size_t n, size_t truth, double *ret_hit);

/* Of Kingma and Ba, 2015. */
struct nn_adam {
        double *m, *v; /* n each, 0 at first */
        size_t n;
        double b1t, b2t; /* the decay rates to the power of the steps taken; 1 at first */
};
void nn_adam_step(struct nn_adam *a, double *w, const double *g, double rate);
