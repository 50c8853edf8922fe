/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must hold for the queue whatever happens: random histories of additions, removals, changes,
 * reloads and starts, beside a model that is a plain array. The seed of a failure is printed;
 * SG_SEED=N runs that one alone.
 */
#include "core/queue/order.h"
#include "core/queue/queue.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <math.h>

#define INSTANCES (2000U / TEST_SLOW)
#define STEPS 150
#define JOBS 40
#define USERS 4
#define CLASSES 3
#define TOTAL 1000003ULL
#define PATIENCE SG_QUEUE_PATIENCE_USEC

static const char *const class_names[CLASSES] = {"default", "train", "batch"};

struct job {
        struct sg_queue_entry entry;
        bool present;
        unsigned class;
        uint64_t uid;
};

struct world {
        uint64_t random, seed;
        struct sg_queue *q;
        struct sg_settings *settings;
        struct sg_node_snapshot node;
        struct job jobs[JOBS];
        uint64_t last_n, started, step;
};

/* splitmix64 */
static uint64_t draw(struct world *w, uint64_t below)
{
        uint64_t z = w->random += 0x9e3779b97f4a7c15ULL;

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return (z ^ (z >> 31)) % below;
}

#define check(w, condition)                                                                        \
        do {                                                                                       \
                if (!(condition))                                                                  \
                        fail_msg("SG_SEED=%" PRIu64 ", step %" PRIu64 ": %s", (w)->seed,           \
                                 (w)->step, #condition);                                           \
        } while (0)

/* The model's figures, counted anew each time */

static bool waits(const struct job *j)
{
        return j->present && !j->entry.running;
}

static bool runs(const struct job *j)
{
        return j->present && j->entry.running;
}

static uint64_t count(const struct world *w, bool (*which)(const struct job *j))
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++)
                n += which(&w->jobs[i]);
        return n;
}

static uint64_t running_of(const struct world *w, const unsigned *class, const uint64_t *uid)
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++)
                n += runs(&w->jobs[i]) && (!class || w->jobs[i].class == *class) &&
                     (!uid || w->jobs[i].uid == *uid);
        return n;
}

static uint64_t declared(const struct world *w)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < JOBS; i++)
                if (runs(&w->jobs[i]) && w->jobs[i].entry.memory != SG_UNLIMITED)
                        sum += w->jobs[i].entry.memory;
        return sum;
}

static uint64_t promisable(const struct world *w)
{
        unsigned __int128 kept = (unsigned __int128)TOTAL * w->settings->memory_reserve_pm;
        uint64_t usable = TOTAL - (uint64_t)((kept + 9999) / 10000);
        uint64_t used = TOTAL - w->node.memory_available, taken = declared(w);

        if (used > w->node.declared_used)
                taken += used - w->node.declared_used;
        return usable > taken ? usable - taken : 0;
}

static bool fits(const struct world *w, uint64_t memory)
{
        return memory == SG_UNLIMITED ? promisable(w) > 0 : memory <= promisable(w);
}

static bool has_room(const struct world *w, const struct job *j)
{
        const struct sg_class *c = sg_settings_class(w->settings, class_names[j->class]);
        const uint64_t *uid = &j->uid;

        return count(w, runs) < w->settings->max_jobs &&
               running_of(w, &j->class, NULL) < c->max_jobs &&
               running_of(w, &j->class, uid) < c->max_jobs_per_user;
}

static double compare_known(double a, double b)
{
        return a <= 0 || b <= 0 ? (a <= 0) - (b <= 0) : a - b;
}

static bool before_in_lane(const struct world *w, const struct job *a, const struct job *b)
{
        const struct sg_class *c = sg_settings_class(w->settings, class_names[a->class]);
        const struct sg_queue_entry *x = &a->entry, *y = &b->entry;
        double d = 0;

        if (c->order == SG_ORDER_PRIORITY)
                d = (double)(y->priority - x->priority);
        else if (c->order == SG_ORDER_SJF)
                d = compare_known(x->size, y->size);
        else if (c->order == SG_ORDER_SRTF)
                d = compare_known(x->size - fmin(x->used, .99 * x->size),
                                  y->size - fmin(y->used, .99 * y->size));
        else if (c->order == SG_ORDER_EDF)
                d = compare_known((double)x->deadline_usec, (double)y->deadline_usec);
        else if (c->order == SG_ORDER_LAS)
                d = (x->used >= 60) - (y->used >= 60);
        return d < 0 || (d <= 0 && x->n < y->n);
}

