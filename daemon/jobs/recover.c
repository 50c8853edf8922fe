/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's return: every job that isn't final in the store is taken up again where it stands. A
 * queued one waits; of any other the attempt's directory tells, and until it has told nothing is
 * started.
 */
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/common/worker.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "jobs/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>

#define SWEEP_USEC (100ULL * 1000)
#define SWEEPS_MAX 100

/* Enters a job that runs into the queue's figures, as if the queue had started it then. */
static void describe_entry(struct sg_live *l)
{
        uint64_t now = sg_now_realtime_usec(), monotonic = sg_now_monotonic_usec();
        uint64_t ran = l->job.started_usec > 0 && now > l->job.started_usec
                               ? now - l->job.started_usec
                               : 0;

        l->queued.entry.n = l->job.key.n;
        sg_queue_describe(l->manager->jobs->queue, &l->queued.entry, &l->job,
                          sg_loop_history(l->manager, &l->job));
        l->queued.entry.gpu_hundredths = sg_gpus_held(l);
        l->queued.entry.started_usec = monotonic > ran ? monotonic - ran : 0;
}

void sg_do_take_place(struct sg_live *l)
{
        int r = sg_queue_add(l->manager->jobs->queue, &l->queued.entry, l->job.class, l->job.uid,
                             true);

        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot count it as running: %s", l->job.key.n,
                       strerror(-r));
        sg_throttle_count(l);
}

/* The terminal of a queued `run` lost its connection with the daemon before us: it waits no more.
 */
static void drop_unstarted_run(struct sg_live *l)
{
        (void)sg_job_set_reason(&l->job, "the daemon was restarted before it started");
        sg_live_tell(l, &(struct sg_life_event){.kind = SG_LIFE_E_FAIL, .state = SG_JOB_KILLED});
}

static void meet(struct sg_live *l)
{
        bool queued = l->job.state == SG_JOB_QUEUED;

        sg_live_tell_kind(l, queued ? SG_LIFE_E_MET_QUEUED : SG_LIFE_E_MET_LIVE);
        if (queued && l->job.foreground)
                drop_unstarted_run(l);
}

struct load {
        struct sg_manager *manager;
        int error;
};

static void on_loaded(int result, const struct sg_job *job, void *userdata)
{
        struct load *load = userdata;
        struct sg_record copy = {0};
        struct sg_live *l;
        int r = result;

        if (r < 0 || !job || load->error < 0)
                return;
        r = sg_live_new(&l, load->manager, job->key.n);
        if (r >= 0) {
                sg_job_encode(job, &copy);
                r = copy.error < 0 ? copy.error : sg_job_decode(&l->job, copy.data, copy.size);
        }
        sg_record_deinit(&copy);
        if (r >= 0 && !l->job.adopted)
                r = sg_live_find_stored(l, job->spec_bytes);
        if (r >= 0)
                r = sg_live_find_throttle(l);
        if (r < 0) {
                load->error = r;
                return;
        }
        l->class = sg_settings_class_or_default(load->manager->settings, l->job.class);
        sg_gpus_hold(l);
        describe_entry(l);
}

static bool is_owned(const char *attempt, void *userdata)
{
        struct sg_manager *m = userdata;
        struct sg_job_key key;
        const struct sg_live *l;

        if (sg_attempt_name_parse(attempt, &key) < 0)
                return false;
        l = sg_manager_find_key(m, &key);
        return l && l->groups.scope && l->job.key.attempt == key.attempt;
}

/* Workers wait for themselves, and so does the shim of a job that lives. */
static bool is_nobodys(const struct sg_manager *m, pid_t pid)
{
        const struct sg_live *l;

        if (sg_worker_is_one(pid))
                return false;
        sg_list_foreach (l, &m->jobs->active, groups.active_link)
                if (l->attempt.shim == pid)
                        return false;
        return true;
}

void sg_manager_reap(const struct sg_manager *m)
{
        siginfo_t child;

        for (;;) {
                child.si_pid = 0;
                if (waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 ||
                    child.si_pid == 0 || !is_nobodys(m, child.si_pid))
                        return;
                (void)waitpid(child.si_pid, NULL, 0);
        }
}

/* Keepers of jobs that have ended may outlive our restart by a moment; what stays longer is
 * somebody's, and left alone. */
static int on_sweep(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_manager *m = userdata;
        int n = sg_backend_sweep(m->backend, is_owned, m);

        (void)usec;
        sg_manager_reap(m);
        if (n == 0 || m->jobs->sweeps++ == SWEEPS_MAX) {
                if (n > 0)
                        sg_log(LOG_WARNING,
                               "%d groups of ours hold processes of no job that is known; they are "
                               "left alone",
                               n);
                m->jobs->sweep = sd_event_source_disable_unref(m->jobs->sweep);
                return 0;
        }
        (void)sd_event_source_set_time_relative(source, SWEEP_USEC);
        (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        return 0;
}

int sg_manager_recover(struct sg_manager *m)
{
        struct load load = {.manager = m};
        struct sg_live *l, *next;
        int r;

        sg_manager_count_kept(m);
        sg_manager_unbound_stored(m);
        r = sg_store_load(m->store, &m->jobs->last_n, on_loaded, &load);
        if (r >= 0)
                r = load.error;
        sg_manager_bound_stored(m);
        if (r < 0)
                return r;
        sg_list_foreach_safe (l, next, &m->jobs->all, link)
                if (!l->job.adopted) /* its group tells, see adopt.c */
                        meet(l);
        sg_list_foreach_safe (l, next, &m->jobs->all, link)
                if (l->life.state == SG_LIFE_WAITING)
                        sg_do_await(l);
        return sd_event_add_time_relative(m->event, &m->jobs->sweep, CLOCK_MONOTONIC, 0, 0,
                                          on_sweep, m);
}
