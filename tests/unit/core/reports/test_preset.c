/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole logs, as the frameworks print them (tests/data/progress), and single lines of each kind. */

#include "base/file.h"
#include "base/parse.h"
#include "core/reports/preset.h"
#include "core/reports/progress.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ALL (SG_REPORT_EVAL | SG_REPORT_STEP | SG_REPORT_TOTAL | SG_REPORT_EPOCH | SG_REPORT_EPOCHS)
#define RUN (SG_REPORT_EVAL | SG_REPORT_STEP | SG_REPORT_TOTAL)
#define STEPS (SG_REPORT_EVAL | SG_REPORT_STEP)

static char *load(const char *name, size_t *ret_n)
{
        char path[256];
        char *data = NULL;

        assert_return_code(sg_path_join(path, sizeof(path), "tests/data/progress", name), 0);
        if (sg_read_file(AT_FDCWD, path, 1 << 20, &data, ret_n) < 0)
                fail_msg("cannot read %s", path);
        return data;
}

static void feed_pieces(struct sg_log_parser *p, const char *data, size_t n, size_t piece)
{
        for (size_t at = 0; at < n; at += piece)
                sg_log_parser_feed(p, data + at, piece < n - at ? piece : n - at);
}

/* What a report says in the end. */
struct said {
        uint32_t has;
        double eval;
        uint64_t step, total, epoch, epochs;
};

static void assert_report(const struct sg_report *got, const struct said *want)
{
        assert_int_equal(got->has & ~(uint32_t)SG_REPORT_RANGE, want->has);
        if (want->has & SG_REPORT_EVAL && !(isnan(want->eval) && isnan(got->eval)) &&
            !(fabs(got->eval - want->eval) <= 1e-5))
                fail_msg("eval is %.17g, not %.17g", got->eval, want->eval);
        if (want->has & SG_REPORT_STEP)
                assert_int_equal(got->step, want->step);
        if (want->has & SG_REPORT_TOTAL)
                assert_int_equal(got->total, want->total);
        if (want->has & SG_REPORT_EPOCH)
                assert_int_equal(got->epoch, want->epoch);
        if (want->has & SG_REPORT_EPOCHS)
                assert_int_equal(got->epochs, want->epochs);
}

static const struct log {
        const char *file, *matched;
        struct said end;
        uint64_t reports;
} logs[] = {
        {"keras-2.log", "keras", {ALL, 0.172, 60, 60, 3, 3}, 183},
        {"keras-3.log", "keras", {ALL, 0.172, 60, 60, 3, 3}, 183},
        {"keras-verbose-2.log", "keras", {ALL, 0.172, 469, 469, 5, 5}, 10},
        {"lightning.log", "lightning", {RUN | SG_REPORT_EPOCH, 0.172, 60, 60, 4, 0}, 515},
        {"huggingface.log", "huggingface", {RUN, 0.172, 150, 150, 0, 0}, 213},
        {"huggingface-steps.log", "huggingface", {STEPS, 0.171961, 150, 0, 0, 0}, 27},
        {"tqdm.log", "tqdm", {RUN, 0.175, 200, 200, 0, 0}, 202},
        {"tqdm-nested.log", "tqdm", {ALL, 0.177, 40, 40, 3, 3}, 128},
        {"tqdm-per-epoch.log", "tqdm", {ALL, 0.172, 50, 50, 3, 3}, 172},
        {"tqdm-no-total.log", "tqdm", {SG_REPORT_STEP, 0, 60, 0, 0, 0}, 62},
        {"xgboost.log", "xgboost", {STEPS, 0.07248, 40, 0, 0, 0}, 40},
        {"xgboost-cv.log", "xgboost", {STEPS, 0.07068, 20, 0, 0, 0}, 20},
        {"lightgbm.log", "lightgbm", {STEPS, 0.164511, 30, 0, 0, 0}, 31},
        {"lightgbm-cv.log", "lightgbm", {STEPS, 0.164511, 30, 0, 0, 0}, 30},
        {"lightgbm-cli.log", "lightgbm", {STEPS, 0.164511, 20, 0, 0, 0}, 40},
        {"lightgbm-r.log", "lightgbm", {STEPS, 0.164511, 30, 0, 0, 0}, 30},
        {"plain-gpt.log", "plain", {STEPS, 0.3290, 500, 0, 0, 0}, 57},
        {"plain-tutorial.log", "plain", {ALL, 0.1645, 600, 600, 5, 5}, 30},
        {"plain-mnist.log", "plain", {RUN | SG_REPORT_EPOCH, 0.184507, 57600, 60000, 3, 0}, 33},
        {"plain-imagenet.log", "plain", {RUN | SG_REPORT_EPOCH, 0.1646, 5001, 5005, 3, 0}, 33},
        {"plain-quickstart.log",
         "plain",
         {RUN | SG_REPORT_EPOCH, 0.164511, 57664, 60000, 3, 0},
         36},
        {"plain-global-steps.log", "plain", {RUN, 0.16451, 500, 500, 0, 0}, 50},
        {"plain-epochs.log", "plain", {SG_REPORT_EVAL | SG_REPORT_EPOCH, 0.183, 0, 0, 20, 0}, 20},
        {"plain-sklearn.log", "plain", {STEPS, 0.16451071, 40, 0, 0, 0}, 40},
        {"download.log", NULL, {0}, 0},
        {"ordinary.log", NULL, {0}, 0},
};

