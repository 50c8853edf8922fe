/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What else tell.c calls: the queue, the store and the event loop, played. */

#include "tests/unit/daemon/jobs/test_tell_actions.h"

void sg_manager_schedule(struct sg_manager *m)
{
        assert_ptr_equal(m, &w.manager);
        w.schedules++;
}

static void changed(struct sg_manager *m, const struct sg_job *job)
{
        assert_ptr_equal(m, &w.manager);
        assert_ptr_equal(job, &w.job.job);
        w.changes++;
}

void fake_store_update(struct sg_store *s, const struct sg_job *job, sg_store_cb cb, void *userdata)
{
        (void)s;
        (void)job;
        (void)userdata;
        assert_null(cb); /* a hint */
        w.stored++;
}

static sd_event_source *source_of(const struct timer *t)
{
        return (sd_event_source *)(void *)(uintptr_t)t;
}

int fake_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t delay_usec,
                           uint64_t accuracy, sd_event_time_handler_t handler, void *userdata)
{
        struct timer *t = &w.timers[ret - w.job.timers];

        (void)e;
        (void)accuracy;
        assert_ptr_equal(userdata, &w.job);
        assert_null(t->handler); /* else it is lost, and goes off in another state */
        if (w.timer_error < 0)
                return w.timer_error;
        *t = (struct timer){clock, delay_usec, handler};
        *ret = source_of(t);
        return 0;
}

sd_event_source *fake_disable_unref(sd_event_source *s)
{
        if (s)
                ((struct timer *)(void *)s)->handler = NULL;
        return NULL;
}

void fake_abort(void)
{
        w.aborts++;
        if (w.aborted)
                longjmp(*w.aborted, 1);
}

static int setup(void **state)
{
        static const struct sg_live_calls calls = {.changed = changed};
        struct sg_live *l = &w.job;

        (void)state;
        memset(&w, 0, sizeof(w));
        strcpy(w.manager.node.boot_id, "boot");
        w.settings.kill_grace_usec = GRACE_USEC;
        w.manager.settings = &w.settings;
        w.manager.jobs = &w.jobs;
        w.jobs.calls = &calls;
        l->manager = &w.manager;
        sg_job_init(&l->job);
        l->job.key.n = 6;
        return 0;
}

static int teardown(void **state)
{
        (void)state;
        if (w.freed)
                return 0;
        sg_live_stop_timers(&w.job, 0);
        sg_job_deinit(&w.job.job);
        return 0;
}

static inline void is(enum sg_life_state life, enum sg_job_state state)
{
        w.job.life.state = life;
        w.job.job.state = state;
}

static inline void tell(enum sg_life_event_kind kind)
{
        sg_live_tell_kind(&w.job, kind);
        if (!w.freed)
                assert_null(w.job.inbox);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
