/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Discovery. /proc/self/cgroup gives our group's name per hierarchy, /proc/self/mountinfo where
 * (and from which group on) each hierarchy is visible; the directory is the mount point plus what
 * the name has below the mount's root. In a container with a cgroup namespace both are relative to
 * the namespace, without one the root of the bind mount is a prefix of the name. A mount whose root
 * lies outside of our namespace ("/..") tells nothing and is not used. See cgroup_namespaces(7).
 */

#include "edge/cgroup/layout.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define PROC_TEXT_MAX (4U * 1024 * 1024)

static const char *const hier_names[SG_HIER_MAX] = {
        [SG_HIER_UNIFIED] = "unified", [SG_HIER_CPU] = "cpu",         [SG_HIER_CPUACCT] = "cpuacct",
        [SG_HIER_CPUSET] = "cpuset",   [SG_HIER_MEMORY] = "memory",   [SG_HIER_PIDS] = "pids",
        [SG_HIER_DEVICES] = "devices", [SG_HIER_FREEZER] = "freezer", [SG_HIER_BLKIO] = "blkio",
};

const char *sg_hier_name(enum sg_hier h)
{
        return h < SG_HIER_MAX ? hier_names[h] : NULL;
}

bool sg_layout_list_has(const char *list, const char *word)
{
        size_t n = strlen(word);

        for (const char *p = list; (p = strstr(p, word)); p += n)
                if ((p == list || p[-1] == ',') && (p[n] == ',' || !p[n]))
                        return true;
        return false;
}

int sg_layout_hier_of(const char *controllers)
{
        if (!*controllers)
                return SG_HIER_UNIFIED;
        for (int h = SG_HIER_CPU; h < SG_HIER_MAX; h++)
                if (sg_layout_list_has(controllers, hier_names[h]))
                        return h;
        return -ENOENT;
}

bool sg_layout_next_line(char **text, char **ret_controllers, char **ret_path)
{
        char *line, *controllers, *path;

        while ((line = strsep(text, "\n"))) {
                controllers = strchr(line, ':');
                path = controllers ? strchr(controllers + 1, ':') : NULL;
                if (!path)
                        continue;
                *path = 0;
                *ret_controllers = controllers + 1;
                *ret_path = path + 1;
                return true;
        }
        return false;
}

/* mountinfo writes blank, tab, newline and backslash as three octal digits. */
static void unescape(char *s)
{
        char *w = s;

        for (; *s; s++, w++) {
                if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
                        *w = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
                        s += 3;
                } else {
                        *w = *s;
                }
        }
        *w = 0;
}

struct mount {
        char *root, *point, *type, *options;
};

/* "36 35 98:0 ROOT POINT OPTIONS [tag:value…] - TYPE SOURCE SUPEROPTIONS" */
static bool parse_mount(char *line, struct mount *ret)
{
        char *separator = strstr(line, " - "), *fields = line, *word = NULL;

        *ret = (struct mount){};
        if (!separator)
                return false;
        *separator = 0;
        separator += 3;
        for (unsigned i = 0; i < 5; i++) {
                word = strsep(&fields, " ");
                if (!word)
                        return false;
                if (i == 3)
                        ret->root = word;
        }
        ret->point = word;
        ret->type = strsep(&separator, " ");
        (void)strsep(&separator, " ");
        ret->options = separator;
        if (!ret->options)
                return false;
        unescape(ret->root);
        unescape(ret->point);
        return true;
}

/* What of a group's name lies below the mount's root, or NULL. */
static const char *below_root(const char *root, const char *path)
{
        size_t n = strlen(root);

        if (strncmp(path, "/..", 3) == 0 || strncmp(root, "/..", 3) == 0)
                return NULL;
        if (strcmp(root, "/") == 0)
                return strcmp(path, "/") == 0 ? "" : path;
        if (strncmp(path, root, n) != 0 || (path[n] && path[n] != '/'))
                return NULL;
        return path + n;
}

