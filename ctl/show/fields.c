/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fields.h. */

#include "ctl/show/fields.h"
#include "base/parse.h"
#include <math.h>

const char *sg_document_string(const json_t *o, const char *key)
{
        return json_string_value(json_object_get(o, key));
}

const char *sg_document_word(const json_t *o, const char *key)
{
        const char *s = sg_document_string(o, key);

        return s ? s : "";
}

uint64_t sg_document_time(const json_t *job, const char *key)
{
        const char *s = sg_document_string(json_object_get(job, "times"), key);
        uint64_t usec;

        return s && sg_parse_timestamp(s, 0, &usec) == 0 ? usec : 0;
}

double sg_document_number(const json_t *o, const char *key)
{
        const json_t *v = json_object_get(o, key);

        return json_is_number(v) ? json_number_value(v) : NAN;
}
