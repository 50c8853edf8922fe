/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "proto/spec.h"

/* Moves the calling process into the group `name` ("keeper" or "job") of each hierarchy. */
int sg_groups_join(const struct sg_spec *s, const char *name);
