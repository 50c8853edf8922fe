/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The virtual fair node beside the real one: the same jobs with the same sizes, as they would have
 * got on if all had shared fairly from the beginning. When a job would end there (VF) is what its
 * promise is made of, whatever the policy does on the real node.
 *
 * A job that has really ended stays as a ghost until it ends here, with its real size; one that has
 * ended here keeps its VF for good, however its size is judged later; held jobs stand still; one
 * that was ended from outside is gone at once. Others than our jobs would use a fair node, too:
 * while ours want all of the real one and get less, this one stands still for as long.
 */

#include "base/record.h"
#include "core/share/share.h"

struct sg_promise;

/* The exponent of a job; 1 if it scales nearly linearly: then what it has used is what it has done.
 */
double sg_promise_exponent(const struct sg_share_job *j);

int sg_promise_new(struct sg_promise **ret);
struct sg_promise *sg_promise_free(struct sg_promise *g);
SG_DEFINE_CLEANUP(struct sg_promise *, sg_promise_free)

/* A job has ended by itself. To be called before the step whose snapshot lacks it. */
void sg_promise_finished(struct sg_promise *g, uint64_t key, double used);
/* Follows to s->now, takes what the snapshot says from then on. vf: of each job of it; INFINITY =
 * never, of held ones and those aside. -ENOMEM: as before. */
int sg_promise_step(struct sg_promise *g, const struct sg_share_snapshot *s, double *vf);
/* The shares that a fair node would give the jobs of the snapshot now. -ENOMEM */
int sg_promise_fair(const struct sg_share_snapshot *s, double *shares);

void sg_promise_save(const struct sg_promise *g, struct sg_record *r);
int sg_promise_load(struct sg_promise *g, const void *data, size_t size); /* -EBADMSG, -ENOMEM */
