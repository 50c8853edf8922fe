/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files + overrides → settings: what is in the result, what is left out and why, and that neither
 * side is touched. */

#include "core/settings/overrides.h"
#include "tests/unit/test.h"

#include <stdlib.h>

struct fixture {
        struct sg_settings *files;
        struct sg_overrides o;
        const struct sg_settings *settings; /* what came of both */
        struct sg_misfits misfits;
};

static void say(struct sg_class *c, const char *section, const char *key, const char *value)
{
        char *why = NULL;

        assert_int_equal(sg_settings_class_assign(c, section, key, value, &why), 0);
}

static struct sg_class *begin(struct fixture *f, const char *name)
{
        struct sg_class *c;

        assert_int_equal(sg_settings_class_begin(f->files, name, &c), 0);
        say(c, "Class", "Name", name);
        return c;
}

static void end(struct fixture *f, struct sg_class *c)
{
        char *why = NULL;

        assert_int_equal(sg_settings_class_end(f->files, c, &why), 0);
}

/* default as built in; "train" with all that a class may hold; "slow" with a short MaxInterval= */
static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct sg_class *c;

        assert_non_null(f);
        assert_int_equal(sg_settings_new(&f->files, "host"), 0);
        c = begin(f, "train");
        say(c, "Match", "User", "alice bob*");
        say(c, "Match", "Group", "ml-*");
        say(c, "Match", "Command", "python* train.py");
        say(c, "Match", "Command", "torchrun");
        say(c, "Class", "Weight", "70");
        say(c, "Limits", "DeviceAllow", "/dev/nvidia0 rw");
        say(c, "Limits", "DeviceAllow", "/dev/nvidiactl");
        say(c, "Policy", "Share", "srpt");
        say(c, "FlowCon", "Alpha", "0.02");
        say(c, "Adopt", "Units", "libpod-*.scope");
        say(c, "Adopt", "Cgroups", "/docker/* /kubepods.slice/**");
        end(f, c);
        c = begin(f, "slow");
        say(c, "Growth", "MaxInterval", "10s");
        end(f, c);
        *state = f;
        return 0;
}

static void forget(struct fixture *f)
{
        f->settings = sg_settings_free(f->settings);
        sg_misfits_deinit(&f->misfits);
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        forget(f);
        sg_settings_free(f->files);
        sg_overrides_deinit(&f->o);
        free(f);
        return 0;
}

static int change(struct fixture *f, const char *class, const char *assignment, char **ret_why)
{
        struct sg_overrides fresh;
        int r = sg_overrides_change(&f->o, class, (char *[]){(char *)assignment, NULL}, &fresh,
                                    ret_why);

        if (r < 0)
                return r;
        sg_overrides_deinit(&f->o);
        f->o = fresh;
        return r;
}

static void set(struct fixture *f, const char *class, const char *assignment)
{
        char *why = NULL;

        assert_int_equal(change(f, class, assignment, &why), 0);
        assert_null(why);
}

static void compute(struct fixture *f)
{
        forget(f);
        assert_int_equal(sg_settings_override(f->files, &f->o, &f->settings, &f->misfits), 0);
}

static const struct sg_share_settings *share(const struct sg_settings *s, const char *class)
{
        return &sg_settings_class(s, class)->share;
}

/* --- the copy */

static void expect_equal_lists(char *const *a, char *const *b, size_t n)
{
        assert_ptr_not_equal(a, b);
        for (size_t i = 0; i < n; i++) {
                assert_string_equal(a[i], b[i]);
                assert_ptr_not_equal(a[i], b[i]);
        }
        assert_null(a[n]);
        assert_null(b[n]);
}

