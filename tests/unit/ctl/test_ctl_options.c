/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schedctl's command line. Test programs are linked with the daemon's archives only, so the pure
 * parts of schedctl come in as text. */

#include "tests/unit/test.h"

#include "ctl/line/elsewhere.c"
#include "ctl/line/ids.c"
#include "ctl/line/option_table.c"
#include "ctl/line/option_value.c"
#include "ctl/line/options.c"
#include "ctl/line/suggest.c"
#include "ctl/show/output.c"

#include "ctl/line/error.c"

#define NOW 1800000000000000ULL
#define WORDS_MAX 64

struct line {
        char text[2048], *argv[WORDS_MAX];
        struct sg_invocation inv;
        struct sg_error error;
        int result;
};

/* Splits at '|', so that words may have spaces. */
static void parse(struct line *l, const char *text)
{
        int argc = 0;

        *l = (struct line){0};
        (void)snprintf(l->text, sizeof(l->text), "schedctl|%s", text);
        for (char *p = l->text, *word; (word = strsep(&p, "|"));)
                l->argv[argc++] = word;
        l->result = sg_options_parse(argc, l->argv, NOW, &l->inv, &l->error);
}

static void drop(struct line *l)
{
        sg_invocation_deinit(&l->inv);
}

static void assert_words(const struct line *l, const char *text)
{
        char joined[2048] = "";

        for (size_t i = 0; i < l->inv.n_args; i++)
                (void)snprintf(joined + strlen(joined), sizeof(joined) - strlen(joined), "%s%s",
                               i > 0 ? "|" : "", l->inv.args[i]);
        assert_string_equal(joined, text);
        assert_null(l->inv.args[l->inv.n_args]);
}

static void options_stand_before_and_behind_the_verb(void **state)
{
        struct line l;

        (void)state;
        parse(&l, "--socket|/s|--json|list|--all|--no-legend|--user=bob|-o|id,cpu|--no-pager");
        assert_int_equal(l.result, 0);
        assert_int_equal(l.inv.verb, SG_VERB_LIST);
        assert_string_equal(l.inv.socket, "/s");
        assert_string_equal(l.inv.user, "bob");
        assert_string_equal(l.inv.columns, "id,cpu");
        assert_true(l.inv.json);
        assert_true(l.inv.all);
        assert_true(l.inv.no_legend);
        assert_true(l.inv.no_pager);
        assert_words(&l, "");
        drop(&l);

        parse(&l, "--user|list|--user|bob");
        assert_int_equal(l.result, 0);
        assert_true(l.inv.own);
        assert_string_equal(l.inv.user, "bob");
        drop(&l);

        parse(&l, "--user=bob|submit|true");
        assert_int_equal(l.result, -ECANCELED);
        drop(&l);

        parse(&l, "submit|--user|true");
        assert_int_equal(l.result, 0);
        assert_true(l.inv.own);
        assert_null(l.inv.user);
        assert_words(&l, "true");
        drop(&l);

        parse(&l, "--mem|1G|submit|true");
        assert_int_equal(l.result, 0);
        assert_int_equal(l.inv.limits[SG_LIMIT_MEMORY_MAX], 1ULL << 30);
        drop(&l);

        parse(&l, "--tasks|list");
        assert_int_equal(l.result, 0);
        assert_true(l.inv.tasks);
        drop(&l);

        parse(&l, "--tasks|100|run|true");
        assert_int_equal(l.result, 0);
        assert_false(l.inv.tasks);
        assert_int_equal(l.inv.limits[SG_LIMIT_TASKS], 100);
        drop(&l);

        parse(&l, "wait|5|--any|6|--|--7");
        assert_int_equal(l.result, 0);
        assert_words(&l, "5|6|--7");
        drop(&l);
}

static void commands_keep_their_options(void **state)
{
        struct line l;

        (void)state;
        parse(&l, "run|--cpus|2|--|prog|--json|-n|5|--");
        assert_int_equal(l.result, 0);
        assert_words(&l, "prog|--json|-n|5|--");
        assert_false(l.inv.json);
        drop(&l);

        parse(&l, "submit|--hold|prog|--mem|x|--|y");
        assert_int_equal(l.result, 0);
        assert_words(&l, "prog|--mem|x|--|y");
        drop(&l);

        parse(&l, "submit|--");
        assert_int_equal(l.result, 0);
        assert_words(&l, "");
        drop(&l);
}

