/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVIDIA's driver, of several ages: every figure, and every one that it doesn't have. */

#include "edge/gpu/worker/nvml.h"
#include "tests/unit/edge/gpu/worker/fixture.h"

static const char everything[] =
        "[driver]\nVersion=5.5\nCuda=12.4\n"
        "[gpu 0]\nUuid=GPU-a\nName=NVIDIA A100-SXM4-80GB\nMemory=80G\nReserved=600M\nUsed=9G\n"
        "Minor=5\nBus=0000:3b:00.0\nNuma=1\nUtilization=97\nTemperature=61\nEnergy=123456789012\n"
        "Power=310,390,100,400,410\nThrottled=power thermal\nMode=exclusive\n"
        "Process=4100 2G\nProcess=77 none\nProcess=900 45M both\nProcess=55 10M graphics\n"
        "Process=60 1G mps\nSample=4100 96\n";

static void unknown_process(struct sg_gpu *g, uint64_t pid, uint64_t memory)
{
        g->processes[g->n_processes++] = (struct sg_gpu_process){pid, memory, SG_GPU_UNKNOWN,
                                                                 SG_GPU_UNKNOWN, SG_GPU_UNKNOWN};
}

/* All of it, as a driver that knows everything says it. */
static struct sg_gpu all_of_it(bool has_mps)
{
        struct sg_gpu g = {
                .uuid = "GPU-a",
                .name = "NVIDIA A100-SXM4-80GB",
                .vendor = "nvidia",
                .bus_id = "0000:3b:00.0",
                .index = 0,
                .minor = 5,
                .numa_node = 1,
                .exclusive = true,
                .memory_total = 80 * GB,
                .memory_used = 9 * GB,
                .memory_reserved = 600 * MB,
                .utilization = 97,
                .temperature = 61,
                .power_mw = 310000,
                .power_limit_mw = 390000,
                .power_default_mw = 400000,
                .power_min_mw = 100000,
                .power_max_mw = 410000,
                .energy_mj = 123456789012,
                .throttled_power = true,
                .throttled_thermal = true,
                .processes_known = true,
        };

        unknown_process(&g, 55, 10 * MB);
        if (has_mps)
                unknown_process(&g, 60, 1 * GB);
        unknown_process(&g, 77, SG_GPU_UNKNOWN);
        unknown_process(&g, 900, 45 * MB);
        unknown_process(&g, 4100, 2 * GB);
        g.processes[g.n_processes - 1].utilization = 96;
        return g;
}

static const struct variant {
        const char *name;
        bool mps, memory_v2, numa, mig;
} variants[] = {
        {"440", false, false, false, false}, {"470", true, false, false, true},
        {"510", true, true, false, true},    {"535.54", true, true, true, true},
        {"535.98", true, true, true, true},  {"current", true, true, true, true},
};

static void test_each_variant(void **state)
{
        (void)state;
        play(everything);
        for (size_t i = 0; i < SG_ELEMENTSOF(variants); i++) {
                const struct variant *v = &variants[i];
                struct sg_gpu want = all_of_it(v->mps);

                /* The older call counts what the driver keeps for itself as used. */
                if (!v->memory_v2) {
                        want.memory_used += want.memory_reserved;
                        want.memory_reserved = SG_GPU_UNKNOWN;
                }
                want.numa_node = v->numa ? want.numa_node : SG_GPU_UNKNOWN;
                begin(v->name);
                assert_int_equal(seen.state, SG_GPU_DRIVER_OK);
                assert_string_equal(seen.version, "5.5");
                assert_string_equal(seen.message, "");
                assert_int_equal(seen.cuda, 12040);
                assert_int_equal(seen.n, 1);
                expect_figures(&seen.gpus[0], &want, v->name);
        }
}

