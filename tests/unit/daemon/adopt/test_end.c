/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How adopted jobs end: what systemd says of their units, what their groups counted, and how often
 * and how many are asked about. systemd is played here. */

#define sg_scope_counters fake_scope_counters
#define sg_unit_ask fake_unit_ask
#define sg_unit_question_free fake_question_free
#define sd_event_add_time_relative fake_add_time_relative
#define sd_event_source_disable_unref fake_disable_unref
#include "adopt/end.c"

#include "base/cleanup.h"
#include "tests/unit/test.h"

#define JOBS 10
#define INVOCATION "0123456789abcdef0123456789abcdef"

static struct {
        struct sg_manager manager;
        struct sg_adopter adopter;
        struct sg_live jobs[JOBS];
        struct sg_adopted adopted[JOBS];
        struct sg_counters counters;
        struct sg_unit_facts facts;          /* what systemd says next */
        bool refuses;                        /* … or an error */
        int ask_error;                       /* it can't be asked */
        int timer_error;                     /* nor can time pass */
        struct sg_live *asked[JOBS];         /* that wait for an answer, in order */
        sd_event_time_handler_t again[JOBS]; /* that will be asked about again */
        unsigned n_asked, questions, left, told;
} w;

static size_t index_of(const struct sg_live *l)
{
        return (size_t)(l - w.jobs);
}

/* What is played */

void fake_scope_counters(struct sg_scope *s, struct sg_counters *ret)
{
        (void)s;
        *ret = w.counters;
}

int fake_unit_ask(struct sg_unit_question **ret, struct sg_backend *b, const char *unit,
                  sg_unit_facts_cb answered, void *userdata)
{
        struct sg_live *l = userdata;

        (void)b;
        assert_string_equal(unit, l->job.unit);
        assert_null(*ret); /* one question at a time */
        assert_non_null(answered);
        w.questions++;
        if (w.ask_error < 0)
                return w.ask_error;
        *ret = (struct sg_unit_question *)(void *)l;
        w.asked[w.n_asked++] = l;
        return 0;
}

struct sg_unit_question *fake_question_free(struct sg_unit_question *q)
{
        (void)q;
        return NULL;
}

int fake_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock, uint64_t delay_usec,
                           uint64_t accuracy, sd_event_time_handler_t handler, void *userdata)
{
        size_t i = index_of(userdata);

        (void)e;
        (void)clock;
        (void)accuracy;
        assert_true(delay_usec > 0);
        assert_null(w.again[i]);
        if (w.timer_error < 0)
                return w.timer_error;
        w.again[i] = handler;
        *ret = (sd_event_source *)(void *)userdata;
        return 0;
}

sd_event_source *fake_disable_unref(sd_event_source *s)
{
        if (s)
                w.again[index_of((struct sg_live *)(void *)s)] = NULL;
        return NULL;
}

void sg_live_tell(struct sg_live *l, const struct sg_life_event *e)
{
        if (e->kind == SG_LIFE_E_LEFT) {
                assert_int_equal(l->life.state, SG_LIFE_RUNNING);
                l->life.state = SG_LIFE_ASKING;
                w.left++;
                return;
        }
        assert_int_equal(e->kind, SG_LIFE_E_TOLD);
        assert_int_equal(l->life.state, SG_LIFE_ASKING);
        assert_true(sg_job_state_is_final(l->job.state));
        assert_true(sg_list_empty(&l->adopted->link)); /* it may be freed at any time */
        l->life.state = SG_LIFE_LISTENING;
        w.told++;
}

static int setup(void **state)
{
        static const struct sg_counters unknown = {.cpu_usec = SG_UNLIMITED,
                                                   .memory_peak_bytes = SG_UNLIMITED,
                                                   .oom_kills = SG_UNLIMITED,
                                                   .io_read_bytes = SG_UNLIMITED,
                                                   .io_write_bytes = SG_UNLIMITED};

        (void)state;
        memset(&w, 0, sizeof(w));
        w.manager.adopter = &w.adopter;
        w.adopter.manager = &w.manager;
        w.adopter.slice = "/schedgov.slice";
        w.counters = unknown;
        strcpy(w.facts.invocation, INVOCATION);
        strcpy(w.facts.state, "inactive");
        sg_list_init(&w.adopter.jobs);
        sg_list_init(&w.adopter.ending);
        for (size_t i = 0; i < JOBS; i++) {
                struct sg_live *l = &w.jobs[i];

                sg_job_init(&l->job);
                l->manager = &w.manager;
                l->life.state = SG_LIFE_RUNNING;
                l->job.state = SG_JOB_RUNNING;
                l->job.unit = strdup("train.service");
                assert_non_null(l->job.unit);
                strcpy(l->job.invocation, INVOCATION);
                l->groups.scope = (struct sg_scope *)(void *)l;
                l->adopted = &w.adopted[i];
                l->adopted->live = l;
                sg_list_init(&l->adopted->link);
                sg_list_append(&w.adopter.jobs, &l->adopted->link);
                w.adopter.n_jobs++;
        }
        return 0;
}

