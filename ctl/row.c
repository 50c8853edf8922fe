/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See row.h. */

#include "ctl/row.h"
#include "base/format.h"
#include "ctl/output.h"

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
};

int sg_row_read(sd_bus_message *m, struct sg_row *r)
{
        return sd_bus_message_read(m, SG_ROW_SIGNATURE, &r->id, &r->name, &r->class, &r->user,
                                   &r->state, &r->reason, &r->submitted_usec, &r->started_usec,
                                   &r->ended_usec, &r->exit_code, &r->signal, &r->cpu_usec,
                                   &r->memory_bytes, &r->command);
}

static const char *text(const char *s, char *buf, size_t size)
{
        return *s ? sg_escape(s, buf, size) : "-";
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
        default:
                return text(strings[column], buf, size);
        }
}
