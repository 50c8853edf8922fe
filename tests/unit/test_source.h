/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Files of the source tree, for tests that compare the code with what people read. */

#include "base/file.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* On the heap, as text: below $SG_SOURCE, or the working directory. Fails the test if it can't be
 * read. */
/* (inlined, gcc 12 takes what it returns for a pointer to its own variable) */
static __attribute__((noinline)) char *source_read(const char *name)
{
        const char *top = getenv("SG_SOURCE");
        char path[4096];
        char *text;
        int r;

        assert_int_equal(sg_path_join(path, sizeof(path), top ? top : ".", name), 0);
        r = sg_read_file(AT_FDCWD, path, 1 << 20, &text, NULL);
        if (r < 0)
                fail_msg("%s: %s (run from the top of the source tree)", path, strerror(-r));
        return text;
}
