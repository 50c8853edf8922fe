/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of keys that add up: patterns, and devices. An empty one frees what there is.
 */

#include "core/settings/adopt.h"
#include "core/settings/table.h"
#include <errno.h>
#include <string.h>

#define CGROUP_PATTERN_MAX 1024U
#define LIST_MAX                                                                                   \
        1000U /* patterns of one key: more is a mistake, and every submission tries them all */

static void strings_clear(char ***list)
{
        for (char **p = *list; p && *p; p++)
                free(*p);
        free(*list);
        *list = NULL;
}

static size_t strings_count(char *const *list)
{
        size_t n = 0;

        while (list && list[n])
                n++;
        return n;
}

static int strings_append(char ***list, const char *s, size_t size)
{
        _cleanup_free_ char *copy = strndup(s, size);
        size_t n = strings_count(*list);
        char **grown;

        if (!copy)
                return -ENOMEM;
        grown = realloc(*list, (n + 2) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        grown[n] = TAKE_PTR(copy);
        grown[n + 1] = NULL;
        *list = grown;
        return 0;
}

/* One pattern, spaces and all. */
int sg_settings_parse_pattern(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        if (value[0] == '\0') {
                strings_clear(field);
                return 0;
        }
        if (strings_count(*(char ***)field) >= LIST_MAX)
                return -EINVAL;
        return strings_append(field, value, strlen(value));
}

static const char blank[] = " \t";

static size_t words_count(const char *s)
{
        size_t n = 0;

        for (s += strspn(s, blank); *s; s += strspn(s, blank)) {
                n++;
                s += strcspn(s, blank);
        }
        return n;
}

/* Patterns between blanks. */
int sg_settings_parse_patterns(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        if (value[0] == '\0')
                strings_clear(field);
        if (strings_count(*(char ***)field) + words_count(value) > LIST_MAX)
                return -EINVAL;
        for (const char *p = value + strspn(value, blank); *p; p += strspn(p, blank)) {
                size_t n = strcspn(p, blank);
                int r = strings_append(field, p, n);

                if (r < 0)
                        return r;
                p += n;
        }
        return 0;
}

/* Names have no commas; "alice, bob" would be for bob alone. */
int sg_settings_parse_people(const struct sg_settings_key *k, const char *value, void *field)
{
        return strchr(value, ',') ? -EINVAL : sg_settings_parse_patterns(k, value, field);
}

bool sg_settings_pattern_is_name(const char *pattern)
{
        return pattern[strcspn(pattern, "*?[\\")] == '\0' &&
               pattern[strspn(pattern, "0123456789")] != '\0';
}

/* Paths are long, and each is compared with every group that appears. */
int sg_settings_parse_cgroups(const struct sg_settings_key *k, const char *value, void *field)
{
        for (const char *p = value + strspn(value, blank); *p; p += strspn(p, blank)) {
                char path[CGROUP_PATTERN_MAX];
                size_t n = strcspn(p, blank);

                if (n >= sizeof(path))
                        return -EINVAL;
                memcpy(path, p, n);
                path[n] = '\0';
                if (!sg_adopt_pattern_valid(path))
                        return -EINVAL;
                p += n;
        }
        return sg_settings_parse_patterns(k, value, field);
}

static bool device_path_ok(const char *s, size_t size)
{
        if (size <= 5 || strncmp(s, "/dev/", 5) != 0)
                return false;
        for (size_t i = 0; i < size; i++)
                if (strchr("*?[", s[i]) ||
                    (s[i] == '/' && i + 2 < size && s[i + 1] == '.' && s[i + 2] == '.'))
                        return false;
        return true;
}

static bool device_access_ok(const char *s)
{
        return s[0] != '\0' && strspn(s, "rwm") == strlen(s) && strlen(s) <= 3 && s[1] != s[0] &&
               (s[1] == '\0' || s[2] == '\0' || (s[2] != s[0] && s[2] != s[1]));
}

static void devices_clear(struct sg_class *c)
{
        for (size_t i = 0; i < c->n_devices; i++)
                free(c->devices[i].path);
        free(c->devices);
        c->devices = NULL;
        c->n_devices = 0;
}

/* "/dev/nvidia0" or "/dev/nvidia0 rw" */
int sg_settings_parse_device(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_class *c = field;
        struct sg_device_allow *grown;
        size_t n = strcspn(value, blank);
        const char *access = value + n + strspn(value + n, blank);
        char *path;

        (void)k;
        if (value[0] == '\0') {
                devices_clear(c);
                return 0;
        }
        if (access[0] == '\0')
                access = "rwm";
        if (!device_path_ok(value, n) || !device_access_ok(access))
                return -EINVAL;
        if (c->n_devices >= LIST_MAX)
                return -EINVAL;
        grown = realloc(c->devices, (c->n_devices + 1) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        c->devices = grown;
        path = strndup(value, n);
        if (!path)
                return -ENOMEM;
        grown[c->n_devices] = (struct sg_device_allow){.path = path};
        memcpy(grown[c->n_devices++].access, access, strlen(access) + 1);
        return 0;
}
