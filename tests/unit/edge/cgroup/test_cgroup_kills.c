/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who was killed for memory, of groups that are directories of ordinary files. */

#include "base/file.h"
#include "edge/cgroup/kills.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench {
        char top[32], a[64], b[64];
};

static void say(const char *group, unsigned max, unsigned kills)
{
        char path[PATH_MAX], text[128];

        (void)mkdir(group, 0755);
        snprintf(path, sizeof(path), "%s/memory.events", group);
        snprintf(text, sizeof(text), "low 0\nhigh 0\nmax %u\noom 0\noom_kill %u\n", max, kills);
        assert_int_equal(sg_replace_file(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void vanish(const char *group)
{
        assert_int_equal(sg_remove_tree(AT_FDCWD, group), 0);
}

static int setup(void **state)
{
        struct bench *b = calloc(1, sizeof(*b));

        strcpy(b->top, "/tmp/sg-kills-XXXXXX");
        assert_non_null(mkdtemp(b->top));
        snprintf(b->a, sizeof(b->a), "%s/a", b->top);
        snprintf(b->b, sizeof(b->b), "%s/b", b->top);
        say(b->top, 0, 3); /* of others, before */
        say(b->a, 0, 0);
        say(b->b, 0, 0);
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        struct bench *b = *state;

        vanish(b->top);
        free(b);
        return 0;
}

static void test_read(void **state)
{
        struct bench *b = *state;
        struct sg_kills k = {0};

        assert_int_equal(sg_kills_read(&k, b->a), 0);
        say(b->a, 5, 1);
        say(b->top, 0, 4);
        assert_int_equal(sg_kills_read(&k, b->a), 1);
        assert_int_equal(sg_kills_read(&k, b->a), 0);
        assert_int_equal(k.own, 1);
        vanish(b->a);
        assert_int_equal(sg_kills_read(&k, b->a), 0);
        sg_kills_conclude(&k, b->a);
        assert_int_equal(k.own, 1);
}

/* It was at its limit when it was looked at, or the kernel told of it, and then it was gone. */
static void test_unseen(void **state)
{
        for (int at_limit = 0; at_limit < 2; at_limit++) {
                struct bench *b = *state;
                struct sg_kills k = {0};

                say(b->top, 0, 3);
                say(b->a, at_limit ? 7 : 0, 0);
                assert_int_equal(sg_kills_read(&k, b->a), 0);
                say(b->top, 0, 5);
                vanish(b->a);
                if (!at_limit)
                        sg_kills_hint(&k);
                sg_kills_conclude(&k, b->a);
                assert_int_equal(k.own, 2);
                sg_kills_conclude(&k, b->a);
                assert_int_equal(k.own, 2);
        }
}

static void test_not_its_own(void **state)
{
        struct bench *b = *state;
        struct sg_kills a = {0}, c = {0};

        assert_int_equal(sg_kills_read(&a, b->a), 0);
        say(b->b, 9, 0);
        assert_int_equal(sg_kills_read(&c, b->b), 0);
        say(b->a, 1, 1);
        say(b->top, 0, 4);
        assert_int_equal(sg_kills_read(&a, b->a), 1);
        sg_kills_set_apart(&c, b->b, 1);
        vanish(b->b);
        sg_kills_conclude(&c, b->b);
        assert_int_equal(c.own, 0);

        /* Both had gone when it was looked for them. */
        c = (struct sg_kills){0};
        say(b->b, 9, 0);
        (void)sg_kills_read(&c, b->b);
        (void)sg_kills_read(&a, b->a);
        say(b->top, 0, 6);
        vanish(b->a);
        vanish(b->b);
        assert_int_equal(sg_kills_conclude(&a, b->a), 2);
        sg_kills_set_apart(&c, b->b, 2);
        assert_int_equal(sg_kills_conclude(&c, b->b), 0);
        assert_int_equal(c.own, 0);

        /* Nothing speaks for it: it was never at its limit. */
        c = (struct sg_kills){0};
        say(b->b, 0, 0);
        assert_int_equal(sg_kills_read(&c, b->b), 0);
        say(b->top, 0, 7);
        vanish(b->b);
        assert_int_equal(sg_kills_conclude(&c, b->b), 0);
        assert_int_equal(c.own, 0);
}

/* The root counts nothing; a group above may have gone, too. */
static void test_nobody_above(void **state)
{
        struct bench *b = *state;
        char path[PATH_MAX];
        struct sg_kills k = {0};

        snprintf(path, sizeof(path), "%s/memory.events", b->top);
        assert_int_equal(unlink(path), 0);
        say(b->a, 3, 1);
        assert_int_equal(sg_kills_read(&k, b->a), 1);
        say(b->top, 0, 4);
        vanish(b->a);
        sg_kills_conclude(&k, b->a);
        assert_int_equal(k.own, 1);

        say(b->a, 3, 1);
        (void)sg_kills_read(&k, b->a);
        assert_int_equal(unlink(path), 0);
        vanish(b->a);
        sg_kills_conclude(&k, b->a);
        assert_int_equal(k.own, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_read, setup, teardown),
                cmocka_unit_test_setup_teardown(test_unseen, setup, teardown),
                cmocka_unit_test_setup_teardown(test_not_its_own, setup, teardown),
                cmocka_unit_test_setup_teardown(test_nobody_above, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
