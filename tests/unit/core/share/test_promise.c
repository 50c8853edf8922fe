/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The fair node against one that is computed by hand, and promises: what they follow, what they
 * keep, what survives a restart. */

#include "tests/unit/test.h"

#include "base/rng.h"
#include "core/share/fair-node.h"
#include "core/share/promise.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

#define N_MAX 24

static double run_one(struct sg_fair_job *jobs, size_t n, double from, double until)
{
        _cleanup_(sg_fair_node_freep) struct sg_fair_node *node = NULL;
        double last = from;

        assert_int_equal(sg_fair_node_new(&node, n), 0);
        sg_fair_node_run(node, jobs, n, from, until);
        for (size_t i = 0; i < n; i++)
                if (isfinite(jobs[i].finish))
                        last = fmax(last, jobs[i].finish);
        return last;
}

/* --- the fair node, end by end and by bisection ------------------------------------------- */

/* Max-min by weights of n parts. */
static void level(const double *weights, const double *demands, size_t n, double all, double *parts)
{
        double low = 0, high = 1e6, sum = 0;

        for (size_t i = 0; i < n; i++)
                sum += demands[i];
        for (int k = 0; k < 80; k++) {
                double mid = (low + high) / 2, used = 0;

                for (size_t i = 0; i < n; i++)
                        used += fmin(demands[i], mid * weights[i]);
                if (used < fmin(all, sum))
                        low = mid;
                else
                        high = mid;
        }
        for (size_t i = 0; i < n; i++)
                parts[i] = fmin(demands[i], high * weights[i]);
}

#define CLASSES 2
#define USERS 3

static void divide_leaf(const struct sg_fair_job *jobs, const double *left, size_t n, uint32_t leaf,
                        double all, double *shares)
{
        double weights[N_MAX] = {}, widths[N_MAX] = {}, parts[N_MAX] = {};

        for (size_t i = 0; i < n; i++)
                if (left[i] > 0 && jobs[i].class * USERS + jobs[i].uid == leaf) {
                        weights[i] = jobs[i].weight;
                        widths[i] = jobs[i].width;
                }
        level(weights, widths, n, all, parts);
        for (size_t i = 0; i < n; i++)
                shares[i] += parts[i];
}

static void divide(const struct sg_fair_job *jobs, const double *left, size_t n, double *shares)
{
        double class_weights[CLASSES] = {}, classes[CLASSES] = {}, class_parts[CLASSES];
        double user_weights[USERS] = {1, 1, 1}, users[CLASSES][USERS] = {}, parts[USERS];

        memset(shares, 0, n * sizeof(*shares));
        for (size_t i = 0; i < n; i++)
                if (left[i] > 0) {
                        class_weights[jobs[i].class] = jobs[i].class_weight;
                        classes[jobs[i].class] += jobs[i].width;
                        users[jobs[i].class][jobs[i].uid] += jobs[i].width;
                }
        level(class_weights, classes, CLASSES, 1, class_parts);
        for (uint32_t c = 0; c < CLASSES; c++) {
                level(user_weights, users[c], USERS, class_parts[c], parts);
                for (uint32_t u = 0; u < USERS; u++)
                        divide_leaf(jobs, left, n, c * USERS + u, parts[u], shares);
        }
}

static double rate_of(const struct sg_fair_job *j, double share)
{
        if (!(j->cpu > 0))
                return j->width * pow(share / j->width, j->exponent);
        return share <= j->cpu ? share : j->cpu * pow(share / j->cpu, j->exponent);
}

/* From end to end, each found with the shares of the moment. */
static void walk(const struct sg_fair_job *jobs, size_t n, double *finish)
{
        double left[N_MAX], shares[N_MAX], now = 0;

        for (size_t i = 0; i < n; i++)
                left[i] = jobs[i].remaining;
        for (size_t ended = 0; ended < n; ended++) {
                double dt = INFINITY;
                size_t who = 0;

                divide(jobs, left, n, shares);
                for (size_t i = 0; i < n; i++) {
                        const struct sg_fair_job *j = &jobs[i];
                        double rate = rate_of(j, shares[i]);

                        shares[i] = rate;
                        if (left[i] > 0 && left[i] / rate < dt) {
                                dt = left[i] / rate;
                                who = i;
                        }
                }
                for (size_t i = 0; i < n; i++)
                        left[i] -= left[i] > 0 ? shares[i] * dt : 0;
                now += dt;
                left[who] = 0;
                finish[who] = now;
        }
}

