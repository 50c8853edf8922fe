/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* NVIDIA's driver, as nvml.c and its parts share it. */

#include "edge/gpu/worker/driver.h"
#include "edge/gpu/worker/nvml-functions.h"

struct sg_nvml_library {
        void *handle;
#define MEMBER(name, symbol, parameters) sg_nv_code(*name) parameters;
#define NO_MEMBER(name, symbol, parameters)
        SG_NV_FUNCTIONS(MEMBER, NO_MEMBER)
#undef MEMBER
#undef NO_MEMBER
        const char *(*error_string)(sg_nv_code code);
        sg_nv_list_processes *lists[SG_NV_LISTS][SG_NV_LIST_VERSIONS];
};

/* A function that the library may lack. */
#define SG_NV_CALL(library, name, ...)                                                             \
        ((library)->name ? (library)->name(__VA_ARGS__) : (sg_nv_code)SG_NV_FUNCTION_NOT_FOUND)

/* A GPU that has been seen since the driver was opened: it may be lost, and come back at another
 * index. What doesn't change isn't asked for again. */
struct sg_nvml_gpu {
        sg_nv_device device;
        bool present;
        uint64_t index;
        struct sg_gpu fixed;             /* uuid, name, … of an inventory, all else unknown */
        unsigned list_from[SG_NV_LISTS]; /* which of the ways to ask for processes it knows */
        unsigned long long samples_until_usec;
};

struct sg_gpu_driver {
        struct sg_nvml_library library;
        char root[SG_GPU_PATH_MAX];
        char version[SG_NV_VERSION_TEXT];
        uint64_t cuda;
        size_t n;
        struct sg_nvml_gpu gpus[SG_GPUS_MAX];
        struct sg_gpu_near near[SG_GPUS_MAX][SG_GPUS_MAX];
        bool changed;        /* which GPUs there are; `near` and `events` are to be made anew */
        sg_nv_events events; /* NULL: it can't tell of any */
        struct sg_gpu_inventory happened; /* its events, until the next look */
};

/* nvml-library.c: 0; or it isn't there or of no use, which v says. */
void sg_nvml_load(struct sg_nvml_library *ret, const char *path, const char *root,
                  struct sg_gpu_inventory *v);
void sg_nvml_unload(struct sg_nvml_library *library);
const char *sg_nvml_error(const struct sg_nvml_library *library, sg_nv_code code);

/* nvml-nodes.c: has nvidia-modprobe make a node below root/dev that isn't there; of GPU `minor`,
 * and those of all GPUs. */
void sg_nvml_make_nodes(const char *root, uint64_t minor);

/* nvml-gpu.c */
void sg_nvml_read_fixed(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu);
/* What it is doing now. false: the driver says that it is lost. */
bool sg_nvml_read_figures(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *ret);
void sg_nvml_read_instances(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *ret);
void sg_nvml_read_near(struct sg_gpu_driver *d);
/* "0000:3b:00.0", or "" if those are no numbers of one. */
void sg_nvml_bus_id(char ret[32], const struct sg_nv_pci *pci);

/* nvml-processes.c */
void sg_nvml_read_processes(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *ret);
/* How large each of `count` entries is that were written over a buffer of 0xa5 with room for one
 * more of 32 bytes: 16, 24, 32, or 0 = it can't be told. */
size_t sg_nvml_stride(const unsigned char *buf, size_t count);

/* nvml-events.c */
void sg_nvml_watch_events(struct sg_gpu_driver *d);
int sg_nvml_wait_events(struct sg_gpu_driver *d, unsigned msec);
void sg_nvml_forget_events(struct sg_gpu_driver *d);
