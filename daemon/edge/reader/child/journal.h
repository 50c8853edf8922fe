/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The journal of units: one handle for all that are followed, asked at each look instead of being
 * woken by every entry of the machine. A unit is read from its beginning on, or the newest
 * SG_JOURNAL_CATCH_UP entries of that; the handle is open only while there are units.
 */

#include "base/list.h"
#include "proto/names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_JOURNAL_CATCH_UP 20000U

struct sg_journal;

struct sg_journal_unit { /* the caller's; set these, and add it: */
        char *unit;
        char invocation[SG_INVOCATION_ID_MAX]; /* or "" */
        uint64_t since_usec;
        void (*message)(const char *text, size_t n, void *userdata); /* of one or more lines */
        void *userdata;
        /* its own: */
        struct sg_list link;
        uint64_t last_usec; /* what it has seen up to */
        bool caught_up;
};

/* dir: journal files of this directory; NULL: the machine's. -ENOMEM. */
int sg_journal_new(struct sg_journal **ret, const char *dir);
struct sg_journal *sg_journal_free(struct sg_journal *j);

void sg_journal_add(struct sg_journal *j, struct sg_journal_unit *u);
void sg_journal_remove(struct sg_journal *j, struct sg_journal_unit *u);
/* Hands out what is new. 0, or why the journal can't be read: for all units. */
int sg_journal_look(struct sg_journal *j);
