/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Values that many things have in common, as thousands of jobs of one array have: of each there is
 * one copy, which is counted and which nobody changes.
 */

#include <stddef.h>

/* The copy of these bytes, for sg_shared_put(); padding counts as well. NULL: there is no memory
 * for it. */
const void *sg_shared_get(const void *value, size_t size);
/* One user of it fewer. NULL is fine; returns NULL. */
const void *sg_shared_put(const void *shared);
size_t sg_shared_count(void); /* how many there are; for tests */
