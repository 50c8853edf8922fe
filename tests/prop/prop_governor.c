/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The governor under jobs that come, end, are suspended, and say all kinds of things. What happens
 * is made up from the seed and from what the first governor decided; others may be told the same,
 * to see that they decide the same.
 */

#include "core/govern/governor.h"
#include "tests/prop/prop.h"

#define JOBS_MAX 8
#define GOVERNORS_MAX 2
#define STEPS 40

struct job {
        struct sg_governor_job is;
        double width, work, used, waited, eval;
        unsigned manner; /* of what it says */
        bool held;
};

struct world {
        struct sg_governor *g[GOVERNORS_MAX];
        size_t n_governors;
        struct sg_governor_plan plan[GOVERNORS_MAX];
        struct sg_governor_class classes[2];
        size_t n_classes;
        struct job jobs[JOBS_MAX];
        size_t n;
        uint64_t newest;
        double now;
        double unit; /* of the second governor's evaluations */
};

static bool one_in(struct sg_rng *rng, uint32_t n)
{
        return sg_rng_below(rng, n) == 0;
}

/* --- the world */

static struct sg_governor *new_governor(const struct world *w)
{
        struct sg_governor *g;

        prop_check(sg_governor_new(&g, 1) == 0);
        prop_check(sg_governor_configure(g, 1, w->classes, w->n_classes) == 0);
        return g;
}

static void world_init(struct world *w, struct sg_rng *rng, size_t n_governors,
                       enum sg_share_kind share)
{
        static const char *const names[] = {"default", "train"};

        *w = (struct world){.n_governors = n_governors, .unit = 1};
        w->n_classes = 1 + sg_rng_below(rng, SG_ELEMENTSOF(w->classes));
        for (size_t i = 0; i < w->n_classes; i++) {
                struct sg_governor_class *c = &w->classes[i];

                c->name = names[i];
                c->weight = i == 0 ? 100 : sg_rng_between(rng, 20, 500);
                sg_share_settings_init(&c->settings);
                c->settings.share = share;
                c->settings.objective = (enum sg_objective)sg_rng_below(rng, 3);
        }
        if (w->n_classes > 1) /* governed together, or not */
                w->classes[1].settings.objective =
                        one_in(rng, 3) ? SG_OBJECTIVE_JCT : w->classes[0].settings.objective;
        for (size_t k = 0; k < n_governors; k++)
                w->g[k] = new_governor(w);
}

static void world_deinit(struct world *w)
{
        for (size_t k = 0; k < w->n_governors; k++)
                w->g[k] = sg_governor_free(w->g[k]);
}

static void begin(struct world *w, struct sg_rng *rng)
{
        struct job *j = &w->jobs[w->n++];

        *j = (struct job){
                .is = {.key = ++w->newest,
                       .class = w->classes[sg_rng_below(rng, (uint32_t)w->n_classes)].name,
                       .uid = 1000 + sg_rng_below(rng, 3),
                       .now = w->now,
                       .arrival = w->now,
                       .cpus_max = INFINITY,
                       .weight = 100,
                       .deadline =
                               one_in(rng, 4) ? w->now + sg_rng_between(rng, 10, 300) : INFINITY},
                .width = one_in(rng, 3) ? sg_rng_between(rng, .6, 1) : 1,
                .work = sg_rng_between(rng, 5, 120),
                .eval = sg_rng_between(rng, .5, 500),
                .manner = sg_rng_below(rng, 8),
        };
        for (size_t k = 0; k < w->n_governors; k++)
                prop_check(sg_governor_add(w->g[k], &j->is) == 0);
}

static void end(struct world *w, size_t i)
{
        const struct job *j = &w->jobs[i];

        for (size_t k = 0; k < w->n_governors; k++)
                sg_governor_end(w->g[k], j->is.key, w->now, j->used, SG_ENDED_WELL);
        memmove(&w->jobs[i], &w->jobs[i + 1], (--w->n - i) * sizeof(*j));
}

static void hold(struct world *w, struct job *j, bool held)
{
        j->held = held;
        for (size_t k = 0; k < w->n_governors; k++)
                sg_governor_hold(w->g[k], j->is.key, w->now, held);
}

/* Three say how it is; one nothing, nonsense, the way back, that it is done at once, or no x. */
static double said(struct sg_rng *rng, const struct job *j, double *eval)
{
        double x = fmin(j->used / j->work, 1);

        *eval = j->eval * (.1 + .9 * exp(-5 * x));
        switch (j->manner) {
        case 4:
                *eval = one_in(rng, 2) ? (double)NAN : (double)INFINITY;
                return one_in(rng, 2) ? (double)NAN : x;
        case 5:
                return 1 - x;
        case 6:
                return fmin(.99 + x / 100, 1);
        case 7:
                return (double)NAN;
        default:
                return x;
        }
}

