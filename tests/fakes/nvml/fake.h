/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A libnvidia-ml.so.1 that says what a script tells it to; with the symbols, and the sizes of
 * entries, of drivers of several ages (`exports`). The compiler holds its functions against the
 * worker's prototypes.
 *
 * The script is the file of $SCHEDGOV_FAKE_GPU, and is read anew when it has changed; without one
 * no driver is loaded. $SCHEDGOV_FAKE_GPU.log gets a line for each Init, Shutdown, setting and
 * hang.
 *
 *   [driver]
 *   Version=550.54.15  Cuda=12.4      a key a line; none = NOT_SUPPORTED, wherever it is
 *   Init=ok                           NOT_LOADED, MISMATCH, or a code
 *   Hang=30s@nvmlDeviceGetMemoryInfo  in calls that begin so; without @ in all. Hang=log: no longer
 *                                     than the log's file system does
 *   Fail=999@nvmlDeviceGetCount       what calls that begin so return
 *
 *   [gpu N]                           at index N
 *   Uuid= Name=                       those too long for the caller's buffer have no end there
 *   Memory=80G Reserved=600M Used=    Used: by default what processes do
 *   Minor= Bus=0000:3b:00.0 Numa= Utilization= Temperature= Energy=
 *   Power=now,limit,min,default,max   watts
 *   Throttled=power thermal           Mode=exclusive|prohibited
 *   Lost=yes|calls                    its index doesn't answer, or all else
 *   Hang=                             as above, in calls about this one
 *   Process=PID BYTES|none [GI CI] [graphics|both|mps]
 *   Sample=PID PERCENT                what that process kept busy
 *   Grows=yes                         each list has one entry more than there is room for
 *   Details=no                        it knows no list with details
 *   Near=M:LEVEL[*LINKS]              nvlink, nvswitch, switch, switches, host, node, system
 *   Mig=PROFILE[*n]  MigNames=no      instances; whether their names have the profile
 *   Event=xid:79[*n]|ecc|mig          each time that the script is read
 */

#include "edge/gpu/worker/nvml-functions.h"
#include <stdbool.h>

#define GPUS 80U /* more than the worker takes */
#define PROCESSES 600U
#define INSTANCES 16U
#define NONE (UINT64_MAX - 1) /* NOT_SUPPORTED */

#pragma GCC visibility push(default)
#define PROTOTYPE(member, symbol, parameters) sg_nv_code symbol parameters;
SG_NV_FUNCTIONS(PROTOTYPE, PROTOTYPE)
#undef PROTOTYPE
#define PROTOTYPES(symbol, list)                                                                   \
        sg_nv_list_processes symbol;                                                               \
        sg_nv_list_processes symbol##_v2;                                                          \
        sg_nv_list_processes symbol##_v3;
SG_NV_PROCESS_LISTS(PROTOTYPES)
#undef PROTOTYPES
const char *nvmlErrorString(sg_nv_code code);
sg_nv_code nvmlDeviceSetPowerManagementLimit(sg_nv_device device, unsigned mw);
#pragma GCC visibility pop

struct hang {
        char at[64];   /* "" = everywhere */
        uint64_t msec; /* 0: none */
        bool in_log;
};

struct process {
        unsigned pid, gi, ci;
        bool computes, draws, mps;
        uint64_t memory, percent;
};

struct gpu {
        bool there, lost, calls_lost, grows, no_details, no_mig_names;
        char uuid[600], name[600], bus[32];
        uint64_t memory, reserved, used, minor, numa, utilization, temperature, energy;
        uint64_t watts[5]; /* now, limit, min, default, max */
        unsigned long long slow;
        unsigned mode;
        struct hang hang;
        size_t n_processes, n_instances;
        struct process processes[PROCESSES];
        char profiles[INSTANCES][32];
        uint8_t level[GPUS], links[GPUS];
        bool by_switch; /* its NVLinks */
};

struct script {
        char version[600];
        uint64_t cuda;
        sg_nv_code init;
        struct hang hang;
        char fail_at[64]; /* "" = nowhere */
        sg_nv_code fail;
        unsigned n; /* GPUs */
        struct gpu gpus[GPUS];
};

/* What handles point to. */
struct sg_nv_device {
        unsigned gpu, instance; /* instance: 0 = the GPU, else 1 … */
};

extern struct script script;
extern const unsigned fake_v3_stride;

/* script.c: begins each call; what it returns, if that isn't SUCCESS. device: may be NULL. */
sg_nv_code fake_enter(const char *function, sg_nv_device device);
void fake_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool fake_initialise(bool on); /* whether it was */

/* events.c: n of them happen at a GPU. */
void fake_event(unsigned gpu, unsigned long long type, unsigned long long data, unsigned n);

#define ENTER(device)                                                                              \
        do {                                                                                       \
                sg_nv_code _code = fake_enter(__func__, device);                                   \
                if (_code != SG_NV_SUCCESS)                                                        \
                        return _code;                                                              \
        } while (0)

static inline struct gpu *gpu_of(sg_nv_device device)
{
        return &script.gpus[device->gpu];
}
