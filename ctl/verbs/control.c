/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hold, release, suspend, resume, requeue: a method of the same name, without arguments. */

#include "ctl/ask/jobset.h"
#include "ctl/verbs/verbs.h"

int sg_verb_control(const struct sg_invocation *inv, struct sg_error *e)
{
        static const char *const members[_SG_VERB_MAX] = {
                [SG_VERB_HOLD] = "Hold",       [SG_VERB_RELEASE] = "Release",
                [SG_VERB_SUSPEND] = "Suspend", [SG_VERB_RESUME] = "Resume",
                [SG_VERB_REQUEUE] = "Requeue",
        };
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv, .words = inv->args, .n = inv->n_args, .live = true};
        struct sg_jobset set = {.inv = inv, .member = members[inv->verb], .ids = &ids};
        int r = sg_verb_find_jobs(&w, &c, &ids, e);

        return r < 0 ? r : sg_jobset_call(&set, &c, e);
}
