/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A vendor is a row of a table: whose drivers' majors are guarded, which nodes all of its users
 * need, and how a GPU's own node is numbered. Graphics nodes are found by the bus, whoever's they
 * are.
 * References: nvidia-modprobe-utils, README of the driver ("Configuring MIG", mig-minors),
 * Documentation/admin-guide/devices.txt.
 */

#include "base/cleanup.h"
#include "core/gpu/nodes-internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 4
#define SHARED_MAX 6
#define MINOR_OWN_MAX 253 /* NVIDIA: 254 and 255 are everybody's */

struct shared {
        const char *path, *drivers[NAMES_MAX];
        int32_t minor;
};

static const struct vendor {
        const char *name, *module;   /* of sg_gpu, of the device on the bus */
        int32_t assigned;            /* major, whether the driver is loaded or not */
        const char *main[NAMES_MAX]; /* drivers, of which there is one */
        const char *path;            /* of a GPU, but for its minor */
        const char *caps, *caps_path;
        const char *drivers[8]; /* all of them */
        struct shared shared[SHARED_MAX];
} vendors[] = {
        {
                .name = "nvidia",
                .module = "nvidia",
                .assigned = 195,
                .main = {"nvidia", "nvidia-frontend"}, /* -frontend: before 550 */
                .path = "/dev/nvidia",
                .caps = "nvidia-caps",
                .caps_path = "/dev/nvidia-caps/nvidia-cap",
                .drivers = {"nvidia", "nvidia-frontend", "nvidiactl", "nvidia-modeset",
                            "nvidia-uvm", "nvidia-caps"},
                .shared = {{"/dev/nvidiactl", {"nvidia", "nvidia-frontend"}, 255},
                           {"/dev/nvidia-modeset", {"nvidia", "nvidia-frontend"}, 254},
                           {"/dev/nvidia-uvm", {"nvidia-uvm"}, 0},
                           {"/dev/nvidia-uvm-tools", {"nvidia-uvm"}, 1}},
        },
};

static const struct vendor *find_vendor(const char *name)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(vendors); i++)
                if (strcmp(vendors[i].name, name) == 0)
                        return &vendors[i];
        return NULL;
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
        for (size_t i = 0; i < n && names[i]; i++)
                if (strcmp(names[i], name) == 0)
                        return true;
        return false;
}

bool sg_gpu_is_driver(const char *name)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(vendors); i++)
                if (is_one_of(name, vendors[i].drivers, SG_ELEMENTSOF(vendors[i].drivers)))
                        return true;
        return false;
}

bool sg_gpu_driver_is_loaded(const struct sg_gpu_devices *d)
{
        for (size_t i = 0; i < d->n_drivers; i++)
                if (sg_gpu_is_driver(d->drivers[i].name))
                        return true;
        return false;
}

bool sg_gpu_is_module(const char *name)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(vendors); i++)
                if (strcmp(vendors[i].module, name) == 0)
                        return true;
        return false;
}

int32_t sg_gpu_assigned_major(size_t i)
{
        return i < SG_ELEMENTSOF(vendors) ? vendors[i].assigned : -1;
}

/* −1: none of these drivers is loaded. */
static int32_t major_of(const struct sg_gpu_devices *d, const char *const *names, size_t n)
{
        for (size_t i = 0; i < d->n_drivers; i++)
                if (is_one_of(d->drivers[i].name, names, n))
                        return d->drivers[i].major;
        return -1;
}

static struct sg_device_rule char_rule(int32_t major, int32_t minor)
{
        return (struct sg_device_rule){'c', major, minor, "rwm"};
}

/* --- nodes of one GPU */

static bool is_at(const struct sg_drm_node *node, const struct sg_gpu *gpu)
{
        return gpu->bus_id[0] && strcmp(node->bus_id, gpu->bus_id) == 0;
}

static size_t own_node(const struct sg_gpu_devices *d, const struct vendor *v,
                       const struct sg_gpu *gpu, struct sg_gpu_node *ret)
{
        int32_t major = major_of(d, v->main, NAMES_MAX);

        if (major < 0 || gpu->minor > MINOR_OWN_MAX)
                return 0;
        (void)snprintf(ret->path, sizeof(ret->path), "%s%" PRIu64, v->path, gpu->minor);
        ret->rule = char_rule(major, (int32_t)gpu->minor);
        return 1;
}

static size_t graphics_nodes(const struct sg_gpu_devices *d, const struct sg_gpu *gpu,
                             struct sg_gpu_node *ret, size_t room)
{
        size_t n = 0;

        for (size_t i = 0; i < d->n_drm && n < room; i++) {
                const struct sg_drm_node *node = &d->drm[i];

                if (!is_at(node, gpu))
                        continue;
                (void)snprintf(ret[n].path, sizeof(ret[n].path), "/dev/dri/%s", node->name);
                ret[n++].rule = char_rule(node->major, node->minor);
        }
        return n;
}

static const struct sg_mig_minor *find_mig(const struct sg_gpu_devices *d, uint64_t gpu,
                                           uint32_t gpu_instance, uint32_t compute_instance)
{
        for (size_t i = 0; i < d->n_mig; i++) {
                const struct sg_mig_minor *m = &d->mig[i];

                if (m->gpu == gpu && m->gpu_instance == gpu_instance &&
                    m->compute_instance == compute_instance)
                        return m;
        }
        return NULL;
}

