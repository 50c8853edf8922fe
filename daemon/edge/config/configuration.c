/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/config/configuration.h"
#include "base/file.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define OVERRIDES_FILE_MAX (256U << 10)

struct sg_configuration {
        struct sg_config_place place;
        char *path; /* of the file of overrides */
        char *text; /* the files, merged */
        const struct sg_settings *files;
        struct sg_overrides overrides;
        const struct sg_settings *settings; /* in force: both of these */
};

const struct sg_settings *sg_configuration_settings(const struct sg_configuration *c)
{
        return c->settings;
}

const char *sg_configuration_text(const struct sg_configuration *c)
{
        return c->text;
}

bool sg_configuration_is_changed(const struct sg_configuration *c, const char *class,
                                 const struct sg_settings_key *key)
{
        return sg_overrides_has(&c->overrides, class, key);
}

/* --- the file of overrides */

static int forget(const struct sg_configuration *c)
{
        return unlink(c->path) < 0 && errno != ENOENT ? -errno : 0;
}

static int store(const struct sg_configuration *c, const struct sg_overrides *o)
{
        _cleanup_free_ char *text = NULL;
        int r;

        if (o->n == 0)
                return forget(c);
        r = sg_overrides_format(o, &text);
        return r < 0 ? r : sg_replace_file(AT_FDCWD, c->path, text, strlen(text), 0600);
}

static int recall_line(struct sg_overrides *o, const char *line)
{
        _cleanup_free_ char *why = NULL;
        int r = sg_overrides_read_line(o, line, &why);

        if (r != -EINVAL)
                return r;
        sg_log(LOG_WARNING, "what was changed of a policy is dropped: %s: %s", line, why);
        return 0;
}

static int recall(const struct sg_configuration *c, struct sg_overrides *o)
{
        _cleanup_free_ char *text = NULL;
        char *save = NULL;
        size_t size;
        int r = sg_read_file(AT_FDCWD, c->path, OVERRIDES_FILE_MAX, &text, &size);

        if (r == -ENOMEM)
                return r;
        if (r < 0 && r != -ENOENT)
                sg_log(LOG_WARNING, "cannot read %s: %s; policies are as configured", c->path,
                       strerror(-r));
        r = 0;
        for (char *line = text ? strtok_r(text, "\n", &save) : NULL; r >= 0 && line;
             line = strtok_r(NULL, "\n", &save))
                r = recall_line(o, line);
        return r;
}

/* --- what is in force */

static void drop(struct sg_overrides *o, const struct sg_misfits *misfits)
{
        for (size_t i = misfits->n; i-- > 0;) {
                const struct sg_misfit *m = &misfits->items[i];
                const struct sg_override *item = &o->items[m->item];

                sg_log(LOG_WARNING,
                       "what was changed of the policy of class %s is dropped: %s.%s=%s: %s",
                       item->class, item->key->section, item->key->key, item->value, m->why);
                sg_overrides_remove(o, m->item);
        }
}

/* Takes both. */
static void put_in_force(struct sg_configuration *c, struct sg_overrides *o,
                         const struct sg_settings *settings)
{
        sg_overrides_deinit(&c->overrides);
        c->overrides = *o;
        *o = (struct sg_overrides){0};
        (void)sg_settings_free(c->settings);
        c->settings = settings;
}

/* Files, with those of *o that fit them; takes these. */
static int load(struct sg_configuration *c, const char *hostname, struct sg_overrides *o,
                struct sg_config_errors *errors)
{
        _cleanup_(sg_settings_freep) const struct sg_settings *files = NULL;
        _cleanup_(sg_misfits_deinit) struct sg_misfits misfits = {0};
        const struct sg_settings *settings;
        _cleanup_free_ char *text = NULL;
        int r = sg_config_load(&files, &c->place, hostname, errors, &text);

        if (r >= 0)
                r = sg_settings_override(files, o, &settings, &misfits);
        if (r < 0)
                return r;
        drop(o, &misfits);
        put_in_force(c, o, settings);
        (void)sg_settings_free(c->files);
        c->files = TAKE_PTR(files);
        free(c->text);
        c->text = TAKE_PTR(text);
        return 0;
}

int sg_configuration_reload(struct sg_configuration *c, const char *hostname,
                            struct sg_config_errors *errors)
{
        struct sg_overrides none = {0};
        int r = load(c, hostname, &none, errors);

        if (r < 0)
                return r;
        r = forget(c);
        if (r < 0)
                sg_log(LOG_WARNING, "cannot remove %s: %s", c->path, strerror(-r));
        return 0;
}

/* What can't be kept isn't put into force either. */
int sg_configuration_change(struct sg_configuration *c, const char *class, char *const *assignments,
                            char **ret_why)
{
        _cleanup_(sg_settings_freep) const struct sg_settings *settings = NULL;
        _cleanup_(sg_overrides_deinit) struct sg_overrides changed = {0};
        _cleanup_(sg_misfits_deinit) struct sg_misfits misfits = {0};
        int r = sg_overrides_change(&c->overrides, class, assignments, &changed, ret_why);

        if (r >= 0)
                r = sg_settings_override(c->files, &changed, &settings, &misfits);
        if (r < 0)
                return r;
        if (misfits.n > 0) {
                *ret_why = TAKE_PTR(misfits.items[0].why);
                return -EINVAL;
        }
        r = store(c, &changed);
        if (r >= 0)
                put_in_force(c, &changed, TAKE_PTR(settings));
        return r;
}

/* --- the object */

int sg_configuration_new(struct sg_configuration **ret, const struct sg_config_place *place,
                         const char *hostname, const char *runtime_dir,
                         struct sg_config_errors *errors)
{
        _cleanup_(sg_configuration_freep) struct sg_configuration *c = calloc(1, sizeof(*c));
        _cleanup_(sg_overrides_deinit) struct sg_overrides recalled = {0};
        int r;

        if (!c || asprintf(&c->path, "%s/policy", runtime_dir) < 0)
                return -ENOMEM;
        c->place = *place;
        r = recall(c, &recalled);
        if (r >= 0)
                r = load(c, hostname, &recalled, errors);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}

struct sg_configuration *sg_configuration_free(struct sg_configuration *c)
{
        if (c) {
                (void)sg_settings_free(c->settings);
                (void)sg_settings_free(c->files);
                sg_overrides_deinit(&c->overrides);
                free(c->text);
                free(c->path);
                free(c);
        }
        return NULL;
}
