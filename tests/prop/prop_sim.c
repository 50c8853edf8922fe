/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Policies from the first job to the last, on the simulated node: nothing of it is lost or made up,
 * whoever lies gains nothing by it, and what is the same in theory is the same here. */

#include "core/sim/generate.h"
#include "core/sim/stats.h"
#include "tests/prop/prop.h"

#include <stdio.h>

#define JOBS_MAX 16
#define WORKLOAD_MAX 16

struct watched {
        const struct sg_trace_job *jobs;
        bool conserves;
        double used, until;
};

static void watch(void *userdata, double from, double to, const struct sg_sim_share *shares,
                  size_t n)
{
        struct watched *w = userdata;
        double sum = 0, could = 0;

        prop_check(from >= w->until - 1e-9 && to > from);
        for (size_t i = 0; i < n; i++) {
                const struct sg_trace_job *j = &w->jobs[shares[i].job];

                prop_check(shares[i].share >= 0 && shares[i].share <= j->width + 1e-9);
                sum += shares[i].share;
                could += j->width;
        }
        prop_check(sum <= 1 + 1e-9);
        if (w->conserves)
                prop_near(sum, fmin(1, could), 1e-9);
        w->used += sum * (to - from);
        w->until = to;
}

static void generate(struct sg_trace *t, struct sg_rng *rng, const char *kind)
{
        char name[WORKLOAD_MAX];

        (void)snprintf(name, sizeof(name), "%s%u", kind, 1 + sg_rng_below(rng, JOBS_MAX - 1));
        prop_check(sg_generate(t, name, sg_rng_u32(rng), 1) == 0);
        prop_check(t->n <= JOBS_MAX);
}

/* Until all are done; when that is. */
static double run(const struct sg_trace *t, const struct sg_sim_options *from,
                  struct sg_sim_job *jobs)
{
        struct watched w = {.jobs = t->jobs,
                            .conserves = from->settings.share != SG_SHARE_FLOWCON ||
                                         from->settings.mode != SG_FLOWCON_HARD};
        struct sg_sim_result result = {.jobs = jobs};
        struct sg_sim_options o = *from;
        double work = 0, cpu = 0;

        o.watch = watch;
        o.userdata = &w;
        prop_check(sg_sim_run(t->jobs, t->n, &o, &result) == 0);
        for (size_t i = 0; i < t->n; i++) {
                prop_check(jobs[i].finish >= t->jobs[i].arrival);
                prop_near(jobs[i].cpu, t->jobs[i].work, 1e-6);
                work += t->jobs[i].work;
                cpu += jobs[i].cpu;
        }
        prop_near(cpu, work, 1e-6);
        prop_near(w.used, work, 1e-6);
        return w.until;
}

static void any_options(struct sg_rng *rng, struct sg_sim_options *o)
{
        sg_sim_options_init(o);
        o->settings.share = (enum sg_share_kind)sg_rng_below(rng, _SG_SHARE_MAX);
        o->settings.objective = (enum sg_objective)sg_rng_below(rng, 3);
        o->settings.floor = sg_rng_below(rng, 2) ? 0 : sg_rng_between(rng, 0, .3);
        o->settings.mode = (enum sg_flowcon_mode)sg_rng_below(rng, 3);
        o->seed = sg_rng_u32(rng);
}

/* Whatever the policy and its jobs: all of the node is used, no more of it than there is, and every
 * job gets just its work. The same again gives the same. */
static void conserve(struct sg_rng *rng)
{
        static const char *const kinds[] = {"random", "wide", "narrow", "deadline"};
        struct sg_sim_job jobs[JOBS_MAX], again[JOBS_MAX];
        struct sg_sim_options o;
        struct sg_trace t = {0};

        generate(&t, rng, kinds[sg_rng_below(rng, SG_ELEMENTSOF(kinds))]);
        any_options(rng, &o);
        o.lies = sg_rng_below(rng, 3) ? 0 : .3;
        (void)run(&t, &o, jobs);
        (void)run(&t, &o, again);
        prop_check(memcmp(jobs, again, t.n * sizeof(jobs[0])) == 0);
        sg_trace_deinit(&t);
}

static void test_conservation(void **state)
{
        (void)state;
        prop_each(1000, conserve);
}

/* Jobs as wide as the node that scale linearly: the last one ends at the same time whoever went
 * first. */
static void makespan(struct sg_rng *rng)
{
        struct sg_sim_job jobs[JOBS_MAX];
        struct sg_sim_options o;
        struct sg_trace t = {0};
        double fair;

        generate(&t, rng, "wide");
        any_options(rng, &o);
        if (o.settings.mode == SG_FLOWCON_HARD)
                o.settings.mode = SG_FLOWCON_SOFT;
        o.settings.share = SG_SHARE_FAIR;
        fair = run(&t, &o, jobs);
        for (int share = 0; share < _SG_SHARE_MAX; share++) {
                o.settings.share = (enum sg_share_kind)share;
                prop_near(run(&t, &o, jobs), fair, 1e-6);
        }
        sg_trace_deinit(&t);
}

