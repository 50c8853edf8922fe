/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Patterns of users: what they match, what is refused, and what they cost. */

#include "base/cleanup.h"
#include "edge/pattern/syntax.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

SG_DEFINE_CLEANUP(struct sg_pattern *, sg_pattern_free)

static struct sg_pattern *compile(const char *pattern)
{
        _cleanup_free_ char *why = NULL;
        struct sg_pattern *p = NULL;
        int r = sg_pattern_new(&p, pattern, &why);

        if (r < 0)
                fail_msg("%s: %s", pattern, why ? why : strerror(-r));
        return p;
}

static int match(const char *pattern, const char *line, struct sg_report *ret)
{
        _cleanup_(sg_pattern_freep) struct sg_pattern *p = compile(pattern);

        return sg_pattern_match(p, line, strlen(line), ret);
}

static void test_fields(void **state)
{
        struct sg_report r = {.has = 0};

        (void)state;
        assert_int_equal(match("epoch (?<epoch>\\d+)/(?<epochs>\\d+), step (?<step>\\d+) of "
                               "(?P<total>\\S+): L=(?<loss>[-+.\\de]+)",
                               "12:00 epoch 2/30, step 17 of 1e3: L=-2.5e-1 (best)", &r),
                         1);
        assert_int_equal(r.has, 31);
        assert_int_equal(r.epoch, 2);
        assert_int_equal(r.epochs, 30);
        assert_int_equal(r.step, 17);
        assert_int_equal(r.total, 1000);
        assert_true(r.eval == -0.25);
}

static void test_values(void **state)
{
        struct sg_report r = {.has = 0};

        (void)state;
        assert_int_equal(match("loss=(\\S+)", "loss=0.5, acc=1", &r), 1); /* the only group */
        assert_int_equal(r.has, SG_REPORT_EVAL);
        assert_near(r.eval, 0.5, 0);
        assert_int_equal(match("loss=(\\S+)", "loss=nan", &r), 1);
        assert_true(isnan(r.eval));
        assert_int_equal(match("loss=(\\S+)", "loss=-inf", &r), 1);
        assert_true(isinf(r.eval));
        assert_true(r.eval < 0);
        assert_int_equal(match("loss=(\\S+)", "loss=None", &r), 0);
        assert_int_equal(match("loss=(\\S*)", "loss=", &r), 0);
        assert_int_equal(match("at (?<step>\\S+)", "at 12.0", &r), 1);
        assert_int_equal(r.step, 12);
        assert_int_equal(match("at (?<step>\\S+)", "at -3", &r), 0);
        assert_int_equal(match("at (?<step>\\S+)", "at 99999999999999999999999", &r), 0);
}

static void test_alternatives(void **state)
{
        const char *pattern = "train (?<loss>\\S+)|eval: (?<loss>\\S+) at (?<step>\\d+)";
        struct sg_report r = {.has = 0};

        (void)state;
        assert_int_equal(match(pattern, "train 3", &r), 1);
        assert_near(r.eval, 3, 0);
        assert_int_equal(r.has, SG_REPORT_EVAL);
        assert_int_equal(match(pattern, "eval: 4 at 7", &r), 1);
        assert_near(r.eval, 4, 0);
        assert_int_equal(r.step, 7);
        assert_int_equal(match(pattern, "trial 3", &r), 0);
}

struct expectation {
        const char *pattern, *line;
        double eval; /* NaN = no match */
};

static void expect(const struct expectation *e)
{
        struct sg_report r = {.eval = NAN};
        int m = match(e->pattern, e->line, &r);

        if (m != !isnan(e->eval) || (m && r.eval != e->eval))
                fail_msg("%s on %s: %d, %g", e->pattern, e->line, m, r.eval);
}

