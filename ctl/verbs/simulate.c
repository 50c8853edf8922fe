/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* simulate: what policies would make of jobs, without running any. Needs no governor. */

#include "ctl/simulate/simulate.h"
#include "base/cleanup.h"
#include "ctl/verbs/verbs.h"

/* What narrows the history has nothing to narrow elsewhere. */
static int check_options(const struct sg_invocation *inv, struct sg_error *e)
{
        const char *narrows = inv->since > 0   ? "--since"
                              : inv->until > 0 ? "--until"
                              : inv->class     ? "--class"
                                               : NULL;

        if (narrows && !inv->from_history)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, narrows, NULL,
                                    "%s needs --from-history", narrows);
        return sg_verb_check_form(inv, e);
}

int sg_verb_simulate(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_simulation_deinit) struct sg_simulation s = {0};
        size_t n_sources = inv->n_args + (inv->generate != NULL) + inv->from_history;
        int r;

        if (n_sources != 1)
                return sg_verb_usage(inv, e);
        r = check_options(inv, e);
        if (r == 0 && inv->columns)
                r = sg_simulation_check_columns(inv->columns, e);
        if (r == 0)
                r = sg_simulation_load(&s, inv, e);
        if (r == 0 && inv->csv) {
                sg_simulation_print_trace(&s, !inv->no_legend);
                return 0;
        }
        if (r == 0)
                r = sg_simulation_set_policies(&s, inv, e);
        if (r == 0 && inv->svg)
                return sg_simulation_write_svg(&s, inv->svg, e);
        if (r == 0)
                r = sg_simulation_run(&s, e);
        if (r < 0)
                return r;
        return inv->json ? sg_simulation_print_json(&s) : sg_simulation_print_table(&s, inv, e);
}
