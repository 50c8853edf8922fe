/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What is known of a node's GPUs at one moment: a driver's answers, checked. No vendor is named
 * here.
 *
 * A figure that isn't known is SG_GPU_UNKNOWN, never 0: who counts with it has to say what that
 * means. Text is UTF-8 without control characters, cut to its field. An inventory is a plain value:
 * it may be compared, copied and thrown away.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_GPU_UNKNOWN UINT64_MAX
#define SG_GPUS_MAX 64U           /* more aren't managed */
#define SG_GPU_INSTANCES_MAX 16U  /* MIG instances of one GPU */
#define SG_GPU_PROCESSES_MAX 256U /* of one GPU; more are counted in memory_used alone */
#define SG_GPU_EVENTS_MAX 64U     /* of one look; more are counted */
#define SG_GPU_TEXT_MAX 96U

enum sg_gpu_driver_state {
        SG_GPU_DRIVER_ABSENT, /* there is none; nothing is wrong */
        SG_GPU_DRIVER_OK,
        SG_GPU_DRIVER_ERROR,
        SG_GPU_DRIVER_HUNG,
        SG_GPU_DRIVER_MISMATCH, /* library and module are of different versions */
};

/* How far two GPUs are apart; numbers are what placement counts with. */
enum sg_gpu_distance {
        SG_GPU_LINKED = 1,    /* "nvlink": directly */
        SG_GPU_SWITCH = 10,   /* one bridge, */
        SG_GPU_SWITCHES = 20, /* several, */
        SG_GPU_HOST = 30,     /* a host bridge, */
        SG_GPU_NODE = 40,     /* a NUMA node, */
        SG_GPU_SYSTEM = 50, /* or nothing closer than the system is between them; also if unknown */
};

struct sg_gpu_instance { /* of MIG */
        char uuid[SG_GPU_TEXT_MAX];
        char profile[32]; /* "1g.10gb" */
        uint32_t gpu_instance, compute_instance;
        uint64_t memory_total; /* bytes, as all memory here */
};

struct sg_gpu_process {
        uint64_t pid; /* of the worker's pid namespace, which is the daemon's; never 0 */
        uint64_t memory;
        uint64_t utilization;  /* percent */
        uint64_t gpu_instance; /* or UNKNOWN: of the whole GPU */
        uint64_t compute_instance;
};

struct sg_gpu_near {
        uint8_t distance; /* enum sg_gpu_distance; 0 = to itself */
        uint8_t links;    /* of LINKED: how many */
};

struct sg_gpu {
        char uuid[SG_GPU_TEXT_MAX]; /* its identity: all else may change with a reboot */
        char name[SG_GPU_TEXT_MAX];
        char vendor[16]; /* "nvidia" */
        char bus_id[32]; /* 0000:3b:00.0: four digits of the domain if that is enough, small letters
                          */
        uint64_t index;  /* as the driver counts now */
        uint64_t minor;  /* of its own node */
        uint64_t numa_node;
        bool lost;       /* the driver doesn't reach it */
        bool mig;        /* it is given out by instances, or not at all */
        bool exclusive;  /* one process at a time may use it */
        bool prohibited; /* the driver lets nobody compute on it */

        uint64_t memory_total, memory_used; /* used: by whomever, without the driver's reserve */
        uint64_t memory_reserved;           /* by the driver for itself */
        uint64_t utilization;               /* percent; of the last sample period */
        uint64_t temperature;               /* degrees Celsius */
        uint64_t power_mw, power_limit_mw, power_default_mw, power_min_mw, power_max_mw;
        uint64_t energy_mj; /* since the driver was loaded */
        bool throttled_power, throttled_thermal;

        struct sg_gpu_near near[SG_GPUS_MAX]; /* by the other's place in the inventory */
        size_t n_instances;
        struct sg_gpu_instance instances[SG_GPU_INSTANCES_MAX];
        bool processes_known;
        size_t n_processes; /* sorted by pid, each (pid, instance) once */
        struct sg_gpu_process processes[SG_GPU_PROCESSES_MAX];
};

enum sg_gpu_event_type {
        SG_GPU_EVENT_XID, /* the driver's number of an error */
        SG_GPU_EVENT_ECC, /* memory that can't be corrected */
        SG_GPU_EVENT_MIG, /* instances changed */
};

struct sg_gpu_event {
        enum sg_gpu_event_type type;
        char uuid[SG_GPU_TEXT_MAX];
        uint64_t data; /* XID: its number, or UNKNOWN */
};

struct sg_gpu_inventory {
        enum sg_gpu_driver_state state;
        char version[32], message[160]; /* message: what is wrong, one line */
        uint64_t cuda;                  /* 12040 = 12.4 */
        uint64_t looked_usec;           /* monotonic */
        size_t n; /* by bus id, then UUID: the same on each look, whatever the driver's order */
        struct sg_gpu *gpus;
        size_t n_events;
        uint64_t n_events_lost;
        struct sg_gpu_event events[SG_GPU_EVENTS_MAX];
};
