/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See complete.h. Here: words that may stand in a place, where no governor has to be asked. */

#include "base/cleanup.h"
#include "base/parse.h"
#include "core/job/job.h"
#include "core/settings/table.h"
#include "core/share/share.h"
#include "core/sim/generate.h"
#include "ctl/complete/complete.h"
#include "ctl/show/decisions.h"
#include "ctl/show/row.h"
#include "ctl/simulate/simulate.h"
#include "ctl/top/model.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* A key of the settings says in quotes which words it takes. */
static void quoted_words(const struct sg_place *p, const char *wants)
{
        for (const char *open = strchr(wants, '"'), *close; open; open = strchr(close + 1, '"')) {
                char word[32];

                close = strchr(open + 1, '"');
                if (!close)
                        return;
                (void)snprintf(word, sizeof(word), "%.*s", (int)(close - open - 1), open + 1);
                sg_candidate(p, word, "", "");
        }
}

static void words_of_key(const struct sg_place *p, const char *section, const char *key)
{
        const struct sg_settings_key *k = sg_settings_key_find("policy", section, key);

        if (k)
                quoted_words(p, k->wants);
}

static void objectives(const struct sg_place *p)
{
        words_of_key(p, "Policy", "Objective");
}

static void sources(const struct sg_place *p)
{
        words_of_key(p, "Progress", "Preset");
        sg_candidate(p, "file", ":", "a file that the job rewrites");
        sg_candidate(p, "tensorboard", ":", "TensorBoard's event files");
}

static void shares(const struct sg_place *p)
{
        for (size_t i = 0; i < _SG_SHARE_MAX; i++)
                sg_candidate(p, sg_share_policies[i]->name, "", sg_share_policies[i]->summary);
}

static void policies(const struct sg_place *p)
{
        const char *name, *summary;

        for (size_t i = 0; (name = sg_simulation_policy(i, &summary)); i++)
                sg_candidate(p, name, "", summary);
}

static void workloads(const struct sg_place *p)
{
        for (size_t i = 0; i < sg_n_workloads; i++)
                sg_candidate(p, sg_workloads[i].name, sg_workloads[i].sized ? "10" : "",
                             sg_workloads[i].summary);
}

static void states(const struct sg_place *p)
{
        bool finished = p->verb == SG_VERB_HISTORY;

        for (uint64_t s = 0; s < _SG_JOB_STATE_MAX; s++)
                if (sg_job_state_is_known(s) &&
                    (p->inv->all || finished == sg_job_state_is_final(s)))
                        sg_candidate(p, sg_job_state_to_string(s), "", "");
}

static void sort_keys(const struct sg_place *p)
{
        for (size_t i = 0; i < _SG_TOP_KEY_MAX; i++)
                sg_candidate(p, sg_top_keys[i], "", "");
}

static void columns(const struct sg_place *p)
{
        bool of_jobs = p->verb == SG_VERB_LIST || p->verb == SG_VERB_HISTORY;
        size_t n = of_jobs ? _SG_COLUMN_MAX : p->verb == SG_VERB_EXPLAIN ? _SG_DECISION_MAX : 0;

        for (size_t i = 0; i < n; i++)
                sg_candidate(p, of_jobs ? sg_row_columns[i].name : sg_decision_columns[i].name, "",
                             "");
}

/* "KEY=VALUE" of a policy file, as far as it may change while jobs run. What is simulated has its
 * Share= by --policy. */
static void policy_keys(const struct sg_place *p)
{
        const char *word = p->word + p->kept, *equals = strchr(word, '=');

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                struct sg_place value = *p;

                if (!sg_settings_key_is_share(k) ||
                    (p->verb == SG_VERB_SIMULATE && strcmp(k->key, "Share") == 0))
                        continue;
                if (!equals) {
                        sg_candidate(p, k->key, "=", k->wants);
                        continue;
                }
                if (strlen(k->key) != (size_t)(equals - word) ||
                    strncmp(k->key, word, strlen(k->key)) != 0)
                        continue;
                value.kept += (size_t)(equals + 1 - word);
                if (strcmp(k->key, "Share") == 0)
                        shares(&value);
                else
                        quoted_words(&value, k->wants);
        }
}

/* "KEY=VALUE" of `set`. */
static void limit_keys(const struct sg_place *p)
{
        const char *equals = strchr(p->word, '=');

        for (size_t i = 0; i < sg_n_options; i++) {
                const struct sg_option *o = &sg_options[i];
                struct sg_place value = *p;

                if (!o->key || !sg_option_applies(o, SG_VERB_SET))
                        continue;
                if (!equals) {
                        sg_candidate(p, o->name, "=", o->help);
                        continue;
                }
                value.kept = (size_t)(equals + 1 - p->word);
                if (strlen(o->name) + 1 == value.kept &&
                    strncmp(o->name, p->word, value.kept - 1) == 0 && o->metavar &&
                    strchr(o->metavar, '|'))
                        sg_candidates_alternatives(&value, o->metavar);
        }
}

static void signals(const struct sg_place *p)
{
        for (int sig = 1; sig < SIGRTMIN; sig++) {
                const char *name = sg_signal_name(sig);

                if (name)
                        sg_candidate(p, name, "", sigdescr_np(sig) ?: "");
        }
}

sg_candidates_fn *sg_candidates_of_value(const struct sg_option *o)
{
        static const struct {
                const char *called;
                sg_candidates_fn *candidates;
        } table[] = {
                {"CLASS", sg_candidates_classes},
                {"JOB[:ok|any]", sg_candidates_jobs},
                {"STATE", states},
                {"SOURCE", sources},
                {"WORKLOAD", workloads},
                {"POLICY,…", policies},
                {"OBJECTIVE", objectives},
                {"KEY=VALUE,…", policy_keys},
                {"COLUMN,…", columns},
                {"KEY", sort_keys},
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(table); i++)
                if (strcmp(table[i].called, o->metavar) == 0)
                        return table[i].candidates;
        return NULL;
}

static void subverbs(const struct sg_place *p)
{
        sg_candidates_alternatives(p, sg_verbs[p->verb].arguments);
}

static void drains(const struct sg_place *p)
{
        sg_candidates_alternatives(p, "drain|undrain");
}

static sg_candidates_fn *of_policy(const struct sg_invocation *inv)
{
        bool shows = inv->n_args > 0 && strcmp(inv->args[0], "show") == 0,
             sets = inv->n_args > 0 && strcmp(inv->args[0], "set") == 0;

        if (inv->n_args == 0)
                return subverbs;
        if (inv->n_args == 1)
                return shows || sets ? sg_candidates_classes : NULL;
        return sets ? policy_keys : NULL;
}

sg_candidates_fn *sg_candidates_of_argument(const struct sg_place *p)
{
        const char *arguments = sg_verbs[p->verb].arguments;
        bool first = p->inv->n_args == 0;

        switch (p->verb) {
        case SG_VERB_POLICY:
                return of_policy(p->inv);
        case SG_VERB_LIMITS:
                return sg_candidates_classes;
        case SG_VERB_GPUS:
                return first ? drains : NULL;
        case SG_VERB_CONFIG:
                return first ? subverbs : NULL;
        case SG_VERB_SET:
                return first ? sg_candidates_jobs : limit_keys;
        case SG_VERB_SIGNAL:
                return first ? sg_candidates_jobs : signals;
        default:
                return strstr(arguments, first ? "JOB" : "JOB…") ? sg_candidates_jobs : NULL;
        }
}