/* The GPU instance's, then the compute instance's in it: a process needs both. */
static size_t instance_nodes(const struct sg_gpu_devices *d, const struct vendor *v,
                             const struct sg_gpu *gpu, const struct sg_gpu_instance *instance,
                             struct sg_gpu_node ret[2])
{
        const struct sg_mig_minor *minors[] = {
                find_mig(d, gpu->minor, instance->gpu_instance, SG_MIG_NO_INSTANCE),
                find_mig(d, gpu->minor, instance->gpu_instance, instance->compute_instance)};
        int32_t major = major_of(d, &v->caps, 1);

        if (major < 0 || !minors[0] || !minors[1])
                return 0;
        for (size_t i = 0; i < SG_ELEMENTSOF(minors); i++) {
                (void)snprintf(ret[i].path, sizeof(ret[i].path), "%s%d", v->caps_path,
                               minors[i]->minor);
                ret[i].rule = char_rule(major, minors[i]->minor);
        }
        return SG_ELEMENTSOF(minors);
}

size_t sg_gpu_nodes_of(const struct sg_gpu_devices *d, const struct sg_gpu *gpu,
                       const struct sg_gpu_instance *instance,
                       struct sg_gpu_node ret[SG_GPU_NODES_MAX])
{
        const struct vendor *v = find_vendor(gpu->vendor);
        size_t n, more;

        n = v ? own_node(d, v, gpu, ret) : 0;
        if (v && n == 0)
                return 0;
        if (!instance)
                return n + graphics_nodes(d, gpu, ret + n, SG_GPU_NODES_MAX - n);
        more = v ? instance_nodes(d, v, gpu, instance, ret + n) : 0;
        return more > 0 ? n + more : 0;
}

size_t sg_gpu_nodes_shared(const struct sg_gpu_devices *d, const char *vendor,
                           struct sg_gpu_node ret[SG_GPU_NODES_MAX])
{
        const struct vendor *v = find_vendor(vendor);
        size_t n = 0;

        for (size_t i = 0; v && i < SHARED_MAX && v->shared[i].path; i++) {
                const struct shared *s = &v->shared[i];
                int32_t major = major_of(d, s->drivers, NAMES_MAX);

                if (major < 0)
                        continue;
                (void)snprintf(ret[n].path, sizeof(ret[n].path), "%s", s->path);
                ret[n++].rule = char_rule(major, s->minor);
        }
        return n;
}

/* --- of a job */

struct rules {
        struct sg_device_rule *list;
        size_t n;
};

static void add_nodes(struct rules *r, const struct sg_gpu_node *nodes, size_t n)
{
        for (size_t i = 0; i < n; i++)
                r->list[r->n++] = nodes[i].rule;
}

static bool is_uuid(const char *uuid, const char *text, size_t n)
{
        return n > 0 && strlen(uuid) == n && memcmp(uuid, text, n) == 0;
}

/* The GPU of that UUID, or that of which it is an instance. */
static const struct sg_gpu *find_gpu(const struct sg_gpu_inventory *inventory, const char *uuid,
                                     size_t length, const struct sg_gpu_instance **ret_instance)
{
        *ret_instance = NULL;
        for (size_t i = 0; inventory && i < inventory->n; i++) {
                const struct sg_gpu *gpu = &inventory->gpus[i];

                if (is_uuid(gpu->uuid, uuid, length))
                        return gpu;
                for (size_t k = 0; k < gpu->n_instances; k++)
                        if (is_uuid(gpu->instances[k].uuid, uuid, length)) {
                                *ret_instance = &gpu->instances[k];
                                return gpu;
                        }
        }
        return NULL;
}

static int add_gpu(struct rules *rules, const struct sg_gpu_devices *d,
                   const struct sg_gpu_inventory *inventory, const char *uuid, size_t length)
{
        struct sg_gpu_node nodes[SG_GPU_NODES_MAX];
        const struct sg_gpu_instance *instance;
        const struct sg_gpu *gpu;
        size_t n;

        gpu = find_gpu(inventory, uuid, length, &instance);
        if (!gpu)
                return 1;
        n = sg_gpu_nodes_of(d, gpu, instance, nodes);
        if (n == 0)
                return 1;
        add_nodes(rules, nodes, n);
        add_nodes(rules, nodes, sg_gpu_nodes_shared(d, gpu->vendor, nodes));
        return 0;
}

static size_t count_names(const char *uuids)
{
        size_t n = *uuids != '\0';

        for (; *uuids; uuids++)
                n += *uuids == ',';
        return n;
}

int sg_gpu_job_devices(struct sg_device_list *ret, const struct sg_device_list *class,
                       const struct sg_gpu_devices *d, const struct sg_gpu_inventory *inventory,
                       const char *uuids)
{
        size_t n_names = count_names(uuids ?: "");
        _cleanup_free_ struct sg_device_rule *list = NULL;
        struct rules rules = {0};
        int missing = 0, r;

        list = calloc(2 * SG_GPU_NODES_MAX * n_names + 1, sizeof(*list));
        if (!list)
                return -ENOMEM;
        rules.list = list;
        for (const char *p = uuids; n_names-- > 0;) {
                size_t length = strcspn(p, ",");

                missing += add_gpu(&rules, d, inventory, p, length);
                p += length + 1;
        }
        r = sg_device_list_of_job(ret, class, rules.list, rules.n);
        return r < 0 ? r : missing;
}
