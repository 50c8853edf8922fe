/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/format.h"
#include "core/settings/settings.h"

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

/* list-keys.c: parsers of what adds up. */
int sg_settings_parse_pattern(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_patterns(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_people(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_cgroups(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_device(const struct sg_settings_key *k, const char *value, void *field);

/* gpu-keys.c */
int sg_settings_parse_manage(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_words(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_gpus(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_match_gpu(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_idle(const struct sg_settings_key *k, const char *value, void *field);

/* Whether a pattern of users or groups fits one name alone, itself, and that is no number. */
bool sg_settings_pattern_is_name(const char *pattern);

/* share-keys.c: parsers of what sg_class.share holds. */
int sg_settings_parse_share(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_objective(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_mode(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_resource(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_seconds(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_part(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_number(const struct sg_settings_key *k, const char *value, void *field);
int sg_settings_parse_exponent(const struct sg_settings_key *k, const char *value, void *field);
/* Whether a key is one of these: it can be changed while the class's jobs run. */
bool sg_settings_key_is_share(const struct sg_settings_key *k);
/* The value in force as one would write it; false: the key isn't one of these. */
bool sg_settings_key_format(const struct sg_settings_key *k, const struct sg_class *c,
                            char buf[SG_FORMAT_MAX]);
