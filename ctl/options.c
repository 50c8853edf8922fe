/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parsing of the command line by the tables of option_table.c. */

#include "ctl/options.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "core/number.h"
#include "ctl/ids.h"
#include "ctl/output.h"
#include "ctl/suggest.h"
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
};

/* What a value should have looked like, for the error. */
static const char *wanted(enum sg_option_type type)
{
        static const char *const table[] = {
                [SG_OPTION_STRING] = "a value",
                [SG_OPTION_NAME] = "a name of 1 to 64 characters in one line",
                [SG_OPTION_COUNT] = "a number such as 3",
                [SG_OPTION_NUMBER] = "a number such as 100, or infinity",
                [SG_OPTION_STEPS] = "a number such as 1000",
                [SG_OPTION_WEIGHT] = "a weight from 1 to 10000",
                [SG_OPTION_PRIORITY] = "a number from -1000 to 1000",
                [SG_OPTION_BYTES] = "a size such as 512M or 4G",
                [SG_OPTION_USEC] = "a time such as 90s, 2h or 1:30:00",
                [SG_OPTION_PERCENT] = "a percentage of one CPU such as 20% or 150%, or infinity",
                [SG_OPTION_PART] = "a part such as 5% or 0.05, or infinity",
                [SG_OPTION_TIME] = "a point in time such as 22:00, +10min or 2026-11-18 12:00",
                [SG_OPTION_CPUS] = "a number of CPUs such as 4 or 2-8",
                [SG_OPTION_ARRAY] = "a range of at most 10000 numbers such as 0-9",
                [SG_OPTION_AFTER] = "a job such as 7, 7:ok or 7:any",
                [SG_OPTION_ENV] = "a variable such as KEY=VALUE",
        };

        return table[type];
}

static int parse_quota(const char *s, uint64_t *ret)
{
        if (strcmp(s, "infinity") != 0)
                return sg_parse_percent(s, ret);
        *ret = SG_UNLIMITED;
        return 0;
}

static int parse_part(const char *s, double *ret)
{
        const char *end = s + strlen(s), *behind;
        double v;

        behind = sg_number_scan(s, end, &v);
        if (!behind || !(v >= 0))
                return -EINVAL;
        if (strcmp(behind, "%") == 0)
                v /= 100;
        else if (behind != end)
                return -EINVAL;
        *ret = v;
        return 0;
}

static int parse_bounded(const char *s, uint64_t lo, uint64_t hi, uint64_t *ret)
{
        uint64_t v;
        int r = sg_parse_u64(s, &v);

        if (r < 0)
                return r;
        if (v < lo || v > hi)
                return -ERANGE;
        *ret = v;
        return 0;
}

static int parse_priority(const char *s, int64_t *ret)
{
        int32_t v;
        int r = sg_parse_i32(s, &v);

        if (r < 0)
                return r;
        if (v < -SG_PRIORITY_MAX || v > SG_PRIORITY_MAX)
                return -ERANGE;
        *ret = v;
        return 0;
}

static int parse_number(const char *s, uint64_t *ret)
{
        if (strcmp(s, "infinity") == 0) {
                *ret = SG_UNLIMITED;
                return 0;
        }
        return parse_bounded(s, 1, SG_UNLIMITED - 1, ret);
}

static int parse_name(const char *s, const char **ret)
{
        size_t len = strlen(s);

        if (len == 0 || len >= SG_JOB_NAME_MAX || !sg_utf8_is_valid(s, len))
                return -EINVAL;
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
                        return -EINVAL;
        *ret = s;
        return 0;
}

static int parse_cpus(const char *s, uint64_t ret[2])
{
        uint32_t lo, hi;
        int r = sg_parse_range(s, &lo, &hi);

        if (r < 0)
                return r;
        if (hi > SG_CPUS_MAX)
                return -ERANGE;
        ret[0] = lo;
        ret[1] = hi;
        return 0;
}

