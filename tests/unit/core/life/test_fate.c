/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How an attempt ended, by its record and by what was counted. */
#include "core/life/fate.h"
#include "tests/unit/test.h"
#include <limits.h>
#include <signal.h>

#define STARTED 1000
#define ENDED 5000
#define NOW 6000

static struct {
        struct sg_job row;
        struct sg_exit record;
        struct sg_end end;
} w;

static int setup(void **state)
{
        (void)state;
        memset(&w, 0, sizeof(w));
        sg_job_init(&w.row);
        w.row.state = SG_JOB_RUNNING;
        w.row.submitted_usec = STARTED - 500;
        w.row.started_usec = STARTED;
        w.row.limits.memory_max = 64 << 20;
        w.record = (struct sg_exit){.started_usec = STARTED + 1,
                                    .ended_usec = ENDED,
                                    .cpu_usec = 11,
                                    .memory_peak_bytes = 12,
                                    .io_read_bytes = 14,
                                    .io_write_bytes = 15};
        w.end.record = &w.record;
        return 0;
}

static int teardown(void **state)
{
        (void)state;
        sg_job_deinit(&w.row);
        return 0;
}

static void settle(void)
{
        sg_fate_settle(&w.row, &w.end, NOW);
}

static void assert_end(enum sg_job_state state, const char *reason)
{
        assert_string_equal(sg_job_state_to_string(w.row.state), sg_job_state_to_string(state));
        if (reason)
                assert_string_equal(w.row.reason, reason);
        else
                assert_null(w.row.reason);
}

static void died_of(int sig)
{
        w.record.exit_code = -1;
        w.record.signal = sig;
}

static void test_exited(void **state)
{
        (void)state;
        w.record.exit_code = 3;
        settle();
        assert_end(SG_JOB_EXITED, NULL);
        assert_int_equal(w.row.exit_code, 3);
        assert_int_equal(w.row.signal, 0);
        assert_int_equal(w.row.started_usec, STARTED + 1);
        assert_int_equal(w.row.ended_usec, ENDED);
        assert_int_equal(w.row.cpu_usec, 11);
        assert_int_equal(w.row.memory_peak_bytes, 12);
        assert_int_equal(w.row.oom_kills, 0);
        assert_int_equal(w.row.io_read_bytes, 14);
        assert_int_equal(w.row.io_write_bytes, 15);
        assert_int_equal(w.row.intent, SG_INTENT_NONE);
}

static void test_killed(void **state)
{
        (void)state;
        died_of(SIGSEGV);
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGSEGV");
        assert_int_equal(w.row.exit_code, -1);
        assert_int_equal(w.row.signal, SIGSEGV);
        assert_int_equal(sg_job_exit_status(&w.row), 128 + SIGSEGV);
}

static void test_unheard_of_signal(void **state)
{
        (void)state;
        died_of(12345);
        settle();
        assert_end(SG_JOB_KILLED, "killed by signal 12345");
}

/* SIGKILL alone says nothing of memory. */
static void test_sigkill(void **state)
{
        (void)state;
        died_of(SIGKILL);
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGKILL");
        w.record.oom_kills = SG_UNLIMITED;
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGKILL");
        w.record.oom_kills = 1; /* another of its processes; its keeper saw that it wasn't this */
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGKILL");
}

static void test_oom(void **state)
{
        (void)state;
        died_of(SIGKILL);
        w.record.oom_kills = 2;
        w.record.main_oom_killed = 1;
        w.record.memory_peak_bytes = (64 << 20) - 100000;
        settle();
        assert_end(SG_JOB_OOM, "killed: out of memory at 63.9M of 64M (--mem)");
        assert_int_equal(w.row.oom_kills, 2);
        assert_int_equal(sg_job_exit_status(&w.row), 137);
        w.record.memory_peak_bytes = SG_UNLIMITED;
        settle();
        assert_end(SG_JOB_OOM, "killed: out of memory, limit 64M (--mem)");
}

static void test_oom_without_a_limit(void **state)
{
        (void)state;
        died_of(SIGKILL);
        w.record.oom_kills = w.record.main_oom_killed = 1;
        w.row.limits.memory_max = SG_UNLIMITED;
        settle();
        assert_end(SG_JOB_OOM, "killed: out of memory, its class's or the node's");
}

