/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A decision as JSON (org.schedgov1(5)): one form for the log, for what explains a job, and for
 * whoever wants to compute with it. What isn't known or doesn't apply is null.
 */

#include "core/govern/governor.h"
#include <jansson.h>

/* What was decided on one job: "class", "in" with what was known, "out" with what it gets. NULL =
 * no memory. */
json_t *sg_decision_json(const struct sg_decision *d, const char *class, const char *other);
/* "index" */
const char *sg_decision_reason(enum sg_share_reason reason);
