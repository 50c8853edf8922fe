/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Fields of the governor's JSON documents; one that is missing is as one that is null. Pure. */

#include "base/cleanup.h"
#include <jansson.h>
#include <stdint.h>

/* A string, or NULL. */
const char *sg_document_string(const json_t *o, const char *key);
/* The same, or "". */
const char *sg_document_word(const json_t *o, const char *key);

/* A number, or NaN. */
double sg_document_number(const json_t *o, const char *key);

/* "submitted", "started" or "ended" of a job, since the epoch; 0 = not yet. */
uint64_t sg_document_time(const json_t *job, const char *key);

static inline void sg_json_decrefp(json_t **o)
{
        json_decref(*o);
}
#define _cleanup_json_ _cleanup_(sg_json_decrefp)
