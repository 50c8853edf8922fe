/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVIDIA's driver when it isn't there, fails, or says what can't be: figures are unknown rather
 * than wrong, and one line says what it is. */

#include "base/file.h"
#include "edge/gpu/worker/nvml.h"
#include "tests/unit/edge/gpu/worker/fixture.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static void expect_down(enum sg_gpu_driver_state state, const char *message)
{
        assert_null(driver);
        assert_int_equal(seen.state, state);
        if (!strstr(seen.message, message))
                fail_msg("%s, not %s", seen.message, message);
        assert_int_equal(seen.n, 0);
}

static void open_at(const char *library_path, const char *root)
{
        struct sg_gpu_order order = {0};

        end();
        (void)snprintf(order.library, sizeof(order.library), "%s", library_path);
        (void)snprintf(order.root, sizeof(order.root), "%s", root);
        sg_gpu_begin(&seen);
        assert_int_equal(sg_nvml_driver.open(&driver, &order, &seen), 0);
        if (driver)
                look();
        else
                sg_gpu_tidy(&seen);
}

/* One that we are linked with: the C library, wherever it is. */
static const char *another_library(void)
{
        Dl_info info;

        assert_int_not_equal(dladdr(dlsym(RTLD_DEFAULT, "getenv"), &info), 0);
        return info.dli_fname;
}

static void test_no_library(void **state)
{
        char path[PATH_MAX];

        (void)state;
        open_at("", directory());
        expect_down(SG_GPU_DRIVER_ABSENT, "there is no library libnvidia-ml.so.1 below /tmp/");
        open_at("/nonexistent/libnvidia-ml.so.1", "/");
        expect_down(SG_GPU_DRIVER_ABSENT, "there is no library /nonexistent/");
        (void)snprintf(path, sizeof(path), "%s/no-library", directory());
        assert_int_equal(sg_replace_file(AT_FDCWD, path, "x", 1, 0755), 0);
        open_at(path, "/");
        expect_down(SG_GPU_DRIVER_ERROR, "no-library");
        open_at(another_library(), "/");
        expect_down(SG_GPU_DRIVER_ERROR, "has no nvmlInit()");
}

/* A driver in a container has all of its files below one directory. */
static void test_driver_root(void **state)
{
        static const char *const below[] = {"usr/lib64", "lib"};
        char path[PATH_MAX], link[2 * PATH_MAX];

        (void)state;
        play("[driver]\nVersion=1\n[gpu 0]\nUuid=GPU-a\n");
        for (size_t i = 0; i < SG_ELEMENTSOF(below); i++) {
                (void)snprintf(path, sizeof(path), "%s/root/%s", directory(), below[i]);
                assert_int_equal(sg_mkdir_p(path, 0755), 0);
                (void)snprintf(link, sizeof(link), "%s/libnvidia-ml.so.1", path);
                assert_int_equal(symlink(library("current"), link), 0);
                (void)snprintf(path, sizeof(path), "%s/root", directory());
                open_at("", path);
                assert_non_null(driver);
                assert_int_equal(seen.n, 1);
                end();
                assert_int_equal(unlink(link), 0);
        }
}

/* Nodes that aren't there are made by NVIDIA's tool, for each GPU's minor. */
static void test_nodes(void **state)
{
        char path[PATH_MAX], tool[2 * PATH_MAX];
        _cleanup_free_ char *calls = NULL;
        size_t size;

        (void)state;
        play("[driver]\n[gpu 0]\nUuid=GPU-a\nMinor=3\n[gpu 1]\nUuid=GPU-b\nMinor=0\n");
        (void)snprintf(path, sizeof(path), "%s/root/usr/bin", directory());
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
        (void)snprintf(path, sizeof(path), "%s/root/dev", directory());
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
        (void)snprintf(tool, sizeof(tool),
                       "#!/bin/sh\ncd %s && echo \"$@\" >>../calls && touch nvidiactl nvidia-uvm "
                       "nvidia$3\n",
                       path);
        (void)snprintf(path, sizeof(path), "%s/root/usr/bin/nvidia-modprobe", directory());
        assert_int_equal(sg_replace_file(AT_FDCWD, path, tool, strlen(tool), 0755), 0);
        (void)snprintf(path, sizeof(path), "%s/root", directory());
        open_at(library("current"), path);
        look();
        (void)snprintf(path, sizeof(path), "%s/root/calls", directory());
        assert_int_equal(sg_read_file(AT_FDCWD, path, 1000, &calls, &size), 0);
        assert_string_equal(calls, "-u -c 0\n-u -c 3\n");
}

