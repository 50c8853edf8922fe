/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct script script;
static bool initialised;
static struct stat read_last;

/* --- values */

static uint64_t number(const char *s)
{
        char *end;
        double v;

        if (strcmp(s, "none") == 0 || !*s)
                return NONE;
        if (s[strspn(s, "0123456789")] == '\0')
                return strtoull(s, NULL, 10);
        v = strtod(s, &end);
        switch (*end) {
        case 'K':
                v *= 1 << 10;
                break;
        case 'M':
                v *= 1 << 20;
                break;
        case 'G':
                v *= 1 << 30;
                break;
        case 'T':
                v *= 1ULL << 40;
                break;
        }
        return (uint64_t)v;
}

static void copy(char *to, size_t room, const char *from)
{
        (void)snprintf(to, room, "%s", from);
}

static struct hang read_hang(const char *value)
{
        struct hang h = {.msec = 1};
        const char *at = strchr(value, '@');

        if (at)
                copy(h.at, sizeof(h.at), at + 1);
        if (strncmp(value, "log", 3) == 0)
                h.in_log = true;
        else
                h.msec = (uint64_t)(strtod(value, NULL) * 1000);
        return h;
}

static sg_nv_code read_code(const char *value)
{
        if (strcmp(value, "ok") == 0)
                return SG_NV_SUCCESS;
        if (strcmp(value, "NOT_LOADED") == 0)
                return SG_NV_DRIVER_NOT_LOADED;
        return strcmp(value, "MISMATCH") == 0 ? SG_NV_MISMATCH : (sg_nv_code)number(value);
}

/* n of "what*n"; cuts it off. */
static unsigned read_times(char *value)
{
        char *star = strchr(value, '*');

        if (!star)
                return 1;
        *star = '\0';
        return (unsigned)strtoul(star + 1, NULL, 10);
}

/* --- keys of a GPU */

static void read_process(struct gpu *g, const char *value)
{
        char memory[32] = "", list[16] = "";
        struct process p = {.gi = SG_NV_NO_INSTANCE, .ci = SG_NV_NO_INSTANCE, .percent = NONE};

        if (g->n_processes >= PROCESSES)
                return;
        if (sscanf(value, "%u %31s %u %u %15s", &p.pid, memory, &p.gi, &p.ci, list) < 4)
                (void)sscanf(value, "%u %31s %15s", &p.pid, memory, list);
        p.memory = number(memory);
        p.draws = strcmp(list, "graphics") == 0 || strcmp(list, "both") == 0;
        p.mps = strcmp(list, "mps") == 0;
        p.computes = strcmp(list, "both") == 0 || (!p.draws && !p.mps);
        g->processes[g->n_processes++] = p;
}

static void read_sample(struct gpu *g, const char *value)
{
        unsigned pid = 0, percent = 0;

        (void)sscanf(value, "%u %u", &pid, &percent);
        for (size_t i = 0; i < g->n_processes; i++)
                if (g->processes[i].pid == pid)
                        g->processes[i].percent = percent;
}

static void read_near(struct gpu *g, char *value)
{
        static const struct {
                const char *name;
                uint8_t level;
        } levels[] = {{"switch", 10}, {"switches", 20}, {"host", 30}, {"node", 40}, {"system", 50}};
        unsigned links = read_times(value), other = (unsigned)strtoul(value, NULL, 10);
        const char *name = strchr(value, ':');

        if (!name++ || other >= GPUS)
                return;
        g->level[other] = 50;
        for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
                if (strcmp(levels[i].name, name) == 0)
                        g->level[other] = levels[i].level;
        if (strncmp(name, "nv", 2) == 0)
                g->links[other] = (uint8_t)links;
        if (strcmp(name, "nvswitch") == 0)
                g->by_switch = true;
}

static void read_mig(struct gpu *g, char *value)
{
        for (unsigned n = read_times(value); n > 0 && g->n_instances < INSTANCES; n--)
                copy(g->profiles[g->n_instances++], sizeof(g->profiles[0]), value);
}

static void read_event(unsigned gpu, char *value)
{
        unsigned n = read_times(value);

        if (strncmp(value, "xid:", 4) == 0)
                fake_event(gpu, SG_NV_EVENT_XID, strtoull(value + 4, NULL, 10), n);
        else if (strcmp(value, "ecc") == 0)
                fake_event(gpu, SG_NV_EVENT_DOUBLE_ECC, 0, n);
        else
                fake_event(gpu, SG_NV_EVENT_MIG, 0, n);
}

