/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The governor: classes and their domains, what is put to the kernel, and what survives. */

#include "test_governor.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static double share_of(const struct world *w, uint64_t key)
{
        for (size_t i = 0; i < w->plan.n_jobs; i++)
                if (w->plan.jobs[i]->key == key)
                        return w->plan.jobs[i]->out.share;
        return NAN;
}

static uint32_t weight_of_class(const struct world *w, const char *name)
{
        for (size_t i = 0; i < w->plan.n_classes; i++)
                if (strcmp(w->plan.classes[i].name, name) == 0)
                        return w->plan.classes[i].weight;
        return 0;
}

static void test_classes_by_weight(void **state)
{
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_FAIR);
        class_of(&w, "train", 300, SG_SHARE_FAIR);
        configure(&w);
        add(&w, 1, "default", 10);
        add(&w, 2, "train", 10);
        add(&w, 3, "train", 10);
        step(&w, 10);
        assert_near(share_of(&w, 1), .25, 1e-3);
        assert_near(share_of(&w, 2), .375, 1e-3);
        assert_near(share_of(&w, 3), .375, 1e-3);
        assert_int_equal(weight_of_class(&w, "train"), 300);
        assert_int_equal(weight_of_class(&w, "default"), 100);
        sg_governor_free(w.g);
}

/* Under an order over both, a class is worth what its jobs are to have. */
static void test_classes_by_turns(void **state)
{
        struct sg_learner_report r = {.now = 10, .cpu = 5, .fraction = .9, .eval = 1};
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_SRPT);
        class_of(&w, "train", 300, SG_SHARE_SRPT);
        configure(&w);
        add(&w, 1, "default", 0);
        add(&w, 2, "train", 0);
        assert_int_equal(sg_governor_report(w.g, 1, &r), 0);
        step(&w, 10);
        assert_near((double)weight_of_class(&w, "train") / weight_of_class(&w, "default"),
                    share_of(&w, 2) / share_of(&w, 1), 1e-3);
        assert_int_equal(weight_of_class(&w, "default"), 10000);
        sg_governor_free(w.g);
}

/* Two policies share the node by their classes' weights; each sees a whole node. */
static void test_domains(void **state)
{
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_FAIR);
        class_of(&w, "train", 300, SG_SHARE_FLOWCON);
        configure(&w);
        add(&w, 1, "default", 0);
        add(&w, 2, "train", 0);
        add(&w, 3, "train", 0);
        step(&w, 0);
        assert_near(share_of(&w, 1), .25, 1e-3);
        assert_near(share_of(&w, 2) + share_of(&w, 3), .75, 1e-3);
        sg_governor_end(w.g, 1, 5, 1, SG_ENDED_WELL);
        step(&w, 5);
        assert_near(share_of(&w, 2) + share_of(&w, 3), 1, 1e-3);
        assert_true(isnan(share_of(&w, 1)));
        assert_int_equal(weight_of_class(&w, "default"), 0);
        sg_governor_free(w.g);
}

static void test_alone_keeps_its_weight(void **state)
{
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        step(&w, 0);
        assert_int_equal(w.plan.n_jobs, 0);
        assert_true(isinf(w.plan.next));
        add(&w, 1, "default", 0);
        step(&w, 0);
        assert_int_equal(w.plan.jobs[0]->out.weight, 100);
        assert_int_equal(weight_of_class(&w, "default"), 100);
        assert_near(share_of(&w, 1), 1, 1e-3);
        sg_governor_free(w.g);
}

static void test_held(void **state)
{
        struct world w;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_FAIR);
        configure(&w);
        add(&w, 1, "default", 0);
        add(&w, 2, "default", 0);
        sg_governor_hold(w.g, 1, 1, true);
        step(&w, 1);
        assert_near(share_of(&w, 2), 1, 1e-3);
        sg_governor_hold(w.g, 1, 2, false);
        step(&w, 2);
        assert_near(share_of(&w, 2), .5, 1e-3);
        sg_governor_free(w.g);
}

/* A change of policy takes over the jobs, of which nothing that was learnt is lost. */
static void test_policy_changes_live(void **state)
{
        struct sg_learner_report r = {.now = 50, .cpu = 25, .fraction = .5, .eval = 1};
        struct world w;
        double total;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_FAIR);
        configure(&w);
        add(&w, 1, "default", 0);
        add(&w, 2, "default", 0);
        assert_int_equal(sg_governor_report(w.g, 1, &r), 0);
        step(&w, 50);
        total = w.plan.jobs[0]->estimate.total;
        assert_near(total, 50, 1e-3);
        w.classes[0].settings.share = SG_SHARE_SRPT;
        configure(&w);
        step(&w, 51);
        assert_near(w.plan.jobs[0]->estimate.total, total, 1e-3);
        /* 25 s are left, of the other one nobody knows; it has its floor */
        assert_true(share_of(&w, 1) > .9);
        assert_int_equal(sg_governor_report(w.g, 3, &r), -ENOENT);
        sg_governor_free(w.g);
}

