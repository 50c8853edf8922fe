/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See sbatch.h. */

#include "ctl/line/sbatch.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "proto/names.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "#SBATCH"
#define LINE_MAX_HERE 4096
#define WORD_MAX_HERE 1024
#define DAY_SECONDS 86400

enum form {
        FORM_SAME,
        FORM_FLAG,
        FORM_MEMORY,     /* "4096" are megabytes */
        FORM_TIME,       /* "10" are minutes, "1-12" a day and a half */
        FORM_WHEN,       /* "now+2hours" */
        FORM_PATH,       /* other codes */
        FORM_DEPENDENCY, /* "afterok:7:8" */
        FORM_GPUS,       /* "2", "a100:2" */
        FORM_GRES,       /* "gpu:a100:2" */
        FORM_NICE,       /* the other way round */
        FORM_ONE,        /* means nothing here if it is 1 */
        FORM_NOTHING,    /* nor does this, whatever it is */
};

struct known {
        const char *name;
        char letter;
        enum form form;
        const char *ours;
};

static const struct known known_options[] = {
        {"job-name", 'J', FORM_SAME, "name"},
        {"cpus-per-task", 'c', FORM_SAME, "cpus"},
        {"mem", 0, FORM_MEMORY, "mem"},
        {"time", 't', FORM_TIME, "time-limit"},
        {"array", 'a', FORM_SAME, "array"},
        {"output", 'o', FORM_PATH, "output"},
        {"error", 'e', FORM_PATH, "error"},
        {"chdir", 'D', FORM_SAME, "workdir"},
        {"dependency", 'd', FORM_DEPENDENCY, "after"},
        {"gpus", 'G', FORM_GPUS, "gpus"},
        {"gpus-per-node", 0, FORM_GPUS, "gpus"},
        {"gpus-per-task", 0, FORM_GPUS, "gpus"},
        {"gres", 0, FORM_GRES, "gpus"},
        {"begin", 'b', FORM_WHEN, "begin"},
        {"deadline", 0, FORM_WHEN, "deadline"},
        {"hold", 'H', FORM_FLAG, "hold"},
        {"nice", 0, FORM_NICE, "priority"},
        {"nodes", 'N', FORM_ONE, NULL},
        {"ntasks", 'n', FORM_ONE, NULL},
        {"ntasks-per-node", 0, FORM_ONE, NULL},
        {"parsable", 0, FORM_NOTHING, NULL},
        {"comment", 0, FORM_NOTHING, NULL},
};

static const struct known *find_known(const char *word, size_t n)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(known_options); i++) {
                const struct known *k = &known_options[i];

                if (word[1] == '-'
                            ? n == strlen(k->name) + 2 && memcmp(word + 2, k->name, n - 2) == 0
                            : k->letter && word[1] == k->letter)
                        return k;
        }
        return NULL;
}

/* The next line of the head; NULL: it is over. */
static const char *next_line(const char **text, char buf[LINE_MAX_HERE])
{
        size_t n = strcspn(*text, "\n");

        if (!**text)
                return NULL;
        (void)snprintf(buf, LINE_MAX_HERE, "%.*s", (int)n, *text);
        *text += n + ((*text)[n] == '\n');
        buf[strcspn(buf, "\r")] = '\0';
        return buf[strspn(buf, " \t")] == '\0' || buf[0] == '#' ? buf : NULL;
}

static bool is_marked(const char *line)
{
        return strncmp(line, MARK, strlen(MARK)) == 0 && isspace((unsigned char)line[strlen(MARK)]);
}

bool sg_sbatch_any(const char *text)
{
        char buf[LINE_MAX_HERE];

        for (const char *line; (line = next_line(&text, buf));)
                if (is_marked(line))
                        return true;
        return false;
}

/* The next word, without its quotes; false: there is none, or the rest is a comment. */
static bool split_word(const char **line, char word[WORD_MAX_HERE])
{
        const char *p = *line + strspn(*line, " \t");
        size_t n = 0;
        char quote = 0;

        if (!*p || *p == '#')
                return false;
        for (; *p && (quote || !isspace((unsigned char)*p)); p++) {
                if (*p == quote) {
                        quote = 0;
                        continue;
                }
                if (!quote && (*p == '"' || *p == '\'')) {
                        quote = *p;
                        continue;
                }
                if (*p == '\\' && quote != '\'' && p[1])
                        p++;
                if (n < WORD_MAX_HERE - 1)
                        word[n++] = *p;
        }
        word[n] = '\0';
        *line = p;
        return true;
}

/* Values in our words. What makes no sense stays as it is, for the option's own complaint. */

static int to_memory(const char *value, char **ret)
{
        bool number = *value && value[strspn(value, "0123456789")] == '\0';

        if (strcmp(value, "0") == 0) /* all that there is */
                *ret = strdup("infinity");
        else if (asprintf(ret, "%s%s", value, number ? "M" : "") < 0)
                *ret = NULL;
        return *ret ? 0 : -ENOMEM;
}

