/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GPUs' nodes, which a job has only if it was granted them: by real opens. No driver has these
 * numbers here, so that ENXIO is what a node says that was let through, and EPERM what it says
 * else.
 */

#include "core/gpu/nodes.h"
#include "edge/cgroup/bpf/bpf.h"
#include "edge/cgroup/group.h"
#include "test_cgroup_v1.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FUSE "/dev/fuse" /* stands for all that is no GPU's */

enum node { GPU0, GPU1, CTL, UVM, CAP3, CAP4, RENDER0, RENDER1, OTHER_CARD, N_NODES };

struct nodes {
        char dir[32];
        char path[N_NODES][64];
        struct sg_gpu gpus[2];
        struct sg_gpu_inventory inventory;
        struct sg_gpu_devices devices;
        struct sg_device_list class, devices_of_job;
};

static const struct sg_drm_node graphics[] = {
        {226, 0, "card0", "0000:03:00.0", "ast"},
        {226, 128, "renderD128", "0000:3b:00.0", "nvidia"},
        {226, 129, "renderD129", "0000:86:00.0", "nvidia"},
};

static const char mig_minors[] = "config 1\nmonitor 2\ngpu1/gi0/access 3\ngpu1/gi0/ci0/access 4\n";

/* As the kernel says it now, with a driver's lines. */
static void take_drivers(struct nodes *n, int uvm)
{
        _cleanup_free_ char *ours = NULL, *text = NULL;
        size_t size;

        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/devices", 65536, &ours, &size), 0);
        assert_true(asprintf(&text,
                             "Character devices:\n195 nvidia\n%3d nvidia-uvm\n239 nvidia-caps\n"
                             "226 drm\n%s",
                             uvm, strchr(ours, '\n') + 1) > 0);
        assert_int_equal(sg_gpu_devices_take_drivers(&n->devices, text, strlen(text)), 0);
}

static void look(struct nodes *n)
{
        struct sg_device_guard *guard;

        assert_in_range(sg_gpu_guard(&guard, &n->devices, &n->inventory, n->class.guard), 0, 1);
        sg_device_guard_unref(n->class.guard);
        n->class.guard = guard;
}

static void make(struct nodes *n, enum node node, unsigned major, unsigned minor)
{
        char path[sizeof(n->path[node])];

        (void)snprintf(path, sizeof(path), "%s/%u:%u", n->dir, major, minor);
        assert_int_equal(mknod(path, S_IFCHR | 0600, makedev(major, minor)), 0);
        memcpy(n->path[node], path, sizeof(path));
}

static void begin(struct nodes *n)
{
        *n = (struct nodes){
                .dir = "/tmp/test_cgroup_guard.XXXXXX",
                .gpus = {
                        {.uuid = "GPU-0", .vendor = "nvidia", .bus_id = "0000:3b:00.0", .minor = 0},
                        {.uuid = "GPU-1",
                         .vendor = "nvidia",
                         .bus_id = "0000:86:00.0",
                         .minor = 1,
                         .n_instances = 1,
                         .instances = {{.uuid = "MIG-1"}}}}};
        assert_non_null(mkdtemp(n->dir));
        n->inventory = (struct sg_gpu_inventory){.n = 2, .gpus = n->gpus};
        n->devices.drm = calloc(1, sizeof(graphics));
        assert_non_null(n->devices.drm);
        memcpy(n->devices.drm, graphics, sizeof(graphics));
        n->devices.n_drm = SG_ELEMENTSOF(graphics);
        take_drivers(n, 240);
        assert_int_equal(sg_gpu_devices_take_mig(&n->devices, mig_minors, sizeof(mig_minors) - 1),
                         0);
        look(n);
        make(n, GPU0, 195, 0);
        make(n, GPU1, 195, 1);
        make(n, CTL, 195, 255);
        make(n, UVM, 240, 0);
        make(n, CAP3, 239, 3);
        make(n, CAP4, 239, 4);
        make(n, RENDER0, 226, 128);
        make(n, RENDER1, 226, 129);
        make(n, OTHER_CARD, 226, 0);
}

static void end(struct nodes *n)
{
        sg_device_list_deinit(&n->class);
        sg_device_list_deinit(&n->devices_of_job);
        sg_gpu_devices_deinit(&n->devices);
        (void)sg_remove_tree(AT_FDCWD, n->dir);
}

static const struct sg_device_list *devices_of(struct nodes *n, const char *uuids)
{
        sg_device_list_deinit(&n->devices_of_job);
        assert_int_equal(sg_gpu_job_devices(&n->devices_of_job, &n->class, &n->devices,
                                            &n->inventory, uuids),
                         0);
        return &n->devices_of_job;
}

static struct sg_scope *scope_of(struct fixture *f, struct nodes *n, size_t which,
                                 const char *uuids)
{
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, which);
        struct sg_scope *s;

        req.devices = *devices_of(n, uuids);
        s = scope_with(f, &req);
        assert_int_equal(sg_scope_unenforced(s), 0);
        return s;
}

/* opens: a bit for each node. */
static void expect(struct fixture *f, struct sg_scope *s, const struct nodes *n, unsigned opens)
{
        for (enum node i = 0; i < N_NODES; i++) {
                int got = run(f, s, true, open_node, n->path[i]);

                if (got != (opens & 1U << i ? ENXIO : EPERM))
                        fail_msg("%s: %s", n->path[i], strerror(got));
        }
        assert_int_equal(run(f, s, true, open_node, "/dev/null"), 0);
        assert_int_equal(run(f, s, true, open_node, "/dev/kmsg"), 0);
        assert_int_equal(run(f, s, true, open_node, FUSE), open_node((void *)FUSE));
}

