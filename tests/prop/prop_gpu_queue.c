/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queue, placement and account of GPUs together: jobs of all kinds come and go on random nodes, on
 * which others use GPUs, too. Held against a ledger of its own: no GPU is promised beyond its
 * memory, whole ones and instances have one job, no user holds more than the class allows, nobody
 * who wants no GPU is held up, whoever is wide has its turn, and the order in which things were
 * said makes no difference.
 */
#include "core/gpu/account.h"
#include "core/queue/queue.h"
#include "tests/prop/prop.h"
#include "tests/unit/core/gpu/node.h"

#define MANY 400
#define STEPS 120
#define JOBS 48
#define USERS 4
#define MINUTE (60ULL * 1000000)

struct job {
        struct sg_queue_entry entry;
        struct sg_gpu_request r;
        struct sg_gpu_choice c;
        char mig[16];
        uint64_t ends_usec, arrived_usec;
        uint64_t uid;
        bool present;
};

struct world {
        struct gpu_node node;
        struct sg_settings *settings;
        struct sg_queue *q;
        struct sg_gpu_account *account;
        struct sg_node_snapshot snapshot;
        struct job jobs[JOBS];
        uint64_t last_n;
        uint64_t allowed; /* GPUs that one user may hold */
};

static struct world w;

static void look(void)
{
        w.node.inventory.looked_usec = w.snapshot.now_usec;
        prop_check(sg_gpu_account_look(w.account, &w.node.inventory, NULL, 0,
                                       w.snapshot.now_usec) == 0);
}

static void begin(struct sg_rng *rng, bool with_mig)
{
        memset(&w, 0, sizeof(w));
        node_make(&w.node, 2 + sg_rng_below(rng, 7));
        for (size_t i = 0; with_mig && i < w.node.inventory.n; i++) {
                if (sg_rng_below(rng, 4) == 0)
                        node_board(&w.node, i, "T4", 16 * GIB);
                if (sg_rng_below(rng, 4) == 0)
                        for (size_t k = 0; k < 3; k++)
                                node_add_instance(&w.node, i, k ? "1g.10gb" : "3g.40gb",
                                                  (k ? 10 : 40) * GIB);
        }
        prop_check(sg_settings_new(&w.settings, "host") == 0);
        w.settings->max_jobs = 1000;
        w.allowed = with_mig && sg_rng_below(rng, 2) ? 3 + sg_rng_below(rng, 4) : SG_UNLIMITED;
        ((struct sg_class *)sg_settings_default(w.settings))->gpus.max_per_user = w.allowed;
        prop_check(sg_queue_new(&w.q, sg_stock_types, SG_N_STOCKS) == 0);
        prop_check(sg_queue_configure(w.q, w.settings) == 0);
        prop_check(sg_gpu_account_new(&w.account) == 0);
        w.snapshot = (struct sg_node_snapshot){
                .now_usec = 1000 * MINUTE,
                .cpus = 4,
                .stocks = {[SG_STOCK_MEMORY] = {.total = 1 << 30, .available = 1 << 30}},
                .gpus = sg_gpu_account_pool(w.account),
        };
        look();
}

static void finish(void)
{
        for (size_t i = 0; i < JOBS; i++)
                sg_queue_remove(w.q, &w.jobs[i].entry);
        sg_queue_free(w.q);
        sg_gpu_account_free(w.account);
        sg_settings_free(w.settings);
}

/* What happens */

static struct job *spare(void)
{
        for (size_t i = 0; i < JOBS; i++)
                if (!w.jobs[i].present)
                        return &w.jobs[i];
        return NULL;
}

static void submit(struct job *j, const struct sg_gpu_request *r, uint64_t uid, uint64_t limit)
{
        *j = (struct job){.present = true, .uid = uid, .arrived_usec = w.snapshot.now_usec};
        j->entry.n = ++w.last_n;
        j->entry.limit_usec = limit;
        if (r) {
                j->r = *r;
                j->entry.gpu = &j->r;
                if (r->mig) {
                        strcpy(j->mig, r->mig);
                        j->r.mig = j->mig;
                }
        }
        prop_check(sg_queue_add(w.q, &j->entry, "default", uid, false) == 0);
}

