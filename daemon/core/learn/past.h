/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How jobs of a kind have scaled, and how the next one is therefore thought to scale until its
 * own speeds show it. A kind is a class, or within a class a program of one user.
 */

#include "base/record-codec.h"
#include "core/learn/pace.h"

/* By octaves of CPUs, of jobs whose own speeds have told; older ones fade. All zero: none yet. */
struct sg_past {
        double n[SG_SPEEDUP_OCTAVES], sum[SG_SPEEDUP_OCTAVES], square[SG_SPEEDUP_OCTAVES];
};

/* Of any program. */
struct sg_usual sg_usual_of_all(void);
/* Adds what a job has shown until its end. True: it has shown something. */
bool sg_past_add(struct sg_past *p, const struct sg_pace *shown);
/* How one more of this kind is thought to scale. wider: how one of the wider kind is, to which this
 * kind belongs. differ: by how much jobs of this kind differ from each other, at least. */
struct sg_usual sg_past_usual(const struct sg_past *p, const struct sg_usual *wider, double differ);
void sg_past_code(struct sg_past *p, struct sg_record_codec *c);
