/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The functions of NVIDIA's management library that we call. Needed are init, shut_down, count,
 * by_index and uuid; without any other of them its figures are unknown, and nothing else.
 */

#include "edge/gpu/worker/nvml-types.h"

/* The array of a process list: entries are 16, 24 or 32 bytes, whatever the name. */
typedef sg_nv_code sg_nv_list_processes(sg_nv_device device, unsigned *count, void *processes);

/*
 * FN(what we call it, symbol, parameters): all return a code. OLD is an older symbol of the same
 * type, which is taken where the library doesn't have those before it.
 */
#define SG_NV_FUNCTIONS(FN, OLD)                                                                   \
        FN(init_with_flags, nvmlInitWithFlags, (unsigned flags))                                   \
        FN(init, nvmlInit_v2, (void))                                                              \
        OLD(init, nvmlInit, (void))                                                                \
        FN(shut_down, nvmlShutdown, (void))                                                        \
        FN(driver_version, nvmlSystemGetDriverVersion, (char *text, unsigned room))                \
        FN(cuda_version, nvmlSystemGetCudaDriverVersion_v2, (int *version))                        \
        OLD(cuda_version, nvmlSystemGetCudaDriverVersion, (int *version))                          \
        FN(count, nvmlDeviceGetCount_v2, (unsigned *count))                                        \
        OLD(count, nvmlDeviceGetCount, (unsigned *count))                                          \
        FN(by_index, nvmlDeviceGetHandleByIndex_v2, (unsigned index, sg_nv_device *device))        \
        OLD(by_index, nvmlDeviceGetHandleByIndex, (unsigned index, sg_nv_device *device))          \
        FN(uuid, nvmlDeviceGetUUID, (sg_nv_device device, char *text, unsigned room))              \
        FN(name, nvmlDeviceGetName, (sg_nv_device device, char *text, unsigned room))              \
        FN(minor_number, nvmlDeviceGetMinorNumber, (sg_nv_device device, unsigned *minor))         \
        FN(pci, nvmlDeviceGetPciInfo_v3, (sg_nv_device device, struct sg_nv_pci * pci))            \
        OLD(pci, nvmlDeviceGetPciInfo_v2, (sg_nv_device device, struct sg_nv_pci * pci))           \
        FN(numa_node, nvmlDeviceGetNumaNodeId, (sg_nv_device device, unsigned *node))              \
        FN(compute_mode, nvmlDeviceGetComputeMode, (sg_nv_device device, unsigned *mode))          \
        FN(memory_v2, nvmlDeviceGetMemoryInfo_v2,                                                  \
           (sg_nv_device device, struct sg_nv_memory_v2 * memory))                                 \
        FN(memory, nvmlDeviceGetMemoryInfo, (sg_nv_device device, struct sg_nv_memory * memory))   \
        FN(utilization, nvmlDeviceGetUtilizationRates,                                             \
           (sg_nv_device device, struct sg_nv_utilization * percent))                              \
        FN(process_utilization, nvmlDeviceGetProcessUtilization,                                   \
           (sg_nv_device device, struct sg_nv_sample * samples, unsigned *count,                   \
            unsigned long long since_usec))                                                        \
        FN(processes, nvmlDeviceGetRunningProcessDetailList,                                       \
           (sg_nv_device device, struct sg_nv_process_list * list))                                \
        FN(temperature, nvmlDeviceGetTemperature,                                                  \
           (sg_nv_device device, unsigned sensor, unsigned *degrees))                              \
        FN(power, nvmlDeviceGetPowerUsage, (sg_nv_device device, unsigned *mw))                    \
        FN(power_limit, nvmlDeviceGetEnforcedPowerLimit, (sg_nv_device device, unsigned *mw))      \
        OLD(power_limit, nvmlDeviceGetPowerManagementLimit, (sg_nv_device device, unsigned *mw))   \
        FN(power_default, nvmlDeviceGetPowerManagementDefaultLimit,                                \
           (sg_nv_device device, unsigned *mw))                                                    \
        FN(power_range, nvmlDeviceGetPowerManagementLimitConstraints,                              \
           (sg_nv_device device, unsigned *min_mw, unsigned *max_mw))                              \
        FN(energy, nvmlDeviceGetTotalEnergyConsumption,                                            \
           (sg_nv_device device, unsigned long long *mj))                                          \
        FN(slow_reasons, nvmlDeviceGetCurrentClocksEventReasons,                                   \
           (sg_nv_device device, unsigned long long *reasons))                                     \
        OLD(slow_reasons, nvmlDeviceGetCurrentClocksThrottleReasons,                               \
            (sg_nv_device device, unsigned long long *reasons))                                    \
        FN(common, nvmlDeviceGetTopologyCommonAncestor,                                            \
           (sg_nv_device a, sg_nv_device b, unsigned *level))                                      \
        FN(p2p, nvmlDeviceGetP2PStatus,                                                            \
           (sg_nv_device a, sg_nv_device b, unsigned way, unsigned *status))                       \
        FN(link_state, nvmlDeviceGetNvLinkState,                                                   \
           (sg_nv_device device, unsigned link, unsigned *active))                                 \
        FN(link_remote, nvmlDeviceGetNvLinkRemotePciInfo_v2,                                       \
           (sg_nv_device device, unsigned link, struct sg_nv_pci *pci))                            \
        FN(mig_mode, nvmlDeviceGetMigMode,                                                         \
           (sg_nv_device device, unsigned *current, unsigned *pending))                            \
        FN(mig_max, nvmlDeviceGetMaxMigDeviceCount, (sg_nv_device device, unsigned *count))        \
        FN(mig_by_index, nvmlDeviceGetMigDeviceHandleByIndex,                                      \
           (sg_nv_device device, unsigned index, sg_nv_device *mig))                               \
        FN(mig_gpu, nvmlDeviceGetDeviceHandleFromMigDeviceHandle,                                  \
           (sg_nv_device mig, sg_nv_device * device))                                              \
        FN(gpu_instance, nvmlDeviceGetGpuInstanceId, (sg_nv_device mig, unsigned *id))             \
        FN(compute_instance, nvmlDeviceGetComputeInstanceId, (sg_nv_device mig, unsigned *id))     \
        FN(attributes, nvmlDeviceGetAttributes_v2,                                                 \
           (sg_nv_device mig, struct sg_nv_attributes * attributes))                               \
        FN(events_create, nvmlEventSetCreate, (sg_nv_events * set))                                \
        FN(events_supported, nvmlDeviceGetSupportedEventTypes,                                     \
           (sg_nv_device device, unsigned long long *types))                                       \
        FN(events_register, nvmlDeviceRegisterEvents,                                              \
           (sg_nv_device device, unsigned long long types, sg_nv_events set))                      \
        FN(events_wait, nvmlEventSetWait_v2,                                                       \
           (sg_nv_events set, struct sg_nv_event * event, unsigned msec))                          \
        OLD(events_wait, nvmlEventSetWait,                                                         \
            (sg_nv_events set, struct sg_nv_event * event, unsigned msec))                         \
        FN(events_free, nvmlEventSetFree, (sg_nv_events set))

/* LIST(symbol without its version, number of the list): each also as _v2 and _v3. */
#define SG_NV_PROCESS_LISTS(LIST)                                                                  \
        LIST(nvmlDeviceGetComputeRunningProcesses, SG_NV_LIST_COMPUTE)                             \
        LIST(nvmlDeviceGetGraphicsRunningProcesses, SG_NV_LIST_GRAPHICS)                           \
        LIST(nvmlDeviceGetMPSComputeRunningProcesses, SG_NV_LIST_MPS)
#define SG_NV_LIST_VERSIONS 3U /* _v3, _v2, and without */
