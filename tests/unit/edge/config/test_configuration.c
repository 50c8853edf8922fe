/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is in force: files, and what is changed of classes' policies while the daemon runs. Such a
 * change is all or nothing, outlives a restart, and ends when the files are read again. */

#include "base/file.h"
#include "edge/common/log.h"
#include "edge/config/configuration.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TRAIN "[Class]\nName=train\n[Policy]\nShare=srpt\n[FlowCon]\nAlpha=0.02\n"
#define RUNTIME "run"

struct fixture {
        char dir[32], runtime[48];
        struct sg_configuration *c;
};

static void write_file(const struct fixture *f, const char *name, const char *text)
{
        char path[96];

        (void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void write_train(const struct fixture *f, const char *text)
{
        write_file(f, "etc/schedgov/policy.d/train.policy", text);
}

static void make_dir(const struct fixture *f, const char *name)
{
        char path[96];

        (void)snprintf(path, sizeof(path), "%s/%s", f->dir, name);
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
}

static void start(struct fixture *f)
{
        const struct sg_config_place place = {.root = f->dir};
        struct sg_config_errors errors = {0};

        assert_int_equal(sg_configuration_new(&f->c, &place, "host", f->runtime, &errors), 0);
        assert_int_equal(errors.n, 0);
}

/* As a new daemon would, with the same files or others. */
static void restart(struct fixture *f)
{
        f->c = sg_configuration_free(f->c);
        start(f);
}

/* default as built in, and "train" */
static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->dir, "/tmp/sg-policy-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        (void)snprintf(f->runtime, sizeof(f->runtime), "%s/" RUNTIME, f->dir);
        make_dir(f, RUNTIME);
        make_dir(f, "etc/schedgov/policy.d");
        write_train(f, TRAIN);
        start(f);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_configuration_free(f->c);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

static const struct sg_share_settings *share(const struct fixture *f, const char *class)
{
        return &sg_settings_class(sg_configuration_settings(f->c), class)->share;
}

static bool is_changed(const struct fixture *f, const char *class, const char *section,
                       const char *key)
{
        const struct sg_settings_key *k = sg_settings_key_find("policy", section, key);

        assert_non_null(k);
        return sg_configuration_is_changed(f->c, class, k);
}

#define change(f, class, why, ...)                                                                 \
        sg_configuration_change((f)->c, class, (char *[]){__VA_ARGS__, NULL}, why)

static void expect_refused(const struct fixture *f, const char *class, const char *assignment,
                           const char *expected)
{
        const struct sg_settings *before = sg_configuration_settings(f->c);
        char *why = NULL;

        assert_int_equal(change(f, class, &why, (char *)"Objective=jct", (char *)assignment),
                         -EINVAL);
        assert_string_equal(why, expected);
        free(why);
        assert_ptr_equal(sg_configuration_settings(f->c), before);
        assert_int_equal(share(f, "train")->objective, SG_OBJECTIVE_BALANCED);
        assert_false(is_changed(f, "train", "Policy", "Objective"));
}

static void test_change(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Share=flowcon",
                                (char *)"FlowCon.Alpha=0.1", (char *)"Floor=10%"),
                         0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_FLOWCON);
        assert_true(share(f, "train")->alpha == .1);
        assert_true(share(f, "train")->floor == .1);
        assert_int_equal(share(f, "default")->share, SG_SHARE_GROWTH);
        assert_true(is_changed(f, "train", "FlowCon", "Alpha"));
        assert_false(is_changed(f, "default", "FlowCon", "Alpha"));
        assert_false(is_changed(f, "train", "FlowCon", "Beta"));
}