static uint64_t ahead_of(const struct world *w, const struct job *j)
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++) {
                const struct job *o = &w->jobs[i];

                n += o != j && waits(o) && o->class == j->class && o->uid == j->uid &&
                     before_in_lane(w, o, j);
        }
        return n;
}

/* Whether some other head that has room waits for memory: the node may then be kept for it. */
static bool memory_short(const struct world *w)
{
        for (size_t i = 0; i < JOBS; i++) {
                const struct job *j = &w->jobs[i];

                if (waits(j) && has_room(w, j) && !fits(w, j->entry.memory) && ahead_of(w, j) == 0)
                        return true;
        }
        return false;
}

/* Whether the head of its lane waits for memory and lets others go before. */
static bool passes_its_head(const struct world *w, const struct job *j)
{
        if (!sg_settings_class(w->settings, class_names[j->class])->backfill)
                return false;
        for (size_t i = 0; i < JOBS; i++) {
                const struct job *o = &w->jobs[i];

                if (waits(o) && o->class == j->class && o->uid == j->uid && ahead_of(w, o) == 0)
                        return !fits(w, o->entry.memory);
        }
        return false;
}

/* What happens */

static uint64_t draw_memory(struct world *w)
{
        switch (draw(w, 8)) {
        case 0:
        case 1:
                return SG_UNLIMITED;
        case 2:
                return draw(w, TOTAL * 2);
        default:
                return draw(w, TOTAL / 4);
        }
}

/* Whatever may be said of a job. */
static void draw_job(struct world *w, struct job *j, struct sg_job *said)
{
        *j = (struct job){
                .class = (unsigned)draw(w, CLASSES),
                .uid = 1000 + draw(w, USERS + 1),
                .entry = {.n = ++w->last_n},
        };
        sg_job_init(said);
        said->uid = j->uid;
        said->priority = (int64_t)draw(w, 7) - 3;
        said->limits.memory_max = draw_memory(w);
        said->limits.time_limit_usec = draw(w, 2) ? 1 + draw(w, PATIENCE) : SG_UNLIMITED;
        said->deadline_usec = draw(w, 2) ? 1 + draw(w, 5) : 0;
        said->cpu_usec = draw(w, 2) ? SG_UNLIMITED : draw(w, 2) * 100000000;
        strcpy(said->class, class_names[j->class]);
        sg_order_describe(&j->entry, said, NULL);
}

static void step_add(struct world *w, struct job *j)
{
        bool running = draw(w, 20) == 0;
        struct sg_job said;

        draw_job(w, j, &said);
        /* One that is recovered as running was admitted at its time. */
        if (running && (!has_room(w, j) || !fits(w, j->entry.memory)))
                running = false;
        check(w, sg_queue_add(w->q, &j->entry, class_names[j->class], j->uid, running) == 0);
        j->present = true;
}

static void step_change(struct world *w, struct job *j)
{
        uint64_t memory = draw_memory(w);
        uint64_t own = runs(j) && j->entry.memory != SG_UNLIMITED ? j->entry.memory : 0;

        /* A running job's limit is only raised as far as its owner may be promised. */
        if (runs(j) && memory != SG_UNLIMITED && memory > own + promisable(w))
                memory = own;
        sg_queue_change(w->q, &j->entry, (int64_t)draw(w, 5) - 2, memory);
}

/* What a file would say of the i-th class; the settings are const to all others. */
static struct sg_class *draft(struct world *w, size_t i)
{
        return (struct sg_class *)&w->settings->classes[i];
}

static void step_configure(struct world *w)
{
        w->settings->max_jobs = draw(w, 4) == 0 ? JOBS : 1 + draw(w, 12);
        w->settings->memory_reserve_pm = draw(w, 9001);
        for (size_t i = 0; i < CLASSES; i++) {
                struct sg_class *c = draft(w, i);

                c->order = (enum sg_order)draw(w, _SG_ORDER_MAX);
                c->backfill = draw(w, 3) > 0;
                c->max_jobs = draw(w, 2) ? SG_UNLIMITED : 1 + draw(w, 6);
                c->max_jobs_per_user = draw(w, 2) ? SG_UNLIMITED : 1 + draw(w, 3);
        }
        check(w, sg_queue_configure(w->q, w->settings) == 0);
}

static void step_node(struct world *w)
{
        w->node.now_usec += draw(w, 2) ? draw(w, PATIENCE / 3) : draw(w, 1000);
        w->node.memory_available = draw(w, 2) ? TOTAL : draw(w, TOTAL + 1);
        w->node.declared_used = draw(w, TOTAL - w->node.memory_available + 1);
}

