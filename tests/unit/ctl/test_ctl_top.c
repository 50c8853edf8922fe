/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What `schedctl top` makes of documents, and how it looks at several sizes. The sources come in as
 * text, see test_ctl_options.c. */

#include "tests/unit/test.h"

#include "base/format.h"

#include "ctl/show/axis.c"
#include "ctl/show/chart.c"
#include "ctl/show/curves.c"
#include "ctl/show/fields.c"
#include "ctl/show/gpu-text.c"
#include "ctl/show/output.c"
#include "ctl/show/progress.c"
#include "ctl/show/table.c"
#include "ctl/top/look.c"
#include "ctl/top/model.c"
#include "ctl/top/view.c"

#include "ctl/line/error.c"

#define START 1800000000000000ULL
#define SEC 1000000ULL

static json_t *status_document(unsigned round)
{
        return json_pack("{s:s,s:i,s:I,s:{s:i,s:i},s:{s:f,s:i,s:i,s:f,s:{s:I,s:I,s:I},s:I,s:I,s:I},"
                         "s:[{s:s,s:b,s:b,s:I,s:I},{s:s,s:b,s:b,s:I,s:I,s:i},{s:s,s:b}]}",
                         "node", "ada", "cpus", 8, "memory_bytes", (json_int_t)24 << 30, "jobs",
                         "running", 2, "queued", 1, "load", "cpu_busy", 0.45, "running", 3,
                         "blocked", 1, "load1", 1.25, "psi", "cpu_some_usec",
                         (json_int_t)(round * 240000), "memory_some_usec", (json_int_t)7,
                         "io_some_usec", (json_int_t)(round * 60000), "memory_available_bytes",
                         (json_int_t)18 << 30, "swap_total_bytes", (json_int_t)2 << 30,
                         "swap_free_bytes", (json_int_t)1 << 30, "links", "name", "lo", "up", 1,
                         "carrier", 1, "rx_bytes", (json_int_t)0, "tx_bytes", (json_int_t)0, "name",
                         "eth0", "up", 1, "carrier", 1, "rx_bytes", (json_int_t)(round << 21),
                         "tx_bytes", (json_int_t)(round << 11), "rx_dropped", round > 1 ? 4 : 0,
                         "name", "wlan0", "up", 0);
}

struct fields {
        const char *id, *name, *state, *reason;
        double cpu, share, loss, step, eta;
};

static json_t *job_document(const struct fields *f, unsigned round)
{
        char at[SG_FORMAT_MAX];
        json_t *job =
                json_pack("{s:s,s:s,s:s,s:s,s:s,s:{s:I,s:I,s:{s:I,s:I,s:I}},s:n,s:n,s:{s:n}}", "id",
                          f->id, "name", f->name, "user", "ada", "state", f->state, "reason",
                          f->reason, "usage", "cpu_usec", (json_int_t)(f->cpu * 2e6 * round),
                          "memory_bytes", (json_int_t)3 << 29, "psi", "cpu_some_usec",
                          (json_int_t)(100000 * round), "memory_some_usec", (json_int_t)0,
                          "io_some_usec", (json_int_t)0, "progress", "share", "times", "started");

        if (f->share > 0)
                (void)json_object_set_new(job, "share",
                                          json_pack("{s:f,s:s,s:s}", "share", f->share, "list",
                                                    "run", "why", "its loss still falls"));
        if (f->loss > 0)
                (void)json_object_set_new(job, "progress",
                                          json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:n}", "eval",
                                                    f->loss / round, "step", f->step, "total",
                                                    1000.0, "fraction", f->step / 1000, "eta_sec",
                                                    f->eta, "eta_low_sec", f->eta * 0.8,
                                                    "eta_high_sec", f->eta * 1.3, "best"));
        if (strcmp(f->state, "queued") != 0)
                (void)json_object_set_new(
                        job, "times",
                        json_pack("{s:s}", "started", sg_format_rfc3339(at, START - 600 * SEC)));
        return job;
}

static const struct fields jobs[] = {
        {"7", "train", "running", "", 1.5, 0.25, 0.8, 520, 720},
        {"8", "a-longer-name", "running", "", 3, 0.5, 2, 10, 86400},
        {"9", "wait\x1b[1mer", "queued", "2 jobs run and there may be 2", 0, 0, 0, 0, 0},
};

