/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See row.h. */

#include "ctl/show/row.h"
#include "base/format.h"
#include "base/utf8.h"
#include "ctl/show/fields.h"
#include "ctl/show/gpu-text.h"
#include "ctl/show/output.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

const struct sg_column sg_row_columns[_SG_COLUMN_MAX] = {
        [SG_COLUMN_ID] = {"id", true, 0},
        [SG_COLUMN_NAME] = {"name", false, 8},
        [SG_COLUMN_CLASS] = {"class", false, 0},
        [SG_COLUMN_USER] = {"user", false, 0},
        [SG_COLUMN_STATE] = {"state", false, 0},
        [SG_COLUMN_TIME] = {"time", true, 0},
        [SG_COLUMN_CPU] = {"cpu", true, 0},
        [SG_COLUMN_MEM] = {"mem", true, 0},
        [SG_COLUMN_REASON] = {"reason", false, 10},
        [SG_COLUMN_EXIT] = {"exit", true, 0},
        [SG_COLUMN_SIGNAL] = {"signal", false, 0},
        [SG_COLUMN_SUBMITTED] = {"submitted", false, 0},
        [SG_COLUMN_STARTED] = {"started", false, 0},
        [SG_COLUMN_ENDED] = {"ended", false, 0},
        [SG_COLUMN_COMMAND] = {"command", false, 10},
        [SG_COLUMN_INDEX] = {"index", true, 0},
        [SG_COLUMN_SHARE] = {"share", true, 0},
        [SG_COLUMN_LIST] = {"list", false, 0},
        [SG_COLUMN_WEIGHT] = {"weight", true, 0},
        [SG_COLUMN_GROWTH] = {"growth", true, 0},
        [SG_COLUMN_PROGRESS] = {"progress", true, 0},
        [SG_COLUMN_ETA] = {"eta", true, 0},
        [SG_COLUMN_LOSS] = {"loss", true, 0},
        [SG_COLUMN_STEPS] = {"steps", true, 0},
        [SG_COLUMN_GPU] = {"gpu", true, 0},
        [SG_COLUMN_GPU_MEM] = {"gpumem", true, 0},
        [SG_COLUMN_GPU_UTIL] = {"gpuutil", true, 0},
};

int sg_row_read(sd_bus_message *m, struct sg_row *r)
{
        r->indexes = NULL;
        return sd_bus_message_read(m, SG_ROW_SIGNATURE, &r->id, &r->name, &r->class, &r->user,
                                   &r->state, &r->reason, &r->submitted_usec, &r->started_usec,
                                   &r->ended_usec, &r->exit_code, &r->signal, &r->cpu_usec,
                                   &r->memory_bytes, &r->command, &r->array, &r->index);
}

static uint64_t figure_of(const json_t *o, const char *key)
{
        const json_t *v = json_object_get(o, key);

        return json_is_integer(v) ? (uint64_t)json_integer_value(v) : SG_UNLIMITED;
}

static uint64_t number_of(const char *id)
{
        return strtoull(id, NULL, 10);
}

void sg_row_from_document(const json_t *job, struct sg_row *r)
{
        const json_t *usage = json_object_get(job, "usage"), *code, *signal;
        const json_t *share = json_object_get(job, "share"), *gpu = json_object_get(job, "gpu");

        code = json_object_get(job, "exit_code");
        signal = json_object_get(job, "signal");
        *r = (struct sg_row){
                .id = sg_document_word(job, "id"),
                .name = sg_document_word(job, "name"),
                .class = sg_document_word(job, "class"),
                .user = sg_document_word(job, "user"),
                .state = sg_document_word(job, "state"),
                .reason = sg_document_word(job, "reason"),
                .submitted_usec = sg_document_time(job, "submitted"),
                .started_usec = sg_document_time(job, "started"),
                .ended_usec = sg_document_time(job, "ended"),
                .exit_code = json_is_integer(code) ? (int32_t)json_integer_value(code) : -1,
                .cpu_usec = figure_of(usage, "cpu_usec"),
                .memory_bytes = figure_of(usage, "memory_bytes"),
                .command = sg_document_word(job, "command"),
                .array = number_of(sg_document_word(job, "array")),
                .index = figure_of(job, "array_index"),
                .share = sg_document_number(share, "share"),
                .weight = sg_document_number(share, "weight"),
                .growth = sg_document_number(share, "growth_efficiency"),
                .list = sg_document_word(share, "list"),
                .gpu_utilization = sg_document_number(gpu, "utilization"),
                .gpu_memory_bytes = figure_of(gpu, "memory_used_bytes"),
        };
        (void)sg_gpu_count_text(job, r->gpu);
        if (r->gpu_memory_bytes == SG_UNLIMITED)
                r->gpu_memory_bytes = figure_of(gpu, "memory_peak_bytes");
        if (r->memory_bytes == SG_UNLIMITED) /* of a finished one, as in a row */
                r->memory_bytes = figure_of(usage, "memory_peak_bytes");
        if (json_is_string(signal))
                (void)sg_parse_signal(json_string_value(signal), &r->signal);
        sg_job_progress_read(job, &r->progress);
}

