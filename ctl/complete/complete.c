/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See complete.h. Here: which kind of word stands at the cursor. */

#include "ctl/complete/complete.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "ctl/show/output.h"
#include "proto/names.h"
#include "proto/paths.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_SEC 2 /* somebody has pressed Tab and looks at the cursor */

void sg_candidate(const struct sg_place *p, const char *word, const char *suffix,
                  const char *meaning)
{
        char buf[256];

        (void)printf("%.*s%s%s\t%s\n", (int)p->kept, p->word, word, suffix,
                     sg_utf8_escape(meaning, buf, sizeof(buf)));
}

static void print_verbs(const struct sg_place *p)
{
        for (int i = 0; i < _SG_VERB_MAX; i++)
                sg_candidate(p, sg_verbs[i].name, "", sg_verbs[i].summary);
}

static bool is_repeatable(const struct sg_option *o)
{
        return o->type == SG_OPTION_AFTER || o->type == SG_OPTION_ENV;
}

static void print_options(const struct sg_place *p)
{
        for (size_t i = 0; i < sg_n_options; i++) {
                const struct sg_option *o = &sg_options[i];
                char word[64];

                if (sg_option_find(p->verb, o->name, strlen(o->name)) != o ||
                    (sg_option_given(p->inv, i) && !is_repeatable(o)))
                        continue;
                (void)snprintf(word, sizeof(word), "--%s", o->name);
                sg_candidate(p, word, "", o->help);
        }
}

void sg_candidates_alternatives(const struct sg_place *p, const char *alternatives)
{
        const char *s = alternatives;

        for (;;) {
                char word[32];

                s += strspn(s, " ");
                (void)snprintf(word, sizeof(word), "%.*s", (int)strcspn(s, " |"), s);
                sg_candidate(p, word, "", "");
                s += strcspn(s, "|");
                if (!*s++)
                        return;
        }
}

static bool is_file(const char *called)
{
        static const char *const files[] = {"FILE", "DIR", "PATH"};

        for (size_t i = 0; i < SG_ELEMENTSOF(files); i++)
                if (strcmp(called, files[i]) == 0)
                        return true;
        return false;
}

static void print_files(const struct sg_place *p)
{
        (void)printf("files %.*s\n", (int)p->kept, p->word);
}

/* "file:PATH", "tensorboard:DIR" */
static bool is_source_path(const struct sg_option *o, const char *value)
{
        return strcmp(o->metavar, "SOURCE") == 0 &&
               (strncmp(value, "file:", 5) == 0 || strncmp(value, "tensorboard:", 12) == 0);
}

/* What is kept goes up to where the value begins; in a list, up to its last comma. */
static void complete_value(struct sg_place *p, const struct sg_option *o)
{
        const char *value = p->word + p->kept, *comma = strrchr(value, ',');
        sg_candidates_fn *candidates = sg_candidates_of_value(o);

        if (is_source_path(o, value)) {
                p->kept += strcspn(value, ":") + 1;
                print_files(p);
                return;
        }
        if (is_file(o->metavar)) {
                print_files(p);
                return;
        }
        if (comma && strstr(o->metavar, ",…"))
                p->kept += (size_t)(comma + 1 - value);
        (void)puts("words");
        if (candidates)
                candidates(p);
        else if (strcspn(o->metavar, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(o->metavar))
                sg_candidates_alternatives(p, o->metavar);
}

/* A verb that takes nothing but options shows them at once. */
static bool options_wanted(const struct sg_place *p)
{
        return p->word[0] == '-' || (p->verb >= 0 && !*sg_verbs[p->verb].arguments);
}

static bool is_traced(const struct sg_place *p)
{
        const struct sg_invocation *inv = p->inv;

        return p->verb == SG_VERB_SIMULATE && inv->n_args == 0 && !inv->generate &&
               !inv->from_history;
}

static void complete_word(struct sg_place *p, const struct sg_next *next)
{
        sg_candidates_fn *candidates;

        if (!options_wanted(p) && is_traced(p)) {
                print_files(p);
                return;
        }
        (void)puts("words");
        if (options_wanted(p)) {
                print_options(p);
        } else if (next->verb_wanted || (p->verb == SG_VERB_HELP && p->inv->n_args == 0)) {
                print_verbs(p);
        } else if (p->verb >= 0) {
                candidates = sg_candidates_of_argument(p);
                if (candidates)
                        candidates(p);
        }
}

static void complete(struct sg_place *p, const struct sg_next *next, int n_before)
{
        const struct sg_option *o = next->option;
        const char *equals = strchr(p->word, '=');
        bool starts = p->verb == SG_VERB_RUN || p->verb == SG_VERB_SUBMIT;

        if (!o && !next->command && strncmp(p->word, "--", 2) == 0 && equals) {
                p->kept = (size_t)(equals + 1 - p->word);
                o = sg_option_find(p->verb, p->word + 2, p->kept - 3);
        }
        if (o && o->metavar)
                complete_value(p, o);
        else if (next->command || (starts && p->word[0] != '-'))
                (void)printf("command %d\n", n_before - (int)p->inv->n_args);
        else if (p->kept > 0)
                (void)puts("words"); /* --flag= */
        else
                complete_word(p, next);
}

static void give_up(int sig)
{
        (void)sig;
        _exit(0);
}

int sg_complete(int argc, char **argv)
{
        const struct sigaction action = {.sa_handler = give_up};
        struct sg_place p = {.word = argv[argc - 1]};
        _cleanup_free_ char *own = NULL;
        struct sg_invocation inv;
        struct sg_next next;

        (void)sigaction(SIGALRM, &action, NULL);
        (void)alarm(PATIENCE_SEC);
        sg_options_parse_begun(argc - 1, argv, &inv, &next);
        if (inv.own && !inv.socket && sg_user_socket(&own) >= 0)
                inv.socket = own;
        p.inv = &inv;
        p.verb = next.verb;
        complete(&p, &next, argc - 1);
        sg_invocation_deinit(&inv);
        return fflush(stdout) == 0 ? 0 : SG_EXIT_OWN_FAILURE;
}
