/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the daemon and schedgov-gpu say to each other over a stream socket. Frames are those of
 * edge/common/frames.h; what is in them, numbers as u64, little-endian:
 *
 *   ┌─────────┬──────┬────────────────────────────────────────┐
 *   │ version │ kind │ fields in their order, nothing behind  │   text: its length, its bytes
 *   └─────────┴──────┴────────────────────────────────────────┘
 *
 *   daemon → worker   ORDER      the first one opens the driver; each asks for a look at once
 *   worker → daemon   INVENTORY  after each look, and when the driver tells of an event
 *
 * The two may be of different builds, after an upgrade: then they have nothing to say to each
 * other. The worker runs code of the driver's, so that whatever comes from it is checked: an
 * inventory that was taken keeps to what core/gpu/gpus.h promises, and to what is said here.
 */

#include "base/record.h"
#include "core/gpu/gpus.h"

#define SG_GPU_FRAMES_VERSION 1U
#define SG_GPU_FRAME_MAX (1U << 20) /* a full inventory takes 0.9 MiB, one of 8 GPUs 5 KiB */
#define SG_GPU_PATH_MAX 1024U       /* with the NUL */
#define SG_GPU_EVERY_MIN_USEC 100000ULL
#define SG_GPU_EVERY_MAX_USEC 3600000000ULL
#define SG_GPU_BYTES_MAX (1ULL << 50) /* of memory: any sum of them fits into 64 bits */
#define SG_GPU_POWER_MAX UINT32_MAX   /* milliwatts */

struct sg_gpu_order {
        uint64_t every_usec; /* how often to look, in between the two above */
        /* Of the first order: the driver's library, or "": found by its name; and the directory
         * where the driver's files are, "/". */
        char library[SG_GPU_PATH_MAX], root[SG_GPU_PATH_MAX];
};

void sg_gpu_put_order(struct sg_record *out, const struct sg_gpu_order *order);
void sg_gpu_put_inventory(struct sg_record *out, const struct sg_gpu_inventory *inventory);

/*
 * Each takes the one frame that the other end may send. -EPROTO: it is of another version;
 * -EBADMSG: anything else that isn't right; -ENOMEM. *ret is written if all was right, and an
 * inventory's gpus (NULL if there are none) are the caller's to free().
 *
 * Of an inventory that was taken: GPUs are sorted by bus id, then UUID, and no two have one UUID,
 * nor do instances; UUIDs have characters of [A-Za-z0-9._/:-] alone, at least one; distances are
 * the same from both sides; memory is at most SG_GPU_BYTES_MAX, no part of it more than the total,
 * which isn't 0; percents are at most 100.
 */
int sg_gpu_take_order(const void *data, size_t size, struct sg_gpu_order *ret);
int sg_gpu_take_inventory(const void *data, size_t size, struct sg_gpu_inventory *ret);

/* Whether it would be taken: for who puts one. */
bool sg_gpu_inventory_is_sound(const struct sg_gpu_inventory *inventory);