static void report(struct world *w, struct sg_rng *rng, const struct job *j)
{
        struct sg_learner_report r = {.now = w->now, .cpu = j->used};
        double eval;

        if (j->manner == 3)
                return;
        r.fraction = said(rng, j, &eval);
        for (size_t k = 0; k < w->n_governors; k++) {
                r.eval = k == 0 ? eval : eval * w->unit;
                prop_check(sg_governor_report(w->g[k], j->is.key, &r) == 0);
        }
}

static double share_of(const struct world *w, uint64_t key)
{
        const struct sg_governor_plan *p = &w->plan[0];

        for (size_t i = 0; i < p->n_jobs; i++)
                if (p->jobs[i]->key == key)
                        return p->jobs[i]->out.share;
        return 0;
}

static void pass(struct world *w, double seconds)
{
        w->now += seconds;
        for (size_t i = 0; i < w->n; i++) {
                struct job *j = &w->jobs[i];
                double share = j->held ? 0 : fmin(share_of(w, j->is.key), j->width);
                struct sg_learner_use u = {.now = w->now, .held = j->held};

                j->used += share * seconds;
                j->waited += j->held ? 0 : (j->width - share) * seconds;
                u.cpu = j->used;
                u.delay = u.pressure = j->waited;
                for (size_t r = 0; r < SG_N_RESOURCES; r++)
                        u.use[r] = r == SG_RESOURCE_CPU ? share : (double)NAN;
                for (size_t k = 0; k < w->n_governors; k++)
                        sg_governor_use(w->g[k], j->is.key, &u);
        }
}

static void happen(struct world *w, struct sg_rng *rng)
{
        if (w->n == 0 || (w->n < JOBS_MAX && one_in(rng, 5)))
                begin(w, rng);
        for (size_t i = 0; i < w->n; i++)
                if (w->jobs[i].used >= w->jobs[i].work || one_in(rng, 80))
                        end(w, i--);
                else if (one_in(rng, 25))
                        hold(w, &w->jobs[i], !w->jobs[i].held);
                else if (one_in(rng, 2))
                        report(w, rng, &w->jobs[i]);
}

static void step(struct world *w)
{
        for (size_t k = 0; k < w->n_governors; k++)
                prop_check(sg_governor_step(w->g[k], w->now, &w->plan[k]) == 0);
}

/* --- what any plan has to be */

static const struct job *job_of(const struct world *w, uint64_t key)
{
        for (size_t i = 0; i < w->n; i++)
                if (w->jobs[i].is.key == key)
                        return &w->jobs[i];
        return NULL;
}

static void check_plan(const struct world *w)
{
        const struct sg_governor_plan *p = &w->plan[0];
        double sum = 0, wanted = 0;

        prop_check(p->n_jobs == w->n && p->next > w->now);
        for (size_t i = 0; i < p->n_jobs; i++) {
                const struct sg_decision *d = p->jobs[i];
                const struct job *j = job_of(w, d->key);

                prop_check(j && (i == 0 || d->key > p->jobs[i - 1]->key));
                prop_check(d->width > 0 && d->width <= 1);
                prop_check(d->out.share >= 0 && d->out.share <= d->width + 1e-9);
                prop_check(d->out.weight >= 1 && d->out.weight <= 10000);
                prop_check(!(d->out.cap < d->out.share - 1e-9));
                prop_check(d->estimate.remaining > 0 && !isinf(d->estimate.remaining));
                if (j->held)
                        prop_check(d->out.share <= 0);
                else
                        wanted += d->width;
                sum += d->out.share;
        }
        prop_near(sum, fmin(wanted, 1), 1e-6);
}

/* Of a fair share at least so much: those of classes, then users, then jobs that are there. */
static double fair_least(const struct world *w, const struct job *j)
{
        double weights = 0, own = 0;
        unsigned users = 0, same = 0;

        for (size_t c = 0; c < w->n_classes; c++) {
                bool any = false;

                for (size_t i = 0; i < w->n; i++)
                        any |= !w->jobs[i].held && w->jobs[i].is.class == w->classes[c].name;
                weights += any ? w->classes[c].weight : 0;
                if (w->classes[c].name == j->is.class)
                        own = w->classes[c].weight;
        }
        for (uint32_t uid = 1000; uid < 1003; uid++) {
                unsigned n = 0;

                for (size_t i = 0; i < w->n; i++)
                        n += !w->jobs[i].held && w->jobs[i].is.class == j->is.class &&
                             w->jobs[i].is.uid == uid;
                users += n > 0;
                if (uid == j->is.uid)
                        same = n;
        }
        return own / weights / users / same;
}

/* Whatever the others say, it has its floor. */
static void check_floor(const struct world *w)
{
        for (size_t i = 0; i < w->n; i++) {
                const struct job *j = &w->jobs[i];
                const struct sg_governor_plan *p = &w->plan[0];
                double width = 0;

                for (size_t k = 0; k < p->n_jobs; k++)
                        if (p->jobs[k]->key == j->is.key)
                                width = p->jobs[k]->width;
                if (!j->held)
                        prop_check(share_of(w, j->is.key) >=
                                   w->classes[0].settings.floor * fmin(width, fair_least(w, j)) -
                                           1e-9);
        }
}