/* One GPU of which nothing is known but that it is there. */
static void test_no_figures(void **state)
{
        struct sg_gpu want = {
                .uuid = "GPU-a",
                .name = "B",
                .vendor = "nvidia",
                .bus_id = "0000:3b:00.0",
                .minor = SG_GPU_UNKNOWN,
                .numa_node = SG_GPU_UNKNOWN,
                .memory_total = SG_GPU_UNKNOWN,
                .memory_used = SG_GPU_UNKNOWN,
                .memory_reserved = SG_GPU_UNKNOWN,
                .utilization = SG_GPU_UNKNOWN,
                .temperature = SG_GPU_UNKNOWN,
                .power_mw = SG_GPU_UNKNOWN,
                .power_limit_mw = SG_GPU_UNKNOWN,
                .power_default_mw = SG_GPU_UNKNOWN,
                .power_min_mw = SG_GPU_UNKNOWN,
                .power_max_mw = SG_GPU_UNKNOWN,
                .energy_mj = SG_GPU_UNKNOWN,
                .processes_known = true,
        };

        (void)state;
        play("[driver]\n[gpu 0]\nUuid=GPU-a\nName=B\nBus=0000:3b:00.0\nMinor=none\n");
        for (size_t i = 0; i < SG_ELEMENTSOF(variants); i++) {
                begin(variants[i].name);
                assert_string_equal(seen.version, "");
                assert_int_equal(seen.cuda, SG_GPU_UNKNOWN);
                assert_int_equal(seen.n, 1);
                expect_figures(&seen.gpus[0], &want, variants[i].name);
        }
}

/* Lists of all lengths: entries of another size than thought give other pids from the second on. */
static void test_lists(void **state)
{
        static char text[80000];
        static const unsigned lengths[] = {0, 1, 2, 3, 4, 63, 64, 65, 200, 256};

        (void)state;
        for (size_t k = 0; k < SG_ELEMENTSOF(lengths); k++) {
                int n = snprintf(text, sizeof(text), "[driver]\n[gpu 0]\nMemory=80G\nDetails=no\n");

                for (unsigned i = 0; i < lengths[k]; i++)
                        n += snprintf(text + n, sizeof(text) - (size_t)n, "Process=%u %uM\n",
                                      1000 + i, i + 1);
                play(text);
                for (size_t v = 0; v < SG_ELEMENTSOF(variants); v++) {
                        const struct sg_gpu *g = &seen.gpus[0];

                        begin(variants[v].name);
                        if (g->n_processes != lengths[k] || !g->processes_known)
                                fail_msg("%s: %zu processes, not %u", variants[v].name,
                                         g->n_processes, lengths[k]);
                        for (unsigned i = 0; i < lengths[k]; i++)
                                if (g->processes[i].pid != 1000 + i ||
                                    g->processes[i].memory != (i + 1) * MB)
                                        fail_msg("%s: process %u of %u is another one",
                                                 variants[v].name, i, lengths[k]);
                }
        }
}

static void test_stride(void **state)
{
        unsigned char buf[10 * 32];

        (void)state;
        for (size_t stride = 16; stride <= 32; stride += 8)
                for (size_t n = 1; n <= 9; n++) {
                        memset(buf, 0xa5, sizeof(buf));
                        for (size_t i = 0; i < n; i++) /* without the padding behind a pid */
                                for (size_t k = 0; k < stride; k++)
                                        if (k < 4 || k >= 8)
                                                buf[i * stride + k] = k % 4 == 3 ? 0 : 0xa5;
                        if (sg_nvml_stride(buf, n) != stride)
                                fail_msg("%zu entries of %zu bytes: %zu", n, stride,
                                         sg_nvml_stride(buf, n));
                }
        memset(buf, 0xa5, sizeof(buf));
        assert_int_equal(sg_nvml_stride(buf, 3), 0); /* nothing was written, */
        memset(buf, 0, 3 * 20);
        assert_int_equal(sg_nvml_stride(buf, 3), 0); /* entries of another size, */
        memset(buf, 0, sizeof(buf));
        assert_int_equal(sg_nvml_stride(buf, 3), 0); /* all of it: it was cleared */
        assert_int_equal(sg_nvml_stride(buf, 0), 0);
}

