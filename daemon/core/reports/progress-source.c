/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/progress-source.h"
#include "core/reports/preset.h"
#include <errno.h>
#include <string.h>

static const char file_prefix[] = "file:", events_prefix[] = "tensorboard:", tag_prefix[] = "?tag=";

static int parse_path(const char *path, struct sg_progress_source *s)
{
        s->text = path;
        s->size = strlen(path);
        return s->size > 0 ? 0 : -EINVAL;
}

static int parse_events(const char *path, struct sg_progress_source *s)
{
        const char *tag = strstr(path, tag_prefix);

        s->text = path;
        s->size = tag ? (size_t)(tag - path) : strlen(path);
        s->tag = tag ? tag + strlen(tag_prefix) : NULL;
        if (s->tag && (s->tag[0] == '\0' || strlen(s->tag) >= SG_PROGRESS_TAG_MAX))
                return -EINVAL;
        return s->size > 0 ? 0 : -EINVAL;
}

static int parse(const char *text, struct sg_progress_source *s)
{
        s->text = text;
        s->size = strlen(text);
        if (s->size >= SG_PROGRESS_SOURCE_MAX)
                return -EINVAL;
        if (strcmp(text, "auto") == 0) {
                s->kind = SG_PROGRESS_AUTO;
        } else if (strcmp(text, "none") == 0) {
                s->kind = SG_PROGRESS_NONE;
        } else if (strncmp(text, file_prefix, strlen(file_prefix)) == 0) {
                s->kind = SG_PROGRESS_FILE;
                return parse_path(text + strlen(file_prefix), s);
        } else if (strncmp(text, events_prefix, strlen(events_prefix)) == 0) {
                s->kind = SG_PROGRESS_EVENTS;
                return parse_events(text + strlen(events_prefix), s);
        } else if (strstr(text, "(?<")) {
                s->kind = SG_PROGRESS_PATTERN;
        } else if (strcmp(text, "pattern") != 0 && sg_preset_valid(text)) {
                s->kind = SG_PROGRESS_PRESET;
        } else {
                return -EINVAL;
        }
        return 0;
}

int sg_progress_source_parse(const char *s, struct sg_progress_source *ret)
{
        struct sg_progress_source source = {0};
        int r = parse(s, &source);

        if (r == 0)
                *ret = source;
        return r;
}
