/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What jobs take in the store until they have ended, charged to their user: the bytes of a
 * submission (command, environment, options) and of a row for each job. The tasks of an array share
 * what was submitted, which stays for the last of them, so they are charged together and that long.
 * What is kept then is charged as well, as the store tells; it gives way to what is submitted.
 */

#include <stdint.h>

struct sg_job;
struct sg_live;
struct sg_manager;
struct sg_stored;

/* For as many jobs like this one; the caller's until it is unref'd. 0, SG_LEDGER_USER_FULL,
 * SG_LEDGER_FULL, -ENOMEM. */
int sg_stored_take(struct sg_stored **ret, struct sg_manager *m, const struct sg_job *template,
                   uint64_t count, uint64_t spec_bytes);
/* The last one who unrefs it gives back what was charged. NULL is fine. */
void sg_stored_unref(struct sg_stored *s);
uint64_t sg_stored_bytes(const struct sg_job *template, uint64_t count, uint64_t spec_bytes);

/* The job holds a reference, until it is freed. */
void sg_live_hold_stored(struct sg_live *l, struct sg_stored *s);
/* Charges for a job that the store has already, whatever the bounds are. -ENOMEM. */
int sg_live_find_stored(struct sg_live *l, uint64_t spec_bytes);
void sg_live_release_stored(struct sg_live *l);
/* Its row is to take so much instead. 0; SG_LEDGER_USER_FULL, SG_LEDGER_FULL: nothing has changed;
 * -ENOMEM. It never fails for less. */
int sg_live_resize_stored(struct sg_live *l, uint64_t from, uint64_t to);

/* Begins to charge for what is kept; jobs haven't been loaded yet. */
void sg_manager_count_kept(struct sg_manager *m);
/* Has the store forget what is kept, if what is stored leaves no room for all of it. */
void sg_manager_make_room(struct sg_manager *m);
/* The settings may be others: whether anything is kept, and how much may be. */
void sg_manager_settle_kept(struct sg_manager *m);

/* Bounds by the settings and the disk's size; no bounds while jobs are loaded. */
void sg_manager_bound_stored(struct sg_manager *m);
void sg_manager_unbound_stored(struct sg_manager *m);
