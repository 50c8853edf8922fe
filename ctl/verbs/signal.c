/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* signal JOB… SIG */

#include "base/parse.h"
#include "ctl/ask/jobset.h"
#include "ctl/verbs/verbs.h"

static int append_signal(sd_bus_message *m, void *userdata)
{
        return sd_bus_message_append(m, "i", *(int32_t *)userdata);
}

int sg_verb_signal(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        int32_t signal = 0;
        struct sg_wanted w = {.inv = inv, .words = inv->args, .live = true};
        struct sg_jobset set = {.inv = inv,
                                .member = "Signal",
                                .ids = &ids,
                                .append = append_signal,
                                .userdata = &signal};
        int r;

        if (inv->n_args < 2)
                return sg_verb_usage(inv, e);
        if (sg_parse_signal(inv->args[inv->n_args - 1], &signal) < 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, inv->args[inv->n_args - 1],
                                    "give a name such as TERM or USR1, or a number",
                                    "'%s' is not a signal", inv->args[inv->n_args - 1]);
        w.n = inv->n_args - 1;
        r = sg_verb_find_jobs(&w, &c, &ids, e);
        return r < 0 ? r : sg_jobset_call(&set, &c, e);
}