/* What a shell says of a child that was killed. */
static void test_oom_behind_a_shell(void **state)
{
        (void)state;
        w.record.exit_code = 128 + SIGKILL;
        settle();
        assert_end(SG_JOB_EXITED, NULL);
        w.record.oom_kills = SG_UNLIMITED;
        settle();
        assert_end(SG_JOB_EXITED, NULL);
        w.record.oom_kills = 1;
        settle();
        assert_end(SG_JOB_OOM, "killed: out of memory at 12B of 64M (--mem)");
        sg_job_clear_reason(&w.row);
        w.record.exit_code = 1; /* it went on without that child */
        settle();
        assert_end(SG_JOB_EXITED, NULL);
}

/* What it was ended for is why it has ended, whatever it did then. */
static void test_intents(void **state)
{
        static const struct {
                enum sg_job_intent intent;
                enum sg_job_state state;
        } wanted[] = {{SG_INTENT_CANCEL, SG_JOB_KILLED},
                      {SG_INTENT_TIMEOUT, SG_JOB_TIMEOUT},
                      {SG_INTENT_MEMORY, SG_JOB_OOM}};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(wanted); i++) {
                w.row.intent = wanted[i].intent;
                (void)sg_job_set_reason(&w.row, "as it was said");
                w.record = (struct sg_exit){.exit_code = 0};
                settle();
                assert_end(wanted[i].state, "as it was said");
                died_of(SIGTERM);
                settle();
                assert_end(wanted[i].state, "as it was said");
                died_of(SIGKILL);
                w.record.oom_kills = w.record.main_oom_killed = 1;
                settle();
                assert_end(wanted[i].state, "as it was said");
                assert_int_equal(w.row.signal, SIGKILL);
        }
}

/* What its terminal is told, while the row doesn't say it yet. */
static void assert_words(const char *wanted)
{
        char *words = NULL;

        assert_int_equal(sg_fate_in_words(&w.row, &w.end, NOW, &words), 0);
        if (wanted)
                assert_string_equal(words, wanted);
        else
                assert_null(words);
        free(words);
        assert_string_equal(sg_job_state_to_string(w.row.state), "running");
        assert_int_equal(w.row.ended_usec, 0);
}

static void test_in_words(void **state)
{
        (void)state;
        w.record.exit_code = 3;
        assert_words(NULL);
        died_of(SIGSEGV);
        assert_words("killed by SIGSEGV");
        (void)sg_job_set_reason(&w.row, "as it was said");
        w.row.intent = SG_INTENT_CANCEL;
        w.record = (struct sg_exit){.exit_code = 0};
        assert_words("as it was said");
        assert_string_equal(w.row.reason, "as it was said");
}

/* One that is to run again is described as it ended; what follows isn't decided here. */
static void test_requeued(void **state)
{
        (void)state;
        w.row.intent = SG_INTENT_REQUEUE;
        died_of(SIGTERM);
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGTERM");
        assert_int_equal(w.row.intent, SG_INTENT_REQUEUE);
}

static void test_host_went_down(void **state)
{
        (void)state;
        w.end.host_went_down = true;
        died_of(SIGTERM);
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGTERM when the host went down");
        w.record.signal = 0;
        w.record.exit_code = 0;
        settle();
        assert_end(SG_JOB_EXITED, "it ended as the host went down");
}

static void test_lost(void **state)
{
        (void)state;
        w.end.record = NULL;
        w.row.pid = 5;
        settle();
        assert_end(SG_JOB_LOST, "its keeper was killed; how it ended is not known");
        assert_int_equal(w.row.started_usec, STARTED);
        assert_int_equal(w.row.ended_usec, 0); /* (whoever ends it says so) */
        assert_int_equal(w.row.cpu_usec, SG_UNLIMITED);
        assert_int_equal(w.row.exit_code, -1);
        w.end.host_went_down = true;
        settle();
        assert_end(SG_JOB_LOST, "the host was restarted; how it ended is not known");
        w.row.intent = SG_INTENT_CANCEL;
        settle();
        assert_end(SG_JOB_KILLED, "the host was restarted; how it ended is not known");
        w.row.intent = SG_INTENT_TIMEOUT;
        w.end.host_went_down = false;
        settle();
        assert_end(SG_JOB_TIMEOUT, "its keeper was killed; how it ended is not known");
        w.row.intent = SG_INTENT_REQUEUE;
        settle();
        assert_end(SG_JOB_LOST, "its keeper was killed; how it ended is not known");
}

