/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schedctl's charts: a document in, text out. The sources come in as text,
 * see test_ctl_options.c. */

#include "tests/unit/test.h"

#include "ctl/show/axis.c"
#include "ctl/show/chart.c"
#include "ctl/show/curves.c"
#include "ctl/show/output.c"
#include "ctl/show/plot.c"
#include "ctl/show/plot_svg.c"
#include "ctl/show/svg.c"
#include "ctl/show/table.c"

#include "ctl/line/error.c"

/* A loss that falls from 2 to 0.2 in an hour, on half of two CPUs that become two. */
static json_t *fixture(size_t n)
{
        json_t *c = json_object();
        static const char *const keys[] = {"time", "eval", "step", "cpu", "share", "memory_bytes"};

        for (size_t k = 0; k < SG_ELEMENTSOF(keys); k++)
                (void)json_object_set_new(c, keys[k], json_array());
        for (size_t i = 0; i < n; i++) {
                double x = n > 1 ? (double)i / (double)(n - 1) : 0;
                const double v[] = {1.8e15 + x * 3.6e9, 0.2 + 1.8 * (1 - x) * (1 - x),
                                    (double)(10 * i),   x < 0.5 ? 1 : 2,
                                    x < 0.5 ? 0.5 : 1,  (double)(i << 20)};

                for (size_t k = 0; k < SG_ELEMENTSOF(keys); k++)
                        (void)json_array_append_new(json_object_get(c, keys[k]),
                                                    k == 1 && i == 1 ? json_null()
                                                                     : json_real(v[k]));
        }
        return json_pack("{s:s,s:s,s:o}", "schema", "schedgov.series/1", "id", "7", "columns", c);
}

struct drawing {
        struct sg_curves curves;
        struct sg_plot plot;
        struct sg_error error;
        char *text;
        size_t size;
        FILE *f;
};

static void begin(struct drawing *d, json_t *series, const char *list)
{
        *d = (struct drawing){0};
        assert_int_equal(sg_curves_init(&d->curves, series), 0);
        json_decref(series);
        assert_int_equal(sg_plot_init(&d->plot, "7 train, running", &d->curves, list, &d->error),
                         0);
        d->f = open_memstream(&d->text, &d->size);
        assert_non_null(d->f);
}

static const char *finish(struct drawing *d)
{
        assert_int_equal(fclose(d->f), 0);
        return d->text;
}

static void drop(struct drawing *d)
{
        sg_plot_deinit(&d->plot);
        sg_curves_deinit(&d->curves);
        free(d->text);
}

/* Nothing is wider, and there are this many lines. */
static void assert_fits(const char *text, unsigned width, unsigned lines)
{
        _cleanup_free_ char *copy = strdup(text);
        unsigned n = 0;

        for (char *p = copy, *l; (l = strsep(&p, "\n")) && *l; n++)
                assert_true(sg_text_width(l) <= width);
        assert_int_equal(n, lines);
}

static const char in_braille[] = "7 train, running\n"
                                 "         loss: 0.2\n"
                                 "      2 ┤⠑⠒⠢⠤⣀⡀\n"
                                 "        │     ⠈⠉⠑⠒⠤⠤⣀⡀\n"
                                 "      1 ┤            ⠈⠉⠉⠒⠒⠢⠤⢄⣀⣀\n"
                                 "        │                      ⠉⠉⠑⠒⠒⠢⠤⠤⠤⣀⣀⣀⣀\n"
                                 "      0 ┤                                   ⠉⠉⠉⠉⠉⠉⠑⠒⠒⠒⠒⠒⠒⠒⠒⠒\n"
                                 "         share of the node: 100%\n"
                                 "   100% ┤                         ⢸⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉\n"
                                 "        │                         ⡜\n"
                                 "    50% ┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠇\n"
                                 "        │\n"
                                 "     0% ┤\n"
                                 "         CPUs in use: 2\n"
                                 "      2 ┤                         ⢸⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉⠉\n"
                                 "        │                         ⡜\n"
                                 "      1 ┤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠤⠇\n"
                                 "        │\n"
                                 "      0 ┤\n"
                                 "        └┬────────────┬───────────┬────────────┬───────────┬\n"
                                 "         0s           15min       30min        45min      1h\n";

