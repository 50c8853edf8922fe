/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See decisions.h. */

#include "ctl/show/decisions.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/utf8.h"
#include "ctl/line/ids.h"
#include "ctl/show/output.h"
#include "ctl/show/progress.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define SCHEMA "schedgov.decision/1"

const struct sg_column sg_decision_columns[_SG_DECISION_MAX] = {
        [SG_DECISION_TIME] = {"time", false, 0},    [SG_DECISION_ID] = {"job", true, 0},
        [SG_DECISION_CAUSE] = {"cause", false, 0},  [SG_DECISION_SHARE] = {"share", true, 0},
        [SG_DECISION_WEIGHT] = {"weight", true, 0}, [SG_DECISION_CAP] = {"cap", true, 0},
        [SG_DECISION_LIST] = {"list", false, 0},    [SG_DECISION_WHY] = {"why", false, 10},
        [SG_DECISION_LEFT] = {"left", true, 0},     [SG_DECISION_TOTAL] = {"total", true, 0},
        [SG_DECISION_GROWTH] = {"growth", true, 0},
};

int sg_decision_rows_init(struct sg_decision_rows *rows, size_t room)
{
        *rows = (struct sg_decision_rows){.ring = calloc(room, sizeof(*rows->ring)), .room = room};
        return rows->ring || room == 0 ? 0 : -ENOMEM;
}

void sg_decision_rows_deinit(struct sg_decision_rows *rows)
{
        for (size_t i = 0; i < sg_decision_rows_count(rows); i++)
                json_decref(rows->ring[i].line);
        free(rows->ring);
}

const struct sg_decision_row *sg_decision_rows_get(const struct sg_decision_rows *rows, size_t i)
{
        return &rows->ring[rows->n <= rows->room ? i : (rows->n + i) % rows->room];
}

static const char *id_of(const json_t *job)
{
        return json_is_string(job) ? json_string_value(job) : sg_document_word(job, "id");
}

static void put(struct sg_decision_rows *rows, json_t *line, json_t *job)
{
        struct sg_decision_row *row = &rows->ring[rows->n++ % rows->room];

        json_decref(row->line);
        *row = (struct sg_decision_row){json_incref(line), job};
}

static void put_line(struct sg_decision_rows *rows, json_t *line, const char *id)
{
        static const char *const lists[] = {"jobs", "gone"};
        json_t *job;
        size_t i;

        if (strcmp(sg_document_word(line, "schema"), SCHEMA) != 0)
                return;
        for (size_t k = 0; k < SG_ELEMENTSOF(lists); k++)
                json_array_foreach (json_object_get(line, lists[k]), i, job)
                        if (!*id || sg_id_matches(id, id_of(job)))
                                put(rows, line, job);
}

int sg_decision_rows_read(struct sg_decision_rows *rows, FILE *f, const char *id)
{
        _cleanup_free_ char *text = NULL;
        size_t allocated = 0;
        ssize_t n;

        while (rows->room > 0 && (n = getline(&text, &allocated, f)) > 0) {
                json_t *line = json_loadb(text, (size_t)n, 0, NULL);

                if (line)
                        put_line(rows, line, id);
                json_decref(line);
        }
        return ferror(f) ? -errno : 0;
}

/* "begin,report" */
static const char *causes(const json_t *line, char *buf, size_t size)
{
        size_t i, used = 0;
        json_t *v;

        *buf = '\0';
        json_array_foreach (json_object_get(line, "causes"), i, v)
                if (json_is_string(v) && used < size)
                        used += (size_t)snprintf(buf + used, size - used, "%s%s",
                                                 used > 0 ? "," : "", json_string_value(v));
        return buf;
}

/* "rank 2 after 7, index 0.125, slack 12.5s" */
static const char *why(const json_t *out, char *buf, size_t size)
{
        const char *other = sg_document_string(out, "other");
        double rank = sg_document_number(out, "rank"), index = sg_document_number(out, "index"),
               slack = sg_document_number(out, "slack");
        size_t used = (size_t)snprintf(buf, size, "%.32s", sg_document_word(out, "reason"));

        if (rank > 0)
                used += (size_t)snprintf(buf + used, size - used, ", number %.0f", rank);
        if (other)
                used += (size_t)snprintf(buf + used, size - used, ", because of %.64s", other);
        if (isfinite(index) && index > 0)
                used += (size_t)snprintf(buf + used, size - used, ", index %.4g", index);
        if (isfinite(slack))
                (void)snprintf(buf + used, size - used, ", slack %.4gs", slack);
        return buf;
}

static const char *figure(double v, int decimals, const char *unit, char *buf, size_t size)
{
        if (!isfinite(v))
                return "-";
        (void)snprintf(buf, size, "%.*f%s", decimals, v, unit);
        return buf;
}

static const char *when(const json_t *line, char *buf)
{
        uint64_t usec;

        return sg_parse_timestamp(sg_document_word(line, "time"), 0, &usec) < 0
                       ? "-"
                       : sg_format_local(buf, usec);
}

static const char *text_cell(const struct sg_decision_row *row, enum sg_decision_column column,
                             char *buf, size_t size)
{
        const json_t *out = json_object_get(row->job, "out");
        char raw[256];
        const char *s = "-";

        if (column == SG_DECISION_ID)
                s = id_of(row->job);
        else if (column == SG_DECISION_CAUSE)
                s = causes(row->line, raw, sizeof(raw));
        else if (json_is_string(row->job))
                s = column == SG_DECISION_LIST ? "gone" : "-";
        else if (column == SG_DECISION_LIST)
                s = sg_document_word(out, "list");
        else if (column == SG_DECISION_WHY)
                s = why(out, raw, sizeof(raw));
        return sg_utf8_escape(s, buf, size);
}

const char *sg_decision_cell(const struct sg_decision_row *row, enum sg_decision_column column,
                             char *buf, size_t size)
{
        const json_t *out = json_object_get(row->job, "out"), *in = json_object_get(row->job, "in");
        const char *part;

        switch (column) {
        case SG_DECISION_TIME:
                return when(row->line, buf);
        case SG_DECISION_SHARE:
        case SG_DECISION_CAP:
                part = sg_share_text(
                        sg_document_number(out, column == SG_DECISION_CAP ? "cap" : "share"), buf,
                        size);
                return *part ? part : "-";
        case SG_DECISION_WEIGHT:
                return figure(sg_document_number(out, "weight"), 0, "", buf, size);
        case SG_DECISION_LEFT:
                return figure(sg_document_number(in, "remaining"), 1, "s", buf, size);
        case SG_DECISION_TOTAL:
                return figure(sg_document_number(in, "total"), 1, "s", buf, size);
        case SG_DECISION_GROWTH:
                return figure(sg_document_number(in, "growth_efficiency"), 4, "", buf, size);
        default:
                return text_cell(row, column, buf, size);
        }
}
