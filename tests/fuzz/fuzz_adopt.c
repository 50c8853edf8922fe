/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns and paths of groups: the first line is a pattern, the second a group. Whatever they are,
 * what is adopted has names that fit, and all that lies on the way to it is looked into.
 */
#include "core/settings/adopt.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool b)
{
        if (!b)
                abort();
}

static void check_adopted(const struct sg_adoptee *a, const char *path)
{
        char name[SG_JOB_NAME_MAX];

        must(a->policy && a->class[0] && a->how > SG_ADOPTED_NOT && a->how <= SG_ADOPTED_GOVERNED);
        must(!a->unit[0] || sg_adopt_unit_valid(a->unit));
        must(a->how == SG_ADOPTED_OBSERVED || a->unit[0]);
        sg_adopt_name(path, name);
        for (const char *p = name; *p; p++)
                must(*p > ' ' && *p < 0x7f);
        must(sg_adopt_owner(path));
}

/* Else the walk would never come by. */
static void check_way(const struct sg_adopt_rules *rules, char *path)
{
        char *slash;

        while ((slash = strrchr(path, '/'))) {
                *slash = '\0';
                must(sg_adopt_look(rules, path) & (SG_LOOK_INSIDE | SG_LOOK_AT));
        }
}

static bool is_plain(const char *path)
{
        return path[0] == '/' && !strstr(path, "//") && path[strlen(path) - 1] != '/';
}

static void try_path(const struct sg_adopt_rules *rules, char *path)
{
        unsigned look = sg_adopt_look(rules, path);
        struct sg_adoptee a;

        must(look <= (SG_LOOK_INSIDE | SG_LOOK_AT));
        if (sg_adopt_classify(rules, path, &a) == 0)
                return;
        must(look & SG_LOOK_AT);
        check_adopted(&a, path);
        if (is_plain(path))
                check_way(rules, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct sg_settings *s;
        struct sg_class *c = NULL;
        char *text = malloc(size + 1), *path, *why = NULL;

        if (!text)
                return 0;
        if (size > 0)
                memcpy(text, data, size);
        text[size] = '\0';
        path = strchr(text, '\n');
        if (path)
                *path++ = '\0';
        must(sg_settings_new(&s, "host") == 0 && sg_settings_class_begin(s, "f", &c) == 0);
        must(sg_settings_class_assign(c, "Class", "Name", "f", &why) == 0);
        (void)sg_settings_class_assign(c, "Adopt", "Cgroups", text, &why);
        free(why);
        why = NULL;
        (void)sg_settings_class_assign(c, "Adopt", "Units", text, &why);
        free(why);
        why = NULL;
        must(sg_settings_class_end(s, c, &why) == 0);
        if (path)
                try_path(&(struct sg_adopt_rules){s, "/schedgov.slice"}, path);
        sg_settings_free(s);
        free(text);
        return 0;
}
