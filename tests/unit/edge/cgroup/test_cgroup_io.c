/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which disks there are, and bandwidths as the kernel holds them; how fast it then is, a guest's
 * test measures. */

#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/io.h"
#include "edge/cgroup/knob.h"
#include "test_cgroup_jobs.h"
#include <sys/stat.h>

#define MIB (UINT64_C(1) << 20)

static int setup(void **state)
{
        return fixture_setup_as(state, "cgroupfs");
}

static void put(const char *root, const char *name, const char *file, const char *text)
{
        char path[PATH_MAX];

        (void)snprintf(path, sizeof(path), "%s/%s", root, name);
        (void)mkdir(path, 0755);
        (void)snprintf(path, sizeof(path), "%s/%s/%s", root, name, file);
        assert_int_equal(text ? sg_write_file_atomic(AT_FDCWD, path, text, strlen(text), 0644)
                              : mkdir(path, 0755),
                         0);
}

static void test_disks_are_what_has_hardware(void **state)
{
        char root[] = "/tmp/test_cgroup_io.XXXXXX";
        struct sg_disk *disks = NULL;
        size_t n = 0;

        (void)state;
        assert_non_null(mkdtemp(root));
        put(root, "sdb", "dev", "8:16\n");
        put(root, "sdb", "device", NULL);
        put(root, "sda", "dev", "8:0\n");
        put(root, "sda", "device", NULL);
        put(root, "cciss!c0d0", "dev", "104:0\n");
        put(root, "cciss!c0d0", "device", NULL);
        put(root, "nvme0n1", "dev", "259:0\n");
        put(root, "nvme0n1", "device", NULL);
        put(root, "nvme0n1", "hidden", "0\n");
        put(root, "nvme0c0n1", "dev", "259:1\n"); /* a path to it */
        put(root, "nvme0c0n1", "device", NULL);
        put(root, "nvme0c0n1", "hidden", "1\n");
        put(root, "loop0", "dev", "7:0\n");
        put(root, "dm-0", "dev", "253:0\n");
        put(root, "sdz", "device", NULL); /* gone in between */
        assert_int_equal(sg_disks_find(root, &disks, &n), 0);
        assert_int_equal(n, 4);
        assert_string_equal(disks[0].node, "/dev/sda");
        assert_string_equal(disks[1].node, "/dev/sdb");
        assert_int_equal(disks[1].major, 8);
        assert_int_equal(disks[1].minor, 16);
        assert_string_equal(disks[2].node, "/dev/cciss/c0d0");
        assert_string_equal(disks[3].node, "/dev/nvme0n1");
        free(disks);
        assert_int_equal(sg_disks_find("/nonexistent", &disks, &n), -ENOENT);
        assert_int_equal(sg_remove_tree(AT_FDCWD, root), 0);
}

static void test_bandwidth(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        enum sg_hier h = sg_fs_hier_of(f->backend, SG_LIMIT_IO_READ);
        bool v2 = h == SG_HIER_UNIFIED;
        struct sg_scope *s;
        char job[PATH_MAX];
        pid_t pid;

        l.io_read_max = 10 * MIB;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        assert_int_equal(sg_fs_limit_group(s, h, true, job), 0);
        assert_true(sg_io_stands(job, v2, SG_LIMIT_IO_READ, 10 * MIB));
        assert_true(sg_io_stands(job, v2, SG_LIMIT_IO_WRITE, SG_UNLIMITED));
        assert_false(sg_io_stands(job, v2, SG_LIMIT_IO_READ, 11 * MIB));
        pid = spawn(f, s, true, idle, NULL);
        assert_int_equal(sg_scope_holds(s, pid, true), 1);
        l.io_read_max = 20 * MIB;
        l.io_write_max = MIB / 2;
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
        assert_true(sg_io_stands(job, v2, SG_LIMIT_IO_READ, 20 * MIB));
        assert_true(sg_io_stands(job, v2, SG_LIMIT_IO_WRITE, MIB / 2));
        l = limits();
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
        assert_true(sg_io_stands(job, v2, SG_LIMIT_IO_READ, SG_UNLIMITED));
        assert_true(sg_io_stands(job, v2, SG_LIMIT_IO_WRITE, SG_UNLIMITED));
        assert_int_equal(sg_scope_unenforced(s), 0);
}