/* What must be true of a start, and of the job that is started */
static void check_start(struct world *w, struct sg_queue_entry *e)
{
        struct job *j = sg_list_entry(e, struct job, entry);

        check(w, j >= w->jobs && j < w->jobs + JOBS && j->present && e->running);
        e->running = false; /* as the model was before */
        check(w, has_room(w, j));
        check(w, fits(w, e->memory));
        check(w, ahead_of(w, j) == 0 || passes_its_head(w, j));
        for (size_t i = 0; i < JOBS && !memory_short(w); i++) {
                const struct job *o = &w->jobs[i];

                if (waits(o) && o->uid != j->uid && has_room(w, o) && fits(w, o->entry.memory) &&
                    ahead_of(w, o) == 0)
                        check(w, running_of(w, NULL, &j->uid) <= running_of(w, NULL, &o->uid));
        }
        e->running = true;
        w->started++;
}

/* After the last start of a pass: nothing that could start was left, and everybody has a reason. */
static void check_quiet(struct world *w, uint64_t retry_usec)
{
        bool is_short = count(w, runs) < w->settings->max_jobs && memory_short(w);

        check(w, retry_usec == (is_short ? w->node.now_usec + 1000000 : 0));
        for (size_t i = 0; i < JOBS; i++) {
                struct job *j = &w->jobs[i];
                struct sg_pending_info info;

                if (!waits(j))
                        continue;
                sg_queue_explain(w->q, &j->entry, &w->node, &info);
                check(w, info.why != SG_PENDING_NONE);
                if (info.why == SG_PENDING_TURN)
                        check(w, info.ahead == ahead_of(w, j) && info.ahead > 0);
                if (info.why == SG_PENDING_MEMORY)
                        check(w, !fits(w, j->entry.memory) && info.free == promisable(w));
                if (info.why == SG_PENDING_KEPT)
                        check(w, is_short && count(w, runs) > 0);
                check(w, !has_room(w, j) || !fits(w, j->entry.memory) || ahead_of(w, j) > 0 ||
                                 info.why == SG_PENDING_KEPT);
        }
}

static void check_accounts(struct world *w)
{
        check(w, sg_queue_n_waiting(w->q) == count(w, waits));
        check(w, sg_queue_n_running(w->q) == count(w, runs));
}

static void pass(struct world *w)
{
        struct sg_queue_entry *e;
        uint64_t retry_usec;

        while ((e = sg_queue_next(w->q, &w->node, &retry_usec))) {
                check_start(w, e);
                check_accounts(w);
        }
        check_quiet(w, retry_usec);
}

/* What is foretold for a new job is what happens to it. */
static void step_foretell(struct world *w, struct job *j)
{
        struct sg_pending_info info;
        struct sg_queue_entry *e;
        struct sg_job asked;
        uint64_t retry_usec;

        pass(w);
        draw_job(w, j, &asked);
        sg_queue_would_start(w->q, &asked, NULL, &w->node, &info);
        check(w, sg_queue_add(w->q, &j->entry, class_names[j->class], j->uid, false) == 0);
        j->present = true;
        e = sg_queue_next(w->q, &w->node, &retry_usec);
        check(w, (e == &j->entry) == (info.why == SG_PENDING_NONE));
        /* Another starts only if the new one is now before a job that the node was kept for. */
        check(w, !e || e == &j->entry || ahead_of(w, j) == 0);
        if (e)
                check_start(w, e);
}

static void step(struct world *w)
{
        struct job *j = &w->jobs[draw(w, JOBS)];
        uint64_t what = draw(w, 20);

        if (what == 0)
                step_configure(w);
        else if (what <= 3)
                step_node(w);
        else if (what <= 6)
                pass(w);
        else if (!j->present && what <= 8)
                step_foretell(w, j);
        else if (!j->present)
                step_add(w, j);
        else if (what <= 9)
                step_change(w, j);
        else {
                sg_queue_remove(w->q, &j->entry);
                j->present = false;
        }
        check_accounts(w);
}

