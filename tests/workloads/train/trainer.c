/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Threads share out the samples of a batch by OpenMP, as frameworks do, and each adds up a gradient
 * of its own. Which thread had a sample doesn't matter for it: it is drawn from its own stream.
 */

#include "trainer.h"

#include "base/cleanup.h"
#include <errno.h>
#include <omp.h>
#include <string.h>

#define LAST_RATE 0.1  /* of the first, at the end */
#define HIGH_RATE 60.0 /* before a drop: too much to settle with */

static uint64_t samples_of(const struct trainer_options *o)
{
        double per_second = o->per_second > 0 ? o->per_second : o->model->per_second;

        return (uint64_t)fmax(1, round(o->work * per_second));
}

int trainer_init(struct trainer *t, const struct trainer_options *o)
{
        uint64_t samples = samples_of(o);
        size_t n = o->model->n_weights;
        struct sg_rng rng;

        *t = (struct trainer){.o = *o, .updates = samples < o->updates ? samples : o->updates};
        t->batch = (samples + t->updates / 2) / t->updates;
        if (o->threads > 0)
                omp_set_num_threads((int)o->threads);
        /* The environment, or a governor, may ask for more of them later on. */
        t->n_threads = (unsigned)omp_get_max_threads();
        if (t->n_threads < (unsigned)omp_get_num_procs())
                t->n_threads = (unsigned)omp_get_num_procs();
        t->adam = (struct nn_adam){.n = n, .b1t = 1, .b2t = 1};
        t->w = calloc(n, sizeof(double));
        t->g = calloc(n * t->n_threads, sizeof(double));
        t->scratch = calloc(o->model->n_scratch * t->n_threads, sizeof(double));
        t->adam.m = calloc(n, sizeof(double));
        t->adam.v = calloc(n, sizeof(double));
        if (!t->w || !t->g || !t->scratch || !t->adam.m || !t->adam.v) {
                trainer_deinit(t);
                return -ENOMEM;
        }
        sg_rng_init(&rng, o->seed, 0);
        o->model->init(t->w, &rng);
        return 0;
}

void trainer_deinit(struct trainer *t)
{
        free(t->w);
        free(t->g);
        free(t->scratch);
        free(t->adam.m);
        free(t->adam.v);
        *t = (struct trainer){0};
}

static double rate_now(const struct trainer *t)
{
        double x = (double)t->done / (double)t->updates;

        if (t->o.drop_at > 0)
                return t->o.model->rate * (x < t->o.drop_at ? HIGH_RATE : 1);
        return t->o.model->rate * (1 - (1 - LAST_RATE) * x);
}

/* The samples' gradients are left in g, by thread. */
static double run_batch(struct trainer *t, double *ret_hits)
{
        const struct model *m = t->o.model;
        double loss = 0, hits = 0;

        memset(t->g, 0, m->n_weights * t->n_threads * sizeof(double));
#pragma omp parallel reduction(+ : loss, hits)
        {
                size_t k = (size_t)omp_get_thread_num() % t->n_threads;
                struct nn_pass p = {
                        .w = t->w,
                        .g = t->g + k * m->n_weights,
                        .scratch = t->scratch + k * m->n_scratch,
                };

#pragma omp for schedule(static)
                for (uint64_t i = 0; i < t->batch; i++) {
                        sg_rng_init(&p.rng, t->o.seed, 1 + t->done * t->batch + i);
                        loss += m->sample(&p);
                        hits += p.hits;
                }
        }
        *ret_hits = hits / (double)t->batch;
        return loss / (double)t->batch;
}

double trainer_update(struct trainer *t, double *ret_hits)
{
        size_t n = t->o.model->n_weights;
        double loss = run_batch(t, ret_hits);

        for (size_t k = 1; k < t->n_threads; k++)
                for (size_t i = 0; i < n; i++)
                        t->g[i] += t->g[k * n + i];
        for (size_t i = 0; i < n; i++)
                t->g[i] /= (double)t->batch;
        nn_adam_step(&t->adam, t->w, t->g, rate_now(t));
        t->done++;
        return loss;
}
