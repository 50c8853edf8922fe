/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A limit of disks is one number for the user, and one line per disk for the kernel. Partitions
 * share their disk's line; loop, ram, zram, dm and md devices have none, as what is asked of them
 * comes to a disk below in the same group's name. An NVMe namespace with several paths counts as
 * one disk: the paths are hidden. Reference: cgroup-v2.rst, io.max; cgroup-v1/blkio-controller.rst.
 */

#include "edge/cgroup/io.h"
#include "base/file.h"
#include "edge/cgroup/group.h"
#include "edge/cgroup/knob.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define LINES_MAX (1U << 20)

static int by_number(const void *a, const void *b)
{
        const struct sg_disk *x = a, *y = b;

        if (x->major != y->major)
                return x->major < y->major ? -1 : 1;
        return x->minor < y->minor ? -1 : x->minor > y->minor;
}

/* Names have '!' in sysfs where their node has '/' ("cciss!c0d0"). */
static bool look_at(const char *sys_block, const char *name, struct sg_disk *ret)
{
        char path[PATH_MAX], text[32];

        (void)snprintf(path, sizeof(path), "%s/%s/device", sys_block, name);
        if (access(path, F_OK) < 0)
                return false;
        (void)snprintf(path, sizeof(path), "%s/%s/hidden", sys_block, name);
        if (sg_read_line_file(AT_FDCWD, path, text, sizeof(text)) >= 0 && strcmp(text, "1") == 0)
                return false;
        (void)snprintf(path, sizeof(path), "%s/%s/dev", sys_block, name);
        if (sg_read_line_file(AT_FDCWD, path, text, sizeof(text)) < 0 ||
            sscanf(text, "%u:%u", &ret->major, &ret->minor) != 2 ||
            (size_t)snprintf(ret->node, sizeof(ret->node), "/dev/%s", name) >= sizeof(ret->node))
                return false;
        for (char *p = ret->node; (p = strchr(p, '!'));)
                *p = '/';
        return true;
}

int sg_disks_find(const char *sys_block, struct sg_disk **ret, size_t *ret_n)
{
        _cleanup_closedir_ DIR *d = opendir(sys_block);
        _cleanup_free_ struct sg_disk *disks = NULL;
        struct dirent *e;
        size_t n = 0;

        if (!d)
                return -errno;
        while ((e = readdir(d))) {
                struct sg_disk disk, *grown;

                if (e->d_name[0] == '.' || !look_at(sys_block, e->d_name, &disk))
                        continue;
                grown = realloc(disks, (n + 1) * sizeof(*disks));
                if (!grown)
                        return -ENOMEM;
                disks = grown;
                disks[n++] = disk;
        }
        if (n > 0)
                qsort(disks, n, sizeof(*disks), by_number);
        *ret = TAKE_PTR(disks);
        *ret_n = n;
        return 0;
}

int sg_disks(struct sg_disk **ret, size_t *ret_n)
{
        return sg_disks_find("/sys/block", ret, ret_n);
}

static const char *file_of(bool v2, const struct sg_knob *k)
{
        return v2 ? k->v2_file : k->v1_file;
}

/* Behind the next "rbps="; NULL: there is none. */
static const char *next_value(const char *p, const struct sg_knob *k)
{
        size_t n = strlen(k->v2_key);

        while ((p = strstr(p, k->v2_key)) && p[n] != '=')
                p += n;
        return p ? p + n + 1 : NULL;
}

/* v2: "254:0 rbps=1048576 wbps=max riops=max wiops=max"; v1: "254:0 1048576". No line, no limit. */
static uint64_t value_in(const char *text, bool v2, const struct sg_knob *k,
                         const struct sg_disk *disk)
{
        char number[32];
        size_t n = (size_t)snprintf(number, sizeof(number), "%u:%u ", disk->major, disk->minor);

        for (const char *p = text; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL) {
                const char *value = p + n;

                if (strncmp(p, number, n) != 0)
                        continue;
                if (v2)
                        value = next_value(p, k) ?: "max";
                return strncmp(value, "max", 3) == 0 ? SG_UNLIMITED : strtoull(value, NULL, 10);
        }
        return SG_UNLIMITED;
}

static int read_lines(const char *group, const char *file, char **ret)
{
        char path[PATH_MAX];
        int r;

        r = sg_group_join(path, group, file);
        return r < 0 ? r : sg_read_file(AT_FDCWD, path, LINES_MAX, ret, NULL);
}

