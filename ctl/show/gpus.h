/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The node's GPUs (schedgov.gpus/1) for people. Pure but for the FILE. */

#include "ctl/show/fields.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A table, and a line on all of them; or why there is none. terminal: its columns, 0 = no limit.
 * Times are of today where that is now_usec's day. -ENOMEM */
int sg_gpus_print(const json_t *doc, uint64_t now_usec, unsigned terminal, bool legend, FILE *f);
