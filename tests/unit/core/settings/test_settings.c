/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Settings: their defaults and messages; classes and how they are matched. */

#include "tests/unit/core/settings/test_settings.h"

static void test_defaults(void **state)
{
        const struct sg_settings *s = ((struct both *)*state)->s;
        const struct sg_class *c;

        assert_string_equal(s->name, "host");
        assert_int_equal(s->show_others, SG_SHOW_LIST);
        assert_int_equal(s->jobs_per_cpu, 4);
        assert_true(s->max_jobs == SG_UNLIMITED);
        assert_int_equal(s->max_queued_per_user, 100000);
        assert_int_equal(s->memory_reserve_pm, 1000);
        assert_int_equal(s->kill_grace_usec, 10000000);
        assert_int_equal(s->log_max_bytes, 256 << 20);
        assert_int_equal(s->log_keep, 1);
        assert_int_equal(s->history_jobs, 100000);
        assert_true(s->history_usec == 365ULL * 86400 * 1000000);
        assert_string_equal(s->metrics_dir, "");
        assert_int_equal(s->metrics_listen.version, 0);
        assert_int_equal(s->metrics_usec, 15000000);

        assert_int_equal(s->n_classes, 1);
        c = &s->classes[0];
        assert_string_equal(c->name, "default");
        assert_null(c->file);
        assert_int_equal(c->weight, 100);
        assert_int_equal(c->order, SG_ORDER_PRIORITY);
        assert_int_equal(c->limits.cpu_weight, 100);
        assert_int_equal(c->limits.io_weight, 100);
        assert_int_equal(c->limits.cpus, 0);
        assert_int_equal(c->limits.pin, 0);
        assert_int_equal(c->limits.threads, SG_THREADS_FOLLOW);
        assert_true(c->unbuffered);
        assert_true(c->limits.cpu_quota_pm == SG_UNLIMITED);
        assert_true(c->limits.memory_max == SG_UNLIMITED);
        assert_true(c->limits.time_limit_usec == SG_UNLIMITED);
        for (const uint64_t *p = (const uint64_t *)&c->limits_max;
             p < (const uint64_t *)(&c->limits_max + 1); p++)
                assert_true(*p == SG_UNLIMITED);
        assert_false(c->device_closed);
}

static void test_host_names(void **state)
{
        static const struct {
                const char *given, *name;
        } cases[] = {{"lab-1.example.org", "lab-1.example.org"},
                     {"(none)", "none_"},
                     {"", "localhost"},
                     {"...", "localhost"},
                     {"a/b@c", "a_b_c"}};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                _cleanup_(sg_settings_freep) struct sg_settings *s = NULL;

                assert_int_equal(sg_settings_new(&s, cases[i].given), 0);
                assert_string_equal(s->name, cases[i].name);
        }
}

static void expect_why(struct both *b, const char *file, const char *section, const char *key,
                       const char *value, const char *expected)
{
        _cleanup_free_ char *why = NULL;
        int r = strcmp(file, "policy") == 0
                        ? sg_settings_class_assign(b->c, section, key, value, &why)
                        : sg_settings_assign(b->s, section, key, value, &why);

        assert_int_equal(r, -EINVAL);
        assert_string_equal(why, expected);
}

static void test_messages(void **state)
{
        struct both *b = *state;
        char value[201];

        expect_why(b, "conf", "Queue", "JobsPerCpu", "x",
                   "[Queue] JobsPerCpu= wants a whole number from 1 to 10000, not 'x'");
        expect_why(b, "conf", "Queue", "JobPerCPU", "4",
                   "unknown key [Queue] JobPerCPU=; did you mean [Queue] JobsPerCpu=?");
        expect_why(b, "conf", "Logs", "KeepJobs", "4",
                   "unknown key [Logs] KeepJobs=; did you mean [History] KeepJobs=?");
        expect_why(b, "conf", "Queue", "CPUWeight", "4",
                   "unknown key [Queue] CPUWeight=; did you mean [Limits] CPUWeight= of a policy "
                   "file?");
        expect_why(b, "conf", "Queue", "Colour", "red", "unknown key [Queue] Colour=");
        expect_why(b, "conf", "Qeue", "MaxJobs", "4",
                   "unknown section [Qeue]; did you mean [Queue]?");
        expect_why(b, "policy", "History", "KeepJobs", "4",
                   "unknown section [History]; did you mean [History] of schedgov.conf?");
        expect_why(b, "policy", "Policy", "Shade", "fair",
                   "unknown key [Policy] Shade=; did you mean [Policy] Share=?");
        expect_why(b, "policy", "Growth", "NoHarm", "-5%",
                   "[Growth] NoHarm= wants a percentage such as 5%, or \"infinity\", not '-5%'");

        memset(value, 'x', 200);
        memcpy(value + 59, "é", 2);
        value[200] = '\0';
        expect_why(b, "conf", "Node", "ShowOthers", value,
                   "[Node] ShowOthers= wants \"no\" or \"list\", not "
                   "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…'");
}

