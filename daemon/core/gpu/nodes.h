/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Device nodes of GPUs: which belong to which GPU, which a job may open, and what every job is kept
 * from. Pure; what is there is read by edge/gpu/devices.h, at each look, as a driver that is loaded
 * again may have other majors and other minors.
 */

#include "core/gpu/gpus.h"
#include "core/place/device.h"

struct sg_driver { /* of character devices: a line of /proc/devices */
        int32_t major;
        char name[SG_DRIVER_NAME_MAX];
};

struct sg_drm_node { /* of a graphics card, whoever's */
        int32_t major, minor;
        char name[32];   /* "renderD128", "card0" */
        char bus_id[32]; /* of its device, as sg_gpu has it; "" = it has none */
        char driver[32]; /* of the device on the bus; "" = none */
};

#define SG_MIG_NO_INSTANCE UINT32_MAX

struct sg_mig_minor { /* a line of mig-minors */
        uint32_t gpu; /* sg_gpu.minor */
        uint32_t gpu_instance;
        uint32_t compute_instance; /* or NO_INSTANCE: of the GPU instance as a whole */
        int32_t minor;
};

/* What the kernel said at one moment. */
struct sg_gpu_devices {
        struct sg_driver *drivers;
        size_t n_drivers;
        struct sg_mig_minor *mig;
        size_t n_mig;
        struct sg_drm_node *drm; /* by minor */
        size_t n_drm;
};

void sg_gpu_devices_deinit(struct sg_gpu_devices *d);

/* The text of /proc/devices, of which block devices are passed over. It needs no NUL. 0, -EBADMSG
 * (then nothing was taken: what it said before is still the best that is known) or -ENOMEM. */
int sg_gpu_devices_take_drivers(struct sg_gpu_devices *d, const char *text, size_t n);
/* The same of mig-minors; lines of what else there may be are passed over. */
int sg_gpu_devices_take_mig(struct sg_gpu_devices *d, const char *text, size_t n);

/* A driver of GPUs, of whichever vendor. */
bool sg_gpu_driver_is_loaded(const struct sg_gpu_devices *d);

struct sg_gpu_node {
        char path[64]; /* "/dev/nvidia0", below the driver's root */
        struct sg_device_rule rule;
};

#define SG_GPU_NODES_MAX 16U

/* Nodes of this GPU alone, or of the instance; those that everybody needs who has one of that
 * vendor. How many there are; 0: they can't be told, as the driver isn't loaded, say. */
size_t sg_gpu_nodes_of(const struct sg_gpu_devices *d, const struct sg_gpu *gpu,
                       const struct sg_gpu_instance *instance,
                       struct sg_gpu_node ret[SG_GPU_NODES_MAX]);
size_t sg_gpu_nodes_shared(const struct sg_gpu_devices *d, const char *vendor,
                           struct sg_gpu_node ret[SG_GPU_NODES_MAX]);

/*
 * What all jobs of this node are kept from: majors of GPUs' drivers, graphics nodes of GPUs, and
 * nothing else. What `before` (NULL: nothing) guarded and is nobody's now stays so: a driver that
 * is being loaded again may come back to it. inventory: NULL = not known yet.
 *
 * 1: *ret differs from `before`, and with it what every job that runs may open. 0: it is `before`
 * once more; a job's own nodes can be others all the same, as a GPU may have another minor. The
 * caller drops it by sg_device_guard_unref(). -ENOMEM.
 */
int sg_gpu_guard(struct sg_device_guard **ret, const struct sg_gpu_devices *d,
                 const struct sg_gpu_inventory *inventory, struct sg_device_guard *before);

/*
 * The devices of a job, when it starts and after each look: what its class lets it have (closed, or
 * open with that guard), with all nodes of the GPUs and instances that it holds (UUIDs with commas,
 * as in sg_job.gpus; NULL = none). It is the caller's: for the scope's request, or for
 * sg_scope_set_devices(), which does nothing where that is in force. Of jobs without GPUs only
 * another guard makes another list.
 *
 * Positive: so many of them aren't there, or have no nodes that are known. A start fails by that.
 * Of one that runs, what is in force is kept while the driver doesn't answer; once it does, what
 * isn't there is gone. -ENOMEM.
 */
int sg_gpu_job_devices(struct sg_device_list *ret, const struct sg_device_list *class,
                       const struct sg_gpu_devices *d, const struct sg_gpu_inventory *inventory,
                       const char *uuids);
