/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a spec: decoding fails cleanly, or gives a spec whose parts are all there. */
#include "proto/spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_bytes(char *const *strings)
{
        size_t n = 0;

        for (; strings && *strings; strings++)
                n += strlen(*strings) + 1;
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(sg_spec_deinit) struct sg_spec s = {0};

        if (sg_spec_decode(&s, data, size) < 0)
                return 0;
        if (n_bytes(s.argv) + n_bytes(s.env) + s.script_size + s.n_groups + s.n_rlimits > size)
                abort();
        return 0;
}
