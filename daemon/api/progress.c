/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where its progress is to be read from, as a submission asks for it. */
#include "api/internal.h"
#include "base/cleanup.h"
#include "core/reports/preset.h"
#include "core/reports/progress-source.h"
#include "edge/pattern/pattern.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool names_path(const struct sg_progress_source *s)
{
        return s->kind == SG_PROGRESS_FILE || s->kind == SG_PROGRESS_EVENTS;
}

/* "file:run/p.json" becomes "file:/home/u/run/p.json". */
static int make_path_absolute(struct sg_submission *s, const struct sg_progress_source *source)
{
        int prefix = (int)(source->text - s->request.job.progress);
        char *absolute;

        if (source->text[0] == '/')
                return 0;
        if (asprintf(&absolute, "%.*s%s/%s", prefix, s->request.job.progress,
                     s->request.workdir ?: "", source->text) < 0)
                return -ENOMEM;
        free(s->request.job.progress);
        s->request.job.progress = absolute;
        return 0;
}

/* "auto, keras, …", for people. */
static const char *list_presets(char *buf, size_t size)
{
        size_t used = 0;

        for (const char *const *p = sg_preset_names; *p && used < size; p++)
                if (strcmp(*p, "pattern") != 0) /* is said by giving one */
                        used += (size_t)snprintf(buf + used, size - used, "%s%s",
                                                 used > 0 ? ", " : "", *p);
        return buf;
}

int sg_submission_check_progress(struct sg_submission *s, struct sg_answer *a)
{
        const char *progress = s->request.job.progress;
        struct sg_progress_source source;
        _cleanup_free_ char *why = NULL;
        char presets[128];
        int r;

        if (!progress)
                return 0;
        if (sg_progress_source_parse(progress, &source) < 0)
                return sg_refuse(a, SG_ANSWER_INVALID, "progress",
                                 "progress: '%s' is not a source; use %s, none, "
                                 "file:PATH, tensorboard:PATH, or a pattern with "
                                 "(?<loss>…)",
                                 progress, list_presets(presets, sizeof(presets)));
        if (source.kind == SG_PROGRESS_PATTERN) {
                r = sg_pattern_check(source.text, &why);
                return r == -EINVAL ? sg_refuse(a, SG_ANSWER_INVALID, "progress", "progress: %s",
                                                why ?: "the pattern is wrong")
                                    : r;
        }
        return names_path(&source) ? make_path_absolute(s, &source) : 0;
}