static void check_log(const struct log *l, const char *preset, const char *data, size_t n,
                      size_t piece)
{
        struct sg_log_parser p;

        assert_return_code(sg_log_parser_init(&p, preset, SG_GOAL_MIN, NULL, NULL), 0);
        feed_pieces(&p, data, n, piece);
        sg_log_parser_settle(&p);
        if (!l->matched)
                assert_null(p.matched);
        else if (!p.matched || strcmp(p.matched, l->matched) != 0)
                fail_msg("%s is %s", l->file, p.matched ? p.matched : "nothing");
        assert_report(&p.report, &l->end);
        /* A fixed one doesn't care for others' bars before its own. */
        if (p.fixed < 0)
                assert_int_equal(p.n_reports, l->reports);
        sg_log_parser_deinit(&p);
}

static void test_logs(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(logs); i++) {
                _cleanup_free_ char *data = NULL;
                size_t n;

                print_message("%s\n", logs[i].file);
                data = load(logs[i].file, &n);
                check_log(&logs[i], "auto", data, n, n);
                check_log(&logs[i], "auto", data, n, 1);
                check_log(&logs[i], "auto", data, n, 4093);
                if (logs[i].matched)
                        check_log(&logs[i], logs[i].matched, data, n, 61);
        }
}

/* One line and what it gives; has == 0: nothing. */
static const struct line {
        const char *preset;
        enum sg_goal goal;
        const char *text;
        struct said want;
} lines[] = {
        {"keras",
         SG_GOAL_MIN,
         "12/100 [====>...] - ETA: 3s - loss: 0.43 - accuracy: 0.9 - val_loss: 0.5",
         {RUN, 0.43, 12, 100, 0, 0}},
        {"keras",
         SG_GOAL_MAX,
         " 12/100 ━━━━━ 3s 25ms/step - accuracy: 0.9 - loss: 0.43",
         {RUN, 0.9, 12, 100, 0, 0}},
        {"keras",
         SG_GOAL_MIN,
         "     7/Unknown - 3s 25ms/step - loss: 4.3e-04",
         {STEPS, 4.3e-4, 7, 0, 0, 0}},
        {"keras",
         SG_GOAL_MIN,
         "12/100 [====>....] - ETA: 1:02:03 - loss: nan",
         {RUN, (double)NAN, 12, 100, 0, 0}},
        {"lightning",
         SG_GOAL_MIN,
         "Epoch 3:  45%|████▌     | 45/100 [00:10<00:12,  4.4it/s, v_num=0, "
         "train_loss=0.123]",
         {RUN | SG_REPORT_EPOCH, 0.123, 45, 100, 4, 0}},
        {"lightning",
         SG_GOAL_MIN,
         "Epoch 3/9  ━━━━━━━━╸━━━━━━ 45/100 0:00:10 • 0:00:12 4.40it/s v_num: 0.000 "
         "train_loss: 0.123",
         {ALL, 0.123, 45, 100, 4, 10}},
        {"lightning",
         SG_GOAL_MIN,
         "Validation DataLoader 0:  50%|█ | 6/12 [00:00<00:00, 10it/s]",
         {0}},
        {"huggingface",
         SG_GOAL_MIN,
         "{'loss': 0.5, 'grad_norm': 2.5, 'learning_rate': 5e-05, 'epoch': 1.0}",
         {SG_REPORT_EVAL, 0.5, 0, 0, 0, 0}},
        {"huggingface",
         SG_GOAL_MIN,
         "  5%|▌  | 25/500 [00:05<01:40,  4.7it/s]{'loss': '0.5', 'epoch': '1.0'}",
         {RUN, 0.5, 25, 500, 0, 0}},
        {"huggingface",
         SG_GOAL_MIN,
         "[INFO|trainer_tf.py:398] 2021-01-15 10:28:50,371 >> {'loss': 0.6347228, 'learning_rate': "
         "4.891304e-05, 'epoch': 0.08695652173913043, 'step': 10}",
         {STEPS, 0.6347228, 10, 0, 0, 0}},
        {"huggingface",
         SG_GOAL_MIN,
         " 60%|######    | 300/500 [01:00<00:40,  5.0it/s]{'loss': 0.5, 'epoch': 3.0, 'step': 301}",
         {RUN, 0.5, 301, 500, 0, 0}},
        {"huggingface",
         SG_GOAL_MIN,
         "{'train_runtime': 12.5, 'train_loss': 0.7, 'epoch': 3.0, 'step': 500}",
         {SG_REPORT_STEP, 0, 500, 0, 0, 0}},
        {"huggingface",
         SG_GOAL_MIN,
         "{'loss': 0.5, 'epoch': 3.0, 'step': 2.5}",
         {SG_REPORT_EVAL, 0.5, 0, 0, 0, 0}},
        {"huggingface", SG_GOAL_MIN, "Iteration:  20%|## | 10/50 [00:08<00:32,  1.25it/s]", {0}},
        {"huggingface",
         SG_GOAL_MAX,
         "{'eval_loss': 0.4, 'eval_accuracy': 0.8, 'epoch': 1.0}",
         {SG_REPORT_EVAL, 0.8, 0, 0, 0, 0}},
        {"tqdm",
         SG_GOAL_MIN,
         " 45%|#### | 1.23k/10.0k [1:02:03<00:12, 4.4it/s, loss=-2.5e-3]",
         {RUN, -2.5e-3, 1230, 10000, 0, 0}},
        {"tqdm",
         SG_GOAL_MIN,
         "Epoch 2/5:  50%|## | 5/10 [00:10<?, ?s/it]",
         {ALL & ~SG_REPORT_EVAL, 0, 5, 10, 2, 5}},
        {"tqdm", SG_GOAL_MIN, " 50%|## | 5/10 [00:10<00:10, 2.5MB/s]", {0}},
        {"xgboost",
         SG_GOAL_MIN,
         "[12]\ttrain-rmse:0.123\tvalid-rmse:0.2",
         {STEPS, 0.123, 12, 0, 0, 0}},
        {"xgboost",
         SG_GOAL_MAX,
         "12:00:01 INFO [3]\tvalidation_0-auc:0.9\tmy-train-auc:1",
         {STEPS, 0.9, 3, 0, 0, 0}},
        {"xgboost",
         SG_GOAL_MAX,
         "[3]\teval-ndcg@10-:0.5\ttrain-ndcg@10-:0.6",
         {STEPS, 0.6, 3, 0, 0, 0}},
        {"xgboost", SG_GOAL_MIN, "[3]\tvalid-mine:0.25+0.01", {STEPS, 0.25, 3, 0, 0, 0}},
        {"xgboost", SG_GOAL_MIN, "[3]\tvalid-rmse:0.25 and more", {0}},
        {"lightgbm", SG_GOAL_MIN, "[12]\tvalid_0's l2: 0.123", {STEPS, 0.123, 12, 0, 0, 0}},
        {"lightgbm", SG_GOAL_MAX, "[7]\tcv_agg's valid auc: 0.9 + 0.01", {STEPS, 0.9, 7, 0, 0, 0}},
        {"plain", SG_GOAL_MIN, "step 3/10 loss=0.5", {RUN, 0.5, 3, 10, 0, 0}},
        {"plain",
         SG_GOAL_MIN,
         "loss=0.5 step=3/10 epoch 2",
         {RUN | SG_REPORT_EPOCH, 0.5, 3, 10, 2, 0}},
        {"plain",
         SG_GOAL_MIN,
         "epoch: 2 loss: 1e-3",
         {SG_REPORT_EVAL | SG_REPORT_EPOCH, 1e-3, 0, 0, 2, 0}},
        {"plain", SG_GOAL_MIN, "iter 100: loss 0.5, time 20ms", {STEPS, 0.5, 100, 0, 0, 0}},
        {"plain", SG_GOAL_MIN, "step 5: val loss 2.5, train loss 2.4", {STEPS, 2.4, 5, 0, 0, 0}},
        {"plain",
         SG_GOAL_MIN,
         "Epoch 3 of 10, loss: tensor(0.25, device='cuda:0')",
         {ALL & ~(SG_REPORT_STEP | SG_REPORT_TOTAL), 0.25, 0, 0, 3, 10}},
        {"plain", SG_GOAL_MAX, "step 3: loss 0.5 accuracy: 97.5%", {STEPS, 97.5, 3, 0, 0, 0}},
        {"plain", SG_GOAL_MIN, "step 18446744073709551616 loss 1", {SG_REPORT_EVAL, 1, 0, 0, 0, 0}},
        {"auto", SG_GOAL_MIN, "step 3/10: loss of connection", {0}},
        {"auto", SG_GOAL_MIN, "loss: 0.5", {0}},
        {"auto", SG_GOAL_MIN, "2026-11-18 12:00:00 epoch 5/10/2026 loss 3", {0}},
};

