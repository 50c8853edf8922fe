/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Inventories from what drivers say, which isn't always so: GPUs in another order each time,
 * processes twice or without a pid, memory of 0 or of all bits set, 137 %. What makes no sense is
 * unknown, and what can't be told apart isn't given out.
 */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "edge/gpu/worker/driver.h"
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

void sg_gpu_begin(struct sg_gpu_inventory *v)
{
        struct sg_gpu *gpus = v->gpus;

        *v = (struct sg_gpu_inventory){.cuda = SG_GPU_UNKNOWN, .gpus = gpus};
}

struct sg_gpu *sg_gpu_add(struct sg_gpu_inventory *v)
{
        struct sg_gpu *g;

        if (v->n >= SG_GPUS_MAX) {
                sg_gpu_say(v, "there are more than %u GPUs", SG_GPUS_MAX);
                return NULL;
        }
        g = &v->gpus[v->n++];
        memset(g, 0, sizeof(*g));
        g->index = g->minor = g->numa_node = SG_GPU_UNKNOWN;
        g->memory_total = g->memory_used = g->memory_reserved = SG_GPU_UNKNOWN;
        g->utilization = g->temperature = g->energy_mj = SG_GPU_UNKNOWN;
        g->power_mw = g->power_limit_mw = g->power_default_mw = SG_GPU_UNKNOWN;
        g->power_min_mw = g->power_max_mw = SG_GPU_UNKNOWN;
        return g;
}

void sg_gpu_add_event(struct sg_gpu_inventory *v, enum sg_gpu_event_type type, const char *uuid,
                      uint64_t data)
{
        struct sg_gpu_event *e;

        if (v->n_events >= SG_GPU_EVENTS_MAX) {
                v->n_events_lost++;
                return;
        }
        e = &v->events[v->n_events++];
        *e = (struct sg_gpu_event){.type = type, .data = data};
        (void)snprintf(e->uuid, sizeof(e->uuid), "%s", uuid);
}

void sg_gpu_say(struct sg_gpu_inventory *v, const char *format, ...)
{
        va_list args;

        if (v->message[0])
                return;
        va_start(args, format);
        (void)vsnprintf(v->message, sizeof(v->message), format, args);
        va_end(args);
}

/* --- text */

/* Cut to whole characters; a ? for each byte that can't be shown. */
static void tidy_line(char *s, size_t room)
{
        size_t n = sg_utf8_fit(s, strnlen(s, room - 1), room - 1);

        memset(s + n, 0, room - n);
        for (size_t size, i = 0; i < n; i += size) {
                size = sg_utf8_harmless(s + i, n - i);
                if (size == 0) {
                        s[i] = '?';
                        size = 1;
                }
        }
}

/* --- figures */

static void at_most(uint64_t *figure, uint64_t max)
{
        if (*figure > max)
                *figure = SG_GPU_UNKNOWN;
}

static void tidy_figures(struct sg_gpu *g)
{
        uint64_t *const milliwatts[] = {&g->power_mw, &g->power_limit_mw, &g->power_default_mw,
                                        &g->power_min_mw, &g->power_max_mw};

        at_most(&g->index, UINT32_MAX);
        at_most(&g->minor, UINT32_MAX);
        at_most(&g->numa_node, UINT32_MAX);
        at_most(&g->utilization, 100);
        at_most(&g->temperature, 1000);
        for (size_t i = 0; i < SG_ELEMENTSOF(milliwatts); i++)
                at_most(milliwatts[i], SG_GPU_POWER_MAX);
        at_most(&g->memory_total, SG_GPU_BYTES_MAX);
        if (g->memory_total == 0)
                g->memory_total = SG_GPU_UNKNOWN;
        if (g->memory_total == SG_GPU_UNKNOWN) /* what is used says nothing then: often 0 */
                g->memory_used = g->memory_reserved = SG_GPU_UNKNOWN;
        at_most(&g->memory_used, g->memory_total);
        at_most(&g->memory_reserved, g->memory_total);
}

/* --- processes */

static int compare_u64(uint64_t a, uint64_t b)
{
        return a < b ? -1 : a > b;
}

static int compare_processes(const void *a, const void *b)
{
        const struct sg_gpu_process *p = a, *q = b;
        int order = compare_u64(p->pid, q->pid);

        order = order ? order : compare_u64(p->gpu_instance, q->gpu_instance);
        return order ? order : compare_u64(p->compute_instance, q->compute_instance);
}

static uint64_t larger_known(uint64_t a, uint64_t b)
{
        return a == SG_GPU_UNKNOWN ? b : b == SG_GPU_UNKNOWN || a > b ? a : b;
}

