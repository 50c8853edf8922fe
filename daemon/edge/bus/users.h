/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Names for uids and gids. The local files are read directly; a user that isn't there (LDAP, sssd,
 * …) is looked up through NSS in a child process, because such a lookup may take as long as its
 * server likes.
 */

#include "proto/names.h"
#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct sg_users;

/* name is never NULL: a uid that nobody knows is its number. */
typedef void (*sg_users_cb)(const char *name, void *userdata);

int sg_users_new(struct sg_users **ret, sd_event *event);
struct sg_users *sg_users_free(struct sg_users *u);

/* Calls back at once for a name that is known, else when the child has answered. < 0: no child
 * could be started. */
int sg_users_lookup(struct sg_users *u, uid_t uid, sg_users_cb cb, void *userdata);

/* A list for sg_strv_free(), each gid by its local name and by its number; -ENOMEM. */
int sg_users_group_names(const gid_t *gids, size_t n, char ***ret);

/* The gid of a local group; -ENOENT. */
int sg_users_find_group(const char *name, gid_t *ret);
