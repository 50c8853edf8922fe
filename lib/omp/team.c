/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processes of one job that compute divide its allocation: workers of multiprocessing, joblib
 * and the like would each take all of it.
 *
 * Each has a slot in a small table in shared memory (proto/team.h), in which it says until when it
 * counts as computing: for 200 ms after each region, and if it has worked all through a longer
 * pause between two, which was one long region, for so much longer. Whoever looks counts the slots
 * of which that is true. Nothing is locked, and nobody has to clean up: a process that was killed
 * or stopped no longer counts soon after, and its slot is taken by the next. What is in the table
 * is only ever counted, so that the worst that nonsense there does is another number of threads.
 */
#include "proto/team.h"
#include "omp/omp-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 128U
#define MSEC 1000000ULL /* ns */
#define HOLD (200 * MSEC)
#define HOLD_MAX (10000 * MSEC)
#define COUNT_EVERY MSEC
#define SAMPLE_EVERY (100 * MSEC) /* of the CPU time, which is a system call */
#define LOOK_EVERY (1000 * MSEC)  /* whether others still find this table by its name */
#define ABANDONED (2000 * MSEC)
#define TABLES_MAX 16 /* replaced ones stay mapped, as somebody may be at them */

/* A cache line each, so that nobody's regions slow down others'. */
struct slot {
        _Atomic uint64_t owner; /* a random number of a process; 0 = nobody */
        _Atomic uint64_t until; /* CLOCK_MONOTONIC; when it no longer counts */
        uint64_t reserved[6];
};

struct table {
        struct slot slots[SLOTS];
};

static char path[sizeof(SG_TEAM_DIR) + SG_TEAM_NAME_MAX];
static _Atomic(struct table *) table;
static dev_t table_dev;
static ino_t table_ino;
static unsigned tables;
static _Atomic(struct slot *) mine;
static _Atomic uint64_t id;
static _Atomic bool busy;         /* somebody here looks for a slot or counts */
static _Atomic uint64_t standing; /* computing << 32 | those of them before us; 0 = alone */
static _Atomic uint64_t beat_nsec, counted_nsec;
static uint64_t looked_nsec, sampled_nsec, sampled_cpu; /* whose busy is */

void sgo_team_begin(const char *allocation)
{
        char name[SG_TEAM_NAME_MAX];

        sg_team_name(name, allocation);
        (void)snprintf(path, sizeof(path), SG_TEAM_DIR "/%s", name);
}

/* --- the table --- */

/* A table that another user has made is a trap, or not for us. The blocks of ours are allocated
 * beforehand: where there are none left, a store would be a SIGBUS. */
static bool is_table(int fd, struct stat *st)
{
        if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode) || st->st_uid != geteuid() ||
            (st->st_mode & 077) || st->st_nlink != 1)
                return false;
        if (st->st_size == 0 && fallocate(fd, 0, 0, sizeof(struct table)) < 0)
                return false;
        return fstat(fd, st) == 0 && st->st_size == sizeof(struct table);
}

static void open_table(void)
{
        struct stat st;
        void *p = MAP_FAILED;
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

        if (fd < 0)
                return;
        if (is_table(fd, &st))
                p = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        (void)close(fd);
        if (p == MAP_FAILED)
                return;
        table_dev = st.st_dev;
        table_ino = st.st_ino;
        tables++;
        atomic_store(&mine, NULL);
        atomic_store(&table, p);
}

/* The files of a user who logs out are removed there (systemd's RemoveIPC=). */
static void look_again(uint64_t now)
{
        struct stat st;
        bool same;

        if (now - looked_nsec < LOOK_EVERY && looked_nsec > 0)
                return;
        looked_nsec = now;
        same = atomic_load(&table) && lstat(path, &st) == 0 && st.st_dev == table_dev &&
               st.st_ino == table_ino;
        if (!same && tables < TABLES_MAX)
                open_table();
}

/* --- slots --- */

