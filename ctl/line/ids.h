/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Jobs as people name them: "7", "7@host", and "5-9" for five of them. Pure. */

#include <stdbool.h>
#include <stddef.h>

struct sg_ids {
        char **v; /* owned, each a single job's id; not NULL-terminated */
        size_t n;
};

void sg_ids_deinit(struct sg_ids *ids);

/* -EINVAL if it isn't of this form, -ERANGE if it names too many, -ENOMEM. */
int sg_ids_add(struct sg_ids *ids, const char *word);

/* Whether the governor's id may be the job that was asked for: at home it leaves the node out. */
bool sg_id_matches(const char *asked, const char *id);
