/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether an inventory is what core/gpu/gpus.h and frames.h say that one is. */

#include "base/utf8.h"
#include "edge/gpu/frames.h"
#include <limits.h>
#include <string.h>

static bool is_known(uint64_t figure)
{
        return figure != SG_GPU_UNKNOWN;
}

static bool is_at_most(uint64_t figure, uint64_t max)
{
        return !is_known(figure) || figure <= max;
}

/* Text for people: one line, as it may be shown. */
static bool is_line(const char *s, size_t room)
{
        size_t n = strnlen(s, room);

        for (size_t size, i = 0; i < n && n < room; i += size) {
                size = sg_utf8_harmless(s + i, n - i);
                if (size == 0)
                        return false;
        }
        return n < room;
}

/* Text that becomes a part of paths, lists and the environment of jobs. */
static bool is_word(const char *s, size_t room)
{
        size_t n = strnlen(s, room);

        return n < room &&
               strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                         "._/:-") == n;
}

static bool is_uuid(const char *s)
{
        return s[0] && is_word(s, SG_GPU_TEXT_MAX);
}

static bool is_profile(const char *s, size_t room)
{
        size_t n = strnlen(s, room);

        return n < room && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.+-") == n;
}

static bool is_bus_id(const char *s, size_t room)
{
        size_t n = strnlen(s, room);

        return n < room && strspn(s, "0123456789abcdef:.") == n;
}

/* --- */

static bool memory_is_sound(const struct sg_gpu *g)
{
        return g->memory_total != 0 && is_at_most(g->memory_total, SG_GPU_BYTES_MAX) &&
               is_at_most(g->memory_used, SG_GPU_BYTES_MAX) &&
               is_at_most(g->memory_used, g->memory_total) &&
               is_at_most(g->memory_reserved, SG_GPU_BYTES_MAX) &&
               is_at_most(g->memory_reserved, g->memory_total);
}

static bool power_is_sound(const struct sg_gpu *g)
{
        const uint64_t figures[] = {g->power_mw, g->power_limit_mw, g->power_default_mw,
                                    g->power_min_mw, g->power_max_mw};

        for (size_t i = 0; i < SG_ELEMENTSOF(figures); i++)
                if (!is_at_most(figures[i], SG_GPU_POWER_MAX))
                        return false;
        return true;
}

