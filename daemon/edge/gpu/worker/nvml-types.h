/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Of NVIDIA's management library (libnvidia-ml.so.1) what we call: numbers and layouts of its ABI
 * on 64-bit Linux, as its reference manual has them. The fake of tests/fakes/nvml is compiled
 * against the same prototypes.
 *
 * Rules that the prototypes don't tell:
 *
 * - A name without a suffix is the oldest version of its function; _v2, _v3 came later.
 * - A list is given room for *count entries and says INSUFFICIENT_SIZE, with their number, if there
 *   are more; by the next call there may be more again.
 * - Pids are those of the caller's pid namespace, 0 = a process that has none there. Its memory may
 *   be NO_VALUE.
 * - How large the entries of process lists are can't be known from the function's name, see
 *   nvml-processes.c.
 * - Its functions are in nvml-functions.h.
 */

#include <stddef.h>
#include <stdint.h>

enum sg_nv_code {
        SG_NV_SUCCESS = 0,
        SG_NV_UNINITIALIZED = 1,
        SG_NV_INVALID_ARGUMENT = 2,
        SG_NV_NOT_SUPPORTED = 3,
        SG_NV_NOT_FOUND = 6,
        SG_NV_INSUFFICIENT_SIZE = 7,
        SG_NV_DRIVER_NOT_LOADED = 9,
        SG_NV_TIMEOUT = 10,
        SG_NV_FUNCTION_NOT_FOUND = 13,
        SG_NV_GPU_IS_LOST = 15,
        SG_NV_RESET_REQUIRED = 16,
        SG_NV_MISMATCH = 18, /* library and module are of different versions */
        SG_NV_ARGUMENT_VERSION = 25,
        SG_NV_GPU_NOT_FOUND = 28,
        SG_NV_UNKNOWN_ERROR = 999,
};

#define SG_NV_TEXT 96U         /* room for UUIDs and names … */
#define SG_NV_VERSION_TEXT 80U /* … and versions */
#define SG_NV_LINKS 36U        /* NVLinks of one GPU */
#define SG_NV_NO_VALUE UINT64_MAX
#define SG_NV_NO_INSTANCE UINT32_MAX
#define SG_NV_FLAG_NO_GPUS 1U /* initialise also where there are none */
#define SG_NV_XID_UNKNOWN 999U
/* What structs that say their version have in it. */
#define SG_NV_STRUCT(type, n) ((unsigned)sizeof(type) | (unsigned)(n) << 24)

enum { SG_NV_OFF = 0, SG_NV_ON = 1 };
enum { SG_NV_SENSOR_GPU = 0 };
enum { SG_NV_MODE_PROHIBITED = 2, SG_NV_MODE_EXCLUSIVE_PROCESS = 3 };
enum { SG_NV_LIST_COMPUTE = 0, SG_NV_LIST_GRAPHICS = 1, SG_NV_LIST_MPS = 2, SG_NV_LISTS = 3 };
enum { SG_NV_P2P_BY_NVLINK = 2, SG_NV_P2P_OK = 0 };

/* The nearest that two GPUs have in common. */
enum {
        SG_NV_COMMON_BOARD = 0,
        SG_NV_COMMON_SWITCH = 10,
        SG_NV_COMMON_SWITCHES = 20,
        SG_NV_COMMON_HOST = 30,
        SG_NV_COMMON_NODE = 40,
        SG_NV_COMMON_SYSTEM = 50,
};

/* Events, */
#define SG_NV_EVENT_DOUBLE_ECC 0x2ULL
#define SG_NV_EVENT_XID 0x8ULL
#define SG_NV_EVENT_MIG 0x100ULL
/* and why clocks are held down. */
#define SG_NV_SLOW_POWER_CAP 0x4ULL
#define SG_NV_SLOW_HARDWARE 0x8ULL
#define SG_NV_SLOW_THERMAL 0x20ULL
#define SG_NV_SLOW_THERMAL_HARDWARE 0x40ULL
#define SG_NV_SLOW_POWER_BRAKE 0x80ULL

typedef unsigned sg_nv_code;
typedef struct sg_nv_device *sg_nv_device; /* a GPU or a MIG instance, until the shutdown */
typedef struct sg_nv_events *sg_nv_events;

struct sg_nv_pci {
        char legacy[16];
        unsigned domain, bus, device, id, subsystem;
        char bus_id[32];
};

struct sg_nv_memory {
        unsigned long long total, free, used; /* used: with the driver's own */
};

struct sg_nv_memory_v2 {
        unsigned version;                               /* 2 */
        unsigned long long total, reserved, free, used; /* used: without `reserved` */
};

struct sg_nv_utilization {
        unsigned gpu, memory;
};

struct sg_nv_process_16 {
        unsigned pid;
        unsigned long long memory;
};

struct sg_nv_process_24 {
        unsigned pid;
        unsigned long long memory;
        unsigned gpu_instance, compute_instance;
};

struct sg_nv_process_32 {
        unsigned pid;
        unsigned long long memory;
        unsigned gpu_instance, compute_instance;
        unsigned long long protected_memory;
};

struct sg_nv_process_list {
        unsigned version; /* 1 */
        unsigned list, count;
        struct sg_nv_process_32 *processes;
};

struct sg_nv_sample { /* of what a process has kept busy */
        unsigned pid;
        unsigned long long usec;
        unsigned gpu, memory, encoder, decoder;
};

struct sg_nv_attributes { /* of a MIG instance */
        unsigned multiprocessors, copy_engines, decoders, encoders, jpeg, ofa;
        unsigned gpu_slices, compute_slices;
        unsigned long long memory_mib;
};

struct sg_nv_event {
        sg_nv_device device;
        unsigned long long type, data;
        unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct sg_nv_pci) == 68, "as NVML's");
_Static_assert(sizeof(struct sg_nv_memory) == 24, "as NVML's");
_Static_assert(sizeof(struct sg_nv_memory_v2) == 40, "as NVML's");
_Static_assert(sizeof(struct sg_nv_process_16) == 16, "as NVML's");
_Static_assert(sizeof(struct sg_nv_process_24) == 24, "as NVML's");
_Static_assert(sizeof(struct sg_nv_process_32) == 32, "as NVML's");
_Static_assert(sizeof(struct sg_nv_process_list) == 24, "as NVML's");
_Static_assert(sizeof(struct sg_nv_sample) == 32, "as NVML's");
_Static_assert(sizeof(struct sg_nv_attributes) == 40, "as NVML's");
_Static_assert(sizeof(struct sg_nv_event) == 32, "as NVML's");
