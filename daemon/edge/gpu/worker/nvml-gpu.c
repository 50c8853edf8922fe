/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What NVIDIA's driver says of one GPU, and of how near two are. */

#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "edge/gpu/worker/nvml.h"
#include <fcntl.h>
#include <limits.h>
#include <string.h>

void sg_nvml_bus_id(char ret[32], const struct sg_nv_pci *pci)
{
        ret[0] = '\0';
        if (pci->bus <= 0xff && pci->device <= 0x1f)
                (void)snprintf(ret, 32, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device);
}

/* Text in a buffer that was zeroed, and may be full. */
static void take_text(char *to, size_t room, const char *from, size_t size)
{
        (void)snprintf(to, room, "%.*s", (int)strnlen(from, size), from);
}

/* The node whose CPUs it is at. (NVML's own is for GPUs that are a node themselves.) */
static uint64_t numa_node(const char *bus_id)
{
        char path[PATH_MAX], line[32];
        uint64_t node;

        (void)snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", bus_id);
        if (!*bus_id || sg_read_line_file(AT_FDCWD, path, line, sizeof(line)) < 0 ||
            sg_parse_u64(line, &node) < 0)
                return SG_GPU_UNKNOWN;
        return node;
}

void sg_nvml_read_fixed(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu)
{
        const struct sg_nvml_library *l = &d->library;
        struct sg_gpu *g = &gpu->fixed;
        char name[SG_NV_TEXT] = "";
        struct sg_nv_pci pci = {0};
        unsigned a, b;

        (void)strcpy(g->vendor, "nvidia");
        if (SG_NV_CALL(l, name, gpu->device, name, sizeof(name)) == SG_NV_SUCCESS)
                take_text(g->name, sizeof(g->name), name, sizeof(name));
        if (SG_NV_CALL(l, pci, gpu->device, &pci) == SG_NV_SUCCESS)
                sg_nvml_bus_id(g->bus_id, &pci);
        if (SG_NV_CALL(l, minor_number, gpu->device, &a) == SG_NV_SUCCESS)
                g->minor = a;
        g->numa_node = numa_node(g->bus_id);
        if (g->numa_node == SG_GPU_UNKNOWN &&
            SG_NV_CALL(l, numa_node, gpu->device, &a) == SG_NV_SUCCESS)
                g->numa_node = a;
        if (SG_NV_CALL(l, power_default, gpu->device, &a) == SG_NV_SUCCESS)
                g->power_default_mw = a;
        if (SG_NV_CALL(l, power_range, gpu->device, &a, &b) == SG_NV_SUCCESS) {
                g->power_min_mw = a;
                g->power_max_mw = b;
        }
        sg_nvml_make_nodes(d->root, g->minor);
}

/* --- */

/* Whether an answer is one; and remembers if it was that the GPU is lost. */
static bool got(sg_nv_code code, struct sg_gpu *g)
{
        if (code == SG_NV_GPU_IS_LOST || code == SG_NV_GPU_NOT_FOUND)
                g->lost = true;
        return code == SG_NV_SUCCESS;
}

/* The older call counts the driver's own memory as used, and doesn't say how much that is. */
static void read_memory(const struct sg_nvml_library *l, sg_nv_device device, struct sg_gpu *g)
{
        struct sg_nv_memory_v2 new = {.version = SG_NV_STRUCT(new, 2)};
        struct sg_nv_memory old = {0};

        if (got(SG_NV_CALL(l, memory_v2, device, &new), g)) {
                g->memory_total = new.total;
                g->memory_used = new.used;
                g->memory_reserved = new.reserved;
        } else if (got(SG_NV_CALL(l, memory, device, &old), g)) {
                g->memory_total = old.total;
                g->memory_used = old.used;
        }
}

