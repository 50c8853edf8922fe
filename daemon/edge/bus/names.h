/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Whether there are users of these names. NSS knows, and may take as long as its servers like: a
 * child asks it, which is killed when it hasn't answered all within 5 s.
 */

#include "base/cleanup.h"
#include <stddef.h>
#include <systemd/sd-event.h>

struct sg_names;

int sg_names_new(struct sg_names **ret, sd_event *event);
/* Of searches under way nobody could tell. NULL is fine. */
struct sg_names *sg_names_free(struct sg_names *s);

/* Of each name 1: there is such a user; 0: there is none; negative: nobody could tell. */
typedef void (*sg_names_cb)(const int *results, size_t n, void *userdata);

/* At least one name. Calls back once, from the loop; negative: it won't. */
int sg_names_find(struct sg_names *names, const char *const *list, size_t n, sg_names_cb done,
                  void *userdata);