/* All there is, and nothing in common: the files' settings are freed first. */
static void test_without_overrides(void **state)
{
        struct fixture *f = *state;
        const struct sg_class *a, *b;

        f->files->max_jobs = 12;
        compute(f);
        assert_int_equal(f->misfits.n, 0);
        assert_int_equal(f->settings->max_jobs, 12);
        assert_string_equal(f->settings->hostname, "host");
        assert_int_equal(f->settings->n_classes, 3);
        for (size_t i = 0; i < 3; i++) {
                a = &f->files->classes[i];
                b = &f->settings->classes[i];
                assert_string_equal(a->name, b->name);
                assert_true(sg_share_settings_equal(&a->share, &b->share));
                assert_memory_equal(&a->limits, &b->limits, sizeof(a->limits));
        }
        a = sg_settings_class(f->files, "train");
        b = sg_settings_class(f->settings, "train");
        assert_int_equal(b->weight, 70);
        assert_true(b->device_closed);
        assert_string_equal(b->file, "train");
        assert_ptr_not_equal(a->file, b->file);
        expect_equal_lists(a->match_user, b->match_user, 2);
        expect_equal_lists(a->match_group, b->match_group, 1);
        expect_equal_lists(a->match_command, b->match_command, 2);
        expect_equal_lists(a->adopt_units, b->adopt_units, 1);
        expect_equal_lists(a->adopt_cgroups, b->adopt_cgroups, 2);
        assert_int_equal(b->n_devices, 2);
        for (size_t i = 0; i < 2; i++) {
                assert_string_equal(a->devices[i].path, b->devices[i].path);
                assert_ptr_not_equal(a->devices[i].path, b->devices[i].path);
                assert_string_equal(a->devices[i].access, b->devices[i].access);
        }
        f->files = sg_settings_free(f->files);
        assert_string_equal(sg_settings_match(f->settings, "bobby",
                                              (char *[]){(char *)"ml-x", NULL}, "torchrun", false)
                                    ->name,
                            "train");
}

/* --- files + overrides */

static void test_in_force(void **state)
{
        struct fixture *f = *state;

        set(f, "train", "Share=flowcon");
        set(f, "train", "FlowCon.Alpha=0.1");
        set(f, "default", "Floor=10%");
        compute(f);
        assert_int_equal(f->misfits.n, 0);
        assert_int_equal(share(f->settings, "train")->share, SG_SHARE_FLOWCON);
        assert_true(share(f->settings, "train")->alpha == .1);
        assert_true(share(f->settings, "train")->floor == .05);
        assert_true(share(f->settings, "default")->floor == .1);
        assert_int_equal(share(f->files, "train")->share, SG_SHARE_SRPT);
        assert_true(share(f->files, "train")->alpha == .02);
        assert_true(share(f->files, "default")->floor == .05);
}

/* The last one of a key counts; without any the files do. */
static void test_again_and_back(void **state)
{
        struct fixture *f = *state;

        set(f, "train", "Alpha=1");
        set(f, "train", "Alpha=2");
        assert_int_equal(f->o.n, 1);
        compute(f);
        assert_true(share(f->settings, "train")->alpha == 2);
        set(f, "train", "Alpha=");
        set(f, "train", "Beta="); /* wasn't changed */
        assert_int_equal(f->o.n, 0);
        compute(f);
        assert_true(share(f->settings, "train")->alpha == .02);
}

static void expect_misfit(const struct fixture *f, size_t i, size_t item, const char *why)
{
        assert_in_range(i, 0, f->misfits.n - 1);
        assert_int_equal(f->misfits.items[i].item, item);
        assert_string_equal(f->misfits.items[i].why, why);
}

static void test_misfits(void **state)
{
        struct fixture *f = *state;

        set(f, "gone", "Share=fair");
        set(f, "slow", "Share=las");
        set(f, "slow", "Tick=20s");
        set(f, "train", "Floor=900%");
        set(f, "train", "Beta=3");
        compute(f);
        assert_int_equal(f->misfits.n, 3);
        expect_misfit(f, 0, 0, "there is no class 'gone'");
        expect_misfit(f, 1, 2,
                      "[Growth] MaxInterval= is below Tick=: the longest time between two looks "
                      "can't be the shorter one");
        expect_misfit(f, 2, 3, "[Growth] Floor= wants a percentage from 0% to 100%, not '900%'");
        assert_int_equal(share(f->settings, "slow")->share, SG_SHARE_LAS);
        assert_true(share(f->settings, "slow")->tick == 1);
        assert_true(share(f->settings, "train")->floor == .05);
        assert_true(share(f->settings, "train")->beta == 3);
}

/* Above the file's MaxInterval= a Tick= only fits with the override behind it. */
static void test_order_is_no_matter(void **state)
{
        static const char *const both[] = {"Tick=20s", "MaxInterval=30s"};
        struct fixture *f = *state;

        for (unsigned first = 0; first < 2; first++) {
                sg_overrides_deinit(&f->o);
                set(f, "slow", both[first]);
                set(f, "slow", both[!first]);
                compute(f);
                assert_int_equal(f->misfits.n, 0);
                assert_true(share(f->settings, "slow")->tick == 20);
                assert_true(share(f->settings, "slow")->max_interval == 30);
        }
}

