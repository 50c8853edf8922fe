/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See simulate.h. */

#include "ctl/simulate/simulate.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "core/settings/table.h"
#include "core/share/share.h"
#include "core/sim/generate.h"
#include "ctl/line/suggest.h"
#include "proto/names.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#define TRACE_MAX (256U << 20)
#define POLICIES "fair,flowcon,growth"
#define INSTANCES 100
#define EARLY 1e-3 /* of its work: a job says how large it is as soon as it runs */

static const struct {
        const char *name, *summary;
        enum sg_sim_reference reference;
        bool whole; /* only with --node-cpus */
} references[] = {
        {"clairvoyant", "the least work left first, by the real sizes", SG_SIM_SHORTEST, false},
        {"fifo", "one after the other, as they come", SG_SIM_FIRST, false},
        {"edf", "the earliest deadline first, by the real sizes", SG_SIM_EARLIEST, false},
        {"planned", "with --node-cpus: a plan with the real sizes and speed-ups", SG_SIM_PLANNED,
         true},
        {"one-thread", "with --node-cpus: growth, each with one thread", SG_SIM_GOVERNED, true},
};
#define CPUS_MAX 1024

void sg_simulation_deinit(struct sg_simulation *s)
{
        for (size_t i = 0; i < s->n_policies; i++)
                sg_sim_stats_deinit(&s->policies[i].stats);
        free(s->policies);
        sg_trace_deinit(&s->trace);
        *s = (struct sg_simulation){0};
}

/* --- the trace -------------------------------------------------------------------------------- */

static int read_trace(struct sg_simulation *s, const char *path, struct sg_error *e)
{
        _cleanup_free_ char *text = NULL;
        struct sg_trace_error where;
        size_t size;
        int r;

        r = sg_read_file(AT_FDCWD, strcmp(path, "-") == 0 ? "/dev/stdin" : path, TRACE_MAX, &text,
                         &size);
        if (r < 0)
                return sg_error_errno(e, r, path);
        r = sg_trace_parse(&s->trace, text, size, &where);
        if (r != -EBADMSG)
                return r;
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, path, "see docs/simulate.md", "%s:%zu: %s%s%s",
                            path, where.line, where.column ? where.column : "",
                            where.column ? " " : "", where.what);
}

/* Only the first n instances stay. */
static void cut(struct sg_simulation *s, uint64_t n)
{
        size_t end = 0;

        for (s->n_instances = 0; end < s->trace.n && s->n_instances < n; s->n_instances++)
                end = sg_trace_instance_end(&s->trace, end);
        s->trace.n = end;
}

int sg_simulation_load(struct sg_simulation *s, const struct sg_invocation *inv, struct sg_error *e)
{
        uint64_t n = inv->lines;
        int r;

        if (inv->generate) {
                n = n == UINT64_MAX ? INSTANCES : n;
                r = sg_generate(&s->trace, inv->generate, inv->seed, (uint32_t)n);
                if (r == -EINVAL)
                        return sg_error_set(e, SG_EXIT_OWN_FAILURE, inv->generate,
                                            "see schedctl simulate --help",
                                            "there is no workload '%s'", inv->generate);
        } else if (inv->from_history) {
                n = UINT64_MAX;
                r = sg_simulation_load_history(s, inv, e);
        } else {
                r = read_trace(s, inv->args[0], e);
        }
        if (r == 0)
                cut(s, n);
        if (r == 0 && s->trace.n == 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--lines", NULL, "there are no jobs");
        return r;
}

/* --- policies --------------------------------------------------------------------------------- */

/* A key of policy files, wherever in them. */
static const struct sg_settings_key *find_key(const char *name)
{
        static const char *const sections[] = {"Policy", "Growth", "FlowCon"};
        const struct sg_settings_key *k = NULL;

        for (size_t i = 0; !k && i < SG_ELEMENTSOF(sections); i++)
                k = sg_settings_key_find("policy", sections[i], name);
        return k && sg_settings_key_is_share(k) ? k : NULL;
}

static int set_key(struct sg_share_settings *to, const char *name, const char *value,
                   struct sg_error *e)
{
        const struct sg_settings_key *k = find_key(name);
        struct sg_class class = {.share = *to};

        if (!k)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, name, "see schedgov.policy(5)",
                                    "unknown key '%s'", name);
        if (strcmp(k->key, "Share") == 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, name, "give --policy",
                                    "--with doesn't take Share=");
        if (k->parse(k, value, (char *)&class + k->offset) < 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, name, NULL, "%s= wants %s, not '%s'",
                                    name, k->wants, value);
        *to = class.share;
        return 0;
}

