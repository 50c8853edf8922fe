/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See gpus.h. */

#include "ctl/show/gpus.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "ctl/show/table.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define GIB (1ULL << 30)
#define CELL_MAX 96
#define HELD_MAX 2048
#define FOREIGN_SHOWN 4 /* processes of one GPU; more are counted */

enum column { GPU, NAME, MEMORY, FREE, UTIL, TEMP, POWER, HELD_BY, _COLUMN_MAX };

static const struct sg_column columns[_COLUMN_MAX] = {
        [GPU] = {"gpu", true, 0},       [NAME] = {"name", false, 8},
        [MEMORY] = {"memory", true, 0}, [FREE] = {"free", true, 0},
        [UTIL] = {"util", true, 0},     [TEMP] = {"temp", true, 0},
        [POWER] = {"power", true, 0},   [HELD_BY] = {"held by", false, 12},
};

struct cells {
        char text[_COLUMN_MAX][CELL_MAX];
        char held[HELD_MAX];
};

/* What people see, as what an array can hold. */
struct writer {
        char *text;
        size_t used, size;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *w, const char *format, ...)
{
        va_list ap;
        int n;

        if (w->used >= w->size)
                return;
        va_start(ap, format);
        n = vsnprintf(w->text + w->used, w->size - w->used, format, ap);
        va_end(ap);
        if (n > 0)
                w->used += (size_t)n;
}

static void put_word(struct writer *w, const char *word)
{
        char buf[256];

        put(w, "%s", sg_utf8_escape(word, buf, sizeof(buf)));
}

static void put_separator(struct writer *w)
{
        if (w->used > 0)
                put(w, ", ");
}

/* "14:03:12", or with the day if that isn't today. */
static const char *clock_of(char buf[SG_FORMAT_MAX], const char *rfc3339, uint64_t now_usec)
{
        char today[SG_FORMAT_MAX];
        uint64_t usec;

        if (!rfc3339 || sg_parse_timestamp(rfc3339, 0, &usec) < 0)
                return "";
        (void)sg_format_local(today, now_usec);
        (void)sg_format_local(buf, usec);
        return strncmp(buf, today, 11) == 0 ? buf + 11 : buf;
}

/* --- the figures */

static void unknown(char cell[CELL_MAX])
{
        strcpy(cell, "-");
}

static void name_cell(char cell[CELL_MAX], const json_t *gpu)
{
        const char *name = sg_document_string(gpu, "name");
        char buf[CELL_MAX];

        (void)snprintf(cell, CELL_MAX, "%s", name ? sg_utf8_escape(name, buf, sizeof(buf)) : "-");
}

static void memory_cell(char cell[CELL_MAX], const json_t *memory)
{
        double used = sg_document_number(memory, "used_bytes"),
               total = sg_document_number(memory, "total_bytes");
        bool small = total < 4 * (double)GIB;
        double unit = small ? (double)(1 << 20) : (double)GIB;

        if (isnan(used) || isnan(total))
                unknown(cell);
        else
                (void)snprintf(cell, CELL_MAX, "%.0f/%.0f%c", used / unit, total / unit,
                               small ? 'M' : 'G');
}

/* What somebody could be given. */
static void free_cell(char cell[CELL_MAX], const json_t *gpu)
{
        double bytes = sg_document_number(json_object_get(gpu, "memory"), "free_bytes");
        bool whole = strcmp(sg_document_word(gpu, "mode"), "whole") == 0,
             ok = strcmp(sg_document_word(gpu, "state"), "ok") == 0;
        char buf[SG_FORMAT_MAX];

        if (isnan(bytes) || bytes < 0 || whole || !ok)
                unknown(cell);
        else
                (void)snprintf(cell, CELL_MAX, "%s", sg_format_bytes(buf, (uint64_t)bytes));
}

static void figure_cell(char cell[CELL_MAX], const json_t *gpu, const char *key, const char *unit)
{
        double v = sg_document_number(gpu, key);

        if (isnan(v))
                unknown(cell);
        else
                (void)snprintf(cell, CELL_MAX, "%.0f%s", v, unit);
}

