/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Configuration text as a node file and as a policy file. What is accepted is printed as `config
 * cat` does, and read again: that must be accepted too and print the same values.
 */

#include "edge/config/internal.h"
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
        struct sg_settings *settings;
        struct sg_config_origins origins;
        struct sg_config_errors errors;
        char *printed;
        size_t printed_size;
};

static void require(bool ok)
{
        if (!ok)
                abort();
}

static void outcome_deinit(struct outcome *o)
{
        sg_settings_free(o->settings);
        sg_config_origins_deinit(&o->origins);
        sg_config_errors_deinit(&o->errors);
        free(o->printed);
}

static void print(struct outcome *o, bool policy)
{
        FILE *f = open_memstream(&o->printed, &o->printed_size);

        require(f != NULL);
        sg_config_origins_print(&o->origins, policy ? "policy" : "conf", true, f);
        require(fclose(f) == 0);
}

/* Whether the text was accepted as a whole. */
static bool parse(struct outcome *o, bool policy, const char *data, size_t size)
{
        _cleanup_(sg_class_freep) struct sg_class *c = NULL;
        _cleanup_free_ char *why = NULL;
        struct sg_config_text text = {.path = "fuzz",
                                      .data = data,
                                      .size = size,
                                      .errors = &o->errors,
                                      .origins = &o->origins};
        unsigned line;

        require(sg_settings_new(&o->settings, "host") == 0);
        text.settings = o->settings;
        if (policy) {
                require(sg_settings_class_begin(o->settings, "fuzz", &c) == 0);
                text.class = c;
        }
        require(sg_config_text(&text, &line) == 0);
        require(o->errors.n <= SG_CONFIG_ERRORS_MAX);
        if (o->errors.n > 0)
                return false;
        if (policy && sg_settings_class_end(o->settings, TAKE_PTR(c), &why) < 0) {
                require(why != NULL);
                return false;
        }
        require(sg_settings_match(o->settings, "u", NULL, "/bin/true x", false) != NULL);
        print(o, policy);
        return true;
}

/* Values without where they came from: the second reading has other lines. */
static void require_same(const struct sg_config_origins *a, const struct sg_config_origins *b)
{
        size_t matched = 0;

        require(a->n == b->n);
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                size_t j = 0;

                for (size_t i = 0; i < a->n; i++) {
                        if (a->items[i].key != k)
                                continue;
                        while (j < b->n && b->items[j].key != k)
                                j++;
                        require(j < b->n && strcmp(a->items[i].value, b->items[j++].value) == 0);
                        matched++;
                }
        }
        require(matched == a->n);
}

static void run(bool policy, const char *data, size_t size)
{
        _cleanup_(outcome_deinit) struct outcome first = {}, second = {};

        if (!parse(&first, policy, data, size))
                return;
        require(parse(&second, policy, first.printed, first.printed_size));
        require_same(&first.origins, &second.origins);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        run(false, (const char *)data, size);
        run(true, (const char *)data, size);
        return 0;
}
