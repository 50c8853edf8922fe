/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job waits for, where the store answers late or not at all. The manager is in no archive:
 * the file comes in as text, and what it calls is played here. */

/* The store's own is in an archive. */
#define sg_store_list fake_store_list
#define sd_event_add_time_relative fake_add_time_relative
#define sd_event_source_disable_unref fake_disable_unref
#include "jobs/depend.c"

#include "base/cleanup.h"
#include "tests/unit/test.h"

static struct {
        struct sg_manager manager;
        struct sg_jobs jobs;
        struct sg_settings settings;
        struct sg_live job;
        unsigned queries, ended, enqueued;
        char asked_origin[SG_NODE_NAME_MAX];
        uint64_t asked_n;
        sg_store_cb each, done; /* NULL = answered */
        void *userdata;
        sd_event_time_handler_t timer;
        struct sg_live *others[2];
} w;

void sg_store_list(struct sg_store *s, const struct sg_store_query *q, sg_store_cb each,
                   sg_store_cb done, void *userdata)
{
        (void)s;
        assert_null(w.done);
        w.queries++;
        strcpy(w.asked_origin, q->origin);
        w.asked_n = q->n;
        w.each = each;
        w.done = done;
        w.userdata = userdata;
}

struct sg_live *sg_manager_find(struct sg_manager *m, uint64_t n)
{
        assert_ptr_equal(m, &w.manager);
        return n == w.job.job.key.n ? &w.job : NULL;
}

struct sg_live *sg_manager_find_key(struct sg_manager *m, const struct sg_job_key *key)
{
        (void)m;
        for (size_t i = 0; i < SG_ELEMENTSOF(w.others); i++)
                if (w.others[i] && sg_job_key_is_same(&w.others[i]->job.key, key))
                        return w.others[i];
        return NULL;
}

void sg_live_tell(struct sg_live *l, const struct sg_life_event *e)
{
        assert_int_equal(e->kind, SG_LIFE_E_FAIL);
        assert_int_equal(l->life.state, SG_LIFE_WAITING);
        l->life.state = SG_LIFE_LISTENING;
        l->job.state = e->state;
        w.ended++;
}

void sg_live_enqueue(struct sg_live *l)
{
        w.enqueued += l->queued.n_after == 0 && l->life.state == SG_LIFE_WAITING;
}

int sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
                               uint64_t delay_usec, uint64_t accuracy,
                               sd_event_time_handler_t handler, void *userdata)
{
        (void)e;
        (void)ret;
        (void)clock;
        (void)accuracy;
        assert_ptr_equal(userdata, &w.job);
        assert_true(delay_usec > 0);
        w.timer = handler;
        return 0;
}

sd_event_source *sd_event_source_disable_unref(sd_event_source *s)
{
        assert_null(s);
        return NULL;
}

static void answer(int result, const struct sg_job *row)
{
        sg_store_cb done = w.done;

        assert_non_null(done);
        if (row)
                w.each(0, row, w.userdata);
        w.done = NULL;
        done(result, NULL, w.userdata);
}

static struct sg_job dependency(uint64_t state, int64_t exit_code)
{
        return (struct sg_job){
                .key = {.origin = "old", .n = 5}, .state = state, .exit_code = exit_code};
}

static int setup(void **state)
{
        struct sg_job *j = &w.job.job;

        (void)state;
        memset(&w, 0, sizeof(w));
        w.manager.settings = &w.settings;
        strcpy(w.manager.node.name, "new");
        w.manager.jobs = &w.jobs;
        sg_list_init(&w.jobs.dependents);
        sg_list_init(&w.job.queued.after_link);
        w.job.life.state = SG_LIFE_WAITING;
        w.job.manager = &w.manager;
        sg_job_init(j);
        j->key.n = 6;
        strcpy(j->key.origin, "old");
        j->after = strdup("5");
        assert_non_null(j->after);
        return 0;
}

static int teardown(void **state)
{
        (void)state;
        free(w.job.queued.after);
        sg_job_deinit(&w.job.job);
        return 0;
}

static void test_look_up(void **state)
{
        struct sg_job row = dependency(SG_JOB_EXITED, 0);

        (void)state;
        sg_do_await(&w.job);
        assert_string_equal(w.asked_origin, "old"); /* as its row means it */
        assert_int_equal(w.asked_n, 5);
        assert_int_equal(w.enqueued, 0);
        answer(0, &row);
        assert_int_equal(w.enqueued, 1);
        assert_int_equal(w.ended, 0);
}

static void test_unknown(void **state)
{
        (void)state;
        sg_do_await(&w.job);
        answer(0, NULL);
        assert_int_equal(w.job.job.state, SG_JOB_FAILED);
        assert_string_equal(w.job.job.reason,
                            "job 5@old, which it waited for, is not known any more");
}

/* What can't be read now may be later. */
static void test_asks_again(void **state)
{
        struct sg_job row = dependency(SG_JOB_EXITED, 0);

        (void)state;
        sg_do_await(&w.job);
        for (unsigned i = 1; i <= 3; i++) {
                answer(-EIO, NULL);
                assert_int_equal(w.ended + w.enqueued, 0);
                assert_non_null(w.timer);
                (void)w.timer(NULL, 0, &w.job);
                w.timer = NULL;
                assert_int_equal(w.queries, i + 1);
        }
        answer(0, &row);
        assert_null(w.timer);
        assert_int_equal(w.enqueued, 1);
}

/* What it was ended as is what is being stored. */
static void test_cancelled_meanwhile(void **state)
{
        struct sg_job row = dependency(SG_JOB_EXITED, 3);

        (void)state;
        sg_do_await(&w.job);
        w.job.job.state = SG_JOB_KILLED;
        w.job.life.state = SG_LIFE_LISTENING;
        answer(0, &row);
        assert_int_equal(w.job.job.state, SG_JOB_KILLED);
        assert_null(w.job.job.reason);
        assert_int_equal(w.ended + w.enqueued, 0);
}

/* The first that fails it is the end of it. */
static void test_two_fail(void **state)
{
        struct sg_live ended[2] = {{.life.state = SG_LIFE_CLEARING},
                                   {.life.state = SG_LIFE_CLEARING}};

        (void)state;
        for (size_t i = 0; i < 2; i++) {
                ended[i].job = dependency(SG_JOB_KILLED, -1);
                ended[i].job.key.n = 4 + i;
                w.others[i] = &ended[i];
        }
        free(w.job.job.after);
        w.job.job.after = strdup("4,5");
        sg_do_await(&w.job);
        assert_int_equal(w.ended, 1);
        assert_int_equal(w.enqueued, 0);
        assert_string_equal(w.job.job.reason, "job 5@old, which it waited for, ended as killed");
}

/* Never early: not without what it can't know. */
static void test_unreadable(void **state)
{
        (void)state;
        strcpy(w.job.job.after, "x");
        sg_do_await(&w.job);
        assert_int_equal(w.enqueued, 0);
        assert_int_equal(w.ended, 1);
        assert_int_equal(w.job.job.state, SG_JOB_FAILED);
        assert_string_equal(w.job.job.reason, "cannot tell what it waits for: Invalid argument");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_look_up),    TEST(test_unknown),
                TEST(test_asks_again), TEST(test_cancelled_meanwhile),
                TEST(test_two_fail),   TEST(test_unreadable),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