static void run_round(struct sg_top *t, unsigned round)
{
        json_t *list = json_array();

        for (size_t i = 0; i < SG_ELEMENTSOF(jobs); i++)
                (void)json_array_append_new(list, job_document(&jobs[i], round));
        assert_int_equal(
                sg_top_update(t, status_document(round), list, START + (round - 1) * 2 * SEC), 0);
}

static const char looks[] = " bhsdyrg";

static void print_line(void *userdata, unsigned row, const struct sg_top_line *line)
{
        (void)row;
        (void)fprintf(userdata, "%c|%s\n", looks[line->look], line->text);
}

/* Under each character how it looks, where that isn't as the line does. */
static void print_looks(void *userdata, unsigned row, const struct sg_top_line *line)
{
        char under[256];

        (void)row;
        memset(under, ' ', sizeof(under));
        for (size_t i = 0; i < line->n_spans; i++) {
                const struct sg_top_span *s = &line->spans[i];

                assert_true(s->n > 0);
                assert_true(s->from + s->n <= sg_text_width(line->text));
                memset(under + s->from, looks[s->look], s->n);
        }
        (void)fprintf(userdata, "%s\n%.*s\n", line->text, (int)sg_text_width(line->text), under);
}

static char *drawing(const struct sg_top *t, struct sg_top_view *v)
{
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        assert_non_null(f);
        assert_int_equal(sg_top_draw(t, v, print_line, f), 0);
        assert_int_equal(fclose(f), 0);
        return text;
}

static void assert_drawn(const struct sg_top *t, struct sg_top_view v, const char *wanted)
{
        _cleanup_free_ char *text = drawing(t, &v);

        assert_string_equal(text, wanted);
}

static int zone(void **state)
{
        (void)state;
        return setenv("TZ", "UTC", 1);
}

static const char first_text[] =
        "b|ada  08:00:00  2 running  1 queued\n"
        " |CPU  ███████▏░░░░░░░░  45% of 8  load 1.25  3 running  1 blocked\n"
        " |Mem  ████░░░░░░░░░░░░  25% of 24G  swap 1G of 2G\n"
        " |Net  eth0 up  wlan0 down\n"
        "h|ID  NAME           USER  STATE     TIME  CPU  SHARE  LIST   MEM  PSI  PROGRESS        "
        "ETA  "
        "LOSS  TREND  WHY\n"
        " | 7  train          ada   running  10:00    -    25%  run   1.5G    -  ███░░░  52%  12 "
        "min   "
        "0.8  ▁      its loss still falls\n"
        " | 8  a-longer-name  ada   running  10:00    -    50%  run   1.5G    -  ░░░░░░   1%    24 "
        "h     "
        "2  ▁      its loss still falls\n"
        "d| 9  wait\\x1b[1mer  ada   queued       -    -      -  -     1.5G    -  -                "
        " -    "
        " -  -      2 jobs run and there may be 2\n";

static const char wide_text[] =
        "b|ada  08:00:02  2 running  1 queued\n"
        " |CPU  ███████▏░░░░░░░░  45% of 8  load 1.25  3 running  1 "
        "blocked  psi 12/0/3\n"
        " |Mem  ████░░░░░░░░░░░░  25% of 24G  swap 1G of 2G\n"
        "r|Net  eth0 1M/s in, 1K/s out (4 errors)  wlan0 down\n"
        "h|ID  NAME           USER  STATE     TIME   CPU  SHARE  LIST   MEM    "
        "PSI  PROGRESS        ETA  LOSS  TREND  WHY\n"
        "s| 8  a-longer-name  ada   running  10:02  3.00    50%  run   1.5G  "
        "5/0/0  ░░░░░░   1%    24 h     1  █▁     its loss sti…\n"
        " | 7  train          ada   running  10:02  1.50    25%  run   1.5G  "
        "5/0/0  ███░░░  52%  12 min   0.4  █▁     its loss sti…\n"
        "d| 9  wait\\x1b[1mer  ada   queued       -  0.00      -  -     1.5G  "
        "5/0/0  -                 -     -  -      2 jobs run a…\n"
        " |8 a-longer-name: its loss still falls\n"
        "d|q quit  r reverse  by cpu: c cpu  m mem  s share  p progress  e eta  "
        "t time  i id  arrows select\n";

