/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A burst of jobs must not become a burst of messages that the service manager wakes up for, just
 * when it makes their scopes: so jobs are counted at most once a second, and only after something
 * has happened.
 */
#include "readiness.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "manager.h"
#include <errno.h>
#include <inttypes.h>
#include <systemd/sd-daemon.h>

struct sg_readiness {
        struct sg_manager *manager;
        sd_event_source *after, *timer; /* after: every event; timer: set while a look is due */
        bool armed, looked;
        uint64_t running, waiting; /* as last told */
};

static void count(const struct sg_manager *m, uint64_t *ret_running, uint64_t *ret_waiting)
{
        const struct sg_live *l;

        *ret_running = *ret_waiting = 0;
        sg_list_foreach (l, &m->jobs->all, link) {
                *ret_waiting += l->job.state == SG_JOB_QUEUED;
                *ret_running +=
                        l->job.state != SG_JOB_QUEUED && !sg_job_state_is_final(l->job.state);
        }
}

static void tell(struct sg_readiness *n, const char *prefix)
{
        (void)sd_notifyf(0, "%sSTATUS=%" PRIu64 " running, %" PRIu64 " waiting", prefix, n->running,
                         n->waiting);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_readiness *n = userdata;
        uint64_t running, waiting;

        (void)source;
        (void)usec;
        n->armed = false;
        n->looked = true;
        count(n->manager, &running, &waiting);
        if (running == n->running && waiting == n->waiting)
                return 0;
        n->running = running;
        n->waiting = waiting;
        tell(n, "");
        return 0;
}

static int on_event(sd_event_source *source, void *userdata)
{
        struct sg_readiness *n = userdata;

        (void)source;
        if (n->looked) { /* this was our own timer: the daemon is idle */
                n->looked = false;
                return 0;
        }
        if (n->armed)
                return 0;
        n->armed = sd_event_source_set_time_relative(n->timer, SG_USEC_PER_SEC) >= 0 &&
                   sd_event_source_set_enabled(n->timer, SD_EVENT_ONESHOT) >= 0;
        return 0;
}

int sg_readiness_new(struct sg_readiness **ret, struct sg_manager *m)
{
        struct sg_readiness *n;
        int r;

        if (!getenv("NOTIFY_SOCKET"))
                return 0;
        r = sd_event_set_watchdog(m->event, 1);
        if (r < 0)
                return r;
        n = calloc(1, sizeof(*n));
        if (!n)
                return -ENOMEM;
        n->manager = m;
        r = sd_event_add_time_relative(m->event, &n->timer, CLOCK_MONOTONIC, SG_USEC_PER_SEC, 0,
                                       on_timer, n);
        if (r >= 0)
                r = sd_event_source_set_enabled(n->timer, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_post(m->event, &n->after, on_event, n);
        if (r < 0) {
                sg_readiness_free(n);
                return r;
        }
        count(m, &n->running, &n->waiting);
        tell(n, "READY=1\n");
        *ret = n;
        return 0;
}

struct sg_readiness *sg_readiness_free(struct sg_readiness *n)
{
        if (!n)
                return NULL;
        sd_event_source_disable_unref(n->after);
        sd_event_source_disable_unref(n->timer);
        free(n);
        return NULL;
}

void sg_readiness_reloading(void)
{
        (void)sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, sg_now_monotonic_usec());
}

void sg_readiness_ready(void)
{
        (void)sd_notify(0, "READY=1");
}