static void test_init(void **state)
{
        (void)state;
        play("[driver]\nInit=NOT_LOADED\n");
        begin("current");
        expect_down(SG_GPU_DRIVER_ABSENT, "the driver's module isn't loaded");
        play("[driver]\nInit=MISMATCH\n");
        begin("current");
        expect_down(SG_GPU_DRIVER_MISMATCH, "of different versions");
        play("[driver]\nInit=999\n");
        begin("current");
        expect_down(SG_GPU_DRIVER_ERROR, "Unknown Error (999)");
        assert_int_equal(logged("nvmlInitWithFlags"), 0);
}

static void test_no_gpus(void **state)
{
        (void)state;
        play("[driver]\nVersion=1\n");
        begin("current");
        assert_int_equal(seen.state, SG_GPU_DRIVER_OK);
        assert_int_equal(seen.n, 0);
}

static void test_shutdown(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\n");
        begin("440");
        assert_int_equal(logged("nvmlInitWithFlags"), 1);
        assert_int_equal(logged("nvmlShutdown"), 0);
        end();
        assert_int_equal(logged("nvmlShutdown"), 1);
}

/* --- GPUs that come and go */

static const struct sg_gpu *find(const char *uuid)
{
        for (size_t i = 0; i < seen.n; i++)
                if (strcmp(seen.gpus[i].uuid, uuid) == 0)
                        return &seen.gpus[i];
        fail_msg("%s isn't there", uuid);
        return NULL;
}

static void expect_lost(const char *uuid)
{
        const struct sg_gpu *g = find(uuid);

        assert_true(g->lost);
        assert_int_equal(g->memory_used, SG_GPU_UNKNOWN);
        assert_int_equal(g->memory_total, SG_GPU_UNKNOWN);
        assert_int_equal(g->utilization, SG_GPU_UNKNOWN);
        assert_false(g->processes_known);
        assert_int_equal(g->n_processes, 0);
}

#define A "Uuid=GPU-a\nName=One\nBus=0000:3b:00.0\nMinor=4\nMemory=80G\nProcess=7 1G\n"
#define B "Uuid=GPU-b\nName=Two\nBus=0000:3c:00.0\nMinor=5\nMemory=40G\nNear=0:nvlink*4\n"

static void test_lost(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\n" A "[gpu 1]\n" B);
        begin("current");
        assert_int_equal(find("GPU-a")->near[1].distance, SG_GPU_LINKED);
        play("[driver]\n[gpu 0]\n" A "Lost=yes\n[gpu 1]\n" B); /* its index doesn't answer, */
        look();
        assert_int_equal(seen.n, 2);
        expect_lost("GPU-a");
        assert_string_equal(find("GPU-a")->name, "One");
        assert_string_equal(find("GPU-a")->bus_id, "0000:3b:00.0");
        assert_int_equal(find("GPU-a")->minor, 4);
        assert_int_equal(find("GPU-a")->index, SG_GPU_UNKNOWN);
        assert_string_equal(seen.message, "the GPU at index 0 doesn't answer: GPU is lost (15)");
        assert_int_equal(find("GPU-b")->memory_total, 40 * GB);
        assert_false(find("GPU-b")->lost);
        play("[driver]\n[gpu 0]\n" A "Lost=calls\n[gpu 1]\n" B); /* or all else, */
        look();
        expect_lost("GPU-a");
        play("[driver]\n[gpu 0]\n" B); /* or it isn't counted any more, */
        look();
        expect_lost("GPU-a");
        assert_int_equal(find("GPU-b")->index, 0);
        play("[driver]\n[gpu 0]\n" B "[gpu 1]\n" A); /* and is back, but not where it was. */
        look();
        assert_int_equal(seen.n, 2);
        assert_false(find("GPU-a")->lost);
        assert_int_equal(find("GPU-a")->index, 1);
        assert_int_equal(find("GPU-a")->memory_used, 1 * GB);
        assert_string_equal(seen.message, "");
}