static void test_syntax(void **state)
{
        static const struct expectation all[] = {
                {"^a.c(\\d)$", "abc5", 5},
                {"^a.c(\\d)$", "abc5 ", NAN},
                {"a\\.c(\\d)", "abc5", NAN},
                {"a\\.c(\\d)", "a.c5", 5},
                {"[^a-c](\\d)", "a1b2d3", 3},
                {"[]^-](\\d)", "a1-2", 2},
                {"[]^-](\\d)", "a1^2", 2},
                {"[]^-](\\d)", "a1]2", 2},
                {"[\\]\\-^](\\d)", "a1\\2]3", 3},
                {"[[.](\\d)", "a1[2", 2},
                {"[[:alpha:]_](\\d)", "-1_2", 2},
                {"[^[:space:]\\d](\\d)", " 12a3", 3},
                {"[+--](\\d)", "a1,2", 2}, /* the range + to - */
                {"[^-](\\d)", "-1^2", 2},
                {"[a\\x41](\\d)", "b1A2", 2},
                {"\\x4c(\\d)", "K1L2", 2},
                {"\\bs=(\\d)", "loss=1 s=2", 2},
                {"\\Bs=(\\d)", "s=1 loss=2", 2},
                {"(?:ab){2}(\\d)", "ab1abab2", 2},
                {"x{2,3}(\\d)", "x1xx2", 2},
                {"x{2,}?(\\d)", "x1xxxx2", 2},
                {"{'l': (\\d)}", "{'l': 5}", 5}, /* a brace that repeats nothing is one */
                {"a{,2}(\\d)", "a{,2}5", 5},
                {"<.*?> (\\d)", "<a> 1 <b> 2", 1},
                {"<.*> (\\d)", "<a> 1 <b> 2", 2},
                {"(?i)LoSS[a-z]*: (\\d)", "lossES: 3", 3},
                {"(?i)[^a](\\d)", "A1b2", 2},
                {"Verlust für ä+: (\\d)", "Verlust für ää: 3", 3},
                {"é?(\\d)!", "1 é2!", 2},
                {"\t(\\d)", "1\t2", 2},
                {"\\t\\((\\d)\\)", "1\t(2)", 2},
                {"loss/(\\d)", "loss/5", 5},
                {"(?:|a)b()(?<loss>\\d)", "b5", 5},
                {"\\D\\W\\S(\\d)", "a-b5", 5},
                {"\\$(\\d)", "$5", 5},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(all); i++)
                expect(&all[i]);
}

static void test_bytes(void **state)
{
        _cleanup_(sg_pattern_freep) struct sg_pattern *p = compile("x.=(\\d)");
        struct sg_report r = {.has = 0};

        (void)state;
        assert_int_equal(sg_pattern_match(p, "\0x\0=5", 5, &r), 1); /* NUL is a byte */
        assert_true(r.eval == 5);
        assert_int_equal(sg_pattern_match(p, "x\xff=6", 4, &r), 1); /* not UTF-8 */
        assert_true(r.eval == 6);
        assert_int_equal(sg_pattern_match(p, "xy=5", 3, &r), 0); /* not beyond n */
}

static void expect_refused(const char *pattern, const char *what)
{
        _cleanup_free_ char *why = NULL;
        int r = sg_pattern_check(pattern, &why);

        if (r != -EINVAL || !why || !strstr(why, what))
                fail_msg("%s: %d, %s", pattern, r, why ? why : "no reason");
        if (strchr(why, '\n'))
                fail_msg("%s: more than one line: %s", pattern, why);
}

static void test_refused(void **state)
{
        static const char *const all[][2] = {
                {"(a)\\1", "character 4: back-references"},
                {"(?<loss>a)\\k<loss>", "back-references"},
                {"(?=a)(b)", "look-around"},
                {"(?<!a)(b)", "look-around"},
                {"(?<=a)(b)", "look-around"},
                {"a(?i)(b)", "in front"},
                {"(?#x)(b)", "there is"},
                {"(?<accuracy>.*)", "a field is"},
                {"(?<loss.*)", "a field is"},
                {"loss=", "no field is named"},
                {"", "no field is named"},
                {"(a)(b)", "none is named"},
                {"(a", "isn't closed"},
                {"a)", "never opened"},
                {"([a", "isn't closed"},
                {"([[:alfa:]])", "no such class"},
                {"([z-a])", "range"},
                {"([a-\\d])", "range"},
                {"([ä])", "ASCII"},
                {"([^\\d\\D])", "nothing can match"},
                {"(a)\\", "backslash"},
                {"(a)\\x1", "hexadecimal"},
                {"(a)\\x00", "hexadecimal"},
                {"(a)\\Qb", "isn't known"},
                {"*(a)", "nothing to repeat"},
                {"(*a)", "nothing to repeat"},
                {"^*(a)", "nothing to repeat"},
                {"(a)**", "follows another"},
                {"(a)+{2}", "follows another"},
                {"(a){0}", "at least once"},
                {"(a){3,2}", "from 0 to 255"},
                {"(a){256}", "from 0 to 255"},
                {"(a){99999999999999999999}", "from 0 to 255"},
                {"(a){1,99999999999999999999}", "from 0 to 255"},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(all); i++)
                expect_refused(all[i][0], all[i][1]);
        assert_int_equal(sg_pattern_check("(a", NULL), -EINVAL);
        assert_int_equal(sg_pattern_check("a(\\d)", NULL), 0);
}

