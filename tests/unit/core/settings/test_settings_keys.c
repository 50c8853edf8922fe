/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of settings: what each key takes and refuses, and its default. */

#include "tests/unit/core/settings/test_settings.h"

static const struct sample {
        const char *section, *key, *good, *bad;
} samples[] = {
        {"Node", "Name", "node-1.lab", "-x"},
        {"Node", "ShowOthers", "no", "all"},
        {"Queue", "JobsPerCpu", "8", "0"},
        {"Queue", "MaxJobs", "12", "infinity"},
        {"Queue", "MaxQueuedPerUser", "infinity", "-1"},
        {"Queue", "MaxStoredPerUser", "64M", "1K"},
        {"Queue", "MemoryReserve", "12.5%", "91%"},
        {"Queue", "KillGrace", "1min", "infinity"},
        {"Gpu", "Manage", "no", "yes"},
        {"Gpu", "Exclude", "3 GPU-8f6e 0000:3b:00.0", NULL},
        {"Gpu", "IgnoreProcesses", "Xorg  gnome-shell", "a-name-that-is-too-long"},
        {"Gpu", "Timeout", "1min", "999ms"},
        {"Gpu", "Library", "/opt/libnvidia-ml.so.1", "libnvidia-ml.so.1"},
        {"Gpu", "DriverRoot", "/run/nvidia/driver", "driver"},
        {"Gpu", "JobMapping", "/run/dcgm", "dcgm"},
        {"Logs", "MaxSize", "1.5G", "1"},
        {"Logs", "Keep", "0", "101"},
        {"History", "KeepJobs", "1000", "0"},
        {"History", "KeepTime", "infinity", "0"},
        {"Store", "KeepCommands", "no", "some"},
        {"Monitor", "Interval", "250ms", "50ms"},
        {"Monitor", "MaxInterval", "1min", "2h"},
        {"Metrics", "TextFile", "/var/lib/prometheus/node-exporter", "metrics"},
        {"Metrics", "Listen", "[::1]:9750", "localhost:9750"},
        {"Metrics", "Interval", "1min", "0"},
        {"Match", "User", "alice bob*", NULL},
        {"Match", "Group", "ml-*", NULL},
        {"Match", "Command", "python* train.py", NULL},
        {"Match", "Gpu", "yes", "some"},
        {"Class", "Name", "best-effort_2", "tasks"},
        {"Class", "Weight", "10000", "10001"},
        {"Class", "MaxJobs", "1", "0"},
        {"Class", "MaxJobsPerUser", "3", "1.5"},
        {"Class", "MaxGpusPerUser", "2", "65"},
        {"Class", "Threads", "start", "elastic"},
        {"Class", "Unbuffered", "no", "maybe"},
        {"Limits", "CPUWeight", "1", "infinity"},
        {"Limits", "CPUQuota", "0.1%", "0.09%"},
        {"Limits", "CPUs", "2-8", "8-2"},
        {"Limits", "MemoryHigh", "1M", "1023K"},
        {"Limits", "MemoryMax", "4G", "four"},
        {"Limits", "MemorySwapMax", "0", "-1"},
        {"Limits", "TasksMax", "100", "0"},
        {"Limits", "IOWeight", "500", "0"},
        {"Limits", "IOReadBandwidthMax", "64K", "63K"},
        {"Limits", "IOWriteBandwidthMax", "10M", "10M/s"},
        {"Limits", "TimeLimit", "2h", "0"},
        {"Limits", "Gpus", "0.5", "0.04"},
        {"Limits", "GpuMemory", "20G", "1K"},
        {"Limits", "GpuIdleLimit", "2h end", "infinity end"},
        {"Limits", "MaxGpus", "0", "-1"},
        {"Limits", "MaxCPUWeight", "200", "0"},
        {"Limits", "MaxCPUQuota", "200%", "200"},
        {"Limits", "MaxCPUs", "8", "2-8"},
        {"Limits", "MaxMemoryHigh", "8G", "-8G"},
        {"Limits", "MaxMemoryMax", "8G", "8 apples"},
        {"Limits", "MaxMemorySwapMax", "8G", "some"},
        {"Limits", "MaxTasksMax", "1000", "x"},
        {"Limits", "MaxIOWeight", "1000", "x"},
        {"Limits", "MaxIOReadBandwidthMax", "100M", "0"},
        {"Limits", "MaxIOWriteBandwidthMax", "1G", "fast"},
        {"Limits", "MaxTimeLimit", "1d", "soon"},
        {"Limits", "DevicePolicy", "closed", "strict"},
        {"Limits", "DeviceAllow", "/dev/nvidia0 rw", "/dev/nvidia* rw"},
        {"Policy", "Share", "flowcon", "fastest"},
        {"Policy", "Objective", "quality", "speed"},
        {"Policy", "Order", "fifo", "none"},
        {"Policy", "Backfill", "no", "perhaps"},
        {"Growth", "Tick", "250ms", "2min"},
        {"Growth", "MaxInterval", "5min", "500ms"},
        {"Growth", "ProbeCpu", "500ms", "1d"},
        {"Growth", "NoHarm", "infinity", "0.05"},
        {"Growth", "Floor", "12.5%", "101%"},
        {"Growth", "Exponent", "0.75", "1.5"},
        {"FlowCon", "Alpha", "0.01", "nan"},
        {"FlowCon", "Interval", "30s", "0"},
        {"FlowCon", "Beta", "3.5", "2x"},
        {"FlowCon", "Mode", "hard", "firm"},
        {"FlowCon", "Literal", "yes", "often"},
        {"FlowCon", "Resource", "memory", "gpu"},
        {"Progress", "Preset", "keras", "file:x"},
        {"Progress", "Pattern", "err (?<loss>\\S+)", "err (\\S+)"},
        {"Progress", "File", "tensorboard:/runs/%j", NULL},
        {"Progress", "Journal", "no", "maybe"},
        {"Progress", "Goal", "max", "up"},
        {"Adopt", "Units", "libpod-*.scope", NULL},
        {"Adopt", "Cgroups", "/docker/* /kubepods.slice/**", "/a/**/b/**"},
        {"Adopt", "Limits", "yes", "perhaps"},
};