static void test_lost_from_the_beginning(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\n" A "Lost=yes\n[gpu 1]\n" B);
        begin("440");
        assert_int_equal(seen.n, 1);
        assert_string_equal(seen.message, "the GPU at index 0 doesn't answer: GPU is lost (15)");
}

static void test_namesakes(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\n" A "[gpu 1]\nUuid=GPU-a\nBus=0000:9c:00.0\nMemory=8G\n"
             "[gpu 2]\nUuid=GPU-c\nBus=0000:9d:00.0\nMemory=8G\n");
        begin("current");
        assert_int_equal(seen.n, 2);
        expect_lost("GPU-a");
        assert_string_equal(seen.message, "two GPUs call themselves GPU-a");
        assert_false(find("GPU-c")->lost);
        look();
        expect_lost("GPU-a");
}

static void test_too_many(void **state)
{
        static char text[20000];
        int n = snprintf(text, sizeof(text), "[driver]\n");

        (void)state;
        for (unsigned i = 0; i < 70; i++)
                n += snprintf(text + n, sizeof(text) - (size_t)n,
                              "[gpu %u]\nUuid=GPU-%02u\nBus=0000:%02x:00.0\n", i, i, i + 1);
        play(text);
        begin("current");
        assert_int_equal(seen.n, SG_GPUS_MAX);
        assert_string_equal(seen.message, "there are more than 64 GPUs");
}

/* --- figures that can't be */

static void test_memory(void **state)
{
        static const struct {
                const char *keys;
                uint64_t total, used;
        } rows[] = {
                {"Memory=18446744073709551615\nUsed=5", SG_GPU_UNKNOWN, SG_GPU_UNKNOWN},
                {"Memory=0\nUsed=0", SG_GPU_UNKNOWN, SG_GPU_UNKNOWN},
                {"Memory=8G\nUsed=18446744073709551615", 8 * GB, SG_GPU_UNKNOWN},
                {"Memory=8G\nUsed=9G", 8 * GB, SG_GPU_UNKNOWN},
                {"Memory=8G\nUsed=8G", 8 * GB, 8 * GB},
                {"Memory=8G\nUsed=0", 8 * GB, 0},
        };
        char text[200];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(rows); i++)
                for (int old = 0; old < 2; old++) {
                        (void)snprintf(text, sizeof(text), "[driver]\n[gpu 0]\n%s\n", rows[i].keys);
                        play(text);
                        begin(old ? "470" : "current");
                        if (seen.gpus[0].memory_total != rows[i].total ||
                            seen.gpus[0].memory_used != rows[i].used)
                                fail_msg("%s", rows[i].keys);
                }
}

