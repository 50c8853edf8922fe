/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who is on a GPU. An entry of a process list is 16, 24 or 32 bytes, and which it is can't be known
 * from the function's name, nor surely from the driver's version: _v3 wrote 24, then 32 from 535.43
 * to 535.86, and 24 again; 16 has been seen of a vendor's build. Taken for another size than it is,
 * a list has wrong pids and memory from its second entry on. So the buffer is filled with a mark,
 * and how far it was written says how large the entries are; if that is nothing of the kind, the
 * list is unknown.
 */
#include "base/cleanup.h"
#include "edge/gpu/worker/nvml.h"
#include <string.h>

#define MARK 0xa5
#define STRIDE_MAX 32U
#define ENTRIES 64U        /* room at first, */
#define ENTRIES_MAX 16384U /* and at most: 512 KiB */
#define ROUNDS 4           /* a list that grows each time isn't followed for ever */
#define SAMPLES 256U

_Static_assert(sizeof(struct sg_nv_process_32) == STRIDE_MAX, "the largest entry");

size_t sg_nvml_stride(const unsigned char *buf, size_t count)
{
        size_t end = (count + 1) * STRIDE_MAX;

        while (end > 0 && buf[end - 1] == MARK)
                end--;
        /* The last number of an entry has 8 bytes, or 4 that padding may be behind; its upper ones
         * are no mark. */
        for (size_t stride = 16; count > 0 && stride <= STRIDE_MAX; stride += 8)
                if (end > count * stride - 8 && end <= count * stride)
                        return stride;
        return 0;
}

static struct sg_gpu_process *add(struct sg_gpu *g, uint64_t pid, uint64_t memory)
{
        struct sg_gpu_process *p;

        if (g->n_processes >= SG_GPU_PROCESSES_MAX)
                return NULL;
        p = &g->processes[g->n_processes++];
        *p = (struct sg_gpu_process){
                .pid = pid,
                .memory = memory == SG_NV_NO_VALUE ? SG_GPU_UNKNOWN : memory,
                .utilization = SG_GPU_UNKNOWN,
                .gpu_instance = SG_GPU_UNKNOWN,
                .compute_instance = SG_GPU_UNKNOWN,
        };
        return p;
}

static uint64_t instance(unsigned id)
{
        return id == SG_NV_NO_INSTANCE ? SG_GPU_UNKNOWN : id;
}

static void add_entries(struct sg_gpu *g, const unsigned char *buf, size_t count, size_t stride)
{
        for (size_t i = 0; i < count; i++) {
                struct sg_nv_process_24 e = {.gpu_instance = SG_NV_NO_INSTANCE,
                                             .compute_instance = SG_NV_NO_INSTANCE};
                struct sg_gpu_process *p;

                /* (the three begin alike) */
                memcpy(&e, buf + i * stride, stride < sizeof(e) ? stride : sizeof(e));
                p = add(g, e.pid, e.memory);
                if (p) {
                        p->gpu_instance = instance(e.gpu_instance);
                        p->compute_instance = instance(e.compute_instance);
                }
        }
}

/* --- */

/* The ways to ask for a list, the newest first: all of them are tried until one is known. */
static sg_nv_code ask(const struct sg_nvml_library *l, sg_nv_device device, unsigned list,
                      unsigned way, unsigned *count, unsigned char *buf)
{
        struct sg_nv_process_list entries = {
                .version = SG_NV_STRUCT(entries, 1),
                .list = list,
                .count = *count,
                .processes = (void *)buf,
        };
        sg_nv_code code;

        if (way > 0)
                return l->lists[list][way - 1] ? l->lists[list][way - 1](device, count, buf)
                                               : (sg_nv_code)SG_NV_FUNCTION_NOT_FOUND;
        code = SG_NV_CALL(l, processes, device, &entries);
        *count = entries.count;
        return code;
}

