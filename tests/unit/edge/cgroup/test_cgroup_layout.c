/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where am I: the texts of kernels and containers that this machine is not. */

#include "edge/cgroup/fs.h"
#include "edge/cgroup/layout.h"
#include "tests/unit/edge/cgroup/fixture.h"

static struct sg_hierarchy h[SG_HIER_MAX];

static void parse(const char *groups, const char *mounts)
{
        sg_layout_deinit(h);
        assert_int_equal(sg_layout_parse(h, groups, mounts), 0);
}

static void test_v2_only(void **state)
{
        (void)state;
        parse("0::/user.slice/a\n",
              "25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
        assert_string_equal(h[SG_HIER_UNIFIED].own, "/sys/fs/cgroup/user.slice/a");
        assert_string_equal(h[SG_HIER_UNIFIED].own_cg, "/user.slice/a");
        assert_null(h[SG_HIER_CPU].own);
}

static void test_hybrid_with_comounted_controllers(void **state)
{
        (void)state;
        parse("4:memory:/m\n3:cpu,cpuacct:/\n2:name=systemd:/x\n1:blkio:/b\n0::/u\n",
              "31 1 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"
              "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "33 31 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
              "34 31 0:31 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"
              "35 31 0:32 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
        assert_string_equal(h[SG_HIER_CPU].own, "/sys/fs/cgroup/cpu,cpuacct");
        assert_string_equal(h[SG_HIER_CPU].own_cg, "");
        assert_int_equal(h[SG_HIER_CPUACCT].here, SG_HIER_CPU);
        assert_null(h[SG_HIER_CPUACCT].own);
        assert_string_equal(h[SG_HIER_MEMORY].own, "/sys/fs/cgroup/memory/m");
        assert_string_equal(h[SG_HIER_UNIFIED].own, "/sys/fs/cgroup/unified/u");
        assert_null(h[SG_HIER_BLKIO].own); /* not mounted */
}

static void test_container_without_namespace(void **state)
{
        (void)state;
        /* Docker on v1: the mount shows the container's group only. */
        parse("1:memory:/docker/abc/sub\n",
              "33 31 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
        assert_string_equal(h[SG_HIER_MEMORY].own, "/sys/fs/cgroup/memory/sub");
        assert_string_equal(h[SG_HIER_MEMORY].own_cg, "/docker/abc/sub");
        /* A neighbour's mount, and one that only begins alike. */
        parse("1:memory:/docker/abc\n",
              "33 31 0:30 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
        assert_null(h[SG_HIER_MEMORY].own);
}

static void test_namespace_without_own_mount(void **state)
{
        (void)state;
        parse("0::/\n", "25 1 0:22 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        assert_null(h[SG_HIER_UNIFIED].own);
        parse("0::/../other\n", "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        assert_null(h[SG_HIER_UNIFIED].own);
}

static void test_odd_lines(void **state)
{
        (void)state;
        parse("garbage\n\n0::/a:b\n", "nonsense\n25 1 0:22\n25 1 - \n"
                                      "25 1 0:22 / /mnt/with\\040blank rw - cgroup2 none rw\n");
        assert_string_equal(h[SG_HIER_UNIFIED].own, "/mnt/with blank/a:b");
}

static void test_lists_are_compared_by_word(void **state)
{
        (void)state;
        assert_true(sg_layout_list_has("cpu,cpuacct", "cpu"));
        assert_true(sg_layout_list_has("cpuacct,cpu", "cpu"));
        assert_false(sg_layout_list_has("cpuacct,cpuset", "cpu"));
        assert_int_equal(sg_layout_hier_of("name=systemd"), -ENOENT);
}

static void test_class_names_do_not_collide(void **state)
{
        char buf[SG_CLASS_NAME_MAX + 1];

        (void)state;
        assert_int_equal(sg_fs_class_name(buf, "train"), 0);
        assert_string_equal(buf, "train");
        assert_int_equal(sg_fs_class_name(buf, "daemon"), 0);
        assert_string_equal(buf, "_daemon");
        assert_int_equal(sg_fs_class_name(buf, "cpu.max"), 0);
        assert_string_equal(buf, "_cpu.max");
        assert_int_equal(sg_fs_class_name(buf, ".."), 0);
        assert_string_equal(buf, "_..");
        assert_int_equal(sg_fs_class_name(buf, "_daemon"), 0);
        assert_string_equal(buf, "__daemon");
        assert_int_equal(sg_fs_class_name(buf, "a/b"), -EINVAL);
        assert_int_equal(sg_fs_class_name(buf, ""), -EINVAL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_v2_only),
                cmocka_unit_test(test_hybrid_with_comounted_controllers),
                cmocka_unit_test(test_container_without_namespace),
                cmocka_unit_test(test_namespace_without_own_mount),
                cmocka_unit_test(test_odd_lines),
                cmocka_unit_test(test_lists_are_compared_by_word),
                cmocka_unit_test(test_class_names_do_not_collide),
        };
        int r = cmocka_run_group_tests(tests, NULL, NULL);

        sg_layout_deinit(h);
        return r;
}
