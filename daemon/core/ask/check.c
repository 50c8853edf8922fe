/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with a request as a whole, as far as it says so itself. */
#include "core/ask/request.h"
#include "proto/array.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* As older clients say it, in two numbers. */
static int take_range(struct sg_request *q, struct sg_answer *a)
{
        if (q->array_first == SG_UNLIMITED && q->array_last == SG_UNLIMITED)
                return 0;
        if (q->array)
                return sg_refuse(a, SG_ANSWER_INVALID, "array",
                                 "array: not together with array_first and array_last");
        if (q->array_first > q->array_last || q->array_last == SG_UNLIMITED)
                return sg_refuse(a, SG_ANSWER_INVALID, "array",
                                 "array: the first index must not be above the last");
        if (asprintf(&q->array, "%" PRIu64 "-%" PRIu64, q->array_first, q->array_last) < 0) {
                q->array = NULL;
                return -ENOMEM;
        }
        return 0;
}

static int check_array(struct sg_request *q, struct sg_answer *a)
{
        char name[SG_JOB_NAME_MAX];
        struct sg_array array;
        int r = take_range(q, a);

        if (r < 0 || !q->array)
                return r;
        r = sg_array_parse(q->array, &array);
        if (r == -ERANGE)
                return sg_refuse(a, SG_ANSWER_INVALID, "array",
                                 "array: at most %u tasks, with indexes up to %" PRIu64,
                                 SG_ARRAY_MAX, SG_ARRAY_INDEX_MAX);
        if (r < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "array",
                                 "array: wants indexes that rise, such as 0-9, 1,3,5 or "
                                 "1-100%%4");
        if (sg_job_name_task(name, q->job.name, array.last) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "name",
                                 "name: at most %d bytes with the index %" PRIu64 " as its %%a",
                                 SG_JOB_NAME_MAX - 1, array.last);
        q->count = array.n;
        q->job.array_index = (int64_t)array.first;
        q->job.array_max = array.max;
        return 0;
}

static int check_paths(const struct sg_request *q, struct sg_answer *a)
{
        const char *output = q->job.output, *error = q->job.error;

        if (q->workdir && q->workdir[0] != '/')
                return sg_refuse(a, SG_ANSWER_INVALID, "workdir",
                                 "workdir: wants an absolute path, not '%s'", q->workdir);
        if ((output && output[0] != '/') || (error && error[0] != '/'))
                return sg_refuse(a, SG_ANSWER_INVALID,
                                 output && output[0] != '/' ? "output" : "error",
                                 "output and error want absolute paths");
        return 0;
}

static int take_goal(struct sg_request *q, struct sg_answer *a)
{
        if (q->eval_goal[0] == '\0')
                return 0;
        if (strcmp(q->eval_goal, "min") == 0)
                q->job.eval_goal = SG_JOB_GOAL_MIN;
        else if (strcmp(q->eval_goal, "max") == 0)
                q->job.eval_goal = SG_JOB_GOAL_MAX;
        else
                return sg_refuse(a, SG_ANSWER_INVALID, "eval_goal",
                                 "eval-goal: min or max, not '%s'", q->eval_goal);
        return 0;
}

int sg_request_check_cpus(const struct sg_limits *l, struct sg_answer *a)
{
        if (l->cpus_max != 0 && l->cpus_max < l->cpus)
                return sg_refuse(a, SG_ANSWER_INVALID, "cpus",
                                 "cpus: the upper number must not be below the lower one");
        return 0;
}

int sg_request_take_threads(struct sg_request *q, struct sg_answer *a)
{
        int threads;

        if (!(q->asked & SG_ASK_THREADS))
                return 0;
        threads = sg_threads_from_string(q->threads);
        if (threads < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "threads",
                                 "threads: follow, start or leave, not '%s'", q->threads);
        q->job.limits.threads = (uint64_t)threads;
        return 0;
}

int sg_request_check_options(struct sg_request *q, struct sg_answer *a)
{
        const struct sg_limits *l = &q->job.limits;
        int r;

        r = check_array(q, a);
        if (r >= 0)
                r = check_paths(q, a);
        if (r >= 0)
                r = sg_request_check_cpus(l, a);
        if (r >= 0)
                r = sg_request_take_threads(q, a);
        if (r >= 0)
                r = sg_request_check_gpus(q, a);
        if (r < 0)
                return r;
        if (l->pin && l->cpus == 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "pin",
                                 "pin: needs the number of CPUs\ngive --cpus as well");
        return take_goal(q, a);
}

/* A block is strings, each with its NUL: argv and environments may hold any byte but that. */
static bool is_whole(struct sg_bytes block)
{
        return block.size == 0 || block.data[block.size - 1] == 0;
}

static int check_background(const struct sg_request *q, struct sg_answer *a)
{
        if (!is_whole(q->argv) || !is_whole(q->environment))
                return sg_refuse(a, SG_ANSWER_INVALID, is_whole(q->argv) ? "environment" : "argv",
                                 "command and environment must be NUL-terminated strings");
        if (q->argv.size == 0 && q->script.size == 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "argv", "no command");
        if (q->script.size == 0 && q->argv.data[0] == 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "argv", "the command's name is empty");
        if (q->script.size > SG_SCRIPT_MAX)
                return sg_refuse(a, SG_ANSWER_INVALID, "script", "the script is longer than 1M");
        if (q->argv.size + q->script.size + q->environment.size > SG_SPEC_MAX - 65536)
                return sg_refuse(a, SG_ANSWER_INVALID, NULL,
                                 "command and environment are longer than 8M");
        return 0;
}

/* Of `run`, which has a terminal. */
static int check_foreground(const struct sg_request *q, struct sg_answer *a)
{
        if (q->array || q->job.retry > 0 || q->on_end || q->job.output || q->job.error)
                return sg_refuse(a, SG_ANSWER_INVALID, NULL,
                                 "run: arrays, retries, output files and --on-end are for submit");
        if (q->argv.size == 0 || !is_whole(q->argv))
                return sg_refuse(a, SG_ANSWER_INVALID, "argv", "no command");
        if (q->argv.size > SG_SPEC_MAX - 65536)
                return sg_refuse(a, SG_ANSWER_INVALID, "argv", "the command is longer than 8M");
        return 0;
}

int sg_request_check_command(const struct sg_request *q, struct sg_answer *a)
{
        return q->verb == SG_REQUEST_RUN ? check_foreground(q, a) : check_background(q, a);
}

int sg_request_check_filter(const struct sg_request *q, struct sg_answer *a)
{
        const char *state = q->filter.state;
        char known[128] = "";

        if (!state || sg_job_state_from_string(state) >= 0)
                return 0;
        for (unsigned i = 0; i < _SG_JOB_STATE_MAX; i++) {
                size_t n = strlen(known);

                if (sg_job_state_is_known(i))
                        (void)snprintf(known + n, sizeof(known) - n, " %s",
                                       sg_job_state_to_string(i));
        }
        return sg_refuse(a, SG_ANSWER_INVALID, "state", "there is no state '%s'\nuse one of%s",
                         state, known);
}
