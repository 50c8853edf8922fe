/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Why a job is frozen: a set, as several may want it at the same time. It is thawed when none is
 * left. Numbers and words are kept on disk: each means the same forever.
 */

#include <stdbool.h>
#include <stdint.h>

enum sg_freeze {
        SG_FREEZE_USER = 1 << 0, /* was asked to */
        SG_FREEZE_MOVE = 1 << 1, /* it is being moved to another node */
        SG_FREEZE_MEMORY = 1 << 2,
        SG_FREEZE_GPU = 1 << 3,
        SG_FREEZE_ALL = (1 << 4) - 1,
};
#define SG_FREEZE_TEXT_MAX 32

/* The words of a set, with a space between them. */
void sg_freeze_format(char buf[SG_FREEZE_TEXT_MAX], uint64_t set);
int sg_freeze_parse(const char *text, uint64_t *ret); /* -EINVAL */

static inline uint64_t sg_freeze_change(uint64_t set, uint64_t reasons, bool on)
{
        return on ? set | reasons : set & ~reasons;
}
