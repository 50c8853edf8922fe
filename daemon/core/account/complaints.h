/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What users do can be worth a line in the log, but how often they do it is up to them: of each
 * kind one line a minute for each user, which can say how many there would have been since the
 * last. Of all there are never more than SG_COMPLAINTS_MAX a minute, however many numbers a user
 * can be.
 */

#include <stdbool.h>
#include <stdint.h>

#define SG_COMPLAINTS_MAX 64

/* Zeroes to begin with. */
struct sg_complaints {
        struct sg_complaint {
                uint64_t said_usec; /* 0: never */
                uint64_t unsaid;    /* since then */
                uint32_t uid;
                unsigned kind; /* the owner's */
        } said[SG_COMPLAINTS_MAX];
};

/* Whether it is to be said now; *ret_unsaid, which may be NULL, is then how many of its like
 * weren't since the last. Of any clock that never goes back and isn't at 0. */
bool sg_complaints_say(struct sg_complaints *c, unsigned kind, uint32_t uid, uint64_t now_usec,
                       uint64_t *ret_unsaid);
