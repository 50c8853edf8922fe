/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A table of files, each with what it is made into. One that fails is opened anew the next time. */

#include "edge/kernel/node-sampler.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "core/measure/kernel-text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

/* /proc/stat has a line for each CPU and a number for each interrupt. */
#define BUFFER_SIZE 8192
#define BUFFER_MAX (4U << 20)

typedef int parse_fn(const char *text, size_t n, struct sg_node_sample *ret);

struct file {
        int fd;
        bool worked; /* at least once */
        bool told;
        int error; /* of the last read */
};

static parse_fn parse_stat, parse_loadavg, parse_meminfo, parse_vmstat;
static parse_fn parse_cpu_pressure, parse_memory_pressure, parse_io_pressure;

static const struct {
        const char *path;
        parse_fn *parse;
} sources[] = {
        {"/proc/stat", parse_stat},
        {"/proc/loadavg", parse_loadavg},
        {"/proc/meminfo", parse_meminfo},
        {"/proc/vmstat", parse_vmstat},
        {"/proc/pressure/cpu", parse_cpu_pressure},
        {"/proc/pressure/memory", parse_memory_pressure},
        {"/proc/pressure/io", parse_io_pressure},
};
#define N_CPU_SOURCES 1 /* the first */

struct sg_node_sampler {
        struct file files[SG_ELEMENTSOF(sources)];
        char *buffer;
        size_t size;
        char line[160];
};

/* --- what the files say */

static uint64_t usec_of(uint64_t ticks)
{
        return ticks * (SG_USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static int parse_stat(const char *text, size_t n, struct sg_node_sample *ret)
{
        struct sg_kernel_stat s;
        int r;

        r = sg_kernel_stat(text, n, &s);
        if (r < 0)
                return r;
        ret->cpu_total_usec = usec_of(s.total);
        ret->cpu_idle_usec = usec_of(s.idle);
        ret->cpu_iowait_usec = usec_of(s.iowait);
        ret->procs_running = s.procs_running;
        ret->procs_blocked = s.procs_blocked;
        return 0;
}

static int parse_loadavg(const char *text, size_t n, struct sg_node_sample *ret)
{
        struct sg_kernel_load l;
        int r;

        r = sg_kernel_loadavg(text, n, &l);
        if (r >= 0)
                ret->load_pm = l.load1_pm;
        return r;
}

static int parse_meminfo(const char *text, size_t n, struct sg_node_sample *ret)
{
        const struct sg_kernel_key keys[] = {
                {"MemTotal", &ret->memory_total},
                {"MemAvailable", &ret->memory_available},
                {"SwapTotal", &ret->swap_total},
                {"SwapFree", &ret->swap_free},
        };

        return sg_kernel_meminfo(text, n, keys, SG_ELEMENTSOF(keys));
}

static int parse_vmstat(const char *text, size_t n, struct sg_node_sample *ret)
{
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), in, out;
        const struct sg_kernel_key keys[] = {{"pswpin", &in}, {"pswpout", &out}};
        int r;

        r = sg_kernel_keyed(text, n, keys, SG_ELEMENTSOF(keys));
        if (r < (int)SG_ELEMENTSOF(keys)) /* a kernel without swap */
                return r;
        ret->swap_in_bytes = in * page;
        ret->swap_out_bytes = out * page;
        return 0;
}

static int parse_pressure(const char *text, size_t n, struct sg_node_psi *ret)
{
        struct sg_kernel_psi psi;
        int r;

        r = sg_kernel_psi(text, n, &psi);
        if (r >= 0)
                *ret = (struct sg_node_psi){psi.some_usec, psi.full_usec};
        return r;
}

static int parse_cpu_pressure(const char *text, size_t n, struct sg_node_sample *ret)
{
        return parse_pressure(text, n, &ret->cpu);
}

static int parse_memory_pressure(const char *text, size_t n, struct sg_node_sample *ret)
{
        return parse_pressure(text, n, &ret->memory);
}

static int parse_io_pressure(const char *text, size_t n, struct sg_node_sample *ret)
{
        return parse_pressure(text, n, &ret->io);
}

/* --- reading */

static int make_room(struct sg_node_sampler *s)
{
        size_t size = s->size ? s->size * 2 : BUFFER_SIZE;
        char *buffer;

        if (size > BUFFER_MAX)
                return -EFBIG;
        buffer = realloc(s->buffer, size);
        if (!buffer)
                return -ENOMEM;
        s->buffer = buffer;
        s->size = size;
        return 0;
}

/* The whole file in one go, as each call makes the text anew. Its size, or -errno. */
static ssize_t read_whole(struct sg_node_sampler *s, int fd)
{
        for (;;) {
                ssize_t n = pread(fd, s->buffer, s->size, 0);
                int r;

                if (n < 0 && errno != EINTR)
                        return -errno;
                if (n >= 0 && (size_t)n < s->size)
                        return n;
                r = n < 0 ? 0 : make_room(s);
                if (r < 0)
                        return r;
        }
}

static int read_file(struct sg_node_sampler *s, size_t i, struct sg_node_sample *ret)
{
        struct file *f = &s->files[i];
        ssize_t n;

        if (f->fd < 0)
                f->fd = open(sources[i].path, O_RDONLY | O_CLOEXEC);
        if (f->fd < 0)
                return -errno;
        n = read_whole(s, f->fd);
        if (n < 0) {
                f->fd = sg_close(f->fd);
                return (int)n;
        }
        return sources[i].parse(s->buffer, (size_t)n, ret);
}

static void read_files(struct sg_node_sampler *s, size_t n, struct sg_node_sample *ret)
{
        memset(ret, 0xff, sizeof(*ret)); /* SG_UNLIMITED throughout */
        ret->now_usec = sg_now_monotonic_usec();
        for (size_t i = 0; i < n; i++) {
                struct file *f = &s->files[i];
                int r = read_file(s, i, ret);

                f->error = r < 0 ? r : 0;
                f->worked = f->worked || r >= 0;
        }
}

void sg_node_sampler_read(struct sg_node_sampler *s, struct sg_node_sample *ret)
{
        read_files(s, SG_ELEMENTSOF(sources), ret);
}

void sg_node_sampler_read_cpus(struct sg_node_sampler *s, struct sg_node_sample *ret)
{
        read_files(s, N_CPU_SOURCES, ret);
}

const char *sg_node_sampler_trouble(struct sg_node_sampler *s)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(sources); i++) {
                struct file *f = &s->files[i];

                if (f->told || f->error == 0 || (!f->worked && f->error != -EBADMSG))
                        continue;
                f->told = true;
                (void)snprintf(s->line, sizeof(s->line), "%s: %s", sources[i].path,
                               f->error == -EBADMSG ? "can't be made sense of"
                                                    : strerror(-f->error));
                return s->line;
        }
        return NULL;
}

/* --- life */

int sg_node_sampler_new(struct sg_node_sampler **ret)
{
        struct sg_node_sampler *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        for (size_t i = 0; i < SG_ELEMENTSOF(sources); i++)
                s->files[i].fd = -1;
        if (make_room(s) < 0) {
                sg_node_sampler_free(s);
                return -ENOMEM;
        }
        *ret = s;
        return 0;
}

struct sg_node_sampler *sg_node_sampler_free(struct sg_node_sampler *s)
{
        if (!s)
                return NULL;
        for (size_t i = 0; i < SG_ELEMENTSOF(sources); i++)
                (void)sg_close(s->files[i].fd);
        free(s->buffer);
        free(s);
        return NULL;
}
