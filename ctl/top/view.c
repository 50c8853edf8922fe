/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See view.h. */

#include "ctl/top/view.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/utf8.h"
#include "ctl/show/chart.h"
#include "ctl/show/fields.h"
#include "ctl/show/output.h"
#include "ctl/show/table.h"
#include "ctl/top/look.h"
#include <errno.h>
#include <math.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define NODE_BAR 16
#define BAR_AT 5 /* behind "CPU  " */
#define JOB_BAR 6
#define TREND 12

enum column {
        ID,
        NAME,
        USER,
        STATE,
        TIME,
        CPU,
        SHARE,
        LIST,
        MEM,
        GPU,
        GPU_MEM,
        GPU_UTIL,
        PRESSURE,
        PROGRESS,
        ETA,
        LOSS,
        TREND_LINE,
        WHY,
        N_COLUMNS,
};

static const struct sg_column columns[N_COLUMNS] = {
        [ID] = {"id", true, 0},
        [NAME] = {"name", false, 8},
        [USER] = {"user", false, 0},
        [STATE] = {"state", false, 0},
        [TIME] = {"time", true, 0},
        [CPU] = {"cpu", true, 0},
        [SHARE] = {"share", true, 0},
        [LIST] = {"list", false, 0},
        [MEM] = {"mem", true, 0},
        [GPU] = {"gpu", true, 0},
        [GPU_MEM] = {"gpumem", true, 0},
        [GPU_UTIL] = {"gpuutil", true, 0},
        [PRESSURE] = {"psi", true, 0},
        [PROGRESS] = {"progress", false, 0},
        [ETA] = {"eta", true, 0},
        [LOSS] = {"loss", true, 0},
        [TREND_LINE] = {"trend", false, 0},
        [WHY] = {"why", false, 10},
};

/* What goes first where there is no room. */
static const enum column drop_order[] = {USER,       PRESSURE, LIST,  TIME,    WHY,  SHARE,
                                         TREND_LINE, MEM,      STATE, GPU_MEM, LOSS, ETA,
                                         PROGRESS,   GPU_UTIL, CPU,   GPU};

/* --- cells --- */

static const char *or_dash(const char *s)
{
        return *s ? s : "-";
}

static const char *percent(double v, char *buf, size_t size)
{
        (void)snprintf(buf, size, isnan(v) ? "-" : "%.0f%%", v * 100);
        return buf;
}

/* "12/0/3": percent of the time that it waited for CPU, memory, IO. */
static const char *pressure(const double psi[_SG_PRESSURE_MAX], char *buf, size_t size)
{
        size_t used = 0;

        for (unsigned i = 0; i < _SG_PRESSURE_MAX && used < size; i++) {
                if (isnan(psi[i]))
                        return "-";
                used += (size_t)snprintf(buf + used, size - used, "%s%.0f", i > 0 ? "/" : "",
                                         psi[i] * 100);
        }
        return buf;
}

static const char *progress(const struct sg_job_progress *p, bool utf8, char *buf, size_t size)
{
        char bar[3 * JOB_BAR + 1], part[32];

        if (!*sg_fraction_text(p->fraction, part, sizeof(part)))
                return or_dash(isfinite(p->step) ? sg_step_text(p, buf, size) : "");
        (void)snprintf(buf, size, "%s %4s", sg_bar(p->fraction, JOB_BAR, utf8, bar), part);
        return buf;
}

static const char *bytes(double v, char *buf, size_t size)
{
        char text[SG_FORMAT_MAX];

        (void)snprintf(buf, size, "%s", isnan(v) ? "-" : sg_format_bytes(text, (uint64_t)v));
        return buf;
}

static const char *cpus(double v, char *buf, size_t size)
{
        (void)snprintf(buf, size, isnan(v) ? "-" : "%.2f", v);
        return buf;
}

