/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See overrides.h. A class that was changed is kept as what the files said and the assignments
 * since; what is in force is always the one with the others applied to it.
 */

#include "edge/config/overrides.h"
#include "base/file.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FILE_MAX (256U << 10)
#define KEYS_MAX 32U /* more than there are */

struct change {
        const struct sg_settings_key *key;
        char *value;
};

struct changed {
        char class[SG_CLASS_NAME_MAX];
        struct sg_share_settings configured;
        struct change changes[KEYS_MAX];
        size_t n;
};

struct sg_overrides {
        char *path;
        struct changed **classes;
        size_t n;
};

static struct changed *changed_free(struct changed *c)
{
        for (size_t i = 0; c && i < c->n; i++)
                free(c->changes[i].value);
        free(c);
        return NULL;
}
SG_DEFINE_CLEANUP(struct changed *, changed_free)

static struct changed *find(const struct sg_overrides *p, const char *class)
{
        for (size_t i = 0; i < p->n; i++)
                if (strcmp(p->classes[i]->class, class) == 0)
                        return p->classes[i];
        return NULL;
}

static struct sg_class *find_class(struct sg_settings *s, const char *name)
{
        for (size_t i = 0; i < s->n_classes; i++)
                if (strcmp(s->classes[i].name, name) == 0)
                        return &s->classes[i];
        return NULL;
}

/* --- assignments */

/* The first of that name in the order of the table; section NULL: any. */
static const struct sg_settings_key *find_key(const char *section, const char *key)
{
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (sg_settings_key_is_share(k) && strcmp(k->key, key) == 0 &&
                    (!section || strcmp(k->section, section) == 0))
                        return k;
        return NULL;
}

static int why_not(char **ret_why, const char *section, const char *key)
{
        const struct sg_settings_key *other = NULL;

        for (const struct sg_settings_key *k = sg_settings_keys; k->section && !other; k++)
                if (strcmp(k->file, "policy") == 0 && strcmp(k->key, key) == 0 &&
                    (!section || strcmp(k->section, section) == 0))
                        other = k;
        if (!other)
                *ret_why = sg_settings_unknown("policy", section ?: "Policy", key);
        else if (asprintf(ret_why,
                          "[%s] %s= can't be changed like that: write it into the class's file",
                          other->section, other->key) < 0)
                *ret_why = NULL;
        return *ret_why ? -EINVAL : -ENOMEM;
}

static void drop(struct changed *c, const struct sg_settings_key *key)
{
        for (size_t i = 0; i < c->n; i++) {
                if (c->changes[i].key != key)
                        continue;
                free(c->changes[i].value);
                c->changes[i] = c->changes[--c->n];
                return;
        }
}

static int add(struct changed *c, const struct sg_settings_key *key, const char *value)
{
        char *copy;

        drop(c, key);
        if (value[0] == '\0')
                return 0;
        if (c->n == KEYS_MAX)
                return -E2BIG;
        copy = strdup(value);
        if (!copy)
                return -ENOMEM;
        c->changes[c->n++] = (struct change){key, copy};
        return 0;
}

/* "Alpha=0.1", "FlowCon.Alpha=0.1" */
static int add_text(struct changed *c, const char *assignment, char **ret_why)
{
        const char *equals = strchr(assignment, '='), *section = NULL;
        const struct sg_settings_key *k;
        _cleanup_free_ char *name = NULL;
        char *key, *dot;

        if (!equals || equals == assignment) {
                if (asprintf(ret_why, "'%.60s' is no KEY=VALUE", assignment) < 0)
                        *ret_why = NULL;
                return *ret_why ? -EINVAL : -ENOMEM;
        }
        name = strndup(assignment, (size_t)(equals - assignment));
        if (!name)
                return -ENOMEM;
        key = name;
        dot = strchr(name, '.');
        if (dot) {
                *dot = '\0';
                section = name;
                key = dot + 1;
        }
        k = find_key(section, key);
        return k ? add(c, k, equals + 1) : why_not(ret_why, section, key);
}

static int evaluate(const struct changed *c, struct sg_share_settings *ret, char **ret_why)
{
        struct sg_class class = {.share = c->configured};
        int r = 0;

        for (size_t i = 0; r >= 0 && i < c->n; i++)
                r = sg_settings_class_assign(&class, c->changes[i].key->section,
                                             c->changes[i].key->key, c->changes[i].value, ret_why);
        if (r >= 0)
                r = sg_share_settings_check(&class.share, ret_why);
        if (r >= 0)
                *ret = class.share;
        return r;
}

/* A copy to be changed; of a class that wasn't changed yet, one without changes. */
static int copy_of(const struct sg_overrides *p, const struct sg_class *class, struct changed **ret)
{
        _cleanup_(changed_freep) struct changed *c = calloc(1, sizeof(*c));
        const struct changed *old = find(p, class->name);

        if (!c)
                return -ENOMEM;
        memcpy(c->class, class->name, sizeof(c->class));
        c->configured = old ? old->configured : class->share;
        for (size_t i = 0; old && i < old->n; i++)
                if (add(c, old->changes[i].key, old->changes[i].value) < 0)
                        return -ENOMEM;
        *ret = TAKE_PTR(c);
        return 0;
}