/* Without a file a class is governed as if nothing had been said about it. */
static void test_share_defaults(void **state)
{
        struct both *b = *state;
        struct sg_share_settings defaults;

        sg_share_settings_init(&defaults);
        assert_true(sg_share_settings_equal(&b->c->share, &defaults));
}

static void test_intervals_fit(void **state)
{
        struct both *b = *state;
        char *why = NULL;

        set(b, "Class", "Name", "slow");
        set(b, "Growth", "Tick", "30s");
        set(b, "Growth", "MaxInterval", "10s");
        assert_int_equal(sg_settings_class_end(b->s, TAKE_PTR(b->c), &why), -EINVAL);
        assert_string_equal(why, "[Growth] MaxInterval= is below Tick=: the longest time between "
                                 "two looks can't be the shorter one");
        free(why);
}

static void test_lists_add_up(void **state)
{
        struct both *b = *state;
        char *why = NULL;

        set(b, "Match", "User", "alice  bob");
        set(b, "Match", "User", "carol");
        assert_string_equal(b->c->match_user[0], "alice");
        assert_string_equal(b->c->match_user[1], "bob");
        assert_string_equal(b->c->match_user[2], "carol");
        assert_null(b->c->match_user[3]);
        set(b, "Match", "User", "");
        assert_null(b->c->match_user);

        for (int i = 0; i < 1000; i++)
                set(b, "Match", "Command", "true");
        assert_int_equal(sg_settings_class_assign(b->c, "Match", "Command", "x", &why), -EINVAL);
        free(why);

        set(b, "Limits", "DeviceAllow", "/dev/fuse");
        set(b, "Limits", "DeviceAllow", "/dev/nvidia0   rw");
        assert_int_equal(b->c->n_devices, 2);
        assert_string_equal(b->c->devices[0].access, "rwm");
        assert_string_equal(b->c->devices[1].path, "/dev/nvidia0");
        assert_string_equal(b->c->devices[1].access, "rw");
}

static void test_devices_refused(void **state)
{
        static const char *const bad[] = {"/dev/",         "nvidia0",      "/etc/passwd",
                                          "/dev/../mem r", "/dev/x rwx",   "/dev/x rr",
                                          "/dev/x rwmr",   "/dev/x r w",   "char-pts rw",
                                          "/dev/a/../b",   "/dev/[a-z] r", "/dev/x/.."};
        struct both *b = *state;

        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                _cleanup_free_ char *why = NULL;

                assert_int_equal(
                        sg_settings_class_assign(b->c, "Limits", "DeviceAllow", bad[i], &why),
                        -EINVAL);
        }
        assert_int_equal(b->c->n_devices, 0);
}

static int end_class(struct both *b, char **why)
{
        return sg_settings_class_end(b->s, TAKE_PTR(b->c), why);
}

static void test_class_needs_a_name(void **state)
{
        struct both *b = *state;
        _cleanup_free_ char *why = NULL;

        assert_int_equal(end_class(b, &why), -EINVAL);
        assert_non_null(strstr(why, "[Class] Name= is missing"));
        assert_int_equal(b->s->n_classes, 1);
}

static void test_class_twice(void **state)
{
        struct both *b = *state;
        _cleanup_free_ char *why = NULL;

        set(b, "Class", "Name", "train");
        assert_int_equal(end_class(b, &why), 0);
        assert_int_equal(sg_settings_class_begin(b->s, "b.policy", &b->c), 0);
        set(b, "Class", "Name", "train");
        assert_int_equal(end_class(b, &why), -EINVAL);
        assert_non_null(strstr(why, "already made by a.policy"));
        assert_int_equal(b->s->n_classes, 2);
}

