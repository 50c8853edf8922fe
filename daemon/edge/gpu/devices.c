/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References: Documentation/gpu/drm-uapi.rst (sysfs names), README of NVIDIA's driver (mig-minors).
 */

#include "edge/gpu/devices.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define DRIVERS_MAX (64U * 1024U)
#define MIG_MAX (1024U * 1024U) /* the driver lists all that may ever be: 4,000 lines */
#define DRM_MAX 1024U

/* A file of the kernel's below the root, or the one that all see. -ENOENT. */
static int read_below(const char *root, const char *path, size_t max, char **ret, size_t *ret_size)
{
        char below[PATH_MAX];
        int r = sg_path_join(below, sizeof(below), root, path + 1);

        if (r >= 0)
                r = sg_read_file(AT_FDCWD, below, max, ret, ret_size);
        return r == -ENOENT ? sg_read_file(AT_FDCWD, path, max, ret, ret_size) : r;
}

static int read_drivers(struct sg_gpu_devices *d, const char *root)
{
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = read_below(root, "/proc/devices", DRIVERS_MAX, &text, &n);

        return r < 0 ? r : sg_gpu_devices_take_drivers(d, text, n);
}

static int read_mig(struct sg_gpu_devices *d, const char *root)
{
        _cleanup_free_ char *text = NULL;
        size_t n;
        int r = read_below(root, "/proc/driver/nvidia-caps/mig-minors", MIG_MAX, &text, &n);

        if (r == -ENOENT) /* without MIG */
                return 0;
        return r < 0 ? r : sg_gpu_devices_take_mig(d, text, n);
}

/* --- graphics nodes */

/* "226:128" */
static int parse_numbers(char *text, struct sg_drm_node *node)
{
        char *colon = strchr(text, ':');
        int r;

        if (!colon)
                return -EBADMSG;
        *colon = '\0';
        r = sg_parse_i32(text, &node->major);
        if (r >= 0)
                r = sg_parse_i32(colon + 1, &node->minor);
        return r < 0 || node->major < 0 || node->minor < 0 ? -EBADMSG : 0;
}

/* The last part of where a link leads; "" if there is none, or no room. */
static void read_link_name(int dir, const char *path, char *ret, size_t size)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(dir, path, target, sizeof(target) - 1);
        const char *name;

        *ret = '\0';
        if (n < 0)
                return;
        target[n] = '\0';
        name = strrchr(target, '/');
        name = name ? name + 1 : target;
        if (strlen(name) < size)
                strcpy(ret, name);
}

/* 1: it is a node, 0: it isn't (a connector, a version), or it has just gone. */
static int read_node(int dir, const char *name, struct sg_drm_node *ret)
{
        struct sg_drm_node node = {0};
        char path[NAME_MAX + 32], text[64];
        int r;

        if (strlen(name) >= sizeof(node.name))
                return 0;
        strcpy(node.name, name);
        (void)snprintf(path, sizeof(path), "%s/dev", name);
        r = sg_read_line_file(dir, path, text, sizeof(text));
        if (r < 0)
                return r == -ENOENT || r == -ENOTDIR || r == -ENODEV ? 0 : r;
        r = parse_numbers(text, &node);
        if (r < 0)
                return r;
        (void)snprintf(path, sizeof(path), "%s/device", name);
        read_link_name(dir, path, node.bus_id, sizeof(node.bus_id));
        (void)snprintf(path, sizeof(path), "%s/device/driver", name);
        read_link_name(dir, path, node.driver, sizeof(node.driver));
        *ret = node;
        return 1;
}

static int by_minor(const void *a, const void *b)
{
        const struct sg_drm_node *x = a, *y = b;

        return (x->minor > y->minor) - (x->minor < y->minor);
}

static int read_all_nodes(struct sg_gpu_devices *d, DIR *dir)
{
        _cleanup_free_ struct sg_drm_node *nodes = NULL;
        struct dirent *e;
        size_t n = 0;
        int r;

        nodes = calloc(DRM_MAX, sizeof(*nodes));
        if (!nodes)
                return -ENOMEM;
        while ((e = readdir(dir))) {
                if (e->d_name[0] == '.')
                        continue;
                if (n == DRM_MAX)
                        return -E2BIG;
                r = read_node(dirfd(dir), e->d_name, &nodes[n]);
                if (r < 0)
                        return r;
                n += (size_t)r;
        }
        qsort(nodes, n, sizeof(*nodes), by_minor);
        d->drm = TAKE_PTR(nodes);
        d->n_drm = n;
        return 0;
}

static int read_graphics(struct sg_gpu_devices *d, const char *root)
{
        _cleanup_closedir_ DIR *dir = NULL;
        char below[PATH_MAX];
        int r = sg_path_join(below, sizeof(below), root, "sys/class/drm");

        if (r < 0)
                return r;
        dir = opendir(below);
        if (!dir && errno == ENOENT)
                dir = opendir("/sys/class/drm");
        if (!dir)
                return errno == ENOENT ? 0 : -errno;
        return read_all_nodes(d, dir);
}

int sg_gpu_devices_read(struct sg_gpu_devices *ret, const char *root)
{
        struct sg_gpu_devices d = {0};
        int r;

        r = read_drivers(&d, root);
        if (r >= 0)
                r = read_mig(&d, root);
        if (r >= 0)
                r = read_graphics(&d, root);
        if (r < 0) {
                sg_gpu_devices_deinit(&d);
                return r;
        }
        *ret = d;
        return 0;
}
