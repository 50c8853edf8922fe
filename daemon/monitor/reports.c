/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What jobs report: lines that the reader found in their output and files, and datagrams on the
 * notify socket; and what they are told in turn, their allocation.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/channel/allocation.h"
#include "edge/common/log.h"
#include "edge/history/series-file.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "monitor/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* What a job that has ended wrote last is usually read within a millisecond; a reader that hangs on
 * a disk doesn't hold up the end of jobs. */
#define LAST_WORDS_USEC (500ULL * 1000)
/* Points of its series from which a restarted daemon learns how fast a job is. */
#define REPLAYED_POINTS 32U

static struct sg_live *find(struct sg_monitor *mon, const struct sg_job_key *key)
{
        struct sg_live *l = sg_manager_find_key(mon->manager, key);

        return l && l->measured && l->job.key.attempt == key->attempt ? l : NULL;
}

/* One report */

static void begin_progress(const struct sg_measured *d, struct sg_progress *p)
{
        sg_progress_init(p, d->goal, d->live->job.steps);
}

/* Most jobs never say anything. */
static int make_progress(struct sg_measured *d)
{
        if (d->progress)
                return 0;
        d->progress = malloc(sizeof(*d->progress));
        if (!d->progress)
                return -ENOMEM;
        begin_progress(d, d->progress);
        return 0;
}

/* The row gets what was said last: of an ended job nothing else remains. */
static void note_in_row(struct sg_live *l)
{
        struct sg_progress_view v;
        struct sg_job *j = &l->job;

        sg_monitor_view(l, &v);
        if (v.epoch > 0) /* whole epochs may have been all of it */
                j->total = v.step == v.total ? v.before + v.total : SG_UNLIMITED;
        sg_progress_view_run(&v);
        if (v.has & SG_REPORT_EVAL)
                (void)snprintf(j->eval, sizeof(j->eval), "%.9g", v.eval);
        if (v.has & SG_REPORT_STEP)
                j->step = v.step;
        if (v.has & SG_REPORT_TOTAL)
                j->total = v.total;
}

static void feed(struct sg_monitor *mon, struct sg_live *l, const struct sg_report *report,
                 const char *source)
{
        struct sg_measured *d = l->measured;
        uint64_t cpu_usec = sg_monitor_cpu_now(d);

        if (make_progress(d) >= 0)
                sg_progress_feed(d->progress, report, sg_monitor_running_usec(d), cpu_usec);
        if (strcmp(d->source, source) != 0)
                (void)snprintf(d->source, sizeof(d->source), "%s", source);
        d->reported = true;
        if (l->job.state != SG_JOB_RUNNING) /* its end has been told already */
                note_in_row(l);
        sg_loop_heard(l, report, cpu_usec);
        if (!mon->reported) {
                mon->reported = true;
                sg_monitor_wake(mon);
        }
}

void sg_monitor_view(const struct sg_live *l, struct sg_progress_view *ret)
{
        const struct sg_measured *d = l->measured;
        struct sg_progress nothing;

        if (d && !d->progress)
                begin_progress(d, &nothing);
        if (d)
                sg_progress_view(d->progress ?: &nothing, sg_monitor_running_usec(d), ret);
        else
                *ret = (struct sg_progress_view){.eval = NAN,
                                                 .best = NAN,
                                                 .fraction = NAN,
                                                 .eta_sec = NAN,
                                                 .eta_low_sec = NAN,
                                                 .eta_high_sec = NAN};
}

/* From the reader */

static void on_report(const struct sg_job_key *key, const struct sg_report *report,
                      uint64_t n_reports, const char *source, void *userdata)
{
        struct sg_live *l = find(userdata, key);

        (void)n_reports;
        if (l)
                feed(userdata, l, report, source);
}

static void on_trouble(const struct sg_job_key *key, const char *what, void *userdata)
{
        struct sg_monitor *mon = userdata;
        char id[SG_JOB_ID_MAX];

        sg_job_id_format(id, key, mon->manager->node.name);
        sg_log_job(LOG_WARNING, NULL, id, what, "its progress: %s", what);
}

