/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs and the options of schedctl, as tables. */

#include "base/cleanup.h"
#include "ctl/line/options.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>

const struct sg_verb sg_verbs[_SG_VERB_MAX] = {
        [SG_VERB_RUN] = {"run", "[JOB OPTIONS] -- CMD…",
                         "Run a command in the foreground, governed",
                         "schedctl run --cpu-weight 300 --mem 4G -- python train.py"},
        [SG_VERB_SUBMIT] = {"submit", "[JOB OPTIONS] [-- CMD…]",
                            "Queue a command, or a script from stdin; print its number",
                            "schedctl submit --name train --time-limit 8h -- ./train.sh"},
        [SG_VERB_LIST] = {"list", "", "List the live jobs",
                          "schedctl list --user alice -o id,state,cpu"},
        [SG_VERB_STATUS] = {"status", "[JOB…]", "Show the node and the last job, or all about some",
                            "schedctl status 7"},
        [SG_VERB_PLOT] = {"plot", "[--svg FILE | --csv] [JOB]",
                          "Draw loss, share and CPUs of a job over time",
                          "schedctl plot --svg loss.svg 7"},
        [SG_VERB_TOP] = {"top", "", "Watch the node and its jobs", "schedctl top --sort eta"},
        [SG_VERB_LOGS] = {"logs", "[-f] [-n LINES] [JOB]", "Print what a job wrote",
                          "schedctl logs -f train"},
        [SG_VERB_WAIT] = {"wait", "[--any] [JOB…]", "Wait for jobs to end; return their status",
                          "schedctl wait 7 && echo fine"},
        [SG_VERB_CANCEL] = {"cancel", "[JOB… | --all]", "End jobs, or take them off the queue",
                            "schedctl cancel '7[3-5]'"},
        [SG_VERB_HOLD] = {"hold", "JOB…", "Keep queued jobs from starting", "schedctl hold 7"},
        [SG_VERB_RELEASE] = {"release", "JOB…", "Let held jobs start", "schedctl release 7"},
        [SG_VERB_SUSPEND] = {"suspend", "JOB…", "Freeze running jobs", "schedctl suspend 7"},
        [SG_VERB_RESUME] = {"resume", "JOB…", "Thaw suspended jobs", "schedctl resume 7"},
        [SG_VERB_REQUEUE] = {"requeue", "JOB…", "Stop jobs and queue them again",
                             "schedctl requeue 7"},
        [SG_VERB_RERUN] = {"rerun", "[JOB OPTIONS] JOB…",
                           "Submit jobs again, with options that differ",
                           "schedctl rerun --mem 8G 7"},
        [SG_VERB_SIGNAL] = {"signal", "JOB… SIG", "Send a signal to every process of a job",
                            "schedctl signal 7 USR1"},
        [SG_VERB_SET] = {"set", "JOB… KEY=VALUE…", "Change the limits of live jobs",
                         "schedctl set 7 cpu-weight=300 mem=2G"},
        [SG_VERB_HISTORY] = {"history", "", "List finished jobs, the newest first",
                             "schedctl history --since -1d --state oom"},
        [SG_VERB_SIMULATE] = {"simulate", "TRACE | --generate WORKLOAD | --from-history",
                              "Compare policies on jobs that are only computed",
                              "schedctl simulate --generate random15 -n 100 --policy fair,growth"},
        [SG_VERB_EVENTS] = {"events", "[-f] [JOB]", "Show what happened to jobs",
                            "schedctl events -f"},
        [SG_VERB_EXPLAIN] = {"explain", "[JOB…] | --log [-n LINES] [JOB]",
                             "Show why a job has the share that it has", "schedctl explain 7"},
        [SG_VERB_LIMITS] = {"limits", "[CLASS…]",
                            "Show what applies to you: your classes, what they give and allow",
                            "schedctl limits train"},
        [SG_VERB_GPUS] = {"gpus", "[drain|undrain GPU…]",
                          "Show the GPUs and who has them; keep some from being given out",
                          "schedctl gpus"},
        [SG_VERB_POLICY] = {"policy", "list | show [CLASS] | set CLASS KEY=VALUE… | reload",
                            "Show policies, or change that of a class while its jobs run",
                            "schedctl policy set train Share=growth Objective=quality"},
        [SG_VERB_CONFIG] = {"config", "cat|verify|reload",
                            "Show, check or re-read the configuration",
                            "schedctl config verify && schedctl config reload"},
        [SG_VERB_ADOPT] = {"adopt", "UNIT|GROUP", "Make a job of something that runs already",
                           "schedctl adopt --class train jupyter.service"},
        [SG_VERB_VERSION] = {"version", "", "Show versions", "schedctl version --json"},
        [SG_VERB_HELP] = {"help", "[VERB]", "Show help", "schedctl help submit"},
};