/* "KEY=VALUE,KEY=VALUE" */
static int set_keys(struct sg_share_settings *to, const char *list, struct sg_error *e)
{
        _cleanup_free_ char *copy = strdup(list);
        char *rest = copy, *word;
        int r = 0;

        if (!copy)
                return -ENOMEM;
        while (r == 0 && (word = strsep(&rest, ","))) {
                char *equals = strchr(word, '=');

                if (!equals)
                        return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--with", NULL,
                                            "--with wants KEY=VALUE,…, not '%s'", word);
                *equals = '\0';
                r = set_key(to, word, equals + 1, e);
        }
        return r;
}

static int make_options(struct sg_sim_options *o, const struct sg_invocation *inv,
                        struct sg_error *e)
{
        int r = 0;

        sg_sim_options_init(o);
        o->seed = inv->seed;
        if (inv->exact_sizes) {
                o->claims = 0;
                o->early = EARLY;
        }
        o->lies = inv->lies;
        o->speedup = inv->speedup;
        if (inv->node_cpus > CPUS_MAX)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--node-cpus", NULL,
                                    "--node-cpus wants a number up to %d", CPUS_MAX);
        if (inv->stubborn && inv->node_cpus == 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--stubborn", "give --node-cpus",
                                    "--stubborn needs the number of the node's CPUs");
        if (inv->node_cpus > 0) {
                o->cpus = (double)inv->node_cpus;
                o->whole = true;
                o->stubborn = inv->stubborn;
        }
        if (o->speedup < 1)
                o->settings.exponent = o->speedup;
        if (!isnan(inv->no_harm))
                o->settings.no_harm = inv->no_harm;
        if (!isnan(inv->floor))
                o->settings.floor = inv->floor;
        if (o->lies > 1 || o->settings.floor > 1)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, o->lies > 1 ? "--lies" : "--floor",
                                    NULL, "%s wants a part from 0%% to 100%%",
                                    o->lies > 1 ? "--lies" : "--floor");
        if (inv->objective)
                r = set_key(&o->settings, "Objective", inv->objective, e);
        if (r == 0 && inv->with)
                r = set_keys(&o->settings, inv->with, e);
        return r;
}

const char *sg_simulation_policy(size_t i, const char **ret_summary)
{
        bool governed = i < _SG_SHARE_MAX;

        if (!governed && i - _SG_SHARE_MAX >= SG_ELEMENTSOF(references))
                return NULL;
        *ret_summary =
                governed ? sg_share_policies[i]->summary : references[i - _SG_SHARE_MAX].summary;
        return governed ? sg_share_policies[i]->name : references[i - _SG_SHARE_MAX].name;
}

static int unknown_policy(const char *name, struct sg_error *e)
{
        struct sg_suggestion near = {.typed = name};
        const char *known, *summary;
        char hint[64];

        for (size_t i = 0; (known = sg_simulation_policy(i, &summary)); i++)
                sg_suggest(&near, known);
        return sg_error_set(
                e, SG_EXIT_OWN_FAILURE, name,
                sg_suggest_hint(&near, "", "see schedctl simulate --help", hint, sizeof(hint)),
                "there is no policy '%s'", name);
}