static void test_default_class_replaced(void **state)
{
        struct both *b = *state;
        _cleanup_free_ char *why = NULL;

        set(b, "Class", "Name", "default");
        set(b, "Limits", "CPUWeight", "50");
        set(b, "Limits", "DeviceAllow", "/dev/fuse");
        assert_int_equal(end_class(b, &why), 0);
        assert_int_equal(b->s->n_classes, 1);
        assert_int_equal(b->s->classes[0].limits.cpu_weight, 50);
        assert_true(b->s->classes[0].device_closed);
        assert_ptr_equal(sg_settings_class(b->s, "default"), &b->s->classes[0]);

        assert_int_equal(sg_settings_class_begin(b->s, "b.policy", &b->c), 0);
        set(b, "Class", "Name", "default");
        set(b, "Match", "User", "alice");
        assert_int_equal(end_class(b, &why), -EINVAL);
        assert_non_null(strstr(why, "[Match] isn't for the class \"default\""));
}

static void test_maxima(void **state)
{
        struct both *b = *state;
        _cleanup_free_ char *why = NULL;

        set(b, "Class", "Name", "a");
        set(b, "Limits", "MaxMemoryMax", "4G");
        set(b, "Limits", "MaxCPUWeight", "10");
        set(b, "Limits", "MaxCPUs", "4");
        set(b, "Limits", "CPUs", "1-4");
        assert_int_equal(end_class(b, &why), 0);
        assert_true(b->s->classes[1].limits.memory_max == 4ULL << 30);
        assert_true(b->s->classes[1].limits.memory_high == SG_UNLIMITED);
        assert_int_equal(b->s->classes[1].limits.cpu_weight, 10);
        assert_int_equal(b->s->classes[1].limits.cpus_max, 4);

        assert_int_equal(sg_settings_class_begin(b->s, "b.policy", &b->c), 0);
        set(b, "Class", "Name", "b");
        set(b, "Limits", "MaxMemoryMax", "4G");
        set(b, "Limits", "MemoryMax", "5G");
        assert_int_equal(end_class(b, &why), -EINVAL);
        assert_non_null(strstr(why, "[Limits] MemoryMax= is above MaxMemoryMax="));
}

static void add_class(struct both *b, const char *name, const char *user, const char *group,
                      const char *command)
{
        char *why = NULL;

        sg_class_free(TAKE_PTR(b->c));
        assert_int_equal(sg_settings_class_begin(b->s, name, &b->c), 0);
        set(b, "Class", "Name", name);
        set(b, "Match", "User", user);
        set(b, "Match", "Group", group);
        set(b, "Match", "Command", command);
        assert_int_equal(end_class(b, &why), 0);
}

static void expect_class(struct both *b, const char *user, const char *group, const char *command,
                         const char *name)
{
        char *groups[] = {(char *)"users", (char *)group, NULL};
        const struct sg_class *c = sg_settings_match(b->s, user, groups, command, false);

        assert_string_equal(c->name, name);
}

static void test_matching(void **state)
{
        struct both *b = *state;

        add_class(b, "asked", "", "", "");
        add_class(b, "shells", "", "", "*sh");
        add_class(b, "ml", "alice bob", "ml-*", "python*");
        add_class(b, "ops", "", "wheel", "");
        add_class(b, "alice", "alice", "", "");

        expect_class(b, "alice", "x", "/bin/bash", "shells");
        expect_class(b, "alice", "ml-vision", "python3 train.py", "ml");
        expect_class(b, "alice", "ml-vision", "/usr/bin/python3 train.py --x /tmp/y", "ml");
        expect_class(b, "alice", "wheel", "python3 train.py", "ops");
        expect_class(b, "alice", "x", "python3", "alice");
        expect_class(b, "bob", "x", "python3", "default");
        expect_class(b, "carol", "ml-vision", "python3", "default");
        assert_string_equal(sg_settings_match(b->s, "alice", NULL, NULL, false)->name, "alice");
        assert_string_equal(sg_settings_match(b->s, NULL, NULL, NULL, false)->name, "default");
        assert_non_null(sg_settings_class(b->s, "asked"));
        assert_null(sg_settings_class(b->s, "askew"));
        assert_ptr_equal(sg_settings_class_or_default(b->s, "asked"),
                         sg_settings_class(b->s, "asked"));
        assert_ptr_equal(sg_settings_class_or_default(b->s, "askew"), sg_settings_default(b->s));
}

