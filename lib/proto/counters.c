/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading the counters of a job from whichever hierarchies it has groups in. Each figure has its
 * sources in order of preference, and the first that answers wins. No allocation, no state: the
 * shim calls it at its very end, when nothing may fail any more.
 */

#include "proto/counters.h"
#include "base/file.h"
#include "base/parse.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

enum format {
        FORMAT_NUMBER, /* the file is one number */
        FORMAT_KEYED,  /* "key number" lines */
        FORMAT_IO_V2,  /* "8:0 rbytes=1 wbytes=2 …" */
        FORMAT_IO_V1,  /* "8:0 Read 1" */
};

struct source {
        size_t figure; /* offset in struct sg_counters */
        enum sg_hier hier;
        const char *file;
        enum format format;
        const char *key;
        uint64_t divide;
};

#define FIGURE(name) offsetof(struct sg_counters, name)

/* io: the second figure of the pair, written bytes, follows the first in the struct. */
static const struct source sources[] = {
        /* cpu.stat is there on a bare v2 tree too, without any controller. */
        {FIGURE(cpu_usec), SG_HIER_UNIFIED, "cpu.stat", FORMAT_KEYED, "usage_usec", 1},
        {FIGURE(cpu_usec), SG_HIER_CPUACCT, "cpuacct.usage", FORMAT_NUMBER, NULL, 1000},
        {FIGURE(cpu_usec), SG_HIER_CPU, "cpuacct.usage", FORMAT_NUMBER, NULL, 1000},
        {FIGURE(memory_bytes), SG_HIER_UNIFIED, "memory.current", FORMAT_NUMBER, NULL, 1},
        {FIGURE(memory_bytes), SG_HIER_MEMORY, "memory.usage_in_bytes", FORMAT_NUMBER, NULL, 1},
        {FIGURE(memory_peak_bytes), SG_HIER_UNIFIED, "memory.peak", FORMAT_NUMBER, NULL, 1},
        {FIGURE(memory_peak_bytes), SG_HIER_MEMORY, "memory.max_usage_in_bytes", FORMAT_NUMBER,
         NULL, 1},
        {FIGURE(oom_kills), SG_HIER_UNIFIED, "memory.events", FORMAT_KEYED, "oom_kill", 1},
        {FIGURE(oom_kills), SG_HIER_MEMORY, "memory.oom_control", FORMAT_KEYED, "oom_kill", 1},
        {FIGURE(io_read_bytes), SG_HIER_UNIFIED, "io.stat", FORMAT_IO_V2, NULL, 1},
        {FIGURE(io_read_bytes), SG_HIER_BLKIO, "blkio.throttle.io_service_bytes_recursive",
         FORMAT_IO_V1, NULL, 1},
        {FIGURE(pids), SG_HIER_UNIFIED, "pids.current", FORMAT_NUMBER, NULL, 1},
        {FIGURE(pids), SG_HIER_PIDS, "pids.current", FORMAT_NUMBER, NULL, 1},
};

struct scan {
        const struct source *source;
        uint64_t value[2];
        bool found;
};

/* Takes the leading decimal number of s; garbage and overflow say nothing at all. */
static bool number(const char *s, uint64_t *ret)
{
        uint64_t v = 0;

        if (*s < '0' || *s > '9')
                return false;
        for (; *s >= '0' && *s <= '9'; s++) {
                if (v > (SG_UNLIMITED - 9) / 10)
                        return false;
                v = v * 10 + (uint64_t)(*s - '0');
        }
        if (*s != '\0' && *s != ' ')
                return false;
        *ret = v;
        return true;
}

static bool after(const char *line, const char *word, uint64_t *ret)
{
        const char *p = strstr(line, word);

        return p && number(p + strlen(word), ret);
}

