/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scripts that were written for Slurm. */

#include "tests/unit/test.h"

#include "ctl/line/elsewhere.c"
#include "ctl/line/ids.c"
#include "ctl/line/option_table.c"
#include "ctl/line/option_value.c"
#include "ctl/line/options.c"
#include "ctl/line/sbatch.c"
#include "ctl/line/suggest.c"

#include "ctl/line/error.c"

#define NOW 1800000000000000ULL
#define HEAD "#!/bin/bash\n"

static struct {
        struct sg_sbatch lines;
        struct sg_invocation inv;
        struct sg_error error;
        char unknown[512];
        char line[512], *argv[16];
} w;

static void on_unknown(unsigned line, const char *option)
{
        size_t used = strlen(w.unknown);

        (void)snprintf(w.unknown + used, sizeof(w.unknown) - used, "%u:%s|", line, option);
}

static void forget(void)
{
        sg_sbatch_deinit(&w.lines);
        sg_invocation_deinit(&w.inv);
}

/* The words of the command line are between blanks. */
static int apply_to(const char *command_line, const char *text)
{
        int argc = 0, r;

        forget();
        memset(&w, 0, sizeof(w));
        w.lines.unknown = on_unknown;
        (void)snprintf(w.line, sizeof(w.line), "%s", command_line);
        for (char *p = w.line, *word; (word = strsep(&p, " "));)
                w.argv[argc++] = word;
        assert_int_equal(sg_options_parse(argc, w.argv, NOW, &w.inv, &w.error), 0);
        r = sg_sbatch_apply(&w.lines, text, &w.inv, &w.error);
        return r;
}

static void apply(const char *text)
{
        if (apply_to("schedctl submit", text) < 0)
                fail_msg("%s: %s", text, w.error.what);
}

static void test_known(void **state)
{
        (void)state;
        apply(HEAD "#SBATCH -J train\n"
                   "# a comment\n"
                   "\n"
                   "#SBATCH --cpus-per-task=4   # as many as it likes\n"
                   "#SBATCH --mem 4096 --time=1-12 --hold\n"
                   "#SBATCH --array=3-7 -o 'logs/%x-%A.%a.txt' -e\"e r r\"\n"
                   "#SBATCH -D /data\r\n"
                   "#SBATCH -d afterok:7:8,afterany:9 --nice=20 -N 1 -n1 --comment='no matter'\n");
        assert_string_equal(w.inv.name, "train");
        assert_int_equal(w.inv.cpus[0], 4);
        assert_int_equal(w.inv.cpus[1], 4);
        assert_true(w.inv.limits[SG_LIMIT_MEMORY_MAX] == 4096ULL << 20);
        assert_true(w.inv.limits[SG_LIMIT_TIME] == 36ULL * 3600 * 1000000);
        assert_true(w.inv.hold);
        assert_string_equal(w.inv.array, "3-7");
        assert_string_equal(w.inv.output, "logs/%n-%j.%a.txt");
        assert_string_equal(w.inv.error, "e r r");
        assert_string_equal(w.inv.workdir, "/data");
        assert_string_equal(w.inv.after, "7:ok,8:ok,9:any");
        assert_int_equal(w.inv.priority, -20);
        assert_string_equal(w.unknown, "");
}

static void test_unknown(void **state)
{
        (void)state;
        apply(HEAD "#SBATCH --partition=gpu --exclusive --mem=1G\n"
                   "#SBATCH -p gpu -N 2\n"
                   "#SBATCH --gres shard:1 -d singleton stray\n");
        assert_string_equal(w.unknown,
                            "2:--partition gpu|2:--exclusive|3:-p gpu|3:-N 2|4:--gres shard:1|"
                            "4:--dependency singleton|4:stray|");
        assert_true(w.inv.limits[SG_LIMIT_MEMORY_MAX] == 1ULL << 30);
}

static void expect_gpus(const char *line, const char *gpus, const char *type)
{
        char text[256];

        (void)snprintf(text, sizeof(text), HEAD "#SBATCH %s\n", line);
        apply(text);
        if (!w.inv.gpus || strcmp(w.inv.gpus, gpus) != 0)
                fail_msg("%s: %s GPUs", line, w.inv.gpus ? w.inv.gpus : "no");
        if (!w.inv.gpu_type != !type || (type && strcmp(w.inv.gpu_type, type) != 0))
                fail_msg("%s: of type %s", line, w.inv.gpu_type ? w.inv.gpu_type : "(none)");
}

static void test_gpus(void **state)
{
        (void)state;
        expect_gpus("--gres=gpu:2", "2", NULL);
        expect_gpus("--gres=gpu", "1", NULL);
        expect_gpus("--gres=gpu:a100:2", "2", "*a100*");
        expect_gpus("--gres=gpu:a100", "1", "*a100*");
        expect_gpus("--gres=gres/gpu:3", "3", NULL);
        expect_gpus("--gpus=2", "2", NULL);
        expect_gpus("-G 1", "1", NULL);
        expect_gpus("--gpus-per-node=h100:4", "4", "*h100*");
        expect_gpus("--gpus-per-task 1", "1", NULL);
        assert_string_equal(w.unknown, "");
        apply(HEAD "#SBATCH --gres=shard:1,gpu:1\n");
        assert_string_equal(w.inv.gpus, "1");
        assert_string_equal(w.unknown, "2:--gres shard:1|");
}