static const char *cell(const struct sg_top_job *j, enum column c, bool utf8, char *buf,
                        size_t size)
{
        switch (c) {
        case ID:
                return sg_utf8_escape(j->id, buf, size);
        case NAME:
                return or_dash(sg_utf8_escape(j->name, buf, size));
        case USER:
                return sg_utf8_escape(j->user, buf, size);
        case STATE:
                return sg_utf8_escape(j->state, buf, size);
        case TIME:
                return isnan(j->running_sec)
                               ? "-"
                               : sg_table_duration(buf, size, (uint64_t)(j->running_sec * 1e6));
        case CPU:
                return cpus(j->rates.cpu, buf, size);
        case SHARE:
                return percent(j->share, buf, size);
        case LIST:
                return or_dash(sg_utf8_escape(j->list, buf, size));
        case MEM:
                return bytes(j->memory_bytes, buf, size);
        case GPU:
                return or_dash(sg_utf8_escape(j->gpu, buf, size));
        case GPU_MEM:
                return bytes(j->gpu_memory_bytes, buf, size);
        case GPU_UTIL:
                return percent(j->gpu_utilization / 100, buf, size);
        case PRESSURE:
                return pressure(j->rates.psi, buf, size);
        case PROGRESS:
                return progress(&j->progress, utf8, buf, size);
        case ETA:
                return or_dash(sg_eta_text(&j->progress, buf, size));
        case LOSS:
                return or_dash(sg_last_eval_text(&j->progress, buf, size));
        case TREND_LINE:
                return or_dash(sg_sparkline(j->trend, j->n_trend, TREND, utf8, buf));
        default:
                return or_dash(sg_utf8_escape(j->why, buf, size));
        }
}

/* --- the table --- */

static int choose(const bool shown[N_COLUMNS], unsigned width, struct sg_table *ret)
{
        struct sg_error ignored = {0};
        char list[256] = "";

        for (size_t i = 0; i < N_COLUMNS; i++)
                if (shown[i])
                        (void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
                                       *list ? "," : "", columns[i].name);
        return sg_table_init(ret, columns, N_COLUMNS, list, width, &ignored);
}

static unsigned total_width(const struct sg_table *t)
{
        unsigned total = 0;

        for (size_t i = 0; i < t->n; i++)
                total += t->width[i] + (i > 0 ? SG_TABLE_GAP : 0);
        return total;
}

static void measure(const struct sg_top *top, bool utf8, struct sg_table *t)
{
        char buf[LINE_MAX_BYTES];

        for (size_t k = 0; k < top->n; k++)
                for (size_t i = 0; i < t->n; i++)
                        sg_table_measure(t, i,
                                         cell(&top->jobs[k], (enum column)t->shown[i], utf8, buf,
                                              sizeof(buf)));
        sg_table_fit(t);
}

static bool any_gpus(const struct sg_top *top)
{
        for (size_t k = 0; k < top->n; k++)
                if (top->jobs[k].gpu[0])
                        return true;
        return false;
}

/* All that fits; of GPUs nothing where no job has any. */
static int make_table(const struct sg_top *top, const struct sg_top_view *v, struct sg_table *ret)
{
        bool shown[N_COLUMNS];
        int r;

        memset(shown, true, sizeof(shown));
        shown[GPU] = shown[GPU_MEM] = shown[GPU_UTIL] = any_gpus(top);
        for (size_t dropped = 0;; dropped++) {
                r = choose(shown, v->width, ret);
                if (r < 0)
                        return r;
                measure(top, v->utf8, ret);
                if (v->width == 0 || total_width(ret) <= v->width ||
                    dropped == SG_ELEMENTSOF(drop_order))
                        return 0;
                shown[drop_order[dropped]] = false;
        }
}

/* --- lines --- */

struct output {
        const struct sg_top_view *view;
        sg_top_put *put;
        void *userdata;
        unsigned row;
};

/* Where there is nothing but ASCII, a character that isn't becomes one that is. */
static void to_ascii(char *s)
{
        char *o = s;

        for (; *s; s++)
                if ((*s & 0x80) == 0)
                        *o++ = *s;
                else if (((unsigned char)*s & 0xc0) != 0x80)
                        *o++ = '?';
        *o = '\0';
}

