/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/kernel/node.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/kernel/topology.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

static int read_boot_id(char ret[SG_BOOT_ID_MAX])
{
        char line[64];
        size_t n = 0;
        int r;

        r = sg_read_line_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", line, sizeof(line));
        if (r < 0)
                return r;
        for (const char *p = line; *p && n < SG_BOOT_ID_MAX - 1; p++)
                if (*p != '-')
                        ret[n++] = *p;
        ret[n] = 0;
        return 0;
}

/* The CPUs that there are for us. The kernel leaves out those that are off line, and those of which
 * a group above us has none. */
static int read_cpus(struct sg_cpuset *ret)
{
        struct sg_cpuset cpus = {0};
        cpu_set_t set;

        if (sched_getaffinity(0, sizeof(set), &set) < 0)
                return -errno;
        for (unsigned i = 0; i < CPU_SETSIZE && i < SG_CPUS_MAX; i++)
                if (CPU_ISSET(i, &set))
                        sg_cpuset_add(&cpus, i);
        *ret = cpus;
        return 0;
}

static void take_cpus(struct sg_node *n, const struct sg_cpuset *cpus)
{
        n->cpus = *cpus;
        n->n_cpus = sg_cpuset_count(cpus);
        sg_topology_read(&n->topology, SG_SYSFS_SYSTEM, cpus);
}

bool sg_node_look_at_cpus(struct sg_node *n)
{
        struct sg_cpuset cpus;

        if (read_cpus(&cpus) < 0 || memcmp(&cpus, &n->cpus, sizeof(cpus)) == 0)
                return false;
        take_cpus(n, &cpus);
        return true;
}

/* "MemTotal:       24689 kB" of /proc/meminfo, in bytes. */
static int meminfo_field(const char *text, const char *key, uint64_t *ret)
{
        const char *p = strstr(text, key);
        unsigned long long kib;

        if (!p || sscanf(p + strlen(key), " %llu kB", &kib) != 1)
                return -EBADMSG;
        *ret = (uint64_t)kib * 1024;
        return 0;
}

static int read_memory(const struct sg_node *n, uint64_t *ret_total, uint64_t *ret_available)
{
        char buf[1024]; /* both lines are among the first three */
        ssize_t size;
        int r;

        size = pread(n->meminfo_fd, buf, sizeof(buf) - 1, 0);
        if (size < 0)
                return -errno;
        buf[size] = 0;
        r = meminfo_field(buf, "MemTotal:", ret_total);
        if (r < 0)
                return r;
        return meminfo_field(buf, "MemAvailable:", ret_available);
}

int sg_node_init(struct sg_node *n, const char *name)
{
        struct sg_cpuset cpus;
        uint64_t available;
        int r;

        *n = (struct sg_node){.meminfo_fd = -1};
        if (name) {
                strncpy(n->name, name, sizeof(n->name) - 1);
        } else {
                if (gethostname(n->name, sizeof(n->name) - 1) < 0)
                        return -errno;
                n->name[strcspn(n->name, ".")] = 0;
        }
        r = read_boot_id(n->boot_id);
        if (r < 0)
                return r;
        r = read_cpus(&cpus);
        if (r < 0)
                return r;
        take_cpus(n, &cpus);
        n->meminfo_fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
        if (n->meminfo_fd < 0)
                return -errno;
        return read_memory(n, &n->memory_total, &available);
}

void sg_node_deinit(struct sg_node *n)
{
        n->meminfo_fd = sg_close(n->meminfo_fd);
}

int sg_node_snapshot(const struct sg_node *n, struct sg_node_snapshot *ret)
{
        struct sg_node_snapshot s = {.now_usec = sg_now_monotonic_usec(), .cpus = n->n_cpus};
        struct sg_stock *memory = &s.stocks[SG_STOCK_MEMORY];
        int r;

        r = read_memory(n, &memory->total, &memory->available);
        if (r < 0)
                return r;
        *ret = s;
        return 0;
}
