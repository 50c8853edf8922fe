/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "core/settings.h"

/* The table: every key that is understood, in the order of the documentation. */
struct sg_settings_key {
        const char *section, *key, *file; /* file: "conf" or "policy"; NULL section = the end */
        const char *fallback;             /* the default as one would write it, "" = none */
        const char *wants;                /* completes "Key= wants …" */
        bool list;                        /* assignments add up */
        /* Parses into the object at offset; "" only where the fallback is that. -EINVAL, -ENOMEM */
        int (*parse)(const struct sg_settings_key *k, const char *value, void *field);
        size_t offset;
        uint64_t min, max;
};
extern const struct sg_settings_key sg_settings_keys[];

const struct sg_settings_key *sg_settings_key_find(const char *file, const char *section,
                                                   const char *key);
/* What is wrong with a section or key that isn't in the table, with a hint at the nearest that is;
 * key NULL: the section. Heap, NULL = no memory. */
char *sg_settings_unknown(const char *file, const char *section, const char *key);
bool sg_settings_has_section(const char *file, const char *section);
