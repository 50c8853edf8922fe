/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What jobs write, and what of it reaches a terminal. */

#include "tests/unit/test.h"

#include "ctl/show/visible.c"

struct screen {
        char text[65536];
        size_t size;
};

static void on_put(const char *s, size_t n, void *userdata)
{
        struct screen *out = userdata;

        assert_true(out->size + n < sizeof(out->text));
        memcpy(out->text + out->size, s, n);
        out->size += n;
        out->text[out->size] = '\0';
}

/* Whole, and byte by byte. */
static void shows(const char *s, size_t n, const char *wanted)
{
        for (size_t piece = 1; piece <= n; piece += n > 1 ? n - 1 : 1) {
                struct screen out = {.size = 0};
                struct sg_visible v = {.put = on_put, .userdata = &out};

                for (size_t at = 0; at < n; at += piece)
                        sg_visible_write(&v, s + at, piece < n - at ? piece : n - at);
                sg_visible_end(&v);
                assert_string_equal(out.text, wanted);
        }
}

#define SHOWS(s, wanted) shows(s, sizeof(s) - 1, wanted)

static void test_text_comes_through(void **state)
{
        (void)state;
        SHOWS("one\n\ttwo ä€\xf0\x9f\x98\x80\n", "one\n\ttwo ä€\xf0\x9f\x98\x80\n");
        SHOWS("no end", "no end");
        SHOWS("\n\n", "\n\n");
}

static void test_colours_come_through(void **state)
{
        (void)state;
        SHOWS("\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n\x1b[0m");
        SHOWS("\x1b[m", "\x1b[m\x1b[0m");
        SHOWS("\x1b[1;38;2;1;2;3;48:5:7mx", "\x1b[1;38;2;1;2;3;48:5:7mx\x1b[0m");
}

static void test_all_else_is_spelt_out(void **state)
{
        (void)state;
        SHOWS("\x1b]52;c;cm0gLXJm\a\n", "\\x1b]52;c;cm0gLXJm\\a\n");
        SHOWS("\x1b]0;title\x1b\\", "\\x1b]0;title\\x1b\\");
        SHOWS("\x1b[2J\x1b[H\x1b[6n", "\\x1b[2J\\x1b[H\\x1b[6n");
        SHOWS("\x1b[?1049h\x1b[>4;2m\x1bPq\x1b", "\\x1b[?1049h\\x1b[>4;2m\\x1bPq\\x1b");
        SHOWS("a\bb\x7f\v\f\x0e", "a\\bb\\x7f\\v\\f\\x0e");
        SHOWS("nul\0.", "nul\\x00.");
        SHOWS("\xc2\x9b"
              "2J \x9b"
              "2J",
              "\\xc2\\x9b2J \\x9b2J");
        SHOWS("\xe2\x80\xae"
              "evil \xe2\x81\xa6 \xd8\x9c",
              "\\xe2\\x80\\xaeevil \\xe2\\x81\\xa6 \\xd8\\x9c");
        SHOWS("\xe2\x82", "\\xe2\\x82");
        SHOWS("\x1b[", "\\x1b[");
        SHOWS("\x1b[31", "\\x1b[31");
}

static void test_colour_of_any_length(void **state)
{
        char text[5000] = "\x1b[";

        (void)state;
        memset(text + 2, '1', sizeof(text) - 4);
        text[sizeof(text) - 2] = 'm';
        text[sizeof(text) - 1] = '\0';
        {
                char wanted[sizeof(text) + 3];

                (void)snprintf(wanted, sizeof(wanted), "\\x1b%s", text + 1);
                shows(text, strlen(text), wanted);
        }
}

static void test_last_state_of_a_bar(void **state)
{
        (void)state;
        SHOWS("\r 10%\r 20%\r100%\ndone\n", "100%\ndone\n");
        SHOWS("10%\r20%\r", "20%");
        SHOWS("dos\r\nunix\n", "dos\nunix\n");
        SHOWS("twice\r\r\n", "twice\n");
        SHOWS("\r\n", "\n");
        SHOWS("gone\r    \rnext\n", "next\n");
}

/* What was put isn't taken back where nobody looks on, in a pager. */
static void test_longer_than_a_line(void **state)
{
        static char text[20000], wanted[20000];

        (void)state;
        memset(text, 'x', 9000);
        strcpy(text + 9000, "\rrest");
        memset(wanted, 'x', 8192);
        strcpy(wanted + 8192, "\nrest");
        shows(text, strlen(text), wanted);
        /* A character that the end of the buffer would cut. */
        memset(text, 'x', 8191);
        strcpy(text + 8191, "€ and \x1b[1m.");
        strcpy(wanted, text);
        strcat(wanted, "\x1b[0m");
        shows(text, strlen(text), wanted);
}

static void test_live(void **state)
{
        struct screen out = {.size = 0};
        struct sg_visible v = {.put = on_put, .userdata = &out, .live = true};

        (void)state;
        sg_visible_write(&v, "10%", 3);
        sg_visible_show(&v);
        assert_string_equal(out.text, "10%");
        sg_visible_write(&v, "\r15%\r20%\r", 9);
        sg_visible_show(&v);
        assert_string_equal(out.text, "10%\r20%");
        sg_visible_write(&v, "\n\xe2", 2);
        sg_visible_show(&v);
        assert_string_equal(out.text, "10%\r20%\n");
        sg_visible_write(&v, "\x82\xac\x1b", 3);
        sg_visible_show(&v);
        assert_string_equal(out.text, "10%\r20%\n€");
        sg_visible_write(&v, "]0;", 3);
        sg_visible_show(&v);
        assert_string_equal(out.text, "10%\r20%\n€\\x1b]0;");
        sg_visible_end(&v);
        assert_string_equal(out.text, "10%\r20%\n€\\x1b]0;");
}

static void json_shows(const char *json, const char *wanted)
{
        struct screen out = {.size = 0};

        sg_visible_json(json, on_put, &out);
        assert_string_equal(out.text, wanted);
}

static void test_json(void **state)
{
        (void)state;
        json_shows("{\"a\":\"ä€°\\n\"}", "{\"a\":\"ä€°\\n\"}");
        json_shows("\"\xc2\x9b\xe2\x80\xae\x7f\xd8\x9c.\xe2\x80\xa8\"",
                   "\"\\u009b\\u202e\\u007f\\u061c.\\u2028\"");
        json_shows("\xc2\x80", "\\u0080");
        json_shows("\xe2\x80\x93\xd8\xa7", "\xe2\x80\x93\xd8\xa7");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_text_comes_through),
                cmocka_unit_test(test_colours_come_through),
                cmocka_unit_test(test_all_else_is_spelt_out),
                cmocka_unit_test(test_colour_of_any_length),
                cmocka_unit_test(test_last_state_of_a_bar),
                cmocka_unit_test(test_longer_than_a_line),
                cmocka_unit_test(test_live),
                cmocka_unit_test(test_json),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
