/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was measured, in the documents of a job and of the node, and the document of a job's series
 * (schedgov.series/1). What isn't known is null. */
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "edge/history/series-file.h"
#include "govern/loop.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *sg_json_number(uint64_t v)
{
        return v > INT64_MAX ? json_null() : json_integer((json_int_t)v);
}

/* JSON has no NaN and no infinity. */
static json_t *real_or_null(double v)
{
        return isfinite(v) ? json_real(v) : json_null();
}

struct member {
        const char *key;
        size_t offset;
};

static void set_numbers(json_t *o, const struct member *members, size_t n, const void *from)
{
        for (size_t i = 0; i < n; i++)
                json_object_set_new(o, members[i].key,
                                    sg_json_number(*(const uint64_t *)((const char *)from +
                                                                       members[i].offset)));
}

/* --- a job's usage */

#define SAMPLE(field) offsetof(struct sg_sample, field)

static const struct member usage_members[] = {
        {"cpu_usec", SAMPLE(cpu_usec)},
        {"throttled_usec", SAMPLE(throttled_usec)},
        {"memory_bytes", SAMPLE(memory_bytes)},
        {"memory_peak_bytes", SAMPLE(memory_peak_bytes)},
        {"working_set_bytes", SAMPLE(working_set_bytes)},
        {"io_read_bytes", SAMPLE(io_read_bytes)},
        {"io_write_bytes", SAMPLE(io_write_bytes)},
        {"io_read_ops", SAMPLE(io_read_ops)},
        {"io_write_ops", SAMPLE(io_write_ops)},
        {"net_rx_bytes", SAMPLE(net_rx_bytes)},
        {"net_tx_bytes", SAMPLE(net_tx_bytes)},
        {"pids", SAMPLE(pids)},
};

static const struct member psi_members[] = {
        {"cpu_some_usec", SAMPLE(psi_cpu_some_usec)},
        {"memory_some_usec", SAMPLE(psi_memory_some_usec)},
        {"memory_full_usec", SAMPLE(psi_memory_full_usec)},
        {"io_some_usec", SAMPLE(psi_io_some_usec)},
        {"io_full_usec", SAMPLE(psi_io_full_usec)},
};

static const struct member delay_members[] = {
        {"cpu_usec", offsetof(struct sg_delays, cpu_usec)},
        {"io_usec", offsetof(struct sg_delays, io_usec)},
        {"swap_usec", offsetof(struct sg_delays, swap_usec)},
};

/* The last round's sample, but for what is read now because people compare it: CPU and memory. */
static void sample_now(const struct sg_live *live, struct sg_sample *s)
{
        struct sg_counters c;

        if (live->measured)
                *s = live->measured->last;
        sg_scope_counters(live->groups.scope, &c);
        s->cpu_usec = c.cpu_usec;
        s->memory_bytes = c.memory_bytes;
        s->memory_peak_bytes = c.memory_peak_bytes;
        s->io_read_bytes = c.io_read_bytes;
        s->io_write_bytes = c.io_write_bytes;
        s->pids = c.pids;
        (void)sg_scope_net(live->groups.scope, &s->net_rx_bytes, &s->net_tx_bytes);
}

/* A finished job's figures are those that its shim read last. */
json_t *sg_json_usage(const struct sg_job *j, const struct sg_live *live)
{
        const struct sg_measured *d = live ? live->measured : NULL;
        json_t *o = json_object(), *psi = json_object(), *delays = json_object();
        struct sg_sample s;

        sg_sample_init(&s);
        s.cpu_usec = j->cpu_usec;
        s.memory_peak_bytes = j->memory_peak_bytes;
        s.io_read_bytes = j->io_read_bytes;
        s.io_write_bytes = j->io_write_bytes;
        s.net_rx_bytes = j->net_rx_bytes;
        s.net_tx_bytes = j->net_tx_bytes;
        if (live && live->groups.scope)
                sample_now(live, &s);
        set_numbers(o, usage_members, SG_ELEMENTSOF(usage_members), &s);
        json_object_set_new(o, "cpu_rate", real_or_null(d ? d->cpu_rate : NAN));
        set_numbers(psi, psi_members, SG_ELEMENTSOF(psi_members), &s);
        json_object_set_new(o, "psi", psi);
        if (d)
                set_numbers(delays, delay_members, SG_ELEMENTSOF(delay_members), &d->delays);
        if (!d || d->delays.cpu_usec == SG_UNLIMITED) {
                json_decref(delays);
                delays = json_null();
        }
        json_object_set_new(o, "delays", delays);
        return o;
}

/* --- its progress and share */

static double stored_eval(const struct sg_job *j)
{
        return j->eval[0] ? strtod(j->eval, NULL) : NAN;
}

