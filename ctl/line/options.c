/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing of the command line by the tables of option_table.c. */

#include "ctl/line/options.h"
#include "ctl/line/elsewhere.h"
#include "ctl/line/option_value.h"
#include "ctl/line/suggest.h"
#include "proto/names.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
        int argc;
        char **argv;
        int next;
        int verb; /* −1 until it was seen */
        uint64_t now_usec;
        struct sg_invocation *inv;
        struct sg_error *e;
        const struct sg_option *waiting; /* its value would have been the next word */
        bool unknown_verb;               /* the word in the verb's place is no verb */
        bool rest;                       /* behind "--", or in the job's command */
};

/* spelled: as the user wrote it, "--mem", "-n" or "mem". */
static int take(struct parser *p, size_t i, const char *spelled, const char *value)
{
        const struct sg_option *o = &sg_options[i];
        int r = sg_option_parse_value(o, value, p->now_usec, p->inv);

        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL,
                                    "%s wants %s, not '%s'", spelled, sg_option_wants(o->type),
                                    value);
        p->inv->given[i / 64] |= 1ULL << i % 64;
        return 0;
}

/* Options of any verb are known before the verb is; whether they belong together is checked
 * last. */
int sg_verb_unknown(const char *word, struct sg_error *e)
{
        const char *elsewhere = sg_elsewhere_verb(word);
        struct sg_suggestion near = {.typed = word};
        char hint[64];

        for (int i = 0; i < _SG_VERB_MAX; i++)
                sg_suggest(&near, sg_verbs[i].name);
        return sg_error_set(
                e, SG_EXIT_OWN_FAILURE, word,
                elsewhere ?: sg_suggest_hint(&near, "", "see schedctl --help", hint, sizeof(hint)),
                "unknown verb '%s'", word);
}

static bool applies(const struct parser *p, const struct sg_option *o)
{
        return p->verb < 0 || sg_option_applies(o, p->verb);
}

static const char *help_hint(const struct parser *p, char *buf, size_t size)
{
        (void)snprintf(buf, size, "see schedctl %s%s--help",
                       p->verb >= 0 ? sg_verbs[p->verb].name : "", p->verb >= 0 ? " " : "");
        return buf;
}

static int unknown(struct parser *p, const char *spelled)
{
        struct sg_suggestion near = {.typed = spelled + strspn(spelled, "-")};
        const char *elsewhere = sg_elsewhere_option(p->verb, spelled);
        char help[64], hint[128];

        for (size_t i = 0; i < sg_n_options; i++)
                if (applies(p, &sg_options[i]))
                        sg_suggest(&near, sg_options[i].name);
        return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled,
                            elsewhere
                                    ?: sg_suggest_hint(&near, "--",
                                                       help_hint(p, help, sizeof(help)), hint,
                                                       sizeof(hint)),
                            "unknown option %s", spelled);
}

static int misplaced(struct parser *p, const char *spelled)
{
        const char *elsewhere = sg_elsewhere_option(p->verb, spelled);
        char hint[64];

        return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled,
                            elsewhere ?: help_hint(p, hint, sizeof(hint)), "%s does not take %s",
                            sg_verbs[p->verb].name, spelled);
}

static const char *next_word(struct parser *p)
{
        return p->next < p->argc ? p->argv[p->next++] : NULL;
}

static const char *next_value(struct parser *p, const struct sg_option *o)
{
        const char *value = next_word(p);

        p->waiting = value ? NULL : o;
        return value;
}

/* Of two options of one name that both apply, the first is meant; before the verb is known, the one
 * that fits how it is written: a number behind it is no verb. */
static bool is_meant(const struct parser *p, size_t i, bool equals)
{
        const char *next = p->next < p->argc ? p->argv[p->next] : "";
        bool valued = equals || (*next >= '0' && *next <= '9');

        for (size_t k = 0; k < sg_n_options; k++)
                if (k != i && strcmp(sg_options[k].name, sg_options[i].name) == 0)
                        return p->verb >= 0 ? applies(p, &sg_options[i])
                                            : (sg_options[i].type == SG_OPTION_FLAG) == !valued;
        return true;
}

static int parse_long(struct parser *p, char *word)
{
        const char *equals = strchr(word, '='), *value;
        size_t len = equals ? (size_t)(equals - word) : strlen(word);
        char spelled[64];

        (void)snprintf(spelled, sizeof(spelled), "%.*s", (int)len, word);
        for (size_t i = 0; i < sg_n_options; i++) {
                const struct sg_option *o = &sg_options[i];

                if (strcmp(o->name, spelled + 2) != 0 || !is_meant(p, i, equals))
                        continue;
                if (!applies(p, o))
                        return misplaced(p, spelled);
                if (o->type == SG_OPTION_FLAG && equals)
                        return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL,
                                            "%s takes no value", spelled);
                value = equals ? equals + 1 : o->type == SG_OPTION_FLAG ? "" : next_value(p, o);
                if (!value)
                        return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL, "%s wants %s",
                                            spelled, sg_option_wants(o->type));
                return take(p, i, spelled, value);
        }
        return unknown(p, spelled);
}