#define BIT(node) (1U << (node))
#define NONE BIT(OTHER_CARD)
#define SHARED (NONE | BIT(CTL) | BIT(UVM))

static void test_at_start(void **state)
{
        struct fixture *f = *state;
        struct nodes n;

        begin(&n);
        expect(f, scope_of(f, &n, 0, NULL), &n, NONE);
        expect(f, scope_of(f, &n, 1, "GPU-0"), &n, SHARED | BIT(GPU0) | BIT(RENDER0));
        expect(f, scope_of(f, &n, 2, "MIG-1"), &n, SHARED | BIT(GPU1) | BIT(CAP3) | BIT(CAP4));
        end(&n);
}

/* The set changes, the numbers change, and all is opened in the end. */
static void test_changes(void **state)
{
        const struct sg_device_list open = {0};
        struct fixture *f = *state;
        struct sg_scope *s;
        struct nodes n;

        begin(&n);
        s = scope_of(f, &n, 0, "GPU-0");
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, "GPU-1"), &f->why), 0);
        expect(f, s, &n, SHARED | BIT(GPU1) | BIT(RENDER1));
        take_drivers(&n, 238); /* the node's number is nobody's now, and stays closed */
        look(&n);
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, "GPU-1"), &f->why), 0);
        expect(f, s, &n, NONE | BIT(CTL) | BIT(GPU1) | BIT(RENDER1));
        make(&n, UVM, 238, 0);
        expect(f, s, &n, SHARED | BIT(GPU1) | BIT(RENDER1));
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, NULL), &f->why), 0);
        expect(f, s, &n, NONE);
        assert_int_equal(sg_scope_set_devices(s, &open, &f->why), 0);
        expect(f, s, &n, BIT(N_NODES) - 1);
        end(&n);
}

/* Between closed, guarded and open: each in the place of each other. */
static void test_kinds(void **state)
{
        const struct sg_device_list closed = {.closed = true}, open = {0};
        struct fixture *f = *state;
        struct sg_scope *s;
        struct nodes n;

        begin(&n);
        s = scope_of(f, &n, 0, "GPU-0");
        assert_int_equal(sg_scope_set_devices(s, &closed, &f->why), 0);
        assert_int_equal(run(f, s, true, open_node, n.path[GPU0]), EPERM);
        assert_int_equal(run(f, s, true, open_node, "/dev/kmsg"), EPERM);
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, "GPU-0"), &f->why), 0);
        expect(f, s, &n, SHARED | BIT(GPU0) | BIT(RENDER0));
        assert_int_equal(sg_scope_set_devices(s, &open, &f->why), 0);
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, NULL), &f->why), 0);
        expect(f, s, &n, NONE);
        end(&n);
}

static uint32_t program_of(const struct sg_scope *s)
{
        _cleanup_close_ int dir = -1;
        uint32_t ids[SG_BPF_ATTACHED_MAX];
        char group[PATH_MAX];
        size_t n;

        assert_int_equal(sg_group_join(group, sg_scope_dir(s, SG_HIER_UNIFIED), "job"), 0);
        dir = open(group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(dir >= 0);
        assert_int_equal(sg_bpf_query(dir, BPF_CGROUP_DEVICE, ids, &n), 0);
        assert_int_equal(n, 1);
        return ids[0];
}

/* A module that comes concerns all jobs, of which there may be thousands, and none of their
 * programs. */
static void test_program_stays(void **state)
{
        struct fixture *f = *state;
        struct sg_device_guard *before;
        struct sg_scope *s;
        struct nodes n;
        uint32_t id;

        begin(&n);
        s = scope_of(f, &n, 0, "GPU-0");
        id = program_of(s);
        before = sg_device_guard_ref(n.class.guard);
        n.devices.n_drivers--;
        look(&n);
        assert_false(sg_device_guard_equal(before, n.class.guard));
        sg_device_guard_unref(before);
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, "GPU-0"), &f->why), 0);
        assert_int_equal(program_of(s), id);
        assert_int_equal(sg_scope_set_devices(s, devices_of(&n, "GPU-1"), &f->why), 0);
        assert_int_not_equal(program_of(s), id);
        end(&n);
}

/* A class that is closed gets its GPU, and nothing more. */
static void test_closed_class(void **state)
{
        struct fixture *f = *state;
        struct sg_scope *s;
        struct nodes n;

        begin(&n);
        n.class.closed = true;
        s = scope_of(f, &n, 0, "GPU-1");
        assert_int_equal(run(f, s, true, open_node, n.path[GPU1]), ENXIO);
        assert_int_equal(run(f, s, true, open_node, n.path[CTL]), ENXIO);
        assert_int_equal(run(f, s, true, open_node, n.path[GPU0]), EPERM);
        assert_int_equal(run(f, s, true, open_node, n.path[OTHER_CARD]), EPERM);
        assert_int_equal(run(f, s, true, open_node, "/dev/kmsg"), EPERM);
        end(&n);
}

int main(void)
{
        bool v1 = has_v1();
        const struct CMUnitTest tests[] = {
                TEST(test_at_start),     TEST(test_changes),       TEST(test_kinds),
                TEST(test_closed_class), TEST(test_program_stays), TEST_V1(test_at_start),
                TEST_V1(test_changes),   TEST_V1(test_kinds),      TEST_V1(test_closed_class),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
