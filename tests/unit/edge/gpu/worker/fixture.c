/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/edge/gpu/worker/fixture.h"
#include "base/file.h"
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>

struct sg_gpu_inventory seen;
struct sg_gpu_driver *driver;

static char dir[64], script[80];

int set_up(void **state)
{
        (void)state;
        (void)strcpy(dir, "/tmp/sg-gpu-XXXXXX");
        assert_non_null(mkdtemp(dir));
        (void)snprintf(script, sizeof(script), "%s/script", dir);
        assert_int_equal(setenv("SCHEDGOV_FAKE_GPU", script, 1), 0);
        seen.gpus = calloc(SG_GPUS_MAX, sizeof(*seen.gpus));
        assert_non_null(seen.gpus);
        return 0;
}

int tear_down(void **state)
{
        (void)state;
        end();
        free(TAKE_PTR(seen.gpus));
        return sg_remove_tree(AT_FDCWD, dir);
}

const char *directory(void)
{
        return dir;
}

void play(const char *text)
{
        /* by a rename: the driver never reads half of it */
        assert_int_equal(sg_replace_file(AT_FDCWD, script, text, strlen(text), 0644), 0);
}

void play_sample(const char *name)
{
        _cleanup_free_ char *text = NULL;
        char path[PATH_MAX];
        size_t size;

        (void)snprintf(path, sizeof(path), "tests/fakes/nvml/scripts/%s", name);
        assert_int_equal(sg_read_file(AT_FDCWD, path, 1 << 20, &text, &size), 0);
        play(text);
}

unsigned logged(const char *line)
{
        _cleanup_free_ char *text = NULL;
        char path[PATH_MAX];
        unsigned n = 0;
        size_t size;

        (void)snprintf(path, sizeof(path), "%s.log", script);
        if (sg_read_file(AT_FDCWD, path, 1 << 20, &text, &size) < 0)
                return 0;
        for (const char *p = text; (p = strstr(p, line)); p += strlen(line))
                n += (p == text || p[-1] == '\n') && p[strlen(line)] == '\n';
        return n;
}

/* Fakes are beside the tests: build/VARIANT/tests/fakes. */
const char *library(const char *variant)
{
        static char path[PATH_MAX];
        char self[PATH_MAX / 2];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        assert_true(n > 0);
        self[n] = '\0';
        *strstr(self, "/tests/unit/") = '\0';
        (void)snprintf(path, sizeof(path), "%s/tests/fakes/nvml/%s/libnvidia-ml.so.1", self,
                       variant);
        return path;
}

void begin(const char *variant)
{
        struct sg_gpu_order order = {.root = "/"};

        end();
        (void)snprintf(order.library, sizeof(order.library), "%s", library(variant));
        sg_gpu_begin(&seen);
        assert_int_equal(sg_nvml_driver.open(&driver, &order, &seen), 0);
        if (driver)
                look();
        else
                sg_gpu_tidy(&seen);
}

void look(void)
{
        sg_gpu_begin(&seen);
        assert_int_equal(sg_nvml_driver.look(driver, &seen), 0);
        sg_gpu_tidy(&seen);
        assert_true(sg_gpu_inventory_is_sound(&seen));
}

void end(void)
{
        sg_nvml_driver.close(TAKE_PTR(driver));
}

/* --- */

static void expect_u64(uint64_t got, uint64_t want, const char *what, const char *variant)
{
        if (got != want)
                fail_msg("%s: %s is %" PRIu64 ", not %" PRIu64, variant, what, got, want);
}

static void expect_text(const char *got, const char *want, const char *what, const char *variant)
{
        if (strcmp(got, want) != 0)
                fail_msg("%s: %s is %s, not %s", variant, what, got, want);
}

static void expect_processes(const struct sg_gpu *got, const struct sg_gpu *want,
                             const char *variant)
{
        expect_u64(got->processes_known, want->processes_known, "processes_known", variant);
        expect_u64(got->n_processes, want->n_processes, "n_processes", variant);
        for (size_t i = 0; i < want->n_processes; i++) {
                const struct sg_gpu_process *g = &got->processes[i], *w = &want->processes[i];

                expect_u64(g->pid, w->pid, "pid", variant);
                expect_u64(g->memory, w->memory, "its memory", variant);
                expect_u64(g->utilization, w->utilization, "its utilization", variant);
                expect_u64(g->gpu_instance, w->gpu_instance, "its gpu_instance", variant);
                expect_u64(g->compute_instance, w->compute_instance, "its compute_instance",
                           variant);
        }
}

static void expect_instances(const struct sg_gpu *got, const struct sg_gpu *want,
                             const char *variant)
{
        expect_u64(got->n_instances, want->n_instances, "n_instances", variant);
        for (size_t i = 0; i < want->n_instances; i++) {
                const struct sg_gpu_instance *g = &got->instances[i], *w = &want->instances[i];

                expect_text(g->uuid, w->uuid, "an instance's uuid", variant);
                expect_text(g->profile, w->profile, "its profile", variant);
                expect_u64(g->gpu_instance, w->gpu_instance, "its gpu_instance", variant);
                expect_u64(g->compute_instance, w->compute_instance, "its compute_instance",
                           variant);
                expect_u64(g->memory_total, w->memory_total, "its memory", variant);
        }
}

void expect_figures(const struct sg_gpu *got, const struct sg_gpu *want, const char *variant)
{
#define SAME(field) expect_u64(got->field, want->field, #field, variant)
        expect_text(got->uuid, want->uuid, "uuid", variant);
        expect_text(got->name, want->name, "name", variant);
        expect_text(got->vendor, want->vendor, "vendor", variant);
        expect_text(got->bus_id, want->bus_id, "bus_id", variant);
        SAME(index);
        SAME(minor);
        SAME(numa_node);
        SAME(lost);
        SAME(mig);
        SAME(exclusive);
        SAME(prohibited);
        SAME(memory_total);
        SAME(memory_used);
        SAME(memory_reserved);
        SAME(utilization);
        SAME(temperature);
        SAME(power_mw);
        SAME(power_limit_mw);
        SAME(power_default_mw);
        SAME(power_min_mw);
        SAME(power_max_mw);
        SAME(energy_mj);
        SAME(throttled_power);
        SAME(throttled_thermal);
#undef SAME
        expect_processes(got, want, variant);
        expect_instances(got, want, variant);
}
