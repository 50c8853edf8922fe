/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How fast logs are parsed, next to POSIX regexec(3) that looks for the same numbers line by line.
 * The logs are tests/data/progress, repeated to SIZE and fed as a reader would.
 */

#include "base/cleanup.h"
#include "base/file.h"
#include "core/reports/preset.h"
#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE (64U << 20)
#define PEER_SIZE (8U << 20) /* it needs its time */
#define CHUNK (64U << 10)
#define MEGA 1e6

static const struct log {
        const char *preset, *file, *pattern;
} logs[] = {
        {"keras", "keras-2.log", "([0-9]+)/([0-9]+) .*loss: ([0-9.e-]+)"},
        {"keras", "keras-3.log", "([0-9]+)/([0-9]+).*loss: ([0-9.e-]+)"},
        {"lightning", "lightning.log", "Epoch ([0-9]+): .* ([0-9]+)/([0-9]+) .*loss=([0-9.e-]+)"},
        {"huggingface", "huggingface.log", "'loss': ([0-9.e-]+)|([0-9]+)/([0-9]+) \\["},
        {"tqdm", "tqdm.log", "([0-9]+)/([0-9]+) \\[.*loss=([0-9.e-]+)"},
        {"xgboost", "xgboost.log", "^\\[([0-9]+)\\].*train-[a-z]+:([0-9.e-]+)"},
        {"lightgbm", "lightgbm.log", "^\\[([0-9]+)\\].*training's [a-z0-9]+: ([0-9.e-]+)"},
        {"plain", "plain-tutorial.log", "Step \\[([0-9]+)/([0-9]+)\\], Loss: ([0-9.e-]+)"},
        {"plain", "plain-gpt.log", "iter ([0-9]+): loss ([0-9.e-]+)"},
        {"auto", "tqdm.log", "([0-9]+)/([0-9]+) \\[.*loss=([0-9.e-]+)"},
        {"auto", "plain-global-steps.log", "step ([0-9]+)/([0-9]+) loss=([0-9.e-]+)"},
        {"auto", "ordinary.log", "loss[=: ]+([0-9.e-]+)"},
};

/* CPU time: what a core can do, whatever else runs on it. */
static double cpu_sec(void)
{
        struct timespec t;

        if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
                exit(EXIT_FAILURE);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *load(const char *name)
{
        _cleanup_free_ char *data = NULL;
        char path[256], *all;
        size_t n;

        if (sg_path_join(path, sizeof(path), "tests/data/progress", name) < 0 ||
            sg_read_file(AT_FDCWD, path, SIZE, &data, &n) < 0 || n == 0)
                return NULL;
        all = malloc(SIZE + 1);
        for (size_t at = 0; all && at < SIZE; at += n)
                memcpy(all + at, data, n < SIZE - at ? n : SIZE - at);
        if (all)
                all[SIZE] = '\0';
        return all;
}

static double ours(const struct log *l, const char *data)
{
        struct sg_log_parser p;
        double begin, took;

        if (sg_log_parser_init(&p, l->preset, SG_GOAL_MIN, NULL, NULL) < 0)
                exit(EXIT_FAILURE);
        begin = cpu_sec();
        for (size_t at = 0; at < SIZE; at += CHUNK)
                sg_log_parser_feed(&p, data + at, CHUNK);
        took = cpu_sec() - begin;
        if (p.n_reports < 1000 && strcmp(l->file, "ordinary.log") != 0) {
                fprintf(stderr, "bench_parse: %s found next to nothing in %s\n", l->preset,
                        l->file);
                exit(EXIT_FAILURE);
        }
        sg_log_parser_deinit(&p);
        return SIZE / MEGA / took;
}

static double peers(const struct log *l, const char *data)
{
        regmatch_t found[5];
        regex_t regex;
        double begin = cpu_sec();
        size_t hits = 0, at = 0;

        if (regcomp(&regex, l->pattern, REG_EXTENDED) != 0)
                exit(EXIT_FAILURE);
        while (at < PEER_SIZE) {
                size_t n = strcspn(data + at, "\r\n");

                found[0] = (regmatch_t){.rm_so = 0, .rm_eo = (regoff_t)n};
                hits += n > 0 &&
                        regexec(&regex, data + at, SG_ELEMENTSOF(found), found, REG_STARTEND) == 0;
                at += n + 1;
        }
        regfree(&regex);
        return hits ? (double)at / MEGA / (cpu_sec() - begin) : 0;
}

int main(void)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(logs); i++) {
                _cleanup_free_ char *data = load(logs[i].file);
                double we, they;

                if (!data) {
                        fprintf(stderr, "bench_parse: cannot read %s\n", logs[i].file);
                        return EXIT_FAILURE;
                }
                we = ours(&logs[i], data);
                they = peers(&logs[i], data);
                printf("parse %-11s %6.0f MB/s, regexec %4.0f MB/s, ratio %5.1f (%s)\n",
                       logs[i].preset, we, they, we / they, logs[i].file);
        }
        return EXIT_SUCCESS;
}
