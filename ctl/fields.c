/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fields.h. */

#include "ctl/fields.h"
#include <math.h>

const char *sg_document_string(const json_t *o, const char *key)
{
        return json_string_value(json_object_get(o, key));
}

double sg_document_number(const json_t *o, const char *key)
{
        const json_t *v = json_object_get(o, key);

        return json_is_number(v) ? json_number_value(v) : NAN;
}
