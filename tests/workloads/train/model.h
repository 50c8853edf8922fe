/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A model is one file and one line in model.c. Its data are made up as they are needed. */

#include "nn.h"

struct model {
        const char *name, *summary;
        size_t n_weights, n_scratch;
        double rate;       /* Adam's */
        double per_second; /* samples that a core of 2020 or so trains on; see --per-second */
        void (*init)(double *w, struct sg_rng *rng);
        double (*sample)(struct nn_pass *p); /* the loss of one, drawn from p->rng */
};

extern const struct model *const models[]; /* NULL behind the last */
const struct model *model_find(const char *name);

extern const struct model model_vae, model_mlp, model_gru, model_lstm, model_birnn;