static void check_line(const struct line *l)
{
        struct sg_log_parser p;

        print_message("%s: %s\n", l->preset, l->text);
        assert_return_code(sg_log_parser_init(&p, l->preset, l->goal, NULL, NULL), 0);
        sg_log_parser_feed(&p, l->text, strlen(l->text));
        sg_log_parser_feed(&p, "\n", 1);
        assert_report(&p.report, &l->want);
        sg_log_parser_deinit(&p);
}

static void test_lines(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(lines); i++)
                check_line(&lines[i]);
}

static void feed_text(struct sg_log_parser *p, const char *text)
{
        sg_log_parser_feed(p, text, strlen(text));
}

static void test_not_finite(void **state)
{
        struct sg_log_parser p;

        (void)state;
        assert_return_code(sg_log_parser_init(&p, "auto", SG_GOAL_MIN, NULL, NULL), 0);
        feed_text(&p, "step 1 loss nan\n");
        assert_true(isnan(p.report.eval));
        feed_text(&p, "step 2 loss -inf\n");
        assert_true(isinf(p.report.eval));
        assert_true(p.report.eval < 0);
        assert_int_equal(p.report.step, 2);
        sg_log_parser_deinit(&p);
}

/* A better metric takes over, a lesser one doesn't come back in between. */
static void test_one_metric(void **state)
{
        struct sg_log_parser p;

        (void)state;
        assert_return_code(sg_log_parser_init(&p, "plain", SG_GOAL_MIN, NULL, NULL), 0);
        feed_text(&p, "step 1 val_loss=3\n");
        assert_true(p.report.eval == 3);
        feed_text(&p, "step 2 loss=2\nstep 3 val_loss=4\nstep 4 perplexity=9\n");
        assert_true(p.report.eval == 2);
        assert_int_equal(p.report.step, 4);
        for (int i = 0; i < 100; i++)
                feed_text(&p, "step 5 val_loss=4.5\n");
        assert_true(p.report.eval == 4.5);
        sg_log_parser_deinit(&p);
}

