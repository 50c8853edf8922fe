/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * How users' programs have scaled when they ran last, by user, program and class. Each user has
 * room for so many, and the one used longest ago goes first; if all users together have too
 * many, one goes of the user who has most.
 */

#include "base/record.h"
#include "core/learn/past.h"
#include "proto/names.h"

#define SG_PROGRAMS_PER_USER 64U
#define SG_PROGRAMS_MOST 1024U

struct sg_program_key {
        uint32_t uid;
        uint64_t program; /* core/job/command.h */
        char class[SG_CLASS_NAME_MAX];
};

struct sg_programs { /* zero-initialise */
        struct sg_program *all;
        size_t n;
        uint64_t used; /* times that any was */
};

void sg_programs_deinit(struct sg_programs *p);
/* NULL: not known. Until the next call. */
const struct sg_past *sg_programs_find(struct sg_programs *p, const struct sg_program_key *key);
/* Adds what a job of the program has shown until its end. -ENOMEM */
int sg_programs_add(struct sg_programs *p, const struct sg_program_key *key,
                    const struct sg_pace *shown);
void sg_programs_save(const struct sg_programs *p, struct sg_record *r, uint16_t tag);
int sg_programs_load(struct sg_programs *p, const struct sg_field *f); /* -EBADMSG, -ENOMEM */