static void read_power(struct gpu *g, char *value)
{
        char *rest = value, *one;

        for (size_t i = 0; i < 5 && (one = strsep(&rest, ",")); i++)
                g->watts[i] = number(one);
}

static void read_mode(struct gpu *g, const char *value)
{
        g->mode = strcmp(value, "exclusive") == 0    ? SG_NV_MODE_EXCLUSIVE_PROCESS
                  : strcmp(value, "prohibited") == 0 ? SG_NV_MODE_PROHIBITED
                                                     : 0;
}

static bool read_number_of_gpu(struct gpu *g, const char *key, const char *value)
{
        struct {
                const char *key;
                uint64_t *to;
        } rows[] = {
                {"Memory", &g->memory}, {"Reserved", &g->reserved},
                {"Used", &g->used},     {"Minor", &g->minor},
                {"Numa", &g->numa},     {"Utilization", &g->utilization},
                {"Energy", &g->energy}, {"Temperature", &g->temperature},
        };

        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
                if (strcmp(rows[i].key, key) == 0) {
                        *rows[i].to = number(value);
                        return true;
                }
        return false;
}

static bool read_text_of_gpu(struct gpu *g, const char *key, const char *value)
{
        if (strcmp(key, "Uuid") == 0)
                copy(g->uuid, sizeof(g->uuid), value);
        else if (strcmp(key, "Name") == 0)
                copy(g->name, sizeof(g->name), value);
        else if (strcmp(key, "Bus") == 0)
                copy(g->bus, sizeof(g->bus), value);
        else if (strcmp(key, "Mode") == 0)
                read_mode(g, value);
        else if (strcmp(key, "Hang") == 0)
                g->hang = read_hang(value);
        else if (strcmp(key, "Throttled") == 0)
                g->slow = (strstr(value, "power") ? SG_NV_SLOW_POWER_CAP : 0) |
                          (strstr(value, "thermal") ? SG_NV_SLOW_THERMAL : 0);
        else
                return false;
        return true;
}

static void read_of_gpu(unsigned n, const char *key, char *value)
{
        struct gpu *g = &script.gpus[n];

        if (read_number_of_gpu(g, key, value) || read_text_of_gpu(g, key, value))
                return;
        if (strcmp(key, "Power") == 0)
                read_power(g, value);
        else if (strcmp(key, "Process") == 0)
                read_process(g, value);
        else if (strcmp(key, "Sample") == 0)
                read_sample(g, value);
        else if (strcmp(key, "Near") == 0)
                read_near(g, value);
        else if (strcmp(key, "Mig") == 0)
                read_mig(g, value);
        else if (strcmp(key, "Event") == 0)
                read_event(n, value);
        else if (strcmp(key, "Lost") == 0) {
                g->lost = strcmp(value, "yes") == 0;
                g->calls_lost = g->lost || strcmp(value, "calls") == 0;
        } else if (strcmp(key, "Grows") == 0)
                g->grows = strcmp(value, "yes") == 0;
        else if (strcmp(key, "Details") == 0)
                g->no_details = strcmp(value, "no") == 0;
        else if (strcmp(key, "MigNames") == 0)
                g->no_mig_names = strcmp(value, "no") == 0;
        else
                (void)fprintf(stderr, "fake NVML: [gpu %u]: unknown key %s\n", n, key);
}

static void read_of_driver(const char *key, const char *value)
{
        unsigned major = 0, minor = 0;

        if (strcmp(key, "Version") == 0)
                copy(script.version, sizeof(script.version), value);
        else if (strcmp(key, "Cuda") == 0)
                script.cuda = sscanf(value, "%u.%u", &major, &minor) == 2
                                      ? 1000 * major + 10 * minor
                                      : NONE;
        else if (strcmp(key, "Init") == 0)
                script.init = read_code(value);
        else if (strcmp(key, "Hang") == 0)
                script.hang = read_hang(value);
        else if (strcmp(key, "Fail") == 0)
                (void)sscanf(value, "%u@%63s", &script.fail, script.fail_at);
        else
                (void)fprintf(stderr, "fake NVML: [driver]: unknown key %s\n", key);
}

/* --- the file */