/* Hugging Face's begins with a bar, as tqdm's does; a second stage may print something else. */
static void test_moves_on(void **state)
{
        struct sg_log_parser p;

        (void)state;
        assert_return_code(sg_log_parser_init(&p, "auto", SG_GOAL_MIN, NULL, NULL), 0);
        feed_text(&p, "\r  0%|   | 0/500 [00:00<?, ?it/s]\r  1%|   | 5/500 [00:01<01:00, 5it/s]\n");
        assert_string_equal(p.matched, "tqdm");
        feed_text(&p, "{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 1.0}\n");
        assert_string_equal(p.matched, "huggingface");
        assert_true(p.report.eval == 0.5);
        feed_text(&p, "[0]\ttrain-rmse:0.4\n[1]\ttrain-rmse:0.3\n");
        assert_string_equal(p.matched, "huggingface");
        feed_text(&p, "[2]\ttrain-rmse:0.2\n");
        assert_string_equal(p.matched, "xgboost");
        assert_report(&p.report, &(struct said){STEPS, 0.2, 2, 0, 0, 0});
        sg_log_parser_deinit(&p);
}

/* The step of its lines and the number of steps that the user declared say how far it is. */
static void test_declared_steps(void **state)
{
        struct sg_progress_view v;
        struct sg_log_parser p;
        struct sg_progress progress;

        (void)state;
        assert_return_code(sg_log_parser_init(&p, "auto", SG_GOAL_MIN, NULL, NULL), 0);
        sg_progress_init(&progress, SG_GOAL_MIN, 400);
        feed_text(&p, "{'loss': 0.5, 'learning_rate': 5e-05, 'epoch': 3.0, 'step': 300}\n");
        assert_string_equal(p.matched, "huggingface");
        sg_progress_feed(&progress, &p.report, 1000000, SG_UNLIMITED);
        sg_progress_view(&progress, 1000000, &v);
        assert_int_equal(v.step, 300);
        assert_int_equal(v.total, 400);
        assert_float_equal(v.fraction, 0.75, 1e-9);
        sg_log_parser_deinit(&p);
}

