/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looking things up: the class of a job, and a key of the table. For what isn't there, what was
 * probably meant.
 */

#include "base/utf8.h"
#include "core/job/command.h"
#include "core/settings/table.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_COMPARED 64U

const struct sg_class *sg_settings_class(const struct sg_settings *s, const char *name)
{
        for (size_t i = 0; i < s->n_classes; i++)
                if (strcmp(s->classes[i].name, name) == 0)
                        return &s->classes[i];
        return NULL;
}

const struct sg_class *sg_settings_default(const struct sg_settings *s)
{
        return &s->classes[0];
}

const struct sg_class *sg_settings_class_or_default(const struct sg_settings *s, const char *name)
{
        return sg_settings_class(s, name) ?: sg_settings_default(s);
}

static bool any_fits(char *const *patterns, const char *s)
{
        for (; s && *patterns; patterns++)
                if (fnmatch(*patterns, s, 0) == 0)
                        return true;
        return false;
}

static bool group_fits(char *const *patterns, char *const *groups)
{
        for (; groups && *groups; groups++)
                if (any_fits(patterns, *groups))
                        return true;
        return false;
}

/* "python*" is to fit "/usr/bin/python3 train.py" too. */
static bool command_fits(char *const *patterns, const char *command)
{
        char buf[SG_COMMAND_COMPARED + 1];
        const char *name = buf;
        size_t n;

        if (!command)
                return false;
        n = strnlen(command, sizeof(buf) - 1);
        memcpy(buf, command, n);
        buf[n] = '\0';
        for (const char *p = buf; *p && *p != ' '; p++)
                if (*p == '/')
                        name = p + 1;
        return any_fits(patterns, buf) || (name != buf && any_fits(patterns, name));
}

/* The key of [Match] that keeps somebody out, or NULL. */
static const char *key_at_fault(const struct sg_class *c, const char *user, char *const *groups)
{
        if (c->match_user && !any_fits(c->match_user, user))
                return "User";
        return c->match_group && !group_fits(c->match_group, groups) ? "Group" : NULL;
}

bool sg_class_admits(const struct sg_class *c, const char *user, char *const *groups)
{
        return !key_at_fault(c, user, groups);
}

bool sg_class_rule(const struct sg_class *c, const char *user, char *const *groups,
                   char ret[SG_CLASS_RULE_MAX])
{
        static const char more[] = " ...";
        const char *key = key_at_fault(c, user, groups);
        char *const *patterns = key && key[0] == 'U' ? c->match_user : c->match_group;
        size_t n, max = SG_CLASS_RULE_MAX - sizeof(more) + 1;

        if (!key)
                return false;
        n = (size_t)snprintf(ret, max, "%s=", key);
        for (const char *blank = ""; *patterns && n < max; patterns++, blank = " ")
                n += (size_t)snprintf(ret + n, max - n, "%s%s", blank, *patterns);
        if (n >= max)
                strcpy(ret + max - 1, more);
        sg_utf8_clean(ret, strlen(ret));
        return true;
}

static bool gpus_fit(enum sg_gpu_match match, bool gpus)
{
        return match == SG_GPU_MATCH_ANY || (match == SG_GPU_MATCH_YES) == gpus;
}

bool sg_settings_mind_names(const struct sg_settings *s, const char *class)
{
        for (size_t i = 0; i < s->n_classes; i++)
                if (s->classes[i].match_user &&
                    (class[0] == '\0' || strcmp(s->classes[i].name, class) == 0))
                        return true;
        return false;
}

const struct sg_class *sg_settings_match(const struct sg_settings *s, const char *user,
                                         char *const *groups, const char *command, bool gpus)
{
        for (size_t i = 1; i < s->n_classes; i++) {
                const struct sg_class *c = &s->classes[i];

                if (!c->match_user && !c->match_group && !c->match_command &&
                    c->gpus.match == SG_GPU_MATCH_ANY)
                        continue;
                if (sg_class_admits(c, user, groups) && gpus_fit(c->gpus.match, gpus) &&
                    (!c->match_command || command_fits(c->match_command, command)))
                        return c;
        }
        return sg_settings_default(s);
}

