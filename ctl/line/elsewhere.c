/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See elsewhere.h. A name that means two things in two of these programs has the hint for the one
 * whose users type it there: "submit -d" is Slurm's, "-d" without a verb task-spooler's.
 */

#include "ctl/line/elsewhere.h"
#include "base/cleanup.h"
#include "ctl/line/verb_table.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CALL(says) "it is schedctl " says " here"
#define NAME(says) "it is " says " here"
#define NO_NEED "jobs that have ended leave the list by themselves, and schedctl history has them"

struct verb_elsewhere {
        const char *words; /* between spaces */
        const char *hint;
};

static const struct verb_elsewhere verbs_elsewhere[] = {
        {"ps ls jobs queue squeue qstat", CALL("list")},
        {"show info sstat seff", CALL("status JOB")},
        {"sinfo", CALL("status")},
        {"scontrol",
         "here that is schedctl status, set, hold, release, suspend, resume or requeue"},
        {"kill stop remove rm delete scancel qdel", CALL("cancel JOB")},
        {"reset", CALL("cancel --all")},
        {"add batch sbatch qsub ts tsp", CALL("submit -- COMMAND")},
        {"exec srun salloc", CALL("run -- COMMAND")},
        {"log cat output", CALL("logs JOB")},
        {"follow tail attach sattach", CALL("logs -f JOB")},
        {"sacct sreport", CALL("history")},
        {"clean", NO_NEED},
        {"pause freeze", CALL("suspend JOB")},
        {"start continue unpause thaw", CALL("resume JOB") ", or release JOB if it is held"},
        {"stash", CALL("hold JOB")},
        {"enqueue", CALL("release JOB")},
        {"restart", CALL("rerun JOB")},
        {"switch nice renice", CALL("set JOB priority=N")},
        {"edit update", CALL("set JOB KEY=VALUE")},
        {"parallel", "MaxJobs= in schedgov.conf(5) says how many jobs run at once"},
        {"group partition", "groups of jobs are classes here: see schedctl policy show"},
        {"send", "a queued job has no input: say where it is from, as in --sh 'COMMAND <FILE'"},
        {"sprio sshare why", CALL("explain JOB")},
        {"gpu nvidia-smi gpustat nvitop", CALL("gpus")},
};

#define BIT(verb) (1U << SG_VERB_##verb)
#define NO_VERB (1U << _SG_VERB_MAX)
#define STARTS (BIT(RUN) | BIT(SUBMIT))
#define TABLES (BIT(LIST) | BIT(HISTORY))

_Static_assert(_SG_VERB_MAX < 32, "one bit each, and one for none");

struct option_elsewhere {
        uint32_t verbs;
        const char *words, *hint;
};