/* Of a job that has ended, what it said last. */
static void stored_view(const struct sg_job *j, struct sg_progress_view *v)
{
        v->eval = stored_eval(j);
        v->has = (j->eval[0] ? SG_REPORT_EVAL : 0) |
                 (j->step != SG_UNLIMITED ? SG_REPORT_STEP : 0) |
                 (j->total != SG_UNLIMITED ? SG_REPORT_TOTAL : 0);
        v->step = j->step;
        v->total = j->total;
        if ((v->has & SG_REPORT_STEP) && (v->has & SG_REPORT_TOTAL) && v->total > 0)
                v->fraction = v->step < v->total ? (double)v->step / (double)v->total : 1;
}

json_t *sg_json_progress(const struct sg_job *j, const struct sg_live *live, bool full)
{
        const struct sg_measured *d = live ? live->measured : NULL;
        struct sg_progress_view v = {.eval = NAN,
                                     .best = NAN,
                                     .fraction = NAN,
                                     .eta_sec = NAN,
                                     .eta_low_sec = NAN,
                                     .eta_high_sec = NAN};
        json_t *o;

        if (d)
                sg_monitor_view(live, &v);
        else
                stored_view(j, &v);
        if (v.has == 0 && !(d && d->status))
                return json_null();
        o = json_object();
        json_object_set_new(o, "eval", real_or_null(v.eval));
        json_object_set_new(o, "diverged",
                            json_boolean(v.has & SG_REPORT_EVAL && !isfinite(v.eval)));
        json_object_set_new(o, "best", real_or_null(v.best));
        json_object_set_new(o, "step",
                            sg_json_number(v.has & SG_REPORT_STEP ? v.step : SG_UNLIMITED));
        json_object_set_new(o, "total",
                            sg_json_number(v.has & SG_REPORT_TOTAL ? v.total : SG_UNLIMITED));
        json_object_set_new(o, "epoch", sg_json_number(v.epoch ?: SG_UNLIMITED));
        json_object_set_new(o, "fraction", real_or_null(v.fraction));
        json_object_set_new(o, "eta_sec", real_or_null(v.eta_sec));
        json_object_set_new(o, "eta_low_sec", real_or_null(v.eta_low_sec));
        json_object_set_new(o, "eta_high_sec", real_or_null(v.eta_high_sec));
        json_object_set_new(o, "source", d && d->source[0] ? json_string(d->source) : json_null());
        json_object_set_new(o, "status",
                            full && d && d->status ? json_string(d->status) : json_null());
        return o;
}

static uint32_t unenforced_of(const struct sg_live *live)
{
        if (live->job.adopted == SG_ADOPTED_OBSERVED)
                return UINT32_MAX;
        return sg_backend_unenforced(live->manager->backend) |
               (live->groups.scope ? sg_scope_unenforced(live->groups.scope) : 0);
}

static json_t *own_cpus(const struct sg_live *live, uint32_t unenforced)
{
        char text[SG_CPUS_MAX * 5];

        if (!live->groups.own || unenforced & (1U << SG_LIMIT_CPUSET) ||
            sg_format_cpuset(text, sizeof(text), &live->groups.own->cpus) < 0)
                return json_null();
        return json_string(text);
}

/* What is in force is the governor's, where it has decided; and nothing, where nothing can be. */
json_t *sg_json_share(const struct sg_live *live)
{
        uint32_t unenforced = unenforced_of(live);
        const struct sg_decision *d = sg_loop_decision(live);
        const char *list = sg_loop_list(live);
        struct sg_limits limits = live->job.limits;
        char why[256];
        json_t *o = json_object();
        double share = sg_loop_share(live, why, sizeof(why));

        (void)sg_loop_overlay(live, &limits);
        json_object_set_new(o, "share", real_or_null(share));
        json_object_set_new(o, "weight",
                            unenforced & (1U << SG_LIMIT_CPU_WEIGHT)
                                    ? json_null()
                                    : sg_json_number(limits.cpu_weight));
        json_object_set_new(o, "limit",
                            limits.cpu_quota_pm == SG_UNLIMITED ||
                                            unenforced & (1U << SG_LIMIT_CPU_QUOTA)
                                    ? json_null()
                                    : json_real((double)limits.cpu_quota_pm / 1e4));
        json_object_set_new(o, "own_cpus", own_cpus(live, unenforced));
        json_object_set_new(o, "list", list ? json_string(list) : json_null());
        json_object_set_new(o, "growth_efficiency",
                            d ? real_or_null(d->estimate.efficiency) : json_null());
        json_object_set_new(o, "why", json_string(why));
        return o;
}

/* What becomes of its threads; nothing is known before its first attempt. */
json_t *sg_json_threads(const struct sg_job *j, const struct sg_live *live)
{
        uint64_t now = live && live->measured ? sg_loop_cpus(live) : 0;
        json_t *o;

        if (j->adopted || j->key.attempt == 0)
                return json_null();
        o = json_object();
        json_object_set_new(o, "given", sg_json_number(j->threads_given ?: SG_UNLIMITED));
        json_object_set_new(o, "now", sg_json_number(now ?: SG_UNLIMITED));
        json_object_set_new(o, "follows", sg_json_number(j->follows ?: SG_UNLIMITED));
        return o;
}

