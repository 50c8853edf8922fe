/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two files that a job is given, as libschedgov reads them. */
#include "client/allocation-text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int b)
{
        if (!b)
                abort();
}

static void check_allocation(const struct sgc_allocation *a)
{
        must(memchr(a->cpu_list, 0, sizeof(a->cpu_list)) != NULL);
        must(memchr(a->gpus, 0, sizeof(a->gpus)) != NULL);
        must(!strchr(a->cpu_list, '\n') && !strchr(a->gpus, '\n'));
        must(a->threads <= SGC_THREADS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct sgc_allocation a;
        struct sgc_checkpoint c;
        uint64_t threads = 0;
        char *text = malloc(size > 0 ? size : 1); /* no NUL behind it */
        int r;

        if (!text)
                return 0;
        if (size > 0)
                memcpy(text, data, size);
        r = sgc_allocation_parse(text, size, &a);
        if (r == 0)
                check_allocation(&a);
        if (sgc_threads_parse(text, size, &threads) == 0) {
                must(threads >= 1 && threads <= SGC_THREADS_MAX);
                must(r < 0 || threads == a.threads);
        } else {
                must(r < 0 || a.threads == 0);
        }
        if (sgc_checkpoint_parse(text, size, &c) == 0)
                must(c.id > 0 && memchr(c.why, 0, sizeof(c.why)) != NULL);
        free(text);
        return 0;
}