static const struct option_elsewhere options_elsewhere[] = {
        {STARTS, "-c --cpus-per-task", NAME("--cpus N")},
        {STARTS, "-n --ntasks -N --nodes",
         "a job is one command on this node; submit --array 1-4 makes four of them"},
        {STARTS, "-J --job-name -l -L --label", NAME("--name NAME")},
        {STARTS, "-p --partition -q --qos --group", NAME("--class CLASS")},
        {STARTS, "-G --gpus-per-task --gpus-per-node --gres --gpu --num-gpus --gpu_indices",
         NAME("--gpus N") ", with --gpu-type or --gpu-ids if it matters which"},
        {STARTS, "-g", NAME("--class CLASS") ", or --gpus N"},
        {STARTS, "--mem-per-gpu", "it is --mem SIZE for the job's memory, --gpu-mem for the GPU's"},
        {STARTS, "-t --time", NAME("--time-limit TIME")},
        {STARTS, "--mem-per-cpu --memory", NAME("--mem SIZE")},
        {STARTS, "-D --chdir -w --working-directory", NAME("--workdir DIR")},
        {STARTS, "-d --dependency", NAME("--after JOB")},
        {STARTS, "-b --delay", NAME("--begin WHEN")},
        {STARTS, "-H -s --stashed", NAME("--hold")},
        {STARTS, "-I --immediate", NAME("--no-wait")},
        {STARTS, "--test-only", NAME("--dry-run")},
        {STARTS, "--nice", NAME("--priority N")},
        {STARTS, "--export", NAME("--env K=V") ", and the environment is passed on anyway"},
        {STARTS, "--exclusive", "jobs share the node; --pin gives a job CPUs of its own"},
        {BIT(SUBMIT), "-o", NAME("--output FILE")},
        {BIT(SUBMIT), "-e", NAME("--error FILE")},
        {BIT(SUBMIT), "-i --input",
         "a queued job has no input: say where it is from, as in --sh 'COMMAND <FILE'"},
        {BIT(SUBMIT), "-a", NAME("--array A-B") ", or --after JOB"},
        {BIT(SUBMIT), "--wrap", NAME("--sh 'COMMAND'")},
        {BIT(SUBMIT), "--requeue", NAME("--retry N")},
        {BIT(SUBMIT), "-m --mail-type --mail-user", NAME("--on-end COMMAND")},
        {BIT(SUBMIT), "-W --wait", CALL("wait JOB") ", with the number that submit prints"},
        {BIT(SUBMIT), "-f --follow", CALL("logs -f JOB") ", with the number that submit prints"},
        {BIT(SUBMIT), "-Q --quiet --parsable --print-task-id",
         "submit prints the number of the job and nothing else"},
        {TABLES | BIT(TOP), "-u", NAME("--user USER")},
        {TABLES | BIT(TOP), "--me", NAME("--user USER")},
        {TABLES | BIT(TOP), "-s -t --states", NAME("--state STATE")},
        {TABLES | BIT(TOP), "-p --partition -g --group", NAME("--class CLASS")},
        {TABLES, "-l --long --format", NAME("-o COLUMN,…")},
        {TABLES, "-j --job --jobs", CALL("status JOB")},
        {BIT(LIST), "-n", NAME("--name NAME")},
        {BIT(LIST), "-i --iterate", CALL("top")},
        {BIT(LIST), "-S --sort", CALL("top --sort KEY")},
        {BIT(HISTORY), "-S --starttime", NAME("--since WHEN")},
        {BIT(HISTORY), "-E --endtime", NAME("--until WHEN")},
        {BIT(LOGS), "-t --tail", NAME("-n N")},
        {BIT(LOGS), "-e --err", NAME("--stderr")},
        {BIT(CANCEL), "-u", NAME("--all, for one's own jobs,")},
        {BIT(CANCEL), "-n --name --jobname", CALL("cancel NAME")},
        {BIT(CANCEL), "-s --signal", CALL("signal JOB SIGNAL")},
        {NO_VERB, "-l", CALL("list")},
        {NO_VERB, "-k -r", CALL("cancel JOB")},
        {NO_VERB, "-K", CALL("cancel --all")},
        {NO_VERB, "-c", CALL("logs JOB")},
        {NO_VERB, "-t", CALL("logs -f JOB")},
        {NO_VERB, "-w", CALL("wait JOB")},
        {NO_VERB, "-i -s", CALL("status JOB")},
        {NO_VERB, "-u", CALL("set JOB priority=N")},
        {NO_VERB, "-C", NO_NEED},
        {NO_VERB, "-S", "MaxJobs= in schedgov.conf(5) says how many jobs run at once"},
        {NO_VERB, "-L", CALL("submit --name NAME")},
        {NO_VERB, "-D", CALL("submit --after JOB:any")},
        {NO_VERB, "-W", CALL("submit --after JOB")},
        {NO_VERB, "-N", CALL("submit --cpus N")},
        {NO_VERB, "-B", CALL("submit --no-wait")},
        {NO_VERB, "-G", CALL("submit --gpus N")},
        {NO_VERB, "-g", CALL("submit --gpu-ids LIST")},
        {NO_VERB, "-E", CALL("submit --error FILE")},
        {NO_VERB, "-m", CALL("submit --on-end COMMAND")},
};

static bool is_one_of(const char *words, const char *word)
{
        size_t length = strlen(word), n;

        for (; *words; words += n + (words[n] == ' ')) {
                n = strcspn(words, " ");
                if (n == length && strncmp(words, word, n) == 0)
                        return true;
        }
        return false;
}

const char *sg_elsewhere_verb(const char *word)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(verbs_elsewhere); i++)
                if (is_one_of(verbs_elsewhere[i].words, word))
                        return verbs_elsewhere[i].hint;
        return NULL;
}

const char *sg_elsewhere_option(int verb, const char *spelled)
{
        uint32_t bit = verb < 0 ? NO_VERB : 1U << verb;

        for (size_t i = 0; i < SG_ELEMENTSOF(options_elsewhere); i++)
                if ((options_elsewhere[i].verbs & bit) &&
                    is_one_of(options_elsewhere[i].words, spelled))
                        return options_elsewhere[i].hint;
        return NULL;
}
