/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where a job's progress is read from: what was asked for at its submission, else what its class
 * says, put into what the reader is told.
 */
#include "base/cleanup.h"
#include "core/reports/progress-source.h"
#include "edge/pattern/pattern.h"
#include "monitor/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sg_progress_check_value(const char *section, const char *key, const char *value, char **ret_why)
{
        _cleanup_free_ char *why = NULL;
        int r;

        if (strcmp(section, "Progress") != 0 || strcmp(key, "Pattern") != 0 || value[0] == '\0')
                return 0;
        r = sg_pattern_check(value, &why);
        if (r == -EINVAL && asprintf(ret_why, "[Progress] Pattern=: %s", why ?: "it is wrong") < 0)
                return -ENOMEM;
        return r;
}

enum sg_goal sg_progress_goal(const struct sg_live *l)
{
        switch (l->job.eval_goal) {
        case SG_JOB_GOAL_MIN:
                return SG_GOAL_MIN;
        case SG_JOB_GOAL_MAX:
                return SG_GOAL_MAX;
        default:
                return l->class->goal;
        }
}

/* Where its class says nothing the preset is "auto", so that there is always something. */
static const char *class_source(const struct sg_class *c)
{
        return c->progress_pattern[0] ? c->progress_pattern : c->progress_preset;
}

/* A copy that is cut behind the path, with the job's number and so on in place of the codes. */
static const char *expand(const struct sg_live *l, const char *path, size_t size,
                          struct sg_follow_space *space)
{
        char *cut = strndup(path, size);

        if (!cut || sg_job_expand_path(&l->job, cut, &space->expanded) < 0)
                space->expanded = NULL;
        free(cut);
        return space->expanded;
}

static bool follow_source(const struct sg_live *l, const char *text, struct sg_follow *f,
                          struct sg_follow_space *space)
{
        struct sg_progress_source s;

        if (sg_progress_source_parse(text, &s) < 0)
                return false;
        switch (s.kind) {
        case SG_PROGRESS_NONE:
                return false;
        case SG_PROGRESS_PATTERN:
                f->pattern = s.text;
                return true;
        case SG_PROGRESS_FILE:
                f->file = expand(l, s.text, s.size, space);
                return f->file != NULL;
        case SG_PROGRESS_EVENTS:
                f->events = expand(l, s.text, s.size, space);
                f->tag = s.tag;
                return f->events != NULL;
        case SG_PROGRESS_AUTO:
        case SG_PROGRESS_PRESET:
                f->preset = s.text;
                return true;
        }
        return false;
}

/* A class's File= stands beside what it says of the output. */
static void follow_class_file(const struct sg_live *l, struct sg_follow *f,
                              struct sg_follow_space *space)
{
        static const char events[] = "tensorboard:";
        const char *path = l->class->progress_file;

        if (path[0] == '\0' || f->file || f->events || l->job.progress)
                return;
        if (strncmp(path, events, strlen(events)) == 0)
                (void)follow_source(l, path, f, space);
        else
                f->file = expand(l, path, strlen(path), space);
}

static void follow_output(const struct sg_live *l, struct sg_follow *f,
                          struct sg_follow_space *space)
{
        if (l->job.adopted) {
                f->unit = l->class->progress_journal ? l->job.unit : NULL;
                f->invocation = l->job.invocation;
        } else if (l->job.output) {
                f->output = l->job.output;
        } else if (!l->job.foreground) {
                sg_live_log_path(l, space->log);
                f->log = space->log;
                f->log_before = l->attempt.log_before;
        }
}

/* We hear that a job has started when it may have written already; and times of files are those of
 * the kernel's last tick. */
#define EARLIER_USEC (1ULL * 1000000)

static uint64_t since(const struct sg_live *l)
{
        uint64_t begun = l->attempt.begun_usec ?: l->job.started_usec;

        return begun > EARLIER_USEC ? begun - EARLIER_USEC : 0;
}

bool sg_progress_follow(const struct sg_live *l, struct sg_follow *ret,
                        struct sg_follow_space *space)
{
        struct sg_follow f = {.key = l->job.key,
                              .uid = (uid_t)l->job.uid,
                              .goal = sg_progress_goal(l),
                              .since_usec = since(l),
                              .preset = "none"};

        space->expanded = NULL;
        if (follow_source(l, l->job.progress ?: class_source(l->class), &f, space) &&
            (f.pattern || strcmp(f.preset, "none") != 0))
                follow_output(l, &f, space);
        follow_class_file(l, &f, space);
        *ret = f;
        return f.log || f.output || f.unit || f.file || f.events;
}
