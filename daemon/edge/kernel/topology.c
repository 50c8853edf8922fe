/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * References: Documentation/admin-guide/cputopology.rst, ABI/testing/sysfs-devices-system-cpu,
 * ABI/stable/sysfs-devices-node. Containers and emulators leave files out or make them up, and CPUs
 * that are off line have none.
 */

#include "edge/kernel/topology.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LIST_MAX 8192 /* every second of SG_CPUS_MAX */

/* What each CPU says of itself. */
static const struct source {
        enum sg_level level;
        const char *file, *older; /* before Linux 5.0 */
        unsigned most;            /* CPUs in one: more can't be */
} sources[] = {
        {SG_LEVEL_CORE, "topology/core_cpus_list", "topology/thread_siblings_list", 8}, /* POWER */
        {SG_LEVEL_CACHE, "cache/index3/shared_cpu_list", NULL, SG_CPUS_MAX},
        {SG_LEVEL_PACKAGE, "topology/package_cpus_list", "topology/core_siblings_list",
         SG_CPUS_MAX},
};

static struct sg_cpuset both(const struct sg_cpuset *a, const struct sg_cpuset *b)
{
        struct sg_cpuset set = *a;

        for (size_t i = 0; i < SG_ELEMENTSOF(set.bits); i++)
                set.bits[i] &= b->bits[i];
        return set;
}

static void add_all(struct sg_cpuset *to, const struct sg_cpuset *set)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(set->bits); i++)
                to->bits[i] |= set->bits[i];
}

static unsigned lowest(const struct sg_cpuset *set)
{
        unsigned cpu = 0;

        while (cpu < SG_CPUS_MAX && !sg_cpuset_has(set, cpu))
                cpu++;
        return cpu;
}

static int read_list(const char *path, struct sg_cpuset *ret)
{
        char text[LIST_MAX];
        int r = sg_read_line_file(AT_FDCWD, path, text, sizeof(text));

        return r < 0 ? r : sg_parse_cpuset(text, ret);
}

static int read_of_cpu(const char *sysfs, unsigned cpu, const struct source *s,
                       struct sg_cpuset *ret)
{
        char path[PATH_MAX];
        int r;

        (void)snprintf(path, sizeof(path), "%s/cpu/cpu%u/%s", sysfs, cpu, s->file);
        r = read_list(path, ret);
        if (r != -ENOENT || !s->older)
                return r;
        (void)snprintf(path, sizeof(path), "%s/cpu/cpu%u/%s", sysfs, cpu, s->older);
        return read_list(path, ret);
}

/* The lowest CPU of a group says which CPUs are in it, and the others have to say the same. */
static int read_source(struct sg_topology *t, const struct source *s, const char *sysfs,
                       const struct sg_cpuset *cpus)
{
        struct sg_cpuset seen = {0};

        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu++) {
                struct sg_cpuset set;
                unsigned first;
                int r;

                if (!sg_cpuset_has(cpus, cpu))
                        continue;
                r = read_of_cpu(sysfs, cpu, s, &set);
                if (r < 0)
                        return r;
                if (!sg_cpuset_has(&set, cpu) || sg_cpuset_count(&set) > s->most)
                        return -EBADMSG;
                set = both(&set, cpus);
                first = lowest(&set);
                if (sg_cpuset_has(&seen, cpu) ? t->of[s->level][cpu] != first : first != cpu)
                        return -EBADMSG;
                if (first == cpu)
                        sg_topology_join(t, s->level, &set);
                add_all(&seen, &set);
        }
        return 0;
}

/* The nodes have to have all CPUs between them. */
static int read_nodes(struct sg_topology *t, const char *sysfs, const struct sg_cpuset *cpus)
{
        _cleanup_closedir_ DIR *d = NULL;
        struct sg_cpuset seen = {0};
        char path[PATH_MAX];
        struct dirent *e;

        (void)snprintf(path, sizeof(path), "%s/node", sysfs);
        d = opendir(path);
        if (!d)
                return -errno;
        while ((e = readdir(d))) {
                struct sg_cpuset set, twice;
                int r;

                if (strncmp(e->d_name, "node", 4) != 0)
                        continue;
                (void)snprintf(path, sizeof(path), "%s/node/%s/cpulist", sysfs, e->d_name);
                r = read_list(path, &set);
                if (r < 0)
                        return r;
                set = both(&set, cpus); /* none: a node of memory only, or not ours */
                twice = both(&set, &seen);
                if (sg_cpuset_count(&twice) > 0)
                        return -EBADMSG;
                sg_topology_join(t, SG_LEVEL_NODE, &set);
                add_all(&seen, &set);
        }
        return memcmp(&seen, cpus, sizeof(seen)) == 0 ? 0 : -EBADMSG;
}

static void take_level(struct sg_topology *to, const struct sg_topology *from, enum sg_level level,
                       int result)
{
        if (result >= 0)
                memcpy(to->of[level], from->of[level], sizeof(to->of[level]));
}

void sg_topology_read(struct sg_topology *ret, const char *sysfs, const struct sg_cpuset *cpus)
{
        struct sg_topology t;

        sg_topology_init(ret);
        sg_topology_init(&t);
        for (size_t i = 0; i < SG_ELEMENTSOF(sources); i++)
                take_level(ret, &t, sources[i].level, read_source(&t, &sources[i], sysfs, cpus));
        take_level(ret, &t, SG_LEVEL_NODE, read_nodes(&t, sysfs, cpus));
}
