/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rounds. A job is on the list from its start; its files are opened by the first round that it
 * lives to see, so that short jobs cost nothing here. One timer serves all.
 *
 * While jobs report, the reader's rounds lead: ours follow what it says instead of a timer of their
 * own, so that the daemon wakes up once per interval and not twice, and a report goes with the CPU
 * time that was read for its round. To wake up is what a round costs most.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/history/series-file.h"
#include "govern/loop.h"
#include "monitor/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <string.h>
#include <syslog.h>

/* Waits are asked for process by process: not in every round, and of so many of a job at most. */
#define DELAYS_ROUNDS 8
#define DELAYS_ROUNDS_MANY 16 /* as pressure in sg_sample_due() */
#define DELAYS_FIRST 4        /* What a new job can use is good to know soon. */
/* Memory that a burst of submissions or a list of thousands took goes back to the system: now and
 * then, and when a burst is over; also what the first looks at so many jobs, and decisions on them,
 * have taken after that. */
#define TRIM_ROUNDS 32
#define TRIM_BURST 64
#define TRIM_AFTER 4 /* rounds */
#define DELAYS_PIDS 512
/* Parts of an interval: how much sooner a round may be, and how much later when the reader
 * leads. */
#define EARLY_PARTS 8
#define LATE_PARTS 16

_Static_assert(sizeof(struct sg_measured) <= 512, "there are thousands of them");

/* One job */

uint64_t sg_monitor_running_usec(const struct sg_measured *d)
{
        uint64_t now = sg_now_monotonic_usec();

        if (d->live->job.state == SG_JOB_SUSPENDED || now < d->since_usec)
                return d->running_usec;
        return d->running_usec + (now - d->since_usec);
}

/* Groups of adopted jobs have no `job` below them. */
static void open_job(struct sg_measured *d)
{
        struct sg_live *l = d->live;
        const struct sg_group_dir *dirs;
        size_t n;

        dirs = sg_scope_dirs(l->groups.scope, &n);
        if (n > 0 && sg_sampler_new(&d->sampler, dirs, n, l->job.adopted != SG_ADOPTED_NOT) < 0)
                return;
        if (sg_series_open(l->manager->monitor->state_dir, &l->job.key, &d->series) < 0)
                d->series = NULL; /* it was logged there; the job is governed all the same */
        sg_monitor_replay(d);
}

static void sample_counters(struct sg_measured *d, struct sg_sample *s)
{
        struct sg_counters c;

        sg_scope_counters(d->live->groups.scope, &c);
        s->now_usec = sg_now_monotonic_usec();
        s->cpu_usec = c.cpu_usec;
        s->memory_bytes = c.memory_bytes;
        s->memory_peak_bytes = c.memory_peak_bytes;
        s->pids = c.pids;
}

static void say_trouble(struct sg_measured *d)
{
        char what[256], id[SG_JOB_ID_MAX];

        while (sg_sampler_trouble(d->sampler, what, sizeof(what))) {
                sg_job_id_format(id, &d->live->job.key, d->live->manager->node.name);
                sg_log_job(LOG_WARNING, NULL, id, what, "%s", what);
        }
}

static int read_groups(const struct sg_measured *d, uint32_t what, struct sg_sample *s)
{
        size_t n;
        const struct sg_group_dir *dirs = sg_scope_dirs(d->live->groups.scope, &n);

        sg_sampler_set_dirs(d->sampler, dirs, n); /* a new limit may need a new group */
        return sg_sampler_read(d->sampler, what, s);
}

static int sample(struct sg_measured *d, uint32_t what, struct sg_sample *s)
{
        uint64_t rx, tx;
        int r = 0;

        if (d->sampler)
                r = read_groups(d, what, s);
        else
                sample_counters(d, s);
        if (r < 0)
                return r;
        if (d->sampler)
                say_trouble(d);
        if (what & SG_SAMPLE_IO && sg_scope_net(d->live->groups.scope, &rx, &tx) >= 0) {
                s->net_rx_bytes = rx;
                s->net_tx_bytes = tx;
        }
        return 0;
}