static int set_policy(struct sg_simulated *p, const char *name, struct sg_error *e)
{
        (void)snprintf(p->name, sizeof(p->name), "%s", name);
        for (size_t i = 0; i < SG_ELEMENTSOF(references); i++)
                if (strcmp(references[i].name, name) == 0) {
                        if (references[i].whole && !p->options.whole)
                                return sg_error_set(e, SG_EXIT_OWN_FAILURE, name,
                                                    "give --node-cpus",
                                                    "%s needs the number of the node's CPUs", name);
                        p->options.reference = references[i].reference;
                        p->options.one_thread = p->options.reference == SG_SIM_GOVERNED;
                        return 0;
                }
        for (size_t i = 0; i < _SG_SHARE_MAX; i++)
                if (strcmp(sg_share_policies[i]->name, name) == 0) {
                        p->options.settings.share = (enum sg_share_kind)i;
                        return 0;
                }
        return unknown_policy(name, e);
}

static int add_policy(struct sg_simulation *s, const struct sg_sim_options *o, const char *name,
                      struct sg_error *e)
{
        struct sg_simulated *grown;

        for (size_t i = 0; i < s->n_policies; i++)
                if (strcmp(s->policies[i].name, name) == 0)
                        return 0;
        grown = reallocarray(s->policies, s->n_policies + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        s->policies = grown;
        grown[s->n_policies] = (struct sg_simulated){.options = *o};
        return set_policy(&grown[s->n_policies++], name, e);
}

int sg_simulation_set_policies(struct sg_simulation *s, const struct sg_invocation *inv,
                               struct sg_error *e)
{
        _cleanup_free_ char *list = strdup(inv->policy ? inv->policy : POLICIES);
        char *rest = list, *name;
        struct sg_sim_options o;
        int r;

        if (!list)
                return -ENOMEM;
        r = make_options(&o, inv, e);
        while (r == 0 && (name = strsep(&rest, ",")))
                r = add_policy(s, &o, name, e);
        return r;
}

/* --- running ---------------------------------------------------------------------------------- */

static int stalled(const struct sg_simulated *p, const char *instance, struct sg_error *e)
{
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, p->name, NULL,
                            "under %s no job gets any further in instance %s", p->name, instance);
}

static int run_one(struct sg_simulated *p, const struct sg_trace_job *jobs, size_t n,
                   const struct sg_sim_result *fair, struct sg_sim_result *scratch,
                   struct sg_error *e)
{
        const struct sg_sim_options *o = &p->options;
        bool is_fair = o->reference == SG_SIM_GOVERNED && o->settings.share == SG_SHARE_FAIR;
        int r = is_fair ? 0 : sg_sim_run(jobs, n, o, scratch);

        if (r == -EDEADLK)
                return stalled(p, jobs->instance, e);
        if (r < 0)
                return r;
        return sg_sim_stats_add(&p->stats, jobs, n, &o->settings, is_fair ? fair : scratch, fair);
}

static int run_instance(struct sg_simulation *s, const struct sg_trace_job *jobs, size_t n,
                        struct sg_error *e)
{
        _cleanup_free_ struct sg_sim_job *got = calloc(2 * n, sizeof(*got));
        struct sg_sim_result fair = {.jobs = got}, scratch;
        struct sg_simulated baseline = {.name = "fair", .options = s->policies[0].options};
        int r;

        if (!got)
                return -ENOMEM;
        scratch.jobs = got + n;
        baseline.options.reference = SG_SIM_GOVERNED;
        baseline.options.settings.share = SG_SHARE_FAIR;
        r = sg_sim_run(jobs, n, &baseline.options, &fair);
        if (r == -EDEADLK)
                return stalled(&baseline, jobs->instance, e);
        for (size_t i = 0; r == 0 && i < s->n_policies; i++)
                r = run_one(&s->policies[i], jobs, n, &fair, &scratch, e);
        return r;
}

int sg_simulation_run(struct sg_simulation *s, struct sg_error *e)
{
        int r = 0;

        for (size_t begin = 0, end; r == 0 && begin < s->trace.n; begin = end) {
                end = sg_trace_instance_end(&s->trace, begin);
                r = run_instance(s, &s->trace.jobs[begin], end - begin, e);
        }
        for (size_t i = 0; r == 0 && i < s->n_policies; i++)
                sg_sim_stats_summarize(&s->policies[i].stats, &s->policies[i].summary);
        return r;
}