static int find_own(struct sg_hierarchy *h, const char *controllers, const char *path,
                    const char *mountinfo)
{
        _cleanup_free_ char *copy = strdup(mountinfo);
        char *rest = copy, *line;
        const char *below;
        struct mount m;

        if (!copy)
                return -ENOMEM;
        while ((line = strsep(&rest, "\n"))) {
                if (!parse_mount(line, &m))
                        continue;
                if (strcmp(m.type, *controllers ? "cgroup" : "cgroup2") != 0)
                        continue;
                if (*controllers) {
                        _cleanup_free_ char *first =
                                strndup(controllers, strcspn(controllers, ","));

                        if (!first)
                                return -ENOMEM;
                        if (!sg_layout_list_has(m.options, first))
                                continue;
                }
                below = below_root(m.root, path);
                if (!below)
                        continue;
                h->mount = strdup(m.point);
                h->own_cg = strdup(strcmp(path, "/") == 0 ? "" : path);
                if (!h->mount || !h->own_cg || asprintf(&h->own, "%s%s", m.point, below) < 0)
                        return -ENOMEM;
                return 0;
        }
        return 0;
}

int sg_layout_parse(struct sg_hierarchy h[SG_HIER_MAX], const char *proc_cgroup,
                    const char *mountinfo)
{
        _cleanup_free_ char *copy = strdup(proc_cgroup);
        char *rest = copy, *controllers, *path;
        int first, r;

        if (!copy)
                return -ENOMEM;
        for (int i = 0; i < SG_HIER_MAX; i++)
                h[i] = (struct sg_hierarchy){.here = (enum sg_hier)i};
        while (sg_layout_next_line(&rest, &controllers, &path)) {
                first = sg_layout_hier_of(controllers);
                if (first < 0)
                        continue;
                r = find_own(&h[first], controllers, path, mountinfo);
                if (r < 0)
                        return r;
                for (int i = SG_HIER_CPU; i < SG_HIER_MAX; i++)
                        if (sg_layout_list_has(controllers, hier_names[i]))
                                h[i].here = (enum sg_hier)first;
        }
        return 0;
}

/* A daemon that was started from where an earlier one had moved itself must find the same base. */
static void strip_daemon_leaf(struct sg_hierarchy *h, const char *instance)
{
        _cleanup_free_ char *leaf = NULL;
        size_t n, have;

        if (asprintf(&leaf, "/schedgov-%s/daemon", instance) < 0) {
                leaf = NULL;
                return;
        }
        n = strlen(leaf);
        have = strlen(h->own_cg);
        if (have < n || strcmp(h->own_cg + have - n, leaf) != 0 || strlen(h->own) < n)
                return;
        h->own_cg[have - n] = 0;
        h->own[strlen(h->own) - n] = 0;
}

int sg_layout_discover(struct sg_hierarchy h[SG_HIER_MAX], const char *instance)
{
        _cleanup_free_ char *groups = NULL, *mounts = NULL;
        int r;

        r = sg_read_file(AT_FDCWD, "/proc/self/cgroup", PROC_TEXT_MAX, &groups, NULL);
        if (r < 0)
                return r;
        r = sg_read_file(AT_FDCWD, "/proc/self/mountinfo", PROC_TEXT_MAX, &mounts, NULL);
        if (r < 0)
                return r;
        r = sg_layout_parse(h, groups, mounts);
        if (r < 0)
                return r;
        for (int i = 0; i < SG_HIER_MAX; i++) {
                if (!h[i].own)
                        continue;
                strip_daemon_leaf(&h[i], instance);
                h[i].usable = access(h[i].own, W_OK | X_OK) == 0;
                if (asprintf(&h[i].base, "%s/schedgov-%s", h[i].own, instance) < 0) {
                        h[i].base = NULL;
                        return -ENOMEM;
                }
        }
        return 0;
}

void sg_layout_deinit(struct sg_hierarchy h[SG_HIER_MAX])
{
        for (int i = 0; i < SG_HIER_MAX; i++) {
                free(h[i].mount);
                free(h[i].own);
                free(h[i].own_cg);
                free(h[i].base);
                h[i] = (struct sg_hierarchy){.here = (enum sg_hier)i};
        }
}

int sg_group_of_process(pid_t pid, char buf[PATH_MAX])
{
        _cleanup_free_ char *text = NULL;
        char proc[32], *rest, *controllers, *cg;
        int r;

        (void)snprintf(proc, sizeof(proc), "/proc/%d/cgroup", pid);
        r = sg_read_file(AT_FDCWD, proc, 65536, &text, NULL);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        for (rest = text; sg_layout_next_line(&rest, &controllers, &cg);)
                if (!*controllers) {
                        (void)snprintf(buf, PATH_MAX, "%s", cg);
                        return 0;
                }
        return -ENOENT;
}