/* --- samples of real boards */

static void expect_near(size_t a, size_t b, unsigned distance, unsigned links)
{
        const struct sg_gpu_near *near = &seen.gpus[a].near[b];

        if (near->distance != distance || near->links != links)
                fail_msg("GPU %zu to %zu: %u by %u links, not %u by %u", a, b, near->distance,
                         near->links, distance, links);
}

static void test_a100x4(void **state)
{
        static const unsigned minors[] = {0, 1, 3, 2};

        (void)state;
        play_sample("a100x4");
        begin("current");
        assert_int_equal(seen.n, 4);
        for (size_t a = 0; a < 4; a++) {
                assert_int_equal(seen.gpus[a].minor, minors[a]);
                assert_int_equal(seen.gpus[a].index, a);
                for (size_t b = 0; b < 4; b++)
                        if (a == b)
                                expect_near(a, b, 0, 0);
                        else if (a / 2 == b / 2)
                                expect_near(a, b, SG_GPU_LINKED, 12);
                        else
                                expect_near(a, b, SG_GPU_NODE, 0);
        }
        assert_true(seen.gpus[1].throttled_power);
        assert_false(seen.gpus[1].throttled_thermal);
}

static void test_h100x8(void **state)
{
        static const char *const profiles[] = {"1g.10gb", "1g.10gb", "1g.10gb", "4g.40gb"};
        const struct sg_gpu *g = &seen.gpus[7];

        (void)state;
        play_sample("h100x8");
        begin("current");
        assert_int_equal(seen.n, 8);
        for (size_t a = 0; a < 8; a++)
                for (size_t b = 0; b < 8; b++)
                        expect_near(a, b, a == b ? 0 : SG_GPU_LINKED, a == b ? 0 : 18);
        assert_true(g->mig);
        assert_int_equal(g->utilization, SG_GPU_UNKNOWN);
        assert_int_equal(g->n_instances, 4);
        for (size_t i = 0; i < 4; i++) {
                assert_string_equal(g->instances[i].profile, profiles[i]);
                assert_int_equal(g->instances[i].gpu_instance, 7 + i);
                assert_int_equal(g->instances[i].compute_instance, 0);
        }
        assert_int_equal(g->instances[0].memory_total, 9728 * MB);
        assert_int_equal(g->n_processes, 2);
        assert_int_equal(g->processes[1].pid, 5301);
        assert_int_equal(g->processes[1].gpu_instance, 10);
        assert_int_equal(g->processes[1].compute_instance, 0);
}

static void test_gb10(void **state)
{
        const struct sg_gpu *g = &seen.gpus[0];

        (void)state;
        play_sample("gb10");
        begin("current");
        assert_int_equal(seen.n, 1);
        assert_int_equal(g->memory_total, SG_GPU_UNKNOWN);
        assert_int_equal(g->memory_used, SG_GPU_UNKNOWN);
        assert_int_equal(g->memory_reserved, SG_GPU_UNKNOWN);
        assert_int_equal(g->power_mw, 11000);
        assert_int_equal(g->power_limit_mw, SG_GPU_UNKNOWN);
        assert_string_equal(g->bus_id, "000f:01:00.0");
        assert_int_equal(g->n_processes, 2);
        assert_int_equal(g->processes[0].memory, SG_GPU_UNKNOWN);
        assert_int_equal(g->processes[1].memory, 166 * MB);
}

/* Of a board that has no lists with details the older ones are read. */
static void test_t4(void **state)
{
        const struct sg_gpu *g = &seen.gpus[0];

        (void)state;
        play_sample("t4");
        begin("535.98");
        assert_int_equal(seen.n, 1);
        assert_true(g->processes_known);
        assert_int_equal(g->n_processes, 2);
        assert_int_equal(g->processes[0].pid, 901);
        assert_int_equal(g->processes[1].utilization, 12);
        assert_int_equal(seen.cuda, 11040);
}