static size_t any_jobs(struct sg_rng *rng, struct sg_fair_job *jobs, bool linear)
{
        size_t n = 1 + sg_rng_below(rng, N_MAX);
        double cpu = sg_rng_below(rng, 2) ? 1. / (1 << sg_rng_below(rng, 6)) : 0;

        for (size_t i = 0; i < n; i++) {
                uint32_t class = sg_rng_below(rng, CLASSES);

                jobs[i] = (struct sg_fair_job){
                        .class = class,
                        .class_weight = class == 0 ? 100 : 300,
                        .uid = sg_rng_below(rng, USERS),
                        .weight = 50 * (1 + sg_rng_below(rng, 4)),
                        .width = (1 + sg_rng_below(rng, 10)) / 10.0,
                        .exponent = linear ? 1 : (10 + sg_rng_below(rng, 11)) / 20.0,
                        .cpu = cpu,
                        .remaining = 1 + 100 * sg_rng_double(rng),
                };
        }
        return n;
}

static void fair_node_is_as_by_hand(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= 400; seed++) {
                struct sg_fair_job jobs[N_MAX];
                double finish[N_MAX];
                struct sg_rng rng;
                size_t n;

                sg_rng_init(&rng, seed, 0);
                n = any_jobs(&rng, jobs, seed % 2 == 0);
                walk(jobs, n, finish);
                (void)run_one(jobs, n, 0, INFINITY);
                for (size_t i = 0; i < n; i++)
                        if (!(fabs(jobs[i].finish - finish[i]) <= 1e-6 * finish[i]))
                                fail_msg("seed %zu, job %zu: %.9g, by hand %.9g", (size_t)seed, i,
                                         jobs[i].finish, finish[i]);
        }
}

/* Stopping in between and going on from there changes nothing. */
static void fair_node_can_be_stopped(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= 200; seed++) {
                struct sg_fair_job whole[N_MAX], parts[N_MAX];
                double end, middle;
                struct sg_rng rng;
                size_t n;

                sg_rng_init(&rng, seed, 0);
                n = any_jobs(&rng, whole, seed % 2 == 0);
                memcpy(parts, whole, sizeof(parts));
                end = run_one(whole, n, 5, INFINITY);
                middle = 5 + (end - 5) * sg_rng_double(&rng);
                (void)run_one(parts, n, 5, middle);
                for (size_t i = 0; i < n; i++)
                        if (parts[i].finish <= middle) {
                                assert_near(parts[i].finish, whole[i].finish, 1e-6 * end);
                                parts[i] = parts[--n];
                                whole[i] = whole[n];
                                i--;
                        }
                (void)run_one(parts, n, middle, INFINITY);
                for (size_t i = 0; i < n; i++)
                        assert_near(parts[i].finish, whole[i].finish, 1e-6 * end);
        }
}

static void what_never_ends_keeps_its_share(void **state)
{
        struct sg_fair_job jobs[] = {
                {.class_weight = 1, .weight = 1, .width = 1, .exponent = 1, .remaining = INFINITY},
                {.class_weight = 1, .weight = 3, .width = 1, .exponent = 1, .remaining = 30},
        };

        (void)state;
        assert_near(run_one(jobs, 2, 10, INFINITY), 50, 1e-9);
        assert_true(isinf(jobs[0].finish));
        assert_near(jobs[0].share, .25, 1e-12);
}

/* --- promises --------------------------------------------------------------------------------- */

struct world {
        struct sg_promise *promise;
        struct sg_share_class classes[2];
        struct sg_share_job jobs[4];
        double vf[4];
        size_t n;
};

static void world_init(struct world *w)
{
        *w = (struct world){.classes = {{"a", 100, NULL}, {"b", 100, NULL}}};
        assert_int_equal(sg_promise_new(&w->promise), 0);
}

static struct sg_share_job *join(struct world *w, double total)
{
        struct sg_share_job *j = &w->jobs[w->n++];

        *j = (struct sg_share_job){.key = w->n,
                                   .weight = 100,
                                   .width = 1,
                                   .cpu_bound = true,
                                   .estimate = {.remaining = total, .total = total, .exponent = 1}};
        return j;
}