static double cpu_now(void)
{
        struct timespec t;

        assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Bombs: refused before libtre sees them, which would take gigabytes and hours. */
static void test_too_large(void **state)
{
        static const char *const bombs[] = {
                "((x{1,50}){1,50}){1,50}(?<loss>y)", "((((((((x{9}){9}){9}){9}){9}){9}){9}){9})",
                "(((x{255}){255}){255}){255}",       "((x?){200}){5}(?<loss>y)",
                "(?<loss>(a|b|c|d|e|f|g|h){255})",   "([a-y0-9!#%&*:<>@]{100}){3}",
        };
        char deep[301] = "", longer[SG_PATTERN_LENGTH_MAX + 8];
        double begin = cpu_now();

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bombs); i++)
                expect_refused(bombs[i], "too large");
        for (size_t at = 0; at < sizeof(deep) - 1; at += 3)
                memcpy(deep + at, "(?:", 3);
        expect_refused(deep, "deep");
        memset(longer, 'x', sizeof(longer));
        longer[sizeof(longer) - 1] = 0;
        expect_refused(longer, "longer than 1024");
        expect_refused("(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(a)(?<loss>a)",
                       "more than 16");
        assert_true(cpu_now() - begin < 0.1);
}

static double match_seconds(const struct sg_pattern *p, size_t n)
{
        _cleanup_free_ char *line = malloc(n);
        struct sg_report r;
        double begin;

        assert_non_null(line);
        memset(line, 'a', n);
        begin = cpu_now();
        assert_int_equal(sg_pattern_match(p, line, n, &r), 0);
        return cpu_now() - begin;
}

/* Twenty times the text takes about twenty times as long, where backtracking takes forever; and no
 * accepted pattern takes more than a tenth of a second for the longest line that there is. */
static void test_linear(void **state)
{
        static const char *const patterns[] = {
                "(a*)*b",
                "(a|aa)+$b",
                "(a|a)*b",
                "((a*)*)*b(?<loss>c)",
                "(?:a?){60}a{60}(?<loss>b)",
                "(.*)(.*)(.*)(.*)(.*)(.*)(.*)(.*)(?<loss>x)",
                "(?:(?:a|aa|aaa){1,8}){1,4}(?<loss>b)",
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(patterns); i++) {
                _cleanup_(sg_pattern_freep) struct sg_pattern *p = compile(patterns[i]);
                double small, large;

                (void)match_seconds(p, 4096);
                small = match_seconds(p, 4096);
                large = match_seconds(p, 20 * 4096);
                if (small > 0.5 || large > 60 * small + 0.01)
                        fail_msg("%s: %g s, %g s", patterns[i], small, large);
        }
}

/* Lines without what must be in a match are not given to the matcher. */
static void expect_literal(const char *pattern, const char *literal)
{
        struct sg_pattern_syntax s;

        assert_int_equal(sg_pattern_syntax_parse(&s, pattern, NULL), 0);
        if (s.literal_size != strlen(literal) || memcmp(s.literal, literal, s.literal_size) != 0)
                fail_msg("%s: %.*s", pattern, (int)s.literal_size, s.literal);
        sg_pattern_syntax_deinit(&s);
}

static void test_literal(void **state)
{
        (void)state;
        expect_literal("step (\\d+), loss=(?<loss>\\S+)", ", loss=");
        expect_literal("losses?=(\\d)", "losse");
        expect_literal("a|bcd(\\d)", "");
        expect_literal("x(?:abc)?(\\d)", "x");
        expect_literal("(?i)loss(\\d)", "");
        expect_literal("losé*(\\d)", "los");
        expect_literal("a\\.b{3}(\\d)", "a.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_fields),       cmocka_unit_test(test_values),
                cmocka_unit_test(test_alternatives), cmocka_unit_test(test_syntax),
                cmocka_unit_test(test_bytes),        cmocka_unit_test(test_refused),
                cmocka_unit_test(test_too_large),    cmocka_unit_test(test_linear),
                cmocka_unit_test(test_literal),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