/* Who computes and draws is in two lists, with all of its memory in each. Who has no pid here isn't
 * known, and its memory nobody's. */
static void tidy_processes(struct sg_gpu *g)
{
        size_t n = 0;

        if (g->n_processes > 1)
                qsort(g->processes, g->n_processes, sizeof(g->processes[0]), compare_processes);
        for (size_t i = 0; i < g->n_processes; i++) {
                struct sg_gpu_process p = g->processes[i],
                                      *last = n > 0 ? &g->processes[n - 1] : NULL;

                at_most(&p.memory, SG_GPU_BYTES_MAX);
                at_most(&p.utilization, 100);
                at_most(&p.gpu_instance, UINT32_MAX);
                at_most(&p.compute_instance, UINT32_MAX);
                if (p.pid == 0 || p.pid > INT_MAX)
                        continue;
                if (last && compare_processes(last, &p) == 0) {
                        last->memory = larger_known(last->memory, p.memory);
                        last->utilization = larger_known(last->utilization, p.utilization);
                } else
                        g->processes[n++] = p;
        }
        memset(&g->processes[n], 0, (g->n_processes - n) * sizeof(g->processes[0]));
        g->n_processes = n;
}

/* --- GPUs */

static bool is_name(const char *s)
{
        return *s && s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                 "._/:-")] == '\0';
}

/* Instances of which another one, or a GPU, has the name. */
typedef bool namesakes[SG_GPUS_MAX][SG_GPU_INSTANCES_MAX];

static unsigned count_name(const struct sg_gpu_inventory *v, const char *uuid)
{
        unsigned n = 0;

        for (size_t i = 0; i < v->n; i++) {
                n += strcmp(v->gpus[i].uuid, uuid) == 0;
                for (size_t k = 0; k < v->gpus[i].n_instances; k++)
                        n += strcmp(v->gpus[i].instances[k].uuid, uuid) == 0;
        }
        return n;
}

static void find_namesakes(const struct sg_gpu_inventory *v, namesakes ret)
{
        for (size_t i = 0; i < v->n; i++)
                for (size_t k = 0; k < v->gpus[i].n_instances; k++)
                        ret[i][k] = count_name(v, v->gpus[i].instances[k].uuid) > 1;
}

static void tidy_instance(struct sg_gpu_instance *m)
{
        tidy_line(m->profile, sizeof(m->profile));
        if (m->profile[strspn(m->profile, "abcdefghijklmnopqrstuvwxyz0123456789.+-")])
                memset(m->profile, 0, sizeof(m->profile));
        at_most(&m->memory_total, SG_GPU_BYTES_MAX);
        m->memory_total = m->memory_total ? m->memory_total : SG_GPU_UNKNOWN;
}

static void tidy_instances(struct sg_gpu_inventory *v, struct sg_gpu *g, const bool namesake[])
{
        size_t n = 0;

        for (size_t i = 0; i < g->n_instances; i++) {
                struct sg_gpu_instance m = g->instances[i];

                tidy_line(m.uuid, sizeof(m.uuid));
                tidy_instance(&m);
                if (!is_name(m.uuid))
                        sg_gpu_say(v, "an instance of %s has no UUID", g->uuid);
                else if (namesake[i])
                        sg_gpu_say(v, "two instances call themselves %s", m.uuid);
                else
                        g->instances[n++] = m;
        }
        memset(&g->instances[n], 0, (g->n_instances - n) * sizeof(g->instances[0]));
        g->n_instances = n;
}

/* Nothing is known but which one it is. */
static void blank(struct sg_gpu *g)
{
        struct sg_gpu *clean, old = *g;
        struct sg_gpu_inventory one = {.gpus = g};

        clean = sg_gpu_add(&one);
        memcpy(clean->uuid, old.uuid, sizeof(old.uuid));
        memcpy(clean->name, old.name, sizeof(old.name));
        memcpy(clean->vendor, old.vendor, sizeof(old.vendor));
        memcpy(clean->bus_id, old.bus_id, sizeof(old.bus_id));
        memcpy(clean->near, old.near, sizeof(old.near));
        clean->index = old.index;
        clean->minor = old.minor;
        clean->numa_node = old.numa_node;
        clean->lost = true;
}

/* Takes out the GPU at k: the last one gets its place. */
static void drop(struct sg_gpu_inventory *v, size_t k)
{
        size_t last = --v->n;

        memmove(&v->gpus[k], &v->gpus[last], sizeof(v->gpus[0]) * (k != last));
        for (size_t i = 0; i < v->n; i++)
                v->gpus[i].near[k] = v->gpus[i].near[last];
        if (k < v->n)
                v->gpus[k].near[k] = (struct sg_gpu_near){0};
}