static const char *class_for(struct both *b, bool gpus)
{
        return sg_settings_match(b->s, "alice", NULL, "x", gpus)->name;
}

static void test_gpu_classes(void **state)
{
        struct both *b = *state;
        char *why = NULL;

        set(b, "Class", "Name", "gpu");
        set(b, "Match", "Gpu", "yes");
        set(b, "Limits", "Gpus", "1-4");
        set(b, "Limits", "GpuIdleLimit", "2h end");
        assert_int_equal(end_class(b, &why), 0);
        assert_string_equal(class_for(b, true), "gpu");
        assert_string_equal(class_for(b, false), "default");
        assert_int_equal(b->s->classes[1].gpus.given.max, 4);
        assert_true(b->s->classes[1].gpus.idle_usec == 7200000000ULL);
        assert_true(b->s->classes[1].gpus.idle_ends);
        assert_int_equal(sg_settings_class_begin(b->s, "b.policy", &b->c), 0);
        set(b, "Class", "Name", "cpu");
        set(b, "Match", "Gpu", "no");
        assert_int_equal(end_class(b, &why), 0);
        assert_string_equal(class_for(b, false), "cpu");
}

static void expect_refused(struct both *b, const char *key, const char *value, const char *other,
                           const char *other_value, const char *says)
{
        _cleanup_free_ char *why = NULL;

        if (!b->c)
                assert_int_equal(sg_settings_class_begin(b->s, "a.policy", &b->c), 0);
        set(b, "Class", "Name", "a");
        set(b, "Limits", key, value);
        set(b, strcmp(other, "Gpu") == 0 ? "Match" : "Limits", other, other_value);
        assert_int_equal(end_class(b, &why), -EINVAL);
        if (!strstr(why, says))
                fail_msg("%s=%s: %s", key, value, why);
}

static void test_gpu_classes_refused(void **state)
{
        struct both *b = *state;

        expect_refused(b, "Gpus", "4", "MaxGpus", "2", "[Limits] Gpus= is above MaxGpus=");
        expect_refused(b, "Gpus", "0.5", "MaxGpus", "2", "give GpuMemory= as well");
        expect_refused(b, "Gpus", "1", "Gpu", "no", "[Match] Gpu=no is for jobs without GPUs");
}

static void test_words(void **state)
{
        struct both *b = *state;
        const char *ignore = b->s->gpu.ignore;
        char *why = NULL;

        assert_true(sg_settings_words_have(ignore, "Xorg"));
        assert_true(sg_settings_words_have(ignore, "kwin_x11"));
        assert_false(sg_settings_words_have(ignore, "X"));
        assert_false(sg_settings_words_have(ignore, ""));
        assert_int_equal(sg_settings_assign(b->s, "Gpu", "IgnoreProcesses", " a \t bb  ", &why), 0);
        assert_string_equal(ignore, "a bb");
        assert_true(sg_settings_words_have(ignore, "bb"));
        assert_false(sg_settings_words_have(ignore, "Xorg"));
}

static bool admits(struct both *b, const char *name, const char *user, const char *group)
{
        char *groups[] = {(char *)"users", (char *)group, NULL};
        const struct sg_class *c = sg_settings_class(b->s, name);

        assert_non_null(c);
        return sg_class_admits(c, user, groups);
}

/* By which rule somebody may not; "": there is none. */
static void assert_rule(struct both *b, const char *name, const char *user, const char *group,
                        const char *says)
{
        char *groups[] = {(char *)group, NULL};
        char rule[SG_CLASS_RULE_MAX] = "";
        bool found = sg_class_rule(sg_settings_class(b->s, name), user, groups, rule);

        assert_string_equal(rule, says);
        assert_int_equal(found, *says != '\0');
}

