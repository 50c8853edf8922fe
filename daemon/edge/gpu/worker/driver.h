/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the worker's loop wants of a vendor's driver. Each call may hang: that is why this is a
 * process of its own.
 *
 * What a driver tells is written down as it comes: figures that it doesn't have are
 * SG_GPU_UNKNOWN, but those that make no sense, the order and what is there twice are tidy.c's
 * business.
 */

#include "edge/gpu/frames.h"

struct sg_gpu_driver; /* an open one; each kind has its own */

struct sg_gpu_driver_kind {
        /*
         * 0 = *ret; or it isn't there or doesn't work, *ret is NULL, and v->state and v->message
         * say why. -ENOMEM. Of the order only the paths count.
         */
        int (*open)(struct sg_gpu_driver **ret, const struct sg_gpu_order *order,
                    struct sg_gpu_inventory *v);
        /*
         * Adds all GPUs (with sg_gpu_add()) and what has happened since the last look to an
         * inventory that sg_gpu_begin() made. Its state is OK, or something is wrong with the
         * driver as a whole, and it is to be closed. -ENOMEM.
         */
        int (*look)(struct sg_gpu_driver *d, struct sg_gpu_inventory *v);
        /* Waits for an event: 1; 0 = the time is over; negative: it can't wait, and returned at
         * once. What happened is told by the next look. */
        int (*wait)(struct sg_gpu_driver *d, unsigned msec);
        void (*close)(struct sg_gpu_driver *d); /* NULL is fine */
};

extern const struct sg_gpu_driver_kind sg_nvml_driver;

/* An inventory with room for SG_GPUS_MAX GPUs at v->gpus, which it keeps, and nothing in it. */
void sg_gpu_begin(struct sg_gpu_inventory *v);
/* The next GPU, of which nothing is known; NULL: there are too many, which the message says. */
struct sg_gpu *sg_gpu_add(struct sg_gpu_inventory *v);
void sg_gpu_add_event(struct sg_gpu_inventory *v, enum sg_gpu_event_type type, const char *uuid,
                      uint64_t data);
/* What is wrong, unless something else is already. */
__attribute__((format(printf, 2, 3))) void sg_gpu_say(struct sg_gpu_inventory *v,
                                                      const char *format, ...);

/* Makes it what core/gpu/gpus.h and frames.h promise: sound. */
void sg_gpu_tidy(struct sg_gpu_inventory *v);