/* What isn't plain, and nothing to the right of the view. */
static void add_span(struct sg_top_line *l, unsigned from, unsigned n, enum sg_top_look look)
{
        if (look != SG_TOP_PLAIN && l->n_spans < SG_TOP_SPANS)
                l->spans[l->n_spans++] = (struct sg_top_span){from, n, look};
}

static void clip(struct sg_top_line *l, unsigned width)
{
        while (l->n_spans > 0 && l->spans[l->n_spans - 1].from >= width)
                l->n_spans--;
        for (size_t i = 0; i < l->n_spans; i++)
                if (l->spans[i].n > width - l->spans[i].from)
                        l->spans[i].n = width - l->spans[i].from;
}

/* line: its spans; text may be changed. */
static void emit(struct output *out, char *text, struct sg_top_line *line)
{
        const struct sg_top_view *v = out->view;

        if (v->height > 0 && out->row >= v->height)
                return;
        text[strcspn(text, "\n")] = '\0';
        if (!v->utf8)
                to_ascii(text);
        if (v->width > 0)
                text[sg_text_prefix(text, v->width)] = '\0';
        line->text = text;
        clip(line, sg_text_width(text));
        out->put(out->userdata, out->row++, line);
}

static void put(struct output *out, char *text, enum sg_top_look look)
{
        emit(out, text, &(struct sg_top_line){.look = look});
}

static void node_line(const struct sg_top *t, struct output *out)
{
        const json_t *jobs = json_object_get(t->status, "jobs");
        const char *node = sg_document_string(t->status, "node"), *name;
        char line[LINE_MAX_BYTES], buf[256], at[SG_FORMAT_MAX];
        size_t used;
        json_t *n;

        used = (size_t)snprintf(line, sizeof(line), "%s  %s",
                                node ? sg_utf8_escape(node, buf, sizeof(buf)) : "",
                                t->at_usec > 0 ? sg_format_local(at, t->at_usec) + 11 : "");
        json_object_foreach ((json_t *)jobs, name, n)
                if (json_integer_value(n) > 0 && used < sizeof(line))
                        used += (size_t)snprintf(line + used, sizeof(line) - used, "  %lld %s",
                                                 (long long)json_integer_value(n), name);
        put(out, line, SG_TOP_BOLD);
        if (*t->trouble) {
                (void)snprintf(line, sizeof(line), "%s",
                               sg_utf8_escape(t->trouble, buf, sizeof(buf)));
                put(out, line, SG_TOP_RED);
        }
}

static void cpu_line(const struct sg_top *t, struct output *out)
{
        const json_t *load = json_object_get(t->status, "load");
        double busy = sg_document_number(load, "cpu_busy");
        bool known = !isnan(t->node.psi[0]);
        char line[LINE_MAX_BYTES], bar[3 * NODE_BAR + 1], part[32], psi[96] = "";
        struct sg_top_line looks = {0};

        (void)snprintf(line, sizeof(line),
                       "CPU  %s %4s of %.0f  load %.2f  %.0f running  %.0f blocked%s%s",
                       sg_bar(busy, NODE_BAR, out->view->utf8, bar),
                       percent(busy, part, sizeof(part)), sg_document_number(t->status, "cpus"),
                       sg_document_number(load, "load1"), sg_document_number(load, "running"),
                       sg_document_number(load, "blocked"), known ? "  psi " : "",
                       known ? pressure(t->node.psi, psi, sizeof(psi)) : "");
        add_span(&looks, BAR_AT, NODE_BAR, SG_TOP_GREEN);
        add_span(&looks, sg_text_width(line) - sg_text_width(psi), sg_text_width(psi),
                 sg_top_look_of_pressure(t->node.psi));
        emit(out, line, &looks);
}