static bool is_unknown_way(sg_nv_code code)
{
        return code == SG_NV_FUNCTION_NOT_FOUND || code == SG_NV_NOT_SUPPORTED ||
               code == SG_NV_ARGUMENT_VERSION;
}

/* One list by one way, with so much room as it needs: SUCCESS, and *ret is to be freed. */
static sg_nv_code fetch(const struct sg_nvml_library *l, sg_nv_device device, unsigned list,
                        unsigned way, unsigned char **ret, unsigned *ret_count)
{
        unsigned room = ENTRIES, count;
        sg_nv_code code = SG_NV_INSUFFICIENT_SIZE;

        for (int i = 0; i < ROUNDS && room <= ENTRIES_MAX; i++) {
                size_t size = (size_t)(room + 1) * STRIDE_MAX;
                _cleanup_free_ unsigned char *buf = malloc(size);

                if (!buf)
                        return SG_NV_UNKNOWN_ERROR;
                memset(buf, MARK, size);
                count = room;
                code = ask(l, device, list, way, &count, buf);
                if (code == SG_NV_SUCCESS && count <= room) {
                        *ret = TAKE_PTR(buf);
                        *ret_count = count;
                        return code;
                }
                if (code != SG_NV_INSUFFICIENT_SIZE)
                        return code == SG_NV_SUCCESS ? SG_NV_UNKNOWN_ERROR : code;
                room = count > room ? count + ENTRIES : 2 * room;
        }
        return SG_NV_UNKNOWN_ERROR;
}

enum known { NOT_KNOWN, KNOWN, NO_SUCH_LIST };

static enum known read_list(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, unsigned list,
                            struct sg_gpu *g)
{
        _cleanup_free_ unsigned char *buf = NULL;
        unsigned count = 0, *way = &gpu->list_from[list];
        sg_nv_code code = SG_NV_FUNCTION_NOT_FOUND;
        size_t stride;

        for (; *way <= SG_NV_LIST_VERSIONS; (*way)++) {
                code = fetch(&d->library, gpu->device, list, *way, &buf, &count);
                if (!is_unknown_way(code))
                        break;
        }
        if (code != SG_NV_SUCCESS)
                return is_unknown_way(code) ? NO_SUCH_LIST : NOT_KNOWN;
        stride = count > 0 ? sg_nvml_stride(buf, count) : 0;
        if (count > 0 && stride == 0)
                return NOT_KNOWN;
        add_entries(g, buf, count, stride);
        return KNOWN;
}

/* A sample of each who wasn't idle since the last time. */
static void read_utilization(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *g)
{
        struct sg_nv_sample samples[SAMPLES];
        unsigned long long until = gpu->samples_until_usec;
        unsigned n = SAMPLES;

        if (g->n_processes == 0 || SG_NV_CALL(&d->library, process_utilization, gpu->device,
                                              samples, &n, until) != SG_NV_SUCCESS)
                return;
        for (unsigned i = 0; i < n && i < SAMPLES; i++) {
                if (samples[i].usec > gpu->samples_until_usec)
                        gpu->samples_until_usec = samples[i].usec;
                for (size_t k = 0; k < g->n_processes; k++)
                        if (g->processes[k].pid == samples[i].pid)
                                g->processes[k].utilization = samples[i].gpu;
        }
}

void sg_nvml_read_processes(struct sg_gpu_driver *d, struct sg_nvml_gpu *gpu, struct sg_gpu *ret)
{
        enum known known = read_list(d, gpu, SG_NV_LIST_COMPUTE, ret);

        /* A board that has no graphics or no MPS, or a library of before them, has nobody there. */
        ret->processes_known = known == KNOWN;
        for (unsigned list = SG_NV_LIST_GRAPHICS; list < SG_NV_LISTS; list++)
                if (read_list(d, gpu, list, ret) == NOT_KNOWN)
                        ret->processes_known = false;
        if (!ret->processes_known)
                ret->n_processes = 0;
        read_utilization(d, gpu, ret);
}