static void every_job_option_has_its_value(void **state)
{
        struct line l;

        (void)state;
        parse(&l,
              "submit|--name|a b|--class|train|--cpus|2-8|--pin|--cpu-weight|300|--cpu-quota|20%|"
              "--mem|4G|--mem-high|512M|--mem-swap|0|--tasks|infinity|--io-weight|50|"
              "--io-read-max|10M|--io-write-max|1.5M|--time-limit|2h|"
              "--priority|-3|--begin|+10min|--retry|2|--array|0-9|--workdir|/w|--output|o-%j|"
              "--error|e|--on-end|mail|--hold|--no-wait|--dry-run|--|x");
        assert_string_equal(l.error.what, "");
        assert_int_equal(l.result, 0);
        assert_string_equal(l.inv.name, "a b");
        assert_string_equal(l.inv.class, "train");
        assert_int_equal(l.inv.cpus[0], 2);
        assert_int_equal(l.inv.cpus[1], 8);
        assert_int_equal(l.inv.limits[SG_LIMIT_CPU_WEIGHT], 300);
        assert_int_equal(l.inv.limits[SG_LIMIT_CPU_QUOTA], 2000);
        assert_int_equal(l.inv.limits[SG_LIMIT_MEMORY_MAX], 4ULL << 30);
        assert_int_equal(l.inv.limits[SG_LIMIT_MEMORY_HIGH], 512ULL << 20);
        assert_true(l.inv.limits[SG_LIMIT_TASKS] == SG_UNLIMITED);
        assert_int_equal(l.inv.limits[SG_LIMIT_IO_WEIGHT], 50);
        assert_int_equal(l.inv.limits[SG_LIMIT_SWAP], 0);
        assert_int_equal(l.inv.limits[SG_LIMIT_IO_READ], 10 << 20);
        assert_int_equal(l.inv.limits[SG_LIMIT_IO_WRITE], 3 << 19);
        assert_int_equal(l.inv.limits[SG_LIMIT_TIME], 7200000000ULL);
        assert_int_equal(l.inv.priority, -3);
        assert_int_equal(l.inv.begin, NOW + 600000000ULL);
        assert_int_equal(l.inv.retry, 2);
        assert_string_equal(l.inv.array, "0-9");
        assert_string_equal(l.inv.workdir, "/w");
        assert_string_equal(l.inv.output, "o-%j");
        assert_string_equal(l.inv.error, "e");
        assert_string_equal(l.inv.on_end, "mail");
        assert_true(l.inv.pin);
        assert_true(l.inv.hold);
        assert_true(l.inv.no_wait);
        assert_true(l.inv.dry_run);
        drop(&l);
}

/* By the table of limits: what is written for a unit, and what that is. */
static void every_limit_has_an_option(void **state)
{
#define OPTION(kind, field, tag, unit, option, request, ...)                                       \
        {                                                                                          \
                SG_LIMIT_##kind, SG_UNIT_##unit, option, request                                   \
        }
        static const struct {
                enum sg_limit_kind kind;
                enum sg_limit_unit unit;
                const char *name, *key;
        } rows[] = {SG_LIMITS(OPTION)};
        static const struct {
                const char *text;
                uint64_t value;
        } samples[_SG_UNIT_MAX] = {
                [SG_UNIT_WEIGHT] = {"300", 300},      [SG_UNIT_PERCENT] = {"20%", 2000},
                [SG_UNIT_BYTES] = {"4G", 4ULL << 30}, [SG_UNIT_SWAP] = {"16M", 16 << 20},
                [SG_UNIT_RATE] = {"64K", 64 << 10},   [SG_UNIT_COUNT] = {"7", 7},
                [SG_UNIT_TIME] = {"2s", 2000000},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(rows); i++) {
                const struct sg_option *o =
                        sg_option_find(SG_VERB_SET, rows[i].name, strlen(rows[i].name));
                char line[64];
                struct line l;

                assert_non_null(o);
                assert_string_equal(o->key, rows[i].key);
                (void)snprintf(line, sizeof(line), "submit|--%s|%s|x", rows[i].name,
                               samples[rows[i].unit].text);
                parse(&l, line);
                assert_int_equal(l.result, 0);
                for (enum sg_limit_kind k = 0; k < _SG_LIMIT_ROW_MAX; k++)
                        assert_int_equal(l.inv.limits[k],
                                         k == rows[i].kind ? samples[rows[i].unit].value : 0);
                drop(&l);
        }
}