static const char in_ascii[] = "7 train, running\n"
                               "         loss: 0.2\n"
                               "      2 +''...\n"
                               "        |    '''....\n"
                               "      1 +          ''''....\n"
                               "        |                 ''''':.......\n"
                               "      0 +                             ''''''''''''\n"
                               "         memory: 99M\n"
                               "   128M +\n"
                               "        |                                ......'''\n"
                               "    64M +                    ......:''''''\n"
                               "        |         ......''''''\n"
                               "     0B +...:'''''\n"
                               "        ++---------+---------+---------+---------+\n"
                               "         0s        15min     30min     45min    1h\n";

static void assert_text(struct drawing *d, const char *wanted)
{
        assert_string_equal(finish(d), wanted);
        drop(d);
}

static void a_plot_in_braille(void **state)
{
        struct drawing d;

        (void)state;
        begin(&d, fixture(100), NULL);
        assert_int_equal(sg_plot_print(&d.plot, 60, 21, true, d.f), 0);
        assert_text(&d, in_braille);
}

static void a_plot_in_ascii(void **state)
{
        struct drawing d;

        (void)state;
        begin(&d, fixture(100), "eval,memory");
        assert_int_equal(sg_plot_print(&d.plot, 50, 15, false, d.f), 0);
        assert_text(&d, in_ascii);
}

static void plots_fit_the_terminal(void **state)
{
        static const unsigned widths[] = {20, 37, 80, 300}, heights[] = {24, 50};
        struct drawing d;

        (void)state;
        for (size_t w = 0; w < SG_ELEMENTSOF(widths); w++)
                for (size_t h = 0; h < SG_ELEMENTSOF(heights); h++)
                        for (unsigned utf8 = 0; utf8 < 2; utf8++) {
                                unsigned lines = (heights[h] - 6) / 3;

                                begin(&d, fixture(510), NULL);
                                assert_int_equal(
                                        sg_plot_print(&d.plot, widths[w], heights[h], utf8, d.f),
                                        0);
                                assert_fits(finish(&d), widths[w], 3 * (lines + 1) + 3);
                                drop(&d);
                        }
}

static void few_points_and_none(void **state)
{
        struct drawing d;

        (void)state;
        begin(&d, fixture(0), NULL);
        assert_int_equal(sg_plot_print(&d.plot, 50, 15, false, d.f), 0);
        assert_text(&d, "7 train, running\n         nothing was measured yet\n");
        begin(&d, fixture(0), NULL);
        d.plot.ended = true;
        assert_int_equal(sg_plot_print(&d.plot, 80, 15, false, d.f), 0);
        assert_text(&d, "7 train, running\n         nothing was measured: it ended too soon\n");
        begin(&d, fixture(1), "eval");
        assert_int_equal(sg_plot_print(&d.plot, 29, 7, false, d.f), 0);
        assert_text(&d, "7 train, running\n"
                        "         loss: 2\n"
                        "      5 +\n"
                        "        |.\n"
                        "      0 +\n"
                        "        ++---+---+--+---+---+\n"
                        "         0s  200ms  600ms  1s\n");
}

/* A series with one value in the place of another. */
static json_t *with(const char *column, size_t i, json_t *v)
{
        json_t *series = fixture(50);
        json_t *list = json_object_get(json_object_get(series, "columns"), column);

        (void)json_array_set_new(list, i, v);
        return series;
}

static void odd_values_are_drawn_or_left_out(void **state)
{
        static const double odd[] = {1e308, -1e308, 1e-300, -5, 0, 1e17};
        struct drawing d;

        (void)state;
        for (size_t k = 0; k < SG_ELEMENTSOF(odd); k++)
                for (size_t i = 0; i < 50; i += 49) {
                        begin(&d, with("eval", i, json_real(odd[k])), NULL);
                        assert_int_equal(sg_plot_print(&d.plot, 60, 24, true, d.f), 0);
                        assert_fits(finish(&d), 60, 24);
                        assert_null(strstr(d.text, "nan"));
                        assert_null(strstr(d.text, "inf"));
                        drop(&d);
                }
        begin(&d, with("eval", 49, json_real(0.001)), "eval"); /* by a factor of 2000 */
        assert_int_equal(sg_plot_print(&d.plot, 60, 15, true, d.f), 0);
        assert_non_null(strstr(finish(&d), "loss (logarithmic): 0.001\n"));
        assert_non_null(strstr(d.text, "  0.001 ┤"));
        drop(&d);
}

static void garbled_series_are_refused(void **state)
{
        json_t *bad[] = {
                json_object(),
                json_pack("{s:s}", "columns", "x"),
                json_pack("{s:{s:[]}}", "columns", "time"),
                with("time", 3, json_null()),
                with("time", 3, json_real(1)), /* goes back */
        };
        struct sg_curves c;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                assert_int_equal(sg_curves_init(&c, bad[i]), -EBADMSG);
                json_decref(bad[i]);
        }
}