bool sg_row_needs_document(const struct sg_table *t)
{
        for (size_t i = 0; i < t->n; i++)
                if (t->shown[i] >= SG_COLUMN_SHARE)
                        return true;
        return false;
}

static const char *text(const char *s, char *buf, size_t size)
{
        return *s ? sg_utf8_escape(s, buf, size) : "-";
}

static const char *figure(double v, char *buf, size_t size)
{
        if (!isfinite(v))
                return "-";
        (void)snprintf(buf, size, "%.4g", v);
        return buf;
}

static const char *percent(double v, char *buf, size_t size)
{
        if (!isfinite(v))
                return "-";
        (void)snprintf(buf, size, "%.0f%%", v);
        return buf;
}

static const char *or_dash(const char *s)
{
        return *s ? s : "-";
}

static const char *point(uint64_t usec, char *buf)
{
        return usec > 0 ? sg_format_local(buf, usec) : "-";
}

static const char *lasted(const struct sg_row *row, uint64_t now_usec, char *buf, size_t size)
{
        uint64_t end = row->ended_usec > 0 ? row->ended_usec : now_usec;

        if (row->started_usec == 0)
                return "-";
        return sg_table_duration(buf, size, end > row->started_usec ? end - row->started_usec : 0);
}

static const char *exit_code(const struct sg_row *row, char *buf, size_t size)
{
        if (row->exit_code < 0)
                return "-";
        (void)snprintf(buf, size, "%d", row->exit_code);
        return buf;
}

static const char *signal_name(const struct sg_row *row, char *buf, size_t size)
{
        const char *name = row->signal > 0 ? sg_signal_name(row->signal) : "-";

        if (!name)
                (void)snprintf(buf, size, "%d", row->signal);
        return name ? name : buf;
}

const char *sg_row_cell(const struct sg_row *row, enum sg_row_column column, uint64_t now_usec,
                        char *buf, size_t size)
{
        const char *const strings[] = {
                [SG_COLUMN_ID] = row->id,           [SG_COLUMN_NAME] = row->name,
                [SG_COLUMN_CLASS] = row->class,     [SG_COLUMN_USER] = row->user,
                [SG_COLUMN_STATE] = row->state,     [SG_COLUMN_REASON] = row->reason,
                [SG_COLUMN_COMMAND] = row->command,
        };

        switch (column) {
        case SG_COLUMN_TIME:
                return lasted(row, now_usec, buf, size);
        case SG_COLUMN_CPU:
                return row->started_usec == 0 || row->cpu_usec == SG_UNLIMITED
                               ? "-"
                               : sg_table_duration(buf, size, row->cpu_usec);
        case SG_COLUMN_MEM:
                return row->started_usec == 0 || row->memory_bytes == SG_UNLIMITED
                               ? "-"
                               : sg_format_bytes(buf, row->memory_bytes);
        case SG_COLUMN_EXIT:
                return exit_code(row, buf, size);
        case SG_COLUMN_SIGNAL:
                return signal_name(row, buf, size);
        case SG_COLUMN_SUBMITTED:
                return point(row->submitted_usec, buf);
        case SG_COLUMN_STARTED:
                return point(row->started_usec, buf);
        case SG_COLUMN_ENDED:
                return point(row->ended_usec, buf);
        case SG_COLUMN_INDEX:
                if (row->array == 0 || row->indexes)
                        return row->indexes ? row->indexes : "-";
                (void)snprintf(buf, size, "%" PRIu64, row->index);
                return buf;
        case SG_COLUMN_SHARE:
                return or_dash(sg_share_text(row->share, buf, size));
        case SG_COLUMN_LIST:
                return text(row->list ?: "", buf, size);
        case SG_COLUMN_WEIGHT:
                if (!isfinite(row->weight))
                        return "-";
                (void)snprintf(buf, size, "%.0f", row->weight);
                return buf;
        case SG_COLUMN_GROWTH:
                return figure(row->growth, buf, size);
        case SG_COLUMN_PROGRESS:
                return or_dash(sg_fraction_text(row->progress.fraction, buf, size));
        case SG_COLUMN_ETA:
                return or_dash(sg_eta_text(&row->progress, buf, size));
        case SG_COLUMN_LOSS:
                return or_dash(sg_last_eval_text(&row->progress, buf, size));
        case SG_COLUMN_STEPS:
                return or_dash(sg_step_text(&row->progress, buf, size));
        case SG_COLUMN_GPU:
                return text(row->gpu, buf, size);
        case SG_COLUMN_GPU_MEM:
                return row->gpu_memory_bytes == SG_UNLIMITED || row->gpu_memory_bytes == 0
                               ? "-"
                               : sg_format_bytes(buf, row->gpu_memory_bytes);
        case SG_COLUMN_GPU_UTIL:
                return percent(row->gpu_utilization, buf, size);
        default:
                return text(strings[column], buf, size);
        }
}