static int teardown(void **state)
{
        (void)state;
        for (size_t i = 0; i < JOBS; i++)
                sg_job_deinit(&w.jobs[i].job);
        return 0;
}

static void answer(void)
{
        struct sg_live *l = w.asked[0];

        assert_true(w.n_asked > 0);
        memmove(w.asked, w.asked + 1, --w.n_asked * sizeof(w.asked[0]));
        on_facts(w.refuses ? NULL : &w.facts, w.refuses ? "no such unit" : NULL, l);
}

static void time_passes(struct sg_live *l)
{
        sd_event_time_handler_t handler = w.again[index_of(l)];

        assert_non_null(handler);
        (void)handler((sd_event_source *)(void *)l, 0, l);
}

static void assert_end(const struct sg_live *l, enum sg_job_state state, const char *reason)
{
        assert_int_equal(l->life.state, SG_LIFE_LISTENING);
        assert_string_equal(sg_job_state_to_string(l->job.state), sg_job_state_to_string(state));
        if (reason)
                assert_string_equal(l->job.reason, reason);
        else
                assert_null(l->job.reason);
}

/* What systemd says */

static void test_results(void **state)
{
        static const struct {
                const char *result;
                int32_t code, status;
                enum sg_job_state state;
                const char *reason;
                int signal;
        } results[] = {
                {"success", CLD_EXITED, 0, SG_JOB_EXITED, "its main process exited with 0", 0},
                {"success", CLD_KILLED, SIGTERM, SG_JOB_EXITED, NULL, 0}, /* as it was asked to */
                {"oom-kill", CLD_KILLED, SIGKILL, SG_JOB_OOM,
                 "it was killed for lack of memory (oom-kill)", 0},
                {"exit-code", CLD_EXITED, 3, SG_JOB_FAILED, "its main process exited with 3", 0},
                {"signal", CLD_KILLED, SIGUSR1, SG_JOB_KILLED,
                 "its main process was killed by SIGUSR1", SIGUSR1},
                {"core-dump", CLD_DUMPED, SIGSEGV, SG_JOB_KILLED,
                 "its main process was killed by SIGSEGV", SIGSEGV},
                {"signal", CLD_KILLED, 12345, SG_JOB_KILLED,
                 "its main process was killed by signal 12345", 12345},
                {"timeout", CLD_KILLED, SIGTERM, SG_JOB_TIMEOUT, "systemd ended it: timeout", 0},
                {"start-limit-hit", 0, 0, SG_JOB_FAILED, "systemd says: start-limit-hit", 0},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(results); i++) {
                strcpy(w.facts.result, results[i].result);
                w.facts.main_code = results[i].code;
                w.facts.main_status = results[i].status;
                sg_adopted_end(&w.jobs[i], false);
                assert_int_equal(w.jobs[i].life.state, SG_LIFE_ASKING);
                answer();
                assert_end(&w.jobs[i], results[i].state, results[i].reason);
                assert_int_equal(w.jobs[i].job.signal, results[i].signal);
        }
        assert_int_equal(w.adopter.n_jobs, JOBS - SG_ELEMENTSOF(results));
        assert_int_equal(w.adopter.n_asking, 0);
}

/* Of a scope it knows that it is gone; what its own groups counted is known here. */
static void test_success_of_a_scope(void **state)
{
        (void)state;
        strcpy(w.facts.result, "success");
        sg_adopted_end(&w.jobs[0], false);
        answer();
        assert_end(&w.jobs[0], SG_JOB_EXITED, NULL);
        w.counters.oom_kills = 2;
        sg_adopted_end(&w.jobs[1], false);
        answer();
        assert_end(&w.jobs[1], SG_JOB_OOM, "processes of it were killed for lack of memory");
        assert_int_equal(w.jobs[1].job.oom_kills, 2);
        strcpy(w.facts.result, "exit-code"); /* it knows better */
        w.facts.main_status = 1;
        sg_adopted_end(&w.jobs[2], false);
        answer();
        assert_end(&w.jobs[2], SG_JOB_FAILED, "its main process exited with 1");
}