#define BIT(verb) (1U << SG_VERB_##verb)
#define EVERY ((1U << _SG_VERB_MAX) - 1)
#define JOBS (BIT(RUN) | BIT(SUBMIT) | BIT(RERUN))
#define QUEUED (BIT(SUBMIT) | BIT(RERUN))
#define SETTABLE (JOBS | BIT(SET))
#define TABLES (BIT(LIST) | BIT(HISTORY))
#define FILTERED (TABLES | BIT(TOP))
#define AT(member) offsetof(struct sg_invocation, member)

/* An option of proto/limits.h. What is typed follows from the unit. */
#define TYPED_WEIGHT .type = SG_OPTION_WEIGHT, .metavar = "N"
#define TYPED_PERCENT .type = SG_OPTION_PERCENT, .metavar = "PERCENT"
#define TYPED_BYTES .type = SG_OPTION_BYTES, .metavar = "SIZE"
#define TYPED_SWAP TYPED_BYTES
#define TYPED_RATE TYPED_BYTES
#define TYPED_COUNT .type = SG_OPTION_NUMBER, .metavar = "N"
#define TYPED_TIME .type = SG_OPTION_USEC, .metavar = "TIME"
#define LIMIT(kind, field, tag, unit, option, request, document, class_key, label, text, ...)      \
        {                                                                                          \
                .name = (option), TYPED_##unit, .verbs = SETTABLE,                                 \
                .offset = AT(limits[SG_LIMIT_##kind]), .key = (request), .help = (text),           \
        }

const struct sg_option sg_options[] = {
        {"name", 0, SG_OPTION_NAME, SETTABLE | FILTERED, AT(name), "name", "NAME",
         "name of the job (%a array index)"},
        {"class", 0, SG_OPTION_STRING, JOBS | FILTERED | BIT(SIMULATE) | BIT(ADOPT), AT(class),
         "class", "CLASS", "policy class"},
        {"cpus", 0, SG_OPTION_CPUS, SETTABLE, AT(cpus), "cpus", "N[-M]", "CPUs that it can use"},
        {"pin", 0, SG_OPTION_FLAG, JOBS, AT(pin), "pin", NULL, "give it a CPU set of its own"},
        {"threads", 0, SG_OPTION_STRING, SETTABLE, AT(threads), "threads", "follow|start|leave",
         "whether its threads follow what it has, or what it started with"},
        SG_CPU_LIMITS(LIMIT),
        SG_MEMORY_MAX_LIMIT(LIMIT),
        SG_MEMORY_HIGH_LIMIT(LIMIT),
        SG_OTHER_LIMITS(LIMIT),
        {"gpus", 0, SG_OPTION_GPUS, SETTABLE, AT(gpus), "gpus", "N[-M]",
         "GPUs that it gets, or a part of one such as 0.5 (with --gpu-mem)"},
        {"gpu-mem", 0, SG_OPTION_BYTES, SETTABLE, AT(gpu_mem), "gpu_mem", "SIZE",
         "memory of each GPU that it needs, and may take of a part"},
        {"gpu-type", 0, SG_OPTION_STRING, SETTABLE, AT(gpu_type), "gpu_type", "PATTERN",
         "only GPUs of such a name, as 'A100*'"},
        {"gpu-ids", 0, SG_OPTION_STRING, SETTABLE, AT(gpu_ids), "gpu_ids", "LIST",
         "exactly these GPUs, by index or UUID, in this order, as 2,0"},
        {"mig", 0, SG_OPTION_STRING, SETTABLE, AT(mig), "mig", "PROFILE",
         "an instance of a GPU, as 1g.10gb"},
        SG_TIME_LIMIT(LIMIT),
        {"priority", 0, SG_OPTION_PRIORITY, SETTABLE, AT(priority), "priority", "N",
         "-1000 … 1000, higher first"},
        {"after", 0, SG_OPTION_AFTER, JOBS, AT(after), "after", "JOB[:ok|any]",
         "start when that job has ended (ok: with 0); repeatable"},
        {"begin", 0, SG_OPTION_TIME, JOBS, AT(begin), "begin", "WHEN",
         "not before, such as 22:00 or 2h"},
        {"deadline", 0, SG_OPTION_DUE, SETTABLE, AT(deadline), "deadline", "WHEN",
         "it should be done by then; for the policies edf and deadline"},
        {"retry", 0, SG_OPTION_COUNT, QUEUED, AT(retry), "retry", "N", "try again after a failure"},
        {"array", 0, SG_OPTION_ARRAY, QUEUED, AT(array), "array", "LIST[%N]",
         "a job for each number, such as 0-9 or 1,3,5; %N: N at once"},
        {"progress", 0, SG_OPTION_STRING, JOBS, AT(progress), "progress", "SOURCE",
         "auto, none, keras …, a pattern with (?<loss>…), file:PATH, tensorboard:PATH"},
        {"eval-goal", 0, SG_OPTION_STRING, JOBS, AT(eval_goal), "eval_goal", "min|max",
         "whether what it reports falls (min) or rises as it learns"},
        {"steps", 0, SG_OPTION_STEPS, JOBS, AT(steps), "steps", "N",
         "how many steps it will take, if it doesn't say itself"},
        {"sh", 0, SG_OPTION_STRING, BIT(RUN) | BIT(SUBMIT), AT(sh), NULL, "CMD",
         "a command for the shell, such as 'a | b', in place of CMD…"},
        {"env", 0, SG_OPTION_ENV, JOBS, AT(env), NULL, "K=V", "set a variable; repeatable"},
        {"workdir", 0, SG_OPTION_STRING, JOBS, AT(workdir), NULL, "DIR", "working directory"},
        {"output", 0, SG_OPTION_STRING, QUEUED, AT(output), NULL, "FILE",
         "file for stdout (%j number, %a array index, %n name)"},
        {"error", 0, SG_OPTION_STRING, QUEUED, AT(error), NULL, "FILE", "file for stderr"},
        {"on-end", 0, SG_OPTION_STRING, QUEUED, AT(on_end), "on_end", "CMD",
         "shell command to run when it has ended"},
        {"sbatch", 0, SG_OPTION_FLAG, QUEUED, AT(sbatch), NULL, NULL,
         "take the options of a script's #SBATCH lines"},
        {"hold", 0, SG_OPTION_FLAG, JOBS, AT(hold), "hold", NULL, "don't start before a release"},
        {"no-wait", 0, SG_OPTION_FLAG, JOBS, AT(no_wait), "no_wait", NULL,
         "exit with 75 when there is no room now"},
        {"dry-run", 0, SG_OPTION_FLAG, JOBS, AT(dry_run), NULL, NULL,
         "show what would be made, and make nothing"},
        {"all", 'a', SG_OPTION_FLAG, BIT(LIST) | BIT(CANCEL), AT(all), NULL, NULL,
         "list: finished jobs too; cancel: all of one's own"},
        {"tasks", 0, SG_OPTION_FLAG, BIT(LIST), AT(tasks), NULL, NULL,
         "a line for each task of an array, not one for all"},
        {"user", 0, SG_OPTION_STRING, FILTERED, AT(user), "user", "USER", "only of this user"},
        {"state", 0, SG_OPTION_STRING, FILTERED, AT(state), "state", "STATE", "only in this state"},
        {"since", 0, SG_OPTION_PAST, BIT(HISTORY) | BIT(SIMULATE), AT(since), "since", "WHEN",
         "ended since, such as 09:00 or -2h"},
        {"until", 0, SG_OPTION_PAST, BIT(HISTORY) | BIT(SIMULATE), AT(until), "until", "WHEN",
         "ended until"},
        {"lines", 'n', SG_OPTION_COUNT,
         BIT(HISTORY) | BIT(LOGS) | BIT(EVENTS) | BIT(EXPLAIN) | BIT(TOP) | BIT(SIMULATE),
         AT(lines), NULL, "N", "only the last N; top: this many times; simulate: instances"},
        {"delay", 'd', SG_OPTION_USEC, BIT(TOP), AT(delay), NULL, "TIME",
         "time between two looks (2s)"},
        {"sort", 0, SG_OPTION_STRING, BIT(TOP), AT(sort), NULL, "KEY",
         "what stands first: id, time, cpu, share, mem, progress or eta"},
        {"follow", 'f', SG_OPTION_FLAG, BIT(LOGS) | BIT(EVENTS), AT(follow), NULL, NULL,
         "go on as more comes"},
        {"log", 0, SG_OPTION_FLAG, BIT(EXPLAIN), AT(log), NULL, NULL,
         "what was decided before, of one job or of all"},
        {"stderr", 0, SG_OPTION_FLAG, BIT(LOGS), AT(stderr_file), NULL, NULL,
         "the file given with --error"},
        {"raw", 0, SG_OPTION_FLAG, BIT(LOGS), AT(raw), NULL, NULL,
         "on a terminal: with all that the job meant for one"},
        {"any", 0, SG_OPTION_FLAG, BIT(WAIT), AT(any), NULL, NULL,
         "return when one has ended, and print its number"},
        {"timeout", 0, SG_OPTION_USEC, BIT(WAIT), AT(timeout), NULL, "TIME",
         "exit with 75 when it takes longer"},
        {"columns", 'o', SG_OPTION_STRING, TABLES | BIT(PLOT) | BIT(EXPLAIN) | BIT(SIMULATE),
         AT(columns), NULL, "COLUMN,…",
         "columns between commas; a wrong one is answered with all there are"},
        {"svg", 0, SG_OPTION_STRING, BIT(PLOT) | BIT(SIMULATE), AT(svg), NULL, "FILE",
         "as a drawing; - is stdout"},
        {"csv", 0, SG_OPTION_FLAG, BIT(PLOT) | BIT(SIMULATE), AT(csv), NULL, NULL,
         "as a table of figures; simulate: the workload itself"},
        {"generate", 0, SG_OPTION_STRING, BIT(SIMULATE), AT(generate), NULL, "WORKLOAD",
         "fixed3, randomN, wideN, narrowN, deadlineN, overloadN with N jobs"},
        {"from-history", 0, SG_OPTION_FLAG, BIT(SIMULATE), AT(from_history), NULL, NULL,
         "the jobs that have ended here"},
        {"seed", 0, SG_OPTION_COUNT, BIT(SIMULATE), AT(seed), NULL, "N",
         "of all that is random (1)"},
        {"policy", 0, SG_OPTION_STRING, BIT(SIMULATE), AT(policy), NULL, "POLICY,…",
         "such as fair,flowcon,growth; clairvoyant, fifo and edf know the real sizes"},
        {"objective", 0, SG_OPTION_STRING, BIT(SIMULATE), AT(objective), NULL, "OBJECTIVE",
         "jct, balanced or quality"},
        {"no-harm", 0, SG_OPTION_PART, BIT(SIMULATE), AT(no_harm), NULL, "PART",
         "how much later than under fair a job may be (5%); infinity"},
        {"floor", 0, SG_OPTION_PART, BIT(SIMULATE), AT(floor), NULL, "PART",
         "of its fair share that each job always gets (0)"},
        {"with", 0, SG_OPTION_STRING, BIT(SIMULATE), AT(with), NULL, "KEY=VALUE,…",
         "keys of policy files, such as Alpha=0.1,Interval=30s"},
        {"exact-sizes", 0, SG_OPTION_FLAG, BIT(SIMULATE), AT(exact_sizes), NULL, NULL,
         "jobs say exactly how far they are, and say so as soon as they run"},
        {"speedup", 0, SG_OPTION_PART, BIT(SIMULATE), AT(speedup), NULL, "Q",
         "a job with a part s of its width goes s^Q as fast (1)"},
        {"node-cpus", 0, SG_OPTION_COUNT, BIT(SIMULATE), AT(node_cpus), NULL, "N",
         "of the node, which jobs have whole; they go on as their speed-ups say"},
        {"stubborn", 0, SG_OPTION_FLAG, BIT(SIMULATE), AT(stubborn), NULL, NULL,
         "with --node-cpus: jobs have all their threads whatever they get"},
        {"lies", 0, SG_OPTION_PART, BIT(SIMULATE), AT(lies), NULL, "PART",
         "of the jobs that say to be ten times as far as they are (0)"},
        {"socket", 0, SG_OPTION_STRING, EVERY, AT(socket), NULL, "PATH", "socket of the governor"},
        {"user", 0, SG_OPTION_FLAG, EVERY, AT(own), NULL, NULL,
         "one's own governor (schedgovd --user); list, history, top: before the verb"},
        {"json", 0, SG_OPTION_FLAG, EVERY, AT(json), NULL, NULL, "machine-readable output"},
        {"no-legend", 0, SG_OPTION_FLAG, EVERY, AT(no_legend), NULL, NULL, "no headings"},
        {"no-pager", 0, SG_OPTION_FLAG, EVERY, AT(no_pager), NULL, NULL, "no pager"},
        {"help", 'h', SG_OPTION_FLAG, EVERY, AT(help), NULL, NULL, "show help"},
        {"version", 0, SG_OPTION_FLAG, EVERY, AT(version), NULL, NULL, "show the version"},
};
const size_t sg_n_options = SG_ELEMENTSOF(sg_options);
_Static_assert(SG_ELEMENTSOF(sg_options) <= 128, "one bit each in sg_invocation.given");

int sg_verb_from_string(const char *name)
{
        for (int i = 0; i < _SG_VERB_MAX; i++)
                if (strcmp(sg_verbs[i].name, name) == 0)
                        return i;
        return -EINVAL;
}
