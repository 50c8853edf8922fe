/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Hearing that nothing lives in a job's group: what the kernel tells, and where it has to be looked
 * at again. The tree and the event loop are played here. */

#define sg_poller_add_notified fake_poller_add
#define sg_poller_remove fake_poller_remove
#define sg_scope_populated fake_populated
#define sg_process_stat fake_process_stat
#define sd_event_add_time_relative fake_add_time_relative
#define sd_event_source_disable_unref fake_disable_unref
#define sd_event_source_set_time_relative fake_set_time_relative
#define sd_event_source_set_enabled fake_set_enabled
#include "jobs/group-watch.c"

#include "base/cleanup.h"
#include "tests/unit/test.h"
#include <stdlib.h>
#include <sys/stat.h>

static struct {
        struct sg_manager manager;
        struct sg_jobs jobs;
        struct sg_live job;
        char dir[64];   /* its scope's, in the v2 tree */
        bool no_tree;   /* there is none */
        int populated;  /* 1, 0, or an error */
        int add_error;  /* of the poller */
        int stat_error; /* of its first process */
        bool watched;
        sd_event_time_handler_t timer; /* NULL = off */
        unsigned checks, over;
} w;

const char *sg_live_unified_group(const struct sg_live *l)
{
        (void)l;
        return w.no_tree ? NULL : w.dir;
}

int fake_poller_add(struct sg_poller *p, int fd, void *userdata)
{
        (void)p;
        assert_true(fd >= 0);
        assert_ptr_equal(userdata, &w.job);
        if (w.add_error < 0)
                return w.add_error;
        assert_false(w.watched);
        w.watched = true;
        return 0;
}

void fake_poller_remove(struct sg_poller *p, int fd)
{
        (void)p;
        if (fd >= 0)
                w.watched = false;
}

int fake_populated(const struct sg_scope *s)
{
        assert_ptr_equal(s, w.job.groups.scope);
        return w.populated;
}

int fake_process_stat(pid_t pid, struct sg_process_stat *ret)
{
        assert_int_equal(pid, 17);
        *ret = (struct sg_process_stat){.state = 'S'};
        return w.stat_error;
}

int fake_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t delay_usec,
                           uint64_t accuracy, sd_event_time_handler_t handler, void *userdata)
{
        (void)e;
        (void)clock;
        (void)accuracy;
        assert_ptr_equal(userdata, &w.job);
        assert_int_equal(delay_usec, GROUP_POLL_USEC);
        assert_null(w.timer);
        w.timer = handler;
        *ret = (sd_event_source *)(void *)&w;
        return 0;
}

sd_event_source *fake_disable_unref(sd_event_source *s)
{
        if (s)
                w.timer = NULL;
        return NULL;
}

int fake_set_time_relative(sd_event_source *s, uint64_t delay_usec)
{
        assert_ptr_equal(s, &w);
        assert_int_equal(delay_usec, GROUP_POLL_USEC);
        return 0;
}

int fake_set_enabled(sd_event_source *s, int enabled)
{
        assert_ptr_equal(s, &w);
        assert_int_equal(enabled, SD_EVENT_ONESHOT);
        return 0;
}

void sg_do_check_groups(struct sg_live *l)
{
        assert_ptr_equal(l, &w.job);
        w.checks++;
}

void sg_loop_over(struct sg_live *l)
{
        assert_ptr_equal(l, &w.job);
        w.over++;
}

static void path_of(char path[PATH_MAX], const char *name)
{
        (void)snprintf(path, PATH_MAX, "%s%s", w.dir, name);
}

static int setup(void **state)
{
        char path[PATH_MAX];
        FILE *f;

        (void)state;
        memset(&w, 0, sizeof(w));
        strcpy(w.dir, "/tmp/test_group_watch.XXXXXX");
        assert_non_null(mkdtemp(w.dir));
        path_of(path, "/job");
        assert_int_equal(mkdir(path, 0700), 0);
        path_of(path, "/job/cgroup.events");
        f = fopen(path, "we");
        assert_non_null(f);
        assert_int_equal(fclose(f), 0);
        w.manager.jobs = &w.jobs;
        w.job.manager = &w.manager;
        w.job.groups.scope = (struct sg_scope *)(void *)&w.job;
        w.job.groups.events = -1;
        w.job.job.pid = 17;
        w.job.life.state = SG_LIFE_LINGERING;
        w.populated = 1;
        return 0;
}

static int teardown(void **state)
{
        static const char *const names[] = {"/job/cgroup.events", "/job", ""};
        char path[PATH_MAX];

        (void)state;
        sg_live_unwatch_group(&w.job);
        assert_false(w.watched);
        assert_null(w.timer);
        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++) {
                path_of(path, names[i]);
                assert_int_equal(remove(path), 0);
        }
        return 0;
}

static void looks_again(void)
{
        unsigned before = w.checks;

        assert_non_null(w.timer);
        (void)w.timer((sd_event_source *)(void *)&w, 0, &w.job);
        assert_int_equal(w.checks, before + 1);
}

static void test_kernel_tells(void **state)
{
        (void)state;
        sg_live_await_empty(&w.job);
        assert_true(w.watched);
        assert_null(w.timer);
        sg_live_await_empty(&w.job); /* once is enough */
        sg_live_on_group(&w.job);
        assert_int_equal(w.checks, 1);
        assert_int_equal(w.over, 0);
}

static void test_nobody_tells(void **state)
{
        (void)state;
        w.no_tree = true;
        assert_int_equal(sg_live_watch_group(&w.job), -ENOENT);
        sg_live_await_empty(&w.job);
        assert_false(w.watched);
        looks_again();
        sg_live_await_empty(&w.job);
        looks_again();
}

static void test_cannot_be_watched(void **state)
{
        (void)state;
        w.add_error = -ENOMEM;
        assert_int_equal(sg_live_watch_group(&w.job), -ENOMEM);
        assert_int_equal(w.job.groups.events, -1);
        sg_live_await_empty(&w.job);
        looks_again();
}

/* It may be empty already: then the kernel has nothing to tell any more. */
static void test_cannot_be_looked_into(void **state)
{
        (void)state;
        assert_int_equal(sg_live_watch_group(&w.job), 0);
        w.populated = -EMFILE;
        sg_live_await_empty(&w.job);
        looks_again();
}

static void test_no_groups(void **state)
{
        (void)state;
        w.job.groups.scope = NULL;
        assert_int_equal(sg_live_watch_group(&w.job), -ENOENT);
}

/* While its keeper lives: others have its share. */
static void test_share_of_the_dead(void **state)
{
        (void)state;
        w.job.life.state = SG_LIFE_RUNNING;
        sg_live_on_group(&w.job);
        assert_int_equal(w.over, 0);
        w.populated = 0;
        sg_live_on_group(&w.job); /* it lives on elsewhere */
        assert_int_equal(w.over, 0);
        w.stat_error = -ESRCH;
        sg_live_on_group(&w.job);
        assert_int_equal(w.over, 1);
        assert_int_equal(w.checks, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_kernel_tells),      TEST(test_nobody_tells),
                TEST(test_cannot_be_watched), TEST(test_cannot_be_looked_into),
                TEST(test_no_groups),         TEST(test_share_of_the_dead),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
