/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a request to schedgov-launch: refused, or a name that is the only form of its key
 * and a plain name of a file. */
#include "proto/launch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sg_launch_request again;
        struct sg_job_key key;
        uint64_t id = 0;

        if (sg_launch_request_parse(data, size, &id, &key) < 0)
                return 0;
        sg_launch_request_init(&again, id, &key);
        if (id == 0 || size != sizeof(again) || memcmp(&again, data, size) != 0)
                abort();
        if (strchr(again.attempt, '/') || again.attempt[0] == '.' || again.attempt[0] == 0)
                abort();
        return 0;
}
