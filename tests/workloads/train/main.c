/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * train MODEL [--OPTION VALUE]...: a training job as there are many, in small, for tests, the demo
 * and measurements. What it learns is real: the loss falls by the CPU time that it gets, whatever
 * the clock says. `train --help` lists models and options.
 */

#include "say.h"
#include "trainer.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define EPOCHS 10
#define CALIBRATE_SEC 0.05
#define CALIBRATE_RUNS 8
#define CALIBRATE_BATCH 10

static struct options {
        struct trainer_options train;
        double seed, threads, updates, reports;
        double width;   /* it waits for its data, so that it uses at most this much of a CPU */
        double stop_at; /* early stopping, after this part of the work */
        double style, claim, accuracy;
        double calibrate;
        const char *checkpoint;
} o = {
        .train.work = 1,
        .seed = 1,
        .threads = 1,
        .updates = 600,
        .reports = 50,
        .width = INFINITY,
        .stop_at = 1,
};

static const struct option {
        const char *name;
        double *value;
        double least, most;
        const char *const *names; /* of its values */
        const char *what;
} options[] = {
        {"work", &o.train.work, 1e-3, 1e6, NULL, "CPU-seconds that it takes (1)"},
        {"per-second", &o.train.per_second, 1e-3, 1e12, NULL, "samples that it trains on in one"},
        {"calibrate", &o.calibrate, 0, 1, NULL, "1: measures these, prints them, and ends"},
        {"seed", &o.seed, 0, 1e9, NULL, "of weights and data (1)"},
        {"threads", &o.threads, 0, 256, NULL, "of OpenMP; 0: as that chooses (1)"},
        {"updates", &o.updates, 1, 1e6, NULL, "of the weights, in all (600)"},
        {"reports", &o.reports, 1, 1e6, NULL, "lines of progress (50)"},
        {"width", &o.width, 1e-3, 256, NULL, "CPUs that it can use, as its data come slowly"},
        {"stop-at", &o.stop_at, 0, 1, NULL, "stops early, after this part of its work"},
        {"drop-at", &o.train.drop_at, 0, 1, NULL, "lowers the learning rate there at once"},
        {"accuracy", &o.accuracy, 0, 1, NULL, "1: says that, too, where there is one"},
        {"style", &o.style, 0, _STYLE_MAX, style_names, "of its lines: pytorch keras tqdm plain"},
        {"claim", &o.claim, 0, _CLAIM_MAX, claim_names,
         "what it says of itself: truth nothing nan near stall back"},
};

static void print_help(void)
{
        (void)puts("usage: train MODEL [--OPTION VALUE]...\n\nModels:");
        for (const struct model *const *m = models; *m; m++)
                (void)printf("  %-12s %s\n", (*m)->name, (*m)->summary);
        (void)puts("\nOptions:");
        for (size_t i = 0; i < SG_ELEMENTSOF(options); i++)
                (void)printf("  --%-12s %s\n", options[i].name, options[i].what);
        (void)puts("  --checkpoint   file to save to at each report, and to go on from");
}

static int set_option(const struct option *p, const char *text)
{
        char *end = NULL;
        double v;

        for (int i = 0; p->names && i < (int)p->most; i++)
                if (strcmp(text, p->names[i]) == 0) {
                        *p->value = i;
                        return 0;
                }
        errno = 0;
        v = strtod(text, &end);
        if (p->names || errno || end == text || *end || !(v >= p->least && v <= p->most))
                return -EINVAL;
        *p->value = v;
        return 0;
}

static int take_option(const char *name, const char *text)
{
        if (strcmp(name, "--checkpoint") == 0) {
                o.checkpoint = text;
                return 0;
        }
        for (size_t i = 0; i < SG_ELEMENTSOF(options); i++)
                if (strncmp(name, "--", 2) == 0 && strcmp(name + 2, options[i].name) == 0)
                        return set_option(&options[i], text);
        return -EINVAL;
}

