/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any text as what a daemon before us left of overrides. What is taken of it is read again from its
 * own text as the same; what fits is in the settings, which make sense whatever it is; and once the
 * misfits are taken out all of the rest fits, and comes to the same settings.
 */

#include "core/settings/overrides.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
        if (!ok)
                abort();
}

static void add_class(struct sg_settings *s, const char *name, const char *max_interval)
{
        struct sg_class *c;
        char *why;

        require(sg_settings_class_begin(s, name, &c) == 0);
        require(sg_settings_class_assign(c, "Class", "Name", name, &why) == 0);
        require(sg_settings_class_assign(c, "Growth", "MaxInterval", max_interval, &why) == 0);
        require(sg_settings_class_end(s, c, &why) == 0);
}

static void read_text(struct sg_overrides *o, char *text)
{
        char *save = NULL;

        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                _cleanup_free_ char *why = NULL;
                size_t before = o->n;

                if (sg_overrides_read_line(o, line, &why) < 0)
                        require(why && o->n == before);
        }
}

static bool same_shares(const struct sg_settings *a, const struct sg_settings *b)
{
        for (size_t i = 0; i < a->n_classes; i++)
                if (!sg_share_settings_equal(&a->classes[i].share, &b->classes[i].share))
                        return false;
        return a->n_classes == b->n_classes;
}

static void check_text(const struct sg_overrides *o)
{
        _cleanup_(sg_overrides_deinit) struct sg_overrides again = {0};
        _cleanup_free_ char *text = NULL, *copy = NULL, *text_again = NULL;

        require(sg_overrides_format(o, &text) == 0);
        copy = strdup(text);
        require(copy != NULL);
        read_text(&again, copy);
        require(sg_overrides_format(&again, &text_again) == 0);
        require(strcmp(text, text_again) == 0);
}

static void check_settings(const struct sg_settings *files, struct sg_overrides *o)
{
        _cleanup_(sg_settings_freep) const struct sg_settings *first = NULL, *second = NULL;
        _cleanup_(sg_misfits_deinit) struct sg_misfits misfits = {0}, none = {0};

        require(sg_settings_override(files, o, &first, &misfits) == 0);
        for (size_t i = 0; i < first->n_classes; i++) {
                char *why;

                require(sg_share_settings_check(&first->classes[i].share, &why) == 0);
        }
        for (size_t i = misfits.n; i-- > 0;) {
                require(misfits.items[i].why != NULL);
                sg_overrides_remove(o, misfits.items[i].item);
        }
        require(sg_settings_override(files, o, &second, &none) == 0);
        require(none.n == 0 && same_shares(first, second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(sg_settings_freep) struct sg_settings *files = NULL;
        _cleanup_(sg_settings_freep) const struct sg_settings *before = NULL;
        _cleanup_(sg_overrides_deinit) struct sg_overrides o = {0}, none = {0};
        _cleanup_(sg_misfits_deinit) struct sg_misfits misfits = {0};
        _cleanup_free_ char *text = strndup((const char *)data, size);

        require(text && sg_settings_new(&files, "host") == 0);
        add_class(files, "train", "10s");
        add_class(files, "slow", "1h");
        require(sg_settings_override(files, &none, &before, &misfits) == 0);
        read_text(&o, text);
        check_text(&o);
        check_settings(files, &o);
        require(same_shares(files, before));
        return 0;
}