static uint64_t new_id(uint64_t now)
{
        uint64_t h = (now ^ ((uint64_t)getpid() << 40)) * 0x9e3779b97f4a7c15ULL;

        return h ? h : 1;
}

static void take_slot(struct table *t, uint64_t now)
{
        uint64_t new = new_id(now);

        for (unsigned i = 0; i < SLOTS; i++) {
                struct slot *s = &t->slots[i];
                uint64_t owner = atomic_load(&s->owner), until = atomic_load(&s->until);

                if (owner != 0 && now < until + ABANDONED && until < now + HOLD_MAX)
                        continue;
                if (!atomic_compare_exchange_strong(&s->owner, &owner, new))
                        continue;
                atomic_store(&id, new);
                atomic_store(&mine, s);
                return;
        }
}

static uint64_t cpu_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* For how long this beat stands. */
static uint64_t hold(uint64_t now, uint64_t before)
{
        uint64_t gap = now - before, span = now - sampled_nsec, cpu, used;

        if (span < SAMPLE_EVERY)
                return HOLD;
        cpu = cpu_nsec();
        used = cpu - sampled_cpu;
        sampled_nsec = now;
        sampled_cpu = cpu;
        if (before == 0 || gap < HOLD / 2 || used < span / 2)
                return HOLD;
        return gap < HOLD_MAX / 2 ? 2 * gap : HOLD_MAX;
}

static bool counts(const struct slot *s, uint64_t now)
{
        uint64_t until = atomic_load_explicit(&s->until, memory_order_relaxed);

        return atomic_load_explicit(&s->owner, memory_order_relaxed) != 0 && until > now &&
               until - now <= HOLD_MAX;
}

static void count(const struct table *t, const struct slot *self, uint64_t now)
{
        uint64_t n = 1, before = 0;

        for (const struct slot *s = t->slots; s < t->slots + SLOTS; s++) {
                if (s == self || !counts(s, now))
                        continue;
                n++;
                before += s < self;
        }
        atomic_store_explicit(&standing, n << 32 | before, memory_order_relaxed);
        atomic_store_explicit(&counted_nsec, now, memory_order_relaxed);
}

/* With busy: by one thread at a time. */
static void beat(uint64_t now)
{
        uint64_t before = atomic_load(&beat_nsec);
        struct slot *s;
        struct table *t;

        look_again(now);
        t = atomic_load(&table);
        s = atomic_load(&mine);
        if (t && (!s || atomic_load(&s->owner) != atomic_load(&id))) {
                atomic_store(&mine, NULL);
                take_slot(t, now);
                s = atomic_load(&mine);
        }
        atomic_store(&beat_nsec, now);
        if (!s) {
                atomic_store(&standing, 0);
                atomic_store(&counted_nsec, now);
                return;
        }
        atomic_store_explicit(&s->until, now + hold(now, before), memory_order_relaxed);
        count(t, s, now);
}

void sgo_team_beat(uint64_t now)
{
        int saved = errno;

        if (now - atomic_load_explicit(&counted_nsec, memory_order_relaxed) < COUNT_EVERY ||
            atomic_exchange(&busy, true))
                return;
        beat(now);
        atomic_store(&busy, false);
        errno = saved;
}

unsigned sgo_team_share(unsigned threads)
{
        uint64_t s = atomic_load_explicit(&standing, memory_order_relaxed), n = s >> 32;
        unsigned share;

        if (n < 2)
                return threads;
        share = (unsigned)(threads / n + ((s & UINT32_MAX) < threads % n));
        return share > 0 ? share : 1;
}

void sgo_team_forked(void)
{
        atomic_store(&mine, NULL);
        atomic_store(&standing, 0);
        atomic_store(&counted_nsec, 0);
        atomic_store(&beat_nsec, 0);
        sampled_nsec = sampled_cpu = 0;
        atomic_store(&busy, false);
}

__attribute__((destructor)) static void leave(void)
{
        struct slot *s = atomic_load(&mine);
        uint64_t own = atomic_load(&id);

        if (s)
                (void)atomic_compare_exchange_strong(&s->owner, &own, 0);
}
