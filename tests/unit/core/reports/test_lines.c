/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/reports/lines.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <stdlib.h>

#define MANY (100U << 20)

struct got {
        char text[2 * SG_LINE_MAX]; /* lines, each with a '|' behind it */
        size_t size, lines, bytes, longest;
};

static void on_line(const char *line, size_t n, void *userdata)
{
        struct got *g = userdata;

        assert_in_range(n, 1, SG_LINE_MAX);
        g->lines++;
        g->bytes += n;
        g->longest = n > g->longest ? n : g->longest;
        if (g->size + n + 2 > sizeof(g->text))
                return;
        memcpy(g->text + g->size, line, n);
        g->text[g->size + n] = '|';
        g->size += n + 1;
        g->text[g->size] = '\0';
}

/* The whole of it, in pieces of every size that matters. */
static void check(const char *in, size_t n, const char *want)
{
        for (size_t piece = 1; piece <= n; piece++) {
                struct sg_lines l = {0};
                struct got g = {0};

                for (size_t at = 0; at < n; at += piece)
                        sg_lines_feed(&l, in + at, piece < n - at ? piece : n - at, on_line, &g);
                if (strcmp(g.text, want) != 0)
                        print_message("in pieces of %zu\n", piece);
                assert_string_equal(g.text, want);
                sg_lines_deinit(&l);
        }
}
#define CHECK(in, want) check(in, sizeof(in) - 1, want)

static void test_ends(void **state)
{
        (void)state;
        CHECK("one\ntwo\r\nthree\n\n\nfour\n", "one|two|three|four|");
        CHECK("\r 10%|# |\r 20%|##|\r 30%", " 10%|# || 20%|##||");
        CHECK("a\0b\a\bc\td\n", "abc\td|");
        CHECK("text\b\b\b\b\rnext\n", "text|next|");
        CHECK("█▏\nüber\n", "█▏|über|");
        CHECK("\x80\xff\x9b[m\n", "\x80\xff\x9b[m|");
}

static void test_escapes(void **state)
{
        (void)state;
        CHECK("\033[1m12/60\033[0m \033[32m━\033[0m\n", "12/60 ━|");
        CHECK("\033[38;2;1;2;3mred\033[m\n", "red|");
        CHECK("\033]0;title\agone\033]8;;http://x\033\\link\n", "gonelink|");
        CHECK("one\033[Atwo\033[2Kthree\033[1;1Hfour\n", "one|twothree|four|");
        CHECK("a\033(Bb\0337c\033=d\n", "abcd|");
        /* Cut off or broken: the line's end is one all the same. */
        CHECK("a\033[12\nb\033]title\nc\033\nd\n", "a|b|c|d|");
        CHECK("a\033\033[1mb\033[\033[0mc\n", "abc|");
        CHECK("a\033[12\001b\n", "ab|");
        CHECK("a\033]x\033[1mb\n", "ab|");
}

static void test_long(void **state)
{
        char *in = malloc(2 * SG_LINE_MAX + 8);
        struct got g = {0};
        struct sg_lines l = {0};

        (void)state;
        memset(in, 'x', 2 * SG_LINE_MAX);
        memcpy(in + 2 * SG_LINE_MAX, "\nshort\n", 8);
        sg_lines_feed(&l, in, 2 * SG_LINE_MAX + 7, on_line, &g);
        assert_int_equal(g.lines, 2);
        assert_int_equal(g.bytes, SG_LINE_MAX + 5);
        assert_null(l.partial);
        for (size_t i = 0; i < 2 * SG_LINE_MAX + 7; i++)
                sg_lines_feed(&l, in + i, 1, on_line, &g);
        assert_int_equal(g.lines, 4);
        assert_int_equal(g.bytes, 2 * (SG_LINE_MAX + 5));
        sg_lines_deinit(&l);
        free(in);
}

/* Memory stays that of one line, and there is none once it has ended. */
static void test_endless(void **state)
{
        char chunk[65536];
        struct sg_lines l = {0};
        struct got g = {0};

        (void)state;
        memset(chunk, '.', sizeof(chunk));
        for (size_t n = 0; n < MANY; n += sizeof(chunk)) {
                sg_lines_feed(&l, chunk, sizeof(chunk), on_line, &g);
                assert_true(l.allocated <= SG_LINE_MAX);
        }
        assert_int_equal(g.lines, 0);
        sg_lines_feed(&l, "\nnext\n", 6, on_line, &g);
        assert_int_equal(g.lines, 2);
        assert_int_equal(g.longest, SG_LINE_MAX);
        assert_null(l.partial);
        sg_lines_deinit(&l);
}

static void test_peek(void **state)
{
        struct sg_lines l = {0};
        struct got g = {0};

        (void)state;
        sg_lines_peek(&l, on_line, &g);
        assert_int_equal(g.lines, 0);
        sg_lines_feed(&l, "one\r two", 8, on_line, &g);
        sg_lines_peek(&l, on_line, &g);
        sg_lines_feed(&l, "!\r", 2, on_line, &g);
        assert_string_equal(g.text, "one| two| two!|");
        sg_lines_deinit(&l);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_ends), cmocka_unit_test(test_escapes),
                cmocka_unit_test(test_long), cmocka_unit_test(test_endless),
                cmocka_unit_test(test_peek),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
