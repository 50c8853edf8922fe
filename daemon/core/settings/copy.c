/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A copy of settings that shares no memory with them. What a class holds beside its plain fields
 * are its file's name and the lists of the table; an element of a list is copied by being parsed
 * once more, by the list's own row.
 */

#include "core/settings/table.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_list(const struct sg_settings_key *k)
{
        return k->list && strcmp(k->file, "policy") == 0;
}

static char ***strings_of(struct sg_class *c, const struct sg_settings_key *k)
{
        return (char ***)(void *)((char *)c + k->offset);
}

static void forget_lists(struct sg_class *c)
{
        c->file = NULL;
        c->devices = NULL;
        c->n_devices = 0;
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (is_list(k) && k->parse != sg_settings_parse_device)
                        *strings_of(c, k) = NULL;
}

static int copy_device(const struct sg_settings_key *k, const struct sg_device_allow *device,
                       struct sg_class *to)
{
        _cleanup_free_ char *text = NULL;

        if (asprintf(&text, "%s %s", device->path, device->access) < 0)
                return -ENOMEM;
        return k->parse(k, text, to);
}

static int copy_list(const struct sg_settings_key *k, const struct sg_class *from,
                     struct sg_class *to)
{
        char *const *strings;
        int r = 0;

        if (k->parse == sg_settings_parse_device) {
                for (size_t i = 0; r >= 0 && i < from->n_devices; i++)
                        r = copy_device(k, &from->devices[i], to);
                return r;
        }
        strings = *strings_of((struct sg_class *)from, k);
        for (; r >= 0 && strings && *strings; strings++)
                r = k->parse(k, *strings, strings_of(to, k));
        return r;
}

/* Even if it fails, `to` can be freed as a class. */
static int copy_class(const struct sg_class *from, struct sg_class *to)
{
        int r = 0;

        *to = *from;
        forget_lists(to);
        if (from->file) {
                to->file = strdup(from->file);
                if (!to->file)
                        return -ENOMEM;
        }
        for (const struct sg_settings_key *k = sg_settings_keys; r >= 0 && k->section; k++)
                if (is_list(k))
                        r = copy_list(k, from, to);
        return r;
}

int sg_settings_copy(const struct sg_settings *s, struct sg_settings **ret)
{
        _cleanup_(sg_settings_freep) struct sg_settings *copy = malloc(sizeof(*copy));
        struct sg_class *classes;

        if (!copy)
                return -ENOMEM;
        *copy = *s;
        copy->n_classes = 0;
        copy->classes = classes = calloc(s->n_classes, sizeof(*classes));
        if (!classes)
                return -ENOMEM;
        while (copy->n_classes < s->n_classes) {
                size_t i = copy->n_classes++;
                int r = copy_class(&s->classes[i], &classes[i]);

                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(copy);
        return 0;
}