/* [DAYS-]HOURS[:MINUTES[:SECONDS]], MINUTES[:SECONDS] or HOURS:MINUTES:SECONDS. */
static bool parse_time(const char *value, uint64_t *ret_seconds)
{
        unsigned long long days = 0, part[3] = {0};
        const char *p = value, *dash = strchr(value, '-');
        int n = 0;

        if (dash) {
                days = strtoull(p, NULL, 10);
                p = dash + 1;
        }
        for (; n < 3 && isdigit((unsigned char)*p); n++) {
                char *end;

                part[n] = strtoull(p, &end, 10);
                p = end + (*end == ':' && end[1]);
        }
        if (*p || n == 0 || !isdigit((unsigned char)*value) || days > 36500 || part[0] > 1000000)
                return false;
        if (!dash && n < 3) /* it begins with minutes */
                *ret_seconds = part[0] * 60 + part[1];
        else
                *ret_seconds = days * DAY_SECONDS + part[0] * 3600 + part[1] * 60 + part[2];
        return true;
}

static int to_time(const char *value, char **ret)
{
        uint64_t seconds;
        bool none = strcasecmp(value, "infinite") == 0 || strcasecmp(value, "unlimited") == 0 ||
                    strcmp(value, "0") == 0;

        if (none)
                *ret = strdup("infinity");
        else if (!parse_time(value, &seconds))
                *ret = strdup(value);
        else if (asprintf(ret, "%" PRIu64 "s", seconds) < 0)
                *ret = NULL;
        return *ret ? 0 : -ENOMEM;
}

static int to_when(const char *value, char **ret)
{
        static const char *const units[] = {"seconds", "s", "minutes", "min",
                                            "hours",   "h", "days",    "d"};
        size_t digits = strncmp(value, "now+", 4) == 0 ? strspn(value + 4, "0123456789") : 0;
        const char *unit = digits ? value + 4 + digits : NULL, *ours = NULL;

        if (unit && !*unit)
                ours = "s";
        for (size_t i = 0; unit && *unit && i < SG_ELEMENTSOF(units); i += 2)
                if (strncmp(units[i], unit, strlen(unit)) == 0)
                        ours = units[i + 1];
        if (!ours)
                *ret = strdup(value);
        else if (asprintf(ret, "%.*s%s", (int)digits, value + 4, ours) < 0)
                *ret = NULL;
        if (!*ret)
                return -ENOMEM;
        /* Theirs is local time; ours is, with a blank. */
        if (strlen(*ret) >= 16 && (*ret)[10] == 'T' &&
            strspn(*ret + 11, "0123456789:.") == strlen(*ret + 11))
                (*ret)[10] = ' ';
        return 0;
}

static int to_path(const char *value, char **ret)
{
        char *s = strdup(value);

        if (!s)
                return -ENOMEM;
        for (char *p = s; (p = strchr(p, '%')) && p[1]; p += 2)
                p[1] = p[1] == 'x' ? 'n' : p[1] == 'A' ? 'j' : p[1];
        *ret = s;
        return 0;
}

static int to_nice(const char *value, char **ret)
{
        int32_t nice = 100; /* as if it was said */

        if (*value && sg_parse_i32(value, &nice) < 0)
                *ret = strdup(value);
        else if (asprintf(ret, "%" PRIi32,
                          nice > SG_PRIORITY_MAX    ? -SG_PRIORITY_MAX
                          : nice < -SG_PRIORITY_MAX ? SG_PRIORITY_MAX
                                                    : -nice) < 0)
                *ret = NULL;
        return *ret ? 0 : -ENOMEM;
}

static int convert(enum form form, const char *value, char **ret)
{
        switch (form) {
        case FORM_MEMORY:
                return to_memory(value, ret);
        case FORM_TIME:
                return to_time(value, ret);
        case FORM_WHEN:
                return to_when(value, ret);
        case FORM_PATH:
                return to_path(value, ret);
        case FORM_NICE:
                return to_nice(value, ret);
        default:
                *ret = strdup(value);
                return *ret ? 0 : -ENOMEM;
        }
}

struct place {
        struct sg_sbatch *s;
        struct sg_invocation *inv;
        struct sg_error *e;
        unsigned line;
};

static int keep(struct sg_sbatch *s, char *value)
{
        char **grown = reallocarray(s->values, s->n_values + 1, sizeof(*grown));

        if (!grown) {
                free(value);
                return -ENOMEM;
        }
        s->values = grown;
        s->values[s->n_values++] = value;
        return 0;
}

static int take_value(const struct place *at, const struct known *k, const char *value)
{
        char *ours = NULL, spelled[64];
        int r = convert(k->form, value, &ours);

        if (r >= 0)
                r = keep(at->s, ours);
        if (r < 0)
                return r;
        (void)snprintf(spelled, sizeof(spelled), "line %u: " MARK " --%s", at->line, k->name);
        return sg_options_default(at->inv, k->ours, ours, spelled, at->s->given, at->e);
}

static void say_unknown(const struct place *at, const char *name, const char *value)
{
        char word[WORD_MAX_HERE];

        (void)snprintf(word, sizeof(word), "%s%s%s", name, *value ? " " : "", value);
        at->s->unknown(at->line, word);
}

