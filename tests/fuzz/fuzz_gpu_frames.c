/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as what schedgov-gpu and the daemon say to each other: whatever is taken is sound, and
 * these bytes alone say it. */
#include "edge/gpu/frames.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect_same(const struct sg_record *again, const uint8_t *data, size_t size)
{
        if (again->error < 0 || again->size != size || memcmp(again->data, data, size) != 0)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(sg_record_deinitp) struct sg_record again = {0};
        static struct sg_gpu_inventory inventory;
        struct sg_gpu_order order;

        if (size > SG_GPU_FRAME_MAX)
                return 0;
        if (sg_gpu_take_inventory(data, size, &inventory) >= 0) {
                if (!sg_gpu_inventory_is_sound(&inventory))
                        abort();
                sg_gpu_put_inventory(&again, &inventory);
                free(TAKE_PTR(inventory.gpus));
                expect_same(&again, data, size);
        } else if (sg_gpu_take_order(data, size, &order) >= 0) {
                sg_gpu_put_order(&again, &order);
                expect_same(&again, data, size);
        }
        return 0;
}