static void step(struct world *w, double now)
{
        const struct sg_share_snapshot s = {
                .now = now, .classes = w->classes, .n_classes = 2, .jobs = w->jobs, .n_jobs = w->n};

        assert_int_equal(sg_promise_step(w->promise, &s, w->vf), 0);
}

static void a_ghost_keeps_its_place(void **state)
{
        struct world w;

        (void)state;
        world_init(&w);
        join(&w, 10);
        join(&w, 10);
        step(&w, 0);
        assert_near(w.vf[0], 20, 1e-9);
        assert_near(w.vf[1], 20, 1e-9);
        sg_promise_finished(w.promise, 1, 10);
        w.jobs[0] = w.jobs[1];
        w.n = 1;
        step(&w, 10);
        assert_near(w.vf[0], 20, 1e-9); /* as if the first were still there */
        w.jobs[0].used = 5;
        step(&w, 15);
        assert_near(w.vf[0], 20, 1e-9);
        sg_promise_free(w.promise);
}

/* The same key, but nothing of what was done there is its own. */
static void another_attempt_begins_anew(void **state)
{
        struct world w;

        (void)state;
        world_init(&w);
        join(&w, 10);
        join(&w, 20);
        step(&w, 0);
        assert_near(w.vf[0], 20, 1e-9);
        w.jobs[0].arrival = 25;
        w.jobs[1].used = 25;
        step(&w, 25);
        assert_near(w.vf[0], 40, 1e-9);
        sg_promise_free(w.promise);
}

/* It has had its share all along; its size, which nobody knew, doesn't count once more. */
static void who_was_there_to_stay_leaves_no_ghost(void **state)
{
        (void)state;
        for (int badly = 0; badly < 2; badly++) {
                struct world w;

                world_init(&w);
                join(&w, 1)->aside = true;
                w.jobs[0].estimate.exponent = badly ? .5 : 1;
                join(&w, 20);
                step(&w, 0);
                w.jobs[0].used = w.jobs[1].used = 5;
                step(&w, 10);
                sg_promise_finished(w.promise, 1, 5);
                w.jobs[0] = w.jobs[1];
                w.n = 1;
                step(&w, 10);
                assert_near(w.vf[0], 25, 1e-9);
                sg_promise_free(w.promise);
        }
}

static void what_was_promised_once_stays(void **state)
{
        struct world w;

        (void)state;
        world_init(&w);
        join(&w, 4);
        join(&w, 20);
        step(&w, 0);
        assert_near(w.vf[0], 8, 1e-9);
        w.jobs[1].used = 10;
        step(&w, 10);
        w.jobs[0].estimate.total = 5; /* it turns out to be larger, too late */
        w.jobs[1].used = 11;
        step(&w, 11);
        assert_near(w.vf[0], 8, 1e-9);
        assert_near(w.vf[1], 24, 1e-9);
        sg_promise_free(w.promise);
}

/* As a job that lies does: with the old promise its work would go before everybody else's. */
static void a_promise_on_a_wrong_size_is_none(void **state)
{
        struct world w;

        (void)state;
        world_init(&w);
        join(&w, 4);
        join(&w, 20);
        step(&w, 0);
        w.jobs[1].used = 10;
        step(&w, 10);
        w.jobs[0].estimate.total = 1000;
        w.jobs[1].used = 11;
        step(&w, 11);
        assert_true(w.vf[0] > 1000);
        sg_promise_free(w.promise);
}

static void a_size_that_grows_moves_the_finish(void **state)
{
        struct world w;

        (void)state;
        world_init(&w);
        join(&w, 10);
        join(&w, 10);
        step(&w, 0);
        w.jobs[0].estimate.total = 30;
        w.jobs[0].used = 4;
        step(&w, 4);
        assert_near(w.vf[0], 40, 1e-9);
        assert_near(w.vf[1], 20, 1e-9);
        w.jobs[0].estimate.total = 1; /* it has had more than that here */
        w.jobs[0].used = 5;
        step(&w, 5);
        assert_near(w.vf[0], 5, 1e-9);
        assert_near(w.vf[1], 12.5, 1e-9);
        sg_promise_free(w.promise);
}