static enum sg_share_kind any_policy(struct sg_rng *rng)
{
        return one_in(rng, 2) ? SG_SHARE_GROWTH
                              : (enum sg_share_kind)sg_rng_below(rng, _SG_SHARE_MAX);
}

static void any_plan(struct sg_rng *rng)
{
        struct world w;

        world_init(&w, rng, 1, any_policy(rng));
        for (unsigned i = 0; i < STEPS; i++) {
                happen(&w, rng);
                step(&w);
                check_plan(&w);
                pass(&w, sg_rng_between(rng, .1, 8));
        }
        world_deinit(&w);
}

static void test_any_plan(void **state)
{
        (void)state;
        prop_each(2000, any_plan);
}

static void floors(struct sg_rng *rng)
{
        struct world w;

        world_init(&w, rng, 1, SG_SHARE_GROWTH);
        w.classes[0].settings.floor = sg_rng_between(rng, .02, .6);
        if (w.n_classes > 1)
                w.classes[1].settings = w.classes[0].settings;
        prop_check(sg_governor_configure(w.g[0], 1, w.classes, w.n_classes) == 0);
        for (unsigned i = 0; i < STEPS; i++) {
                happen(&w, rng);
                step(&w);
                check_floor(&w);
                pass(&w, sg_rng_between(rng, .1, 8));
        }
        world_deinit(&w);
}

static void test_floors(void **state)
{
        (void)state;
        prop_each(2000, floors);
}

/* --- the same twice */

static void same_out(const struct sg_decision *a, const struct sg_decision *b)
{
        prop_check(a->key == b->key && a->class == b->class);
        prop_near(a->out.share, b->out.share, 1e-9);
        prop_near(a->estimate.remaining, b->estimate.remaining, 1e-9);
        prop_check(a->out.weight == b->out.weight);
        prop_check(a->out.list == b->out.list);
        prop_check(a->out.why.reason == b->out.why.reason && a->out.why.other == b->out.why.other);
        prop_check(isinf(a->out.cap) == isinf(b->out.cap));
        if (!isinf(a->out.cap))
                prop_near(a->out.cap, b->out.cap, 1e-9);
}

static void check_same(const struct world *w, bool restarted)
{
        const struct sg_governor_plan *a = &w->plan[0], *b = &w->plan[1];

        prop_check(a->n_jobs == b->n_jobs && a->n_classes == b->n_classes);
        for (size_t i = 0; i < a->n_jobs; i++)
                same_out(a->jobs[i], b->jobs[i]);
        for (size_t i = 0; i < a->n_classes; i++)
                prop_check(a->classes[i].weight == b->classes[i].weight);
        /* One that has started again may look sooner. */
        if (restarted)
                prop_check(b->next <= a->next + 1e-6);
        else if (!isinf(a->next) || !isinf(b->next))
                prop_near(a->next, b->next, 1e-9);
}

/* The second governor is stopped, and another goes on from what it has stored. */
static void restart(struct world *w)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0};

        sg_governor_save(w->g[1], &saved);
        prop_check(saved.error == 0);
        sg_governor_free(w->g[1]);
        w->g[1] = new_governor(w);
        prop_check(sg_governor_load(w->g[1], saved.data, saved.size, w->now) == 0);
        for (size_t i = 0; i < w->n; i++) {
                struct sg_governor_job j = w->jobs[i].is;

                j.now = w->now;
                prop_check(sg_governor_add(w->g[1], &j) == 0);
                sg_governor_count(w->g[1], j.key, w->now, w->jobs[i].used);
                if (w->jobs[i].held)
                        sg_governor_hold(w->g[1], j.key, w->now, true);
        }
}

static void run_both(struct sg_rng *rng, double unit, bool restarts)
{
        struct world w;

        world_init(&w, rng, 2, any_policy(rng));
        w.unit = unit;
        for (unsigned i = 0; i < STEPS; i++) {
                happen(&w, rng);
                step(&w);
                check_same(&w, restarts);
                pass(&w, sg_rng_between(rng, .1, 8));
                if (restarts && one_in(rng, 10))
                        restart(&w);
        }
        world_deinit(&w);
}

static void same_twice(struct sg_rng *rng)
{
        run_both(rng, 1, false);
}

static void test_same_twice(void **state)
{
        (void)state;
        prop_each(1000, same_twice);
}

/* A power of two, so that no rounding tells the two apart. */
static void units(struct sg_rng *rng)
{
        run_both(rng, ldexp(1, (int)sg_rng_below(rng, 21) - 10), false);
}

static void test_units(void **state)
{
        (void)state;
        prop_each(1000, units);
}

static void restarts(struct sg_rng *rng)
{
        run_both(rng, 1, true);
}

static void test_restarts(void **state)
{
        (void)state;
        prop_each(1000, restarts);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_any_plan),   cmocka_unit_test(test_floors),
                cmocka_unit_test(test_same_twice), cmocka_unit_test(test_units),
                cmocka_unit_test(test_restarts),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
