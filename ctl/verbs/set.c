/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* set JOB… KEY=VALUE…: the keys are the names of the job options. */

#include "ctl/ask/jobset.h"
#include "ctl/ask/request.h"
#include "ctl/verbs/verbs.h"
#include <string.h>

static int append_changes(sd_bus_message *m, void *userdata)
{
        return sg_request_append_changes(m, userdata);
}

int sg_verb_set(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_invocation changes = *inv; /* also takes those given as options */
        struct sg_jobset set = {.inv = inv,
                                .member = "Set",
                                .ids = &ids,
                                .append = append_changes,
                                .userdata = &changes,
                                .reports_limits = true};
        struct sg_wanted w = {.inv = inv, .words = inv->args, .live = true};
        int r;

        while (w.n < inv->n_args && !strchr(inv->args[w.n], '='))
                w.n++;
        for (size_t i = w.n; i < inv->n_args; i++) {
                r = sg_options_set(&changes, inv->args[i], e);
                if (r < 0)
                        return r;
        }
        if (!sg_options_any_key(&changes))
                return sg_verb_usage(inv, e);
        r = sg_verb_find_jobs(&w, &c, &ids, e);
        return r < 0 ? r : sg_jobset_call(&set, &c, e);
}
