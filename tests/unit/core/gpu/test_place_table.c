/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What placement is worth: jobs come and go on eight GPUs, under three loads, placed as the daemon
 * does it, by first fit, and spread as wide as possible. All else is the same for the three: who
 * doesn't fit waits, and whoever fits starts.
 */
#include "base/rng.h"
#include "tests/unit/core/gpu/node.h"
#include "tests/unit/test.h"

#define GPUS 8
#define JOBS 600
#define INSTANCES (30U / (TEST_SLOW > 1 ? 3 : 1))

enum policy { OURS, FIRST, SPREAD, N_POLICIES };
static const char *const names[] = {"schedgov", "first", "spread"};

struct job {
        double arrives, lasts, ends; /* ends: 0 = it hasn't started */
        struct sg_gpu_request r;
        struct sg_gpu_choice c;
};

struct totals {
        double wait;
        unsigned jobs, pairs, apart; /* pairs: jobs of two GPUs; apart: not on one pair */
};

static struct gpu_node node;
static struct sg_gpu_pool pool;

/* Jobs */

static double exponential(struct sg_rng *rng, double mean)
{
        return -mean * log(1 - sg_rng_double(rng));
}

static double gpus_of(const struct sg_gpu_request *r)
{
        return (double)r->min * (double)r->share / SG_GPU_WHOLE;
}

static struct sg_gpu_request draw_request(struct sg_rng *rng)
{
        unsigned kind = sg_rng_below(rng, 20);

        if (kind < 4)
                return want_part(25 * (1 + sg_rng_below(rng, 2)),
                                 (10 + 10 * sg_rng_below(rng, 3)) * GIB);
        return kind < 11 ? want(1, 1) : kind < 18 ? want(2, 2) : want(4, 4);
}

/* As many a time unit as keep that part of the GPUs busy. */
static void draw_jobs(struct sg_rng *rng, double load, struct job jobs[JOBS])
{
        double at = 0, work = 0;

        for (unsigned i = 0; i < JOBS; i++) {
                jobs[i] = (struct job){.r = draw_request(rng), .lasts = exponential(rng, 1)};
                work += gpus_of(&jobs[i].r) * jobs[i].lasts;
        }
        for (unsigned i = 0; i < JOBS; i++) {
                at += exponential(rng, work / JOBS / (load * GPUS));
                jobs[i].arrives = at;
        }
}

/* Policies that aren't ours */

static bool can_have(size_t i, const struct sg_gpu_request *r)
{
        const struct sg_gpu_room *room = &pool.rooms[i];

        if (r->share < SG_GPU_WHOLE)
                return room->hundredths + r->share <= SG_GPU_WHOLE && room->left >= r->memory_bytes;
        return room->hundredths == 0;
}

static size_t near_taken(size_t i)
{
        size_t n = 0;

        for (size_t j = 0; j < GPUS; j++)
                if (j != i && pool.rooms[j].hundredths > 0)
                        n += 100 / node.gpus[i].near[j].distance;
        return n;
}

/* The emptiest one, farthest from what is taken. */
static bool is_lonelier(size_t a, size_t b)
{
        if (pool.rooms[a].hundredths != pool.rooms[b].hundredths)
                return pool.rooms[a].hundredths < pool.rooms[b].hundredths;
        return near_taken(a) < near_taken(b);
}

static bool place_simply(enum policy policy, const struct sg_gpu_request *r,
                         struct sg_gpu_choice *ret)
{
        struct sg_gpu_pool before = pool;
        struct sg_gpu_choice c = {.instance = SG_GPU_NONE, .share = (uint8_t)r->share};

        c.memory_bytes = r->memory_bytes == SG_UNLIMITED ? 0 : r->memory_bytes;
        while (c.n < r->min) {
                size_t best = GPUS;

                for (size_t i = 0; i < GPUS; i++)
                        if (can_have(i, r) &&
                            (best == GPUS || (policy == SPREAD && is_lonelier(i, best))))
                                best = i;
                if (best == GPUS)
                        break;
                c.gpus[c.n++] = (uint8_t)best;
                pool.rooms[best].hundredths += (uint32_t)r->share;
        }
        pool = before;
        *ret = c;
        return c.n == r->min;
}