static struct sg_gpu_request draw_request(struct sg_rng *rng)
{
        size_t n = w.node.inventory.n;

        switch (sg_rng_below(rng, 6)) {
        case 0:
                return want_part(5 + sg_rng_below(rng, 91), (1 + sg_rng_below(rng, 60)) * GIB);
        case 1:
                return want_mig((char *)(sg_rng_below(rng, 2) ? "1g.10gb" : "2g.20gb"));
        case 2:
                return want_ids((char *)(sg_rng_below(rng, 2) ? "0" : "1,0"));
        case 3:
                return want(1, 1 + sg_rng_below(rng, (uint32_t)n));
        default:
                return want(1 + sg_rng_below(rng, 3), 3);
        }
}

static void step_submit(struct sg_rng *rng)
{
        struct job *j = spare();
        struct sg_gpu_request r = draw_request(rng);

        if (j && sg_gpu_could_fit(w.snapshot.gpus, &r, NULL))
                submit(j, sg_rng_below(rng, 5) ? &r : NULL, 1 + sg_rng_below(rng, USERS),
                       sg_rng_below(rng, 2) ? (1 + sg_rng_below(rng, 60)) * MINUTE : 0);
}

static void end(struct job *j)
{
        uint64_t n = j->entry.n;
        bool had = j->entry.running && j->entry.gpu;

        sg_queue_remove(w.q, &j->entry);
        j->present = false;
        if (had)
                sg_gpu_account_release(w.account, n, 1, true, w.snapshot.now_usec);
}

static void step_end(struct sg_rng *rng)
{
        struct job *j = &w.jobs[sg_rng_below(rng, JOBS)];

        if (j->present)
                end(j);
}

static void step_trouble(struct sg_rng *rng)
{
        size_t i = sg_rng_below(rng, (uint32_t)w.node.inventory.n);
        struct sg_gpu *g = &w.node.gpus[i];

        switch (sg_rng_below(rng, 4)) {
        case 0:
                g->n_processes = 0;
                g->memory_used = 0;
                node_add_process(&w.node, i, 7, (1 + sg_rng_below(rng, 20)) * GIB);
                break;
        case 1:
                g->n_processes = 0;
                g->memory_used = 0;
                break;
        case 2:
                g->lost = !g->lost;
                break;
        default:
                prop_check(sg_gpu_account_drain(w.account, g->uuid, sg_rng_below(rng, 2) > 0,
                                                w.snapshot.now_usec) == 0);
        }
}

/* The ledger */

static bool is_on(const struct job *j, size_t gpu)
{
        for (size_t k = 0; k < j->c.n; k++)
                if (j->c.gpus[k] == gpu)
                        return true;
        return false;
}

static void check_gpu(size_t gpu)
{
        const struct sg_gpu *g = &w.node.gpus[gpu];
        uint64_t hundredths = 0, memory = 0;
        unsigned instances = 0;

        for (size_t i = 0; i < JOBS; i++) {
                const struct job *j = &w.jobs[i];

                if (!j->present || !j->entry.running || !j->entry.gpu || !is_on(j, gpu))
                        continue;
                if (j->c.instance != SG_GPU_NONE) {
                        prop_check(!(instances & (1U << j->c.instance)));
                        instances |= 1U << j->c.instance;
                        continue;
                }
                prop_check(!g->mig);
                hundredths += j->r.share;
                memory += j->r.memory_bytes == SG_UNLIMITED ? 0 : j->r.memory_bytes;
        }
        prop_check(hundredths <= SG_GPU_WHOLE);
        prop_check(memory <= g->memory_total);
}

static void check_user(uint64_t uid)
{
        uint64_t hundredths = 0;

        for (size_t i = 0; i < JOBS; i++)
                if (w.jobs[i].present && w.jobs[i].entry.running && w.jobs[i].uid == uid)
                        hundredths += w.jobs[i].entry.gpu_hundredths;
        prop_check(w.allowed == SG_UNLIMITED || hundredths <= w.allowed * SG_GPU_WHOLE);
}