/* Of limits that aren't above: of their unit. */
static const struct sample unit_samples[_SG_UNIT_MAX] = {
        [SG_UNIT_WEIGHT] = {NULL, NULL, "500", "0"},
        [SG_UNIT_PERCENT] = {NULL, NULL, "50%", "50"},
        [SG_UNIT_BYTES] = {NULL, NULL, "1M", "1023K"},
        [SG_UNIT_SWAP] = {NULL, NULL, "0", "-1"},
        [SG_UNIT_RATE] = {NULL, NULL, "64K", "63K"},
        [SG_UNIT_COUNT] = {NULL, NULL, "1", "0"},
        [SG_UNIT_TIME] = {NULL, NULL, "1s", "999ms"},
};

static int assign(struct both *b, const struct sg_settings_key *k, const char *value, char **why)
{
        return strcmp(k->file, "policy") == 0
                       ? sg_settings_class_assign(b->c, k->section, k->key, value, why)
                       : sg_settings_assign(b->s, k->section, k->key, value, why);
}

static void object_copy(const struct both *b, struct sg_settings *s, struct sg_class *c)
{
        memcpy(s, b->s, sizeof(*s));
        memcpy(c, b->c, sizeof(*c));
}

static bool object_same(const struct both *b, const struct sg_settings *s, const struct sg_class *c)
{
        return memcmp(s, b->s, sizeof(*s)) == 0 && memcmp(c, b->c, sizeof(*c)) == 0;
}

static const struct sample *sample_of(const struct sg_settings_key *k, size_t *n_found)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(samples); i++)
                if (strcmp(samples[i].section, k->section) == 0 &&
                    strcmp(samples[i].key, k->key) == 0) {
                        ++*n_found;
                        return &samples[i];
                }
        return NULL;
}

/* That of a limit, "MemoryMax" or "MaxMemoryMax". */
static const struct sample *sample_of_limit(const struct sg_settings_key *k)
{
        for (size_t i = 0; i < sg_n_limits; i++) {
                const char *key = sg_limit_table[i].class_key;

                if (sg_limit_table[i].kind != SG_LIMIT_CPUSET &&
                    strcmp(k->section, "Limits") == 0 &&
                    (strcmp(k->key, key) == 0 ||
                     (strncmp(k->key, "Max", 3) == 0 && strcmp(k->key + 3, key) == 0)))
                        return &unit_samples[sg_limit_table[i].unit];
        }
        return NULL;
}

static void expect_key(struct both *b, const struct sg_settings_key *k, const struct sample *x)
{
        struct sg_settings s0, s1;
        struct sg_class c0, c1;
        char *why = NULL;

        object_copy(b, &s0, &c0);
        assert_int_equal(assign(b, k, x->good, &why), 0);
        assert_null(why);
        assert_false(object_same(b, &s0, &c0));
        object_copy(b, &s1, &c1);
        if (x->bad) {
                assert_int_equal(assign(b, k, x->bad, &why), -EINVAL);
                assert_non_null(strstr(why, k->wants));
                free(why);
                why = NULL;
                assert_true(object_same(b, &s1, &c1));
        }
        assert_int_equal(assign(b, k, "", &why), 0);
        assert_true(object_same(b, &s0, &c0));
        assert_int_equal(assign(b, k, k->fallback, &why), 0);
        assert_true(object_same(b, &s0, &c0));
}

static void test_every_key(void **state)
{
        struct both *b = *state;
        size_t n_found = 0;

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                const struct sample *x = sample_of(k, &n_found), *of_limit = sample_of_limit(k);

                if (!x && !of_limit)
                        fail_msg("no sample of [%s] %s=", k->section, k->key);
                if (x)
                        expect_key(b, k, x);
                if (of_limit)
                        expect_key(b, k, of_limit);
        }
        assert_int_equal(n_found, SG_ELEMENTSOF(samples));
}

/* What is shown of a value can be written again, and is the same then. */
static void test_share_format(void **state)
{
        struct both *b = *state;
        char shown[SG_FORMAT_MAX];
        unsigned n = 0;

        for (size_t i = 0; i < SG_ELEMENTSOF(samples); i++) {
                const struct sg_settings_key *k =
                        sg_settings_key_find("policy", samples[i].section, samples[i].key);
                struct sg_share_settings before;

                if (!k || !sg_settings_key_is_share(k)) {
                        assert_false(k && sg_settings_key_format(k, b->c, shown));
                        continue;
                }
                assert_true(sg_settings_key_format(k, b->c, shown));
                assert_string_equal(shown, k->fallback);
                set(b, k->section, k->key, samples[i].good);
                assert_true(sg_settings_key_format(k, b->c, shown));
                assert_string_equal(shown, samples[i].good);
                before = b->c->share;
                set(b, k->section, k->key, shown);
                assert_true(sg_share_settings_equal(&b->c->share, &before));
                n++;
        }
        assert_int_equal(n, 14);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_every_key, setup, teardown),
                cmocka_unit_test_setup_teardown(test_share_format, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