static void test_back_to_the_files(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Share=fair", (char *)"Alpha=1"), 0);
        assert_int_equal(change(f, "train", &why, (char *)"Alpha="), 0);
        assert_true(share(f, "train")->alpha == .02);
        assert_int_equal(share(f, "train")->share, SG_SHARE_FAIR);
        assert_int_equal(change(f, "train", &why, (char *)"Share="), 0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
        restart(f);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

static void test_all_or_nothing(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Tick=10s"), 0);
        expect_refused(f, "other", "Share=fair", "there is no class 'other'");
        expect_refused(f, "train", "Share", "'Share' is no KEY=VALUE");
        expect_refused(f, "train", "=fair", "'=fair' is no KEY=VALUE");
        expect_refused(f, "train", "Alpa=1",
                       "unknown key [Policy] Alpa=; did you mean [FlowCon] Alpha=?");
        expect_refused(f, "train", "Growth.Alpha=1",
                       "unknown key [Growth] Alpha=; did you mean [FlowCon] Alpha=?");
        expect_refused(f, "train", "MaxJobs=4",
                       "[Class] MaxJobs= can't be changed like that: write it into the class's "
                       "file");
        expect_refused(f, "train", "Floor=200%",
                       "[Growth] Floor= wants a percentage from 0% to 100%, not '200%'");
        expect_refused(f, "train", "MaxInterval=1s",
                       "[Growth] MaxInterval= is below Tick=: the longest time between two looks "
                       "can't be the shorter one");
}

static void test_restart(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Share=las", (char *)"NoHarm=infinity"),
                         0);
        assert_int_equal(change(f, "default", &why, (char *)"Share=fair"), 0);
        restart(f);
        assert_int_equal(share(f, "train")->share, SG_SHARE_LAS);
        assert_true(isinf(share(f, "train")->no_harm));
        assert_int_equal(share(f, "default")->share, SG_SHARE_FAIR);
        assert_int_equal(change(f, "train", &why, (char *)"Share=", (char *)"NoHarm="), 0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

/* What was changed stands above files that were written since. */
static void test_restart_with_other_files(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Share=las"), 0);
        write_train(f, "[Class]\nName=train\nWeight=7\n[Policy]\nShare=fair\n[Growth]\nFloor=9%\n");
        restart(f);
        assert_int_equal(share(f, "train")->share, SG_SHARE_LAS);
        assert_true(share(f, "train")->floor == .09);
        assert_int_equal(sg_settings_class(sg_configuration_settings(f->c), "train")->weight, 7);
        assert_int_equal(change(f, "train", &why, (char *)"Share="), 0);
        assert_int_equal(share(f, "train")->share, SG_SHARE_FAIR);
}

/* The one is refused beside what the file says, until the other is there. */
static void test_restart_with_two_that_belong_together(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        write_train(f, "[Class]\nName=train\n[Growth]\nMaxInterval=10s\n");
        restart(f);
        assert_int_equal(change(f, "train", &why, (char *)"Tick=20s", (char *)"MaxInterval=30s"),
                         0);
        restart(f);
        assert_true(share(f, "train")->tick == 20);
        assert_true(share(f, "train")->max_interval == 30);
}

/* A file that was written since makes it invalid: it goes, and nothing else does. */
static void test_restart_with_a_file_against_it(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Tick=20s", (char *)"Share=las"), 0);
        assert_int_equal(change(f, "default", &why, (char *)"Share=fair"), 0);
        write_train(f, "[Class]\nName=train\n[Growth]\nMaxInterval=10s\n");
        restart(f);
        assert_true(share(f, "train")->tick == 1);
        assert_true(share(f, "train")->max_interval == 10);
        assert_int_equal(share(f, "train")->share, SG_SHARE_LAS);
        assert_int_equal(share(f, "default")->share, SG_SHARE_FAIR);
        assert_false(is_changed(f, "train", "Growth", "Tick"));
        assert_true(is_changed(f, "train", "Policy", "Share"));
}

static int reload(struct fixture *f, size_t n_errors)
{
        struct sg_config_errors errors = {0};
        int r = sg_configuration_reload(f->c, "host", &errors);

        assert_int_equal(errors.n, n_errors);
        sg_config_errors_deinit(&errors);
        return r;
}

static void test_reload(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Share=las"), 0);
        assert_int_equal(reload(f, 0), 0);
        assert_false(is_changed(f, "train", "Policy", "Share"));
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
        restart(f);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
}

static void test_reload_with_errors(void **state)
{
        struct fixture *f = *state;
        const struct sg_settings *before;
        char *why = NULL;

        assert_int_equal(change(f, "train", &why, (char *)"Share=las"), 0);
        before = sg_configuration_settings(f->c);
        write_train(f, "[Class]\nName=train\n[Growth]\nFloor=high\n");
        assert_int_equal(reload(f, 1), -EINVAL);
        assert_ptr_equal(sg_configuration_settings(f->c), before);
        assert_true(is_changed(f, "train", "Policy", "Share"));
        assert_non_null(strstr(sg_configuration_text(f->c), "Share=srpt"));
        write_train(f, TRAIN);
        restart(f);
        assert_int_equal(share(f, "train")->share, SG_SHARE_LAS);
}

/* Classes and keys come and go while no daemon runs; the file may be anything. */
static void test_what_does_not_fit(void **state)
{
        struct fixture *f = *state;
        static const char text[] = "gone Policy.Share=fair\ntrain Policy.Colour=red\nnonsense\n\n"
                                   "train Growth.Floor=900%\ntrain Policy.Share=fair\n";

        write_file(f, RUNTIME "/policy", text);
        restart(f);
        assert_int_equal(share(f, "train")->share, SG_SHARE_FAIR);
        assert_true(share(f, "train")->floor == .05);
        assert_false(is_changed(f, "train", "Growth", "Floor"));
        assert_false(is_changed(f, "gone", "Policy", "Share"));
}

/* What can't be kept isn't in force either. */
static void test_cannot_store(void **state)
{
        struct fixture *f = *state;
        char *why = NULL;

        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        assert_int_equal(change(f, "train", &why, (char *)"Share=las"), -ENOENT);
        assert_null(why);
        assert_int_equal(share(f, "train")->share, SG_SHARE_SRPT);
        assert_false(is_changed(f, "train", "Policy", "Share"));
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_change),
                TEST(test_back_to_the_files),
                TEST(test_all_or_nothing),
                TEST(test_restart),
                TEST(test_restart_with_other_files),
                TEST(test_restart_with_two_that_belong_together),
                TEST(test_restart_with_a_file_against_it),
                TEST(test_reload),
                TEST(test_reload_with_errors),
                TEST(test_what_does_not_fit),
                TEST(test_cannot_store),
        };

        sg_log_set_level(LOG_ERR);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
