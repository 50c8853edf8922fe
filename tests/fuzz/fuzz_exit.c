/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as an exit record. The checksum would keep a fuzzer out, so that each input is also
 * packed anew, as a shim would have written these values; a user's own may have written any.
 */
#include "proto/attempt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        uint8_t packed[SG_EXIT_SIZE];
        struct sg_exit e = {0}, back;

        if (sg_exit_unpack(&e, data, size) == 0) {
                sg_exit_pack(&e, packed);
                if (sg_exit_unpack(&back, packed, sizeof(packed)) < 0 ||
                    memcmp(&e, &back, sizeof(e)) != 0)
                        abort();
        }

        if (size > 0)
                memcpy(&e, data, size < sizeof(e) ? size : sizeof(e));
        sg_exit_pack(&e, packed);
        if (sg_exit_unpack(&back, packed, sizeof(packed)) < 0) /* it can't be so */
                return 0;
        if (back.stage != SG_STAGE_NONE && !sg_stage_to_string((enum sg_stage)back.stage))
                abort();
        if (back.exit_code != e.exit_code || back.signal != e.signal ||
            back.ended_usec != e.ended_usec || back.main_oom_killed != e.main_oom_killed)
                abort();
        if (size > 0) { /* one flipped bit is noticed */
                packed[data[0] % sizeof(packed)] ^= (uint8_t)(1U << (data[0] % 8));
                if (sg_exit_unpack(&back, packed, sizeof(packed)) == 0)
                        abort();
        }
        return 0;
}
