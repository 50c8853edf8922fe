/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The values of options, type by type. Pure. */

#include "ctl/line/options.h"

/* What a value should have looked like, for the error. */
const char *sg_option_wants(enum sg_option_type type);

/* Puts it into *inv. -EINVAL or -ERANGE: it is none of this type. -ENOMEM */
int sg_option_parse_value(const struct sg_option *o, const char *s, uint64_t now_usec,
                          struct sg_invocation *inv);
