/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Settings, and a class that is being read. */

#include "core/settings/table.h"
#include "tests/unit/test.h"

struct both {
        struct sg_settings *s;
        struct sg_class *c;
};

static inline int setup(void **state)
{
        struct both *b = calloc(1, sizeof(*b));

        assert_non_null(b);
        assert_int_equal(sg_settings_new(&b->s, "host"), 0);
        assert_int_equal(sg_settings_class_begin(b->s, "a.policy", &b->c), 0);
        *state = b;
        return 0;
}

static inline int teardown(void **state)
{
        struct both *b = *state;

        sg_class_free(b->c);
        sg_settings_free(b->s);
        free(b);
        return 0;
}

static inline void set(struct both *b, const char *section, const char *key, const char *value)
{
        char *why = NULL;

        assert_int_equal(sg_settings_class_assign(b->c, section, key, value, &why), 0);
}
