/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Names for uids and gids. The local files are read directly; a user that isn't there (LDAP, sssd,
 * …) is looked up through NSS in a child process, because such a lookup may take as long as its
 * server likes. One that takes longer than 5 s is given up, and its child killed.
 */

#include "proto/names.h"
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct sg_users;

/* name is never NULL: for a uid that nobody knows it is the number. With a negative result nobody
 * could tell in time whose uid it is; the name is the number, too, and isn't remembered. */
typedef void (*sg_users_cb)(int result, const char *name, void *userdata);

int sg_users_new(struct sg_users **ret, sd_event *event);
/* Lookups under way are never answered. */
struct sg_users *sg_users_free(struct sg_users *u);

/* Calls back at once for a name that is known, or where no child can be started; else when the
 * child has answered, or hasn't in time. -ENOMEM: it doesn't call back. */
int sg_users_lookup(struct sg_users *u, uid_t uid, sg_users_cb cb, void *userdata);

/* Takes back what was asked with these two: they aren't called any more. A lookup that nobody waits
 * for is given up. */
void sg_users_cancel(struct sg_users *u, sg_users_cb cb, void *userdata);

#define SG_USERS_WHY_MAX 160
/* One line for whoever asked: why there is no name, and what to do. */
void sg_users_explain(char buf[SG_USERS_WHY_MAX], uid_t uid, int error);

/* How long a lookup may take. Tests have less time. */
extern uint64_t sg_users_patience_usec;

/* A list for sg_strv_free(), each gid by its local name and by its number; -ENOMEM. */
int sg_users_group_names(const gid_t *gids, size_t n, char ***ret);

/* The gid of a local group; -ENOENT. */
int sg_users_find_group(const char *name, gid_t *ret);