/* Who may ask for a class by its name. Command= only says what goes there by itself. */
static void test_admission(void **state)
{
        struct both *b = *state;
        char many[500], rule[SG_CLASS_RULE_MAX];

        add_class(b, "all", "", "", "");
        add_class(b, "shells", "", "", "*sh");
        add_class(b, "ml", "alice bob*", "ml-*", "python*");
        add_class(b, "ops", "", "wheel 1000", "");
        add_class(b, "hers", "alice", "", "");

        assert_true(admits(b, "default", "carol", "x"));
        assert_true(admits(b, "all", "carol", "x"));
        assert_true(admits(b, "shells", "carol", "x"));
        assert_true(admits(b, "ml", "alice", "ml-vision"));
        assert_true(admits(b, "ml", "bobby", "ml-"));
        assert_false(admits(b, "ml", "alice", "ml"));
        assert_false(admits(b, "ml", "carol", "ml-vision"));
        assert_true(admits(b, "ops", "carol", "1000"));
        assert_false(admits(b, "ops", "carol", "wheels"));
        assert_true(admits(b, "hers", "alice", NULL));
        assert_false(admits(b, "hers", "Alice", NULL));
        assert_false(admits(b, "hers", "alic", "alice"));

        assert_rule(b, "ml", "carol", "x", "User=alice bob*");
        assert_rule(b, "ml", "alice", "x", "Group=ml-*");
        assert_rule(b, "ml", "alice", "ml-x", "");
        assert_rule(b, "ops", "carol", "x", "Group=wheel 1000");
        assert_rule(b, "all", NULL, NULL, "");
        memset(many, 'x', sizeof(many) - 1);
        many[sizeof(many) - 1] = '\0';
        add_class(b, "many", many, "", "");
        (void)snprintf(rule, sizeof(rule), "User=%.*s ...",
                       SG_CLASS_RULE_MAX - 1 - (int)strlen("User= ..."), many);
        assert_rule(b, "many", "carol", "x", rule);

        assert_true(sg_class_admits(sg_settings_class(b->s, "all"), NULL, NULL));
        assert_false(sg_class_admits(sg_settings_class(b->s, "hers"), NULL, NULL));
        assert_false(sg_class_admits(sg_settings_class(b->s, "ops"), "root", NULL));
}

/* Whether a user's number does, where nobody can tell the name. */
static void test_names_matter(void **state)
{
        struct both *b = *state;

        add_class(b, "ops", "", "wheel 1000", "");
        add_class(b, "shells", "", "", "*sh");
        assert_false(sg_settings_mind_names(b->s, ""));
        add_class(b, "hers", "alice", "", "");
        assert_true(sg_settings_mind_names(b->s, ""));
        assert_true(sg_settings_mind_names(b->s, "hers"));
        assert_false(sg_settings_mind_names(b->s, "ops"));
        assert_false(sg_settings_mind_names(b->s, "default"));
        assert_false(sg_settings_mind_names(b->s, "unheard of"));
}

static void test_long_command(void **state)
{
        struct both *b = *state;
        _cleanup_free_ char *command = malloc(1 << 20);

        assert_non_null(command);
        memset(command, 'a', (1 << 20) - 1);
        command[(1 << 20) - 1] = '\0';
        add_class(b, "slow", "", "", "*a*a*a*a*b");
        add_class(b, "quick", "", "", "a*");
        expect_class(b, "alice", "x", command, "quick");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_defaults, setup, teardown),
                cmocka_unit_test(test_host_names),
                cmocka_unit_test_setup_teardown(test_messages, setup, teardown),
                cmocka_unit_test_setup_teardown(test_share_defaults, setup, teardown),
                cmocka_unit_test_setup_teardown(test_intervals_fit, setup, teardown),
                cmocka_unit_test_setup_teardown(test_lists_add_up, setup, teardown),
                cmocka_unit_test_setup_teardown(test_devices_refused, setup, teardown),
                cmocka_unit_test_setup_teardown(test_class_needs_a_name, setup, teardown),
                cmocka_unit_test_setup_teardown(test_class_twice, setup, teardown),
                cmocka_unit_test_setup_teardown(test_default_class_replaced, setup, teardown),
                cmocka_unit_test_setup_teardown(test_maxima, setup, teardown),
                cmocka_unit_test_setup_teardown(test_matching, setup, teardown),
                cmocka_unit_test_setup_teardown(test_gpu_classes, setup, teardown),
                cmocka_unit_test_setup_teardown(test_gpu_classes_refused, setup, teardown),
                cmocka_unit_test_setup_teardown(test_words, setup, teardown),
                cmocka_unit_test_setup_teardown(test_admission, setup, teardown),
                cmocka_unit_test_setup_teardown(test_names_matter, setup, teardown),
                cmocka_unit_test_setup_teardown(test_long_command, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