static void repeatable_options_add_up(void **state)
{
        struct line l;

        (void)state;
        parse(&l, "submit|--after|5|--after|6-8:any|--after|9@box:ok|--env|A=1|--env|B=|--|x");
        assert_int_equal(l.result, 0);
        assert_string_equal(l.inv.after, "5:ok,6:any,7:any,8:any,9@box:ok");
        assert_int_equal(l.inv.n_env, 2);
        assert_string_equal(l.inv.env[0], "A=1");
        assert_string_equal(l.inv.env[1], "B=");
        drop(&l);
}

static void times_may_be_in_the_past(void **state)
{
        struct line l;

        (void)state;
        parse(&l, "history|--since|-2h|-n5");
        assert_int_equal(l.result, 0);
        assert_int_equal(l.inv.since, NOW - 7200000000ULL);
        assert_int_equal(l.inv.lines, 5);
        drop(&l);
        parse(&l, "history|--until|2h");
        assert_int_equal(l.result, 0);
        assert_int_equal(l.inv.until, NOW - 7200000000ULL);
        drop(&l);
        parse(&l, "submit|--begin|-2h|--|true"); /* nothing begins before it was asked for */
        assert_int_equal(l.result, -ECANCELED);
        drop(&l);
}

static void short_options_combine(void **state)
{
        struct line l;

        (void)state;
        parse(&l, "logs|-fn20|7");
        assert_int_equal(l.result, 0);
        assert_true(l.inv.follow);
        assert_int_equal(l.inv.lines, 20);
        assert_words(&l, "7");
        drop(&l);

        parse(&l, "logs|7");
        assert_true(l.inv.lines == UINT64_MAX);
        drop(&l);
}

/* Wrong lines, and what is said about them. */
static const char *const wrong[][2] = {
        {"submit|--mem|x|--|y", "--mem wants a size such as 512M or 4G, not 'x'"},
        {"submit|--mem=|y", "--mem wants a size such as 512M or 4G, not ''"},
        {"submit|--mem", "--mem wants a size such as 512M or 4G"},
        {"submit|--cpu-quota|20|x",
         "--cpu-quota wants a percentage of one CPU such as 20% or 150%, or infinity, not '20'"},
        {"submit|--cpu-weight|0|x", "--cpu-weight wants a weight from 1 to 10000, not '0'"},
        {"submit|--cpu-weight|10001|x", "--cpu-weight wants a weight from 1 to 10000, not '10001'"},
        {"submit|--cpus|8-2|x", "--cpus wants a number of CPUs such as 4 or 2-8, not '8-2'"},
        {"submit|--cpus|5000|x", "--cpus wants a number of CPUs such as 4 or 2-8, not '5000'"},
        {"submit|--priority|1001|x", "--priority wants a number from -1000 to 1000, not '1001'"},
        {"submit|--tasks|0|x", "--tasks wants a number such as 100, or infinity, not '0'"},
        {"submit|--retry|-1|x", "--retry wants a number such as 3, not '-1'"},
        {"submit|--array|9-0|x",
         "--array wants at most 10000 numbers that rise such as 0-9, 1,3,5 or 1-100%4, not '9-0'"},
        {"submit|--array|0-10000|x", "--array wants at most 10000 numbers that rise such as 0-9, "
                                     "1,3,5 or 1-100%4, not '0-10000'"},
        {"submit|--array|5%|x",
         "--array wants at most 10000 numbers that rise such as 0-9, 1,3,5 or 1-100%4, not '5%'"},
        {"submit|--after|5:maybe|x", "--after wants a job such as 7, 7:ok or 7:any, not '5:maybe'"},
        {"submit|--env|NOVALUE|x", "--env wants a variable such as KEY=VALUE, not 'NOVALUE'"},
        {"submit|--env|=v|x", "--env wants a variable such as KEY=VALUE, not '=v'"},
        {"submit|--name|a\nb|x",
         "--name wants a name of 1 to 64 characters in one line, not 'a\nb'"},
        {"submit|--class|\xff|x", "--class wants a value, not '\xff'"},
        {"submit|--pin=yes|x", "--pin takes no value"},
        {"submit|--xpus|1|x", "unknown option --xpus"},
        {"submit|--gpus|0.99|x", "--gpus wants a number of GPUs such as 2 or 1-4, at most 64, or a "
                                 "part of one from 0.05 to 0.95, not '0.99'"},
        {"submit|--me|1G|x", "unknown option --me"},
        {"submit|-z|x", "unknown option -z"},
        {"--|list", "unknown option --"},
        {"list|--mem|1G", "list does not take --mem"},
        {"--mem|1G|list", "list does not take --mem"},
        {"run|--output|f|x", "run does not take --output"},
        {"list|-f", "list does not take -f"},
        {"frobnicate|7", "unknown verb 'frobnicate'"},
        {"--json", "no verb given"},
};