static void memory_line(const struct sg_top *t, struct output *out)
{
        const json_t *load = json_object_get(t->status, "load");
        double total = sg_document_number(t->status, "memory_bytes");
        double available = sg_document_number(load, "memory_available_bytes");
        double swap = sg_document_number(load, "swap_total_bytes");
        double swap_free = sg_document_number(load, "swap_free_bytes"),
               used = 1 - available / total;
        char line[LINE_MAX_BYTES], bar[3 * NODE_BAR + 1], part[32], of[32], s[32], s_of[32];
        struct sg_top_line looks = {0};

        (void)snprintf(line, sizeof(line), "Mem  %s %4s of %s  swap %s of %s",
                       sg_bar(used, NODE_BAR, out->view->utf8, bar),
                       percent(used, part, sizeof(part)), bytes(total, of, sizeof(of)),
                       bytes(swap - swap_free, s, sizeof(s)), bytes(swap, s_of, sizeof(s_of)));
        add_span(&looks, BAR_AT, NODE_BAR, sg_top_look_of_memory(used));
        emit(out, line, &looks);
}

static size_t link_text(const struct sg_top_link *l, char *buf, size_t size)
{
        char rx[32], tx[32];
        int n;

        if (!l->up || isnan(l->rx)) /* rates take two looks */
                n = snprintf(buf, size, "  %s %s", l->name, l->up ? "up" : "down");
        else
                n = snprintf(buf, size, "  %s %s/s in, %s/s out", l->name,
                             bytes(l->rx, rx, sizeof(rx)), bytes(l->tx, tx, sizeof(tx)));
        if (l->new_errors > 0 && (size_t)n < size)
                n += snprintf(buf + n, size - (size_t)n, " (%.0f errors)", l->new_errors);
        return (size_t)n;
}

/* The loopback only where there is no other, and none that is down and never was up. */
static void link_line(const struct sg_top *t, struct output *out)
{
        char line[LINE_MAX_BYTES] = "Net";
        size_t used = strlen(line);
        bool trouble = false;

        for (size_t i = 0; i < t->n_links && used < sizeof(line); i++) {
                const struct sg_top_link *l = &t->links[i];

                if ((strcmp(l->name, "lo") == 0 && t->n_links > 1) ||
                    (!l->up && l->rx_bytes + l->tx_bytes <= 0))
                        continue;
                used += link_text(l, line + used, sizeof(line) - used);
                trouble |= l->new_errors > 0;
        }
        if (t->n_links > 0)
                put(out, line, trouble ? SG_TOP_RED : SG_TOP_PLAIN);
}

/* Of a cell in a line that is plain. */
static enum sg_top_look look_of_cell(const struct sg_top_job *j, enum column c)
{
        switch (c) {
        case ID:
        case NAME:
                return sg_top_look_of_turn(j->list);
        case STATE:
                return sg_top_look_of_state(j->state);
        case LIST:
                return sg_top_look_of_list(j->list);
        case PRESSURE:
                return sg_top_look_of_pressure(j->rates.psi);
        case LOSS:
                return j->progress.diverged ? SG_TOP_RED : SG_TOP_PLAIN;
        default:
                return SG_TOP_PLAIN;
        }
}

static void put_cells(const struct sg_table *table, const struct sg_top_job *j, bool utf8,
                      struct sg_top_line *line, FILE *f)
{
        char buf[LINE_MAX_BYTES];
        unsigned at = 0;

        for (size_t i = 0; i < table->n; i++) {
                enum column c = (enum column)table->shown[i];

                sg_table_print_cell(table, i, cell(j, c, utf8, buf, sizeof(buf)), "", "", f);
                if (line->look == SG_TOP_PLAIN)
                        add_span(line, at, table->width[i], look_of_cell(j, c));
                at += table->width[i] + SG_TABLE_GAP;
        }
}

/* One line of the table, NULL for its heading. */
static int table_line(const struct sg_table *table, const struct sg_top_job *j, struct output *out,
                      enum sg_top_look look)
{
        struct sg_top_line line = {.look = look};
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return -ENOMEM;
        if (j)
                put_cells(table, j, out->view->utf8, &line, f);
        else
                sg_table_print_heading(table, f);
        if (fclose(f) != 0)
                return -ENOMEM;
        emit(out, text, &line);
        return 0;
}

