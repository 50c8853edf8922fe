/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* adopt: something that runs already becomes a job; prints its number. */

#include "ctl/show/document.h"
#include "ctl/verbs/verbs.h"
#include <inttypes.h>
#include <stdio.h>

int sg_verb_adopt(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        _cleanup_client_ struct sg_client c = {0};
        uint64_t n;
        int r;

        if (inv->n_args != 1)
                return sg_verb_usage(inv, e);
        r = sg_client_open(&c, inv->socket, e);
        if (r >= 0)
                r = sg_client_manager(&c, "Adopt", &m, e);
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", inv->args[0], inv->class ?: "");
        if (r >= 0)
                r = sg_client_call(&c, m, inv->args[0], &reply, e);
        if (r < 0)
                return r;
        r = sd_bus_message_read(reply, "t", &n);
        if (r < 0)
                return sg_error_garbled(e, r);
        if (inv->json)
                (void)sg_document_print_new(json_pack("{s:s,s:I}", "schema", "schedgov.adopted/1",
                                                      "id", (json_int_t)n));
        else
                (void)printf("%" PRIu64 "\n", n);
        return 0;
}