/* Unlike --cpus, an array may begin at 0. */
static int parse_array(const char *s, uint64_t ret[2])
{
        const char *dash = strchr(s, '-');
        uint32_t first, last;
        char buf[16];

        if (!dash || (size_t)(dash - s) >= sizeof(buf))
                return -EINVAL;
        memcpy(buf, s, (size_t)(dash - s));
        buf[dash - s] = '\0';
        if (sg_parse_u32(buf, &first) < 0 || sg_parse_u32(dash + 1, &last) < 0)
                return -EINVAL;
        if (last < first || last - first >= SG_ARRAY_MAX)
                return -ERANGE;
        ret[0] = first;
        ret[1] = last;
        return 0;
}

static int parse_time(const char *s, uint64_t now_usec, uint64_t *ret)
{
        uint64_t ago;
        int r;

        if (*s != '-')
                return sg_parse_timestamp(s, now_usec, ret);
        r = sg_parse_usec(s + 1, &ago);
        if (r < 0)
                return r;
        *ret = ago < now_usec ? now_usec - ago : 0;
        return 0;
}

/* Joins "5", "6-8:any" to what is there already, as "5:ok,6:any,7:any,8:any". */
static int parse_after(const char *s, char **after)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_free_ char *job = strdup(s), *joined = NULL;
        const char *condition = "ok";
        size_t size = 0;
        FILE *f;
        char *colon;
        int r;

        if (!job)
                return -ENOMEM;
        colon = strchr(job, ':');
        if (colon) {
                *colon = '\0';
                condition = colon + 1;
        }
        if (strcmp(condition, "ok") != 0 && strcmp(condition, "any") != 0)
                return -EINVAL;
        r = sg_ids_add(&ids, job);
        if (r < 0)
                return r;
        f = open_memstream(&joined, &size);
        if (!f)
                return -ENOMEM;
        if (*after)
                (void)fputs(*after, f);
        for (size_t i = 0; i < ids.n; i++)
                (void)fprintf(f, "%s%s:%s", i > 0 || *after ? "," : "", ids.v[i], condition);
        if (fclose(f) != 0)
                return -ENOMEM;
        free(*after);
        *after = TAKE_PTR(joined);
        return 0;
}

static int parse_env(const char *s, struct sg_invocation *inv)
{
        const char *equals = strchr(s, '=');
        const char **grown;

        if (!equals || equals == s)
                return -EINVAL;
        grown = reallocarray(inv->env, inv->n_env + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        inv->env = grown;
        inv->env[inv->n_env++] = s;
        return 0;
}

static int parse_value(const struct sg_option *o, const char *s, uint64_t now_usec,
                       struct sg_invocation *inv)
{
        void *at = (char *)inv + o->offset;

        switch (o->type) {
        case SG_OPTION_FLAG:
                *(bool *)at = true;
                return 0;
        case SG_OPTION_STRING:
                *(const char **)at = s;
                return *s && sg_utf8_is_valid(s, strlen(s)) ? 0 : -EINVAL;
        case SG_OPTION_NAME:
                return parse_name(s, at);
        case SG_OPTION_COUNT:
                return parse_bounded(s, 0, UINT32_MAX, at);
        case SG_OPTION_NUMBER:
                return parse_number(s, at);
        case SG_OPTION_STEPS:
                return parse_bounded(s, 1, INT64_MAX, at);
        case SG_OPTION_WEIGHT:
                return parse_bounded(s, 1, 10000, at);
        case SG_OPTION_PRIORITY:
                return parse_priority(s, at);
        case SG_OPTION_BYTES:
                return sg_parse_bytes(s, at);
        case SG_OPTION_USEC:
                return sg_parse_usec(s, at);
        case SG_OPTION_PERCENT:
                return parse_quota(s, at);
        case SG_OPTION_PART:
                return parse_part(s, at);
        case SG_OPTION_TIME:
                return parse_time(s, now_usec, at);
        case SG_OPTION_CPUS:
                return parse_cpus(s, at);
        case SG_OPTION_ARRAY:
                return parse_array(s, at);
        case SG_OPTION_AFTER:
                return parse_after(s, at);
        case SG_OPTION_ENV:
                return parse_env(s, inv);
        }
        return -EINVAL;
}

/* spelled: as the user wrote it, "--mem", "-n" or "mem". */
static int take(struct parser *p, size_t i, const char *spelled, const char *value)
{
        const struct sg_option *o = &sg_options[i];
        int r = parse_value(o, value, p->now_usec, p->inv);

        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL,
                                    "%s wants %s, not '%s'", spelled, wanted(o->type), value);
        p->inv->given[i / 64] |= 1ULL << i % 64;
        return 0;
}