static void wrong_lines_are_named(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(wrong); i++) {
                struct line l;

                parse(&l, wrong[i][0]);
                assert_string_equal(l.error.what, wrong[i][1]);
                assert_int_equal(l.result, -ECANCELED);
                assert_int_equal(l.error.status, SG_EXIT_OWN_FAILURE);
                drop(&l);
        }
}

static void json_counts_behind_an_error(void **state)
{
        struct line l;

        (void)state;
        parse(&l, "list|--mem=1|--json");
        assert_int_equal(l.result, -ECANCELED);
        assert_true(l.inv.json);
        assert_string_equal(l.error.what, "list does not take --mem");
        drop(&l);
}

static void set_takes_what_may_change(void **state)
{
        struct sg_error e = {0};
        struct line l;

        (void)state;
        parse(&l, "set|7|cpu-weight=300");
        assert_int_equal(l.result, 0);
        assert_false(sg_options_any_key(&l.inv));
        assert_int_equal(sg_options_set(&l.inv, "cpu-weight=300", &e), 0);
        assert_int_equal(sg_options_set(&l.inv, "mem=infinity", &e), 0);
        assert_true(sg_options_any_key(&l.inv));
        assert_int_equal(l.inv.limits[SG_LIMIT_CPU_WEIGHT], 300);
        assert_true(l.inv.limits[SG_LIMIT_MEMORY_MAX] == SG_UNLIMITED);
        assert_int_equal(sg_options_set(&l.inv, "deadline=+10min", &e), 0);
        assert_int_equal(l.inv.deadline, NOW + 600000000ULL);
        assert_int_equal(sg_options_set(&l.inv, "deadline=infinity", &e), 0);
        assert_true(l.inv.deadline == SG_UNLIMITED);
        assert_int_equal(sg_options_set(&l.inv, "mem=4X", &e), -ECANCELED);
        assert_string_equal(e.what, "mem wants a size such as 512M or 4G, not '4X'");
        sg_error_clear(&e);
        assert_int_equal(sg_options_set(&l.inv, "workdir=/x", &e), -ECANCELED);
        sg_error_clear(&e);
        assert_int_equal(sg_options_set(&l.inv, "cpu_weight=3", &e), -ECANCELED);
        sg_error_clear(&e);
        assert_int_equal(sg_options_set(&l.inv, "=3", &e), -ECANCELED);
        drop(&l);
}

