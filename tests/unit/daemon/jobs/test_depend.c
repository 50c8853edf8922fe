/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job waits for, where the store answers late or not at all. The manager is in no archive:
 * the file comes in as text, and what it calls is played here. */

/* The store's own is in an archive. */
#define sg_store_list fake_store_list
#include "jobs/depend.c"

#include "tests/unit/test.h"

static struct {
        struct sg_manager manager;
        struct sg_settings settings;
        struct sg_live job;
        unsigned queries, ended, enqueued;
        char asked_origin[SG_NODE_NAME_MAX];
        uint64_t asked_n;
        sg_store_cb each, done; /* NULL = answered */
        void *userdata;
        sd_event_time_handler_t timer;
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
        (void)key;
        return NULL;
}

bool sg_caller_may_see(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid)
{
        (void)m;
        (void)c;
        (void)uid;
        return true;
}

void sg_live_end(struct sg_live *l)
{
        l->dropping = true;
        w.ended++;
}

void sg_live_enqueue(struct sg_live *l)
{
        w.enqueued += l->n_after == 0 && !l->dropping;
}

void sg_live_rearm(struct sg_live *l, uint64_t delay_usec, sd_event_time_handler_t handler)
{
        assert_ptr_equal(l, &w.job);
        assert_true(delay_usec > 0);
        w.timer = handler;
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
        sg_list_init(&w.manager.dependents);
        sg_list_init(&w.job.after_link);
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
        free(w.job.after);
        sg_job_deinit(&w.job.job);
        return 0;
}

static void test_look_up(void **state)
{
        struct sg_job row = dependency(SG_JOB_EXITED, 0);

        (void)state;
        sg_live_await_dependencies(&w.job);
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
        sg_live_await_dependencies(&w.job);
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
        sg_live_await_dependencies(&w.job);
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
        sg_live_await_dependencies(&w.job);
        w.job.job.state = SG_JOB_KILLED;
        sg_live_end(&w.job);
        answer(0, &row);
        assert_int_equal(w.job.job.state, SG_JOB_KILLED);
        assert_null(w.job.job.reason);
        assert_int_equal(w.ended, 1);
}

/* Never early: not without what it can't know. */
static void test_unreadable(void **state)
{
        (void)state;
        strcpy(w.job.job.after, "x");
        sg_live_await_dependencies(&w.job);
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
                TEST(test_unreadable),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