static void test_utilization(void **state)
{
        static const struct {
                const char *said;
                uint64_t want;
        } rows[] = {{"none", SG_GPU_UNKNOWN},
                    {"4294967295", SG_GPU_UNKNOWN},
                    {"137", SG_GPU_UNKNOWN},
                    {"101", SG_GPU_UNKNOWN},
                    {"100", 100},
                    {"0", 0}};
        char text[200];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(rows); i++) {
                (void)snprintf(text, sizeof(text),
                               "[driver]\n[gpu 0]\nUtilization=%s\nProcess=9 1G\nSample=9 %s\n",
                               rows[i].said, rows[i].said);
                play(text);
                begin("current");
                if (seen.gpus[0].utilization != rows[i].want)
                        fail_msg("the GPU's utilization of %s", rows[i].said);
                if (i > 0 && seen.gpus[0].processes[0].utilization != rows[i].want)
                        fail_msg("a process's utilization of %s", rows[i].said);
        }
        /* Of a GPU with instances it is never known, whatever the driver says. */
        play("[driver]\n[gpu 0]\nMemory=80G\nUtilization=5\nMig=1g.10gb\n");
        begin("current");
        assert_int_equal(seen.gpus[0].utilization, SG_GPU_UNKNOWN);
}

/* --- processes that can't be */

static void test_processes(void **state)
{
        const struct sg_gpu *g = &seen.gpus[0];

        (void)state;
        play("[driver]\n[gpu 0]\nMemory=80G\nProcess=0 1G\nProcess=0 2G\nProcess=9 1G\n"
             "Process=9 3G\nProcess=9 none\nProcess=4294967295 1G\nProcess=8 18446744073709551615\n"
             "Process=7 1G 3 0\nProcess=7 2G 4 0\n");
        begin("current");
        assert_true(g->processes_known);
        assert_int_equal(g->n_processes, 4);
        assert_int_equal(g->processes[0].pid, 7);
        assert_int_equal(g->processes[0].gpu_instance, 3);
        assert_int_equal(g->processes[0].memory, 1 * GB);
        assert_int_equal(g->processes[1].gpu_instance, 4);
        assert_int_equal(g->processes[2].pid, 8);
        assert_int_equal(g->processes[2].memory, SG_GPU_UNKNOWN);
        assert_int_equal(g->processes[3].pid, 9);
        assert_int_equal(g->processes[3].memory, 3 * GB);
}

static void test_list_that_grows(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\nMemory=80G\nUsed=3G\nProcess=9 1G\nGrows=yes\n");
        for (int i = 0; i < 2; i++) {
                begin(i == 0 ? "current" : "470");
                assert_false(seen.gpus[0].processes_known);
                assert_int_equal(seen.gpus[0].n_processes, 0);
                assert_int_equal(seen.gpus[0].memory_used, 3 * GB);
        }
        play("[driver]\n[gpu 0]\nMemory=80G\nProcess=9 1G\n");
        look();
        assert_true(seen.gpus[0].processes_known);
        assert_int_equal(seen.gpus[0].n_processes, 1);
}

static void test_more_processes_than_are_kept(void **state)
{
        static char text[20000];
        int n = snprintf(text, sizeof(text), "[driver]\n[gpu 0]\nMemory=80G\n");

        (void)state;
        for (unsigned i = 0; i < 400; i++)
                n += snprintf(text + n, sizeof(text) - (size_t)n, "Process=%u 1M\n", i + 1);
        play(text);
        begin("510");
        assert_true(seen.gpus[0].processes_known);
        assert_int_equal(seen.gpus[0].n_processes, SG_GPU_PROCESSES_MAX);
        assert_int_equal(seen.gpus[0].memory_used, 400 * MB);
}

/* --- text */

static void test_text_without_end(void **state)
{
        char text[2000], x[301];

        (void)state;
        memset(x, 'x', 300);
        x[300] = '\0';
        (void)snprintf(text, sizeof(text), "[driver]\nVersion=%s\n[gpu 0]\nUuid=GPU-a\nName=%s\n",
                       x, x);
        play(text);
        begin("current");
        assert_int_equal(strlen(seen.version), sizeof(seen.version) - 1);
        assert_int_equal(strlen(seen.gpus[0].name), SG_GPU_TEXT_MAX - 1);
        (void)snprintf(text, sizeof(text),
                       "[driver]\n[gpu 0]\nUuid=GPU-%s\nMig=1g.10gb*2\n[gpu 1]\nUuid=GPU-b\n"
                       "Name=caf\xe9 \x1b[31m\n",
                       x);
        play(text);
        begin("current"); /* whose instances can't be told apart, then */
        assert_int_equal(seen.n, 2);
        assert_int_equal(seen.gpus[0].n_instances, 0);
        assert_string_equal(find("GPU-b")->name, "caf? ?[31m");
}

