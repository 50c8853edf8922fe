/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/process.h"
#include "base/time-util.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void test_ourselves(void **state)
{
        uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
        struct sg_process_stat a, b;
        struct timespec boot;
        clock_t end;

        (void)state;
        assert_int_equal(sg_process_stat(getpid(), &a), 0);
        assert_int_equal(a.parent, getppid());
        assert_int_equal(a.state, 'R');
        assert_true(sg_process_is_alive(&a));
        assert_false(a.exiting);
        assert_int_equal(a.threads, 1);
        assert_in_range(a.rss_pages, 50, 1 << 24);
        (void)clock_gettime(CLOCK_BOOTTIME, &boot);
        assert_in_range(a.start, 1, (uint64_t)(boot.tv_sec + 1) * hz);

        end = clock() + CLOCKS_PER_SEC / 20;
        while (clock() < end)
                ;
        assert_int_equal(sg_process_stat(getpid(), &b), 0);
        assert_in_range(b.ticks, a.ticks + hz / 20 - 1, a.ticks + 60 * hz);
        assert_int_equal(b.start, a.start);
}

/* A name may look like the rest of the line. */
static void test_child(void **state)
{
        int gate[2];
        struct sg_process_stat p, gone = {.parent = 77};
        siginfo_t info;
        clock_t end;
        pid_t pid;
        char c;

        (void)state;
        assert_int_equal(pipe(gate), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void)close(gate[1]);
                (void)prctl(PR_SET_NAME, "x) Z 1 2 (\n3");
                end = clock() + CLOCKS_PER_SEC / 20;
                while (clock() < end)
                        ;
                _exit(read(gate[0], &c, 1) == 1);
        }
        (void)close(gate[0]);
        do
                assert_int_equal(sg_process_stat(pid, &p), 0);
        while (p.state != 'S' || p.ticks == 0);
        assert_int_equal(p.parent, getpid());

        (void)close(gate[1]);
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(sg_process_stat(pid, &p), 0);
        assert_int_equal(p.state, 'Z');
        assert_false(sg_process_is_alive(&p));
        assert_true(p.exiting);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(sg_process_stat(pid, &gone), -ESRCH);
        assert_int_equal(gone.parent, 77);
        assert_int_equal(sg_process_stat(getpid(), &p), 0);
        assert_true(p.child_ticks > 0);
}

/* One that has changed its ids, until the test ends. */
static pid_t fork_as(uid_t real, uid_t effective, uid_t saved)
{
        int ready[2];
        pid_t pid;
        char c;

        assert_int_equal(pipe(ready), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                if (setresuid(real, effective, saved) == 0 && write(ready[1], "x", 1) == 1)
                        (void)pause();
                _exit(1);
        }
        (void)close(ready[1]);
        assert_int_equal(read(ready[0], &c, 1), 1);
        (void)close(ready[0]);
        return pid;
}

static void test_owner(void **state)
{
        static const struct {
                uid_t real, effective, saved;
                bool is_of, may_be_signalled; /* by user 1001, as kill(2) has it */
        } cases[] = {
                {1001, 1001, 1001, true, true},
                {1001, 0, 0, false, true}, /* as what is set-uid */
                {0, 0, 0, false, false},
                {0, 1001, 0, false, false},
                {0, 0, 1001, false, true},
                {1001, 1001, 0, false, true},
                {1002, 1002, 1002, false, false},
        };
        struct sg_process_owner o;

        (void)state;
        if (getuid() != 0)
                skip();
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                pid_t pid = fork_as(cases[i].real, cases[i].effective, cases[i].saved);

                assert_int_equal(sg_process_owner(pid, &o), 0);
                assert_int_equal(o.real, cases[i].real);
                assert_int_equal(o.effective, cases[i].effective);
                assert_int_equal(o.saved, cases[i].saved);
                assert_int_equal(sg_process_is_of(pid, 1001), cases[i].is_of);
                assert_int_equal(sg_process_may_be_signalled(pid, 1001), cases[i].may_be_signalled);
                assert_true(sg_process_may_be_signalled(pid, 0));
                assert_int_equal(kill(pid, SIGKILL), 0);
                assert_int_equal(waitpid(pid, NULL, 0), pid);
                assert_int_equal(sg_process_owner(pid, &o), -ESRCH);
                assert_false(sg_process_may_be_signalled(pid, 0));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_ourselves),
                cmocka_unit_test(test_child),
                cmocka_unit_test(test_owner),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