static void read_power(const struct sg_nvml_library *l, sg_nv_device device, struct sg_gpu *g)
{
        unsigned long long wide;
        unsigned v;

        if (got(SG_NV_CALL(l, power, device, &v), g))
                g->power_mw = v;
        if (got(SG_NV_CALL(l, power_limit, device, &v), g))
                g->power_limit_mw = v;
        if (got(SG_NV_CALL(l, energy, device, &wide), g))
                g->energy_mj = wide;
        if (got(SG_NV_CALL(l, temperature, device, SG_NV_SENSOR_GPU, &v), g))
                g->temperature = v;
        if (!got(SG_NV_CALL(l, slow_reasons, device, &wide), g))
                return;
        g->throttled_power = wide & (SG_NV_SLOW_POWER_CAP | SG_NV_SLOW_POWER_BRAKE);
        g->throttled_thermal =
                wide & (SG_NV_SLOW_HARDWARE | SG_NV_SLOW_THERMAL | SG_NV_SLOW_THERMAL_HARDWARE);
}

bool sg_nvml_read_figures(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *ret)
{
        const struct sg_nvml_library *l = &d->library;
        struct sg_nv_utilization percent;
        unsigned v, pending;

        read_memory(l, gpu->device, ret);
        if (ret->lost) /* the other calls needn't be tried: each takes its time to fail */
                return false;
        if (got(SG_NV_CALL(l, compute_mode, gpu->device, &v), ret)) {
                ret->prohibited = v == SG_NV_MODE_PROHIBITED;
                ret->exclusive = v == SG_NV_MODE_EXCLUSIVE_PROCESS;
        }
        ret->mig = got(SG_NV_CALL(l, mig_mode, gpu->device, &v, &pending), ret) && v == SG_NV_ON;
        /* Some drivers answer for a GPU with instances, too, but not with a percentage. */
        if (!ret->mig && got(SG_NV_CALL(l, utilization, gpu->device, &percent), ret))
                ret->utilization = percent.gpu;
        read_power(l, gpu->device, ret);
        return !ret->lost;
}

/* --- */

/* "1g.10gb": as the name says, or from the instance's part of the memory, which counts in eighths.
 */
static void read_profile(const struct sg_nvml_library *l, sg_nv_device mig, uint64_t gpu_total,
                         const struct sg_nv_attributes *a, char *ret, size_t room)
{
        char name[SG_NV_TEXT + 1] = "";
        const char *in_name;
        uint64_t total = gpu_total >> 20, eighths, gb;

        ret[0] = '\0';
        if (SG_NV_CALL(l, name, mig, name, SG_NV_TEXT) == SG_NV_SUCCESS) {
                in_name = strstr(name, " MIG ");
                if (in_name) {
                        take_text(ret, room, in_name + 5, strlen(in_name + 5));
                        return;
                }
        }
        if (!a || gpu_total == SG_GPU_UNKNOWN || total == 0 || a->memory_mib > total)
                return;
        eighths = (a->memory_mib * 8 + total - 1) / total;
        gb = ((total + 1023) / 1024 * eighths + 4) / 8;
        if (a->compute_slices != a->gpu_slices)
                (void)snprintf(ret, room, "%uc.%ug.%ugb", a->compute_slices, a->gpu_slices,
                               (unsigned)gb);
        else
                (void)snprintf(ret, room, "%ug.%ugb", a->gpu_slices, (unsigned)gb);
}

static bool read_instance(struct sg_gpu_driver *d, sg_nv_device mig, uint64_t gpu_total,
                          struct sg_gpu_instance *ret)
{
        const struct sg_nvml_library *l = &d->library;
        struct sg_nv_attributes a = {0};
        char uuid[SG_NV_TEXT] = "";
        bool known;

        if (l->uuid(mig, uuid, sizeof(uuid)) != SG_NV_SUCCESS ||
            SG_NV_CALL(l, gpu_instance, mig, &ret->gpu_instance) != SG_NV_SUCCESS ||
            SG_NV_CALL(l, compute_instance, mig, &ret->compute_instance) != SG_NV_SUCCESS)
                return false;
        take_text(ret->uuid, sizeof(ret->uuid), uuid, sizeof(uuid));
        known = SG_NV_CALL(l, attributes, mig, &a) == SG_NV_SUCCESS;
        ret->memory_total = known && a.memory_mib <= SG_GPU_BYTES_MAX >> 20 ? a.memory_mib << 20
                                                                            : SG_GPU_UNKNOWN;
        read_profile(l, mig, gpu_total, known ? &a : NULL, ret->profile, sizeof(ret->profile));
        return true;
}