void sg_monitor_record(struct sg_measured *d, float cpu, float share)
{
        const struct sg_progress *told = d->progress;
        const struct sg_point p = {
                .time_usec = sg_now_realtime_usec(),
                .eval = told ? told->eval : (double)NAN,
                .step = told && told->has & SG_REPORT_STEP ? told->step : SG_UNLIMITED,
                .memory_bytes = d->last.memory_bytes,
                .cpu = cpu,
                .share = share,
        };

        if (d->series)
                sg_series_add(d->series, &p);
}

static void look_at_delays(struct sg_monitor *mon, struct sg_measured *d)
{
        pid_t pids[DELAYS_PIDS];
        size_t n;

        if (!mon->taskstats)
                return;
        n = sg_scope_pids(d->live->groups.scope, pids, SG_ELEMENTSOF(pids));
        if (n == SG_ELEMENTSOF(pids)) { /* a part of them would be a wrong number */
                sg_delays_deinit(&d->delays);
                sg_delays_init(&d->delays);
        } else if (n > 0) {
                (void)sg_delays_update(&d->delays, mon->taskstats, pids, n);
        }
}

/* -ENOENT: its end is on its way. */
static int sample_for_round(struct sg_monitor *mon, struct sg_measured *d)
{
        struct sg_sample before = d->last;
        bool first = before.now_usec == 0;
        bool slow = mon->cadence.interval_usec > mon->cadence.base_usec;
        uint32_t what =
                first || slow ? SG_SAMPLE_ALL : sg_sample_due(mon->round, d->place, mon->n_running);
        int r;

        if (d->rounds <= DELAYS_FIRST)
                what |= SG_SAMPLE_PSI;
        r = sample(d, what, &d->last);
        if (r < 0)
                return r;
        if (sg_sample_rate(before.cpu_usec, d->last.cpu_usec, d->last.now_usec - before.now_usec,
                           &d->cpu_rate))
                d->cpu_rate /= SG_USEC_PER_SEC;
        d->active = first || sg_sample_active(&before, &d->last);
        d->sampled = true;
        sg_monitor_tell_queue(d, d->last.now_usec, d->last.cpu_usec);
        return 0;
}

/* Whether it did anything. */
static bool look_at(struct sg_monitor *mon, struct sg_measured *d)
{
        bool first = d->last.now_usec == 0, reported = d->reported;
        unsigned turns = mon->n_running > SG_SAMPLE_FEW ? DELAYS_ROUNDS_MANY : DELAYS_ROUNDS;
        bool waits = d->rounds++ < DELAYS_FIRST || (mon->round + d->place) % turns == 0;

        if (first && !d->sampler && !d->series)
                open_job(d);
        if (!d->sampled && sample_for_round(mon, d) < 0)
                return false;
        d->sampled = d->reported = false;
        if (waits)
                look_at_delays(mon, d);
        if (first)
                sg_monitor_follow(d);
        sg_loop_looked(d->live, waits);
        sg_monitor_record(d, (float)d->cpu_rate, (float)sg_loop_share(d->live, NULL, 0));
        return d->active || reported;
}

/* Rounds */

static int on_round(sd_event_source *source, uint64_t usec, void *userdata);

static void arm(struct sg_monitor *mon, uint64_t interval_usec)
{
        uint64_t slack = interval_usec / 20;
        uint64_t delay_usec = interval_usec + (mon->told_before ? interval_usec / LATE_PARTS : 0);
        int r;

        if (mon->timer) {
                r = sd_event_source_set_time_relative(mon->timer, delay_usec);
                if (r >= 0)
                        r = sd_event_source_set_time_accuracy(mon->timer, slack);
                if (r >= 0)
                        r = sd_event_source_set_enabled(mon->timer, SD_EVENT_ONESHOT);
        } else {
                r = sd_event_add_time_relative(mon->manager->event, &mon->timer, CLOCK_MONOTONIC,
                                               delay_usec, slack, on_round, mon);
        }
        if (r < 0)
                sg_log(LOG_ERR, "cannot set the monitor's timer: %s", strerror(-r));
        sg_readers_set_interval(mon->manager->readers, interval_usec);
}

static void trim(struct sg_monitor *mon)
{
        bool quiet = mon->next_place == mon->places_before;

        mon->places_before = mon->next_place;
        if (quiet && mon->next_place - mon->places_trimmed >= TRIM_BURST) {
                mon->places_trimmed = mon->next_place;
                mon->trims_due = TRIM_AFTER;
        }
        if (mon->trims_due == 0 && mon->round % TRIM_ROUNDS != 0)
                return;
        mon->trims_due -= mon->trims_due > 0;
        (void)malloc_trim(0);
}

