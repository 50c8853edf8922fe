/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A node on which everybody shares fairly: between classes by their weights, between the users of a
 * class equally, between the jobs of a user by theirs; nobody gets more than its width, and nothing
 * is left over that somebody could use. What would have happened there is what jobs are promised
 * (promise.h), so it's computed exactly, event by event: O(jobs × users) at worst, near O(jobs ·
 * log) with few users.
 *
 * A job with a share s gets on by width·(s/width)^exponent: by s if it scales linearly, and by its
 * width if it has all that it can use. Where a CPU is a part of the node that is known, it gets on
 * by s up to that, and by cpu·(s/cpu)^exponent beyond.
 */

#include "base/cleanup.h"
#include <stddef.h>
#include <stdint.h>

struct sg_fair_job {
        uint32_t class; /* jobs of one class have the same class_weight */
        uint32_t uid;
        double class_weight;
        double weight;
        double width;     /* 0 < width ≤ 1 */
        double exponent;  /* 0 < exponent ≤ 1; rounded to twentieths */
        double cpu;       /* what one CPU is of the node; 0 = there are none */
        double remaining; /* seconds alone on the node; INFINITY = never ends. Out: what's left */
        double finish;    /* out: when it has ended; INFINITY = not until then */
        double share;     /* out: at the beginning */
};

struct sg_fair_node; /* memory to compute in; nothing is remembered in it */

int sg_fair_node_new(struct sg_fair_node **ret, size_t n); /* for up to n jobs */
struct sg_fair_node *sg_fair_node_free(struct sg_fair_node *node);
SG_DEFINE_CLEANUP(struct sg_fair_node *, sg_fair_node_free)

/* From `from` to `until` (INFINITY: to the end, and then `remaining` stays as it was) with nobody
 * coming. */
void sg_fair_node_run(struct sg_fair_node *node, struct sg_fair_job *jobs, size_t n, double from,
                      double until);