/* Slurm reads no further than to the first command. */
static void test_head(void **state)
{
        (void)state;
        apply(HEAD " \t\n#SBATCHX --name=no\n#SBATCH\n #SBATCH -J no\n#SBATCH -J no\n");
        assert_null(w.inv.name);
        apply(HEAD "#SBATCH -J yes\necho\n#SBATCH -J no\n");
        assert_string_equal(w.inv.name, "yes");
        apply("#SBATCH -J last");
        assert_string_equal(w.inv.name, "last");
        assert_true(sg_sbatch_any(HEAD "#SBATCH -J x\n"));
        assert_false(sg_sbatch_any(HEAD "# SBATCH -J x\n#SBATCHES\n"));
        assert_false(sg_sbatch_any(HEAD "echo\n#SBATCH -J x\n"));
        assert_false(sg_sbatch_any(""));
}

static void test_command_line_comes_first(void **state)
{
        (void)state;
        assert_int_equal(apply_to("schedctl submit --name mine --after 5 --hold",
                                  HEAD "#SBATCH -J theirs -d afterany:7 -c 2 -c 3\n"),
                         0);
        assert_string_equal(w.inv.name, "mine");
        assert_string_equal(w.inv.after, "5:ok");
        assert_int_equal(w.inv.cpus[0], 3); /* of two in the script the last, as of two there */
}

static void test_times(void **state)
{
        static const struct {
                const char *text;
                uint64_t seconds;
        } table[] = {{"10", 600},       {"10:30", 630},       {"1:00:00", 3600}, {"2-0", 172800},
                     {"1-2:30", 95400}, {"1-2:30:15", 95415}, {"0", 0},          {"UNLIMITED", 0}};
        char line[128];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(table); i++) {
                uint64_t usec = table[i].seconds ? table[i].seconds * 1000000 : SG_UNLIMITED;

                (void)snprintf(line, sizeof(line), HEAD "#SBATCH -t %s\n", table[i].text);
                apply(line);
                if (w.inv.limits[SG_LIMIT_TIME] != usec)
                        fail_msg("%s: %ju", table[i].text, (uintmax_t)w.inv.limits[SG_LIMIT_TIME]);
        }
        apply(HEAD "#SBATCH --begin=now+2hours\n");
        assert_true(w.inv.begin == NOW + 7200000000ULL);
        apply(HEAD "#SBATCH --begin=now+90\n");
        assert_true(w.inv.begin == NOW + 90000000ULL);
        apply(HEAD "#SBATCH --deadline=2099-01-02T03:04:05\n");
        assert_true(w.inv.deadline > NOW);
}

static void assert_wrong(const char *text, const char *what)
{
        assert_int_equal(apply_to("schedctl submit", text), -ECANCELED);
        if (!strstr(w.error.what, what))
                fail_msg("%s: %s", text, w.error.what);
}

static void test_wrong(void **state)
{
        (void)state;
        assert_wrong(HEAD "#SBATCH --mem=much\n", "line 2: #SBATCH --mem wants a size");
        assert_wrong(HEAD "\n#SBATCH -t soon\n", "line 3: #SBATCH --time wants a time");
        assert_wrong(HEAD "#SBATCH -t 1:2:3:4\n", "line 2: #SBATCH --time wants a time");
        assert_wrong(HEAD "#SBATCH --gres=gpu:a100:many\n",
                     "line 2: #SBATCH --gres wants a number");
        assert_wrong(HEAD "#SBATCH -c\n", "line 2: #SBATCH --cpus-per-task wants");
        assert_wrong(HEAD "#SBATCH -d afterok:x\n", "line 2: #SBATCH --dependency wants");
}

/* A hostile script is only so long. */
static void test_long(void **state)
{
        static char text[20000];

        (void)state;
        (void)strcpy(text, HEAD "#SBATCH -J ");
        memset(text + strlen(text), 'x', 15000);
        assert_int_equal(apply_to("schedctl submit", text), -ECANCELED);
        (void)strcpy(text, HEAD "#SBATCH ");
        memset(text + strlen(text), '\'', 15000);
        assert_int_equal(apply_to("schedctl submit", text), 0);
}

static int teardown(void **state)
{
        (void)state;
        forget();
        memset(&w, 0, sizeof(w));
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(test_known, teardown),
                cmocka_unit_test_teardown(test_unknown, teardown),
                cmocka_unit_test_teardown(test_gpus, teardown),
                cmocka_unit_test_teardown(test_head, teardown),
                cmocka_unit_test_teardown(test_command_line_comes_first, teardown),
                cmocka_unit_test_teardown(test_times, teardown),
                cmocka_unit_test_teardown(test_wrong, teardown),
                cmocka_unit_test_teardown(test_long, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