static void power_cell(char cell[CELL_MAX], const json_t *power)
{
        double now = sg_document_number(power, "watts"),
               limit = sg_document_number(power, "limit_watts");

        if (isnan(now))
                unknown(cell);
        else if (isnan(limit))
                (void)snprintf(cell, CELL_MAX, "%.0f W", now);
        else
                (void)snprintf(cell, CELL_MAX, "%.0f/%.0f W", now, limit);
}

/* --- held by */

/* "unknown: the driver hasn't answered since 14:03:12" */
static void put_state(struct writer *w, const json_t *gpu, uint64_t now_usec)
{
        const char *state = sg_document_word(gpu, "state"),
                   *reason = sg_document_string(gpu, "reason");
        char buf[SG_FORMAT_MAX];
        const char *since = clock_of(buf, sg_document_string(gpu, "since"), now_usec);

        if (!*state || strcmp(state, "ok") == 0)
                return;
        put(w, "%s", state);
        if (reason) {
                put(w, ": ");
                put_word(w, reason);
        }
        if (*since)
                put(w, " since %s", since);
}

static const char *profile_of(const json_t *gpu, const char *job)
{
        json_t *instance;
        size_t i;

        json_array_foreach (json_object_get(gpu, "mig"), i, instance)
                if (job && strcmp(sg_document_word(instance, "job"), job) == 0)
                        return sg_document_word(instance, "profile");
        return "";
}

static void put_job(struct writer *w, const json_t *gpu, const json_t *job)
{
        const char *id = sg_document_string(job, "id"), *user = sg_document_string(job, "user");
        const char *profile = profile_of(gpu, id);
        double share = sg_document_number(job, "share"), idle = sg_document_number(job, "idle_sec");
        char buf[SG_FORMAT_MAX];

        put_separator(w);
        if (!id)
                put(w, "somebody");
        else
                put_word(w, id);
        if (id && user) {
                put(w, " ");
                put_word(w, user);
        }
        if (*profile)
                put(w, " %s", profile);
        if (share < 1)
                put(w, " %.0f%%", share * 100);
        else if (isnan(share))
                put(w, " not given");
        if (idle > 0)
                put(w, " idle %s", sg_format_usec(buf, (uint64_t)idle * 1000000));
}

static bool is_foreign(const json_t *process)
{
        return !json_is_string(json_object_get(process, "job"));
}

/* "bob python(4411) 4.1G not ours" */
static void put_foreign(struct writer *w, const json_t *process)
{
        const char *user = sg_document_string(process, "user"),
                   *command = sg_document_string(process, "command");
        double pid = sg_document_number(process, "pid"),
               bytes = sg_document_number(process, "memory_bytes");
        char buf[SG_FORMAT_MAX];

        put_separator(w);
        if (user) {
                put_word(w, user);
                put(w, " ");
        }
        put_word(w, command ? command : "process");
        if (!isnan(pid))
                put(w, "(%.0f)", pid);
        if (!isnan(bytes))
                put(w, " %s", sg_format_bytes(buf, (uint64_t)bytes));
        put(w, " not ours");
}

static void put_others(struct writer *w, const json_t *gpu)
{
        json_t *process;
        size_t i, n = 0;

        json_array_foreach (json_object_get(gpu, "processes"), i, process)
                if (is_foreign(process) && n++ < FOREIGN_SHOWN)
                        put_foreign(w, process);
        if (n > FOREIGN_SHOWN)
                put(w, " and %zu more", n - FOREIGN_SHOWN);
}

static void held_by(char cell[HELD_MAX], const json_t *gpu, uint64_t now_usec)
{
        struct writer w = {.text = cell, .size = HELD_MAX};
        json_t *job;
        size_t i;

        *cell = '\0';
        put_state(&w, gpu, now_usec);
        json_array_foreach (json_object_get(gpu, "jobs"), i, job) {
                put_job(&w, gpu, job);
        }
        put_others(&w, gpu);
        if (w.used == 0)
                unknown(cell);
}

static void read_cells(const json_t *gpu, uint64_t now_usec, struct cells *ret)
{
        figure_cell(ret->text[GPU], gpu, "index", "");
        name_cell(ret->text[NAME], gpu);
        memory_cell(ret->text[MEMORY], json_object_get(gpu, "memory"));
        free_cell(ret->text[FREE], gpu);
        figure_cell(ret->text[UTIL], gpu, "utilization", "%");
        figure_cell(ret->text[TEMP], gpu, "temperature_celsius", "C");
        power_cell(ret->text[POWER], json_object_get(gpu, "power"));
        held_by(ret->held, gpu, now_usec);
}