static int parse_arguments(int argc, char **argv)
{
        o.train.model = argc > 1 ? model_find(argv[1]) : NULL;
        if (!o.train.model)
                return -EINVAL;
        for (int i = 2; i < argc; i += 2)
                if (i + 1 == argc || take_option(argv[i], argv[i + 1]) < 0)
                        return -EINVAL;
        o.train.seed = (uint64_t)o.seed;
        o.train.threads = (unsigned)o.threads;
        o.train.updates = (unsigned)o.updates;
        return 0;
}

static double seconds(clockid_t clock)
{
        struct timespec t;

        (void)clock_gettime(clock, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Data come at a steady rate, however slowly they are used: a batch each time that one takes to
 * compute ÷ width. A few are there in advance. */
static void wait_for_data(double began, double *ready, uint64_t done)
{
        double each = (seconds(CLOCK_PROCESS_CPUTIME_ID) - began) / (double)done / o.width;
        double now = seconds(CLOCK_MONOTONIC);
        struct timespec until;

        *ready = fmax(*ready + each, now - 4 * each);
        if (*ready <= now)
                return;
        until.tv_sec = (time_t)*ready;
        until.tv_nsec = (long)((*ready - (double)until.tv_sec) * 1e9);
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
                ;
}

/* The best of several short runs: others may share the core, or its caches. */
static void calibrate(struct trainer *t)
{
        double best = 0, hits;

        t->batch = CALIBRATE_BATCH;
        for (int i = 0; i < CALIBRATE_RUNS; i++) {
                double began = seconds(CLOCK_PROCESS_CPUTIME_ID), used;
                uint64_t samples = 0;

                do {
                        (void)trainer_update(t, &hits);
                        samples += t->batch;
                        used = seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
                } while (used < CALIBRATE_SEC);
                best = fmax(best, (double)samples / used);
        }
        (void)printf("%.1f\n", best);
}

static bool is_due(const struct trainer *t, uint64_t reports)
{
        return t->done * reports / t->updates != (t->done - 1) * reports / t->updates;
}

static int train(struct trainer *t)
{
        uint64_t reports = (uint64_t)fmin(o.reports, (double)t->updates), first = t->done, n = 0;
        struct say s = {
                .out = stdout,
                .style = (enum style)o.style,
                .claim = (enum claim)o.claim,
                .accuracy = o.accuracy > 0,
                .epochs = t->updates % EPOCHS ? 1 : EPOCHS,
                .batches = t->updates % EPOCHS ? t->updates : t->updates / EPOCHS,
        };
        double wall = seconds(CLOCK_MONOTONIC), ready = wall, loss = 0, accuracy = 0, hits;
        double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
        int r = 0;

        while (r == 0 && t->done < t->updates && (double)t->done < o.stop_at * (double)t->updates) {
                loss += trainer_update(t, &hits);
                accuracy += hits;
                n++;
                if (isfinite(o.width))
                        wait_for_data(cpu, &ready, t->done - first);
                if (!is_due(t, reports))
                        continue;
                say(&s, (struct said){t->done, loss / (double)n, accuracy / (double)n,
                                      seconds(CLOCK_MONOTONIC) - wall});
                if (o.checkpoint)
                        r = trainer_save(t, o.checkpoint);
                loss = accuracy = 0;
                n = 0;
        }
        return r;
}

int main(int argc, char **argv)
{
        struct trainer t;
        int r;

        if (argc == 2 && strcmp(argv[1], "--help") == 0) {
                print_help();
                return 0;
        }
        if (parse_arguments(argc, argv) < 0) {
                (void)fputs("usage: train MODEL [--OPTION VALUE]...; see train --help\n", stderr);
                return 2;
        }
        r = trainer_init(&t, &o.train);
        if (r >= 0 && o.checkpoint && (r = trainer_load(&t, o.checkpoint)) > 0)
                (void)printf("going on after update %lu\n", t.done);
        if (r >= 0 && o.calibrate > 0)
                calibrate(&t);
        else if (r >= 0)
                r = train(&t);
        trainer_deinit(&t);
        if (r < 0)
                (void)fprintf(stderr, "train: %s\n", strerror(-r));
        return r < 0 || ferror(stdout) ? 1 : 0;
}