static void run_round(struct sg_monitor *mon)
{
        struct sg_measured *d, *next;
        bool active = mon->reported;

        mon->reported = false;
        mon->told_before = mon->told;
        mon->told = false;
        mon->round_usec = sg_now_monotonic_usec();
        sg_monitor_look_at_node(mon);
        sg_list_foreach_safe (d, next, &mon->running, link)
                active |= look_at(mon, d);
        mon->round++;
        sg_loop_round_over(mon->manager->loop);
        trim(mon);
        if (sg_list_empty(&mon->running))
                sg_readers_set_interval(mon->manager->readers, 0);
        else
                arm(mon, sg_cadence_next(&mon->cadence, active));
}

static int on_round(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)source;
        (void)usec;
        run_round(userdata);
        return 0;
}

static bool is_nearly_due(const struct sg_monitor *mon)
{
        uint64_t interval = mon->cadence.interval_usec;

        return sg_now_monotonic_usec() - mon->round_usec >= interval - interval / EARLY_PARTS;
}

/* Twice in a row the reader's round was far from ours: our next one is put off to an interval from
 * now, when the reader's next one is due, and from then on the two are one. */
void sg_monitor_told(struct sg_monitor *mon)
{
        mon->told = true;
        if (sg_list_empty(&mon->running))
                return;
        if (is_nearly_due(mon))
                run_round(mon);
        else if (mon->told_before)
                arm(mon, mon->cadence.interval_usec);
}

/* A rate is made of two rounds: CPU time that is read between them is of no other use. */
uint64_t sg_monitor_cpu_now(struct sg_measured *d)
{
        struct sg_monitor *mon = d->live->manager->monitor;
        struct sg_sample now = d->last;

        if (!d->sampler)
                return now.cpu_usec;
        if (is_nearly_due(mon) && !d->sampled && now.now_usec > 0)
                return sample_for_round(mon, d) < 0 ? now.cpu_usec : d->last.cpu_usec;
        if (!d->sampled)
                (void)read_groups(d, SG_SAMPLE_CPU, &now);
        return now.cpu_usec;
}

bool sg_monitor_read_cpu(const struct sg_live *l, uint64_t fresh_usec, uint64_t *ret_cpu_usec)
{
        const struct sg_measured *d = l->measured;
        struct sg_sample s;

        if (!d || !d->sampler || sg_now_monotonic_usec() - d->last.now_usec < fresh_usec)
                return false;
        s = d->last;
        if (read_groups(d, SG_SAMPLE_CPU, &s) < 0 || s.cpu_usec == SG_UNLIMITED)
                return false;
        *ret_cpu_usec = s.cpu_usec;
        return true;
}

/* The queue subtracts it from what the node has in use, which is read now: a figure of the last
 * round would hide what others have taken since. */
uint64_t sg_monitor_memory_now(const struct sg_live *l)
{
        struct sg_measured *d = l->measured;
        const struct sg_group_dir *dirs;
        struct sg_sample now;
        size_t n;

        if (!d)
                return SG_UNLIMITED;
        dirs = sg_scope_dirs(l->groups.scope, &n);
        if (!d->sampler && n > 0)
                return sg_counters_read_memory(dirs, n);
        sg_sample_init(&now);
        return sample(d, SG_SAMPLE_MEMORY, &now) < 0 ? SG_UNLIMITED : now.memory_bytes;
}

void sg_monitor_wake(struct sg_monitor *mon)
{
        bool later = sg_cadence_reset(&mon->cadence);

        if (sg_list_empty(&mon->running))
                return;
        if (later || !mon->timer || sd_event_source_get_enabled(mon->timer, NULL) <= 0)
                arm(mon, mon->cadence.base_usec);
}