static void make_world(struct world *w, uint64_t seed)
{
        *w = (struct world){.random = seed, .seed = seed};
        w->node = (struct sg_node_snapshot){
                .now_usec = 1, .cpus = 2, .memory_total = TOTAL, .memory_available = TOTAL};
        check(w, sg_queue_new(&w->q) == 0);
        check(w, sg_settings_new(&w->settings, "host") == 0);
        for (size_t i = 1; i < CLASSES; i++) {
                struct sg_class *c;
                char *why = NULL;

                check(w, sg_settings_class_begin(w->settings, class_names[i], &c) == 0);
                check(w, sg_settings_class_assign(c, "Class", "Name", class_names[i], &why) == 0);
                check(w, sg_settings_class_end(w->settings, c, &why) == 0);
        }
        step_configure(w);
}

/* All that is left is started in the end, once there is room, and then the queue is empty: freeing
 * it asserts that. */
static void drain(struct world *w)
{
        struct sg_queue_entry *e;
        uint64_t retry_usec, waiting;

        for (size_t i = 0; i < JOBS; i++)
                if (w->jobs[i].present)
                        sg_queue_change(w->q, &w->jobs[i].entry, 0, 1);
        w->settings->memory_reserve_pm = 0;
        check(w, sg_queue_configure(w->q, w->settings) == 0);
        w->node.memory_available = TOTAL;
        for (waiting = count(w, waits); waiting > 0; waiting--) {
                for (size_t i = 0; i < JOBS; i++)
                        if (runs(&w->jobs[i])) {
                                sg_queue_remove(w->q, &w->jobs[i].entry);
                                w->jobs[i].present = false;
                        }
                e = sg_queue_next(w->q, &w->node, &retry_usec);
                check(w, e != NULL);
                check_start(w, e);
        }
        for (size_t i = 0; i < JOBS; i++)
                sg_queue_remove(w->q, &w->jobs[i].entry);
        check(w, sg_queue_n_running(w->q) == 0 && sg_queue_n_waiting(w->q) == 0);
}

static uint64_t history(uint64_t seed)
{
        struct world w;

        make_world(&w, seed);
        for (w.step = 0; w.step < STEPS; w.step++)
                step(&w);
        drain(&w);
        sg_queue_free(w.q);
        sg_settings_free(w.settings);
        return w.started;
}

static void test_random_histories(void **state)
{
        const char *one = getenv("SG_SEED");
        uint64_t started = 0;

        (void)state;
        if (one) {
                (void)history(strtoull(one, NULL, 10));
                return;
        }
        for (uint64_t seed = 1; seed <= INSTANCES; seed++)
                started += history(seed);
        assert_true(started > (uint64_t)INSTANCES * 10);
}

/* Whatever a user does, each one that waits gets a start among (running places + users) of them. */
static void test_nobody_starves(void **state)
{
        (void)state;
        for (uint64_t seed = 1; seed <= INSTANCES; seed++) {
                struct world w;
                struct sg_queue_entry *e;
                uint64_t retry_usec, victim = 0, since = 0;

                make_world(&w, seed);
                w.settings->max_jobs = 1;
                for (size_t i = 0; i < CLASSES; i++)
                        draft(&w, i)->max_jobs = draft(&w, i)->max_jobs_per_user = SG_UNLIMITED;
                w.settings->memory_reserve_pm = 0;
                check(&w, sg_queue_configure(w.q, w.settings) == 0);
                w.jobs[0].uid = 1;
                for (w.step = 0; w.step < 200; w.step++) {
                        for (size_t i = 0; i < JOBS; i++) {
                                struct job *j = &w.jobs[i];

                                if (j->entry.lane || (i > 0 && draw(&w, 3) > 0))
                                        continue;
                                j->entry =
                                        (struct sg_queue_entry){.n = ++w.last_n,
                                                                .priority = (int64_t)draw(&w, 100),
                                                                .memory = SG_UNLIMITED};
                                j->uid = i == 0 ? 1 : 2 + draw(&w, USERS);
                                check(&w, sg_queue_add(w.q, &j->entry, class_names[i % CLASSES],
                                                       j->uid, false) == 0);
                        }
                        e = sg_queue_next(w.q, &w.node, &retry_usec);
                        check(&w, e != NULL);
                        since = e == &w.jobs[0].entry ? 0 : since + 1;
                        victim += since == 0;
                        check(&w, since <= USERS);
                        sg_queue_remove(w.q, e);
                }
                check(&w, victim >= 200 / (USERS + 1));
                for (size_t i = 0; i < JOBS; i++)
                        sg_queue_remove(w.q, &w.jobs[i].entry);
                sg_queue_free(w.q);
                sg_settings_free(w.settings);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_random_histories),
                cmocka_unit_test(test_nobody_starves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