static void end_of_words(struct sg_live *l)
{
        struct sg_measured *d = l->measured;
        void (*done)(struct sg_live *) = d->last_words;

        note_in_row(l);
        sg_monitor_record(d, NAN, NAN); /* who waits for its end sees the last of it */
        d->followed = false;
        d->last_words = NULL;
        d->patience = sd_event_source_disable_unref(d->patience);
        if (done)
                done(l);
}

static void on_finished(const struct sg_job_key *key, void *userdata)
{
        struct sg_live *l = find(userdata, key);

        if (l)
                end_of_words(l);
}

static void on_round(void *userdata)
{
        sg_monitor_told(userdata);
}

static int on_impatience(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_live *l = userdata;

        (void)source;
        (void)usec;
        sg_readers_forget(l->manager->readers, &l->job.key);
        end_of_words(l);
        return 0;
}

static void note_network(struct sg_live *l)
{
        uint64_t rx, tx;

        if (l->groups.scope && sg_scope_net(l->groups.scope, &rx, &tx) >= 0) {
                l->job.net_rx_bytes = rx;
                l->job.net_tx_bytes = tx;
        }
}

/* A job that ended while no daemon was there: its series knows what it said, up to the last
 * word. */
static void recall(struct sg_live *l)
{
        _cleanup_free_ struct sg_series *s = NULL;
        const struct sg_point *p;

        if (l->attempt.begun_usec > 0 || l->job.eval[0] || l->job.started_usec == 0 ||
            sg_series_read(l->manager->monitor->state_dir, &l->job.key, &s) < 0 || s->n == 0)
                return;
        p = &s->points[s->n - 1];
        if (p->time_usec < l->job.started_usec)
                return;
        if (!isnan(p->eval))
                (void)snprintf(l->job.eval, sizeof(l->job.eval), "%.9g", p->eval);
        l->job.step = p->step;
}

bool sg_monitor_finish(struct sg_live *l, void (*done)(struct sg_live *l))
{
        struct sg_measured *d = l->measured;
        int r;

        note_network(l);
        if (d)
                note_in_row(l);
        else
                recall(l);
        if (!d || !d->followed)
                return false;
        if (sg_readers_finish(l->manager->readers, &l->job.key) < 0)
                return false;
        r = sd_event_add_time_relative(l->manager->event, &d->patience, CLOCK_MONOTONIC,
                                       LAST_WORDS_USEC, 0, on_impatience, l);
        if (r < 0) { /* nobody would end the wait */
                sg_readers_forget(l->manager->readers, &l->job.key);
                return false;
        }
        d->last_words = done;
        return true;
}

void sg_monitor_follow(struct sg_measured *d)
{
        struct sg_live *l = d->live;
        struct sg_follow_space space;
        struct sg_follow f;
        int r;

        if (!sg_progress_follow(l, &f, &space))
                return;
        r = sg_readers_follow(l->manager->readers, &f);
        free(space.expanded);
        d->followed = r >= 0;
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot follow its progress: %s", l->job.key.n,
                       strerror(-r));
}

/* The beginning */

/* What an earlier daemon knew of a job, as far as its series tells. */
void sg_monitor_replay(struct sg_measured *d)
{
        const struct sg_series *s = d->series;
        uint64_t first, begun = d->live->job.started_usec;

        if (!s || d->source[0] || s->n == 0 || s->points[s->n - 1].time_usec < begun)
                return;
        first = s->n > REPLAYED_POINTS ? s->n - REPLAYED_POINTS : 0;
        for (uint64_t i = first; i < s->n; i++) {
                const struct sg_point *p = &s->points[i];
                struct sg_report r = {.eval = p->eval, .step = p->step};

                if (p->time_usec < begun)
                        continue;
                r.has |= isnan(p->eval) ? 0 : SG_REPORT_EVAL;
                r.has |= p->step == SG_UNLIMITED ? 0 : SG_REPORT_STEP;
                if (r.has && make_progress(d) >= 0)
                        sg_progress_feed(d->progress, &r, p->time_usec - begun, SG_UNLIMITED);
        }
}

