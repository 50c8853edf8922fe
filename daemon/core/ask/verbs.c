/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which verbs there are, and what each takes in which order. */
#include "core/ask/request.h"
#include <errno.h>
#include <string.h>

#define AT(member) offsetof(struct sg_request, member)
#define PARAM(word, kind, member)                                                                  \
        static const struct sg_param word = {                                                      \
                .name = #word, .type = SG_VALUE_##kind, .offset = AT(member)}

PARAM(argv, BLOCK, argv);
PARAM(script, BYTES, script);
PARAM(environment, BLOCK, environment);
PARAM(pidfd, FILE, pidfd);
PARAM(number, U64, number);
PARAM(job, TEXT, id);
PARAM(cursor, TEXT, cursor);
PARAM(after, U64, after);
PARAM(limit, U64, limit);
PARAM(what, TEXT, what);
PARAM(class, TEXT, class);
PARAM(assignments, WORDS, assignments);
PARAM(signal, I32, signal);
PARAM(gpu, TEXT, id);
PARAM(drain, FLAG, number);

const struct sg_request_verb_info sg_request_verbs[_SG_REQUEST_VERB_MAX] = {
        [SG_REQUEST_SUBMIT] = {"Submit", "option", {&argv, &script, &environment}},
        [SG_REQUEST_DRY_RUN] = {"DryRun", "option", {&argv, &script, &environment}},
        [SG_REQUEST_RUN] = {"Run", "option", {&argv, &pidfd}},
        [SG_REQUEST_ATTACH] = {"Attach", NULL, {&number}},
        [SG_REQUEST_LIST_JOBS] = {"ListJobs", "filter", {&cursor}},
        [SG_REQUEST_DESCRIBE_JOBS] = {"DescribeJobs", "filter", {&cursor}},
        [SG_REQUEST_DESCRIBE_JOB] = {"DescribeJob", NULL, {&job}},
        [SG_REQUEST_DESCRIBE_COMMAND] = {"DescribeCommand", NULL, {&job}},
        [SG_REQUEST_WAIT_JOB] = {"WaitJob", NULL, {&job}},
        [SG_REQUEST_DESCRIBE_SERIES] = {"DescribeSeries", NULL, {&job}},
        [SG_REQUEST_OPEN_LOG] = {"OpenLog", NULL, {&job}},
        [SG_REQUEST_LIST_EVENTS] = {"ListEvents", NULL, {&after, &job, &limit}},
        [SG_REQUEST_SUBSCRIBE] = {.name = "Subscribe"},
        [SG_REQUEST_ADOPT] = {"Adopt", NULL, {&what, &class}},
        [SG_REQUEST_DESCRIBE] = {.name = "Describe"},
        [SG_REQUEST_EXPLAIN] = {"Explain", NULL, {&job}},
        [SG_REQUEST_OPEN_DECISIONS] = {.name = "OpenDecisions"},
        [SG_REQUEST_LIST_POLICIES] = {.name = "ListPolicies"},
        [SG_REQUEST_DESCRIBE_LIMITS] = {.name = "DescribeLimits"},
        [SG_REQUEST_SET_POLICY] = {"SetPolicy", NULL, {&class, &assignments}},
        [SG_REQUEST_RELOAD] = {.name = "Reload"},
        [SG_REQUEST_CONFIG_CAT] = {.name = "ConfigCat"},
        [SG_REQUEST_CONFIG_VERIFY] = {.name = "ConfigVerify"},
        [SG_REQUEST_GPUS] = {.name = "Gpus"},
        [SG_REQUEST_DRAIN_GPU] = {"DrainGpu", NULL, {&gpu, &drain}},
        [SG_REQUEST_CANCEL] = {.name = "Cancel"},
        [SG_REQUEST_HOLD] = {.name = "Hold"},
        [SG_REQUEST_RELEASE] = {.name = "Release"},
        [SG_REQUEST_SUSPEND] = {.name = "Suspend"},
        [SG_REQUEST_RESUME] = {.name = "Resume"},
        [SG_REQUEST_REQUEUE] = {.name = "Requeue"},
        [SG_REQUEST_SIGNAL] = {"Signal", NULL, {&signal}},
        [SG_REQUEST_SET] = {.name = "Set", .options = "option"},
};

int sg_request_verb_from_string(const char *name)
{
        for (int i = 0; i < _SG_REQUEST_VERB_MAX; i++)
                if (strcmp(sg_request_verbs[i].name, name) == 0)
                        return i;
        return -ENOENT;
}