/* As many as fit whole, the rarest last; schedctl(1) has them all. */
static void key_line(const struct sg_top *t, struct output *out)
{
        static const char *const keys[] = {"c cpu", "m mem",  "s share", "p progress",
                                           "e eta", "t time", "i id",    "arrows select"};
        unsigned width = out->view->width;
        char line[LINE_MAX_BYTES];
        size_t used;

        used = (size_t)snprintf(line, sizeof(line),
                                "q quit  r reverse  by %s%s:", sg_top_keys[t->key],
                                t->reverse ? " (reverse)" : "");
        for (size_t i = 0; i < SG_ELEMENTSOF(keys); i++) {
                const char *gap = i > 0 ? "  " : " ";

                if (width > 0 && used + strlen(gap) + strlen(keys[i]) > width)
                        break;
                used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", gap, keys[i]);
        }
        put(out, line, SG_TOP_DIM);
}

/* Why the one that is selected gets what it gets. */
static void why_line(const struct sg_top *t, const struct sg_top_view *v, struct output *out)
{
        const struct sg_top_job *j = v->selected < t->n ? &t->jobs[t->order[v->selected]] : NULL;
        char line[LINE_MAX_BYTES] = "", why[512], name[256];

        if (j)
                (void)snprintf(line, sizeof(line), "%s %s: %s", j->id,
                               sg_utf8_escape(j->name, name, sizeof(name)),
                               *j->why ? sg_utf8_escape(j->why, why, sizeof(why)) : j->state);
        put(out, line, SG_TOP_PLAIN);
}

/* --- what goes where --- */

struct layout {
        unsigned head, foot; /* lines above the table's heading and below the jobs */
};

static struct layout layout_of(const struct sg_top_view *v)
{
        unsigned foot = v->interactive ? v->height >= 12 ? 2 : v->height >= 6 ? 1 : 0 : 0;

        if (v->height == 0 || v->height >= 12)
                return (struct layout){4, foot};
        return (struct layout){v->height >= 8 ? 2 : 1, foot};
}

unsigned sg_top_rows(const struct sg_top_view *v)
{
        struct layout l = layout_of(v);
        unsigned used = l.head + l.foot + 1;

        if (v->height == 0)
                return UINT32_MAX;
        return v->height > used ? v->height - used : 0;
}

static void into_bounds(const struct sg_top *t, struct sg_top_view *v)
{
        size_t rows = sg_top_rows(v);

        if (v->selected >= t->n)
                v->selected = t->n > 0 ? t->n - 1 : 0;
        if (v->first > v->selected)
                v->first = v->selected;
        if (rows > 0 && v->selected - v->first >= rows)
                v->first = v->selected - rows + 1;
        if (rows >= t->n)
                v->first = 0;
}

static void draw_node(const struct sg_top *t, unsigned lines, struct output *out)
{
        bool measured = json_is_object(json_object_get(t->status, "load"));

        node_line(t, out);
        if (lines > 1 && measured)
                cpu_line(t, out);
        if (lines > 2 && measured) {
                memory_line(t, out);
                link_line(t, out);
        }
}

static int draw_jobs(const struct sg_top *t, const struct sg_top_view *v, struct output *out)
{
        unsigned end = v->height > 0 ? v->height - layout_of(v).foot : UINT32_MAX;
        struct sg_table table;
        int r;

        r = make_table(t, v, &table);
        if (r >= 0 && !v->no_legend)
                r = table_line(&table, NULL, out, SG_TOP_HEADING);
        for (size_t i = v->first; r >= 0 && i < t->n && out->row < end; i++) {
                const struct sg_top_job *j = &t->jobs[t->order[i]];
                bool selected = v->interactive && i == v->selected;

                r = table_line(&table, j, out, selected ? SG_TOP_SELECTED : sg_top_look_of_job(j));
        }
        return r;
}

int sg_top_draw(const struct sg_top *t, struct sg_top_view *v, sg_top_put *put_line, void *userdata)
{
        struct output out = {.view = v, .put = put_line, .userdata = userdata};
        struct layout layout = layout_of(v);
        int r;

        into_bounds(t, v);
        draw_node(t, layout.head, &out);
        r = draw_jobs(t, v, &out);
        if (r < 0 || layout.foot == 0)
                return r;
        out.row = v->height - layout.foot;
        if (layout.foot > 1)
                why_line(t, v, &out);
        key_line(t, &out);
        return 0;
}
