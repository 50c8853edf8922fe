/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a spec: decoding fails cleanly, or gives a spec that survives encode and decode. */
#include "proto/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_list(char **a, char **b)
{
        for (; a && *a; a++, b++)
                if (!b || !*b || strcmp(*a, *b) != 0)
                        abort();
        if (b && *b)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        _cleanup_(sg_spec_deinit) struct sg_spec s = {0}, again = {0};

        if (sg_spec_decode(&s, data, size) < 0)
                return 0;
        if (s.uid == (uid_t)-1 || s.gid == (gid_t)-1)
                return 0; /* only half a spec: nobody to run it as */
        sg_spec_encode_submitted(&s, &r);
        if (r.error < 0 || sg_spec_decode(&again, r.data, r.size) < 0)
                abort();
        if (again.uid != s.uid || again.gid != s.gid || again.umask != s.umask ||
            again.n_groups != s.n_groups || again.n_rlimits != s.n_rlimits ||
            again.script_size != s.script_size)
                abort();
        check_list(s.argv, again.argv);
        check_list(s.env, again.env);
        return 0;
}
