/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* help and --help, made from the tables that parse the command line. */

#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/show/table.h"
#include "ctl/verbs/verbs.h"
#include <stdio.h>

#define HELP_AT 30U /* columns */

static void print_option(const struct sg_option *o)
{
        char text[64];
        unsigned width;
        int n;

        n = o->letter ? snprintf(text, sizeof(text), "  -%c, --%s", o->letter, o->name)
                      : snprintf(text, sizeof(text), "      --%s", o->name);
        if (o->metavar)
                (void)snprintf(text + n, sizeof(text) - (size_t)n, " %s", o->metavar);
        width = sg_text_width(text);
        (void)printf("%s%*s %s\n", text, width < HELP_AT ? (int)(HELP_AT - width) : 0, "", o->help);
}

static void print_verb_help(enum sg_verb_id id)
{
        const struct sg_verb *v = &sg_verbs[id];
        bool any = false;

        (void)printf("schedctl %s%s%s\n\n%s.\n\nExample: %s\n", v->name, *v->arguments ? " " : "",
                     v->arguments, v->summary, v->example);
        for (size_t i = 0; i < sg_n_options; i++) {
                const struct sg_option *o = &sg_options[i];

                if (sg_option_applies(o, -1) || !sg_option_applies(o, (int)id))
                        continue;
                if (!any)
                        (void)puts("\nOptions:");
                any = true;
                print_option(o);
        }
}

static void print_verbs(void)
{
        (void)puts("schedctl [OPTIONS] VERB [ARGUMENTS]\n\nRun, queue and watch governed jobs.\n");
        for (int i = 0; i < _SG_VERB_MAX; i++)
                (void)printf("  %-10s %s\n", sg_verbs[i].name, sg_verbs[i].summary);
        (void)puts("\nJOB is a number or a name of yours, 5-9 for five of them, 7[3-5] for tasks "
                   "of an "
                   "array,\nor 7@node. Each verb has --help.");
}

static void print_json(void)
{
        json_t *list = json_array();

        for (int i = 0; i < _SG_VERB_MAX; i++)
                (void)json_array_append_new(
                        list, json_pack("{s:s,s:s,s:s,s:s}", "name", sg_verbs[i].name, "arguments",
                                        sg_verbs[i].arguments, "summary", sg_verbs[i].summary,
                                        "example", sg_verbs[i].example));
        (void)sg_document_print_new(
                json_pack("{s:s,s:o}", "schema", "schedgov.help/1", "verbs", list));
}

void sg_verb_print_help(const struct sg_invocation *inv)
{
        if (inv->json) {
                print_json();
                return;
        }
        if (inv->verb == SG_VERB_HELP)
                print_verbs();
        else
                print_verb_help(inv->verb);
        (void)puts("\nOptions of every verb:");
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_option_applies(&sg_options[i], -1))
                        print_option(&sg_options[i]);
}

int sg_verb_help(const struct sg_invocation *inv, struct sg_error *e)
{
        struct sg_invocation about = *inv;

        if (inv->n_args > 1)
                return sg_verb_usage(inv, e);
        if (inv->n_args == 1) {
                int verb = sg_verb_from_string(inv->args[0]);

                if (verb < 0)
                        return sg_verb_unknown(inv->args[0], e);
                about.verb = (enum sg_verb_id)verb;
        }
        sg_verb_print_help(&about);
        return 0;
}
