/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What became of an attempt: its directory is read by the store when its keeper has said that it
 * ended, has gone, or is met again after a restart; core/life/fate.h makes of it what it means.
 * What lives on without its keeper is watched until its group is empty.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "jobs/internal.h"
#include "monitor/monitor.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

/* Its scope is stopped after us, so an end that we find at the next boot was most likely brought
 * about by the shutdown. */
bool sg_live_host_went_down(const struct sg_live *l)
{
        return strcmp(l->job.boot_id, l->manager->node.boot_id) != 0;
}

/* Looking */

static enum sg_finding keep(struct sg_live *l, const struct sg_exit *e)
{
        l->attempt.record = malloc(sizeof(*e));
        if (!l->attempt.record)
                return SG_FOUND_UNREADABLE;
        *l->attempt.record = *e;
        return SG_FOUND_RECORD;
}

static void on_inspected(int result, const struct sg_attempt_info *info, void *userdata)
{
        struct sg_live *l = userdata;
        const struct sg_circumstances c = {.met = l->life.met,
                                           .host_went_down = sg_live_host_went_down(l)};
        struct sg_life_event e = {.kind = SG_LIFE_E_LOOKED, .error = result};

        if (result >= 0) {
                e.finding = sg_fate_judge(info, &l->job, &c);
                e.pid = info->shim;
                e.reasons = info->frozen;
                if (e.finding == SG_FOUND_RECORD)
                        e.finding = keep(l, &info->exit);
                if (e.finding == SG_FOUND_UNREADABLE)
                        e.error = -ENOMEM;
        }
        sg_live_tell(l, &e);
}

void sg_do_look(struct sg_live *l)
{
        sg_store_inspect(l->manager->store, &l->job.key, SG_PUBLISH_NONE, on_inspected, l);
}

void sg_do_look_void(struct sg_live *l)
{
        sg_store_inspect(l->manager->store, &l->job.key, SG_PUBLISH_VOID, on_inspected, l);
}

void sg_do_say_unreadable(struct sg_live *l)
{
        sg_log(LOG_ERR, "job %" PRIu64 ": cannot read its attempt's directory: %s; trying again",
               l->job.key.n, strerror(-sg_live_event(l)->error));
}

/* It runs */

/* We died before the shim's word that it runs was stored. Its oldest child is the job's process. */
static pid_t find_main(pid_t shim)
{
        char path[64], line[4096];
        int pid;

        (void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)shim, (int)shim);
        if (sg_read_line_file(AT_FDCWD, path, line, sizeof(line)) < 0 ||
            sscanf(line, "%d", &pid) != 1)
                return 0;
        return pid;
}

static int follow(struct sg_live *l, pid_t shim, pid_t *ret_pid)
{
        pid_t pid = l->job.pid > 0 ? (pid_t)l->job.pid : find_main(shim);
        uint64_t age;
        int r = l->attempt.shim > 0 ? 0 : sg_live_watch_shim(l, shim, -1);

        if (r < 0)
                return r;
        if (l->attempt.runs_since_usec == 0 && sg_process_age_usec(pid, &age) >= 0)
                l->attempt.runs_since_usec = sg_now_boottime_usec() - age;
        if (sg_live_find_scope(l, shim) < 0)
                sg_log(LOG_ERR,
                       "job %" PRIu64 ": its groups aren't there any more, so it is neither "
                       "measured nor limited, and only its first process can be ended",
                       l->job.key.n);
        *ret_pid = pid;
        return 0;
}

/* Unwatched, its end would never be seen. */
void sg_do_follow(struct sg_live *l)
{
        struct sg_life_event e = {.kind = SG_LIFE_E_FOLLOWED};
        int r = follow(l, sg_live_event(l)->pid, &e.pid);

        if (r == -ESRCH) { /* it ended while we looked */
                e.kind = SG_LIFE_E_FOLLOW_GONE;
        } else if (r < 0) {
                e.kind = SG_LIFE_E_FOLLOW_FAILED;
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot watch its keeper: %s; trying again",
                       l->job.key.n, strerror(-r));
        }
        sg_live_result(l, &e);
}

void sg_do_take_up(struct sg_live *l)
{
        if (!l->groups.scope)
                return;
        sg_scope_set_main(l->groups.scope, l->attempt.shim, (pid_t)l->job.pid);
        sg_monitor_listen(l);
        sg_monitor_watch(l);
        (void)sg_live_watch_group(l);
}

/* It has ended */

void sg_do_say_keeper_lost(struct sg_live *l)
{
        if (l->groups.scope && sg_scope_populated(l->groups.scope) > 0)
                sg_log(LOG_WARNING, "job %" PRIu64 ": its keeper was killed; its processes go on",
                       l->job.key.n);
}

/* A group that can't be looked into, for want of a descriptor, isn't known to be empty. */
static bool may_live(const struct sg_live *l)
{
        int r = l->groups.scope ? sg_scope_populated(l->groups.scope) : 0;

        return r > 0 || (r < 0 && r != -ENOENT && r != -ENODEV);
}

/* The counters of a job of `run` are read when its command ends, and again if some of its processes
 * lived on. */
void sg_live_put_counters(struct sg_live *l, struct sg_end *end)
{
        const struct sg_counters *then = l->attempt.counters;
        struct sg_counters c;

        if (then && then->cpu_usec != SG_UNLIMITED && sg_scope_populated(l->groups.scope) <= 0)
                c = *then;
        else
                sg_scope_counters(l->groups.scope, &c);
        end->counted = true;
        end->cpu_usec = c.cpu_usec;
        end->memory_peak_bytes = c.memory_peak_bytes;
        end->oom_kills = c.oom_kills;
        end->io_read_bytes = c.io_read_bytes;
        end->io_write_bytes = c.io_write_bytes;
}

/* Processes that the command of `run` left in the background are still the job. So are those that a
 * killed keeper left, but how they end can't be known any more. */
void sg_do_check_groups(struct sg_live *l)
{
        struct sg_life_event e = {
                .kind = SG_LIFE_E_EMPTY,
                .end = {.record = l->attempt.record, .host_went_down = sg_live_host_went_down(l)}};

        if (may_live(l)) {
                sg_live_await_empty(l);
                if (may_live(l)) /* else it emptied before the watch stood */
                        return;
        }
        sg_live_unwatch_group(l);
        if (l->job.foreground && l->groups.scope)
                sg_live_put_counters(l, &e.end);
        sg_live_tell(l, &e);
}