void sg_nvml_read_instances(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *ret)
{
        const struct sg_nvml_library *l = &d->library;
        unsigned max = 0;
        sg_nv_device mig;

        if (!ret->mig || SG_NV_CALL(l, mig_max, gpu->device, &max) != SG_NV_SUCCESS)
                return;
        for (unsigned i = 0; i < max && ret->n_instances < SG_GPU_INSTANCES_MAX; i++)
                if (SG_NV_CALL(l, mig_by_index, gpu->device, i, &mig) == SG_NV_SUCCESS &&
                    read_instance(d, mig, ret->memory_total, &ret->instances[ret->n_instances]))
                        ret->n_instances++;
}

/* --- */

/* How many NVLinks of a work, and how many of these end at b, by the bus id there. */
static uint8_t count_links(const struct sg_nvml_library *l, const struct sg_nvml_gpu *a,
                           const struct sg_nvml_gpu *b, uint8_t *ret_direct)
{
        uint8_t n = 0;

        for (unsigned link = 0; link < SG_NV_LINKS; link++) {
                struct sg_nv_pci pci = {0};
                char bus_id[32];
                unsigned active = SG_NV_OFF;

                if (SG_NV_CALL(l, link_state, a->device, link, &active) != SG_NV_SUCCESS)
                        break;
                if (active != SG_NV_ON)
                        continue;
                n++;
                if (SG_NV_CALL(l, link_remote, a->device, link, &pci) != SG_NV_SUCCESS)
                        continue;
                sg_nvml_bus_id(bus_id, &pci);
                if (*bus_id && strcmp(bus_id, b->fixed.bus_id) == 0)
                        ++*ret_direct;
        }
        return n;
}

/* By a switch for NVLink each reaches each with all that it has, though no link ends at the other.
 */
static bool are_linked(const struct sg_nvml_library *l, const struct sg_nvml_gpu *a,
                       const struct sg_nvml_gpu *b, uint8_t *ret_links)
{
        uint8_t direct = 0, all = count_links(l, a, b, &direct);
        unsigned status;

        if (all == 0)
                return false;
        *ret_links = direct > 0 ? direct : all;
        return direct > 0 || (SG_NV_CALL(l, p2p, a->device, b->device, SG_NV_P2P_BY_NVLINK,
                                         &status) == SG_NV_SUCCESS &&
                              status == SG_NV_P2P_OK);
}

static struct sg_gpu_near near(const struct sg_nvml_library *l, const struct sg_nvml_gpu *a,
                               const struct sg_nvml_gpu *b)
{
        struct sg_gpu_near ret = {.distance = SG_GPU_SYSTEM};
        uint8_t links;
        unsigned level;

        if (!a->present || !b->present)
                return ret;
        if (are_linked(l, a, b, &links))
                return (struct sg_gpu_near){SG_GPU_LINKED, links};
        if (SG_NV_CALL(l, common, a->device, b->device, &level) != SG_NV_SUCCESS)
                return ret;
        switch (level) {
        case SG_NV_COMMON_BOARD: /* two GPUs of one board have its switch in common */
        case SG_NV_COMMON_SWITCH:
                ret.distance = SG_GPU_SWITCH;
                break;
        case SG_NV_COMMON_SWITCHES:
                ret.distance = SG_GPU_SWITCHES;
                break;
        case SG_NV_COMMON_HOST:
                ret.distance = SG_GPU_HOST;
                break;
        case SG_NV_COMMON_NODE:
                ret.distance = SG_GPU_NODE;
                break;
        default:
                break;
        }
        return ret;
}

void sg_nvml_read_near(struct sg_gpu_driver *d)
{
        for (size_t a = 0; a < d->n; a++) {
                d->near[a][a] = (struct sg_gpu_near){0};
                for (size_t b = a + 1; b < d->n; b++)
                        d->near[a][b] = d->near[b][a] = near(&d->library, &d->gpus[a], &d->gpus[b]);
        }
}
