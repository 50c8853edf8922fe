/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Processes for the tests of the cgroup backends: how they get into a scope, and what they do
 * there. */

#include "tests/unit/edge/cgroup/fixture.h"

/* A child that is in the scope before fn runs; fn's value is its exit status. */
static inline pid_t spawn(struct fixture *f, struct sg_scope *s, bool in_job, int (*fn)(void *),
                          void *arg)
{
        int gate[2];
        char c;
        pid_t pid;

        assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void)close(gate[1]);
                if (read(gate[0], &c, 1) != 1)
                        _exit(99);
                _exit(fn(arg));
        }
        f->pids[f->n_pids++] = pid;
        (void)close(gate[0]);
        assert_int_equal(sg_scope_move(s, pid, in_job), 0);
        assert_int_equal(sg_scope_holds(s, pid, in_job), 1);
        assert_int_equal(write(gate[1], "g", 1), 1);
        (void)close(gate[1]);
        return pid;
}

/* Waits for it and forgets it. */
static inline int reap(struct fixture *f, pid_t pid)
{
        int status = 0;

        assert_int_equal(waitpid(pid, &status, 0), pid);
        for (size_t i = 0; i < f->n_pids; i++)
                if (f->pids[i] == pid)
                        f->pids[i] = f->pids[--f->n_pids];
        return status;
}

static inline int spin(void *arg)
{
        volatile unsigned long n = 0;
        cpu_set_t set;

        CPU_ZERO(&set);
        CPU_SET(0, &set);
        if (arg)
                (void)sched_setaffinity(0, sizeof(set), &set);
        for (;;)
                n++;
        return 0;
}

static inline int idle(void *arg)
{
        (void)arg;
        for (;;)
                (void)pause();
        return 0;
}

/* Forks without an end; the parents leave. They leave no zombies, which would count among the tasks
 * that it may have: how many live then would be the scheduler's choice. */
static inline int fork_bomb(void *arg)
{
        (void)arg;
        (void)signal(SIGCHLD, SIG_IGN);
        for (;;)
                if (fork() == 0 && fork() > 0)
                        _exit(0);
        return 0;
}

/* --- devices */

static inline int open_node(void *arg)
{
        return open(arg, O_RDWR | O_CLOEXEC | O_NOCTTY) < 0 ? errno : 0;
}

/* Its exit status. */
static inline int run(struct fixture *f, struct sg_scope *s, bool in_job, int (*fn)(void *),
                      const char *p)
{
        int status = reap(f, spawn(f, s, in_job, fn, (void *)p));

        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}