static void test_makespan(void **state)
{
        (void)state;
        prop_each(1000, makespan);
}

/* --- growth without promises is shortest remaining time first */

static double random_width(struct sg_rng *rng)
{
        return sg_rng_below(rng, 2) ? 1 : sg_rng_between(rng, .05, 1);
}

static void any_job(struct sg_rng *rng, uint64_t key, struct sg_share_job *ret)
{
        double remaining = sg_rng_between(rng, 1, 300);

        *ret = (struct sg_share_job){
                .key = key,
                .uid = 1000 + sg_rng_below(rng, 3),
                .arrival = sg_rng_between(rng, 0, 10),
                .used = sg_rng_between(rng, 0, 50),
                .weight = 100,
                .width = random_width(rng),
                .deadline = INFINITY,
                .cpu_bound = true,
                .estimate = {.remaining = remaining,
                             .to = {NAN, NAN, NAN, remaining},
                             .exponent = 1,
                             .efficiency = NAN,
                             .loss_rate = NAN,
                             .n_reports = 5,
                             .source = SG_SIZE_REPORTS},
        };
        ret->estimate.total = remaining + ret->used;
}

static void decide(const struct sg_share_snapshot *s, enum sg_share_kind share,
                   const struct sg_share_settings *settings, struct sg_share_out *out)
{
        const struct sg_share_policy *p = sg_share_policies[share];
        void *state = NULL;
        double next;

        if (p->create)
                prop_check(p->create(&state, settings) == 0);
        prop_check(p->step(state, s, out, &next) >= 0);
        if (p->destroy)
                p->destroy(state);
}

static void shortest(struct sg_rng *rng)
{
        struct sg_share_out growth[JOBS_MAX] = {0}, srpt[JOBS_MAX] = {0};
        struct sg_share_job jobs[JOBS_MAX];
        struct sg_share_settings settings;
        const struct sg_share_class class = {"default", 100, &settings};
        const struct sg_share_snapshot s = {.now = 10,
                                            .classes = &class,
                                            .n_classes = 1,
                                            .jobs = jobs,
                                            .n_jobs = 1 + sg_rng_below(rng, JOBS_MAX)};

        sg_share_settings_init(&settings);
        settings.objective = SG_OBJECTIVE_JCT;
        settings.no_harm = INFINITY;
        settings.floor = 0;
        for (size_t i = 0; i < s.n_jobs; i++)
                any_job(rng, i + 1, &jobs[i]);
        decide(&s, SG_SHARE_GROWTH, &settings, growth);
        decide(&s, SG_SHARE_SRPT, &settings, srpt);
        for (size_t i = 0; i < s.n_jobs; i++) {
                prop_near(growth[i].share, srpt[i].share, 1e-9);
                prop_check(growth[i].why.rank == srpt[i].why.rank);
        }
}

static void test_shortest(void **state)
{
        (void)state;
        prop_each(5000, shortest);
}

/* --- lies */

static struct sg_sim_stats told;

static void lie(struct sg_rng *rng)
{
        struct sg_sim_job jobs[JOBS_MAX], fair_jobs[JOBS_MAX];
        struct sg_sim_result result = {.jobs = jobs}, fair = {.jobs = fair_jobs};
        struct sg_sim_options o;
        struct sg_trace t = {0};

        prop_check(sg_generate(&t, "random10", sg_rng_u32(rng), 1) == 0);
        sg_sim_options_init(&o);
        o.settings.objective = (enum sg_objective)sg_rng_below(rng, 3);
        o.lies = .2;
        o.seed = sg_rng_u32(rng);
        prop_check(sg_sim_run(t.jobs, t.n, &o, &result) == 0);
        o.settings.share = SG_SHARE_FAIR;
        prop_check(sg_sim_run(t.jobs, t.n, &o, &fair) == 0);
        prop_check(sg_sim_stats_add(&told, t.jobs, t.n, &o.settings, &result, &fair) == 0);
        sg_trace_deinit(&t);
}

/* Who says to be ten times as far as he is ends no sooner than by fair shares, on average. */
static void test_lies(void **state)
{
        struct sg_sim_summary summary;

        (void)state;
        prop_each(1000, lie);
        sg_sim_stats_summarize(&told, &summary);
        print_message("# liars end after %.2f of their fair time\n", summary.liars_ratio);
        if (prop_number("SG_PROP_SEED", 0) == 0)
                assert_true(summary.liars_ratio >= .9);
        sg_sim_stats_deinit(&told);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_conservation),
                cmocka_unit_test(test_makespan),
                cmocka_unit_test(test_shortest),
                cmocka_unit_test(test_lies),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
