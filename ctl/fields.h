/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Fields of the governor's JSON documents; one that is missing is as one that is null. Pure. */

#include <jansson.h>

/* A string, or NULL. */
const char *sg_document_string(const json_t *o, const char *key);

/* A number, or NaN. */
double sg_document_number(const json_t *o, const char *key);

static inline void sg_json_decrefp(json_t **o)
{
        json_decref(*o);
}
#define _cleanup_json_ __attribute__((cleanup(sg_json_decrefp)))
