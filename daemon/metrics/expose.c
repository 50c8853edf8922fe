/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exposition: ourselves, the queue, the node, the network. In the order of the table. */
#include "base/process.h"
#include "base/time-util.h"
#include "metrics/internal.h"
#include <string.h>

#define FAMILY(w, id) sg_openmetrics_family(w, &sg_metrics[id])

/* The family's only sample. */
static void put_u64(struct sg_openmetrics *w, enum sg_metric_id id, uint64_t value)
{
        FAMILY(w, id);
        sg_openmetrics_u64(w, NULL, value);
}

static void put_usec(struct sg_openmetrics *w, enum sg_metric_id id, uint64_t usec)
{
        FAMILY(w, id);
        sg_openmetrics_usec(w, NULL, usec);
}

/* Ourselves */

static void put_build(struct sg_metrics *x, struct sg_openmetrics *w)
{
        struct sg_manager *m = x->manager;
        const struct sg_label labels[] = {{"version", SG_VERSION},
                                          {"backend", sg_backend_name(m->backend)},
                                          {"node", m->node.name},
                                          {0}};

        FAMILY(w, SG_METRIC_BUILD);
        sg_openmetrics_info(w, labels);
}

static void put_processes(struct sg_metrics *x, struct sg_openmetrics *w)
{
        const struct {
                const char *name;
                pid_t pid;
        } processes[] = {
                {"daemon", getpid()},
                {"store", sg_store_pid(x->manager->store)},
                {"reader", sg_readers_pid(x->manager->readers)},
        };
        struct sg_process_stat stat[SG_ELEMENTSOF(processes)];
        struct sg_label labels[SG_ELEMENTSOF(processes)][2] = {0};
        uint64_t tick_usec = SG_USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

        for (size_t i = 0; i < SG_ELEMENTSOF(processes); i++)
                if (processes[i].pid > 0 && sg_process_stat(processes[i].pid, &stat[i]) >= 0)
                        labels[i][0] = (struct sg_label){"process", processes[i].name};
        FAMILY(w, SG_METRIC_PROCESS_CPU);
        for (size_t i = 0; i < SG_ELEMENTSOF(processes); i++)
                if (labels[i][0].name)
                        sg_openmetrics_usec(w, labels[i], stat[i].ticks * tick_usec);
        FAMILY(w, SG_METRIC_PROCESS_MEMORY);
        for (size_t i = 0; i < SG_ELEMENTSOF(processes); i++)
                if (labels[i][0].name)
                        sg_openmetrics_u64(w, labels[i], stat[i].rss_pages * page);
}

static void put_daemon(struct sg_metrics *x, struct sg_openmetrics *w)
{
        struct sg_manager *m = x->manager;

        put_build(x, w);
        put_processes(x, w);
        put_usec(w, SG_METRIC_PROCESS_START, x->started_usec);
        put_usec(w, SG_METRIC_LOOP_DELAY, x->late_usec);
        put_u64(w, SG_METRIC_READER_RESTARTS, sg_readers_restarts(m->readers));
        put_u64(w, SG_METRIC_STORE_HEALTHY, !sg_store_error(m->store));
        put_u64(w, SG_METRIC_STORE_BACKLOG, sg_store_backlog(m->store));
}

/* The queue */

static void count_jobs(struct sg_metrics *x)
{
        const struct sg_live *l;

        for (size_t i = 0; i < x->n_classes; i++) {
                memset(x->classes[i].live, 0, sizeof(x->classes[i].live));
                x->classes[i].oldest_usec = 0;
        }
        sg_list_foreach (l, &x->manager->jobs->all, link) {
                struct sg_metrics_class *c = sg_metrics_class(x, l);

                if (!c || sg_job_state_is_final(l->job.state))
                        continue;
                c->live[l->job.state]++;
                if (l->job.state == SG_JOB_QUEUED &&
                    (c->oldest_usec == 0 || l->job.submitted_usec < c->oldest_usec))
                        c->oldest_usec = l->job.submitted_usec;
        }
}