/* Where names of instances don't say it, profiles follow from their memory and the board's. */
static void test_profiles(void **state)
{
        static const char *const profiles[] = {"1g.10gb", "2g.20gb", "3g.40gb"};

        (void)state;
        play("[driver]\n[gpu 0]\nMemory=81920M\nMigNames=no\nMig=1g.10gb\nMig=2g.20gb\n"
             "Mig=3g.40gb\n");
        begin("470");
        assert_int_equal(seen.gpus[0].n_instances, 3);
        for (size_t i = 0; i < 3; i++)
                assert_string_equal(seen.gpus[0].instances[i].profile, profiles[i]);
        begin("440"); /* which knows no instances */
        assert_false(seen.gpus[0].mig);
        assert_int_equal(seen.gpus[0].n_instances, 0);
}

static void test_distances(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\nBus=0000:01:00.0\nNear=1:switch\nNear=2:switches\nNear=3:host\n"
             "Near=4:node\n[gpu 1]\nBus=0000:02:00.0\n[gpu 2]\nBus=0000:03:00.0\n"
             "[gpu 3]\nBus=0000:04:00.0\n[gpu 4]\nBus=0000:05:00.0\nNear=5:system\n"
             "[gpu 5]\nBus=0000:06:00.0\n");
        begin("510");
        expect_near(0, 1, SG_GPU_SWITCH, 0);
        expect_near(0, 2, SG_GPU_SWITCHES, 0);
        expect_near(3, 0, SG_GPU_HOST, 0);
        expect_near(4, 0, SG_GPU_NODE, 0);
        expect_near(4, 5, SG_GPU_SYSTEM, 0);
        expect_near(1, 2, SG_GPU_SYSTEM, 0);
}

/* --- calls that take long */

/* What "current" is never asked, as it has a newer one or the script no need of it. */
static bool is_called(const char *function)
{
        return strcmp(function, "nvmlInit_v2") != 0 &&
               strcmp(function, "nvmlDeviceGetMemoryInfo") != 0 &&
               strcmp(function, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle") != 0;
}

/* Each call can be made to hang; and when it returns after all, nothing is different. */
static void test_each_call_hangs(void **state)
{
#define NAME(member, symbol, parameters) #symbol,
#define NO_NAME(member, symbol, parameters)
        static const char *const functions[] = {SG_NV_FUNCTIONS(NAME, NO_NAME)};
        static const char boards[] =
                "[gpu 0]\nUuid=GPU-a\nMemory=80G\nProcess=9 1G\nNear=1:nvswitch*2\nNear=2:host\n"
                "[gpu 1]\nUuid=GPU-b\nMemory=80G\n[gpu 2]\nUuid=GPU-c\nMemory=80G\nMig=1g.10gb\n";
        char text[600], line[120];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(functions); i++) {
                if (!is_called(functions[i]))
                        continue;
                (void)snprintf(text, sizeof(text),
                               "[driver]\nVersion=1\nCuda=12.4\nHang=0.001s@%s\n%s", functions[i],
                               boards);
                play(text);
                begin("current");
                assert_int_equal(sg_nvml_driver.wait(driver, 0), 0);
                assert_int_equal(seen.state, SG_GPU_DRIVER_OK);
                assert_int_equal(seen.n, 3);
                assert_int_equal(seen.gpus[0].n_processes, 1);
                assert_int_equal(seen.gpus[0].near[1].links, 2);
                assert_int_equal(seen.gpus[2].n_instances, 1);
                end();
                (void)snprintf(line, sizeof(line), "%s hangs", functions[i]);
                if (logged(line) == 0)
                        fail_msg("%s() wasn't called", functions[i]);
        }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        const struct CMUnitTest tests[] = {
                TEST(test_each_variant),
                TEST(test_no_figures),
                TEST(test_lists),
                cmocka_unit_test(test_stride),
                TEST(test_a100x4),
                TEST(test_h100x8),
                TEST(test_gb10),
                TEST(test_t4),
                TEST(test_profiles),
                TEST(test_distances),
                TEST(test_each_call_hangs),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
