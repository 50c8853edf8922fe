/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake.h"
#include <stdio.h>
#include <string.h>

#define SWITCH_BUS 0xc0U /* of NVLinks */

extern struct sg_nv_device fake_devices[GPUS];
struct sg_nv_device fake_devices[GPUS];
static struct sg_nv_device instances[GPUS][INSTANCES];

/* As the real one if it fits; what doesn't has no end. */
static sg_nv_code put_text(char *to, unsigned room, const char *from)
{
        size_t n = strlen(from) + 1;

        memcpy(to, from, n < room ? n : room);
        return SG_NV_SUCCESS;
}

static sg_nv_code put(unsigned *to, uint64_t v)
{
        if (v == NONE)
                return SG_NV_NOT_SUPPORTED;
        *to = (unsigned)v;
        return SG_NV_SUCCESS;
}

static sg_nv_code put_watts(unsigned *to, uint64_t watts)
{
        return put(to, watts == NONE ? NONE : watts * 1000);
}

/* --- the driver */

static sg_nv_code initialise(const char *function)
{
        sg_nv_code code = fake_enter(function, NULL);

        if (code != SG_NV_SUCCESS)
                return code;
        (void)fake_initialise(true);
        fake_log("%s\n", function);
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlInitWithFlags(unsigned flags)
{
        (void)flags;
        return initialise(__func__);
}

sg_nv_code nvmlInit_v2(void)
{
        return initialise(__func__);
}

sg_nv_code nvmlInit(void)
{
        return initialise(__func__);
}

sg_nv_code nvmlShutdown(void)
{
        ENTER(NULL);
        (void)fake_initialise(false);
        fake_log("%s\n", __func__);
        return SG_NV_SUCCESS;
}

const char *nvmlErrorString(sg_nv_code code)
{
        switch (code) {
        case SG_NV_DRIVER_NOT_LOADED:
                return "Driver Not Loaded";
        case SG_NV_MISMATCH:
                return "Driver/library version mismatch";
        case SG_NV_GPU_IS_LOST:
                return "GPU is lost";
        default:
                return "Unknown Error";
        }
}

sg_nv_code nvmlSystemGetDriverVersion(char *text, unsigned room)
{
        ENTER(NULL);
        return put_text(text, room, script.version);
}

sg_nv_code nvmlSystemGetCudaDriverVersion_v2(int *version)
{
        ENTER(NULL);
        return put((unsigned *)version, script.cuda);
}

sg_nv_code nvmlSystemGetCudaDriverVersion(int *version)
{
        return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* --- GPUs */

sg_nv_code nvmlDeviceGetCount_v2(unsigned *count)
{
        ENTER(NULL);
        *count = script.n;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetCount(unsigned *count)
{
        return nvmlDeviceGetCount_v2(count);
}

sg_nv_code nvmlDeviceGetHandleByIndex_v2(unsigned index, sg_nv_device *device)
{
        ENTER(NULL);
        if (index >= script.n || !script.gpus[index].there)
                return SG_NV_INVALID_ARGUMENT;
        if (script.gpus[index].lost)
                return SG_NV_GPU_IS_LOST;
        fake_devices[index] = (struct sg_nv_device){.gpu = index};
        *device = &fake_devices[index];
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetHandleByIndex(unsigned index, sg_nv_device *device)
{
        return nvmlDeviceGetHandleByIndex_v2(index, device);
}

sg_nv_code nvmlDeviceGetUUID(sg_nv_device device, char *text, unsigned room)
{
        char mig[700];

        ENTER(device);
        if (device->instance == 0)
                return put_text(text, room, gpu_of(device)->uuid);
        (void)snprintf(mig, sizeof(mig), "MIG-%s/%u/0", gpu_of(device)->uuid, device->instance + 6);
        return put_text(text, room, mig);
}

sg_nv_code nvmlDeviceGetName(sg_nv_device device, char *text, unsigned room)
{
        const struct gpu *g;
        char mig[700];

        ENTER(device);
        g = gpu_of(device);
        if (device->instance == 0)
                return put_text(text, room, g->name);
        if (g->no_mig_names)
                return SG_NV_NOT_SUPPORTED;
        (void)snprintf(mig, sizeof(mig), "%s MIG %s", g->name, g->profiles[device->instance - 1]);
        return put_text(text, room, mig);
}

sg_nv_code nvmlDeviceGetMinorNumber(sg_nv_device device, unsigned *minor)
{
        ENTER(device);
        return put(minor, gpu_of(device)->minor);
}

static sg_nv_code put_bus(struct sg_nv_pci *pci, const char *bus)
{
        memset(pci, 0, sizeof(*pci));
        if (sscanf(bus, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) != 3)
                return SG_NV_UNKNOWN_ERROR;
        (void)snprintf(pci->legacy, sizeof(pci->legacy), "%04X:%02X:%02X.0", pci->domain & 0xffff,
                       pci->bus & 0xff, pci->device & 0xff);
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetPciInfo_v3(sg_nv_device device, struct sg_nv_pci *pci)
{
        sg_nv_code code;

        ENTER(device);
        code = put_bus(pci, gpu_of(device)->bus);
        (void)snprintf(pci->bus_id, sizeof(pci->bus_id), "%08X:%02X:%02X.0", pci->domain, pci->bus,
                       pci->device);
        return code;
}

sg_nv_code nvmlDeviceGetPciInfo_v2(sg_nv_device device, struct sg_nv_pci *pci)
{
        ENTER(device);
        return put_bus(pci, gpu_of(device)->bus);
}

sg_nv_code nvmlDeviceGetNumaNodeId(sg_nv_device device, unsigned *node)
{
        ENTER(device);
        return put(node, gpu_of(device)->numa);
}

sg_nv_code nvmlDeviceGetComputeMode(sg_nv_device device, unsigned *mode)
{
        ENTER(device);
        *mode = gpu_of(device)->mode;
        return SG_NV_SUCCESS;
}

/* --- what they do */

static uint64_t used(const struct gpu *g)
{
        uint64_t sum = 0;

        if (g->used != NONE)
                return g->used;
        for (size_t i = 0; i < g->n_processes; i++)
                if (g->processes[i].memory != NONE)
                        sum += g->processes[i].memory;
        return sum;
}

sg_nv_code nvmlDeviceGetMemoryInfo_v2(sg_nv_device device, struct sg_nv_memory_v2 *memory)
{
        const struct gpu *g;

        ENTER(device);
        g = gpu_of(device);
        if (memory->version != SG_NV_STRUCT(*memory, 2))
                return SG_NV_ARGUMENT_VERSION;
        if (g->memory == NONE)
                return SG_NV_NOT_SUPPORTED;
        memory->total = g->memory;
        memory->reserved = g->reserved;
        memory->used = used(g);
        memory->free = memory->total - memory->reserved - memory->used;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetMemoryInfo(sg_nv_device device, struct sg_nv_memory *memory)
{
        const struct gpu *g;

        ENTER(device);
        g = gpu_of(device);
        if (g->memory == NONE)
                return SG_NV_NOT_SUPPORTED;
        memory->total = g->memory;
        memory->used = used(g) + g->reserved;
        memory->free = memory->total - memory->used;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetUtilizationRates(sg_nv_device device, struct sg_nv_utilization *percent)
{
        ENTER(device);
        percent->memory = 0;
        return put(&percent->gpu, gpu_of(device)->utilization);
}

sg_nv_code nvmlDeviceGetTemperature(sg_nv_device device, unsigned sensor, unsigned *degrees)
{
        ENTER(device);
        return sensor == SG_NV_SENSOR_GPU ? put(degrees, gpu_of(device)->temperature)
                                          : (sg_nv_code)SG_NV_INVALID_ARGUMENT;
}

sg_nv_code nvmlDeviceGetPowerUsage(sg_nv_device device, unsigned *mw)
{
        ENTER(device);
        return put_watts(mw, gpu_of(device)->watts[0]);
}

sg_nv_code nvmlDeviceGetEnforcedPowerLimit(sg_nv_device device, unsigned *mw)
{
        ENTER(device);
        return put_watts(mw, gpu_of(device)->watts[1]);
}

sg_nv_code nvmlDeviceGetPowerManagementLimit(sg_nv_device device, unsigned *mw)
{
        ENTER(device);
        return put_watts(mw, gpu_of(device)->watts[1]);
}

sg_nv_code nvmlDeviceGetPowerManagementDefaultLimit(sg_nv_device device, unsigned *mw)
{
        ENTER(device);
        return put_watts(mw, gpu_of(device)->watts[3]);
}

sg_nv_code nvmlDeviceGetPowerManagementLimitConstraints(sg_nv_device device, unsigned *min_mw,
                                                        unsigned *max_mw)
{
        ENTER(device);
        (void)put_watts(min_mw, gpu_of(device)->watts[2]);
        return put_watts(max_mw, gpu_of(device)->watts[4]);
}

sg_nv_code nvmlDeviceSetPowerManagementLimit(sg_nv_device device, unsigned mw)
{
        struct gpu *g;

        ENTER(device);
        g = gpu_of(device);
        if (g->watts[1] == NONE)
                return SG_NV_NOT_SUPPORTED;
        if (mw < g->watts[2] * 1000 || mw > g->watts[4] * 1000)
                return SG_NV_INVALID_ARGUMENT;
        g->watts[1] = mw / 1000;
        fake_log("%s %s %u\n", __func__, g->uuid, mw);
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetTotalEnergyConsumption(sg_nv_device device, unsigned long long *mj)
{
        ENTER(device);
        if (gpu_of(device)->energy == NONE)
                return SG_NV_NOT_SUPPORTED;
        *mj = gpu_of(device)->energy;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetCurrentClocksEventReasons(sg_nv_device device, unsigned long long *reasons)
{
        ENTER(device);
        *reasons = gpu_of(device)->slow;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetCurrentClocksThrottleReasons(sg_nv_device device,
                                                     unsigned long long *reasons)
{
        ENTER(device);
        *reasons = gpu_of(device)->slow;
        return SG_NV_SUCCESS;
}

/* --- how near they are */

static unsigned links_between(unsigned a, unsigned b)
{
        uint8_t there = script.gpus[a].links[b], back = script.gpus[b].links[a];

        return there > back ? there : back;
}

sg_nv_code nvmlDeviceGetTopologyCommonAncestor(sg_nv_device a, sg_nv_device b, unsigned *level)
{
        ENTER(a);
        ENTER(b);
        *level = gpu_of(a)->level[b->gpu] ?: gpu_of(b)->level[a->gpu] ?: SG_NV_COMMON_SYSTEM;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetP2PStatus(sg_nv_device a, sg_nv_device b, unsigned way, unsigned *status)
{
        ENTER(a);
        ENTER(b);
        *status =
                way == SG_NV_P2P_BY_NVLINK && links_between(a->gpu, b->gpu) > 0 ? SG_NV_P2P_OK : 5U;
        return SG_NV_SUCCESS;
}

/* The GPU at the end of a link; GPUS: a switch. false: there is no such link. */
static bool link_end(unsigned gpu, unsigned link, unsigned *ret)
{
        for (unsigned other = 0; other < script.n; other++) {
                unsigned n = links_between(gpu, other);

                if (link < n) {
                        *ret = script.gpus[gpu].by_switch ? GPUS : other;
                        return true;
                }
                if (script.gpus[gpu].by_switch && n > 0)
                        return false;
                link -= n;
        }
        return false;
}

sg_nv_code nvmlDeviceGetNvLinkState(sg_nv_device device, unsigned link, unsigned *active)
{
        unsigned end;

        ENTER(device);
        if (link >= 18)
                return SG_NV_INVALID_ARGUMENT;
        *active = link_end(device->gpu, link, &end) ? SG_NV_ON : SG_NV_OFF;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetNvLinkRemotePciInfo_v2(sg_nv_device device, unsigned link,
                                               struct sg_nv_pci *pci)
{
        unsigned end;

        ENTER(device);
        if (!link_end(device->gpu, link, &end))
                return SG_NV_NOT_SUPPORTED;
        if (end < GPUS)
                return put_bus(pci, script.gpus[end].bus);
        *pci = (struct sg_nv_pci){.bus = SWITCH_BUS};
        return SG_NV_SUCCESS;
}

/* --- their instances */

sg_nv_code nvmlDeviceGetMigMode(sg_nv_device device, unsigned *current, unsigned *pending)
{
        ENTER(device);
        *current = *pending = gpu_of(device)->n_instances > 0 ? SG_NV_ON : SG_NV_OFF;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetMaxMigDeviceCount(sg_nv_device device, unsigned *count)
{
        ENTER(device);
        *count = INSTANCES;
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetMigDeviceHandleByIndex(sg_nv_device device, unsigned index,
                                               sg_nv_device *mig)
{
        ENTER(device);
        if (index >= gpu_of(device)->n_instances)
                return SG_NV_NOT_FOUND;
        instances[device->gpu][index] =
                (struct sg_nv_device){.gpu = device->gpu, .instance = index + 1};
        *mig = &instances[device->gpu][index];
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetDeviceHandleFromMigDeviceHandle(sg_nv_device mig, sg_nv_device *device)
{
        ENTER(mig);
        if (mig->instance == 0)
                return SG_NV_INVALID_ARGUMENT;
        *device = &fake_devices[mig->gpu];
        return SG_NV_SUCCESS;
}

sg_nv_code nvmlDeviceGetGpuInstanceId(sg_nv_device mig, unsigned *id)
{
        ENTER(mig);
        *id = mig->instance + 6;
        return mig->instance > 0 ? SG_NV_SUCCESS : SG_NV_INVALID_ARGUMENT;
}

sg_nv_code nvmlDeviceGetComputeInstanceId(sg_nv_device mig, unsigned *id)
{
        ENTER(mig);
        *id = 0;
        return mig->instance > 0 ? SG_NV_SUCCESS : SG_NV_INVALID_ARGUMENT;
}

sg_nv_code nvmlDeviceGetAttributes_v2(sg_nv_device mig, struct sg_nv_attributes *attributes)
{
        unsigned slices = 0, gb = 0;

        ENTER(mig);
        if (mig->instance == 0 ||
            sscanf(gpu_of(mig)->profiles[mig->instance - 1], "%ug.%ugb", &slices, &gb) != 2)
                return SG_NV_NOT_SUPPORTED;
        *attributes = (struct sg_nv_attributes){
                .gpu_slices = slices,
                .compute_slices = slices,
                .memory_mib = gb * 1024ULL - 512,
        };
        return SG_NV_SUCCESS;
}