/* Whatever came of it. */
static void test_intents(void **state)
{
        (void)state;
        strcpy(w.facts.result, "oom-kill");
        w.jobs[0].job.intent = SG_INTENT_CANCEL;
        (void)sg_job_set_reason(&w.jobs[0].job, "cancelled by root");
        sg_adopted_end(&w.jobs[0], false);
        answer();
        assert_end(&w.jobs[0], SG_JOB_KILLED, "cancelled by root");
        w.jobs[1].job.intent = SG_INTENT_TIMEOUT;
        sg_adopted_end(&w.jobs[1], false);
        answer();
        assert_end(&w.jobs[1], SG_JOB_TIMEOUT, NULL);
}

/* Another one has its name now, or none. */
static void test_not_its_unit(void **state)
{
        (void)state;
        strcpy(w.facts.result, "exit-code");
        w.facts.invocation[0] = 'f';
        sg_adopted_end(&w.jobs[0], false);
        answer();
        assert_end(&w.jobs[0], SG_JOB_EXITED, NULL);
        w.facts.invocation[0] = 0;
        sg_adopted_end(&w.jobs[1], true);
        answer();
        assert_end(&w.jobs[1], SG_JOB_EXITED, "it ended while the governor was away");
        strcpy(w.facts.invocation, INVOCATION);
        strcpy(w.jobs[2].job.invocation, "4711"); /* by its inode: it can't be compared */
        sg_adopted_end(&w.jobs[2], false);
        answer();
        assert_end(&w.jobs[2], SG_JOB_FAILED, "its main process exited with 0");
}

/* Nobody to ask */

static void test_no_unit(void **state)
{
        (void)state;
        free(w.jobs[0].job.unit);
        w.jobs[0].job.unit = NULL;
        sg_adopted_end(&w.jobs[0], true);
        assert_end(&w.jobs[0], SG_JOB_EXITED, "it ended while the governor was away");
        w.adopter.slice = NULL; /* no systemd */
        sg_adopted_end(&w.jobs[1], false);
        assert_end(&w.jobs[1], SG_JOB_EXITED, NULL);
        assert_int_equal(w.questions, 0);
        assert_int_equal(w.adopter.n_jobs, JOBS - 2);
}

static void test_counters(void **state)
{
        struct sg_job *j = &w.jobs[0].job;

        (void)state;
        free(j->unit);
        j->unit = NULL;
        w.counters = (struct sg_counters){.cpu_usec = 1,
                                          .memory_peak_bytes = 2,
                                          .oom_kills = 0,
                                          .io_read_bytes = 4,
                                          .io_write_bytes = 5};
        w.adopted[0].oom_kills = 3; /* was seen, before the group went */
        sg_adopted_end(&w.jobs[0], false);
        assert_end(&w.jobs[0], SG_JOB_OOM, "processes of it were killed for lack of memory");
        assert_int_equal(j->cpu_usec, 1);
        assert_int_equal(j->memory_peak_bytes, 2);
        assert_int_equal(j->oom_kills, 3);
        assert_int_equal(j->io_read_bytes, 4);
        assert_int_equal(j->io_write_bytes, 5);
        w.jobs[1].groups.scope = NULL; /* it is gone: what was stored last stays */
        w.jobs[1].job.cpu_usec = 7;
        sg_adopted_end(&w.jobs[1], true);
        assert_int_equal(w.jobs[1].job.cpu_usec, 7);
}

static void test_counter_that_is_more(void **state)
{
        (void)state;
        w.counters.oom_kills = 4;
        w.adopted[0].oom_kills = 3;
        sg_adopted_end(&w.jobs[0], false);
        assert_int_equal(w.jobs[0].job.oom_kills, 4);
        w.counters.oom_kills = SG_UNLIMITED;
        w.adopted[1].oom_kills = 3;
        sg_adopted_end(&w.jobs[1], false);
        assert_int_equal(w.jobs[1].job.oom_kills, 3);
}

/* Asking again */

/* systemd hears later than we do that a unit is empty. */
static void test_still_active(void **state)
{
        struct sg_live *l = &w.jobs[0];

        (void)state;
        strcpy(w.facts.result, "exit-code");
        strcpy(w.facts.state, "active");
        sg_adopted_end(l, false);
        answer();
        assert_int_equal(l->life.state, SG_LIFE_ASKING);
        assert_int_equal(w.n_asked, 0);
        time_passes(l);
        strcpy(w.facts.state, "deactivating");
        answer();
        assert_int_equal(l->life.state, SG_LIFE_ASKING);
        time_passes(l);
        strcpy(w.facts.state, "failed");
        w.facts.main_status = 4;
        answer();
        assert_end(l, SG_JOB_FAILED, "its main process exited with 4");
        assert_int_equal(w.questions, 3);
        assert_int_equal(w.adopter.n_asking, 0);
        assert_null(w.again[0]);
}

