/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What was changed of classes' policies while the daemon runs. It holds until the configuration is
 * read again, or the machine restarts; a restart of the daemon finds it in RUNTIME/policy, a line
 * for each change: CLASS SECTION.KEY=VALUE.
 */

#include "core/settings/table.h"

struct sg_overrides;

/* Reads what a daemon before us left, and applies it. What doesn't fit the configuration any more
 * is dropped, which is logged. */
int sg_overrides_new(struct sg_overrides **ret, const char *runtime_dir, struct sg_settings *s);
struct sg_overrides *sg_overrides_free(struct sg_overrides *p);
SG_DEFINE_CLEANUP(struct sg_overrides *, sg_overrides_free)

/*
 * KEY=VALUE or SECTION.KEY=VALUE, NULL-terminated; KEY= goes back to what the files say. All or
 * nothing. The class is one of s. -EINVAL: one line in *ret_why (heap); other errors: it couldn't
 * be stored.
 */
int sg_overrides_set(struct sg_overrides *p, struct sg_settings *s, const char *class,
                     char *const *assignments, char **ret_why);
/* The configuration was read again: nothing is changed any more. */
void sg_overrides_reset(struct sg_overrides *p);
bool sg_overrides_has(const struct sg_overrides *p, const char *class,
                      const struct sg_settings_key *key);
