/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Reads the configuration files into settings, by systemd's rules: /usr/lib/schedgov <
 * /run/schedgov < /etc/schedgov, drop-ins merged by name across directories, a link to /dev/null
 * masks, an empty assignment resets. inih parses; it is fed line by line through a counting reader,
 * because it gives no line numbers and cuts long lines.
 */

#include "core/settings/settings.h"

struct sg_config_error {
        char *where; /* "/etc/schedgov/schedgov.conf:12"; without a line: the file as a whole */
        char *what;  /* "[Queue] JobsPerCpu= wants a whole number from 1, not 'x'" */
};

/* A user or group that a policy names: whether there is one can't be told without waiting. Or a
 * device, which may be a GPU's. */
struct sg_config_name {
        char *where, *name;
        bool group, device;
};

struct sg_config_errors {
        struct sg_config_error *items;
        size_t n;
        struct sg_config_name *names;
        size_t n_names;
};
void sg_config_errors_deinit(struct sg_config_errors *e);
/* One more. Beyond 100, errors are dropped, and the last one says so. -ENOMEM. */
int sg_config_errors_add(struct sg_config_errors *e, const char *where, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Looks closer at a value that the settings' table has accepted:
 * -EINVAL with one line in *ret_why. */
typedef int (*sg_config_check_fn)(const char *section, const char *key, const char *value,
                                  char **ret_why);

/* Where from: "" on a real host. */
struct sg_config_place {
        const char *root; /* prefix of the three directories; NULL: read nothing, all built in */
        const char *home; /* of a user's own governor, instead of the first two of them */
        sg_config_check_fn check; /* may be NULL */
};

/*
 * All errors of all files are collected, at most 100; with any, the result is -EINVAL and *ret is
 * untouched. errors: zero-initialised. Files are short and local: the call is synchronous.
 * *ret_merged (may be NULL) gets the merged text with the origin of each line as a "# file:line"
 * comment, for `schedctl config cat`.
 */
int sg_config_load(const struct sg_settings **ret, const struct sg_config_place *place,
                   const char *hostname, struct sg_config_errors *errors, char **ret_merged);
