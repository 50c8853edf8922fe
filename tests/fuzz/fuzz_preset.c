/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first byte chooses preset and goal, the second the size of the pieces, the rest is a log.
 * What is found is the same in pieces and as a whole, and the progress made of it makes sense.
 */

#include "base/parse.h"
#include "core/reports/preset.h"
#include "core/reports/progress.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool b)
{
        if (!b)
                abort();
}

/* A stand-in for the caller's function. */
static int on_json(const char *line, size_t n, enum sg_goal goal, void *state,
                   struct sg_report *ret)
{
        (void)goal;
        (void)state;
        if (n < 2 || line[0] != '{' || line[n - 1] != '}')
                return 0;
        *ret = (struct sg_report){.has = SG_REPORT_STEP, .step = n};
        return 1;
}

static void check_view(const struct sg_progress *p, uint64_t now)
{
        struct sg_progress_view v;

        sg_progress_view(p, now, &v);
        must(!(v.fraction < 0) && !(v.fraction > 1));
        must(!(v.eta_low_sec > v.eta_sec) && !(v.eta_sec > v.eta_high_sec));
        must(!(v.eta_low_sec < 0));
}

static void read_log(struct sg_log_parser *p, const char *preset, enum sg_goal goal,
                     const char *data, size_t n, size_t piece)
{
        struct sg_progress progress;
        uint64_t now = 0;

        must(sg_log_parser_init(p, preset, goal, on_json, NULL) == 0);
        sg_progress_init(&progress, goal, n & 1 ? 100 : 0);
        for (size_t at = 0; at < n; at += piece, now += 1000000) {
                sg_log_parser_feed(p, data + at, piece < n - at ? piece : n - at);
                sg_progress_feed(&progress, &p->report, now, n & 2 ? now / 2 : SG_UNLIMITED);
                check_view(&progress, now);
                check_view(&progress, now + 5000000);
        }
        must(p->n_reports > 0 || p->report.has == 0);
        must(!(p->report.has & SG_REPORT_EVAL) || p->matched);
        sg_log_parser_deinit(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sg_log_parser whole, pieces;
        size_t n_presets = 0;
        const char *preset;
        enum sg_goal goal;

        if (size < 3)
                return 0;
        while (sg_preset_names[n_presets])
                n_presets++;
        preset = sg_preset_names[data[0] / 2 % n_presets];
        goal = data[0] & 1 ? SG_GOAL_MAX : SG_GOAL_MIN;
        read_log(&whole, preset, goal, (const char *)data + 2, size - 2, size);
        read_log(&pieces, preset, goal, (const char *)data + 2, size - 2, data[1] % 64U + 1);
        must(memcmp(&whole.report, &pieces.report, sizeof(whole.report)) == 0);
        must(whole.n_reports == pieces.n_reports && whole.matched == pieces.matched);
        return 0;
}