static void expect_alone(const char *job, bool v2, const struct sg_knob *k, uint64_t value)
{
        for (size_t i = 0; i < sg_n_knobs; i++)
                if (sg_knobs[i].v2_key && !sg_io_stands(job, v2, sg_knobs[i].kind,
                                                        &sg_knobs[i] == k ? value : SG_UNLIMITED))
                        fail_msg("%s with %" PRIu64 " for %s",
                                 sg_limit_kind_to_string(sg_knobs[i].kind), value,
                                 sg_limit_kind_to_string(k->kind));
}

/* Whatever has a line for each disk is held on its own, and can be taken off. */
static void test_every_limit_of_disks(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope *s = scope(f, &l, 0);
        enum sg_hier h = sg_fs_hier_of(f->backend, SG_LIMIT_IO_READ);
        size_t n_seen = 0;
        char job[PATH_MAX];

        for (size_t i = 0; i < sg_n_knobs; i++) {
                const struct sg_knob *k = &sg_knobs[i];

                if (!k->v2_key)
                        continue;
                l = limits();
                *sg_knob_at(&l, k) = MIB;
                assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
                assert_int_equal(sg_scope_unenforced(s), 0);
                assert_int_equal(sg_fs_limit_group(s, h, true, job), 0);
                expect_alone(job, h == SG_HIER_UNIFIED, k, MIB);
                *sg_knob_at(&l, k) = k->most < SG_UNLIMITED ? k->most + 1 : SG_UNLIMITED;
                assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
                assert_int_equal(sg_scope_unenforced(s), 0);
                expect_alone(job, h == SG_HIER_UNIFIED, k, SG_UNLIMITED);
                n_seen++;
        }
        assert_true(n_seen >= 2);
}

/* v1: a job without it has no group in the hierarchy until it is limited. */
static void test_bandwidth_of_what_runs(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        enum sg_hier h = sg_fs_hier_of(f->backend, SG_LIMIT_IO_WRITE);
        struct sg_scope *s = scope(f, &l, 0);
        pid_t pid = spawn(f, s, true, idle, NULL);
        char job[PATH_MAX];

        if (h != SG_HIER_UNIFIED)
                assert_null(sg_scope_dir(s, h));
        l.io_write_max = MIB;
        assert_int_equal(sg_scope_set_limits(s, &l, NULL, NULL, NULL, &f->why), 0);
        assert_int_equal(sg_scope_unenforced(s), 0);
        assert_int_equal(sg_scope_holds(s, pid, true), 1);
        assert_int_equal(sg_fs_limit_group(s, h, true, job), 0);
        assert_true(sg_io_stands(job, h == SG_HIER_UNIFIED, SG_LIMIT_IO_WRITE, MIB));
}

static void test_observed(void **state)
{
        struct fixture *f = *state;
        const struct sg_device_list closed = {.closed = true}, open = {.closed = false};
        struct sg_limits l = limits();
        struct sg_scope *s;

        l.io_read_max = l.io_write_max = MIB;
        l.memory_swap_max = 0;
        s = scope(f, &l, 0);
        assert_int_equal(sg_scope_unenforced(s), sg_bit(SG_LIMIT_IO_READ) |
                                                         sg_bit(SG_LIMIT_IO_WRITE) |
                                                         sg_bit(SG_LIMIT_SWAP));
        assert_int_equal(sg_scope_set_devices(s, &closed, NULL), 0);
        assert_true(sg_scope_unenforced(s) & sg_bit(SG_LIMIT_DEVICES));
        assert_int_equal(sg_scope_set_devices(s, &open, NULL), 0);
        assert_false(sg_scope_unenforced(s) & sg_bit(SG_LIMIT_DEVICES));
}

static int setup_observe(void **state)
{
        return fixture_setup_as(state, "observe");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_disks_are_what_has_hardware),
                TEST(test_bandwidth),
                TEST(test_every_limit_of_disks),
                TEST(test_bandwidth_of_what_runs),
                cmocka_unit_test_setup_teardown(test_observed, setup_observe, fixture_teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