static void put_states(struct sg_openmetrics *w, const struct sg_metrics_class *c, uint64_t first,
                       const uint64_t *counts, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct sg_label labels[] = {
                        {"class", c->name}, {"state", sg_job_state_to_string(first + i)}, {0}};

                sg_openmetrics_u64(w, labels, counts[i]);
        }
}

static void put_oldest(struct sg_openmetrics *w, const struct sg_metrics_class *c)
{
        const struct sg_label labels[] = {{"class", c->name}, {0}};
        uint64_t now = sg_now_realtime_usec();

        if (c->oldest_usec > 0) /* a clock that was set back makes it no time */
                sg_openmetrics_usec(w, labels, now > c->oldest_usec ? now - c->oldest_usec : 0);
}

static void put_queue(struct sg_metrics *x, struct sg_openmetrics *w)
{
        const struct sg_settings *s = x->manager->settings;
        const struct sg_metrics_class *c, *end = x->classes + x->n_classes;

        count_jobs(x);
        FAMILY(w, SG_METRIC_JOBS);
        for (c = x->classes; c < end; c++)
                put_states(w, c, 0, c->live, SG_METRICS_LIVE_STATES);
        put_u64(w, SG_METRIC_JOBS_MAX,
                sg_queue_slots(x->manager->jobs->queue, x->manager->node.n_cpus));
        FAMILY(w, SG_METRIC_JOBS_OLDEST);
        for (c = x->classes; c < end; c++)
                put_oldest(w, c);
        FAMILY(w, SG_METRIC_JOBS_STARTED);
        for (c = x->classes; c < end; c++)
                sg_openmetrics_u64(w, (struct sg_label[]){{"class", c->name}, {0}}, c->started);
        FAMILY(w, SG_METRIC_JOBS_ENDED);
        for (c = x->classes; c < end; c++)
                put_states(w, c, SG_JOB_FINAL, c->ended, SG_METRICS_ENDS);
        put_u64(w, SG_METRIC_JOBS_OMITTED, x->n_omitted);
        FAMILY(w, SG_METRIC_CLASS_WEIGHT);
        for (c = x->classes; c < end; c++)
                sg_openmetrics_u64(w, (struct sg_label[]){{"class", c->name}, {0}},
                                   s->classes[c - x->classes].weight);
}

/* The node */

static void put_cpu(struct sg_openmetrics *w, const struct sg_node_sample *n)
{
        struct sg_label labels[] = {{"mode", "idle"}, {0}};

        FAMILY(w, SG_METRIC_NODE_CPU);
        if (n->cpu_total_usec == SG_UNLIMITED)
                return;
        sg_openmetrics_usec(w, labels, n->cpu_idle_usec);
        labels[0].value = "iowait";
        sg_openmetrics_usec(w, labels, n->cpu_iowait_usec);
        labels[0].value = "busy";
        sg_openmetrics_usec(w, labels, n->cpu_total_usec - n->cpu_idle_usec - n->cpu_iowait_usec);
}

static void put_pressure(struct sg_openmetrics *w, const struct sg_node_sample *n)
{
        put_usec(w, SG_METRIC_NODE_PSI_CPU, n->cpu.some_usec);
        put_usec(w, SG_METRIC_NODE_PSI_MEMORY, n->memory.some_usec);
        put_usec(w, SG_METRIC_NODE_PSI_MEMORY_FULL, n->memory.full_usec);
        put_usec(w, SG_METRIC_NODE_PSI_IO, n->io.some_usec);
        put_usec(w, SG_METRIC_NODE_PSI_IO_FULL, n->io.full_usec);
}