/* --- the file */

static void print(FILE *f, const struct changed *c)
{
        for (size_t i = 0; i < c->n; i++)
                (void)fprintf(f, "%s %s.%s=%s\n", c->class, c->changes[i].key->section,
                              c->changes[i].key->key, c->changes[i].value);
}

/* With `fresh` in place of what is kept of its class. */
static int store(const struct sg_overrides *p, const struct changed *fresh)
{
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < p->n; i++)
                if (strcmp(p->classes[i]->class, fresh->class) != 0)
                        print(f, p->classes[i]);
        print(f, fresh);
        if (fclose(f) != 0)
                return -ENOMEM;
        if (size == 0)
                return unlink(p->path) < 0 && errno != ENOENT ? -errno : 0;
        return sg_replace_file(AT_FDCWD, p->path, text, size, 0600);
}

static int keep(struct sg_overrides *p, struct changed **fresh)
{
        struct changed **grown;

        for (size_t i = 0; i < p->n; i++) {
                if (strcmp(p->classes[i]->class, (*fresh)->class) != 0)
                        continue;
                changed_free(p->classes[i]);
                p->classes[i] = TAKE_PTR(*fresh);
                return 0;
        }
        grown = realloc(p->classes, (p->n + 1) * sizeof(struct changed *));
        if (!grown)
                return -ENOMEM;
        p->classes = grown;
        p->classes[p->n++] = TAKE_PTR(*fresh);
        return 0;
}

static int set(struct sg_overrides *p, struct sg_settings *s, const char *name,
               char *const *assignments, bool durable, char **ret_why)
{
        _cleanup_(changed_freep) struct changed *fresh = NULL;
        struct sg_class *class = find_class(s, name);
        struct sg_share_settings share = {0};
        int r;

        if (!class)
                return -ENOENT;
        r = copy_of(p, class, &fresh);
        for (char *const *a = assignments; r >= 0 && *a; a++)
                r = add_text(fresh, *a, ret_why);
        if (r >= 0)
                r = evaluate(fresh, &share, ret_why);
        if (r >= 0 && durable)
                r = store(p, fresh);
        if (r >= 0)
                r = keep(p, &fresh);
        if (r >= 0)
                class->share = share;
        return r;
}

int sg_overrides_set(struct sg_overrides *p, struct sg_settings *s, const char *class,
                     char *const *assignments, char **ret_why)
{
        return set(p, s, class, assignments, true, ret_why);
}

static void read_line(struct sg_overrides *p, struct sg_settings *s, char *line)
{
        char *blank = strchr(line, ' ');
        _cleanup_free_ char *why = NULL;
        int r;

        if (!blank)
                return;
        *blank = '\0';
        r = set(p, s, line, (char *[]){blank + 1, NULL}, false, &why);
        if (r < 0)
                sg_log(LOG_WARNING, "what was changed of the policy of class %s is dropped: %s: %s",
                       line, blank + 1, why ?: strerror(-r));
}

int sg_overrides_new(struct sg_overrides **ret, const char *runtime_dir, struct sg_settings *s)
{
        _cleanup_(sg_overrides_freep) struct sg_overrides *p = calloc(1, sizeof(*p));
        _cleanup_free_ char *text = NULL;
        char *save = NULL;
        size_t size;
        int r;

        if (!p || asprintf(&p->path, "%s/policy", runtime_dir) < 0)
                return -ENOMEM;
        r = sg_read_file(AT_FDCWD, p->path, FILE_MAX, &text, &size);
        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                sg_log(LOG_WARNING, "cannot read %s: %s; policies are as configured", p->path,
                       strerror(-r));
        for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
             line = strtok_r(NULL, "\n", &save))
                read_line(p, s, line);
        *ret = TAKE_PTR(p);
        return 0;
}

static void clear(struct sg_overrides *p)
{
        for (size_t i = 0; i < p->n; i++)
                changed_free(p->classes[i]);
        p->n = 0;
}

struct sg_overrides *sg_overrides_free(struct sg_overrides *p)
{
        if (p) {
                clear(p);
                free(p->classes);
                free(p->path);
                free(p);
        }
        return NULL;
}

void sg_overrides_reset(struct sg_overrides *p)
{
        clear(p);
        if (unlink(p->path) < 0 && errno != ENOENT)
                sg_log(LOG_WARNING, "cannot remove %s: %m", p->path);
}

bool sg_overrides_has(const struct sg_overrides *p, const char *class,
                      const struct sg_settings_key *key)
{
        const struct changed *c = find(p, class);

        for (size_t i = 0; c && i < c->n; i++)
                if (c->changes[i].key == key)
                        return true;
        return false;
}