/* What it did last isn't what it does now. */
static void a_job_that_has_ended_is_summed_up(void **state)
{
        struct drawing d;

        (void)state;
        begin(&d, fixture(101), "eval,cpu,memory,step");
        d.plot.ended = true;
        assert_int_equal(sg_plot_print(&d.plot, 60, 40, true, d.f), 0);
        (void)finish(&d);
        assert_non_null(strstr(d.text, " loss: 0.2 at the end\n"));
        assert_non_null(strstr(d.text, " CPUs in use: 1.51 on average\n"));
        assert_non_null(strstr(d.text, " memory: 100M at most\n"));
        assert_non_null(strstr(d.text, " step: 1000 at the end\n"));
        drop(&d);
}

static void only_known_panels(void **state)
{
        json_t *series = fixture(3);
        struct sg_curves c;
        struct sg_error e = {0};
        struct sg_plot p;

        (void)state;
        assert_int_equal(sg_curves_init(&c, series), 0);
        assert_int_equal(sg_plot_init(&p, "", &c, "eval,gpu", &e), -ECANCELED);
        assert_non_null(strstr(e.what, "eval,share,cpu,memory,step"));
        sg_curves_deinit(&c);
        json_decref(series);
}

static void as_csv(void **state)
{
        struct drawing d;

        (void)state;
        begin(&d, fixture(3), NULL);
        sg_curves_print_csv(&d.curves, d.f);
        assert_text(&d, "time,eval,step,cpu,share,memory_bytes\n"
                        "2027-01-15T08:00:00.000000Z,2,0,1,0.5,0\n"
                        "2027-01-15T08:30:00.000000Z,,10,2,1,1048576\n"
                        "2027-01-15T09:00:00.000000Z,0.2,20,2,1,2097152\n");
}

/* What a name may be must not become markup, or bytes that are no XML. */
static void as_svg(void **state)
{
        struct drawing d;

        (void)state;
        begin(&d, fixture(50), NULL);
        d.plot.heading = "<b>\x01&\xff\xc3\xa4";
        sg_plot_print_svg(&d.plot, d.f);
        (void)finish(&d);
        assert_non_null(strstr(d.text, "<title>&lt;b&gt;?&amp;?\xc3\xa4</title>"));
        assert_non_null(strstr(d.text, "viewBox=\"0 0 800 620\""));
        assert_non_null(strstr(d.text, "class=\"title\">share of the node: 100%</text>"));
        assert_non_null(strstr(d.text, "<path class=\"line\" d=\"M80.0 "));
        assert_true(strncmp(d.text + d.size - 7, "</svg>\n", 7) == 0);
        assert_null(strstr(d.text, "nan"));
        drop(&d);
}

static void sparklines_and_bars(void **state)
{
        static const double v[] = {9, 1, NAN, 2, 4, 8};
        char buf[64];

        (void)state;
        assert_string_equal(sg_sparkline(v, 6, 5, true, buf), "▁ ▂▄█");
        assert_string_equal(sg_sparkline(v, 6, 5, false, buf), "_ .=@");
        assert_string_equal(sg_sparkline(v + 1, 1, 5, true, buf), "▁");
        assert_string_equal(sg_sparkline(v + 2, 1, 5, true, buf), "");
        assert_string_equal(sg_sparkline(v, 0, 5, true, buf), "");
        assert_string_equal(sg_bar(0.5, 5, true, buf), "██▌░░");
        assert_string_equal(sg_bar(1, 2, true, buf), "██");
        assert_string_equal(sg_bar(7, 2, true, buf), "██");
        assert_string_equal(sg_bar(NAN, 2, true, buf), "░░");
        assert_string_equal(sg_bar(0.5, 4, false, buf), "##..");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_plot_in_braille),
                cmocka_unit_test(a_plot_in_ascii),
                cmocka_unit_test(plots_fit_the_terminal),
                cmocka_unit_test(few_points_and_none),
                cmocka_unit_test(odd_values_are_drawn_or_left_out),
                cmocka_unit_test(garbled_series_are_refused),
                cmocka_unit_test(a_job_that_has_ended_is_summed_up),
                cmocka_unit_test(only_known_panels),
                cmocka_unit_test(as_csv),
                cmocka_unit_test(as_svg),
                cmocka_unit_test(sparklines_and_bars),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
