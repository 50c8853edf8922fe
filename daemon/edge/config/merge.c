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
        free(e->items);
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

int sg_config_error(struct sg_config_errors *e, const char *path, unsigned line, const char *format,
                    ...)
{
        _cleanup_free_ char *where = NULL, *what = NULL;
        va_list ap;
        char *s = NULL;
        int r, error = errno; /* for %m */

        if (e->n >= SG_CONFIG_ERRORS_MAX)
                return 0;
        if (format_where(&s, path, line) < 0)
                return -ENOMEM;
        where = s;
        if (e->n == SG_CONFIG_ERRORS_MAX - 1)
                format = "there are more errors, which are not shown";
        va_start(ap, format);
        errno = error;
        r = vasprintf(&s, format, ap);
        va_end(ap);
        if (r < 0)
                return -ENOMEM;
        what = s;
        r = append_error(e, where, what);
        if (r < 0)
                return r;
        (void)TAKE_PTR(where);
        (void)TAKE_PTR(what);
        return 0;
}
