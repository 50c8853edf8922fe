/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names that pueue, task-spooler and Slurm have, and we don't: what is said of them must be there.
 */

#include "tests/unit/test.h"

#include "ctl/line/elsewhere.c"
#include "ctl/line/option_table.c"
#include "ctl/line/option_value.c"
#include "ctl/line/options.c"
#include "ctl/line/suggest.c"

#include "ctl/line/error.c"

#define WORD_MAX 64

/* Calls for each word of a list. */
static void each_word(const char *words, void (*check)(const char *word, uint32_t verbs),
                      uint32_t row_verbs)
{
        char copy[512], *p = copy, *word;

        (void)snprintf(copy, sizeof(copy), "%s", words);
        while ((word = strsep(&p, " ")))
                check(word, row_verbs);
}

static void is_no_verb(const char *word, uint32_t unused)
{
        (void)unused;
        if (sg_verb_from_string(word) >= 0)
                fail_msg("'%s' is a verb here", word);
}

static void is_no_option(const char *word, uint32_t row_verbs)
{
        assert_int_equal(word[0], '-');
        for (size_t i = 0; i < sg_n_options; i++) {
                const struct sg_option *o = &sg_options[i];
                const char letter[] = {'-', o->letter, '\0'};
                bool same = word[1] == '-' ? strcmp(word + 2, o->name) == 0
                                           : o->letter && strcmp(word, letter) == 0;

                /* Before the verb those of all verbs are taken. */
                if (same && (row_verbs == NO_VERB || (o->verbs & row_verbs)))
                        fail_msg("%s is an option here", word);
        }
}

static void names_are_nobodys_here(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(verbs_elsewhere); i++)
                each_word(verbs_elsewhere[i].words, is_no_verb, 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(options_elsewhere); i++)
                each_word(options_elsewhere[i].words, is_no_option, options_elsewhere[i].verbs);
}

/* The verb behind "schedctl ", or −1. */
static int verb_in(const char *hint)
{
        const char *p = strstr(hint, "schedctl ");
        char word[WORD_MAX];
        int verb;

        if (!p)
                return -1;
        p += strlen("schedctl ");
        (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(p, " ,"), p);
        verb = sg_verb_from_string(word);
        if (verb < 0)
                fail_msg("no verb '%s', of which is said: %s", word, hint);
        return verb;
}

static void has_option(const char *name, size_t len, uint32_t row_verbs, const char *hint)
{
        for (int verb = 0; verb < _SG_VERB_MAX; verb++)
                if ((row_verbs >> verb & 1) && !sg_option_find(verb, name, len))
                        fail_msg("%s doesn't take --%.*s: %s", sg_verbs[verb].name, (int)len, name,
                                 hint);
}

static void check_hint(const char *hint, uint32_t row_verbs)
{
        int verb = verb_in(hint);

        if (verb >= 0)
                row_verbs = 1U << verb;
        else if (strstr(hint, "submit "))
                row_verbs = 1U << SG_VERB_SUBMIT;
        for (const char *p = strstr(hint, "--"); p; p = strstr(p + 2, "--")) {
                size_t len = strspn(p + 2, "abcdefghijklmnopqrstuvwxyz-");

                if (len > 0)
                        has_option(p + 2, len, row_verbs, hint);
        }
}

static void hints_say_what_there_is(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(verbs_elsewhere); i++)
                check_hint(verbs_elsewhere[i].hint, 0);
        for (size_t i = 0; i < SG_ELEMENTSOF(options_elsewhere); i++)
                check_hint(options_elsewhere[i].hint, options_elsewhere[i].verbs);
}

static void whole_words_count(void **state)
{
        (void)state;
        assert_string_equal(sg_elsewhere_verb("ps"), "it is schedctl list here");
        assert_string_equal(sg_elsewhere_verb("squeue"), "it is schedctl list here");
        assert_null(sg_elsewhere_verb("squ"));
        assert_null(sg_elsewhere_verb("queue squeue"));
        assert_null(sg_elsewhere_verb(""));
        assert_null(sg_elsewhere_verb("submit"));
        assert_string_equal(sg_elsewhere_option(SG_VERB_SUBMIT, "-c"), "it is --cpus N here");
        assert_string_equal(sg_elsewhere_option(-1, "-c"), "it is schedctl logs JOB here");
        assert_null(sg_elsewhere_option(SG_VERB_LOGS, "-c"));
        assert_null(sg_elsewhere_option(SG_VERB_SUBMIT, "--cpus-per"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_are_nobodys_here),
                cmocka_unit_test(hints_say_what_there_is),
                cmocka_unit_test(whole_words_count),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
