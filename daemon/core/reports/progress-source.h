/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where a job's progress is read from, as --progress says it. */

#include <stddef.h>

/* Of the whole text, with the NUL. */
#define SG_PROGRESS_SOURCE_MAX 1024
#define SG_PROGRESS_TAG_MAX 128
#define SG_PRESET_NAME_MAX 16

enum sg_progress_kind {
        SG_PROGRESS_AUTO,    /* the job's output, in whichever form it turns out to be */
        SG_PROGRESS_NONE,    /* not at all, reports of the job itself excepted */
        SG_PROGRESS_PRESET,  /* its output in a form that has a name */
        SG_PROGRESS_PATTERN, /* its output by a regular expression with (?<loss>…) */
        SG_PROGRESS_FILE,    /* a file that it rewrites */
        SG_PROGRESS_EVENTS,  /* TensorBoard's event files in a directory, or one of them */
};

struct sg_progress_source {
        enum sg_progress_kind kind;
        const char *text; /* preset, pattern or path: a part of what was parsed */
        size_t size;      /* of text: the tag follows it */
        const char *tag;  /* EVENTS: the scalar to take, NULL = any that looks like a loss */
};

/*
 * "auto", "none", a preset's name, "file:PATH", "tensorboard:PATH[?tag=TAG]", or a pattern, which
 * is known by its named group. The result points into s. -EINVAL: none of these.
 */
int sg_progress_source_parse(const char *s, struct sg_progress_source *ret);
