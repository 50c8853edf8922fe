/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is in force and where it was written, as text that can be read back; and the errors.
 */

#include "edge/config/internal.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

static void origin_deinit(struct sg_config_origin *o)
{
        free(o->value);
        free(o->path);
}

void sg_config_origins_deinit(struct sg_config_origins *o)
{
        for (size_t i = 0; i < o->n; i++)
                origin_deinit(&o->items[i]);
        free(o->items);
        *o = (struct sg_config_origins){};
}

static void drop_key(struct sg_config_origins *o, const struct sg_settings_key *key)
{
        size_t kept = 0;

        for (size_t i = 0; i < o->n; i++) {
                if (o->items[i].key == key)
                        origin_deinit(&o->items[i]);
                else
                        o->items[kept++] = o->items[i];
        }
        o->n = kept;
}

static int reserve_one(struct sg_config_origins *o)
{
        size_t wanted = o->allocated ? o->allocated * 2 : 16;
        struct sg_config_origin *grown;

        if (o->n < o->allocated)
                return 0;
        grown = realloc(o->items, wanted * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        o->items = grown;
        o->allocated = wanted;
        return 0;
}

int sg_config_origins_set(struct sg_config_origins *o, const struct sg_settings_key *key,
                          const char *value, const char *path, unsigned line)
{
        _cleanup_free_ char *v = NULL, *p = NULL;

        if (!key->list || value[0] == '\0')
                drop_key(o, key);
        if (value[0] == '\0')
                return 0;
        v = strdup(value);
        p = strdup(path);
        if (!v || !p || reserve_one(o) < 0)
                return -ENOMEM;
        o->items[o->n++] = (struct sg_config_origin){
                .key = key, .value = TAKE_PTR(v), .path = TAKE_PTR(p), .line = line};
        return 0;
}

static void print_section(const struct sg_settings_key *k, const char **section, FILE *f)
{
        if (*section && strcmp(*section, k->section) == 0)
                return;
        fprintf(f, "%s[%s]\n", *section ? "\n" : "", k->section);
        *section = k->section;
}

void sg_config_origins_print(const struct sg_config_origins *o, const char *file, bool all, FILE *f)
{
        const char *section = NULL;

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                bool set = false;

                if (strcmp(k->file, file) != 0)
                        continue;
                for (size_t i = 0; i < o->n; i++) {
                        if (o->items[i].key != k)
                                continue;
                        print_section(k, &section, f);
                        fprintf(f, "# %s:%u\n%s=%s\n", o->items[i].path, o->items[i].line, k->key,
                                o->items[i].value);
                        set = true;
                }
                if (!set && all) {
                        print_section(k, &section, f);
                        fprintf(f, "#%s=%s\n", k->key, k->fallback);
                }
        }
}

void sg_config_errors_deinit(struct sg_config_errors *e)
{
        for (size_t i = 0; i < e->n; i++) {
                free(e->items[i].where);
                free(e->items[i].what);
        }
        for (size_t i = 0; i < e->n_names; i++) {
                free(e->names[i].where);
                free(e->names[i].name);
        }
        free(e->items);
        free(e->names);
        *e = (struct sg_config_errors){};
}

static int format_where(char **ret, const char *path, unsigned line)
{
        return line > 0 ? asprintf(ret, "%s:%u", path, line) : asprintf(ret, "%s", path);
}

static int append_error(struct sg_config_errors *e, char *where, char *what)
{
        struct sg_config_error *grown = realloc(e->items, (e->n + 1) * sizeof(*grown));

        if (!grown)
                return -ENOMEM;
        e->items = grown;
        e->items[e->n++] = (struct sg_config_error){.where = where, .what = what};
        return 0;
}

/* Takes `where`. */
__attribute__((format(printf, 3, 0))) static int add(struct sg_config_errors *e, char *where,
                                                     const char *format, va_list ap)
{
        _cleanup_free_ char *owned = where, *what = NULL;
        int r;

        if (e->n == SG_CONFIG_ERRORS_MAX - 1)
                what = strdup("there are more errors, which are not shown");
        else if (vasprintf(&what, format, ap) < 0)
                what = NULL;
        if (!what)
                return -ENOMEM;
        r = append_error(e, owned, what);
        if (r < 0)
                return r;
        (void)TAKE_PTR(owned);
        (void)TAKE_PTR(what);
        return 0;
}

int sg_config_error(struct sg_config_errors *e, const char *path, unsigned line, const char *format,
                    ...)
{
        int r, error = errno; /* for %m */
        va_list ap;
        char *where;

        if (e->n >= SG_CONFIG_ERRORS_MAX)
                return 0;
        if (format_where(&where, path, line) < 0)
                return -ENOMEM;
        va_start(ap, format);
        errno = error;
        r = add(e, where, format, ap);
        va_end(ap);
        return r;
}

int sg_config_errors_add(struct sg_config_errors *e, const char *where, const char *format, ...)
{
        va_list ap;
        char *copy;
        int r;

        if (e->n >= SG_CONFIG_ERRORS_MAX)
                return 0;
        copy = strdup(where);
        if (!copy)
                return -ENOMEM;
        va_start(ap, format);
        r = add(e, copy, format, ap);
        va_end(ap);
        return r;
}

/* Names */

static int note_name(struct sg_config_errors *e, const struct sg_config_origin *o, const char *name)
{
        struct sg_config_name *grown = realloc(e->names, (e->n_names + 1) * sizeof(*grown));
        _cleanup_free_ char *copy = strdup(name);
        char *where;

        if (grown)
                e->names = grown;
        if (!grown || !copy || format_where(&where, o->path, o->line) < 0)
                return -ENOMEM;
        grown[e->n_names++] =
                (struct sg_config_name){.where = where,
                                        .name = TAKE_PTR(copy),
                                        .group = strcmp(o->key->key, "Group") == 0,
                                        .device = o->key->parse == sg_settings_parse_device};
        return 0;
}

static int note_names_of(struct sg_config_errors *e, const struct sg_config_origin *o)
{
        _cleanup_free_ char *words = strdup(o->value);
        char *save = NULL;
        int r = words ? 0 : -ENOMEM;

        for (char *word = words ? strtok_r(words, " \t", &save) : NULL; r >= 0 && word;
             word = strtok_r(NULL, " \t", &save))
                if (sg_settings_pattern_is_name(word))
                        r = note_name(e, o, word);
        return r;
}

int sg_config_note_names(struct sg_config_errors *e, const struct sg_config_origins *o)
{
        int r = 0;

        for (size_t i = 0; r >= 0 && i < o->n; i++)
                if (o->items[i].key->parse == sg_settings_parse_people)
                        r = note_names_of(e, &o->items[i]);
                else if (o->items[i].key->parse == sg_settings_parse_device &&
                         sg_settings_device_is_gpu(o->items[i].value))
                        r = note_name(e, &o->items[i], o->items[i].value);
        return r;
}
