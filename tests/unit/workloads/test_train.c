/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The training jobs of tests/workloads/train: that they learn, and that what they print is read. */
#include "core/reports/preset.h"
#include "tests/unit/test.h"
#include "tests/workloads/train/say.h"
#include "tests/workloads/train/trainer.h"

#include <math.h>
#include <unistd.h>

#define DIFFERENCE 1e-5
#define CHECKED 80 /* weights per model */

static double *numbers(size_t n)
{
        double *p = calloc(n, sizeof(*p));

        assert_non_null(p);
        return p;
}

/* The loss of one sample, always the same one. */
static double loss_of(const struct model *m, const double *w, double *g)
{
        _cleanup_free_ double *scratch = numbers(m->n_scratch);
        struct nn_pass p = {.w = w, .g = g, .scratch = scratch};

        sg_rng_init(&p.rng, 4, 4);
        return m->sample(&p);
}

/* What is written by hand is held against the difference that a small change makes. */
static void check_gradient(const struct model *m)
{
        _cleanup_free_ double *w = numbers(m->n_weights), *g = numbers(m->n_weights);
        _cleanup_free_ double *unused = numbers(m->n_weights);
        unsigned checked = 0;
        struct sg_rng rng;

        sg_rng_init(&rng, 1, 2);
        m->init(w, &rng);
        (void)loss_of(m, w, g);
        for (unsigned tries = 0; checked < CHECKED && tries < 100 * CHECKED; tries++) {
                size_t i = sg_rng_below(&rng, (uint32_t)m->n_weights);
                double kept = w[i], up, down, slope;

                w[i] = kept + DIFFERENCE;
                up = loss_of(m, w, unused);
                w[i] = kept - DIFFERENCE;
                down = loss_of(m, w, unused);
                w[i] = kept;
                slope = (up - down) / (2 * DIFFERENCE);
                if (fabs(slope) < 1e-4)
                        continue;
                checked++;
                if (fabs(slope - g[i]) > 1e-4 * fabs(slope))
                        fail_msg("%s: weight %zu: %.9g, by differences %.9g", m->name, i, g[i],
                                 slope);
        }
        assert_int_equal(checked, CHECKED);
}

static void test_gradients(void **state)
{
        (void)state;
        for (const struct model *const *m = models; *m; m++)
                check_gradient(*m);
}

static struct trainer_options options_of(const struct model *m, double updates, double batch)
{
        return (struct trainer_options){
                .model = m,
                .work = updates * batch / m->per_second,
                .seed = 3,
                .updates = (unsigned)updates,
                .threads = 1,
        };
}

/* Mean losses of ten parts of a run, and the accuracy in the last one. */
static double run(const struct trainer_options *o, double losses[10])
{
        struct trainer t;
        double accuracy = 0, hits;

        assert_int_equal(trainer_init(&t, o), 0);
        for (size_t i = 0; i < 10; i++) {
                uint64_t n = t.updates / 10;

                losses[i] = accuracy = 0;
                for (uint64_t k = 0; k < n; k++) {
                        losses[i] += trainer_update(&t, &hits) / (double)n;
                        accuracy += hits / (double)n;
                }
        }
        trainer_deinit(&t);
        return accuracy;
}

static void test_learns(void **state)
{
        static const struct {
                const char *model;
                double first, last; /* at least that to begin with; at most that at the end */
                double accuracy;
        } cases[] = {
                {"vae", 150, 100, -1}, {"mlp", 1.9, .5, .95},   {"gru", .1, .02, -1},
                {"lstm", 4, 2.2, .35}, {"birnn", 1.2, .2, .95},
        };
        double losses[10], accuracy;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                const struct model *m = model_find(cases[i].model);
                struct trainer_options o = options_of(m, 400, 5);

                accuracy = run(&o, losses);
                if (losses[0] < cases[i].first || losses[9] > cases[i].last)
                        fail_msg("%s: %g … %g", m->name, losses[0], losses[9]);
                if (cases[i].accuracy < 0)
                        assert_true(isnan(accuracy));
                else
                        assert_true(accuracy >= cases[i].accuracy);
        }
}

static void test_same_with_threads(void **state)
{
        struct trainer_options o = options_of(&model_gru, 40, 7);
        double one[10], again[10], three[10];

        (void)state;
        (void)run(&o, one);
        (void)run(&o, again);
        assert_memory_equal(one, again, sizeof(one));
        o.threads = 3;
        (void)run(&o, three);
        for (size_t i = 0; i < 10; i++)
                assert_near(one[i], three[i], 1e-9 * one[i]);
}

/* The rate that is dropped was too high: the loss stands still before, and falls again behind. */
static void test_rate_drops(void **state)
{
        struct trainer_options o = options_of(&model_lstm, 400, 5);
        double losses[10];

        (void)state;
        o.drop_at = .5;
        (void)run(&o, losses);
        assert_true(losses[4] > .93 * losses[3]);
        assert_true(losses[6] < .9 * losses[4]);
}

static void test_work_is_batch_size(void **state)
{
        struct trainer_options o = options_of(&model_mlp, 200, 40);
        struct trainer t;

        (void)state;
        assert_int_equal(trainer_init(&t, &o), 0);
        assert_int_equal(t.updates, 200);
        assert_int_equal(t.batch, 40);
        trainer_deinit(&t);
        o.per_second = o.model->per_second / 4;
        assert_int_equal(trainer_init(&t, &o), 0);
        assert_int_equal(t.updates, 200);
        assert_int_equal(t.batch, 10);
        trainer_deinit(&t);
        o.work = 1e-9; /* one sample at least */
        assert_int_equal(trainer_init(&t, &o), 0);
        assert_int_equal(t.updates, 1);
        assert_int_equal(t.batch, 1);
        trainer_deinit(&t);
}