static int compare(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

static bool processes_are_in_order(const struct sg_gpu_process *a, const struct sg_gpu_process *b)
{
        int order = compare(a->pid, b->pid);

        if (order == 0)
                order = compare(a->gpu_instance, b->gpu_instance);
        return (order ? order : compare(a->compute_instance, b->compute_instance)) < 0;
}

static bool processes_are_sound(const struct sg_gpu *g)
{
        if (g->n_processes > SG_GPU_PROCESSES_MAX || (g->n_processes > 0 && !g->processes_known))
                return false;
        for (size_t i = 0; i < g->n_processes; i++) {
                const struct sg_gpu_process *p = &g->processes[i];

                if (p->pid == 0 || p->pid > INT_MAX || !is_at_most(p->utilization, 100) ||
                    !is_at_most(p->memory, SG_GPU_BYTES_MAX) ||
                    !is_at_most(p->gpu_instance, UINT32_MAX) ||
                    !is_at_most(p->compute_instance, UINT32_MAX))
                        return false;
                if (i > 0 && !processes_are_in_order(p - 1, p))
                        return false;
        }
        return true;
}

static bool instances_are_sound(const struct sg_gpu *g)
{
        if (g->n_instances > SG_GPU_INSTANCES_MAX || (g->n_instances > 0 && !g->mig))
                return false;
        for (size_t i = 0; i < g->n_instances; i++) {
                const struct sg_gpu_instance *m = &g->instances[i];

                if (!is_uuid(m->uuid) || !is_profile(m->profile, sizeof(m->profile)) ||
                    m->memory_total == 0 || !is_at_most(m->memory_total, SG_GPU_BYTES_MAX))
                        return false;
        }
        return true;
}

static bool near_is_sound(const struct sg_gpu_inventory *v, size_t a, size_t b)
{
        const struct sg_gpu_near *near = &v->gpus[a].near[b], *back = &v->gpus[b].near[a];

        if (near->distance != back->distance || near->links != back->links)
                return false;
        switch (near->distance) {
        case 0:
                return a == b && near->links == 0;
        case SG_GPU_LINKED:
                return a != b;
        case SG_GPU_SWITCH:
        case SG_GPU_SWITCHES:
        case SG_GPU_HOST:
        case SG_GPU_NODE:
        case SG_GPU_SYSTEM:
                return a != b && near->links == 0;
        default:
                return false;
        }
}

static bool gpu_is_sound(const struct sg_gpu *g)
{
        return is_uuid(g->uuid) && is_line(g->name, sizeof(g->name)) &&
               is_word(g->vendor, sizeof(g->vendor)) && is_bus_id(g->bus_id, sizeof(g->bus_id)) &&
               is_at_most(g->index, UINT32_MAX) && is_at_most(g->minor, UINT32_MAX) &&
               is_at_most(g->numa_node, UINT32_MAX) && is_at_most(g->utilization, 100) &&
               is_at_most(g->temperature, UINT32_MAX) && memory_is_sound(g) && power_is_sound(g) &&
               processes_are_sound(g) && instances_are_sound(g);
}

static bool has_uuid(const struct sg_gpu *g, const char *uuid)
{
        if (strcmp(g->uuid, uuid) == 0)
                return true;
        for (size_t i = 0; i < g->n_instances; i++)
                if (strcmp(g->instances[i].uuid, uuid) == 0)
                        return true;
        return false;
}

/* No name of a GPU, nor of an instance, is another's as well. */
static bool uuids_are_unique(const struct sg_gpu_inventory *v, size_t k)
{
        const struct sg_gpu *g = &v->gpus[k];

        for (size_t i = 0; i < g->n_instances; i++)
                for (size_t m = 0; m <= i; m++)
                        if (strcmp(g->instances[i].uuid, m < i ? g->instances[m].uuid : g->uuid) ==
                            0)
                                return false;
        for (size_t i = 0; i < k; i++) {
                if (has_uuid(&v->gpus[i], g->uuid))
                        return false;
                for (size_t m = 0; m < g->n_instances; m++)
                        if (has_uuid(&v->gpus[i], g->instances[m].uuid))
                                return false;
        }
        return true;
}

static bool gpus_are_in_order(const struct sg_gpu *a, const struct sg_gpu *b)
{
        int order = strcmp(a->bus_id, b->bus_id);

        return (order ? order : strcmp(a->uuid, b->uuid)) < 0;
}

static bool events_are_sound(const struct sg_gpu_inventory *v)
{
        if (v->n_events > SG_GPU_EVENTS_MAX)
                return false;
        for (size_t i = 0; i < v->n_events; i++)
                if (v->events[i].type > SG_GPU_EVENT_MIG || !is_uuid(v->events[i].uuid))
                        return false;
        return true;
}

bool sg_gpu_inventory_is_sound(const struct sg_gpu_inventory *v)
{
        if (v->state > SG_GPU_DRIVER_MISMATCH || v->n > SG_GPUS_MAX ||
            !is_at_most(v->cuda, UINT32_MAX) || !is_line(v->version, sizeof(v->version)) ||
            !is_line(v->message, sizeof(v->message)) || !events_are_sound(v))
                return false;
        for (size_t i = 0; i < v->n; i++) {
                if (!gpu_is_sound(&v->gpus[i]) ||
                    (i > 0 && !gpus_are_in_order(&v->gpus[i - 1], &v->gpus[i])) ||
                    !uuids_are_unique(v, i))
                        return false;
                for (size_t k = 0; k <= i; k++)
                        if (!near_is_sound(v, i, k))
                                return false;
        }
        return true;
}
