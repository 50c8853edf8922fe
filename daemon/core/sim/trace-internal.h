/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the trace's files share. */

int sg_trace_curve_from_string(const char *s); /* -EINVAL */