/* --- the node */

#define NODE(field) offsetof(struct sg_node_sample, field)

static const struct member load_members[] = {
        {"running", NODE(procs_running)},
        {"blocked", NODE(procs_blocked)},
        {"memory_available_bytes", NODE(memory_available)},
        {"swap_total_bytes", NODE(swap_total)},
        {"swap_free_bytes", NODE(swap_free)},
        {"swap_in_bytes", NODE(swap_in_bytes)},
        {"swap_out_bytes", NODE(swap_out_bytes)},
};

static const struct member node_psi_members[] = {
        {"cpu_some_usec", NODE(cpu.some_usec)},       {"memory_some_usec", NODE(memory.some_usec)},
        {"memory_full_usec", NODE(memory.full_usec)}, {"io_some_usec", NODE(io.some_usec)},
        {"io_full_usec", NODE(io.full_usec)},
};

json_t *sg_json_load(const struct sg_manager *m)
{
        const struct sg_node_sample *s = sg_monitor_node(m->monitor);
        json_t *o = json_object(), *psi = json_object();

        json_object_set_new(o, "cpu_busy", real_or_null(sg_monitor_busy(m->monitor)));
        json_object_set_new(o, "load1",
                            s->load_pm == SG_UNLIMITED ? json_null()
                                                       : json_real((double)s->load_pm / 1e4));
        set_numbers(o, load_members, SG_ELEMENTSOF(load_members), s);
        set_numbers(psi, node_psi_members, SG_ELEMENTSOF(node_psi_members), s);
        json_object_set_new(o, "psi", psi);
        return o;
}

#define LINK(field) offsetof(struct sg_link, field)

static const struct member link_members[] = {
        {"rx_bytes", LINK(rx_bytes)},     {"tx_bytes", LINK(tx_bytes)},
        {"rx_errors", LINK(rx_errors)},   {"tx_errors", LINK(tx_errors)},
        {"rx_dropped", LINK(rx_dropped)}, {"tx_dropped", LINK(tx_dropped)},
        {"speed_mbit", LINK(speed_mbit)},
};

json_t *sg_json_links(const struct sg_manager *m)
{
        size_t n;
        const struct sg_link *links = sg_links_get(sg_monitor_links(m->monitor), &n);
        json_t *a = json_array();

        for (size_t i = 0; i < n; i++) {
                json_t *o = json_object();

                json_object_set_new(o, "name", json_string(links[i].name));
                json_object_set_new(o, "up", json_boolean(links[i].up));
                json_object_set_new(o, "carrier", json_boolean(links[i].carrier));
                set_numbers(o, link_members, SG_ELEMENTSOF(link_members), &links[i]);
                json_array_append_new(a, o);
        }
        return a;
}

/* --- a job's series */

static json_t *columns_of(const struct sg_series *s)
{
        json_t *o = json_object(), *time = json_array(), *eval = json_array(), *step = json_array(),
               *cpu = json_array(), *share = json_array(), *memory = json_array();

        for (uint64_t i = 0; i < s->n; i++) {
                const struct sg_point *p = &s->points[i];

                json_array_append_new(time, sg_json_number(p->time_usec));
                json_array_append_new(eval, real_or_null(p->eval));
                json_array_append_new(step, sg_json_number(p->step));
                json_array_append_new(cpu, real_or_null(p->cpu));
                json_array_append_new(share, real_or_null(p->share));
                json_array_append_new(memory, sg_json_number(p->memory_bytes));
        }
        json_object_set_new(o, "time", time);
        json_object_set_new(o, "eval", eval);
        json_object_set_new(o, "step", step);
        json_object_set_new(o, "cpu", cpu);
        json_object_set_new(o, "share", share);
        json_object_set_new(o, "memory_bytes", memory);
        return o;
}

int sg_series_document(struct sg_manager *m, const struct sg_job_key *key, char **ret)
{
        _cleanup_free_ struct sg_series *s = NULL;
        static const struct sg_series empty;
        char id[SG_JOB_ID_MAX];
        json_t *o;
        int r;

        r = sg_series_read(sg_store_dir(m->store), key, &s);
        if (r < 0 && r != -ENOENT && r != -EBADMSG) /* none yet, or it is started anew */
                return r;
        sg_job_id_format(id, key, m->node.name);
        o = json_object();
        json_object_set_new(o, "schema", json_string("schedgov.series/1"));
        json_object_set_new(o, "id", json_string(id));
        json_object_set_new(o, "columns", columns_of(s ?: &empty));
        return sg_json_dump(o, ret);
}
