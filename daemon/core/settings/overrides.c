/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/settings/overrides.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sg_overrides_deinit(struct sg_overrides *o)
{
        for (size_t i = 0; i < o->n; i++)
                free(o->items[i].value);
        free(o->items);
        *o = (struct sg_overrides){0};
}

/* o->n: there is none. */
static size_t find(const struct sg_overrides *o, const char *class,
                   const struct sg_settings_key *key)
{
        size_t i = 0;

        while (i < o->n && (o->items[i].key != key || strcmp(o->items[i].class, class) != 0))
                i++;
        return i;
}

bool sg_overrides_has(const struct sg_overrides *o, const char *class,
                      const struct sg_settings_key *key)
{
        return find(o, class, key) < o->n;
}

void sg_overrides_remove(struct sg_overrides *o, size_t item)
{
        free(o->items[item].value);
        o->n--;
        memmove(&o->items[item], &o->items[item + 1], (o->n - item) * sizeof(*o->items));
}

static int append(struct sg_overrides *o, const char *class, const struct sg_settings_key *key)
{
        struct sg_override *grown = reallocarray(o->items, o->n + 1, sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        o->items = grown;
        grown[o->n] = (struct sg_override){.key = key};
        (void)snprintf(grown[o->n].class, sizeof(grown->class), "%s", class);
        o->n++;
        return 0;
}

static int put(struct sg_overrides *o, const char *class, const struct sg_settings_key *key,
               const char *value)
{
        _cleanup_free_ char *copy = strdup(value);
        size_t i = find(o, class, key);

        if (!copy)
                return -ENOMEM;
        if (value[0] == '\0') {
                if (i < o->n)
                        sg_overrides_remove(o, i);
                return 0;
        }
        if (i == o->n && append(o, class, key) < 0)
                return -ENOMEM;
        free(o->items[i].value);
        o->items[i].value = TAKE_PTR(copy);
        return 0;
}

static int copy_all(const struct sg_overrides *from, struct sg_overrides *to)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < from->n; i++)
                r = put(to, from->items[i].class, from->items[i].key, from->items[i].value);
        return r;
}

/* --- assignments */

__attribute__((format(printf, 2, 3))) static int refuse(char **ret_why, const char *format, ...)
{
        va_list ap;
        char *why;
        int r;

        va_start(ap, format);
        r = vasprintf(&why, format, ap);
        va_end(ap);
        if (r < 0)
                return -ENOMEM;
        *ret_why = why;
        return -EINVAL;
}

/* The first of that name in the order of the table; section NULL: any. */
static const struct sg_settings_key *find_key(const char *section, const char *key, bool any)
{
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (strcmp(k->file, "policy") == 0 && (any || sg_settings_key_is_share(k)) &&
                    strcmp(k->key, key) == 0 && (!section || strcmp(k->section, section) == 0))
                        return k;
        return NULL;
}

static int why_not(const char *section, const char *key, char **ret_why)
{
        const struct sg_settings_key *other = find_key(section, key, true);
        char *why;

        if (other)
                return refuse(ret_why,
                              "[%s] %s= can't be changed like that: write it into the class's file",
                              other->section, other->key);
        why = sg_settings_unknown("policy", section ?: "Policy", key);
        if (!why)
                return -ENOMEM;
        *ret_why = why;
        return -EINVAL;
}

/* "Alpha=0.1", "FlowCon.Alpha=0.1" */
static int assign(struct sg_overrides *o, const char *class, const char *assignment, char **ret_why)
{
        const char *equals = strchr(assignment, '='), *section = NULL;
        const struct sg_settings_key *k;
        _cleanup_free_ char *name = NULL;
        char *key, *dot;

        if (!equals || equals == assignment)
                return refuse(ret_why, "'%.60s' is no KEY=VALUE", assignment);
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
        k = find_key(section, key, false);
        return k ? put(o, class, k, equals + 1) : why_not(section, key, ret_why);
}

