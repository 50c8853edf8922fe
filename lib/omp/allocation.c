/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/allocation-text.h"
#include "client/follow.h"
#include "omp/omp-internal.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A look costs 0.4 µs, so at most a hundredth of the time goes into looking; regions that are
 * longer than this have always looked. */
#define LOOK_NSEC 50000U

static struct sgc_follow file = SGC_FOLLOW_INIT;
static _Atomic uint64_t looked_nsec;
static _Atomic unsigned threads;
static _Atomic pid_t reader; /* who reads the file now, 0 = nobody */
static unsigned given, ceiling;

static unsigned number_of(const char *name)
{
        const char *s = getenv(name);
        char *end;
        unsigned long v;

        if (!s || *s < '0' || *s > '9')
                return 0;
        v = strtoul(s, &end, 10);
        return *end || v > SGC_THREADS_MAX ? 0 : (unsigned)v;
}

/* A copy: programs write over their environment to change their titles. */
void sgo_allocation_begin(const char *path)
{
        static char copy[PATH_MAX];
        size_t size = strlen(path) + 1;

        if (size > sizeof(copy))
                return;
        memcpy(copy, path, size);
        given = number_of("SCHEDGOV_THREADS");
        ceiling = number_of("SCHEDGOV_THREADS_MAX");
        file.path = copy;
}

unsigned sgo_allocation_ceiling(unsigned *ret)
{
        *ret = given;
        return ceiling;
}

static uint64_t now_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* One thread reads the file at a time, the others go on with what is known. A process that was
 * forked meanwhile finds a reader noted that it doesn't have. */
static bool become_reader(void)
{
        pid_t self = getpid(), other = 0;

        if (atomic_compare_exchange_strong(&reader, &other, self))
                return true;
        return other != self && atomic_compare_exchange_strong(&reader, &other, self);
}

static void read_file(void)
{
        char text[SGC_TEXT_MAX];
        uint64_t n;
        ssize_t size;

        if (!become_reader())
                return;
        size = sgc_follow_read(&file, text, sizeof(text));
        if (size >= 0 && sgc_threads_parse(text, (size_t)size, &n) == 0)
                atomic_store(&threads, (unsigned)n);
        atomic_store(&reader, 0);
}

static void forked(void)
{
        sgo_team_forked();
        sgo_tell_forked();
}

static void first_region(void)
{
        sgo_team_begin(file.path);
        (void)pthread_atfork(NULL, NULL, forked);
}

static void look(uint64_t now)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;

        atomic_store_explicit(&looked_nsec, now, memory_order_relaxed);
        if (sgc_follow_changed(&file))
                read_file();
        if (atomic_load_explicit(&threads, memory_order_relaxed) < 2)
                return; /* there is nothing to divide */
        (void)pthread_once(&once, first_region);
        sgo_team_beat(now);
}

unsigned sgo_allocation_threads(void)
{
        uint64_t now;

        if (!file.path)
                return 0;
        now = now_nsec();
        if (now - atomic_load_explicit(&looked_nsec, memory_order_relaxed) >= LOOK_NSEC)
                look(now);
        return sgo_team_share(atomic_load_explicit(&threads, memory_order_relaxed));
}