/* It never ran */

static void failed_at(enum sg_stage stage, int error, const char *reason, int64_t exit_code)
{
        w.record.stage = stage;
        w.record.error = error;
        w.record.exit_code = -1;
        settle();
        assert_end(SG_JOB_FAILED, reason);
        assert_int_equal(w.row.exit_code, exit_code);
        assert_int_equal(sg_job_exit_status(&w.row), exit_code);
        assert_int_equal(w.row.started_usec, 0);
        assert_int_equal(w.row.ended_usec, ENDED);
}

static void test_stages(void **state)
{
        (void)state;
        w.row.command = strdup("/opt/train --fast");
        assert_non_null(w.row.command);
        failed_at(SG_STAGE_SETUP, EMFILE, "cannot set the job up: Too many open files", 125);
        failed_at(SG_STAGE_CREDENTIALS, EPERM, "cannot become the user: Operation not permitted",
                  125);
        failed_at(SG_STAGE_WORKDIR, ENOENT,
                  "cannot enter the working directory: No such file or directory", 125);
        failed_at(SG_STAGE_OUTPUT, ENOSPC, "cannot open the output file: No space left on device",
                  125);
        failed_at(SG_STAGE_EXEC, ENOENT,
                  "cannot execute the command /opt/train: No such file or directory", 127);
        failed_at(SG_STAGE_EXEC, ENOTDIR, "cannot execute the command /opt/train: Not a directory",
                  127);
        failed_at(SG_STAGE_EXEC, EACCES, "cannot execute the command /opt/train: Permission denied",
                  126);
        failed_at(SG_STAGE_EXEC, ENOEXEC,
                  "cannot execute the command /opt/train: Exec format error", 126);
}

/* Which of two files it was isn't known. */
static void test_stage_output(void **state)
{
        (void)state;
        w.row.output = strdup("/data/my log");
        assert_non_null(w.row.output);
        failed_at(SG_STAGE_OUTPUT, EACCES,
                  "cannot open the output file /data/my log: Permission denied", 125);
        w.row.error = strdup("/data/errors");
        assert_non_null(w.row.error);
        failed_at(SG_STAGE_OUTPUT, EACCES, "cannot open the output file: Permission denied", 125);
}

/* It failed, even if somebody wanted it to end meanwhile. */
static void test_stage_and_intent(void **state)
{
        (void)state;
        w.row.intent = SG_INTENT_CANCEL;
        failed_at(SG_STAGE_EXEC, ENOENT, "cannot execute the command: No such file or directory",
                  127);
}

/* The foreground, whose record may say anything */

static void in_foreground(void)
{
        w.row.foreground = 1;
        w.end.counted = true;
        w.end.cpu_usec = 21;
        w.end.memory_peak_bytes = 22;
        w.end.oom_kills = 0;
        w.end.io_read_bytes = 24;
        w.end.io_write_bytes = 25;
}

static void test_claims_of_use(void **state)
{
        (void)state;
        in_foreground();
        w.record.oom_kills = 7;
        settle();
        assert_end(SG_JOB_EXITED, NULL);
        assert_int_equal(w.row.cpu_usec, 21);
        assert_int_equal(w.row.memory_peak_bytes, 22);
        assert_int_equal(w.row.oom_kills, 0);
        assert_int_equal(w.row.io_read_bytes, 24);
        assert_int_equal(w.row.io_write_bytes, 25);
        w.end.cpu_usec = SG_UNLIMITED; /* it may have been the only one to look */
        w.end.memory_peak_bytes = w.end.oom_kills = SG_UNLIMITED;
        settle();
        assert_int_equal(w.row.cpu_usec, 11);
        assert_int_equal(w.row.memory_peak_bytes, SG_UNLIMITED);
        assert_int_equal(w.row.oom_kills, SG_UNLIMITED);
}

