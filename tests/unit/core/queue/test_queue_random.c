/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must hold for the queue whatever happens: random histories of additions, removals, changes,
 * reloads and starts, beside a model that is a plain array, on nodes with one stock and with two.
 * The seed of a failure is printed; SG_SEED=N runs that one alone.
 */
#include "core/queue/order.h"
#include "core/queue/queue.h"
#include "tests/unit/core/queue/seats.h"
#include "tests/unit/test.h"

#include <inttypes.h>
#include <math.h>

#define INSTANCES (2000U / TEST_SLOW)
#define STEPS 150
#define JOBS 40
#define USERS 4
#define CLASSES 3
#define PATIENCE SG_QUEUE_PATIENCE_USEC

static const uint64_t totals[SG_STOCKS_MAX] = {[SG_STOCK_MEMORY] = 1000003, [SEATS] = 7};
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
        struct sg_stock_type types[SG_STOCKS_MAX];
        size_t n_stocks;
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

static uint64_t declared(const struct world *w, size_t k)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < JOBS; i++)
                if (runs(&w->jobs[i]) && w->jobs[i].entry.need[k] != SG_UNLIMITED)
                        sum += w->jobs[i].entry.need[k];
        return sum;
}

static uint64_t promisable(const struct world *w, size_t k)
{
        const struct sg_stock *s = &w->node.stocks[k];
        uint64_t reserve_pm = k == SG_STOCK_MEMORY ? w->settings->memory_reserve_pm : 0;
        unsigned __int128 kept = (unsigned __int128)s->total * reserve_pm;
        uint64_t usable = s->total - (uint64_t)((kept + 9999) / 10000);
        uint64_t used = s->total - s->available, taken = declared(w, k);

        if (used > s->declared_used)
                taken += used - s->declared_used;
        return usable > taken ? usable - taken : 0;
}

static bool lacks(const struct world *w, const struct sg_queue_entry *e, size_t k)
{
        return e->need[k] == SG_UNLIMITED ? promisable(w, k) == 0 : e->need[k] > promisable(w, k);
}

static bool fits(const struct world *w, const struct sg_queue_entry *e)
{
        for (size_t k = 0; k < w->n_stocks; k++)
                if (lacks(w, e, k))
                        return false;
        return true;
}