static void ids_are_strict(void **state)
{
        static const char *const bad[] = {"",
                                          "x",
                                          "0",
                                          "-1",
                                          "5-",
                                          "-5",
                                          "9-5",
                                          "7@",
                                          "7@a/b",
                                          "+7",
                                          " 7",
                                          "7 ",
                                          "99999999999999999999",
                                          "5-6-7"};
        struct sg_ids ids = {0};

        (void)state;
        assert_int_equal(sg_ids_add(&ids, "7"), 0);
        assert_int_equal(sg_ids_add(&ids, "9-10@my-host.lan"), 0);
        assert_int_equal(ids.n, 3);
        assert_string_equal(ids.v[0], "7");
        assert_string_equal(ids.v[1], "9@my-host.lan");
        assert_string_equal(ids.v[2], "10@my-host.lan");
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(sg_ids_add(&ids, bad[i]), -EINVAL);
        assert_int_equal(sg_ids_add(&ids, "1-10001"), -ERANGE);
        assert_int_equal(sg_ids_add(&ids, "1-10000"), 0);
        assert_int_equal(ids.n, 10003);
        sg_ids_deinit(&ids);
        assert_int_equal(ids.n, 0);

        assert_true(sg_id_matches("7@here", "7"));
        assert_true(sg_id_matches("7", "7"));
        assert_false(sg_id_matches("7", "7@there"));
        assert_false(sg_id_matches("77", "7"));
}

static void tasks_of_arrays(void **state)
{
        static const char *const bad[] = {"7",    "[3]",    "7[3",   "7[]",    "7[3]x", "7[3][4]",
                                          "x[3]", "5-9[3]", "7[%1]", "7[3%1]", "07[3]", "0[3]"};
        struct sg_ids_tasks t;

        (void)state;
        assert_int_equal(sg_ids_parse_tasks("7[3-5,9]", &t), 0);
        assert_string_equal(t.id, "7");
        assert_string_equal(t.list, "3-5,9");
        assert_int_equal(t.n, 7);
        assert_int_equal(t.array.n, 4);
        sg_ids_tasks_deinit(&t);
        assert_int_equal(sg_ids_parse_tasks("7@lab-1[0]", &t), 0);
        assert_string_equal(t.id, "7@lab-1");
        sg_ids_tasks_deinit(&t);
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                if (sg_ids_parse_tasks(bad[i], &t) != -EINVAL)
                        fail_msg("'%s' is taken for tasks", bad[i]);
        assert_int_equal(sg_ids_parse_tasks("7[0-10000]", &t), -ERANGE);
}

static void the_first_error_stays(void **state)
{
        struct sg_error e = {0};

        (void)state;
        assert_int_equal(sg_error_set(&e, 75, "7", "later", "first %d", 1), -ECANCELED);
        assert_int_equal(sg_error_errno(&e, -ENOENT, "second"), -ENOENT);
        assert_string_equal(e.what, "first 1");
        assert_string_equal(e.hint, "later");
        assert_string_equal(e.object, "7");
        assert_int_equal(e.status, 75);
}

static void every_option_belongs_somewhere(void **state)
{
        (void)state;
        for (size_t i = 0; i < sg_n_options; i++) {
                assert_true(sg_options[i].verbs != 0);
                assert_true(sg_options[i].type == SG_OPTION_FLAG || sg_options[i].metavar != NULL);
                for (size_t k = 0; k < i; k++) {
                        /* of a pair with one name, only one takes a value:
                         * so "=" tells them apart */
                        assert_true(strcmp(sg_options[i].name, sg_options[k].name) != 0 ||
                                    (sg_options[i].type == SG_OPTION_FLAG &&
                                     sg_options[k].type != SG_OPTION_FLAG));
                        assert_true(sg_options[i].letter == 0 ||
                                    sg_options[i].letter != sg_options[k].letter);
                }
        }
        for (int i = 0; i < _SG_VERB_MAX; i++)
                assert_int_equal(sg_verb_from_string(sg_verbs[i].name), i);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(options_stand_before_and_behind_the_verb),
                cmocka_unit_test(commands_keep_their_options),
                cmocka_unit_test(every_job_option_has_its_value),
                cmocka_unit_test(every_limit_has_an_option),
                cmocka_unit_test(repeatable_options_add_up),
                cmocka_unit_test(times_may_be_in_the_past),
                cmocka_unit_test(short_options_combine),
                cmocka_unit_test(wrong_lines_are_named),
                cmocka_unit_test(json_counts_behind_an_error),
                cmocka_unit_test(set_takes_what_may_change),
                cmocka_unit_test(ids_are_strict),
                cmocka_unit_test(tasks_of_arrays),
                cmocka_unit_test(the_first_error_stays),
                cmocka_unit_test(every_option_belongs_somewhere),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