const struct sg_settings_key *sg_settings_key_find(const char *file, const char *section,
                                                   const char *key)
{
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (strcmp(k->file, file) == 0 && strcmp(k->section, section) == 0 &&
                    strcmp(k->key, key) == 0)
                        return k;
        return NULL;
}

bool sg_settings_has_section(const char *file, const char *section)
{
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (strcmp(k->file, file) == 0 && strcmp(k->section, section) == 0)
                        return true;
        return false;
}

static int lower(char c)
{
        return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Levenshtein's, not minding case, over one row; UINT_MAX-like for what is too long to be a key. */
static size_t distance(const char *a, const char *b)
{
        size_t row[NAME_MAX_COMPARED + 1], n = strlen(a), m = strnlen(b, NAME_MAX_COMPARED + 1);

        if (m > NAME_MAX_COMPARED)
                return SIZE_MAX;
        for (size_t j = 0; j <= m; j++)
                row[j] = j;
        for (size_t i = 1; i <= n; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= m; j++) {
                        size_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
                        size_t indel = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

                        diagonal = row[j];
                        row[j] = change < indel ? change : indel;
                }
        }
        return row[m];
}

static bool near(size_t d, const char *known)
{
        return d <= 2 && d * 2 <= strlen(known);
}

static const struct sg_settings_key *nearest_key(const char *section, const char *key)
{
        const struct sg_settings_key *best = NULL;
        size_t best_d = SIZE_MAX;

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                size_t d = distance(k->key, key);

                if (!near(d, k->key))
                        continue;
                /* of equals, the one in the section that was written */
                if (d < best_d || (d == best_d && strcmp(k->section, section) == 0)) {
                        best = k;
                        best_d = d;
                }
        }
        return best;
}

static const struct sg_settings_key *nearest_section(const char *file, const char *section)
{
        const struct sg_settings_key *best = NULL;
        size_t best_d = SIZE_MAX;

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                size_t d = distance(k->section, section);

                if (!near(d, k->section))
                        continue;
                if (d < best_d || (d == best_d && strcmp(k->file, file) == 0)) {
                        best = k;
                        best_d = d;
                }
        }
        return best;
}

const char *sg_settings_nearest_class(const struct sg_settings *s, const char *name)
{
        const char *best = NULL;
        size_t best_d = SIZE_MAX;

        if (strnlen(name, NAME_MAX_COMPARED + 1) > NAME_MAX_COMPARED)
                return NULL;
        for (size_t i = 0; i < s->n_classes; i++) {
                size_t d = distance(name, s->classes[i].name);

                if (d >= best_d || !near(d, s->classes[i].name))
                        continue;
                best = s->classes[i].name;
                best_d = d;
        }
        return best;
}

static const char *where_else(const char *file, const struct sg_settings_key *k)
{
        if (strcmp(k->file, file) == 0)
                return "";
        return strcmp(k->file, "conf") == 0 ? " of schedgov.conf" : " of a policy file";
}

static char *unknown_section(const char *file, const char *section)
{
        const struct sg_settings_key *k = nearest_section(file, section);
        char *s;
        int r;

        r = k ? asprintf(&s, "unknown section [%.64s]; did you mean [%s]%s?", section, k->section,
                         where_else(file, k))
              : asprintf(&s, "unknown section [%.64s]", section);
        return r < 0 ? NULL : s;
}

static char *unknown_key(const char *file, const char *section, const char *key)
{
        const struct sg_settings_key *k = nearest_key(section, key);
        char *s;
        int r;

        r = k ? asprintf(&s, "unknown key [%s] %.64s=; did you mean [%s] %s=%s?", section, key,
                         k->section, k->key, where_else(file, k))
              : asprintf(&s, "unknown key [%s] %.64s=", section, key);
        return r < 0 ? NULL : s;
}

char *sg_settings_unknown(const char *file, const char *section, const char *key)
{
        return key && sg_settings_has_section(file, section) ? unknown_key(file, section, key)
                                                             : unknown_section(file, section);
}
