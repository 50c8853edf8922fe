/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which groups are adopted, of which class, and where the walk looks for them. */
#include "core/settings/adopt.h"
#include "tests/unit/test.h"

struct world {
        struct sg_settings *settings;
        struct sg_adopt_rules rules;
};

static void add_class(struct sg_settings *s, const char *name, const char *units,
                      const char *cgroups, const char *limits)
{
        char *why = NULL;
        struct sg_class *c;

        assert_int_equal(sg_settings_class_begin(s, name, &c), 0);
        assert_int_equal(sg_settings_class_assign(c, "Class", "Name", name, &why), 0);
        assert_int_equal(sg_settings_class_assign(c, "Adopt", "Units", units, &why), 0);
        assert_int_equal(sg_settings_class_assign(c, "Adopt", "Cgroups", cgroups, &why), 0);
        assert_int_equal(sg_settings_class_assign(c, "Adopt", "Limits", limits, &why), 0);
        assert_int_equal(sg_settings_class_end(s, c, &why), 0);
}

static int setup(void **state)
{
        struct world *w = calloc(1, sizeof(*w));

        assert_non_null(w);
        assert_int_equal(sg_settings_new(&w->settings, "host"), 0);
        w->rules = (struct sg_adopt_rules){w->settings, "/schedgov.slice"};
        *state = w;
        return 0;
}

static int teardown(void **state)
{
        struct world *w = *state;

        sg_settings_free(w->settings);
        free(w);
        return 0;
}

static unsigned look(void **state, const char *path)
{
        const struct world *w = *state;

        return sg_adopt_look(&w->rules, path);
}

static void expect(void **state, const char *path, const char *class, const char *policy,
                   const char *unit, enum sg_adoption how)
{
        const struct world *w = *state;
        struct sg_adoptee a;

        if (sg_adopt_classify(&w->rules, path, &a) != 1)
                fail_msg("%s is not adopted", path);
        assert_string_equal(a.class, class);
        assert_string_equal(a.policy->name, policy);
        assert_string_equal(a.unit, unit);
        assert_int_equal(a.how, how);
}

static void governed(void **state, const char *path, const char *class, const char *unit)
{
        expect(state, path, class, class, unit, SG_ADOPTED_GOVERNED);
}

static void observed(void **state, const char *path, const char *class, const char *unit)
{
        expect(state, path, class, class, unit, SG_ADOPTED_OBSERVED);
}

static void expect_not(void **state, const char *path)
{
        const struct world *w = *state;
        struct sg_adoptee a;

        if (sg_adopt_classify(&w->rules, path, &a) != 0)
                fail_msg("%s is adopted", path);
}

static void test_own_slices(void **state)
{
        struct world *w = *state;

        add_class(w->settings, "train", "", "", "no");
        add_class(w->settings, "best-effort", "", "", "no");
        governed(state, "/schedgov.slice/schedgov-train.slice/run-u7.scope", "train",
                 "run-u7.scope");
        governed(state, "/schedgov.slice/schedgov-best\\x2deffort.slice/x.service", "best-effort",
                 "x.service");
        governed(state, "/schedgov.slice/x.scope", "default", "x.scope");
        /* nobody's class: shown as its slice is called, governed by default's policy */
        expect(state, "/schedgov.slice/schedgov-night.slice/x.scope", "night", "default", "x.scope",
               SG_ADOPTED_GOVERNED);
        governed(state, "/schedgov.slice/schedgov-train.slice/schedgov-train-a.slice/x.scope",
                 "train", "x.scope");
        /* the kernel could take the name for its own */
        governed(state, "/schedgov.slice/schedgov-train.slice/_io.scope", "train", "io.scope");
        expect_not(state, "/schedgov.slice/schedgov-train.slice/schedgov-7-host-1.scope");
        expect_not(state, "/schedgov.slice/schedgov-train.slice/schedgov-train-holder.service");
        expect_not(state, "/schedgov.slice/schedgov-train.slice/x.scope/job");
        expect_not(state, "/schedgov.slice/schedgov-train.slice");
        expect_not(state, "/schedgov.slice/schedgov-train.slice/plain");
        expect_not(state, "/schedgov.slice/schedgov-train.slice/no unit\n.scope");
        expect_not(state, "/system.slice/x.scope");
        expect_not(state, "");
}