static const char ascii_text[] =
        "b|ada  08:00:02  2 running  1 queued\n"
        " |CPU  #######.........  45% of 8  load 1.25  3 running  1 blocked  psi 12/0/3\n"
        "h|ID  NAME           STATE     CPU  SHARE   MEM  PROGRESS        ETA  LOSS  TREND\n"
        " | 8  a-longer-name  running  3.00    50%  1.5G  ......   1%    24 h     1  @_\n"
        " | 7  train          running  1.50    25%  1.5G  ###...  52%  12 min   0.4  @_\n"
        "s| 9  wait\\x1b[1mer  queued   0.00      -  1.5G  -                 -     -  -\n"
        "d|q quit  r reverse  by cpu: c cpu  m mem  s share  p progress  e eta  t time\n";

static const char tiny_text[] = "b|ada  08:00:02  2 run\n"
                                "h|ID  NAME         CPU\n"
                                " | 8  a-longer-?  3.00\n"
                                " | 7  train       1.50\n"
                                "s| 9  wait\\x1b[?  0.00\n";

static void the_first_round_has_no_rates(void **state)
{
        struct sg_top t = {.key = SG_TOP_CPU};

        (void)state;
        run_round(&t, 1);
        assert_drawn(&t, (struct sg_top_view){.utf8 = true}, first_text);
        sg_top_deinit(&t);
}

static void on_a_terminal(void **state)
{
        struct sg_top t = {.key = SG_TOP_CPU};
        struct sg_top_view v = {.width = 120, .height = 14, .utf8 = true, .interactive = true};

        (void)state;
        run_round(&t, 1);
        run_round(&t, 2);
        assert_drawn(&t, v, wide_text);
        v.width = 80;
        v.height = 9;
        v.utf8 = false;
        v.selected = 2;
        assert_drawn(&t, v, ascii_text);
        v.width = 20;
        v.height = 5;
        assert_drawn(&t, v, tiny_text);
        sg_top_deinit(&t);
}

/* Whatever the size: no line is wider, no row lower, and the selected job is in sight. */
struct bounds {
        unsigned width, height, rows;
        bool selected;
};

static void check_line(void *userdata, unsigned row, const struct sg_top_line *line)
{
        struct bounds *b = userdata;

        assert_true(row < b->height);
        assert_true(sg_text_width(line->text) <= b->width);
        for (size_t i = 0; i < line->n_spans; i++) {
                assert_true(line->spans[i].n > 0);
                assert_true(line->spans[i].from + line->spans[i].n <= sg_text_width(line->text));
        }
        b->selected |= line->look == SG_TOP_SELECTED;
        b->rows++;
}

static void every_size_is_kept_to(void **state)
{
        struct sg_top t = {.key = SG_TOP_ID};
        json_t *list = json_array();

        (void)state;
        for (size_t i = 0; i < 100; i++)
                (void)json_array_append_new(list, job_document(&jobs[i % 3], 1));
        assert_int_equal(sg_top_update(&t, status_document(1), list, START), 0);
        for (unsigned height = 1; height < 60; height++)
                for (unsigned width = 1; width < 200; width += 7) {
                        struct sg_top_view v = {.width = width,
                                                .height = height,
                                                .utf8 = width % 2,
                                                .interactive = true};

                        for (size_t selected = 0; selected <= 99; selected += 33) {
                                struct bounds b = {.width = width, .height = height};

                                v.selected = selected;
                                assert_int_equal(sg_top_draw(&t, &v, check_line, &b), 0);
                                assert_true(b.selected || sg_top_rows(&v) == 0);
                                assert_true(b.rows <= height);
                        }
                }
        sg_top_deinit(&t);
}

static const char *const coloured[] = {
        "CPU  #######.........  45% of 8 ",
        "     gggggggggggggggg           ",
        "Mem  ####............  25% of 24G ",
        "     gggggggggggggggg             ",
        " 8  a-longer-name  ada   running  10:02  3.00    50%  wait  1.5G   5/50/0  ......   1% ",
        "                         ggggggg                      dddd        rrrrrrr              ",
        " 7  train          ada   running  10:02  1.50    25%  run   1.5G  60/0/20  ###...  52% ",
        "bb  bbbbbbbbbbbbb        ggggggg                      gggg        yyyyyyy              ",
        " 9  wait\\x1b[1mer  ada   queued ",
        "                                ",
};

