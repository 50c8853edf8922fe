/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The controllers of the unified tree: making them usable for class groups, and undoing that. */

#include "edge/cgroup/backend.h"

/* Sets b->v2_controllers; the base group exists afterwards. *note says why there are fewer than our
 * own group has. -errno only if no base group can be made. */
int sg_v2_prepare(struct sg_backend *b, char **note);
/* Once no class group is left: controllers off again, ourselves back where we were. */
void sg_v2_restore(struct sg_backend *b);
/* Switches controllers on for the groups below; bits that work then. */
uint32_t sg_v2_enable(const char *group, uint32_t controllers);
uint32_t sg_v2_available(const char *group); /* bits of the controllers that a group has */
