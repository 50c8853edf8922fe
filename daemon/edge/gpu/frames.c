/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each struct has one function that names its fields: by a codec (base/record-codec.h) that writes
 * or reads them. What was read is then looked at as a whole, in sound.c.
 */
#include "edge/gpu/frames.h"
#include "base/record-codec.h"
#include <errno.h>
#include <string.h>

enum kind { ORDER = 1, INVENTORY };

typedef struct sg_record_codec codec;

static void fail(codec *c)
{
        if (!c->out && c->error == 0)
                c->error = -EBADMSG;
}

static void code_count(codec *c, size_t *n, size_t max)
{
        uint32_t v = (uint32_t)*n;

        sg_record_codec_u32(c, &v, (uint32_t)max);
        *n = v;
}

static void code_text(codec *c, char *text, size_t room)
{
        size_t n = c->out ? strnlen(text, room - 1) : 0;

        code_count(c, &n, room - 1);
        if (c->out) {
                sg_record_append(c->out, text, n);
                return;
        }
        if (c->error == 0 && ((size_t)(c->end - c->p) < n || memchr(c->p, 0, n)))
                fail(c);
        if (c->error < 0)
                return;
        memcpy(text, c->p, n);
        text[n] = '\0';
        c->p += n;
}

static void code_byte(codec *c, uint8_t *v)
{
        uint32_t wide = *v;

        sg_record_codec_u32(c, &wide, UINT8_MAX);
        *v = (uint8_t)wide;
}

static void code_bools(codec *c, bool *const bools[], size_t n)
{
        for (size_t i = 0; i < n; i++)
                sg_record_codec_bool(c, bools[i]);
}

static void code_head(codec *c, enum kind kind)
{
        uint64_t version = SG_GPU_FRAMES_VERSION;
        uint32_t k = (uint32_t)kind;

        sg_record_codec_u64(c, &version);
        if (!c->out && c->error == 0 && version != SG_GPU_FRAMES_VERSION)
                c->error = -EPROTO;
        sg_record_codec_u32(c, &k, (uint32_t)kind);
        if (k != (uint32_t)kind)
                fail(c);
}

static void code_order(codec *c, struct sg_gpu_order *o)
{
        code_head(c, ORDER);
        sg_record_codec_u64(c, &o->every_usec);
        code_text(c, o->library, sizeof(o->library));
        code_text(c, o->root, sizeof(o->root));
}

static void code_instance(codec *c, struct sg_gpu_instance *i)
{
        code_text(c, i->uuid, sizeof(i->uuid));
        code_text(c, i->profile, sizeof(i->profile));
        sg_record_codec_u32(c, &i->gpu_instance, UINT32_MAX);
        sg_record_codec_u32(c, &i->compute_instance, UINT32_MAX);
        sg_record_codec_u64(c, &i->memory_total);
}

static void code_process(codec *c, struct sg_gpu_process *p)
{
        sg_record_codec_u64(c, &p->pid);
        sg_record_codec_u64(c, &p->memory);
        sg_record_codec_u64(c, &p->utilization);
        sg_record_codec_u64(c, &p->gpu_instance);
        sg_record_codec_u64(c, &p->compute_instance);
}

static void code_figures(codec *c, struct sg_gpu *g)
{
        uint64_t *const figures[] = {
                &g->index,        &g->minor,           &g->numa_node,        &g->memory_total,
                &g->memory_used,  &g->memory_reserved, &g->utilization,      &g->temperature,
                &g->power_mw,     &g->power_limit_mw,  &g->power_default_mw, &g->power_min_mw,
                &g->power_max_mw, &g->energy_mj,
        };
        bool *const bools[] = {
                &g->lost,
                &g->mig,
                &g->exclusive,
                &g->prohibited,
                &g->throttled_power,
                &g->throttled_thermal,
                &g->processes_known,
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(figures); i++)
                sg_record_codec_u64(c, figures[i]);
        code_bools(c, bools, SG_ELEMENTSOF(bools));
}

