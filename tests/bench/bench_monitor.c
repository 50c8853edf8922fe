/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What sampling costs: makes scopes in all hierarchies that a job can ask for, each with a process
 * that does a little before every round, so that the kernel has something to add up. Samplers that
 * keep their files open take turns with such as open, read and close each (the sampler's own way
 * when file descriptors run short: the same files, parsed alike). "Cold" rounds come after a pause.
 *
 *   bench_monitor GROUPS ROUNDS
 *
 * prints "NAME NUMBER" lines: CPU time in nanoseconds of a round of each kind, the least and the
 * median, and heap allocations. Then "ready", and waits for the end of stdin while others look at
 * the same groups.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/cgroup/cgroup.h"
#include "edge/kernel/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define MIB (UINT64_C(1) << 20)
#define TOUCHED (16 * 1024)
/* Kinds take turns by as many rounds as it takes until each job had everything. */
#define BLOCK 16
/* Long enough for others to fill the caches, and for the CPU to go to sleep, as in a daemon. */
#define COLD_USEC 20000

/* --- every allocation of this process, libraries included */

static size_t allocations;

#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
        allocations++;
        return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
        allocations++;
        return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
        allocations++;
        return __libc_realloc(p, size);
}
#endif

static void fail(const char *what, int r)
{
        fprintf(stderr, "bench_monitor: %s: %s\n", what, strerror(-r));
        exit(1);
}

/* --- groups with a process in each */

struct group {
        struct sg_scope *scope;
        pid_t pid;
        struct sg_sampler *kept, *naive;
        struct sg_sample sample;
};

struct bench {
        struct sg_backend *backend;
        struct group *groups;
        size_t n, n_made, rounds;
        int done[2]; /* a byte for each process that has worked */
};
static struct bench bench; /* for atexit() */

/* Never returns. It is woken by signals, as a pipe would be read by whoever comes first. */
static void live(const struct bench *b)
{
        volatile char *memory =
                mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        sigset_t set;
        int sig;

        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGUSR1);
        while (sigwait(&set, &sig) == 0) {
                for (size_t i = 0; memory != MAP_FAILED && i < TOUCHED; i += 64)
                        memory[i]++;
                if (write(b->done[1], "d", 1) != 1)
                        break;
        }
        _exit(1);
}

static void make_group(struct bench *b, size_t i)
{
        struct sg_job_key key = {.origin = "bench", .n = i + 1, .attempt = 1};
        struct sg_scope_request req = {
                .key = &key, .class = "bench", .class_weight = 100, .description = "bench"};
        struct group *g = &b->groups[i];
        int r;

        sg_limits_default(&req.limits);
        req.limits.tasks_max = 50;
        req.limits.memory_max = 256 * MIB;
        req.limits.io_read_max = 1024 * MIB;
        req.limits.cpu_quota_pm = 10000;
        r = sg_scope_new(&g->scope, b->backend, &req, NULL);
        if (r < 0)
                fail("scope", r);
        b->n_made++;
        g->pid = fork();
        if (g->pid == 0)
                live(b);
        if (g->pid < 0)
                fail("fork", -errno);
        r = sg_scope_move(g->scope, g->pid, true);
        if (r < 0)
                fail("move", r);
}

static void make_samplers(struct group *g)
{
        const struct sg_group_dir *dirs;
        size_t n;

        dirs = sg_scope_dirs(g->scope, &n);
        if (sg_sampler_new(&g->kept, dirs, n, false) < 0 ||
            sg_sampler_new(&g->naive, dirs, n, false) < 0)
                fail("sampler", -ENOMEM);
        sg_sample_init(&g->sample);
}

static void await_all(struct bench *b)
{
        char buf[1024];
        ssize_t n;

        for (size_t got = 0; got < b->n; got += (size_t)n) {
                n = read(b->done[0], buf, b->n - got < sizeof(buf) ? b->n - got : sizeof(buf));
                if (n <= 0)
                        fail("waiting for the processes", -errno);
        }
}

static void wake_all(struct bench *b)
{
        for (size_t i = 0; i < b->n; i++)
                (void)kill(b->groups[i].pid, SIGUSR1);
        await_all(b);
}

static void remove_all(void)
{
        struct bench *b = &bench;

        for (size_t i = 0; i < b->n_made; i++) {
                struct group *g = &b->groups[i];

                (void)sg_sampler_free(g->kept);
                (void)sg_sampler_free(g->naive);
                if (g->pid > 0) {
                        (void)kill(g->pid, SIGKILL);
                        (void)waitpid(g->pid, NULL, 0);
                }
                while (sg_scope_remove(g->scope) == -EBUSY)
                        (void)usleep(1000);
                (void)sg_scope_free(g->scope);
        }
        (void)sg_backend_free(b->backend);
        free(b->groups);
}

/* --- rounds */

struct series {
        const char *name;
        bool naive, all, cold;
        uint64_t *nsec;
        size_t allocations;
};

static uint64_t cpu_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void read_all(struct bench *b, const struct series *s, size_t round)
{
        for (size_t i = 0; i < b->n; i++) {
                struct group *g = &b->groups[i];
                uint32_t what = s->all ? SG_SAMPLE_ALL : sg_sample_due(round, i, b->n);
                int r = sg_sampler_read(s->naive ? g->naive : g->kept, what, &g->sample);

                if (r < 0)
                        fail("sample", r);
        }
}

