/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NSEC 100000000ULL /* between two looks for a file that isn't there */
#define HIGH_FD 200

static uint64_t coarse_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
        return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
        h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
        return h ^ (h >> 29);
}

/* Never 0, which stands for "never read". The link count tells that it was replaced. */
static uint64_t signature_of(const struct stat *st)
{
        uint64_t h = mix(1, (uint64_t)st->st_dev);

        h = mix(h, (uint64_t)st->st_ino);
        h = mix(h, (uint64_t)st->st_mtim.tv_sec);
        h = mix(h, (uint64_t)st->st_mtim.tv_nsec);
        h = mix(h, (uint64_t)st->st_size);
        h = mix(h, st->st_nlink > 0);
        return h ? h : 1;
}

/* fstat(2) by its other name. Sanitizers report a descriptor that another thread closes meanwhile,
 * which does happen here and does no harm: a file that has got its number since has another
 * signature. */
static bool status_of(int fd, struct stat *st)
{
        return fd >= 0 && fstatat(fd, "", st, AT_EMPTY_PATH) == 0;
}

bool sgc_follow_changed(struct sgc_follow *f)
{
        int saved = errno;
        uint64_t until;
        struct stat st;
        bool same;

        if (!f->path)
                return false;
        until = atomic_load_explicit(&f->patient_until, memory_order_acquire);
        if (until != 0)
                return coarse_nsec() >= until;
        same = status_of(atomic_load_explicit(&f->fd, memory_order_acquire), &st) &&
               signature_of(&st) == atomic_load_explicit(&f->signature, memory_order_acquire);
        errno = saved;
        return !same;
}

void sgc_follow_hurry(struct sgc_follow *f)
{
        atomic_store_explicit(&f->patient_until, 0, memory_order_release);
}

static bool is_ours(const struct sgc_follow *f, int fd)
{
        struct stat st;

        return status_of(fd, &st) && st.st_dev == f->dev && st.st_ino == f->ino;
}

void sgc_follow_close(struct sgc_follow *f)
{
        int fd = atomic_load(&f->fd);

        if (is_ours(f, fd))
                (void)close(fd);
        atomic_store(&f->fd, -1);
        atomic_store(&f->signature, 0);
}

int sgc_move_high(int fd)
{
        int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);

        if (high < 0)
                return fd; /* fewer descriptors than that are allowed */
        (void)close(fd);
        return high;
}

/* The file at that path may be anything: opening it must not block, and what isn't a regular file
 * is refused. */
static int open_high(const char *path, struct stat *st)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        if (fd < 0)
                return -errno;
        if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode)) {
                (void)close(fd);
                return -EBADF;
        }
        return sgc_move_high(fd);
}

static ssize_t read_all(int fd, char *buf, size_t size)
{
        size_t done = 0;

        while (done < size) {
                ssize_t n = read(fd, buf + done, size - done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if (n == 0)
                        return (ssize_t)done;
                done += (size_t)n;
        }
        return -EFBIG;
}

static void be_patient(struct sgc_follow *f, bool yes)
{
        atomic_store_explicit(&f->patient_until, yes ? coarse_nsec() + PATIENCE_NSEC : 0,
                              memory_order_release);
}

ssize_t sgc_follow_read(struct sgc_follow *f, char *buf, size_t size)
{
        int saved = errno, fd;
        struct stat st;
        ssize_t n;

        sgc_follow_close(f);
        fd = open_high(f->path, &st);
        if (fd < 0) {
                be_patient(f, true);
                errno = saved;
                return fd;
        }
        n = read_all(fd, buf, size);
        f->dev = st.st_dev;
        f->ino = st.st_ino;
        atomic_store(&f->signature, signature_of(&st));
        atomic_store_explicit(&f->fd, fd, memory_order_release);
        /* A file without links under this name is a bind mount of one that was replaced. It won't
         * change again, but another file may be mounted there. */
        be_patient(f, st.st_nlink == 0);
        errno = saved;
        return n;
}