/* Two that call themselves the same can't be told apart, and who asks for one may get the other:
 * one stays, as lost. */
static void drop_namesakes(struct sg_gpu_inventory *v)
{
        for (size_t i = 0; i < v->n; i++)
                for (size_t k = v->n - 1; k > i; k--)
                        if (strcmp(v->gpus[i].uuid, v->gpus[k].uuid) == 0) {
                                sg_gpu_say(v, "two GPUs call themselves %s", v->gpus[i].uuid);
                                v->gpus[i].lost = true;
                                drop(v, k);
                        }
}

static void drop_nameless(struct sg_gpu_inventory *v)
{
        for (size_t i = v->n; i-- > 0;) {
                tidy_line(v->gpus[i].uuid, sizeof(v->gpus[i].uuid));
                if (!is_name(v->gpus[i].uuid)) {
                        sg_gpu_say(v, "the GPU at index %" PRIu64 " has no UUID", v->gpus[i].index);
                        drop(v, i);
                }
        }
}

static void tidy_gpu(struct sg_gpu_inventory *v, struct sg_gpu *g, const bool namesake[])
{
        tidy_line(g->name, sizeof(g->name));
        tidy_line(g->vendor, sizeof(g->vendor));
        tidy_line(g->bus_id, sizeof(g->bus_id));
        if (g->bus_id[strspn(g->bus_id, "0123456789abcdef:.")])
                memset(g->bus_id, 0, sizeof(g->bus_id));
        if (g->lost) {
                blank(g);
                return;
        }
        tidy_figures(g);
        tidy_processes(g);
        tidy_instances(v, g, namesake);
}

/* --- their order */

static void swap(struct sg_gpu_inventory *v, size_t a, size_t b)
{
        struct sg_gpu gpu = v->gpus[a];

        v->gpus[a] = v->gpus[b];
        v->gpus[b] = gpu;
        for (size_t i = 0; i < v->n; i++) {
                struct sg_gpu_near near = v->gpus[i].near[a];

                v->gpus[i].near[a] = v->gpus[i].near[b];
                v->gpus[i].near[b] = near;
        }
}

static bool is_before(const struct sg_gpu *a, const struct sg_gpu *b)
{
        int order = strcmp(a->bus_id, b->bus_id);

        return (order ? order : strcmp(a->uuid, b->uuid)) < 0;
}

static void sort(struct sg_gpu_inventory *v)
{
        for (size_t i = 0; i + 1 < v->n; i++) {
                size_t first = i;

                for (size_t k = i + 1; k < v->n; k++)
                        if (is_before(&v->gpus[k], &v->gpus[first]))
                                first = k;
                if (first != i)
                        swap(v, i, first);
        }
}

/* Between the two: what is said from one side counts for both, the farther if they differ. */
static void tidy_near(struct sg_gpu_inventory *v, size_t a, size_t b)
{
        struct sg_gpu_near *there = &v->gpus[a].near[b], *back = &v->gpus[b].near[a], near;

        near = there->distance > back->distance ? *there : *back;
        if (there->distance == back->distance && there->links < back->links)
                near.links = there->links;
        if (a == b)
                near = (struct sg_gpu_near){0};
        else if (near.distance == 0)
                near = (struct sg_gpu_near){.distance = SG_GPU_SYSTEM};
        *there = *back = near;
}

static void tidy_events(struct sg_gpu_inventory *v)
{
        size_t n = 0;

        for (size_t i = 0; i < v->n_events; i++) {
                struct sg_gpu_event e = v->events[i];

                tidy_line(e.uuid, sizeof(e.uuid));
                if (is_name(e.uuid))
                        v->events[n++] = e;
                else
                        v->n_events_lost++;
        }
        memset(&v->events[n], 0, (v->n_events - n) * sizeof(v->events[0]));
        v->n_events = n;
}

void sg_gpu_tidy(struct sg_gpu_inventory *v)
{
        namesakes twice = {{false}};

        tidy_line(v->version, sizeof(v->version));
        at_most(&v->cuda, UINT32_MAX);
        tidy_events(v);
        drop_nameless(v);
        drop_namesakes(v);
        find_namesakes(v, twice);
        for (size_t i = 0; i < v->n; i++)
                tidy_gpu(v, &v->gpus[i], twice[i]);
        sort(v);
        for (size_t i = 0; i < v->n; i++)
                for (size_t k = 0; k <= i; k++)
                        tidy_near(v, i, k);
        tidy_line(v->message, sizeof(v->message));
        if (sg_gpu_inventory_is_sound(v))
                return;
        v->n = v->n_events = 0;
        v->state = SG_GPU_DRIVER_ERROR;
        v->message[0] = '\0';
        sg_gpu_say(v, "what the driver says makes no sense");
}