/* Whether e wants something that the other, which doesn't fit, waits for. */
static bool competes(const struct world *w, const struct sg_queue_entry *e,
                     const struct sg_queue_entry *other)
{
        for (size_t k = 0; k < w->n_stocks; k++)
                if (e->need[k] > 0 && lacks(w, other, k))
                        return true;
        return false;
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
        else if (c->order != SG_ORDER_FIFO) /* one that the model doesn't know */
                return sg_order_before(c->order, x, y);
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

/* A head that has room and doesn't fit: the node may be kept for it. */
static bool is_short(const struct world *w, const struct job *j)
{
        return waits(j) && has_room(w, j) && !fits(w, &j->entry) && ahead_of(w, j) == 0;
}

static bool any_short(const struct world *w)
{
        for (size_t i = 0; i < JOBS; i++)
                if (is_short(w, &w->jobs[i]))
                        return true;
        return false;
}

/* Whether any of them waits for what e takes of. */
static bool any_short_competes(const struct world *w, const struct sg_queue_entry *e)
{
        for (size_t i = 0; i < JOBS; i++)
                if (is_short(w, &w->jobs[i]) && competes(w, e, &w->jobs[i].entry))
                        return true;
        return false;
}

static const struct job *head_of(const struct world *w, const struct job *j)
{
        for (size_t i = 0; i < JOBS; i++) {
                const struct job *o = &w->jobs[i];

                if (waits(o) && o->class == j->class && o->uid == j->uid && ahead_of(w, o) == 0)
                        return o;
        }
        return NULL;
}

/* Whether the head of its lane doesn't fit and lets others go before. */
static bool passes_its_head(const struct world *w, const struct job *j)
{
        const struct job *head = head_of(w, j);

        return head && !fits(w, &head->entry) &&
               (sg_settings_class(w->settings, class_names[j->class])->backfill ||
                !competes(w, &j->entry, &head->entry));
}

/* What happens */

static uint64_t draw_memory(struct world *w)
{
        const uint64_t total = totals[SG_STOCK_MEMORY];

        switch (draw(w, 8)) {
        case 0:
        case 1:
                return SG_UNLIMITED;
        case 2:
                return 1 + draw(w, total * 2);
        default:
                return 1 + draw(w, total / 4);
        }
}

/* Most want none. */
static uint64_t draw_seats(struct world *w)
{
        uint64_t r = draw(w, 16);

        return r == 0 ? SG_UNLIMITED : r == 1 ? draw(w, totals[SEATS] * 2) : r < 7 ? 1 + r % 3 : 0;
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
        said->limits.tasks_max = draw_seats(w);
        said->limits.time_limit_usec = draw(w, 2) ? 1 + draw(w, PATIENCE) : SG_UNLIMITED;
        said->deadline_usec = draw(w, 2) ? 1 + draw(w, 5) : 0;
        said->cpu_usec = draw(w, 2) ? SG_UNLIMITED : draw(w, 2) * 100000000;
        strcpy(said->class, class_names[j->class]);
        sg_queue_describe(w->q, &j->entry, said, NULL);
}

static void step_add(struct world *w, struct job *j)
{
        bool running = draw(w, 20) == 0;
        struct sg_job said;

        draw_job(w, j, &said);
        /* One that is recovered as running was admitted at its time. */
        if (running && (!has_room(w, j) || !fits(w, &j->entry)))
                running = false;
        check(w, sg_queue_add(w->q, &j->entry, class_names[j->class], j->uid, running) == 0);
        j->present = true;
}

static void step_change(struct world *w, struct job *j)
{
        uint64_t need[SG_STOCKS_MAX] = {
                [SG_STOCK_MEMORY] = draw_memory(w),
                [SEATS] = draw_seats(w),
        };

        /* A running job's limit is only raised as far as its owner may be promised. */
        for (size_t k = 0; k < w->n_stocks; k++) {
                uint64_t own = j->entry.need[k] != SG_UNLIMITED ? j->entry.need[k] : 0;

                if (runs(j) && need[k] != SG_UNLIMITED && need[k] > own + promisable(w, k))
                        need[k] = own;
        }
        sg_queue_change(w->q, &j->entry, (int64_t)draw(w, 5) - 2, need);
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
        for (size_t k = 0; k < w->n_stocks; k++) {
                struct sg_stock *s = &w->node.stocks[k];

                s->available = draw(w, 2) ? s->total : draw(w, s->total + 1);
                s->declared_used = draw(w, s->total - s->available + 1);
        }
}

/* What must be true of a start, and of the job that is started */
static void check_start(struct world *w, struct sg_queue_entry *e)
{
        struct job *j = sg_list_entry(e, struct job, entry);

        check(w, j >= w->jobs && j < w->jobs + JOBS && j->present && e->running);
        e->running = false; /* as the model was before */
        check(w, has_room(w, j));
        check(w, fits(w, e));
        check(w, ahead_of(w, j) == 0 || passes_its_head(w, j));
        for (size_t i = 0; i < JOBS && !any_short(w); i++) {
                const struct job *o = &w->jobs[i];

                if (waits(o) && o->uid != j->uid && has_room(w, o) && fits(w, &o->entry) &&
                    ahead_of(w, o) == 0)
                        check(w, running_of(w, NULL, &j->uid) <= running_of(w, NULL, &o->uid));
        }
        e->running = true;
        w->started++;
}

static void check_reason(struct world *w, const struct job *j, bool kept)
{
        struct sg_pending_info info;
        size_t k = 0;

        sg_queue_explain(w->q, &j->entry, &w->node, &info);
        check(w, info.why != SG_PENDING_NONE);
        if (info.why == SG_PENDING_TURN)
                check(w, info.ahead == ahead_of(w, j) && info.ahead > 0);
        if (info.why == SG_PENDING_SHORT) {
                while (k < w->n_stocks && !lacks(w, &j->entry, k))
                        k++;
                check(w, info.stock == &w->types[k]); /* the first that isn't enough */
                check(w, info.free == promisable(w, k));
        }
        if (info.why == SG_PENDING_KEPT)
                check(w, kept && count(w, runs) > 0);
        check(w, !has_room(w, j) || !fits(w, &j->entry) || ahead_of(w, j) > 0 ||
                         info.why == SG_PENDING_KEPT);
}

/* After the last start of a pass: nothing that could start was left, and everybody has a reason. */
static void check_quiet(struct world *w, uint64_t retry_usec)
{
        bool kept = count(w, runs) < w->settings->max_jobs && any_short(w);

        check(w, retry_usec == (kept ? w->node.now_usec + 1000000 : 0));
        for (size_t i = 0; i < JOBS; i++) {
                const struct job *j = &w->jobs[i];

                if (!waits(j))
                        continue;
                check_reason(w, j, kept);
                /* Nobody waits behind heads that lack only what it doesn't want. */
                if (has_room(w, j) && fits(w, &j->entry) && !any_short_competes(w, &j->entry))
                        check(w, ahead_of(w, j) > 0 && !is_short(w, head_of(w, j)));
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

/* What is foretold for a new job is what happens to it, unless another one is first. */
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
        /* Another starts only if the new one is now before a job that the node was kept for. */
        check(w, !e || e == &j->entry || ahead_of(w, j) == 0);
        check(w, e != &j->entry || info.why == SG_PENDING_NONE);
        check(w, e || info.why != SG_PENDING_NONE);
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
        w->node = (struct sg_node_snapshot){.now_usec = 1, .cpus = 2};
        for (size_t k = 0; k < SG_STOCKS_MAX; k++)
                w->node.stocks[k] = (struct sg_stock){.total = totals[k], .available = totals[k]};
        types_with_seats(w->types);
        w->n_stocks = seed % 2 ? SG_STOCKS_MAX : SG_N_STOCKS;
        check(w, sg_queue_new(&w->q, w->types, w->n_stocks) == 0);
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
        const uint64_t little[SG_STOCKS_MAX] = {[SG_STOCK_MEMORY] = 1, [SEATS] = 1};
        struct sg_queue_entry *e;
        uint64_t retry_usec, waiting;

        for (size_t i = 0; i < JOBS; i++)
                if (w->jobs[i].present)
                        sg_queue_change(w->q, &w->jobs[i].entry, 0, little);
        w->settings->memory_reserve_pm = 0;
        check(w, sg_queue_configure(w->q, w->settings) == 0);
        for (size_t k = 0; k < SG_STOCKS_MAX; k++)
                w->node.stocks[k].available = totals[k];
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
                                                                .need = {SG_UNLIMITED}};
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