/* --- all of them */

static void print_driver(const json_t *doc, uint64_t now_usec, FILE *f)
{
        const json_t *driver = json_object_get(doc, "driver");
        const char *state = sg_document_word(driver, "state"),
                   *message = sg_document_string(driver, "message"),
                   *version = sg_document_string(driver, "version");
        char buf[SG_FORMAT_MAX], words[512];
        const char *since = clock_of(buf, sg_document_string(driver, "since"), now_usec);

        if (strcmp(state, "absent") == 0)
                (void)fputs("no driver is loaded", f);
        else if (strcmp(state, "ok") == 0)
                (void)fprintf(f, "driver %s", version ? version : "of unknown version");
        else if (message)
                (void)fputs(sg_utf8_escape(message, words, sizeof(words)), f);
        else
                (void)fprintf(f, strcmp(state, "hung") == 0 ? "the driver doesn't answer"
                                                            : "the driver is out of order");
        if (strcmp(state, "ok") != 0 && strcmp(state, "absent") != 0 && *since)
                (void)fprintf(f, " since %s", since);
}

static size_t count_free(const json_t *gpus)
{
        json_t *gpu;
        size_t i, n = 0;

        json_array_foreach (gpus, i, gpu)
                n += strcmp(sg_document_word(gpu, "state"), "ok") == 0 &&
                     strcmp(sg_document_word(gpu, "mode"), "free") == 0;
        return n;
}

/* "4 GPUs, 1 free; 34% of the free memory is on GPUs in use; driver 550.54.15" */
static void print_last(const json_t *doc, uint64_t now_usec, FILE *f)
{
        const json_t *gpus = json_object_get(doc, "gpus");
        double fragmentation = sg_document_number(doc, "fragmentation");
        size_t n = json_array_size(gpus);

        (void)fprintf(f, "%zu GPU%s, %zu free; ", n, n == 1 ? "" : "s", count_free(gpus));
        if (!isnan(fragmentation))
                (void)fprintf(f, "%.0f%% of the free memory is on GPUs in use; ",
                              fragmentation * 100);
        print_driver(doc, now_usec, f);
        (void)fputc('\n', f);
}

static void print_table(const struct cells *cells, size_t n, unsigned terminal, bool legend,
                        FILE *f)
{
        struct sg_table t = {.all = columns, .n = _COLUMN_MAX, .terminal = terminal};

        t.drop = "temp,power,util,free";
        for (size_t i = 0; i < _COLUMN_MAX; i++) {
                t.shown[i] = i;
                if (legend)
                        sg_table_measure(&t, i, columns[i].name);
        }
        for (size_t k = 0; k < n; k++)
                for (size_t i = 0; i < _COLUMN_MAX; i++)
                        sg_table_measure(&t, i, i == HELD_BY ? cells[k].held : cells[k].text[i]);
        sg_table_fit(&t);
        if (legend)
                sg_table_print_heading(&t, f);
        for (size_t k = 0; k < n; k++)
                for (size_t i = 0; i < t.n; i++)
                        sg_table_print_cell(&t, i,
                                            t.shown[i] == HELD_BY ? cells[k].held
                                                                  : cells[k].text[t.shown[i]],
                                            "", "", f);
}

int sg_gpus_print(const json_t *doc, uint64_t now_usec, unsigned terminal, bool legend, FILE *f)
{
        const json_t *gpus = json_object_get(doc, "gpus");
        size_t n = json_array_size(gpus);
        _cleanup_free_ struct cells *cells = NULL;

        if (!json_is_true(json_object_get(doc, "managed"))) {
                (void)fputs("GPUs aren't managed here ([Gpu] Manage=no)\n", f);
                return 0;
        }
        if (n == 0) {
                (void)fputs("no GPUs: ", f);
                print_driver(doc, now_usec, f);
                (void)fputc('\n', f);
                return 0;
        }
        cells = calloc(n, sizeof(*cells));
        if (!cells)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                read_cells(json_array_get(gpus, i), now_usec, &cells[i]);
        print_table(cells, n, terminal, legend, f);
        if (legend)
                print_last(doc, now_usec, f);
        return 0;
}