static void check_start(const struct job *j)
{
        const struct sg_gpu *first = &w.node.gpus[j->c.gpus[0]];
        uint64_t seen = 0;

        prop_check(j->c.n >= j->r.min && j->c.n <= j->r.max);
        for (size_t k = 0; k < j->c.n; k++) {
                const struct sg_gpu *g = &w.node.gpus[j->c.gpus[k]];
                const struct sg_gpu_status *s = sg_gpu_account_find(w.account, g->uuid);

                prop_check(!(seen & (1ULL << j->c.gpus[k])));
                seen |= 1ULL << j->c.gpus[k];
                prop_check(s->state == SG_GPU_STATE_OK);
                prop_check(j->r.ids || strcmp(g->name, first->name) == 0);
                prop_check(j->r.share < SG_GPU_WHOLE || j->r.mig || g->n_processes == 0);
                prop_check(j->r.memory_bytes == SG_UNLIMITED || s->free != SG_GPU_UNKNOWN);
                prop_check(j->r.memory_bytes == SG_UNLIMITED || j->r.memory_bytes <= s->free);
        }
}

static struct job *start_next(void)
{
        uint64_t retry;
        struct sg_queue_entry *e = sg_queue_next(w.q, &w.snapshot, &retry);
        struct job *j = e ? sg_list_entry(e, struct job, entry) : NULL;
        struct sg_gpu_claim c = {.attempt = 1, .idle_limit_usec = SG_UNLIMITED};
        _cleanup_free_ char *uuids = NULL;

        if (!j || !e->gpu)
                return j;
        j->c = *sg_queue_choice(w.q);
        check_start(j);
        prop_check(sg_gpu_choice_uuids(w.snapshot.gpus, &j->c, &uuids) == 0);
        c.job = e->n;
        c.share = j->r.share;
        c.memory_bytes = j->r.memory_bytes;
        c.gpus = uuids;
        prop_check(sg_gpu_account_claim(w.account, &c, w.snapshot.now_usec) == 0);
        return j;
}

static void check_waiting(void)
{
        for (size_t i = 0; i < JOBS; i++) {
                struct job *j = &w.jobs[i];
                struct sg_pending_info info;

                if (!j->present || j->entry.running)
                        continue;
                prop_check(j->entry.gpu != NULL); /* nobody else waits: there is room for all */
                sg_queue_explain(w.q, &j->entry, &w.snapshot, &info);
                prop_check(info.why == SG_PENDING_GPUS || info.why == SG_PENDING_KEPT ||
                           info.why == SG_PENDING_TURN || info.why == SG_PENDING_CLASS_USER_GPUS);
                prop_check(info.why != SG_PENDING_CLASS_USER_GPUS || info.max == w.allowed);
                prop_check(info.until_n == 0 || info.until_usec >= w.snapshot.now_usec);
        }
}

static void nothing_is_given_twice(struct sg_rng *rng)
{
        begin(rng, true);
        for (unsigned step = 0; step < STEPS; step++) {
                switch (sg_rng_below(rng, 8)) {
                case 0:
                case 1:
                        step_end(rng);
                        break;
                case 2:
                        step_trouble(rng);
                        break;
                default:
                        step_submit(rng);
                }
                w.snapshot.now_usec += sg_rng_below(rng, 3 * MINUTE);
                look();
                while (start_next()) {
                        for (size_t i = 0; i < w.node.inventory.n; i++)
                                check_gpu(i);
                        for (uint64_t uid = 1; uid <= USERS; uid++)
                                check_user(uid);
                }
                check_waiting();
        }
        finish();
}

/* Wide jobs among a stream of small ones, more than there is room for, of which nobody knows how
 * long they take. */
