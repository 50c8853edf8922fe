/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Whether a deadline can be met, as far as sizes are known when a job is submitted. */

#include "manager.h"

/* 1: one line that its owner should know of is in buf: it won't be met, or others' won't any more.
 * 0: nothing is to be said. -ENOMEM */
int sg_foretell_deadline(struct sg_manager *m, const struct sg_job *j, char *buf, size_t size);
