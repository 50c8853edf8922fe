/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What must hold for the queue whatever happens: random histories of additions, removals, changes,
 * reloads and starts, beside a model (model_fixture.h), on nodes with one stock and with two.
 * The seed of a failure is printed; SG_SEED=N runs that one alone.
 */
#include "tests/unit/core/queue/model_fixture.h"
#include "tests/unit/test.h"

#include <inttypes.h>

#define INSTANCES (2000U / TEST_SLOW)
#define STEPS 150
#define USERS 4
#define PATIENCE SG_QUEUE_PATIENCE_USEC

static const uint64_t totals[SG_STOCKS_MAX] = {[SG_STOCK_MEMORY] = 1000003, [SEATS] = 7};

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
        said->foreground = draw(w, 6) == 0;
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
        if (running && (!model_has_room(w, j) || !model_fits(w, &j->entry)))
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

                if (model_runs(j) && need[k] != SG_UNLIMITED &&
                    need[k] > own + model_promisable(w, k))
                        need[k] = own;
        }
        sg_queue_change(w->q, &j->entry, (int64_t)draw(w, 5) - 2, need);
}

static void step_use(struct world *w, struct job *j)
{
        uint64_t now = w->node.now_usec;
        struct sg_idle_view use = {.idle = draw(w, 2)};

        use.from_usec = use.idle ? now - draw(w, now) : now + 1 + draw(w, 2 * SG_IDLE_WINDOW_USEC);
        use.quiet = !use.idle && draw(w, 2);
        check(w,
              sg_queue_set_use(w->q, &j->entry, &use) == (model_runs(j) && use.idle && !j->idle));
        j->idle = model_runs(j) && use.idle;
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
        check(w, model_has_room(w, j));
        check(w, model_fits(w, e));
        check(w, model_ahead_of(w, j) == 0 || model_passes_its_head(w, j));
        for (size_t i = 0; i < JOBS && !model_any_short(w); i++) {
                const struct job *o = &w->jobs[i];

                if (model_waits(o) && o->uid != j->uid && model_has_room(w, o) &&
                    model_fits(w, &o->entry) && model_ahead_of(w, o) == 0)
                        check(w,
                              model_slots_of(w, j->uid, false) <= model_slots_of(w, o->uid, false));
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
        if (!model_has_slot(w, j)) { /* whoever is before it */
                check(w,
                      info.why == (j->entry.at_once ? SG_PENDING_USER_FULL : SG_PENDING_NODE_FULL));
                check(w, info.running == model_slots_before(w, j));
                check(w, info.max == w->settings->max_jobs);
                check(w, info.quiet == (j->entry.at_once ? 0 : model_count(w, model_is_quiet)));
        }
        if (info.why == SG_PENDING_TURN) {
                check(w, info.ahead == model_ahead_of(w, j) && info.ahead > 0);
                check(w, info.head == model_head_of(w, j)->entry.n);
                check(w, info.stock != NULL); /* which that waits for */
        }
        if (info.why == SG_PENDING_SHORT) {
                while (k < w->n_stocks && !model_lacks(w, &j->entry, k))
                        k++;
                check(w, info.stock == &w->types[k]); /* the first that isn't enough */
                check(w, info.free == model_promisable(w, k));
        }
        if (info.why == SG_PENDING_KEPT)
                check(w, kept && model_count(w, model_runs) > 0 && !j->entry.at_once);
        check(w, !model_has_room(w, j) || !model_fits(w, &j->entry) || model_ahead_of(w, j) > 0 ||
                         info.why == SG_PENDING_KEPT);
}

/* When the queue is to be looked at again after a pass. */
static uint64_t retry_at(const struct world *w, bool kept)
{
        uint64_t soon = w->node.now_usec + 1000000;
        uint64_t idle = w->node.now_usec + SG_IDLE_WINDOW_USEC;
        bool any = false;

        for (size_t i = 0; i < JOBS; i++) {
                const struct job *j = &w->jobs[i];

                any = any || (model_waits(j) && model_ahead_of(w, j) == 0 && !model_has_slot(w, j));
                if (model_has_slot_taken(j) && j->entry.idle_usec < idle)
                        idle = j->entry.idle_usec;
        }
        return kept ? soon : !any ? 0 : idle > soon ? idle : soon;
}

/* After the last start of a pass: nothing that could start was left, and everybody has a reason. */
static void check_quiet(struct world *w, uint64_t retry_usec)
{
        bool kept = model_any_short(w);

        check(w, retry_usec == retry_at(w, kept));
        for (size_t i = 0; i < JOBS; i++) {
                const struct job *j = &w->jobs[i];

                if (!model_waits(j))
                        continue;
                check_reason(w, j, kept);
                /* Nobody waits behind heads that lack only what it doesn't want. */
                if (model_has_room(w, j) && model_fits(w, &j->entry) &&
                    !model_any_short_competes(w, &j->entry))
                        check(w,
                              model_ahead_of(w, j) > 0 && !model_is_short(w, model_head_of(w, j)));
        }
}

static void check_accounts(struct world *w)
{
        check(w, sg_queue_n_waiting(w->q) == model_count(w, model_waits));
        check(w, sg_queue_n_running(w->q) == model_count(w, model_runs));
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
        check(w, !e || e == &j->entry || model_ahead_of(w, j) == 0);
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
        else if (what <= 13 && model_runs(j))
                step_use(w, j);
        else {
                sg_queue_remove(w->q, &j->entry);
                j->present = j->idle = false;
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
        for (waiting = model_count(w, model_waits); waiting > 0; waiting--) {
                for (size_t i = 0; i < JOBS; i++)
                        if (model_runs(&w->jobs[i])) {
                                sg_queue_remove(w->q, &w->jobs[i].entry);
                                w->jobs[i].present = w->jobs[i].idle = false;
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