static void test_checkpoint(void **state)
{
        struct trainer_options o = options_of(&model_birnn, 40, 3);
        char path[] = "/tmp/sg-train-XXXXXX";
        double whole, hits, later = 0;
        struct trainer a, b;
        int fd = mkstemp(path);

        (void)state;
        assert_true(fd >= 0);
        (void)close(fd);
        assert_int_equal(trainer_init(&a, &o), 0);
        assert_int_equal(trainer_init(&b, &o), 0);
        assert_int_equal(trainer_load(&b, path), -EBADMSG);
        for (int i = 0; i < 15; i++)
                (void)trainer_update(&a, &hits);
        assert_int_equal(trainer_save(&a, path), 0);
        whole = trainer_update(&a, &hits);
        assert_int_equal(trainer_load(&b, path), 1);
        assert_int_equal(b.done, 15);
        later = trainer_update(&b, &hits);
        assert_memory_equal(&whole, &later, sizeof(whole));
        trainer_deinit(&b);
        o.seed++;
        assert_int_equal(trainer_init(&b, &o), 0);
        assert_int_equal(trainer_load(&b, path), -EBADMSG);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(trainer_load(&b, path), 0);
        trainer_deinit(&a);
        trainer_deinit(&b);
}

/* How far the parser takes the job to be: of its whole run. */
static double fraction(const struct sg_report *r)
{
        double part = r->has & SG_REPORT_TOTAL ? (double)r->step / (double)r->total : NAN;

        if (!(r->has & SG_REPORT_EPOCH))
                return part;
        return ((double)r->epoch - 1 + part) / (double)r->epochs;
}

static void feed_until(struct sg_log_parser *p, struct say *s, uint64_t begin, uint64_t end)
{
        char *text = NULL;
        size_t size;

        s->out = open_memstream(&text, &size);
        assert_non_null(s->out);
        for (uint64_t done = begin; done <= end; done += 5)
                say(s, (struct said){done, 1.0 / (double)done, .5, .125 * (double)done});
        assert_int_equal(fclose(s->out), 0);
        sg_log_parser_feed(p, text, size);
        sg_log_parser_settle(p);
        free(text);
}

static void check_style(enum style style, bool accuracy, enum sg_goal goal)
{
        struct say s = {.style = style, .accuracy = accuracy, .epochs = 10, .batches = 20};
        struct sg_log_parser p;

        assert_int_equal(sg_log_parser_init(&p, "auto", goal, NULL, NULL), 0);
        for (uint64_t done = 5; done <= 200; done += 15) {
                feed_until(&p, &s, done, done + 10 <= 200 ? done + 10 : done);
                if (done < 15)
                        continue;
                if (fabs(fraction(&p.report) -
                         (double)(done + 10 <= 200 ? done + 10 : done) / 200) > 1e-9)
                        fail_msg("%s: %g at %lu", style_names[style], fraction(&p.report), done);
        }
        if (goal == SG_GOAL_MAX)
                assert_true(p.report.eval == .5);
        else
                assert_near(p.report.eval, 1.0 / 200, 1e-6);
        sg_log_parser_deinit(&p);
}

static void test_lines_are_read(void **state)
{
        (void)state;
        for (enum style style = 0; style < _STYLE_MAX; style++) {
                check_style(style, false, SG_GOAL_MIN);
                check_style(style, true, SG_GOAL_MIN);
                check_style(style, true, SG_GOAL_MAX);
        }
}

static double claimed_at(enum claim claim, uint64_t done, double *ret_eval)
{
        struct say s = {.style = STYLE_PLAIN, .claim = claim, .epochs = 10, .batches = 20};
        struct sg_log_parser p;
        double x;

        assert_int_equal(sg_log_parser_init(&p, "plain", SG_GOAL_MIN, NULL, NULL), 0);
        feed_until(&p, &s, done, done);
        x = p.n_reports > 0 ? fraction(&p.report) : NAN;
        *ret_eval = p.report.eval;
        sg_log_parser_deinit(&p);
        return x;
}

static void test_claims(void **state)
{
        double eval;

        (void)state;
        assert_near(claimed_at(CLAIM_TRUTH, 100, &eval), .5, 1e-9);
        assert_true(isnan(claimed_at(CLAIM_NOTHING, 100, &eval)));
        assert_near(claimed_at(CLAIM_NAN, 100, &eval), .5, 1e-9);
        assert_true(isnan(eval));
        assert_true(claimed_at(CLAIM_NEAR, 10, &eval) > .89);
        assert_near(claimed_at(CLAIM_STALL, 190, &eval), .25, 1e-9);
        assert_near(claimed_at(CLAIM_BACK, 150, &eval), .25, 1e-9);
        assert_true(claimed_at(CLAIM_BACK, 200, &eval) > 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_gradients),          cmocka_unit_test(test_learns),
                cmocka_unit_test(test_same_with_threads),  cmocka_unit_test(test_rate_drops),
                cmocka_unit_test(test_work_is_batch_size), cmocka_unit_test(test_checkpoint),
                cmocka_unit_test(test_lines_are_read),     cmocka_unit_test(test_claims),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