static void put_node(struct sg_metrics *x, struct sg_openmetrics *w)
{
        struct sg_node_sample n;

        put_u64(w, SG_METRIC_NODE_CPUS, x->manager->node.n_cpus);
        if (!x->node)
                return;
        sg_node_sampler_read(x->node, &n);
        put_cpu(w, &n);
        FAMILY(w, SG_METRIC_NODE_LOAD);
        if (n.load_pm != SG_UNLIMITED)
                sg_openmetrics_double(w, NULL, (double)n.load_pm / 1e4);
        put_u64(w, SG_METRIC_NODE_RUNNING, n.procs_running);
        put_u64(w, SG_METRIC_NODE_BLOCKED, n.procs_blocked);
        put_u64(w, SG_METRIC_NODE_MEMORY_TOTAL, n.memory_total);
        put_u64(w, SG_METRIC_NODE_MEMORY_AVAILABLE, n.memory_available);
        put_u64(w, SG_METRIC_NODE_SWAP_TOTAL, n.swap_total);
        put_u64(w, SG_METRIC_NODE_SWAP_FREE, n.swap_free);
        put_u64(w, SG_METRIC_NODE_SWAP_IN, n.swap_in_bytes);
        put_u64(w, SG_METRIC_NODE_SWAP_OUT, n.swap_out_bytes);
        put_pressure(w, &n);
}

/* The network */

#define MBIT_BYTES 125000U

/* Interfaces of containers come and go by the hundred: they aren't shown. */
static bool is_shown(const struct sg_link *link)
{
        return !link->loopback && strcmp(link->kind, "veth") != 0;
}

static uint64_t link_up(const struct sg_link *link)
{
        return link->up && link->carrier;
}

static uint64_t link_speed(const struct sg_link *link)
{
        return link->speed_mbit == SG_UNLIMITED ? SG_UNLIMITED : link->speed_mbit * MBIT_BYTES;
}

static void put_links(struct sg_metrics *x, struct sg_openmetrics *w)
{
        static const struct {
                enum sg_metric_id id;
                uint64_t (*get)(const struct sg_link *link); /* or: */
                size_t offset;
        } figures[] = {
                {SG_METRIC_NET_UP, link_up, 0},
                {SG_METRIC_NET_SPEED, link_speed, 0},
                {SG_METRIC_NET_RX, NULL, offsetof(struct sg_link, rx_bytes)},
                {SG_METRIC_NET_TX, NULL, offsetof(struct sg_link, tx_bytes)},
                {SG_METRIC_NET_RX_ERRORS, NULL, offsetof(struct sg_link, rx_errors)},
                {SG_METRIC_NET_TX_ERRORS, NULL, offsetof(struct sg_link, tx_errors)},
                {SG_METRIC_NET_RX_DROPPED, NULL, offsetof(struct sg_link, rx_dropped)},
                {SG_METRIC_NET_TX_DROPPED, NULL, offsetof(struct sg_link, tx_dropped)},
        };
        struct sg_links *links = sg_monitor_links(x->manager->monitor);
        const struct sg_link *all;
        size_t n;

        all = sg_links_get(links, &n);
        for (size_t i = 0; i < SG_ELEMENTSOF(figures); i++) {
                FAMILY(w, figures[i].id);
                for (const struct sg_link *l = all; l < all + n; l++) {
                        const struct sg_label labels[] = {{"device", l->name}, {0}};
                        const char *field = (const char *)l + figures[i].offset;

                        if (is_shown(l))
                                sg_openmetrics_u64(w, labels,
                                                   figures[i].get ? figures[i].get(l)
                                                                  : *(const uint64_t *)field);
                }
        }
}

int sg_metrics_expose(struct sg_openmetrics *w, enum sg_openmetrics_format format, void *metrics)
{
        struct sg_metrics *x = metrics;
        int r = sg_metrics_collect_jobs(x);

        if (r < 0)
                return r;
        sg_openmetrics_begin(w, format);
        put_daemon(x, w);
        put_queue(x, w);
        put_node(x, w);
        put_links(x, w);
        sg_metrics_put_gpus(x, w);
        sg_metrics_put_jobs(x, w);
        return sg_openmetrics_end(w);
}