/* Any verb's options are known before the verb is; whether they belong together is checked last. */
int sg_verb_unknown(const char *word, struct sg_error *e)
{
        struct sg_suggestion near = {.typed = word};
        char hint[64];

        for (int i = 0; i < _SG_VERB_MAX; i++)
                sg_suggest(&near, sg_verbs[i].name);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, word,
                            sg_suggest_hint(&near, "", "see schedctl --help", hint, sizeof(hint)),
                            "unknown verb '%s'", word);
}

static bool applies(const struct parser *p, const struct sg_option *o)
{
        return p->verb < 0 || (o->verbs >> p->verb & 1) != 0;
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
        char help[64], hint[128];

        for (size_t i = 0; i < sg_n_options; i++)
                if (applies(p, &sg_options[i]))
                        sg_suggest(&near, sg_options[i].name);
        return sg_error_set(
                p->e, SG_EXIT_OWN_FAILURE, spelled,
                sg_suggest_hint(&near, "--", help_hint(p, help, sizeof(help)), hint, sizeof(hint)),
                "unknown option %s", spelled);
}

static int misplaced(struct parser *p, const char *spelled)
{
        char hint[64];

        return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, help_hint(p, hint, sizeof(hint)),
                            "%s does not take %s", sg_verbs[p->verb].name, spelled);
}

static const char *next_word(struct parser *p)
{
        return p->next < p->argc ? p->argv[p->next++] : NULL;
}

/* Of two options of one name that both apply, the first is meant; before the verb is known, the one
 * that fits how it is written. */
static bool is_meant(const struct parser *p, size_t i, bool equals)
{
        for (size_t k = 0; k < sg_n_options; k++)
                if (k != i && strcmp(sg_options[k].name, sg_options[i].name) == 0)
                        return p->verb >= 0 ? applies(p, &sg_options[i])
                                            : (sg_options[i].type == SG_OPTION_FLAG) == !equals;
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
                value = equals ? equals + 1 : o->type == SG_OPTION_FLAG ? "" : next_word(p);
                if (!value)
                        return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL, "%s wants %s",
                                            spelled, wanted(o->type));
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
                        value = letter[1] ? letter + 1 : next_word(p);
                        if (!value)
                                return sg_error_set(p->e, SG_EXIT_OWN_FAILURE, spelled, NULL,
                                                    "%s wants %s", spelled,
                                                    wanted(sg_options[i].type));
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

int sg_options_parse(int argc, char **argv, uint64_t now_usec, struct sg_invocation *ret,
                     struct sg_error *e)
{
        struct parser p = {.argc = argc,
                           .argv = argv,
                           .next = 1,
                           .verb = -1,
                           .now_usec = now_usec,
                           .inv = ret,
                           .e = e};
        int result = 0;

        *ret = (struct sg_invocation){.verb = SG_VERB_HELP,
                                      .now_usec = now_usec,
                                      .args = argv,
                                      .lines = UINT64_MAX,
                                      .timeout = UINT64_MAX,
                                      .no_harm = (double)NAN,
                                      .floor = (double)NAN,
                                      .speedup = 1,
                                      .seed = 1};
        while (p.next < argc) {
                int r = parse_word(&p);

                if (r < 0 && result == 0)
                        result = r;
        }
        if (argc > 0)
                argv[ret->n_args] = NULL;
        if (result == 0 && p.verb < 0 && !ret->help && !ret->version)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "see schedctl --help",
                                    "no verb given");
        return result;
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
                            "'%s' is nothing that set can change", assignment);
}

bool sg_options_any_key(const struct sg_invocation *inv)
{
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_options[i].key && sg_option_given(inv, i))
                        return true;
        return false;
}