static const struct sg_decision *decision_of(const struct world *w, uint64_t key)
{
        for (size_t i = 0; i < w->plan.n_jobs; i++)
                if (w->plan.jobs[i]->key == key)
                        return w->plan.jobs[i];
        fail_msg("no decision on job %d", (int)key);
        return NULL;
}

/* What has been promised and counted outlives a change of the policy's parameters, as a restart. */
static void test_parameters_change_live(void **state)
{
        struct world w;
        double finish, due;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        for (uint64_t key = 1; key <= 3; key++)
                add(&w, key, "default", 0);
        for (unsigned i = 1; i <= 20; i++) {
                for (uint64_t key = 1; key <= 3; key++) {
                        struct sg_learner_report r = {.now = i,
                                                      .cpu = key == 1 ? i : .01 * i,
                                                      .fraction = key == 1 ? i / 40. : i / 4000.,
                                                      .eval = 1};

                        assert_int_equal(sg_governor_report(w.g, key, &r), 0);
                }
                step(&w, i);
        }
        finish = decision_of(&w, 1)->out.why.virtual_finish;
        due = decision_of(&w, 1)->out.why.due;
        assert_true(due > finish);
        assert_true(finish > 100);
        w.classes[0].settings.no_harm = .5;
        configure(&w);
        step(&w, 20);
        assert_near(decision_of(&w, 1)->out.why.virtual_finish, finish, 1e-3);
        assert_true(decision_of(&w, 1)->out.why.due > due);
        sg_governor_free(w.g);
}

/* Where nothing can change it is looked at ever less often, and at last once in MaxInterval=. */
static void test_back_off(void **state)
{
        struct world w;
        double now = 0, gap = 0, most;
        unsigned looks = 0;

        (void)state;
        world_new(&w);
        class_of(&w, "default", 100, SG_SHARE_GROWTH);
        configure(&w);
        most = w.classes[0].settings.max_interval;
        add(&w, 1, "default", 0);
        for (; gap < most && looks < 20; looks++) {
                sg_governor_count(w.g, 1, now, now);
                step(&w, now);
                gap = w.plan.next - now;
                now = w.plan.next;
        }
        assert_near(gap, most, 1e-3);
        /* Doubled each time, after a beginning that changed something. */
        assert_true(looks <= 3 + ceil(log2(most / w.classes[0].settings.tick)));
        for (unsigned i = 0; i < 100; i++, now = w.plan.next) {
                sg_governor_count(w.g, 1, now, now);
                step(&w, now);
                assert_near(w.plan.next - now, most, 1e-3);
        }
        add(&w, 2, "default", now); /* whatever happens begins it anew */
        step(&w, now);
        assert_true(w.plan.next - now <= w.classes[0].settings.tick);
        sg_governor_free(w.g);
}

static void same_plans(const struct sg_governor_plan *a, const struct sg_governor_plan *b)
{
        assert_int_equal(a->n_jobs, b->n_jobs);
        for (size_t i = 0; i < a->n_jobs; i++) {
                assert_near(a->jobs[i]->out.share, b->jobs[i]->out.share, 1e-3);
                assert_int_equal(a->jobs[i]->out.weight, b->jobs[i]->out.weight);
                assert_int_equal(a->jobs[i]->out.list, b->jobs[i]->out.list);
        }
}

static void survives(enum sg_share_kind share)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0};
        struct world a, b;

        world_new(&a);
        world_new(&b);
        class_of(&a, "default", 100, share);
        class_of(&b, "default", 100, share);
        configure(&a);
        configure(&b);
        for (uint64_t key = 1; key <= 3; key++)
                add(&a, key, "default", (double)key);
        for (double now = 5; now < 30; now += 2) {
                feed(&a, now);
                step(&a, now);
        }
        sg_governor_save(a.g, &saved);
        assert_int_equal(saved.error, 0);
        assert_int_equal(sg_governor_load(b.g, saved.data, saved.size, 30), 0);
        for (uint64_t key = 1; key <= 3; key++)
                add(&b, key, "default", (double)key);
        for (double now = 31; now < 60; now += 2) {
                feed(&a, now);
                feed(&b, now);
                step(&a, now);
                step(&b, now);
                same_plans(&a.plan, &b.plan);
        }
        sg_governor_free(a.g);
        sg_governor_free(b.g);
}

static void test_survives(void **state)
{
        (void)state;
        for (int share = 0; share < _SG_SHARE_MAX; share++)
                survives((enum sg_share_kind)share);
}

static size_t saved_size(const struct world *w)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};

        sg_governor_save(w->g, &r);
        return r.size;
}