static void test_claims_of_oom(void **state)
{
        (void)state;
        in_foreground();
        died_of(SIGKILL);
        w.record.oom_kills = w.record.main_oom_killed = 1;
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGKILL");
        w.end.oom_kills = SG_UNLIMITED;
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGKILL");
        w.end.oom_kills = 1; /* nor can it hide that it was so */
        w.record.oom_kills = w.record.main_oom_killed = 0;
        settle();
        assert_end(SG_JOB_OOM, "killed: out of memory at 22B of 64M (--mem)");
}

static void test_claims_without_groups(void **state)
{
        (void)state;
        in_foreground();
        w.end.counted = false;
        died_of(SIGKILL);
        w.record.oom_kills = w.record.main_oom_killed = 1;
        settle();
        assert_end(SG_JOB_KILLED, "killed by SIGKILL");
        assert_int_equal(w.row.oom_kills, SG_UNLIMITED);
        assert_int_equal(w.row.memory_peak_bytes, SG_UNLIMITED);
        assert_int_equal(w.row.cpu_usec, 11); /* as its keeper knows them of its children */
        assert_int_equal(w.row.io_read_bytes, 14);
        assert_int_equal(w.row.io_write_bytes, 15);
}

static void claim_times(uint64_t started, uint64_t ended, uint64_t expected_start,
                        uint64_t expected_end)
{
        uint64_t known = w.row.started_usec;

        w.record.started_usec = started;
        w.record.ended_usec = ended;
        settle();
        assert_int_equal(w.row.started_usec, expected_start);
        assert_int_equal(w.row.ended_usec, expected_end);
        w.row.started_usec = known;
}

static void test_claims_of_time(void **state)
{
        (void)state;
        in_foreground();
        claim_times(1, ENDED, STARTED, ENDED);
        claim_times(NOW, ENDED, STARTED, ENDED);
        claim_times(STARTED, STARTED - 1, STARTED, NOW);
        claim_times(STARTED, NOW + 1, STARTED, NOW);
        claim_times(STARTED, NOW, STARTED, NOW);
        claim_times(STARTED, 0, STARTED, NOW);
}

/* It was over before it was heard that it runs. */
static void test_claims_of_start(void **state)
{
        (void)state;
        in_foreground();
        w.row.started_usec = 0;
        claim_times(STARTED + 1, ENDED, STARTED + 1, ENDED);
        claim_times(1, ENDED, w.row.submitted_usec, ENDED);
        claim_times(NOW + 1, NOW + 2, NOW, NOW);
        claim_times(UINT64_MAX, 0, NOW, NOW);
}

/* Of a background job its keeper, which is ours, knows best. */
static void test_record_of_the_background(void **state)
{
        (void)state;
        in_foreground();
        w.row.foreground = 0;
        w.record.ended_usec = NOW + 1; /* the clock was set */
        settle();
        assert_int_equal(w.row.cpu_usec, 11);
        assert_int_equal(w.row.started_usec, STARTED + 1);
        assert_int_equal(w.row.ended_usec, NOW + 1);
}

/* As a later version may have it, or a liar. */
static void test_unheard_of_stage(void **state)
{
        (void)state;
        in_foreground();
        failed_at(_SG_STAGE_MAX, EPERM, "cannot start it: Operation not permitted", 125);
        failed_at((enum sg_stage)UINT_MAX, EPERM, "cannot start it: Operation not permitted", 125);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_exited),
                TEST(test_killed),
                TEST(test_unheard_of_signal),
                TEST(test_sigkill),
                TEST(test_oom),
                TEST(test_oom_without_a_limit),
                TEST(test_oom_behind_a_shell),
                TEST(test_intents),
                TEST(test_in_words),
                TEST(test_requeued),
                TEST(test_host_went_down),
                TEST(test_lost),
                TEST(test_stages),
                TEST(test_stage_output),
                TEST(test_stage_and_intent),
                TEST(test_claims_of_use),
                TEST(test_claims_of_oom),
                TEST(test_claims_without_groups),
                TEST(test_claims_of_time),
                TEST(test_claims_of_start),
                TEST(test_record_of_the_background),
                TEST(test_unheard_of_stage),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