static void wide_ones_have_their_turn(struct sg_rng *rng)
{
        const uint64_t longest = 30 * MINUTE;
        bool limits = sg_rng_below(rng, 2);
        struct sg_gpu_request all, one = want(1, 1);
        uint64_t most;
        struct job *wide;

        begin(rng, false);
        all = want(w.node.inventory.n, w.node.inventory.n);
        most = w.snapshot.now_usec + SG_QUEUE_PATIENCE_USEC + (USERS + 3) * longest;
        wide = &w.jobs[0];
        submit(wide, &all, 1, 0);
        wide->present = true;
        for (unsigned i = 0; i < 400 && !wide->entry.running; i++) {
                struct job *j;

                for (unsigned k = 0; k < 4 && (j = spare()); k++)
                        submit(j, &one, 1 + sg_rng_below(rng, USERS), limits ? longest : 0);
                if (i == 0) { /* the small ones are there first */
                        sg_queue_remove(w.q, &wide->entry);
                        while ((j = start_next()))
                                j->ends_usec = w.snapshot.now_usec + 1 +
                                               sg_rng_below(rng, (uint32_t)longest);
                        submit(wide, &all, 1, 0);
                }
                while ((j = start_next()))
                        j->ends_usec =
                                w.snapshot.now_usec + 1 + sg_rng_below(rng, (uint32_t)longest);
                w.snapshot.now_usec += MINUTE;
                for (size_t k = 1; k < JOBS; k++)
                        if (w.jobs[k].present && w.jobs[k].entry.running &&
                            w.jobs[k].ends_usec <= w.snapshot.now_usec)
                                end(&w.jobs[k]);
                if (sg_rng_below(rng, 3) > 0)
                        (void)start_next(); /* while what has ended isn't quite gone */
                look();
                prop_check(w.snapshot.now_usec <= most);
        }
        prop_check(wide->entry.running);
        finish();
}

/* Claims, owners and the driver's own order. */
static void order_makes_no_difference(struct sg_rng *rng)
{
        struct sg_gpu_claim claims[6];
        struct sg_gpu_choice choices[2] = {{0}, {0}};
        char uuids[6][SG_GPU_TEXT_MAX];
        struct sg_gpu_request r;
        size_t n = 0;
        bool placed[2];

        begin(rng, true);
        r = draw_request(rng);
        finish();
        for (size_t i = 0; i < w.node.inventory.n && n < 6; i++) {
                strcpy(uuids[n], w.node.gpus[i].uuid);
                if (sg_rng_below(rng, 2))
                        continue;
                claims[n] = (struct sg_gpu_claim){.job = n + 1,
                                                  .attempt = 1,
                                                  .share = 25 * (1 + sg_rng_below(rng, 4)),
                                                  .memory_bytes = GIB,
                                                  .idle_limit_usec = SG_UNLIMITED,
                                                  .gpus = uuids[n]};
                n++;
        }
        for (unsigned time = 0; time < 2; time++) {
                struct sg_gpu_account *a;

                prop_check(sg_gpu_account_new(&a) == 0);
                for (size_t i = 0; i < w.node.inventory.n; i++)
                        w.node.gpus[i].index = r.ids ? i : time ? w.node.inventory.n - 1 - i : i;
                for (size_t k = 0; k < n; k++)
                        prop_check(sg_gpu_account_claim(a, &claims[time ? n - 1 - k : k], 1) == 0);
                prop_check(sg_gpu_account_look(a, &w.node.inventory, NULL, 0, 2) == 0);
                placed[time] = sg_gpu_place(sg_gpu_account_pool(a), &r, &choices[time]);
                sg_gpu_account_free(a);
        }
        prop_check(placed[0] == placed[1]);
        prop_check(memcmp(&choices[0], &choices[1], sizeof(choices[0])) == 0);
}

static void test_nothing_is_given_twice(void **state)
{
        (void)state;
        prop_each(MANY, nothing_is_given_twice);
}

static void test_wide_ones_have_their_turn(void **state)
{
        (void)state;
        prop_each(MANY, wide_ones_have_their_turn);
}

static void test_order_makes_no_difference(void **state)
{
        (void)state;
        prop_each(MANY, order_makes_no_difference);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_nothing_is_given_twice),
                cmocka_unit_test(test_wide_ones_have_their_turn),
                cmocka_unit_test(test_order_makes_no_difference),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
