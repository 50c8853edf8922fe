/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is changed of classes' policies while the daemon runs: all or nothing, over a restart, and
 * back to what the files say. */

#include "base/file.h"
#include "edge/common/log.h"
#include "edge/config/overrides.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
        char dir[32];
        struct sg_settings *settings;
        struct sg_overrides *policy;
};

/* default as built in, and "train", whose file says Share=srpt and Alpha=0.02 */
static struct sg_settings *load_settings(void)
{
        struct sg_settings *s;
        struct sg_class *c;
        char *why = NULL;

        assert_int_equal(sg_settings_new(&s, "host"), 0);
        assert_int_equal(sg_settings_class_begin(s, "train.policy", &c), 0);
        assert_int_equal(sg_settings_class_assign(c, "Class", "Name", "train", &why), 0);
        assert_int_equal(sg_settings_class_assign(c, "Policy", "Share", "srpt", &why), 0);
        assert_int_equal(sg_settings_class_assign(c, "FlowCon", "Alpha", "0.02", &why), 0);
        assert_int_equal(sg_settings_class_end(s, c, &why), 0);
        return s;
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->dir, "/tmp/sg-policy-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        f->settings = load_settings();
        assert_int_equal(sg_overrides_new(&f->policy, f->dir, f->settings), 0);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_overrides_free(f->policy);
        sg_settings_free(f->settings);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

/* As a new daemon would, with the same files or others. */
static void restart(struct fixture *f, struct sg_settings *settings)
{
        sg_overrides_free(f->policy);
        sg_settings_free(f->settings);
        f->settings = settings;
        assert_int_equal(sg_overrides_new(&f->policy, f->dir, f->settings), 0);
}

static const struct sg_share_settings *share(struct fixture *f, const char *class)
{
        return &sg_settings_class(f->settings, class)->share;
}

#define set(f, class, why, ...)                                                                    \
        sg_overrides_set((f)->policy, (f)->settings, class, (char *[]){__VA_ARGS__, NULL}, why)

static void expect_refused(struct fixture *f, const char *assignment, const char *expected)
{
        struct sg_share_settings before = *share(f, "train");
        char *why = NULL;

        assert_int_equal(set(f, "train", &why, (char *)"Objective=jct", (char *)assignment),
                         -EINVAL);
        assert_string_equal(why, expected);
        free(why);
        assert_true(sg_share_settings_equal(&before, share(f, "train")));
}

static void test_set(void **state)
{
        struct fixture *f = *state;
        const struct sg_settings_key *alpha = sg_settings_key_find("policy", "FlowCon", "Alpha");
        char *why = NULL;

        assert_int_equal(set(f, "train", &why, (char *)"Share=flowcon", (char *)"FlowCon.Alpha=0.1",
                             (char *)"Floor=10%"),
                         0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_FLOWCON);
        assert_true(share(f, "train")->alpha == .1);
        assert_true(share(f, "train")->floor == .1);
        assert_int_equal(share(f, "default")->share, SG_SHARE_GROWTH);
        assert_true(sg_overrides_has(f->policy, "train", alpha));
        assert_false(sg_overrides_has(f->policy, "default", alpha));
        assert_false(sg_overrides_has(f->policy, "train",
                                      sg_settings_key_find("policy", "FlowCon", "Beta")));
}

static void test_back_to_the_files(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(set(f, "train", &why, (char *)"Share=fair", (char *)"Alpha=1"), 0);
        assert_int_equal(set(f, "train", &why, (char *)"Alpha="), 0);
        assert_true(share(f, "train")->alpha == .02);
        assert_int_equal(share(f, "train")->share, SG_SHARE_FAIR);
        assert_int_equal(set(f, "train", &why, (char *)"Share="), 0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
        restart(f, load_settings());
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

static void test_all_or_nothing(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(set(f, "train", &why, (char *)"Tick=10s"), 0);
        assert_int_equal(set(f, "other", &why, (char *)"Share=fair"), -ENOENT);
        assert_null(why);
        expect_refused(f, "Share", "'Share' is no KEY=VALUE");
        expect_refused(f, "=fair", "'=fair' is no KEY=VALUE");
        expect_refused(f, "Alpa=1", "unknown key [Policy] Alpa=; did you mean [FlowCon] Alpha=?");
        expect_refused(f, "Growth.Alpha=1",
                       "unknown key [Growth] Alpha=; did you mean [FlowCon] Alpha=?");
        expect_refused(f, "MaxJobs=4",
                       "[Class] MaxJobs= can't be changed like that: write it into the class's "
                       "file");
        expect_refused(f, "Floor=200%",
                       "[Growth] Floor= wants a percentage from 0% to 100%, not '200%'");
        expect_refused(f, "MaxInterval=1s",
                       "[Growth] MaxInterval= is below Tick=: the longest time between two looks "
                       "can't be the shorter one");
}

static void test_restart(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(set(f, "train", &why, (char *)"Share=las", (char *)"NoHarm=infinity"), 0);
        assert_int_equal(set(f, "default", &why, (char *)"Share=fair"), 0);
        restart(f, load_settings());
        assert_int_equal(share(f, "train")->share, SG_SHARE_LAS);
        assert_true(isinf(share(f, "train")->no_harm));
        assert_int_equal(share(f, "default")->share, SG_SHARE_FAIR);
        assert_int_equal(set(f, "train", &why, (char *)"Share=", (char *)"NoHarm="), 0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

static void test_reload(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(set(f, "train", &why, (char *)"Share=las"), 0);
        sg_overrides_reset(f->policy);
        assert_false(sg_overrides_has(f->policy, "train",
                                      sg_settings_key_find("policy", "Policy", "Share")));
        restart(f, load_settings());
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

/* Classes and keys come and go while no daemon runs; the file may be anything. */
static void test_what_does_not_fit(void **state)
{
        struct fixture *f = *state;
        static const char text[] = "gone Policy.Share=fair\ntrain Policy.Colour=red\nnonsense\n\n"
                                   "train Growth.Floor=900%\ntrain Policy.Share=fair\n";
        char path[64];

        snprintf(path, sizeof(path), "%s/policy", f->dir);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, text, strlen(text), 0600), 0);
        restart(f, load_settings());
        assert_int_equal(share(f, "train")->share, SG_SHARE_FAIR);
        assert_true(share(f, "train")->floor == .05);
}

/* What can't be kept isn't in force either. */
static void test_cannot_store(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        assert_int_equal(set(f, "train", &why, (char *)"Share=las"), -ENOENT);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_set),
                TEST(test_back_to_the_files),
                TEST(test_all_or_nothing),
                TEST(test_restart),
                TEST(test_reload),
                TEST(test_what_does_not_fit),
                TEST(test_cannot_store),
        };

        sg_log_set_level(LOG_ERR);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