/* --- assignments */

static void expect_refused(struct fixture *f, const char *assignment, const char *expected)
{
        char *why = NULL;

        assert_int_equal(change(f, "train", assignment, &why), -EINVAL);
        assert_string_equal(why, expected);
        free(why);
        assert_int_equal(f->o.n, 1);
}

static void test_refused(void **state)
{
        struct fixture *f = *state;

        set(f, "train", "Alpha=1");
        expect_refused(f, "Share", "'Share' is no KEY=VALUE");
        expect_refused(f, "", "'' is no KEY=VALUE");
        expect_refused(f, "=fair", "'=fair' is no KEY=VALUE");
        expect_refused(f, ".=fair", "unknown section []");
        expect_refused(f, "Match.User=x",
                       "[Match] User= can't be changed like that: write it into the class's file");
        expect_refused(f, "Node.Name=x",
                       "unknown section [Node]; did you mean [Node] of schedgov.conf?");
}

/* All assignments of a call, or none. */
static void test_change_is_whole(void **state)
{
        struct fixture *f = *state;
        struct sg_overrides fresh = {.n = 77};
        char *why = NULL;

        set(f, "train", "Alpha=1");
        assert_int_equal(sg_overrides_change(&f->o, "train",
                                             (char *[]){(char *)"Alpha=", (char *)"Share", NULL},
                                             &fresh, &why),
                         -EINVAL);
        assert_string_equal(why, "'Share' is no KEY=VALUE");
        free(why);
        assert_int_equal(fresh.n, 77);
        assert_string_equal(f->o.items[0].value, "1");
}

/* --- text */

static void expect_text(const struct sg_overrides *o, const char *expected)
{
        _cleanup_free_ char *text = NULL;

        assert_int_equal(sg_overrides_format(o, &text), 0);
        assert_string_equal(text, expected);
}

static void test_text(void **state)
{
        struct fixture *f = *state;
        struct sg_overrides again = {0};
        char *why = NULL;

        expect_text(&f->o, "");
        set(f, "train", "Share=las");
        set(f, "slow", "NoHarm=infinity");
        set(f, "train", "Alpha=0.5");
        expect_text(&f->o, "train Policy.Share=las\nslow Growth.NoHarm=infinity\n"
                           "train FlowCon.Alpha=0.5\n");
        assert_int_equal(sg_overrides_read_line(&again, "train Policy.Share=las", &why), 0);
        assert_int_equal(sg_overrides_read_line(&again, "slow NoHarm=infinity", &why), 0);
        expect_text(&again, "train Policy.Share=las\nslow Growth.NoHarm=infinity\n");
        sg_overrides_deinit(&again);
}

static void test_lines_that_are_none(void **state)
{
        static const char *const lines[] = {"",
                                            " ",
                                            "nonsense",
                                            "nonsense ",
                                            " Policy.Share=las",
                                            "train Policy.Colour=red",
                                            "train  Share=las",
                                            "train Share"};
        struct sg_overrides o = {0};
        char long_name[SG_CLASS_NAME_MAX + 16];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(lines); i++) {
                _cleanup_free_ char *why = NULL;

                if (sg_overrides_read_line(&o, lines[i], &why) != -EINVAL || !why || o.n > 0)
                        fail_msg("'%s' is taken, or refused without a reason", lines[i]);
        }
        for (size_t n = SG_CLASS_NAME_MAX - 1; n <= SG_CLASS_NAME_MAX; n++) {
                _cleanup_free_ char *why = NULL;

                memset(long_name, 'x', n);
                strcpy(long_name + n, " Share=las");
                assert_int_equal(sg_overrides_read_line(&o, long_name, &why),
                                 n < SG_CLASS_NAME_MAX ? 0 : -EINVAL);
        }
        assert_int_equal(o.n, 1);
        sg_overrides_deinit(&o);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_without_overrides),   TEST(test_in_force),
                TEST(test_again_and_back),      TEST(test_misfits),
                TEST(test_order_is_no_matter),  TEST(test_refused),
                TEST(test_change_is_whole),     TEST(test_text),
                TEST(test_lines_that_are_none),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
