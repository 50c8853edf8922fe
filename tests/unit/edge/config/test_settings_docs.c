/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of settings against what people read: the man pages, conf/schedgov.conf and
 * default.policy name every key with its default, in the table's order, and no other; other
 * policies show none that could differ from it; and conf/ loads, as it is and with all comments
 * taken away. Reads the source tree: $SG_SOURCE, or the working directory.
 */

#include "base/file.h"
#include "edge/config/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/test_source.h"

static const char *const policies[] = {"default", "interactive", "train"};

static void next_of_file(const struct sg_settings_key **k, const char *file)
{
        while ((*k)->section && strcmp((*k)->file, file) != 0)
                (*k)++;
}

static bool is_section(const char *line, bool man, char ret[64])
{
        if (man && strncmp(line, "## ", 3) != 0)
                return false;
        return sscanf(man ? line + 3 : line, "[%63[A-Za-z]]", ret) == 1;
}

static bool is_key(const char *line, bool man, char ret[64])
{
        char equals = 0;
        int n = man ? sscanf(line, "*%63[A-Za-z]%c", ret, &equals)
                    : sscanf(line, "#%63[A-Za-z]%c", ret, &equals);

        return n == 2 && equals == '=';
}

/* A line that says what a key is must say it as the table does. */
static void expect_keys(const char *name, const char *file, bool man)
{
        _cleanup_free_ char *text = source_read(name);
        const struct sg_settings_key *k = sg_settings_keys;
        char section[64] = "", word[64], expected[256], *save = NULL;

        next_of_file(&k, file);
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                if (is_section(line, man, section) || !is_key(line, man, word))
                        continue;
                if (!k->section)
                        fail_msg("%s: [%s] %s= is no key", name, section, word);
                assert_string_equal(section, k->section);
                assert_string_equal(word, k->key);
                if (man)
                        snprintf(expected, sizeof(expected), "*%s=* (default: %s)", k->key,
                                 k->fallback[0] ? k->fallback : "none");
                else
                        snprintf(expected, sizeof(expected), "#%s=%s", k->key, k->fallback);
                assert_string_equal(line, expected);
                k++;
                next_of_file(&k, file);
        }
        if (k->section)
                fail_msg("%s: [%s] %s= is missing", name, k->section, k->key);
}

static void test_man_pages(void **state)
{
        (void)state;
        expect_keys("docs/schedgov.conf.5.scd", "conf", true);
        expect_keys("docs/schedgov.policy.5.scd", "policy", true);
}

static void expect_no_defaults(const char *name)
{
        _cleanup_free_ char *text = source_read(name);
        char word[64], *save = NULL;

        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
                if (is_key(line, false, word))
                        fail_msg("%s: defaults are shown by default.policy: %s", name, line);
}

static void test_conf_shows_every_key(void **state)
{
        char name[64];

        (void)state;
        expect_keys("conf/schedgov.conf", "conf", false);
        expect_keys("conf/policy.d/default.policy", "policy", false);
        for (size_t i = 1; i < SG_ELEMENTSOF(policies); i++) {
                snprintf(name, sizeof(name), "conf/policy.d/%s.policy", policies[i]);
                expect_no_defaults(name);
        }
}

/* "#Key=value" becomes "Key=value"; in a policy file what is set behind it still holds. */
static void uncomment(char *text)
{
        for (char *line = text; line; line = strchr(line, '\n')) {
                char word[64];

                line += *line == '\n';
                if (sscanf(line, "#%63[A-Za-z]=", word) == 1 && line[1 + strlen(word)] == '=')
                        memmove(line, line + 1, strlen(line));
        }
}

static void install(const char *root, const char *name, bool uncommented)
{
        _cleanup_free_ char *text = NULL;
        char from[64], to[256];

        snprintf(from, sizeof(from), "conf/%s", name);
        snprintf(to, sizeof(to), "%s/etc/schedgov/%s", root, name);
        text = source_read(from);
        if (uncommented) {
                uncomment(text);
                assert_null(strstr(text, "\n#Max"));
        }
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, to, text, strlen(text), 0644), 0);
}

static void load_conf(bool uncommented)
{
        _cleanup_(sg_settings_freep) const struct sg_settings *s = NULL;
        struct sg_config_errors errors = {};
        char root[] = "/tmp/sg-docs-XXXXXX", path[64];
        int r;

        assert_non_null(mkdtemp(root));
        snprintf(path, sizeof(path), "%s/etc/schedgov/policy.d", root);
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
        install(root, "schedgov.conf", uncommented);
        for (size_t i = 0; i < SG_ELEMENTSOF(policies); i++) {
                snprintf(path, sizeof(path), "policy.d/%s.policy", policies[i]);
                install(root, path, uncommented);
        }
        r = sg_config_load(&s, &(struct sg_config_place){.root = root}, "host", &errors, NULL);
        for (size_t i = 0; i < errors.n; i++)
                print_error("%s: %s\n", errors.items[i].where, errors.items[i].what);
        assert_int_equal(r, 0);
        assert_int_equal(s->n_classes, 3);
        assert_string_equal(s->classes[0].name, "default");
        assert_non_null(s->classes[0].file);
        assert_string_equal(sg_settings_match(s, "u", NULL, "jupyter lab", false)->name,
                            "interactive");
        assert_string_equal(sg_settings_match(s, "u", NULL, "/bin/torchrun x", false)->name,
                            "train");
        assert_string_equal(sg_settings_match(s, "u", NULL, "make", false)->name, "default");
        assert_int_equal(sg_remove_tree(AT_FDCWD, root), 0);
}

static void test_conf_loads(void **state)
{
        (void)state;
        load_conf(false);
}

static void test_conf_loads_uncommented(void **state)
{
        (void)state;
        load_conf(true);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_man_pages),
                cmocka_unit_test(test_conf_shows_every_key),
                cmocka_unit_test(test_conf_loads),
                cmocka_unit_test(test_conf_loads_uncommented),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