int sg_overrides_change(const struct sg_overrides *now, const char *class, char *const *assignments,
                        struct sg_overrides *ret, char **ret_why)
{
        _cleanup_(sg_overrides_deinit) struct sg_overrides o = {0};
        int r = copy_all(now, &o);

        for (char *const *a = assignments; r >= 0 && *a; a++)
                r = assign(&o, class, *a, ret_why);
        if (r < 0)
                return r;
        *ret = o;
        o = (struct sg_overrides){0};
        return 0;
}

/* --- text */

int sg_overrides_format(const struct sg_overrides *o, char **ret)
{
        size_t size = 1, n = 0;
        char *text;

        for (size_t i = 0; i < o->n; i++)
                size += strlen(o->items[i].class) + strlen(o->items[i].key->section) +
                        strlen(o->items[i].key->key) + strlen(o->items[i].value) + strlen(" .=\n");
        text = calloc(size, 1);
        if (!text)
                return -ENOMEM;
        for (size_t i = 0; i < o->n; i++)
                n += (size_t)snprintf(text + n, size - n, "%s %s.%s=%s\n", o->items[i].class,
                                      o->items[i].key->section, o->items[i].key->key,
                                      o->items[i].value);
        *ret = text;
        return 0;
}

int sg_overrides_read_line(struct sg_overrides *o, const char *line, char **ret_why)
{
        char class[SG_CLASS_NAME_MAX];
        size_t n = strcspn(line, " ");

        if (n == 0 || n >= sizeof(class) || line[n] == '\0')
                return refuse(ret_why, "'%.60s' is no CLASS KEY=VALUE", line);
        memcpy(class, line, n);
        class[n] = '\0';
        return assign(o, class, line + n + 1, ret_why);
}

/* --- settings */

static void clear(struct sg_misfits *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->items[i].why);
        m->n = 0;
}

void sg_misfits_deinit(struct sg_misfits *m)
{
        clear(m);
        free(m->items);
        m->items = NULL;
}

/* Settings that nobody else has seen yet. */
static struct sg_class *find_class(struct sg_settings *s, const char *name)
{
        return (struct sg_class *)sg_settings_class(s, name);
}

/* -EINVAL leaves the class as it was. */
static int apply(struct sg_settings *s, const struct sg_override *o, char **ret_why)
{
        struct sg_class *c = find_class(s, o->class);
        struct sg_share_settings before;
        int r;

        if (!c)
                return refuse(ret_why, "there is no class '%s'", o->class);
        before = c->share;
        r = sg_settings_class_assign(c, o->key->section, o->key->key, o->value, ret_why);
        if (r >= 0)
                r = sg_share_settings_check(&c->share, ret_why);
        if (r < 0)
                c->share = before;
        return r;
}

static int apply_each(struct sg_settings *s, const struct sg_overrides *o, struct sg_misfits *m)
{
        for (size_t i = 0; i < o->n; i++) {
                char *why = NULL;
                int r = apply(s, &o->items[i], &why);

                if (r == -EINVAL)
                        m->items[m->n++] = (struct sg_misfit){i, why};
                else if (r < 0)
                        return r;
        }
        return 0;
}

/* An override may need one behind it, as Tick= does that is above the file's MaxInterval=: so they
 * are gone through again while that makes more of them fit. */
static int apply_all(struct sg_settings *s, const struct sg_overrides *o, struct sg_misfits *m)
{
        size_t before;
        int r;

        do {
                before = m->n;
                clear(m);
                r = apply_each(s, o, m);
        } while (r >= 0 && m->n > 0 && m->n != before);
        return r;
}

int sg_settings_override(const struct sg_settings *files, const struct sg_overrides *o,
                         const struct sg_settings **ret, struct sg_misfits *misfits)
{
        _cleanup_(sg_settings_freep) struct sg_settings *s = NULL;
        int r;

        misfits->items = calloc(o->n + 1, sizeof(*misfits->items));
        if (!misfits->items)
                return -ENOMEM;
        r = sg_settings_copy(files, &s);
        if (r >= 0)
                r = apply_all(s, o, misfits);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}