static void gives_up(struct sg_live *l)
{
        for (unsigned i = 1; i < QUESTIONS_MAX; i++) {
                assert_int_equal(w.questions, i);
                answer();
                assert_int_equal(l->life.state, SG_LIFE_ASKING);
                time_passes(l);
        }
        answer();
        assert_int_equal(w.questions, QUESTIONS_MAX);
        assert_null(w.again[index_of(l)]);
        assert_int_equal(w.adopter.n_asking, 0);
}

/* It may be kept, as by RemainAfterExit=. */
static void test_active_forever(void **state)
{
        (void)state;
        strcpy(w.facts.state, "active");
        strcpy(w.facts.result, "success");
        w.facts.main_code = CLD_EXITED;
        sg_adopted_end(&w.jobs[0], false);
        gives_up(&w.jobs[0]);
        assert_end(&w.jobs[0], SG_JOB_EXITED, "its main process exited with 0");
}

static void test_refused_forever(void **state)
{
        (void)state;
        w.refuses = true;
        sg_adopted_end(&w.jobs[0], true);
        gives_up(&w.jobs[0]);
        assert_end(&w.jobs[0], SG_JOB_EXITED, "it ended while the governor was away");
}

static void test_systemd_is_away(void **state)
{
        struct sg_live *l = &w.jobs[0];

        (void)state;
        strcpy(w.facts.result, "timeout");
        w.ask_error = -ENOTCONN;
        sg_adopted_end(l, false);
        for (unsigned i = 0; i < 5; i++)
                time_passes(l);
        assert_int_equal(l->life.state, SG_LIFE_ASKING);
        assert_int_equal(w.adopter.n_asking, 1);
        w.ask_error = 0;
        time_passes(l);
        answer();
        assert_end(l, SG_JOB_TIMEOUT, "systemd ended it: timeout");
        assert_int_equal(w.adopter.n_asking, 0);
}

static void test_systemd_stays_away(void **state)
{
        struct sg_live *l = &w.jobs[0];

        (void)state;
        w.ask_error = -ENOTCONN;
        sg_adopted_end(l, false);
        for (unsigned i = 1; i < QUESTIONS_MAX; i++)
                time_passes(l);
        assert_end(l, SG_JOB_EXITED, NULL);
        assert_int_equal(w.questions, QUESTIONS_MAX);
        assert_int_equal(w.adopter.n_asking, 0);
}

/* What can't be asked now, nor later, isn't waited for. */
static void test_cannot_ask(void **state)
{
        (void)state;
        w.ask_error = -EOPNOTSUPP;
        sg_adopted_end(&w.jobs[0], false);
        assert_end(&w.jobs[0], SG_JOB_EXITED, NULL);
        w.ask_error = -ENOTCONN;
        w.timer_error = -ENOMEM;
        sg_adopted_end(&w.jobs[1], false);
        assert_end(&w.jobs[1], SG_JOB_EXITED, NULL);
        assert_int_equal(w.adopter.n_asking, 0);
}

/* Many at once */

static void test_a_few_at_a_time(void **state)
{
        (void)state;
        for (size_t i = 0; i < JOBS; i++)
                sg_adopted_end(&w.jobs[i], false);
        assert_int_equal(w.left, JOBS);
        assert_int_equal(w.n_asked, ASKING_MAX);
        assert_int_equal(w.adopter.n_asking, ASKING_MAX);
        strcpy(w.facts.state, "active");
        answer(); /* it waits in its place: nobody else's turn comes */
        assert_int_equal(w.n_asked, ASKING_MAX - 1);
        assert_int_equal(w.adopter.n_asking, ASKING_MAX);
        strcpy(w.facts.state, "inactive");
        for (size_t i = 1; i < JOBS; i++)
                answer();
        assert_int_equal(w.told, JOBS - 1);
        assert_int_equal(w.adopter.n_asking, 1);
        time_passes(&w.jobs[0]);
        answer();
        assert_int_equal(w.told, JOBS);
        assert_int_equal(w.questions, JOBS + 1);
        assert_int_equal(w.adopter.n_asking, 0);
        assert_int_equal(w.adopter.n_jobs, 0);
        assert_true(sg_list_empty(&w.adopter.ending));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_results),
                TEST(test_success_of_a_scope),
                TEST(test_intents),
                TEST(test_not_its_unit),
                TEST(test_no_unit),
                TEST(test_counters),
                TEST(test_counter_that_is_more),
                TEST(test_still_active),
                TEST(test_active_forever),
                TEST(test_refused_forever),
                TEST(test_systemd_is_away),
                TEST(test_systemd_stays_away),
                TEST(test_cannot_ask),
                TEST(test_a_few_at_a_time),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