static int write_line(const char *group, bool v2, const struct sg_knob *k,
                      const struct sg_disk *disk, uint64_t value, char **why)
{
        const char *file = file_of(v2, k);
        char line[96];
        int n, r;

        n = snprintf(line, sizeof(line), "%u:%u %s%s", disk->major, disk->minor,
                     v2 ? k->v2_key : "", v2 ? "=" : "");
        if (value == SG_UNLIMITED)
                (void)snprintf(line + n, sizeof(line) - (size_t)n, "%s", v2 ? "max" : "0");
        else
                (void)snprintf(line + n, sizeof(line) - (size_t)n, "%llu",
                               (unsigned long long)value);
        r = sg_group_write(group, file, line);
        if (r == -ENODEV || r == -ENXIO) /* unplugged meanwhile */
                return 0;
        return r < 0 ? sg_group_explain(why, r, group, file, line) : 0;
}

static bool is_gone(const struct sg_disk *disk)
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", disk->major, disk->minor);
        return access(path, F_OK) < 0;
}

static bool all_stand(const char *text, bool v2, const struct sg_knob *k,
                      const struct sg_disk *disks, size_t n, uint64_t value)
{
        for (size_t i = 0; i < n; i++)
                if (value_in(text, v2, k, &disks[i]) != value && !is_gone(&disks[i]))
                        return false;
        return true;
}

static int write_lines(const char *group, bool v2, const struct sg_knob *k,
                       const struct sg_disk *disks, size_t n, uint64_t value, char **why)
{
        _cleanup_free_ char *before = NULL, *after = NULL;
        const char *file = file_of(v2, k);
        int r;

        r = read_lines(group, file, &before);
        for (size_t i = 0; r >= 0 && i < n; i++)
                if (value_in(before, v2, k, &disks[i]) != value)
                        r = write_line(group, v2, k, &disks[i], value, why);
        if (r >= 0)
                r = read_lines(group, file, &after);
        if (r < 0)
                return sg_group_explain(why, r, group, file, "its value");
        if (all_stand(after, v2, k, disks, n, value))
                return 0;
        sg_why(why, "%s of %s was written but the kernel made something else of it", file, group);
        return -ERANGE;
}

int sg_io_apply(const char *group, bool v2, enum sg_limit_kind kind, uint64_t value, char **why)
{
        const struct sg_knob *k = sg_knob_of(kind);
        _cleanup_free_ struct sg_disk *disks = NULL;
        size_t n = 0;
        int r;

        value = sg_knob_held(k, value);
        if (v2 && value == SG_UNLIMITED && sg_io_lowest(group, kind) == SG_UNLIMITED)
                return 0; /* nearly every new job: no need to know the disks */
        r = sg_disks(&disks, &n);
        if (r >= 0 && n > 0)
                return write_lines(group, v2, k, disks, n, value, why);
        if (value == SG_UNLIMITED)
                return 0;
        sg_why(why, "%s is not enforced: there is no disk in /sys/block to limit",
               sg_limit_kind_to_string(kind));
        return r < 0 ? r : -ENODEV;
}

bool sg_io_stands(const char *group, bool v2, enum sg_limit_kind kind, uint64_t value)
{
        const struct sg_knob *k = sg_knob_of(kind);
        _cleanup_free_ struct sg_disk *disks = NULL;
        _cleanup_free_ char *text = NULL;
        size_t n = 0;

        value = sg_knob_held(k, value);
        return sg_disks(&disks, &n) >= 0 && read_lines(group, file_of(v2, k), &text) >= 0 &&
               (n > 0 || value == SG_UNLIMITED) && all_stand(text, v2, k, disks, n, value);
}

uint64_t sg_io_lowest(const char *group, enum sg_limit_kind kind)
{
        const struct sg_knob *k = sg_knob_of(kind);
        _cleanup_free_ char *text = NULL;
        uint64_t lowest = SG_UNLIMITED;

        if (read_lines(group, k->v2_file, &text) < 0)
                return lowest;
        for (const char *p = text; (p = next_value(p, k));)
                if (strncmp(p, "max", 3) != 0 && strtoull(p, NULL, 10) < lowest)
                        lowest = strtoull(p, NULL, 10);
        return lowest;
}