/* "afterok:7:8,afterany:9" */
static int take_dependency(const struct place *at, const struct known *k, const char *value)
{
        static const char *const kinds[] = {"afterok", "ok", "afterany", "any"};
        char copy[WORD_MAX_HERE], *rest = copy, *one;
        int r = 0;

        (void)snprintf(copy, sizeof(copy), "%s", value);
        while (r >= 0 && (one = strsep(&rest, ","))) {
                const char *kind = strsep(&one, ":"), *ours = NULL, *job;

                for (size_t i = 0; i < SG_ELEMENTSOF(kinds); i += 2)
                        if (strcmp(kind, kinds[i]) == 0)
                                ours = kinds[i + 1];
                if (!ours || !one)
                        say_unknown(at, "--dependency", kind);
                while (r >= 0 && ours && (job = strsep(&one, ":"))) {
                        char after[64];

                        (void)snprintf(after, sizeof(after), "%s:%s", job, ours);
                        r = take_value(at, k, after);
                }
        }
        return r;
}

/* "[TYPE:]N" or "TYPE", which is one of that type. Names of types there are parts of what a driver
 * calls its GPUs. */
static int take_gpus(const struct place *at, const struct known *k, const char *value)
{
        struct known type = *k;
        char pattern[WORD_MAX_HERE + 2];
        const char *count = strrchr(value, ':');
        size_t n = count ? (size_t)(count - value) : strlen(value);
        int r;

        if (!count && value[strspn(value, "0123456789")] == '\0')
                return take_value(at, k, value);
        type.ours = "gpu-type";
        (void)snprintf(pattern, sizeof(pattern), "*%.*s*", (int)n, value);
        r = take_value(at, &type, pattern);
        return r < 0 ? r : take_value(at, k, count ? count + 1 : "1");
}

/* Of several, with commas, GPUs are those that mean something here. */
static int take_gres(const struct place *at, const struct known *k, const char *value)
{
        char copy[WORD_MAX_HERE], *rest = copy, *one;
        int r = 0;

        (void)snprintf(copy, sizeof(copy), "%s", value);
        while (r >= 0 && (one = strsep(&rest, ","))) {
                if (strncmp(one, "gres/", 5) == 0)
                        one += 5;
                if (strcmp(one, "gpu") == 0)
                        r = take_gpus(at, k, "1");
                else if (strncmp(one, "gpu:", 4) == 0)
                        r = take_gpus(at, k, one + 4);
                else if (strcmp(one, "none") != 0)
                        say_unknown(at, "--gres", one);
        }
        return r;
}

static int take_option(const struct place *at, const struct known *k, const char *word,
                       const char *value)
{
        if (!k || (k->form == FORM_ONE && strcmp(value, "1") != 0)) {
                say_unknown(at, word, value);
                return 0;
        }
        if (k->form == FORM_DEPENDENCY)
                return take_dependency(at, k, value);
        if (k->form == FORM_GPUS)
                return take_gpus(at, k, value);
        if (k->form == FORM_GRES)
                return take_gres(at, k, value);
        return k->ours ? take_value(at, k, value) : 0;
}

/* How much of a word is the option; the rest is its value. */
static size_t option_size(const char *word)
{
        if (word[0] != '-' || !word[1])
                return strlen(word);
        return word[1] == '-' ? strcspn(word, "=") : 2;
}

/* "--name=value", "--name value", "-n value" and "-nvalue". What isn't known has a value where the
 * next word looks like one. */
static int take_words(const struct place *at, const char *line)
{
        char word[WORD_MAX_HERE], value[WORD_MAX_HERE];
        int r = 0;

        while (r >= 0 && split_word(&line, word)) {
                size_t n = option_size(word);
                const struct known *k = word[0] == '-' ? find_known(word, n) : NULL;

                value[0] = '\0';
                if (word[n])
                        (void)snprintf(value, sizeof(value), "%s", word + n + (word[n] == '='));
                else if (word[0] == '-' && !(k && k->form == FORM_FLAG) &&
                         line[strspn(line, " \t")] != '-')
                        (void)split_word(&line, value);
                word[n] = '\0';
                r = take_option(at, k, word, value);
        }
        return r;
}

int sg_sbatch_apply(struct sg_sbatch *s, const char *text, struct sg_invocation *inv,
                    struct sg_error *e)
{
        struct place at = {.s = s, .inv = inv, .e = e};
        char buf[LINE_MAX_HERE];
        int r = 0;

        memcpy(s->given, inv->given, sizeof(s->given));
        for (const char *line; r >= 0 && (line = next_line(&text, buf));) {
                at.line++;
                if (is_marked(line))
                        r = take_words(&at, line + strlen(MARK));
        }
        return r;
}

void sg_sbatch_deinit(struct sg_sbatch *s)
{
        for (size_t i = 0; i < s->n_values; i++)
                free(s->values[i]);
        free(s->values);
        s->values = NULL;
        s->n_values = 0;
}