void sg_monitor_watch(struct sg_live *l)
{
        struct sg_monitor *mon = l->manager->monitor;
        struct sg_measured *d;
        uint64_t now = sg_now_realtime_usec();

        if (l->measured)
                return;
        d = calloc(1, sizeof(*d));
        if (!d) {
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot be measured: out of memory", l->job.key.n);
                return;
        }
        d->live = l;
        d->place = mon->next_place++;
        mon->n_running++;
        sg_sample_init(&d->last);
        d->last.now_usec = 0;
        sg_delays_init(&d->delays);
        d->cpu_rate = NAN;
        d->since_usec = sg_now_monotonic_usec();
        if (now > l->job.started_usec && l->job.started_usec > 0)
                d->running_usec = now - l->job.started_usec;
        d->goal = sg_progress_goal(l);
        l->measured = d;
        sg_list_append(&mon->running, &d->link);
        sg_monitor_tell_queue(d, d->since_usec, d->last.cpu_usec);
        sg_loop_add(l);
        sg_monitor_wake(mon);
}

void sg_monitor_pause(struct sg_live *l, bool suspended)
{
        struct sg_measured *d = l->measured;
        uint64_t now = sg_now_monotonic_usec();

        if (!d)
                return;
        if (suspended)
                d->running_usec += now - d->since_usec;
        d->since_usec = now;
        sg_monitor_tell_queue(d, now, d->last.cpu_usec);
        sg_loop_hold(l, suspended);
        sg_monitor_wake(l->manager->monitor);
}

void sg_monitor_forget(struct sg_live *l)
{
        struct sg_measured *d = l->measured;

        if (!d)
                return;
        if (sg_job_state_is_final(l->job.state))
                sg_monitor_record(d, NAN, NAN); /* with its last words */
        l->measured = NULL;
        sg_list_remove(&d->link);
        l->manager->monitor->n_running--;
        if (d->followed)
                sg_readers_forget(l->manager->readers, &l->job.key);
        sd_event_source_disable_unref(d->patience);
        sg_delays_deinit(&d->delays);
        sg_sampler_free(d->sampler);
        (void)(sg_job_state_is_final(l->job.state)
                       ? sg_series_finish(l->manager->monitor->state_dir, &l->job.key, d->series)
                       : sg_series_close(d->series));
        free(d->progress);
        free(d->status);
        free(d);
}

/* The object */

void sg_monitor_reload(struct sg_manager *m)
{
        const struct sg_settings *s = m->settings;

        if (!m->monitor)
                return;
        sg_cadence_init(&m->monitor->cadence, s->monitor_usec, s->monitor_max_usec);
        sg_monitor_wake(m->monitor);
}

/* Each of these tells something that is nice to know: without it the rest goes on. */
static void open_extras(struct sg_monitor *mon)
{
        const char *why;
        int r;

        r = sg_node_sampler_new(&mon->node_sampler);
        if (r < 0)
                sg_log(LOG_WARNING, "cannot read the node's counters: %s", strerror(-r));
        r = sg_links_new(&mon->links, mon->manager->event, NULL, NULL, &why);
        if (r != 0)
                sg_log(LOG_WARNING, "cannot see the network interfaces: %s",
                       r < 0 ? strerror(-r) : why);
        r = sg_taskstats_new(&mon->taskstats, &why);
        if (r != 0)
                sg_log(LOG_INFO, "how long jobs wait isn't shown: %s", r < 0 ? strerror(-r) : why);
        sg_monitor_look_at_node(mon);
}

int sg_monitor_new(struct sg_monitor **ret, struct sg_manager *m, const char *runtime_dir)
{
        struct sg_monitor *mon = calloc(1, sizeof(*mon));
        int r;

        if (!mon)
                return -ENOMEM;
        mon->manager = m;
        sg_list_init(&mon->running);
        sg_cadence_init(&mon->cadence, m->settings->monitor_usec, m->settings->monitor_max_usec);
        mon->state_dir = strdup(sg_store_dir(m->store));
        r = mon->state_dir ? sg_monitor_open_reports(mon, runtime_dir) : -ENOMEM;
        if (r < 0) {
                sg_monitor_free(mon);
                return r;
        }
        open_extras(mon);
        *ret = mon;
        return 0;
}

struct sg_monitor *sg_monitor_free(struct sg_monitor *mon)
{
        if (!mon)
                return NULL;
        sd_event_source_disable_unref(mon->timer);
        sg_monitor_close_reports(mon);
        sg_node_sampler_free(mon->node_sampler);
        sg_links_free(mon->links);
        sg_taskstats_free(mon->taskstats);
        free(mon->state_dir);
        free(mon);
        return NULL;
}