static void scan_line(struct scan *s, const char *line)
{
        const char *key = s->source->key;
        uint64_t v;

        switch (s->source->format) {
        case FORMAT_NUMBER:
                if (!s->found)
                        s->found = number(line, &s->value[0]);
                break;
        case FORMAT_KEYED:
                if (strncmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ' ')
                        s->found = number(line + strlen(key) + 1, &s->value[0]);
                break;
        case FORMAT_IO_V2:
                if (after(line, " rbytes=", &v))
                        s->value[0] += v;
                if (after(line, " wbytes=", &v))
                        s->value[1] += v;
                break;
        case FORMAT_IO_V1:
                if (after(line, " Read ", &v))
                        s->value[0] += v;
                if (after(line, " Write ", &v))
                        s->value[1] += v;
                break;
        }
}

/* Hands over the complete lines of buf and moves the rest to its front; a line that fills all of
 * buf is nothing that a kernel writes and is dropped. */
static size_t scan_lines(struct scan *s, char *buf, size_t used, size_t size)
{
        char *line = buf, *end;

        while ((end = memchr(line, '\n', used - (size_t)(line - buf)))) {
                *end = '\0';
                scan_line(s, line);
                line = end + 1;
        }
        used -= (size_t)(line - buf);
        if (used == size)
                return 0;
        memmove(buf, line, used);
        return used;
}

static bool scan_file(struct scan *s, const char *path)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        char buf[2048];
        size_t used = 0;
        ssize_t n;

        if (fd < 0)
                return false;
        for (;;) {
                n = read(fd, buf + used, sizeof(buf) - 1 - used);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        break;
                used = scan_lines(s, buf, used + (size_t)n, sizeof(buf) - 1);
        }
        if (n < 0)
                return false;
        buf[used] = '\0';
        if (used > 0)
                scan_line(s, buf);
        /* No device did any I/O yet: an empty file is an answer. */
        return s->found || s->source->format >= FORMAT_IO_V2;
}

static const char *dir_of(const struct sg_group_dir *dirs, size_t n_dirs, enum sg_hier hier)
{
        for (size_t i = 0; i < n_dirs; i++)
                if (dirs[i].hier == hier)
                        return dirs[i].path;
        return NULL;
}

static void read_source(const struct source *source, const struct sg_group_dir *dirs, size_t n_dirs,
                        const char *below, struct sg_counters *ret)
{
        uint64_t *figure = (uint64_t *)((char *)ret + source->figure);
        const char *dir = dir_of(dirs, n_dirs, source->hier);
        struct scan s = {.source = source};
        char group[PATH_MAX], path[PATH_MAX];

        if (!dir || *figure != SG_UNLIMITED)
                return;
        if (sg_path_join(group, sizeof(group), dir, below) < 0 ||
            sg_path_join(path, sizeof(path), group, source->file) < 0 || !scan_file(&s, path))
                return;
        figure[0] = s.value[0] / source->divide;
        if (source->format >= FORMAT_IO_V2)
                figure[1] = s.value[1];
}

static void read_below(const struct sg_group_dir *dirs, size_t n_dirs, const char *below,
                       struct sg_counters *ret)
{
        memset(ret, 0xff, sizeof(*ret)); /* SG_UNLIMITED everywhere */

        for (size_t i = 0; i < SG_ELEMENTSOF(sources); i++)
                read_source(&sources[i], dirs, n_dirs, below, ret);
}

void sg_counters_read(const struct sg_group_dir *dirs, size_t n_dirs, struct sg_counters *ret)
{
        read_below(dirs, n_dirs, "job", ret);
}

uint64_t sg_counters_read_memory(const struct sg_group_dir *dirs, size_t n_dirs)
{
        struct sg_counters c = {.memory_bytes = SG_UNLIMITED};

        for (size_t i = 0; i < SG_ELEMENTSOF(sources); i++)
                if (sources[i].figure == FIGURE(memory_bytes))
                        read_source(&sources[i], dirs, n_dirs, "job", &c);
        return c.memory_bytes;
}

void sg_counters_read_whole(const struct sg_group_dir *dirs, size_t n_dirs, struct sg_counters *ret)
{
        read_below(dirs, n_dirs, ".", ret);
}
