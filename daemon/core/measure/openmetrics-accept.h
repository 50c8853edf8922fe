/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "core/measure/openmetrics.h"

/* Which format the Accept: header of a request (NULL: it has none) prefers: OpenMetrics only if it
 * is asked for by name, not in another version than 1.0.0, and text isn't liked better. Anything
 * that isn't understood doesn't count. */
enum sg_openmetrics_format sg_openmetrics_choose(const char *accept);