static void test_where_to_look(void **state)
{
        assert_int_equal(look(state, ""), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/schedgov.slice"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/schedgov.slice/schedgov-train.slice"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/schedgov.slice/schedgov-train.slice/x.scope"), SG_LOOK_AT);
        assert_int_equal(look(state, "/schedgov.slice/schedgov-train.slice/x.scope/y"), 0);
        assert_int_equal(look(state, "/schedgov.slicer"), 0);
        assert_int_equal(look(state, "/system.slice"), 0);
        assert_int_equal(look(state, "/schedgov.slice/a.slice/b.slice/c.slice/d.slice"), 0);
}

static void test_units(void **state)
{
        struct world *w = *state;

        add_class(w->settings, "a-podman", "libpod-*.scope other.service", "", "no");
        add_class(w->settings, "b-limits", "docker-*.scope libpod-*", "", "yes");
        observed(state, "/machine.slice/libpod-1234.scope", "a-podman", "libpod-1234.scope");
        observed(state, "/libpod-1234.scope", "a-podman", "libpod-1234.scope");
        expect(state, "/system.slice/docker-12.scope", "b-limits", "b-limits", "docker-12.scope",
               SG_ADOPTED_LIMITED);
        observed(state, "/a.slice/a-b.slice/a-b-c.slice/other.service", "a-podman",
                 "other.service");
        expect_not(state, "/a.slice/a-b.slice/a-b-c.slice/a-b-c-d.slice/other.service");
        expect_not(state, "/machine.slice/libpod-1234.scope/container");
        expect_not(state, "/a.service/libpod-1.scope");
        assert_int_equal(look(state, "/machine.slice"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/machine.slice/machine-x.slice"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/init.scope"), 0);
        /* without systemd there is nobody to ask for limits */
        w->rules.slice = NULL;
        observed(state, "/system.slice/docker-12.scope", "b-limits", "docker-12.scope");
}

static void test_cgroups(void **state)
{
        struct world *w = *state;

        add_class(w->settings, "slurm", "", "/system.slice/*_slurmstepd.scope/job_*", "yes");
        add_class(w->settings, "kube", "", "/kubepods.slice/**/cri-*.scope /docker/**", "no");
        observed(state, "/system.slice/n1_slurmstepd.scope/job_7", "slurm", "");
        expect_not(state, "/system.slice/n1_slurmstepd.scope/job_7/step_0");
        expect_not(state, "/system.slice/n1_slurmstepd.scope/system");
        expect_not(state, "/system.slice/n1_slurmstepd.scope");
        assert_int_equal(look(state, "/system.slice"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/system.slice/n1_slurmstepd.scope"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/system.slice/ssh.service"), 0);

        observed(state, "/kubepods.slice/kubepods-pod1.slice/cri-2.scope", "kube", "cri-2.scope");
        observed(state, "/kubepods.slice/cri-2.scope", "kube", "cri-2.scope");
        assert_int_equal(look(state, "/kubepods.slice/a/b/c"), SG_LOOK_INSIDE);
        observed(state, "/docker/0123", "kube", "");
        assert_int_equal(look(state, "/docker"), SG_LOOK_INSIDE);
        assert_int_equal(look(state, "/docker/x.slice"), SG_LOOK_INSIDE);
        /* what a governor made below a group that fits is no job of somebody else's */
        expect_not(state, "/docker/schedgov-01234567");
        assert_int_equal(look(state, "/docker/schedgov-01234567/default"), 0);
}

static void test_depth(void **state)
{
        struct world *w = *state;
        char path[4096] = "";

        add_class(w->settings, "all", "", "/**", "no");
        for (size_t i = 0; i < 400; i++)
                strcat(path, "/a.slice");
        assert_int_equal(look(state, path), 0);
        expect_not(state, path);
        memset(path + 1, 'x', 3000);
        path[3001] = '\0';
        observed(state, path, "all", "");
}

static void test_pattern_valid(void **state)
{
        (void)state;
        assert_true(sg_adopt_pattern_valid("/a"));
        assert_true(sg_adopt_pattern_valid("/a/*_b/c[0-9]"));
        assert_true(sg_adopt_pattern_valid("/**"));
        assert_true(sg_adopt_pattern_valid("/**/x"));
        assert_false(sg_adopt_pattern_valid(""));
        assert_false(sg_adopt_pattern_valid("/"));
        assert_false(sg_adopt_pattern_valid("a/b"));
        assert_false(sg_adopt_pattern_valid("/a//b"));
        assert_false(sg_adopt_pattern_valid("/a/"));
        assert_false(sg_adopt_pattern_valid("/a/../b"));
        assert_false(sg_adopt_pattern_valid("/./b"));
        assert_false(sg_adopt_pattern_valid("/**/a/**"));
}

static void test_names(void **state)
{
        char name[SG_JOB_NAME_MAX], unit[SG_UNIT_NAME_MAX], longer[400];

        (void)state;
        sg_adopt_name("/a.slice/run-u7.scope", name);
        assert_string_equal(name, "run-u7");
        sg_adopt_name("/system.slice/n_slurmstepd.scope/job_7", name);
        assert_string_equal(name, "job_7");
        sg_adopt_name("/a/b\nc d", name);
        assert_string_equal(name, "b_c_d");
        sg_adopt_name("", name);
        assert_string_equal(name, "");
        sg_adopt_name("/machine.slice/libpod-0123456789abcdef0123456789abcdef"
                      "0123456789abcdef0123456789abcdef.scope",
                      name);
        assert_string_equal(name, "libpod-0123456789ab");
        sg_adopt_name("/docker/fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210",
                      name);
        assert_string_equal(name, "fedcba987654");
        sg_adopt_name("/a.slice/run-r0123456789abcdef0123456789abcdef.scope", name);
        assert_string_equal(name, "run-r0123456789ab");
        sg_adopt_name("/a.slice/nightly-20261120123456.service", name);
        assert_string_equal(name, "nightly-20261120123456");
        sg_adopt_name("/a.slice/jupyter\\x2dalice\\x0ab.service", name);
        assert_string_equal(name, "jupyter-alice_b");
        memset(longer, 'y', sizeof(longer));
        memcpy(longer, "/a/", 3);
        strcpy(longer + 390, ".scope");
        sg_adopt_name(longer, name);
        assert_int_equal(strlen(name), SG_JOB_NAME_MAX - 1);
        assert_false(sg_adopt_unit_of(longer, unit));
        assert_true(sg_adopt_unit_of("/a.slice/_memory.scope", unit));
        assert_string_equal(unit, "memory.scope");
        assert_false(sg_adopt_unit_of("/a.slice/b c.scope", unit));
        assert_false(sg_adopt_unit_of("/a.slice/.scope", unit));
        assert_false(sg_adopt_unit_valid("a.slice"));
        assert_false(sg_adopt_unit_valid("a/b.scope"));
        assert_true(sg_adopt_unit_valid("user@1000.service"));
}

/* A misspelt slice is told, with what was probably meant. */
static void test_no_class(void **state)
{
        struct world *w = *state;
        char says[SG_ADOPT_NO_CLASS_MAX], longest[SG_CLASS_NAME_MAX];

        add_class(w->settings, "train", "", "", "no");
        assert_false(sg_adopt_no_class(w->settings, "train", says));
        assert_false(sg_adopt_no_class(w->settings, "default", says));
        assert_true(sg_adopt_no_class(w->settings, "trian", says));
        assert_string_equal(
                says, "there is no class 'trian': governed as 'default'; did you mean 'train'?");
        assert_true(sg_adopt_no_class(w->settings, "night", says));
        assert_string_equal(says, "there is no class 'night': governed as 'default'");
        memset(longest, 'y', sizeof(longest) - 1);
        longest[sizeof(longest) - 1] = '\0';
        add_class(w->settings, longest, "", "", "no");
        longest[0] = 'x';
        assert_true(sg_adopt_no_class(w->settings, longest, says));
        longest[0] = 'y';
        assert_non_null(strstr(says, longest));
        assert_string_equal(says + strlen(says) - 2, "'?");
}

static void test_class_slice(void **state)
{
        const struct world *w = *state;
        char class[SG_CLASS_NAME_MAX];

        assert_true(sg_adopt_class_slice(&w->rules,
                                         "/schedgov.slice/schedgov-a\\x2db.slice/x.scope", class));
        assert_string_equal(class, "a-b");
        assert_false(sg_adopt_class_slice(&w->rules, "/schedgov.slice/x.scope", class));
        assert_false(sg_adopt_class_slice(
                &w->rules, "/schedgov.slice/schedgov-a.slice/schedgov-a-b.slice/x.scope", class));
        assert_false(sg_adopt_class_slice(&w->rules, "/system.slice/x.scope", class));
}

/* What a unit was started with stays, as far as the class allows; the rest is the class's. */
static void test_limits(void **state)
{
        struct world *w = *state;
        struct sg_limits now, got;
        struct sg_class *c = (struct sg_class *)sg_settings_default(w->settings);

        sg_limits_default(&now);
        sg_adopt_limits(c, &now, &got);
        assert_memory_equal(&got, &now, sizeof(now));
        c->limits.cpu_weight = 50;
        c->limits.memory_max = 1000;
        c->limits.tasks_max = 10;
        c->limits.time_limit_usec = 7;
        c->limits_max.memory_max = 2000;
        c->limits_max.cpu_weight = 300;
        now.tasks_max = 4915;
        sg_adopt_limits(c, &now, &got);
        assert_int_equal(got.cpu_weight, 50);
        assert_int_equal(got.memory_max, 1000);
        assert_int_equal(got.tasks_max, 10);
        assert_int_equal(got.time_limit_usec, 7);
        now.cpu_weight = 400;
        now.memory_max = 1500;
        now.tasks_max = 5;
        sg_adopt_limits(c, &now, &got);
        assert_int_equal(got.cpu_weight, 300);
        assert_int_equal(got.memory_max, 1500);
        assert_int_equal(got.tasks_max, 5);
        now.memory_max = 5000;
        sg_adopt_limits(c, &now, &got);
        assert_int_equal(got.memory_max, 2000);
}

static void test_owner(void **state)
{
        (void)state;
        assert_string_equal(sg_adopt_owner("/machine.slice/libpod-1.scope"), "podman");
        assert_string_equal(sg_adopt_owner("/system.slice/n_slurmstepd.scope/job_1"), "Slurm");
        assert_string_equal(sg_adopt_owner("/kubepods/besteffort/pod1"), "Kubernetes");
        assert_string_equal(sg_adopt_owner("/system.slice/docker-1.scope"), "Docker");
        assert_string_equal(sg_adopt_owner("/system.slice/x.service"), "systemd");
        assert_string_equal(sg_adopt_owner("/x"), "who made its group");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_own_slices), TEST(test_where_to_look), TEST(test_units),
                TEST(test_cgroups),    TEST(test_depth),         TEST(test_pattern_valid),
                TEST(test_names),      TEST(test_owner),         TEST(test_class_slice),
                TEST(test_limits),     TEST(test_no_class),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