/* One number is left to open files with, and it is not to be kept. */
static void leave_one_fd(struct rlimit *old)
{
        int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void)getrlimit(RLIMIT_NOFILE, old);
        (void)close(fd);
        if (fd < 3 || setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)fd + 1, old->rlim_max}) < 0)
                fail("limit", -errno);
}

static void run(struct bench *b, struct series *s, size_t round)
{
        struct rlimit old;
        size_t before;
        uint64_t begun;

        wake_all(b);
        if (s->cold)
                (void)usleep(COLD_USEC);
        if (s->naive)
                leave_one_fd(&old);
        before = allocations;
        begun = cpu_nsec();
        read_all(b, s, round);
        s->nsec[round] = cpu_nsec() - begun;
        s->allocations += allocations - before;
        if (s->naive && setrlimit(RLIMIT_NOFILE, &old) < 0)
                fail("limit", -errno);
}

static int compare_u64(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

static void report(struct bench *b, struct series *s)
{
        qsort(s->nsec, b->rounds, sizeof(uint64_t), compare_u64);
        printf("%s-least %" PRIu64 "\n%s-median %" PRIu64 "\n%s-allocations %zu\n", s->name,
               s->nsec[0], s->name, s->nsec[b->rounds / 2], s->name, s->allocations);
        free(s->nsec);
}

static bool is_right(const struct sg_sample *s)
{
        return s->pids == 1 && s->oom_kills == 0 && s->cpu_usec > 0 &&
               s->cpu_usec != SG_UNLIMITED && s->memory_bytes >= TOUCHED &&
               s->memory_bytes < 256 * MIB && s->working_set_bytes != SG_UNLIMITED &&
               s->io_read_bytes != SG_UNLIMITED && s->n_periods != SG_UNLIMITED &&
               s->psi_io_full_usec != SG_UNLIMITED;
}

/* What is fast and wrong is worth nothing. */
static void check(const struct bench *b)
{
        for (size_t i = 0; i < b->n; i++) {
                const struct sg_sample *s = &b->groups[i].sample;
                char why[512];

                if (sg_sampler_trouble(b->groups[i].kept, why, sizeof(why))) {
                        fprintf(stderr, "bench_monitor: %s\n", why);
                        exit(1);
                }
                if (!is_right(s)) {
                        fprintf(stderr,
                                "bench_monitor: group %zu: %" PRIu64 " tasks, %" PRIu64
                                " us of CPU, %" PRIu64 " bytes\n",
                                i, s->pids, s->cpu_usec, s->memory_bytes);
                        fail("a figure is wrong", -EBADMSG);
                }
        }
}

static void measure(struct bench *b)
{
        struct series series[] = {
                {.name = "kept"},
                {.name = "naive", .naive = true},
                {.name = "kept-all", .all = true},
                {.name = "naive-all", .naive = true, .all = true},
                {.name = "kept-cold", .cold = true},
                {.name = "naive-cold", .naive = true, .cold = true},
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(series); i++) {
                series[i].nsec = calloc(b->rounds, sizeof(uint64_t));
                if (!series[i].nsec)
                        fail("rounds", -ENOMEM);
        }
        read_all(b, &series[2], 0); /* opens */
        for (size_t begin = 0; begin < b->rounds; begin += BLOCK)
                for (size_t i = 0; i < SG_ELEMENTSOF(series); i++)
                        for (size_t k = 0; k < BLOCK; k++)
                                run(b, &series[i], begin + k);
        check(b);
        printf("files %u\n", sg_sampler_fds(b->groups[0].kept));
        for (size_t i = 0; i < SG_ELEMENTSOF(series); i++)
                report(b, &series[i]);
}

static void init(struct bench *b, size_t n, size_t rounds)
{
        struct rlimit limit;
        sigset_t set;
        char *why = NULL;
        int r;

        *b = (struct bench){.n = n, .rounds = (rounds + BLOCK - 1) / BLOCK * BLOCK};
        b->groups = calloc(n, sizeof(*b->groups));
        if (!b->groups || pipe2(b->done, O_CLOEXEC) < 0)
                fail("memory", -ENOMEM);
        /* As the unit has it. */
        (void)getrlimit(RLIMIT_NOFILE, &limit);
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGUSR1);
        (void)sigprocmask(SIG_BLOCK, &set, NULL);
        r = sg_backend_new(&b->backend,
                           &(struct sg_backend_options){.wanted = "cgroupfs", .instance = "bench"},
                           &why);
        if (r < 0)
                fail(why ? why : "backend", r);
        free(why);
        (void)atexit(remove_all);
}

int main(int argc, char **argv)
{
        struct bench *b = &bench;
        char end;

        if (argc != 3) {
                fprintf(stderr, "usage: bench_monitor GROUPS ROUNDS\n");
                return 2;
        }
        init(b, strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10));
        for (size_t i = 0; i < b->n; i++)
                make_group(b, i);
        for (size_t i = 0; i < b->n; i++)
                make_samplers(&b->groups[i]);
        wake_all(b);
        measure(b);
        printf("ready 1\n");
        (void)fflush(stdout);
        while (read(STDIN_FILENO, &end, 1) > 0)
                ;
        return 0;
}