/* States, who has the turn, and pressure; not in lines that look different as a whole. */
static void what_matters_has_colours(void **state)
{
        struct sg_top t = {.key = SG_TOP_CPU};
        struct sg_top_view v = {.width = 120};
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        (void)state;
        run_round(&t, 1);
        run_round(&t, 2);
        t.jobs[0].rates.psi[SG_PRESSURE_CPU] = .6;
        t.jobs[0].rates.psi[SG_PRESSURE_IO] = .2;
        t.jobs[1].rates.psi[SG_PRESSURE_MEMORY] = .5;
        t.jobs[1].list = "wait";
        assert_non_null(f);
        assert_int_equal(sg_top_draw(&t, &v, print_looks, f), 0);
        assert_int_equal(fclose(f), 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(coloured); i += 2) {
                const char *line = strstr(text, coloured[i]);

                assert_non_null(line);
                line = strchr(line, '\n') + 1;
                assert_memory_equal(line, coloured[i + 1], strlen(coloured[i + 1]));
        }
        sg_top_deinit(&t);
}

static void assert_order(struct sg_top *t, enum sg_top_key key, const char *wanted)
{
        char ids[16] = "";

        t->key = key;
        sg_top_sort(t);
        for (size_t i = 0; i < t->n; i++)
                (void)strcat(ids, t->jobs[t->order[i]].id);
        assert_string_equal(ids, wanted);
}

static void jobs_are_sorted(void **state)
{
        struct sg_top t = {0};

        (void)state;
        run_round(&t, 1);
        assert_order(&t, SG_TOP_ID, "789");
        assert_order(&t, SG_TOP_CPU, "789"); /* nothing is known yet */
        run_round(&t, 2);
        assert_order(&t, SG_TOP_CPU, "879");
        assert_order(&t, SG_TOP_SHARE, "879");
        assert_order(&t, SG_TOP_PROGRESS, "789");
        assert_order(&t, SG_TOP_ETA, "789");
        t.reverse = true;
        assert_order(&t, SG_TOP_ETA, "879"); /* who has none is still last */
        assert_order(&t, SG_TOP_ID, "987");
        sg_top_deinit(&t);
}

static json_t *series_document(size_t n)
{
        json_t *c = json_object();
        static const char *const keys[] = {"time", "eval", "step", "cpu", "share", "memory_bytes"};

        for (size_t k = 0; k < SG_ELEMENTSOF(keys); k++) {
                json_t *list = json_array();

                for (size_t i = 0; i < n; i++)
                        (void)json_array_append_new(list, json_real((double)(n - i)));
                if (k == 0)
                        for (size_t i = 0; i < n; i++)
                                (void)json_array_set_new(list, i, json_real((double)i));
                (void)json_object_set_new(c, keys[k], list);
        }
        return json_pack("{s:o}", "columns", c);
}

static void trends_begin_with_the_series(void **state)
{
        struct sg_top t = {0};
        json_t *series = series_document(400);

        (void)state;
        run_round(&t, 1);
        sg_top_add_series(&t, "7", series);
        sg_top_add_series(&t, "70", series); /* which has gone meanwhile */
        assert_int_equal(t.jobs[0].n_trend, SG_TOP_TREND / 2 + 1);
        assert_near(t.jobs[0].trend[0], 400, 0);
        assert_near(t.jobs[0].trend[15], 1, 0);
        assert_true(t.jobs[0].trend[16] == 0.8);
        assert_int_equal(t.jobs[1].n_trend, 1);
        for (unsigned round = 2; round < 40; round++)
                run_round(&t, round);
        assert_int_equal(t.jobs[0].n_trend, SG_TOP_TREND);
        assert_true(t.jobs[0].trend[SG_TOP_TREND - 1] == 0.8 / 39);
        run_round(&t, 39); /* nothing new was reported */
        assert_true(t.jobs[0].trend[SG_TOP_TREND - 2] == 0.8 / 38);
        json_decref(series);
        sg_top_deinit(&t);
}

static void strange_documents_are_shown_as_far_as_they_go(void **state)
{
        struct sg_top_view v = {.width = 80, .height = 24, .utf8 = true, .interactive = true};
        struct sg_top t = {0};
        _cleanup_free_ char *text = NULL;

        (void)state;
        assert_int_equal(sg_top_update(&t, json_object(), json_pack("[{},n,[],{s:i}]", "id", 3), 1),
                         0);
        (void)strcpy(t.trouble, "lost the connection");
        text = drawing(&t, &v);
        assert_non_null(strstr(text, "r|lost the connection\n"));
        assert_null(strstr(text, "nan"));
        assert_int_equal(sg_top_update(&t, json_array(), json_array(), 2), -EBADMSG);
        assert_int_equal(sg_top_update(&t, json_object(), json_object(), 2), -EBADMSG);
        assert_int_equal(t.n, 4);
        sg_top_deinit(&t);
}

