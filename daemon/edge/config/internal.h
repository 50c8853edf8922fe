/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Between config.c (which files, in which order), text.c (one text) and merge.c (what
 * is in force, and from where). Fuzzers and tests enter at sg_config_text().
 */

#include "core/settings/table.h"
#include "edge/config/config.h"

#define SG_CONFIG_FILE_MAX (1024U * 1024)
#define SG_CONFIG_LINE_MAX 4096U
#define SG_CONFIG_ERRORS_MAX 100U

/* An assignment in force: one per key, several for keys that add up. */
struct sg_config_origin {
        const struct sg_settings_key *key;
        char *value;
        char *path;
        unsigned line;
};

struct sg_config_origins {
        struct sg_config_origin *items;
        size_t n, allocated;
};
void sg_config_origins_deinit(struct sg_config_origins *o);
/* An empty value drops what the key had. */
int sg_config_origins_set(struct sg_config_origins *o, const struct sg_settings_key *key,
                          const char *value, const char *path, unsigned line);
/* In the table's order; `all` shows keys that nobody set as comments with their defaults. */
void sg_config_origins_print(const struct sg_config_origins *o, const char *file, bool all,
                             FILE *f);

/* Those users and groups that [Match] names, and not only by a pattern; and nodes of GPUs. */
int sg_config_note_names(struct sg_config_errors *e, const struct sg_config_origins *o);

/* As sg_config_errors_add(). line 0: of the file as a whole. */
int sg_config_error(struct sg_config_errors *e, const char *path, unsigned line, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/*
 * One text: of a policy file if class is given, else of a node file. Errors are collected; negative
 * only for those that leave nothing to go on with (-ENOMEM). *ret_name_line: of [Class] Name=.
 */
struct sg_config_text {
        const char *path;
        const char *data;
        size_t size;
        struct sg_settings *settings;
        struct sg_class *class;
        struct sg_config_errors *errors;
        struct sg_config_origins *origins;
        sg_config_check_fn check;
};
int sg_config_text(const struct sg_config_text *text, unsigned *ret_name_line);
