/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Which file says what, and how its text becomes figures. A role is one file to keep open; its
 * sources are the files that can play it, in order of preference.
 */

#include "edge/kernel/sampler.h"

#define SG_ROLES_MAX SG_SAMPLER_FILES_MAX
#define SG_SOURCES_MAX 3

/* A figure by its place in struct sg_sample, and where the text has it. */
struct sg_source_field {
        uint8_t figure;
        enum sg_source_unit { SG_UNIT_AS_IS, SG_UNIT_NSEC, SG_UNIT_TICKS } unit;
        const char *key;
};

enum sg_source_format {
        SG_SOURCE_NUMBER,
        SG_SOURCE_KEYED,
        SG_SOURCE_INACTIVE, /* keyed: what the working set is less than the memory */
        SG_SOURCE_PSI,      /* some, full */
        SG_SOURCE_IO_STAT,  /* read and written bytes, read and write operations */
        SG_SOURCE_BLKIO,    /* read, written */
};

struct sg_source {
        enum sg_hier hier;
        const char *file; /* NULL: there is no such source */
        enum sg_source_format format;
        uint8_t n_fields;
        const struct sg_source_field *fields; /* the source stands for the first */
};

struct sg_role {
        uint32_t tier; /* the SG_SAMPLE_ bit that asks for it */
        struct sg_source sources[SG_SOURCES_MAX];
};
extern const struct sg_role sg_roles[SG_ROLES_MAX];

/* What one call makes known: a bit of `known` per figure that was read. */
struct sg_sampling {
        struct sg_sample sample;
        uint32_t known;
};
_Static_assert(sizeof(struct sg_sample) / sizeof(uint64_t) <= 32, "a bit for each figure");

/* Whether another file gave the role's first figure already. */
bool sg_role_known(const struct sg_role *role, const struct sg_sampling *s);
/* All figures of the role that no other file gave become unknown. */
void sg_role_forget(const struct sg_role *role, struct sg_sampling *s);
/* 0; -ENODATA if the text has not the figure that the source stands for, -EBADMSG if it is garbled;
 * on failure nothing is set. */
int sg_source_parse(const struct sg_source *source, const char *text, size_t n,
                    struct sg_sampling *s);