static bool place(enum policy policy, const struct sg_gpu_request *r, struct sg_gpu_choice *ret)
{
        return policy == OURS ? sg_gpu_place(&pool, r, ret) : place_simply(policy, r, ret);
}

/* Time */

static void give_back(const struct sg_gpu_choice *c)
{
        for (size_t k = 0; k < c->n; k++) {
                pool.rooms[c->gpus[k]].hundredths -= c->share;
                pool.rooms[c->gpus[k]].left += c->memory_bytes;
        }
}

static void start_all(enum policy policy, struct job jobs[JOBS], unsigned n_arrived, double now,
                      struct totals *t)
{
        for (unsigned i = 0; i < n_arrived; i++) {
                struct job *j = &jobs[i];

                if (j->ends > 0 || !place(policy, &j->r, &j->c))
                        continue;
                sg_gpu_pool_take(&pool, &j->c);
                j->ends = now + j->lasts;
                t->wait += now - j->arrives;
                t->jobs++;
                if (j->c.n == 2) {
                        t->pairs++;
                        t->apart += j->c.gpus[0] / 2 != j->c.gpus[1] / 2;
                }
        }
}

static void simulate(enum policy policy, struct job jobs[JOBS], struct totals *t)
{
        unsigned n_arrived = 0, n_ended = 0;
        bool ended[JOBS] = {false};

        sg_gpu_pool_init(&pool, &node.inventory);
        while (n_ended < JOBS) {
                double now = n_arrived < JOBS ? jobs[n_arrived].arrives : INFINITY;
                unsigned first = JOBS;

                for (unsigned i = 0; i < n_arrived; i++)
                        if (jobs[i].ends > 0 && !ended[i] && jobs[i].ends <= now) {
                                now = jobs[i].ends;
                                first = i;
                        }
                if (first < JOBS) {
                        ended[first] = true;
                        n_ended++;
                        give_back(&jobs[first].c);
                } else {
                        n_arrived++;
                }
                start_all(policy, jobs, n_arrived, now, t);
        }
}

static double part_apart(const struct totals *t)
{
        return t->pairs ? (double)t->apart / t->pairs : 0;
}

static void test_table(void **state)
{
        static const double loads[] = {.5, .7, .9};
        static struct job drawn[JOBS], jobs[JOBS];
        struct totals all[N_POLICIES] = {0};

        (void)state;
        node_make(&node, GPUS);
        print_message("# %u instances of %d jobs on %d GPUs\n", INSTANCES, JOBS, GPUS);
        print_message("# load  policy      pairs apart   mean wait\n");
        for (size_t l = 0; l < 3; l++) {
                struct totals t[N_POLICIES] = {0};

                for (unsigned seed = 1; seed <= INSTANCES; seed++) {
                        struct sg_rng rng;

                        sg_rng_init(&rng, seed, l);
                        draw_jobs(&rng, loads[l], drawn);
                        for (unsigned p = 0; p < N_POLICIES; p++) {
                                memcpy(jobs, drawn, sizeof(jobs));
                                simulate((enum policy)p, jobs, &t[p]);
                        }
                }
                for (unsigned p = 0; p < N_POLICIES; p++) {
                        print_message("#  %.1f  %-10s %12.3f %11.4f\n", loads[l], names[p],
                                      part_apart(&t[p]), t[p].wait / t[p].jobs);
                        all[p].wait += t[p].wait;
                        all[p].jobs += t[p].jobs;
                        all[p].pairs += t[p].pairs;
                        all[p].apart += t[p].apart;
                }
        }
        for (unsigned p = 0; p < N_POLICIES; p++)
                print_message("#  all  %-10s %12.3f %11.4f\n", names[p], part_apart(&all[p]),
                              all[p].wait / all[p].jobs);
        assert_in_between(part_apart(&all[OURS]), 0, .26);
        assert_true(part_apart(&all[FIRST]) > part_apart(&all[OURS]));
        assert_in_between(all[OURS].wait / all[OURS].jobs, 0, all[FIRST].wait / all[FIRST].jobs);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_table),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