/* A bar that names its epoch has a total and an end, whoever reads it. */
static void test_bar_of_an_epoch(void **state)
{
        static const char *const presets[] = {"auto", "tqdm", "lightning"};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(presets); i++) {
                struct sg_progress_view v;
                struct sg_log_parser p;
                struct sg_progress progress;
                char line[128];

                print_message("%s\n", presets[i]);
                assert_return_code(sg_log_parser_init(&p, presets[i], SG_GOAL_MIN, NULL, NULL), 0);
                sg_progress_init(&progress, SG_GOAL_MIN, 0);
                for (unsigned step = 1; step <= 38; step++) {
                        (void)snprintf(
                                line, sizeof(line),
                                "\rEpoch 1: %3u%%|██████▎   | %u/60 [00:%02u<00:%02u,  1.00it/s]",
                                step * 100 / 60, step, step, 60 - step);
                        feed_text(&p, line);
                        sg_log_parser_settle(&p);
                        sg_progress_feed(&progress, &p.report, step * 1000000ULL, SG_UNLIMITED);
                }
                sg_progress_view(&progress, 38000000, &v);
                assert_int_equal(v.step, 38);
                assert_int_equal(v.total, 60);
                assert_int_equal(v.epoch, 1);
                assert_float_equal(v.eta_sec, 22, 1e-3);
                sg_log_parser_deinit(&p);
        }
}

static void test_loss_without_step(void **state)
{
        struct sg_log_parser p;

        (void)state;
        assert_return_code(sg_log_parser_init(&p, "auto", SG_GOAL_MIN, NULL, NULL), 0);
        feed_text(&p, "loss: 0.5\nsomething\nloss: 0.4\n");
        assert_null(p.matched);
        feed_text(&p, "loss: 0.3\n");
        assert_string_equal(p.matched, "plain");
        assert_true(p.report.eval == 0.3);
        sg_log_parser_deinit(&p);
}

static int find_hash(const char *line, size_t n, enum sg_goal goal, void *state,
                     struct sg_report *ret)
{
        assert_int_equal(goal, SG_GOAL_MAX);
        (*(int *)state)++;
        if (n < 2 || line[0] != '#')
                return 0;
        *ret = (struct sg_report){.has = SG_REPORT_STEP, .step = (uint64_t)(line[1] - '0')};
        return 1;
}

static void test_custom(void **state)
{
        struct sg_log_parser p;
        int calls = 0;

        (void)state;
        assert_int_equal(sg_log_parser_init(&p, "json", SG_GOAL_MAX, NULL, NULL), -EINVAL);
        assert_int_equal(sg_log_parser_init(&p, "nonsuch", SG_GOAL_MAX, find_hash, &calls),
                         -EINVAL);
        assert_false(sg_preset_valid("nonsuch"));
        for (const char *const *name = sg_preset_names; *name; name++)
                assert_true(sg_preset_valid(*name));
        assert_return_code(sg_log_parser_init(&p, "pattern", SG_GOAL_MAX, find_hash, &calls), 0);
        feed_text(&p, "step 1 acc=2\n#3\nno\n");
        assert_report(&p.report, &(struct said){SG_REPORT_STEP, 0, 3, 0, 0, 0});
        assert_int_equal(calls, 3);
        assert_int_equal(p.n_reports, 1);
        sg_log_parser_deinit(&p);
        assert_return_code(sg_log_parser_init(&p, "auto", SG_GOAL_MAX, find_hash, &calls), 0);
        feed_text(&p, "#4\n");
        assert_string_equal(p.matched, "json");
        sg_log_parser_deinit(&p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_logs),
                cmocka_unit_test(test_lines),
                cmocka_unit_test(test_not_finite),
                cmocka_unit_test(test_one_metric),
                cmocka_unit_test(test_moves_on),
                cmocka_unit_test(test_loss_without_step),
                cmocka_unit_test(test_custom),
                cmocka_unit_test(test_declared_steps),
                cmocka_unit_test(test_bar_of_an_epoch),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
