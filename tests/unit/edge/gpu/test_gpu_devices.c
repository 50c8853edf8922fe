/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* On a root of our own, with a driver's files and graphics nodes in sysfs. */
#include "base/file.h"
#include "edge/gpu/devices.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
        char root[64];
        struct sg_gpu_devices d;
};

/* Its path, of which all but the last part is there. */
static void make_path(const struct fixture *f, const char *name, char path[256])
{
        (void)snprintf(path, 256, "%s/%s", f->root, name);
        *strrchr(path, '/') = '\0';
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
        path[strlen(path)] = '/';
}

static void put(const struct fixture *f, const char *name, const char *text)
{
        char path[256];

        make_path(f, name, path);
        assert_int_equal(sg_replace_file(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void link_to(const struct fixture *f, const char *name, const char *target)
{
        char path[256];

        make_path(f, name, path);
        assert_int_equal(symlink(target, path), 0);
}

/* As the kernel has it: the class holds links to what is below the device on the bus. Each device
 * has one node here. */
static void put_drm(const struct fixture *f, const char *bus, const char *driver, const char *name,
                    const char *numbers)
{
        char path[160], target[160];

        (void)snprintf(path, sizeof(path), "sys/devices/pci0/%s/drm/%s/dev", bus, name);
        put(f, path, numbers);
        (void)snprintf(path, sizeof(path), "sys/devices/pci0/%s/drm/%s/device", bus, name);
        (void)snprintf(target, sizeof(target), "../../../%s", bus);
        link_to(f, path, target);
        (void)snprintf(path, sizeof(path), "sys/devices/pci0/%s/driver", bus);
        (void)snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
        link_to(f, path, target);
        (void)snprintf(path, sizeof(path), "sys/class/drm/%s", name);
        (void)snprintf(target, sizeof(target), "../../devices/pci0/%s/drm/%s", bus, name);
        link_to(f, path, target);
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->root, "/tmp/test_gpu_devices.XXXXXX");
        assert_non_null(mkdtemp(f->root));
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_gpu_devices_deinit(&f->d);
        (void)sg_remove_tree(AT_FDCWD, f->root);
        free(f);
        return 0;
}

static void put_drivers(const struct fixture *f)
{
        put(f, "proc/devices",
            "Character devices:\n  1 mem\n195 nvidia\n226 drm\n\nBlock devices:\n  7 loop\n");
}

static void test_read(void **state)
{
        struct fixture *f = *state;

        put_drivers(f);
        put(f, "proc/driver/nvidia-caps/mig-minors", "config 1\ngpu0/gi0/access 3\n");
        put_drm(f, "0000:3b:00.0", "nvidia", "renderD128", "226:128\n");
        put_drm(f, "0000:03:00.0", "ast", "card0", "226:0\n");
        put(f, "sys/class/drm/version", "drm 1.1.0 20060810\n");
        put(f, "sys/class/drm/card0-HDMI-A-1/status", "disconnected\n"); /* has no number */
        assert_int_equal(sg_gpu_devices_read(&f->d, f->root), 0);
        assert_int_equal(f->d.n_drivers, 3);
        assert_int_equal(f->d.n_mig, 1);
        assert_int_equal(f->d.n_drm, 2);
        assert_string_equal(f->d.drm[0].name, "card0");
        assert_string_equal(f->d.drm[0].driver, "ast");
        assert_int_equal(f->d.drm[1].major, 226);
        assert_int_equal(f->d.drm[1].minor, 128);
        assert_string_equal(f->d.drm[1].name, "renderD128");
        assert_string_equal(f->d.drm[1].bus_id, "0000:3b:00.0");
        assert_string_equal(f->d.drm[1].driver, "nvidia");
}

/* A root without /proc has the kernel's own; without MIG there is no file of minors in either. */
static void test_what_is_not_below(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(sg_gpu_devices_read(&f->d, f->root), 0);
        assert_true(f->d.n_drivers > 0);
        assert_string_equal(f->d.drivers[0].name, "mem");
        if (access("/proc/driver/nvidia-caps", F_OK) < 0)
                assert_int_equal(f->d.n_mig, 0);
}

static void expect_untouched(struct fixture *f, int error)
{
        struct sg_gpu_devices d = {.n_drm = 77};

        assert_int_equal(sg_gpu_devices_read(&d, f->root), error);
        assert_int_equal(d.n_drm, 77);
        assert_null(d.drivers);
}

static void test_garbled(void **state)
{
        struct fixture *f = *state;

        put(f, "proc/devices", "Character devices:\n  1 mem\n");
        expect_untouched(f, -EBADMSG);
        put_drivers(f);
        put(f, "proc/driver/nvidia-caps/mig-minors", "gpu0/gi0/access\n");
        expect_untouched(f, -EBADMSG);
        put(f, "proc/driver/nvidia-caps/mig-minors", "");
        put_drm(f, "0000:3b:00.0", "nvidia", "renderD128", "226\n");
        expect_untouched(f, -EBADMSG);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_read),
                TEST(test_what_is_not_below),
                TEST(test_garbled),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
