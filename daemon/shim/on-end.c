/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the user wants to have run when the job has ended. The spec is read again: it was dropped
 * while the job ran, for it can be megabytes.
 */

#include "shim/on-end.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "proto/names.h"
#include "shim/shim.h"
#include "shim/supervise.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_USEC (60 * SG_USEC_PER_SEC)

static int add_string(char ***strings, const char *s)
{
        size_t n = 0;
        char **p;

        while (*strings && (*strings)[n])
                n++;
        p = realloc(*strings, (n + 2) * sizeof(char *));
        if (!p)
                return -ENOMEM;
        *strings = p;
        p[n + 1] = NULL;
        p[n] = strdup(s);
        return p[n] ? 0 : -ENOMEM;
}

/* What a shell's $? would have been, where there is no signal to tell. */
static int exit_code(const struct sg_exit *e)
{
        if (e->stage == SG_STAGE_NONE)
                return e->exit_code;
        if (e->stage != SG_STAGE_EXEC)
                return SG_EXIT_OWN_FAILURE;
        return e->error == ENOENT ? SG_EXIT_NOT_FOUND : SG_EXIT_NOT_EXECUTABLE;
}

static int add_outcome(struct sg_spec *s, const struct sg_exit *e)
{
        char assignment[64];

        (void)snprintf(assignment, sizeof(assignment), "SCHEDGOV_EXIT_%s=%d",
                       e->signal ? "SIGNAL" : "CODE", e->signal ? e->signal : exit_code(e));
        return add_string(&s->env_force, assignment);
}

/* Same user, place and environment, another command; its output goes to the log in any case. */
static int turn_into_on_end(struct sg_spec *s, const struct sg_exit *e)
{
        const char *const argv[] = {"/bin/sh", "-c", s->on_end};
        int r;

        free(TAKE_PTR(s->script));
        free(TAKE_PTR(s->output));
        free(TAKE_PTR(s->error));
        sg_strv_free(TAKE_PTR(s->argv));
        for (size_t i = 0; i < SG_ELEMENTSOF(argv); i++) {
                r = add_string(&s->argv, argv[i]);
                if (r < 0)
                        return r;
        }
        return add_outcome(s, e);
}

static int add_place(struct sg_spec *s, const struct sg_spec *job)
{
        int r = 0;

        for (size_t i = 0; s->awaits_place && r == 0 && i < job->n_dirs; i++)
                r = sg_spec_add_dir(s, job->dirs[i].hier, job->dirs[i].path);
        return r;
}

static void spec_deinitp(struct sg_spec *s)
{
        sg_spec_deinit(s);
}

static int run(const struct sg_attempt_dir *dir, const struct sg_spec *job, struct sg_joblog *log,
               int signals, const struct sg_exit *e)
{
        _cleanup_(spec_deinitp) struct sg_spec spec = {0};
        struct sg_supervisor s = {.signals = signals, .log = log};
        int r;

        r = sg_attempt_dir_read_spec(dir, &spec);
        if (r < 0)
                return r;
        if (!spec.on_end)
                return 0;
        r = turn_into_on_end(&spec, e);
        if (r == 0)
                r = add_place(&spec, job);
        if (r < 0)
                return r;
        r = sg_child_spawn(&s.child, &spec, true);
        if (r < 0)
                return r;
        sg_child_release(&s.child);
        sg_supervise_main(&s, TIMEOUT_USEC);
        return -s.failure.error;
}

void sg_on_end(const struct sg_attempt_dir *dir, const struct sg_spec *job, struct sg_joblog *log,
               int signals, const struct sg_exit *e)
{
        int r = run(dir, job, log, signals, e);

        if (r < 0)
                sg_joblog_note(log, "cannot run the command for the end", sg_process_strerror(-r));
}