/* One user's twelve jobs are owed as much as another's one; so are classes. */
static void splitting_pays_nobody(void **state)
{
        struct world w;

        (void)state;
        world_init(&w);
        join(&w, 10)->uid = 1;
        join(&w, 10)->uid = 1;
        join(&w, 10)->uid = 2;
        step(&w, 0);
        assert_near(w.vf[2], 20, 1e-9);
        assert_near(w.vf[0], 30, 1e-9);
        w.jobs[0].class = w.jobs[1].class = 1;
        w.classes[1].weight = 300;
        step(&w, 0);
        assert_near(w.vf[0], 20 / .75, 1e-9);
        sg_promise_free(w.promise);
}

static void save_and_load(const struct sg_promise *from, struct sg_promise **to)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {};

        sg_promise_save(from, &r);
        assert_int_equal(r.error, 0);
        assert_int_equal(sg_promise_new(to), 0);
        assert_int_equal(sg_promise_load(*to, r.data, r.size), 0);
}

static void a_restart_forgets_nothing(void **state)
{
        struct world w, other;

        (void)state;
        world_init(&w);
        join(&w, 4);
        join(&w, 20);
        join(&w, 50);
        step(&w, 0);
        w.jobs[1].used = 13;
        step(&w, 13);
        sg_promise_finished(w.promise, 2, 21);
        other = w;
        save_and_load(w.promise, &other.promise);
        w.jobs[1] = other.jobs[1] = w.jobs[2];
        w.n = other.n = 2;
        step(&w, 20);
        step(&other, 20);
        assert_near(w.vf[0], 12, 1e-9);
        assert_memory_equal(w.vf, other.vf, 2 * sizeof(double));
        sg_promise_free(w.promise);
        sg_promise_free(other.promise);
}

static void damage_is_refused(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {};
        struct world w;
        size_t refused = 0;

        (void)state;
        world_init(&w);
        join(&w, 4);
        join(&w, 20);
        step(&w, 0);
        sg_promise_save(w.promise, &r);
        for (size_t i = 0; i < r.size; i++) {
                r.data[i] ^= 0xff;
                refused += sg_promise_load(w.promise, r.data, r.size) == -EBADMSG;
                step(&w, 1); /* whatever it was, it does no harm */
                r.data[i] ^= 0xff;
        }
        assert_true(refused > r.size / 10);
        for (size_t size = 0; size < r.size; size++)
                (void)sg_promise_load(w.promise, r.data, size);
        sg_promise_free(w.promise);
}

/* --- speed ------------------------------------------------------------------------------------ */

static double milliseconds(void)
{
        struct timespec t;

        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void a_thousand_jobs_are_no_burden(void **state)
{
        enum { N = 1000 };
        _cleanup_free_ struct sg_fair_job *jobs = calloc(N, sizeof(*jobs));
        double best = INFINITY;

        (void)state;
        assert_non_null(jobs);
        for (int k = 0; k < 5; k++) {
                double begun;

                for (size_t i = 0; i < N; i++)
                        jobs[i] = (struct sg_fair_job){.uid = (uint32_t)(i % 20),
                                                       .class_weight = 100,
                                                       .weight = 100,
                                                       .width = i % 3 ? 1
                                                                      : 1.0 / (double)(2 + i % 50),
                                                       .exponent = 1,
                                                       .remaining = 1 + (double)(i * 7919 % 1000)};
                begun = milliseconds();
                (void)run_one(jobs, N, 0, INFINITY);
                best = fmin(best, milliseconds() - begun);
        }
        print_message("1000 jobs of 20 users to the end: %.2f ms\n", best);
        assert_true(best < 100); /* any build, any machine; a release does it in about 1 */
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fair_node_is_as_by_hand),
                cmocka_unit_test(fair_node_can_be_stopped),
                cmocka_unit_test(what_never_ends_keeps_its_share),
                cmocka_unit_test(a_ghost_keeps_its_place),
                cmocka_unit_test(another_attempt_begins_anew),
                cmocka_unit_test(who_was_there_to_stay_leaves_no_ghost),
                cmocka_unit_test(what_was_promised_once_stays),
                cmocka_unit_test(a_promise_on_a_wrong_size_is_none),
                cmocka_unit_test(a_size_that_grows_moves_the_finish),
                cmocka_unit_test(splitting_pays_nobody),
                cmocka_unit_test(a_restart_forgets_nothing),
                cmocka_unit_test(damage_is_refused),
                cmocka_unit_test(a_thousand_jobs_are_no_burden),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