/* "-f", "-fn5", "-n 5" */
static int parse_short(struct parser *p, char *word)
{
        for (char *letter = word + 1; *letter; letter++) {
                const char spelled[] = {'-', *letter, '\0'};
                const char *value = "";
                size_t i = 0;
                int r;

                while (i < sg_n_options && sg_options[i].letter != *letter)
                        i++;
                if (i == sg_n_options)
                        return unknown(p, spelled);
                if (!applies(p, &sg_options[i]))
                        return misplaced(p, spelled);
                if (sg_options[i].type != SG_OPTION_FLAG) {
                        value = letter[1] ? letter + 1 : next_value(p, &sg_options[i]);
                        if (!value)
                                return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL,
                                                    "%s wants %s", spelled,
                                                    sg_option_wants(sg_options[i].type));
                        return take(p, i, spelled, value);
                }
                r = take(p, i, spelled, value);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int parse_verb(struct parser *p, const char *word)
{
        p->verb = sg_verb_from_string(word);
        if (p->verb < 0) {
                p->verb = SG_VERB_HELP;
                p->unknown_verb = true;
                return sg_verb_unknown(word, p->e);
        }
        p->inv->verb = (enum sg_verb_id)p->verb;
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_option_given(p->inv, i) && !applies(p, &sg_options[i])) {
                        char spelled[64];

                        (void)snprintf(spelled, sizeof(spelled), "--%s", sg_options[i].name);
                        return misplaced(p, spelled);
                }
        return 0;
}

/* The rest of argv, as it is. */
static void take_rest(struct parser *p)
{
        p->rest = true;
        for (char *word; (word = (char *)next_word(p));)
                p->argv[p->inv->n_args++] = word;
}

static int parse_word(struct parser *p)
{
        bool command = p->verb == SG_VERB_RUN || p->verb == SG_VERB_SUBMIT;
        char *word = p->argv[p->next++];

        if (strcmp(word, "--") == 0 && p->verb >= 0) {
                take_rest(p);
                return 0;
        }
        if (strncmp(word, "--", 2) == 0)
                return word[2] ? parse_long(p, word) : unknown(p, word);
        if (word[0] == '-' && word[1])
                return parse_short(p, word);
        if (p->verb < 0)
                return parse_verb(p, word);
        p->argv[p->inv->n_args++] = word;
        if (command)
                take_rest(p);
        return 0;
}

static int parse_all(struct parser *p)
{
        int result = 0;

        *p->inv = (struct sg_invocation){.verb = SG_VERB_HELP,
                                         .now_usec = p->now_usec,
                                         .args = p->argv,
                                         .lines = UINT64_MAX,
                                         .timeout = UINT64_MAX,
                                         .no_harm = (double)NAN,
                                         .floor = (double)NAN,
                                         .speedup = 1,
                                         .seed = 1};
        p->next = 1;
        p->verb = -1;
        while (p->next < p->argc) {
                int r = parse_word(p);

                if (r < 0 && result == 0)
                        result = r;
        }
        if (p->argc > 0)
                p->argv[p->inv->n_args] = NULL;
        return result;
}

int sg_options_parse(int argc, char **argv, uint64_t now_usec, struct sg_invocation *ret,
                     struct sg_error *e)
{
        struct parser p = {.argc = argc, .argv = argv, .now_usec = now_usec, .inv = ret, .e = e};
        int result = parse_all(&p);

        if (result == 0 && p.verb < 0 && !ret->help && !ret->version)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "see schedctl --help",
                                    "no verb given");
        return result;
}

void sg_options_parse_begun(int argc, char **argv, struct sg_invocation *ret, struct sg_next *next)
{
        struct sg_error e = {0};
        struct parser p = {.argc = argc, .argv = argv, .inv = ret, .e = &e};

        (void)parse_all(&p);
        *next = (struct sg_next){
                .verb = p.unknown_verb ? -1 : p.verb,
                .option = p.waiting,
                .verb_wanted = p.verb < 0,
                .command = p.rest && (p.verb == SG_VERB_RUN || p.verb == SG_VERB_SUBMIT),
        };
}

const struct sg_option *sg_option_find(int verb, const char *name, size_t len)
{
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_option_applies(&sg_options[i], verb) && strlen(sg_options[i].name) == len &&
                    strncmp(sg_options[i].name, name, len) == 0)
                        return &sg_options[i];
        return NULL;
}

void sg_invocation_deinit(struct sg_invocation *inv)
{
        free(inv->after);
        free(inv->env);
        inv->after = NULL;
        inv->env = NULL;
}

int sg_options_set(struct sg_invocation *inv, const char *assignment, struct sg_error *e)
{
        struct parser p = {.verb = SG_VERB_SET, .now_usec = inv->now_usec, .inv = inv, .e = e};
        const char *equals = strchr(assignment, '=');
        size_t len = equals ? (size_t)(equals - assignment) : 0;

        for (size_t i = 0; i < sg_n_options; i++) {
                const struct sg_option *o = &sg_options[i];

                if (!o->key || !applies(&p, o) || strlen(o->name) != len ||
                    strncmp(o->name, assignment, len) != 0)
                        continue;
                return take(&p, i, o->name, equals + 1);
        }
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, assignment, "see schedctl set --help",
                            "set can't change '%s'", assignment);
}

int sg_options_default(struct sg_invocation *inv, const char *name, const char *value,
                       const char *spelled, const uint64_t given[2], struct sg_error *e)
{
        struct parser p = {.verb = SG_VERB_SUBMIT, .now_usec = inv->now_usec, .inv = inv, .e = e};

        for (size_t i = 0; i < sg_n_options; i++)
                if (applies(&p, &sg_options[i]) && strcmp(sg_options[i].name, name) == 0)
                        return given[i / 64] >> i % 64 & 1 ? 0 : take(&p, i, spelled, value);
        return -EINVAL;
}

bool sg_options_any_key(const struct sg_invocation *inv)
{
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_options[i].key && sg_option_given(inv, i))
                        return true;
        return false;
}