/* The notify socket */

static enum sg_notify_who membership(const struct sg_live *l, const struct sg_notify_sender *s)
{
        enum sg_membership part = sg_live_membership(l, s->group, s->group_v1);

        return part == SG_MEMBER_JOB      ? SG_NOTIFY_JOB
               : part == SG_MEMBER_KEEPER ? SG_NOTIFY_KEEPER
                                          : SG_NOTIFY_NOBODY;
}

/* What a job says first may be here before its keeper's word that it runs. */
static void look_for_starting(const struct sg_monitor *mon, const struct sg_notify_sender *sender)
{
        struct sg_live *l;

        sg_list_foreach (l, &mon->manager->jobs->active, groups.active_link) {
                if (l->job.state != SG_JOB_STARTING || membership(l, sender) != SG_NOTIFY_JOB)
                        continue;
                sg_live_speaks(l);
                return;
        }
}

static enum sg_notify_who find_sender(const struct sg_monitor *mon,
                                      const struct sg_notify_sender *sender, struct sg_job_key *ret)
{
        const struct sg_measured *d;

        sg_list_foreach (d, &mon->running, link) {
                enum sg_notify_who who;

                if (!d->live->groups.scope)
                        continue;
                who = membership(d->live, sender);
                if (who == SG_NOTIFY_NOBODY)
                        continue;
                if (sender->uid != 0 && sender->uid != d->live->job.uid)
                        return SG_NOTIFY_NOBODY;
                *ret = d->live->job.key;
                return who;
        }
        return SG_NOTIFY_NOBODY;
}

static enum sg_notify_who on_lookup(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                                    void *userdata)
{
        look_for_starting(userdata, sender);
        return find_sender(userdata, sender, ret);
}

/* A process of the job has threads that follow, so many at most; of several processes the largest
 * number counts. Each says it once, so the row keeps it over a restart. */
static void note_follows(struct sg_live *l, uint64_t threads)
{
        if (threads <= l->job.follows || l->job.adopted)
                return;
        l->job.follows = threads;
        sg_store_update(l->manager->store, &l->job, NULL, NULL);
        sg_loop_changed(l);
}

static void on_message(const struct sg_job_key *key, const struct sg_notify *message,
                       void *userdata)
{
        struct sg_live *l = find(userdata, key);
        char *status;

        if (!l)
                return;
        if (message->report.has)
                feed(userdata, l, &message->report, "notify");
        if (message->has_status) {
                status = strdup(message->status);
                free(l->measured->status);
                l->measured->status = status;
        }
        note_follows(l, message->follows);
}

/* The allocation channel */

/* When its time limit ends it, which runs from GO; 0 = it has none, or one beyond the end of
 * time. */
static uint64_t ends_at(const struct sg_live *l)
{
        const struct sg_job *j = &l->job;
        uint64_t from = l->attempt.let_go_usec > 0 ? l->attempt.let_go_usec : j->started_usec, at;

        if (j->limits.time_limit_usec == SG_UNLIMITED || j->started_usec == 0 ||
            __builtin_add_overflow(from, j->limits.time_limit_usec, &at))
                return 0;
        return at;
}

void sg_monitor_publish(struct sg_live *l)
{
        struct sg_monitor *mon = l->manager->monitor;
        struct sg_allocation a = {0};
        const struct sg_limits *limits = &l->job.limits;
        const struct sg_allocation_input in = {
                .node = &l->manager->node.cpus,
                .pinned = l->groups.own ? &l->groups.own->cpus : NULL,
                .cpus = sg_loop_cpus(l),
                .quota_pm = limits->cpu_quota_pm,
                .gpus = sg_gpus_visible(l),
                .deadline_usec = ends_at(l),
        };
        int r;

        if (!mon || !mon->allocations || l->job.adopted)
                return;
        sg_allocation_decide(&a, &in);
        r = sg_allocations_publish(mon->allocations, &l->job.key, &a);
        if (r > 0)
                (void)sg_notify_socket_signal(mon->notify, &l->job.key);
        else if (r < 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": cannot tell it its allocation: %s",
                       l->job.key.n, strerror(-r));
}