static void begin_gpu(unsigned n)
{
        struct gpu *g = &script.gpus[n];

        memset(g, 0, sizeof(*g));
        g->there = true;
        (void)snprintf(g->uuid, sizeof(g->uuid), "GPU-00000000-0000-0000-0000-%012u", n);
        copy(g->name, sizeof(g->name), "Fake");
        (void)snprintf(g->bus, sizeof(g->bus), "0000:%02x:00.0", 0x80 + n);
        g->memory = g->used = g->numa = g->utilization = g->temperature = g->energy = NONE;
        for (size_t i = 0; i < 5; i++)
                g->watts[i] = NONE;
        g->minor = n;
        script.n = n >= script.n ? n + 1 : script.n;
}

static char *strip(char *s)
{
        char *end;

        while (isspace((unsigned char)*s))
                s++;
        for (end = s + strlen(s); end > s && isspace((unsigned char)end[-1]);)
                *--end = '\0';
        return s;
}

static void read_script(FILE *f)
{
        static char line[1200];
        unsigned gpu = GPUS;

        memset(&script, 0, sizeof(script));
        script.cuda = NONE;
        while (fgets(line, sizeof(line), f)) {
                char *key = strip(line), *value = strchr(key, '=');

                if (sscanf(key, "[gpu %u]", &gpu) == 1 && gpu < GPUS)
                        begin_gpu(gpu);
                else if (strcmp(key, "[driver]") == 0)
                        gpu = GPUS;
                if (*key == '#' || *key == '[' || !value)
                        continue;
                *value++ = '\0';
                if (gpu < GPUS)
                        read_of_gpu(gpu, strip(key), strip(value));
                else
                        read_of_driver(strip(key), strip(value));
        }
}

static const char *script_path(void)
{
        return getenv("SCHEDGOV_FAKE_GPU");
}

static void reload(void)
{
        const char *path = script_path();
        struct stat st;
        FILE *f;

        if (!path || stat(path, &st) < 0 ||
            (st.st_ino == read_last.st_ino && st.st_size == read_last.st_size &&
             memcmp(&st.st_mtim, &read_last.st_mtim, sizeof(st.st_mtim)) == 0))
                return;
        f = fopen(path, "re");
        if (!f)
                return;
        read_last = st;
        read_script(f);
        (void)fclose(f);
}

void fake_log(const char *format, ...)
{
        char path[4096], line[800];
        va_list args;
        int fd, n;

        (void)snprintf(path, sizeof(path), "%s.log", script_path());
        va_start(args, format);
        n = vsnprintf(line, sizeof(line), format, args);
        va_end(args);
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0)
                return;
        if (write(fd, line, (size_t)n) != n)
                (void)fprintf(stderr, "fake NVML: %s: short write\n", path);
        (void)close(fd);
}

static void hang(const struct hang *h, const char *function)
{
        struct timespec left = {(time_t)(h->msec / 1000), (long)(h->msec % 1000) * 1000000};

        if (h->msec == 0 || strncmp(function, h->at, strlen(h->at)) != 0)
                return;
        fake_log("%s hangs\n", function);
        while (!h->in_log && nanosleep(&left, &left) < 0 && errno == EINTR)
                continue;
}

sg_nv_code fake_enter(const char *function, sg_nv_device device)
{
        struct hang h;

        if (!script_path())
                return SG_NV_DRIVER_NOT_LOADED;
        reload();
        h = script.hang; /* a copy: another one may be read meanwhile */
        hang(&h, function);
        if (device) {
                h = gpu_of(device)->hang;
                hang(&h, function);
        }
        if (*script.fail_at && strncmp(function, script.fail_at, strlen(script.fail_at)) == 0)
                return script.fail;
        if (strncmp(function, "nvmlInit", 8) == 0)
                return script.init;
        if (!initialised)
                return SG_NV_UNINITIALIZED;
        if (!device)
                return SG_NV_SUCCESS;
        if (!gpu_of(device)->there)
                return SG_NV_GPU_IS_LOST;
        if (gpu_of(device)->calls_lost && strcmp(function, "nvmlDeviceGetUUID") != 0)
                return SG_NV_GPU_IS_LOST;
        return SG_NV_SUCCESS;
}

bool fake_initialise(bool on)
{
        bool was = initialised;

        initialised = on;
        return was;
}