static void code_gpu(codec *c, struct sg_gpu *g, size_t n_gpus)
{
        code_text(c, g->uuid, sizeof(g->uuid));
        code_text(c, g->name, sizeof(g->name));
        code_text(c, g->vendor, sizeof(g->vendor));
        code_text(c, g->bus_id, sizeof(g->bus_id));
        code_figures(c, g);
        for (size_t i = 0; i < n_gpus; i++) {
                code_byte(c, &g->near[i].distance);
                code_byte(c, &g->near[i].links);
        }
        code_count(c, &g->n_instances, SG_GPU_INSTANCES_MAX);
        for (size_t i = 0; i < g->n_instances; i++)
                code_instance(c, &g->instances[i]);
        code_count(c, &g->n_processes, SG_GPU_PROCESSES_MAX);
        for (size_t i = 0; i < g->n_processes; i++)
                code_process(c, &g->processes[i]);
}

static void code_event(codec *c, struct sg_gpu_event *e)
{
        uint32_t type = (uint32_t)e->type;

        sg_record_codec_u32(c, &type, SG_GPU_EVENT_MIG);
        e->type = (enum sg_gpu_event_type)type;
        code_text(c, e->uuid, sizeof(e->uuid));
        sg_record_codec_u64(c, &e->data);
}

/* All but the GPUs, for which room has to be made when they are read. */
static void code_node(codec *c, struct sg_gpu_inventory *i)
{
        uint32_t state = (uint32_t)i->state;

        code_head(c, INVENTORY);
        sg_record_codec_u32(c, &state, SG_GPU_DRIVER_MISMATCH);
        i->state = (enum sg_gpu_driver_state)state;
        code_text(c, i->version, sizeof(i->version));
        code_text(c, i->message, sizeof(i->message));
        sg_record_codec_u64(c, &i->cuda);
        sg_record_codec_u64(c, &i->looked_usec);
        code_count(c, &i->n_events, SG_GPU_EVENTS_MAX);
        for (size_t k = 0; k < i->n_events; k++)
                code_event(c, &i->events[k]);
        sg_record_codec_u64(c, &i->n_events_lost);
        code_count(c, &i->n, SG_GPUS_MAX);
}

static void code_gpus(codec *c, struct sg_gpu_inventory *i)
{
        for (size_t k = 0; k < i->n; k++)
                code_gpu(c, &i->gpus[k], i->n);
}

/* --- */

/* (A codec that writes changes nothing.) */
void sg_gpu_put_order(struct sg_record *out, const struct sg_gpu_order *order)
{
        code_order(&(codec){.out = out}, (struct sg_gpu_order *)order);
}

void sg_gpu_put_inventory(struct sg_record *out, const struct sg_gpu_inventory *inventory)
{
        codec c = {.out = out};

        code_node(&c, (struct sg_gpu_inventory *)inventory);
        code_gpus(&c, (struct sg_gpu_inventory *)inventory);
}

static codec reading(const void *data, size_t size)
{
        return (codec){.p = data, .end = (const uint8_t *)data + size};
}

int sg_gpu_take_order(const void *data, size_t size, struct sg_gpu_order *ret)
{
        codec c = reading(data, size);
        struct sg_gpu_order order = {0};
        int r;

        code_order(&c, &order);
        r = sg_record_codec_end(&c);
        if (r < 0)
                return r;
        if (order.every_usec < SG_GPU_EVERY_MIN_USEC || order.every_usec > SG_GPU_EVERY_MAX_USEC ||
            order.root[0] != '/' || (order.library[0] && order.library[0] != '/'))
                return -EBADMSG;
        *ret = order;
        return 0;
}

int sg_gpu_take_inventory(const void *data, size_t size, struct sg_gpu_inventory *ret)
{
        _cleanup_free_ struct sg_gpu_inventory *i = calloc(1, sizeof(*i));
        _cleanup_free_ struct sg_gpu *gpus = NULL;
        codec c = reading(data, size);
        int r;

        if (!i)
                return -ENOMEM;
        code_node(&c, i);
        if (c.error < 0)
                return c.error;
        gpus = i->n > 0 ? calloc(i->n, sizeof(*gpus)) : NULL;
        if (i->n > 0 && !gpus)
                return -ENOMEM;
        i->gpus = gpus;
        code_gpus(&c, i);
        r = sg_record_codec_end(&c);
        if (r < 0)
                return r;
        if (!sg_gpu_inventory_is_sound(i))
                return -EBADMSG;
        TAKE_PTR(gpus);
        *ret = *i;
        return 0;
}