static void assert_eta(double sec, double low, double high, const char *wanted)
{
        struct sg_job_progress p = {.eta_sec = sec, .eta_low_sec = low, .eta_high_sec = high};
        char buf[96];

        assert_string_equal(sg_eta_text_long(&p, buf, sizeof(buf)), wanted);
}

static void etas_are_told_with_what_is_not_known(void **state)
{
        char buf[32];

        (void)state;
        assert_eta(720, 600, 900, "12 min (10-15 min)");
        assert_eta(720, 715, 724, "12 min");
        assert_eta(720, NAN, 900, "12 min");
        assert_eta(NAN, 600, 900, "");
        assert_eta(INFINITY, 600, 900, "");
        assert_eta(0, 0, 0, "0 s");
        assert_eta(45, 30, 100, "45 s (30-100 s)");
        assert_eta(105, 93, 117, "1.8 min (1.6-1.9 min)");
        assert_eta(9000, 7200, 12600, "2.5 h (2.0-3.5 h)");
        assert_eta(3.2 * 86400, 3 * 86400, 12 * 86400, "3.2 d (3.0-12 d)");
        assert_string_equal(sg_fraction_text(0.999, buf, sizeof(buf)), "99%");
        assert_string_equal(sg_fraction_text(1, buf, sizeof(buf)), "100%");
        assert_string_equal(sg_fraction_text(NAN, buf, sizeof(buf)), "");
        assert_string_equal(sg_share_text(1. / 6, buf, sizeof(buf)), "16.7%");
        assert_string_equal(sg_share_text(1, buf, sizeof(buf)), "100%");
        assert_string_equal(sg_share_text(NAN, buf, sizeof(buf)), "");
}

/* When only the end of an epoch is known, nobody is to take it for the run's. */
static void an_epoch_is_told_from_the_run(void **state)
{
        struct sg_job_progress p = {.step = 38, .total = 60, .eta_sec = 22, .epoch = 2};
        char buf[96];

        (void)state;
        assert_string_equal(sg_step_text(&p, buf, sizeof(buf)), "38 of 60 (epoch 2)");
        assert_string_equal(sg_eta_text(&p, buf, sizeof(buf)), ">22 s");
        p.epoch = NAN;
        assert_string_equal(sg_step_text(&p, buf, sizeof(buf)), "38 of 60");
        assert_string_equal(sg_eta_text(&p, buf, sizeof(buf)), "22 s");
}

static void a_deadline_is_held_against_the_eta(void **state)
{
        struct sg_job_progress p = {.eta_sec = 720, .eta_low_sec = 600, .eta_high_sec = 900};
        struct sg_job_progress unknown = {.eta_sec = NAN, .eta_low_sec = NAN, .eta_high_sec = NAN};

        (void)state;
        assert_string_equal(sg_eta_warning(&p, 900), "");
        assert_string_equal(sg_eta_warning(&p, 899), " (may be late)");
        assert_string_equal(sg_eta_warning(&p, 600), " (may be late)");
        assert_string_equal(sg_eta_warning(&p, 599), " (will be late)");
        assert_string_equal(sg_eta_warning(&p, -1), " (it is past)");
        assert_string_equal(sg_eta_warning(&unknown, 1), "");
        assert_string_equal(sg_eta_warning(&unknown, -1), " (it is past)");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_first_round_has_no_rates),
                cmocka_unit_test(on_a_terminal),
                cmocka_unit_test(every_size_is_kept_to),
                cmocka_unit_test(what_matters_has_colours),
                cmocka_unit_test(jobs_are_sorted),
                cmocka_unit_test(trends_begin_with_the_series),
                cmocka_unit_test(strange_documents_are_shown_as_far_as_they_go),
                cmocka_unit_test(etas_are_told_with_what_is_not_known),
                cmocka_unit_test(an_epoch_is_told_from_the_run),
                cmocka_unit_test(a_deadline_is_held_against_the_eta),
        };

        return cmocka_run_group_tests(tests, zone, NULL);
}
