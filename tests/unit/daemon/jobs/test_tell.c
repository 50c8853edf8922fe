/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From an event to actions, in order. */
#include "tests/unit/daemon/jobs/test_tell.h"

static void place(struct sg_live *l)
{
        sg_live_tell_kind(l, SG_LIFE_E_READY);
        sg_live_result_kind(l, SG_LIFE_E_PLACED);
}

static void test_results_come_first(void **state)
{
        (void)state;
        is(SG_LIFE_STARTING, SG_JOB_STARTING);
        w.job.life.gate = true;
        w.during[SG_LIFE_DO_PLACE] = place;
        tell(SG_LIFE_E_LAUNCHED);
        assert_log("LAUNCHED place PLACED READY verify");
}

static void store_start_fails(struct sg_live *l)
{
        sg_live_tell(l, &(struct sg_life_event){.kind = SG_LIFE_E_START_UNSTORED,
                                                .error = -ENOMEM,
                                                .why = "of somebody's stack"});
}

static void drop(struct sg_live *l)
{
        assert_int_equal(sg_live_event(l)->error, -ENOMEM);
        sg_live_result_kind(l, SG_LIFE_E_GROUPS_GONE);
}

/* What is told from within an action waits until the others are done; what it said is gone then. */
static void test_told_from_within(void **state)
{
        (void)state;
        is(SG_LIFE_BEGINNING, SG_JOB_STARTING);
        w.during[SG_LIFE_DO_STORE_START] = store_start_fails;
        w.during[SG_LIFE_DO_DROP_GROUPS] = drop;
        tell(SG_LIFE_E_GROUPS_MADE);
        assert_log("GROUPS_MADE store_start publish START_UNSTORED say_unstored drop_groups "
                   "GROUPS_GONE leave_queue enqueue");
        assert_int_equal(w.changes, 1); /* (`announce` is of the file that is tested) */
        assert_string_equal(w.job.job.reason, "cannot store its start: Cannot allocate memory");
}

static void make_groups_fails(struct sg_live *l)
{
        char why[32] = "there is no tree";

        sg_live_result(l, &(struct sg_life_event){.kind = SG_LIFE_E_GROUPS_FAILED,
                                                  .what = "make its groups",
                                                  .error = -EINVAL,
                                                  .why = why});
        memset(why, 'x', sizeof(why) - 1);
}

static void test_words_of_a_result(void **state)
{
        (void)state;
        is(SG_LIFE_WAITING, SG_JOB_QUEUED);
        w.during[SG_LIFE_DO_MAKE_GROUPS] = make_groups_fails;
        tell(SG_LIFE_E_TURN);
        assert_log("TURN make_groups GROUPS_FAILED wind_up listen");
        assert_string_equal(w.job.job.reason, "cannot make its groups: there is no tree");
}

static void drop_all(struct sg_live *l)
{
        sg_live_stop(l, (struct sg_who){0}, SG_INTENT_CANCEL, "too late");
        sg_live_result_kind(l, SG_LIFE_E_GROUPS_GONE);
}

/* Nobody touches it behind that: it is no memory of ours any more. */
static void test_free_is_the_end(void **state)
{
        struct sg_live dead;

        (void)state;
        is(SG_LIFE_CLEARING, SG_JOB_EXITED);
        w.during[SG_LIFE_DO_DROP_GROUPS] = drop_all;
        tell(SG_LIFE_E_KEEPER_GONE);
        assert_log("KEEPER_GONE close_gate drop_groups GROUPS_GONE free");
        memset(&dead, 0xdb, sizeof(dead));
        assert_memory_equal(&w.job, &dead, sizeof(dead));
}

static void test_impossible(void **state)
{
        struct sg_life before;

        (void)state;
        is(SG_LIFE_WAITING, SG_JOB_QUEUED);
        before = w.job.life;
        tell(SG_LIFE_E_STARTED);
        assert_log("STARTED");
        assert_memory_equal(&w.job.life, &before, sizeof(before));
        assert_int_equal(w.job.job.state, SG_JOB_QUEUED);
#ifdef SG_FAULTS
        assert_int_equal(w.aborts, 1);
#else
        assert_int_equal(w.aborts, 0);
#endif
}

static void place_forever(struct sg_live *l)
{
        for (unsigned i = 0; i <= INBOX_MAX; i++)
                sg_live_tell_kind(l, SG_LIFE_E_READY);
}

static void test_cycle(void **state)
{
        jmp_buf here;

        (void)state;
        is(SG_LIFE_STARTING, SG_JOB_STARTING);
        w.job.life.gate = true;
        w.during[SG_LIFE_DO_PLACE] = place_forever;
        w.aborted = &here;
        if (setjmp(here) == 0)
                tell(SG_LIFE_E_LAUNCHED);
        assert_int_equal(w.aborts, 1);
}

/* What others ask for */

static void test_stop(void **state)
{
        (void)state;
        is(SG_LIFE_RUNNING, SG_JOB_RUNNING);
        sg_live_stop(&w.job, (struct sg_who){true, 0}, SG_INTENT_REQUEUE, "requeued by root");
        assert_log("STOP store_intent");
        assert_int_equal(w.job.job.intent, SG_INTENT_REQUEUE);
        assert_string_equal(w.job.job.reason, "requeued by root");
}

/* From GO on: what says more before that is no job yet. */
static void test_speaks(void **state)
{
        (void)state;
        is(SG_LIFE_STARTING, SG_JOB_STARTING);
        sg_live_speaks(&w.job);
        assert_log("");
        is(SG_LIFE_RELEASED, SG_JOB_STARTING);
        w.job.life.released = true;
        sg_live_speaks(&w.job);
        assert_log("STARTED begin_running");
        assert_int_equal(w.job.job.state, SG_JOB_RUNNING);
}

static void go_fails(struct sg_live *l)
{
        sg_live_result_kind(l, SG_LIFE_E_GO_FAILED);
}

static void test_speaks_without_go(void **state)
{
        (void)state;
        is(SG_LIFE_STARTING, SG_JOB_STARTING);
        w.during[SG_LIFE_DO_SEND_GO] = go_fails;
        tell(SG_LIFE_E_ADMITTED);
        assert_log("ADMITTED send_go GO_FAILED close_gate");
        sg_live_speaks(&w.job);
        assert_log("");
}

static void test_changed(void **state)
{
        (void)state;
        is(SG_LIFE_RUNNING, SG_JOB_RUNNING);
        sg_live_changed(&w.job);
        assert_int_equal(w.stored, 1);
        assert_int_equal(w.changes, 1);
        assert_true(w.job.job.changed_usec > 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_results_come_first),
                TEST(test_told_from_within),
                TEST(test_words_of_a_result),
                TEST(test_free_is_the_end),
                TEST(test_impossible),
                TEST(test_cycle),
                TEST(test_stop),
                TEST(test_speaks),
                TEST(test_speaks_without_go),
                TEST(test_changed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
