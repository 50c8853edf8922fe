/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Trains a model for a fixed number of updates, each on the mean of a batch of fresh samples. How
 * much work there is in all decides how large a batch is: so runs of any length make as
 * many updates, and learn alike but for the noise. Updates, samples and order follow from the seed
 * alone; no clock is looked at.
 */

#include "model.h"
#include <stdint.h>

struct trainer_options {
        const struct model *model;
        double work;       /* CPU-seconds */
        double per_second; /* samples per CPU-second; 0 = as the model says */
        uint64_t seed;
        unsigned updates; /* at most; one sample each at least */
        unsigned threads; /* 0 = OpenMP's choice */
        double drop_at;   /* the part of the work after which the learning rate drops; 0 = falls
                             steadily */
};

struct trainer {
        struct trainer_options o;
        uint64_t updates, done; /* in all; so far */
        uint64_t batch;
        double *w, *g, *scratch; /* g and scratch: one per thread */
        unsigned n_threads;      /* that there is room for */
        struct nn_adam adam;
};

int trainer_init(struct trainer *t, const struct trainer_options *o); /* -ENOMEM */
void trainer_deinit(struct trainer *t);
/* Means of the batch, before its update; *ret_hits NaN = the model gives no answers. */
double trainer_update(struct trainer *t, double *ret_hits);

/* Where a later run goes on: checkpoint.c. */
int trainer_save(const struct trainer *t, const char *path);
/* 1: it was there; 0: there is none; -EBADMSG: it is another run's. */
int trainer_load(struct trainer *t, const char *path);