void sg_monitor_unpublish(struct sg_live *l)
{
        struct sg_monitor *mon = l->manager->monitor;

        if (!mon || l->job.adopted || l->job.key.attempt == 0)
                return;
        if (mon->allocations)
                (void)sg_allocations_remove(mon->allocations, &l->job.key);
        if (mon->notify)
                sg_notify_socket_forget(mon->notify, &l->job.key);
}

void sg_monitor_listen(struct sg_live *l)
{
        struct sg_monitor *mon = l->manager->monitor;
        char path[PATH_MAX];
        int r;

        if (!mon || !mon->allocations || !mon->notify || l->job.adopted)
                return;
        r = sg_allocations_prepare(mon->allocations, &l->job.key);
        if (r >= 0)
                r = sg_allocations_socket_path(mon->allocations, &l->job.key, path, sizeof(path));
        if (r >= 0)
                r = sg_notify_socket_admit(mon->notify, &l->job.key, path, (uid_t)l->job.uid);
        if (r < 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": it shares its notify socket with others: %s",
                       l->job.key.n, strerror(-r));
}

int sg_monitor_paths(const struct sg_live *l, struct sg_monitor_paths *ret)
{
        const struct sg_monitor *mon = l->manager->monitor;
        int r;

        (void)snprintf(ret->notify, sizeof(ret->notify), "%s", mon->notify_path);
        if (!mon->allocations)
                return -ENOENT;
        if (sg_notify_socket_has(mon->notify, &l->job.key)) {
                r = sg_allocations_socket_path(mon->allocations, &l->job.key, ret->notify,
                                               sizeof(ret->notify));
                if (r < 0)
                        return r;
        }
        r = sg_allocations_script_path(mon->allocations, &l->job.key, ret->script,
                                       sizeof(ret->script));
        return r < 0 ? r
                     : sg_allocations_path(mon->allocations, &l->job.key, ret->allocation,
                                           sizeof(ret->allocation));
}

static bool is_live(const struct sg_job_key *key, void *userdata)
{
        struct sg_monitor *mon = userdata;
        const struct sg_live *l = sg_manager_find_key(mon->manager, key);

        return l && l->job.key.attempt == key->attempt;
}

static int open_allocations(struct sg_monitor *mon, const char *runtime_dir)
{
        _cleanup_free_ char *path = NULL;

        if (asprintf(&path, "%s/allocation", runtime_dir) < 0)
                return -ENOMEM;
        return sg_allocations_open(&mon->allocations, path);
}

void sg_monitor_sweep(struct sg_monitor *mon)
{
        int r = sg_allocations_sweep(mon->allocations, is_live, mon);

        if (r < 0)
                sg_log(LOG_WARNING, "cannot remove allocations of jobs that are gone, ignoring: %s",
                       strerror(-r));
}

int sg_monitor_open_reports(struct sg_monitor *mon, const char *runtime_dir)
{
        const struct sg_job_reader_calls calls = {.report = on_report,
                                                  .finished = on_finished,
                                                  .trouble = on_trouble,
                                                  .round = on_round,
                                                  .userdata = mon};
        struct sg_notify_socket_options notify = {.v1_controller = "memory",
                                                  .lookup = on_lookup,
                                                  .on_message = on_message,
                                                  .userdata = mon};
        int r;

        if (asprintf(&mon->notify_path, "%s/notify", runtime_dir) < 0) {
                mon->notify_path = NULL;
                return -ENOMEM;
        }
        notify.path = mon->notify_path;
        r = sg_readers_attach(mon->manager->readers, mon->manager->event, &calls);
        if (r >= 0)
                r = sg_notify_socket_new(&mon->notify, mon->manager->event, &notify);
        return r < 0 ? r : open_allocations(mon, runtime_dir);
}

void sg_monitor_close_reports(struct sg_monitor *mon)
{
        sg_notify_socket_free(mon->notify);
        sg_allocations_close(mon->allocations);
        free(mon->notify_path);
}
