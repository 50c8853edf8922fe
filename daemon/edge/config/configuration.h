/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The settings in force: what the files say, and what was changed of that while the daemon runs
 * (core/settings/overrides.h). Such a change holds until the files are read again, or the machine
 * restarts; a restart of the daemon finds it in RUNTIME/policy.
 */

#include "core/settings/overrides.h"
#include "edge/config/config.h"

struct sg_configuration;

/* Reads the files, as sg_config_load() does, and what a daemon before us left. Of that, what can't
 * be read or doesn't fit the files any more is dropped, which is logged. */
int sg_configuration_new(struct sg_configuration **ret, const struct sg_config_place *place,
                         const char *hostname, const char *runtime_dir,
                         struct sg_config_errors *errors);
struct sg_configuration *sg_configuration_free(struct sg_configuration *c);
SG_DEFINE_CLEANUP(struct sg_configuration *, sg_configuration_free)

/* Until they are replaced by one of the two below. */
const struct sg_settings *sg_configuration_settings(const struct sg_configuration *c);
/* The files, merged. */
const char *sg_configuration_text(const struct sg_configuration *c);
bool sg_configuration_is_changed(const struct sg_configuration *c, const char *class,
                                 const struct sg_settings_key *key);

/* Both put other settings into force, or fail, and then nothing has changed. */

/* Reads the files again: nothing is changed any more of what they say. */
int sg_configuration_reload(struct sg_configuration *c, const char *hostname,
                            struct sg_config_errors *errors);
/* Assignments as sg_overrides_change() takes them. -EINVAL: one line in *ret_why (heap); other
 * errors: the change couldn't be stored. */
int sg_configuration_change(struct sg_configuration *c, const char *class, char *const *assignments,
                            char **ret_why);
