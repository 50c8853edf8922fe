/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Hearing that nothing lives in a job's group any more. A keeper would say so as well, but on a
 * node full of jobs it first has to wait for the CPU, 60 ms and more, while the share of the
 * dead job should go to others at once. Where the keeper has gone, nobody else says it.
 */
#include "base/file.h"
#include "base/process.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "jobs/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

#define GROUP_POLL_USEC (1ULL * 1000000)

static int open_events(const struct sg_live *l)
{
        const char *dir = sg_live_unified_group(l);
        char path[PATH_MAX];

        if (!dir || sg_path_join(path, sizeof(path), dir, "job/cgroup.events") < 0)
                return -ENOENT;
        return open(path, O_RDONLY | O_CLOEXEC);
}

int sg_live_watch_group(struct sg_live *l)
{
        int r;

        if (l->groups.events >= 0)
                return 0;
        l->groups.events = l->groups.scope ? open_events(l) : -ENOENT;
        if (l->groups.events < 0)
                return -ENOENT;
        r = sg_poller_add_notified(l->manager->jobs->groups, l->groups.events, l);
        if (r < 0)
                l->groups.events = sg_close(l->groups.events);
        return r;
}

static int on_group_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)usec;
        (void)sd_event_source_set_time_relative(source, GROUP_POLL_USEC);
        (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        sg_do_check_groups(userdata);
        return 0;
}

/* A group that can't be looked into may be empty already, and then no event comes from it any more.
 */
static bool will_be_told(struct sg_live *l)
{
        return sg_live_watch_group(l) >= 0 && sg_scope_populated(l->groups.scope) >= 0;
}

void sg_live_await_empty(struct sg_live *l)
{
        int r;

        if (l->groups.poll || will_be_told(l))
                return;
        r = sd_event_add_time_relative(l->manager->event, &l->groups.poll, CLOCK_MONOTONIC,
                                       GROUP_POLL_USEC, 0, on_group_timer, l);
        if (r < 0)
                sg_log(LOG_ERR, "job %" PRIu64 ": cannot watch its group: %s", l->job.key.n,
                       strerror(-r));
}

void sg_live_unwatch_group(struct sg_live *l)
{
        sg_poller_remove(l->manager->jobs->groups, l->groups.events);
        l->groups.events = sg_close(l->groups.events);
        l->groups.poll = sd_event_source_disable_unref(l->groups.poll);
}

/* The living processes of a job may have moved to another group, as podman moves itself. */
static bool has_moved_out(const struct sg_live *l)
{
        struct sg_process_stat main;

        return sg_process_stat((pid_t)l->job.pid, &main) >= 0 && sg_process_is_alive(&main) &&
               !main.exiting;
}

void sg_live_on_group(void *userdata)
{
        struct sg_live *l = userdata;

        if (l->life.state == SG_LIFE_LINGERING)
                sg_do_check_groups(l);
        else if (sg_scope_populated(l->groups.scope) == 0 && !has_moved_out(l))
                sg_loop_over(l);
}