static void test_uuid_that_is_none(void **state)
{
        (void)state;
        play("[driver]\n[gpu 0]\nUuid=GPU-a,GPU-b\n[gpu 1]\nUuid=GPU-c\n");
        begin("current");
        assert_int_equal(seen.n, 1);
        assert_string_equal(seen.gpus[0].uuid, "GPU-c");
        assert_string_equal(seen.message, "the GPU at index 0 has no UUID");
}

/* --- events */

static void test_events(void **state)
{
        (void)state;
        for (int i = 0; i < 2; i++) {
                play("[driver]\n[gpu 0]\nUuid=GPU-a\n[gpu 1]\nUuid=GPU-b\n");
                begin(i == 0 ? "current" : "440");
                assert_int_equal(sg_nvml_driver.wait(driver, 0), 0);
                play("[driver]\n[gpu 0]\nUuid=GPU-a\nEvent=xid:79\n"
                     "[gpu 1]\nUuid=GPU-b\nEvent=ecc\nEvent=mig\nEvent=xid:999\n");
                assert_int_equal(sg_nvml_driver.wait(driver, 10000), 1);
                look();
                assert_int_equal(seen.n_events, 4);
                assert_int_equal(seen.n_events_lost, 0);
                assert_int_equal(seen.events[0].type, SG_GPU_EVENT_XID);
                assert_int_equal(seen.events[0].data, 79);
                assert_string_equal(seen.events[0].uuid, "GPU-a");
                assert_int_equal(seen.events[1].type, SG_GPU_EVENT_ECC);
                assert_string_equal(seen.events[1].uuid, "GPU-b");
                assert_int_equal(seen.events[2].type, SG_GPU_EVENT_MIG);
                assert_int_equal(seen.events[3].data, SG_GPU_UNKNOWN);
                look();
                assert_int_equal(seen.n_events, 0);
        }
}

/* By the thousand: some are told, the others counted, and none of it takes for ever. */
static void test_many_events(void **state)
{
        uint64_t n = 0;

        (void)state;
        play("[driver]\n[gpu 0]\nUuid=GPU-a\n");
        begin("current");
        play("[driver]\n[gpu 0]\nUuid=GPU-a\nEvent=xid:31*5000\n");
        assert_int_equal(sg_nvml_driver.wait(driver, 10000), 1);
        look();
        assert_int_equal(seen.n_events, SG_GPU_EVENTS_MAX);
        assert_in_range(seen.n_events_lost, 1, 2000);
        for (int i = 0; i < 10; i++) {
                n += seen.n_events + seen.n_events_lost;
                look();
        }
        assert_int_equal(n, 5000);
        assert_int_equal(seen.n_events, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        const struct CMUnitTest tests[] = {
                TEST(test_no_library),
                TEST(test_driver_root),
                TEST(test_nodes),
                TEST(test_init),
                TEST(test_no_gpus),
                TEST(test_shutdown),
                TEST(test_lost),
                TEST(test_lost_from_the_beginning),
                TEST(test_namesakes),
                TEST(test_too_many),
                TEST(test_memory),
                TEST(test_utilization),
                TEST(test_processes),
                TEST(test_list_that_grows),
                TEST(test_more_processes_than_are_kept),
                TEST(test_text_without_end),
                TEST(test_uuid_that_is_none),
                TEST(test_events),
                TEST(test_many_events),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
