/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Overrides: what was changed of classes' policies since the files were read. Settings in force are
 * the files' with the overrides applied, computed anew whenever either changes; neither the files'
 * settings nor those in force are ever written to.
 */

#include "core/settings/table.h"

struct sg_override {
        char class[SG_CLASS_NAME_MAX];
        const struct sg_settings_key *key; /* one of sg_settings_key_is_share() */
        char *value;                       /* as it was written; not "" */
};

/* At most one of each class and key, in the order in which they were made. */
struct sg_overrides {
        struct sg_override *items;
        size_t n;
};
void sg_overrides_deinit(struct sg_overrides *o);
bool sg_overrides_has(const struct sg_overrides *o, const char *class,
                      const struct sg_settings_key *key);
void sg_overrides_remove(struct sg_overrides *o, size_t item);

/* `now` with KEY=VALUE or SECTION.KEY=VALUE for a class, NULL-terminated; KEY= goes back to what
 * the files say. -EINVAL: a key that can't be changed so, in one line in *ret_why (heap). */
int sg_overrides_change(const struct sg_overrides *now, const char *class, char *const *assignments,
                        struct sg_overrides *ret, char **ret_why);

/* As text: a line "CLASS SECTION.KEY=VALUE" for each. "" = none. */
int sg_overrides_format(const struct sg_overrides *o, char **ret);
/* Adds such a line, without its end. -EINVAL: it can't be one, see *ret_why; o is as it was. */
int sg_overrides_read_line(struct sg_overrides *o, const char *line, char **ret_why);

/* Overrides that don't fit the files: their class is gone, or the value is refused. */
struct sg_misfits {
        struct sg_misfit {
                size_t item; /* of sg_overrides.items; ascending */
                char *why;   /* one line */
        } * items;
        size_t n;
};
void sg_misfits_deinit(struct sg_misfits *m);

/* files + overrides → settings. Overrides that don't fit are left out, and said in *misfits, which
 * is zero-initialised. The settings have nothing in common with `files`. -ENOMEM. */
int sg_settings_override(const struct sg_settings *files, const struct sg_overrides *o,
                         const struct sg_settings **ret, struct sg_misfits *misfits);