/* What was known of an attempt isn't known of the next, nor kept for ever if there is none. */
static void test_another_attempt(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0};
        struct world a, b;
        size_t with_gone;

        (void)state;
        world_new(&a);
        world_new(&b);
        class_of(&a, "default", 100, SG_SHARE_GROWTH);
        class_of(&b, "default", 100, SG_SHARE_GROWTH);
        configure(&a);
        configure(&b);
        for (uint64_t key = 1; key <= 3; key++)
                add(&a, key, "default", 0);
        feed(&a, 5);
        step(&a, 5);
        sg_governor_save(a.g, &saved);
        assert_int_equal(sg_governor_load(b.g, saved.data, saved.size, 7), 0);
        for (uint64_t attempt = 1; attempt <= 2; attempt++) {
                const struct sg_governor_job j = {.key = attempt + 1,
                                                  .attempt = attempt - 1,
                                                  .class = "default",
                                                  .now = 7,
                                                  .arrival = attempt == 1 ? 0 : 7,
                                                  .cpus_max = INFINITY,
                                                  .weight = 100,
                                                  .deadline = INFINITY};

                assert_int_equal(sg_governor_add(b.g, &j), 0);
        }
        step(&b, 8);
        assert_true(b.plan.jobs[0]->estimate.n_reports > 0);
        assert_int_equal(b.plan.jobs[1]->estimate.n_reports, 0);
        assert_true(b.plan.jobs[1]->out.why.virtual_finish > 8);
        with_gone = saved_size(&b);
        step(&b, 400);
        assert_true(saved_size(&b) < with_gone - 100);
        sg_governor_free(a.g);
        sg_governor_free(b.g);
}

/* What a governor of one job knew at its end; w: its classes, for the next one. */
static void save_one(struct world *w, double end, struct sg_record *saved)
{
        world_new(w);
        class_of(w, "default", 100, SG_SHARE_GROWTH);
        configure(w);
        add(w, 1, "default", 0);
        step(w, end);
        sg_governor_save(w->g, saved);
        sg_governor_free(w->g);
}

/* Whatever a file of a former daemon holds, it is taken or refused. */
static void test_load_garbage(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0};
        struct world w;

        (void)state;
        save_one(&w, 1, &saved);
        for (size_t n = 0; n < saved.size; n++) {
                struct world fresh = w;
                _cleanup_free_ uint8_t *cut = malloc(n + 1);
                int r;

                assert_non_null(cut);
                memcpy(cut, saved.data, n);
                assert_int_equal(sg_governor_new(&fresh.g, 1), 0);
                configure(&fresh);
                r = sg_governor_load(fresh.g, cut, n, 2);
                assert_true(r == 0 || r == -EBADMSG);
                add(&fresh, 1, "default", 0);
                step(&fresh, 2);
                sg_governor_free(fresh.g);
        }
}

/* The clock goes on from where it was saved, or it is another one. */
static void test_load_of_the_future(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record saved = {0};
        struct world w;

        (void)state;
        save_one(&w, 10, &saved);
        assert_int_equal(sg_governor_new(&w.g, 1), 0);
        configure(&w);
        assert_int_equal(sg_governor_load(w.g, saved.data, saved.size, 9), -EBADMSG);
        add(&w, 1, "default", 9);
        step(&w, 9);
        assert_true(w.plan.next > 9);
        assert_true(isfinite(w.plan.next));
        sg_governor_free(w.g);
}

/* A minute of work by a deadline in 100 s: that is met on a whole node, not on half of one. */
static void test_deadline_on_a_part(void **state)
{
        (void)state;
        for (uint64_t others = 0; others <= 1; others++) {
                const struct sg_learner_report r = {
                        .now = 1, .cpu = 1, .fraction = 1. / 61, .eval = NAN};
                struct sg_governor_job j = {.key = 1,
                                            .class = "late",
                                            .cpus_max = INFINITY,
                                            .weight = 100,
                                            .deadline = 101};
                struct world w;

                world_new(&w);
                class_of(&w, "late", 100, SG_SHARE_DEADLINE);
                class_of(&w, "other", 100, SG_SHARE_GROWTH);
                configure(&w);
                assert_int_equal(sg_governor_add(w.g, &j), 0);
                if (others)
                        add(&w, 2, "other", 0);
                step(&w, 0);
                assert_int_equal(sg_governor_report(w.g, 1, &r), 0);
                step(&w, 1);
                assert_near(share_of(&w, 1), others ? .5 : 1, 1e-3);
                assert_int_equal(w.plan.jobs[0]->out.list == SG_LIST_DROPPED, others);
                sg_governor_free(w.g);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_classes_by_weight),
                cmocka_unit_test(test_classes_by_turns),
                cmocka_unit_test(test_domains),
                cmocka_unit_test(test_alone_keeps_its_weight),
                cmocka_unit_test(test_held),
                cmocka_unit_test(test_policy_changes_live),
                cmocka_unit_test(test_parameters_change_live),
                cmocka_unit_test(test_back_off),
                cmocka_unit_test(test_survives),
                cmocka_unit_test(test_another_attempt),
                cmocka_unit_test(test_load_garbage),
                cmocka_unit_test(test_load_of_the_future),
                cmocka_unit_test(test_deadline_on_a_part),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
